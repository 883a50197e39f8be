/**
 * examples/company, each environment of it: the plan as it is kept here, an apply after which nothing is left to do, an
 * edit that converges, and a destroy that leaves nothing; and what is made of its parts: boxes, headings, an inventory.
 * `npx vitest run test/unit/company.test.ts --update` writes what a plan is now; read it before it is kept.
 */
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { readDesired } from "../../reconciler/config/read/desired";
import type { Desired } from "../../reconciler/core/model/desired";
import { explainReach } from "../../reconciler/kinds/group/reachability/explain";
import { portsFromWord } from "../../reconciler/kinds/group/reachability/read";
import { openBeside } from "../../reconciler/outside/beside";
import { graphMermaid, resourceGraph } from "../../reconciler/report/graph/graph";
import { graphSvg } from "../../reconciler/report/graph/svg";
import { ansibleList, inventoryOf, prometheusTargets, routesOf } from "../../reconciler/report/inventory";
import { planLines } from "../../reconciler/report/plan-text";
import { type VirtualWorld, virtualWorld } from "../support/virtual-world";

const path = join(__dirname, "../../examples/company/reconcile.yaml");
const file = relative(process.cwd(), path);
const text = readFileSync(path, "utf8");

function company(env: string, vars: Record<string, string> = {}): Desired {
  const { desired, diagnostics } = readDesired([{ file, text }], { env, vars, open: openBeside });
  expect(diagnostics).toEqual([]);
  if (desired === undefined) throw new Error("it cannot be read");
  return desired;
}

async function carryOut(world: VirtualWorld, desired: Desired, options = {}): Promise<void> {
  const report = await world.apply(await world.plan(desired, options));
  expect(report?.steps.filter(({ result }) => result.end !== "done").map(({ step }) => step.id)).toEqual([]);
  expect((await world.plan(desired, options)).plan.steps).toEqual([]);
}

describe.each(["dev", "staging", "prod"])("the company in %s", (env) => {
  it("plans as written, converges, takes an edit, and goes without a rest", async () => {
    const world = virtualWorld();
    const desired = company(env);
    const { plan } = await world.plan(desired);
    const shown = [...planLines(plan, { width: 100 })].join("\n");
    await expect(`${shown}\n`).toMatchFileSnapshot(join(__dirname, "golden/company", `${env}.txt`));
    await carryOut(world, desired);
    const more = { shop_webs: String(desired.resources.filter(({ address }) => /^shop\/vm/.test(address)).length + 1) };
    await carryOut(world, company(env, { ...more, monitoring: "true" }));
    await carryOut(world, company(env));
    await carryOut(world, desired, { destroy: true });
    expect(world.emulated.dump().vms).toEqual([]);
  });
});

describe("what is made of its components", () => {
  const staging = company("staging");

  it("a box around each, in which its own lie and no others", () => {
    const graph = resourceGraph(staging.resources);
    expect(graphMermaid(graph)).toMatch(/subgraph c0\["desk\/"\]\n( {4}n\d+\["desk\/.*\n)+ {2}end\n/);
    const svg = graphSvg(graph);
    const boxes = [
      ...svg.matchAll(/<title>([^<:]+).*\n<rect class="box" x="(.+?)" y="(.+?)" width="(.+?)" height="(.+?)"/g),
    ];
    const frames = [
      ...svg.matchAll(/<rect class="frame" x="(.+?)" y="(.+?)" width="(.+?)" height="(.+?)".*\n<text.*>(.+)<\/text>/g),
    ].map(([, x, y, width, height, name]) => ({
      name: name ?? "",
      x: Number(x),
      y: Number(y),
      width: Number(width),
      height: Number(height),
    }));
    expect(frames.map(({ name }) => name).sort()).toEqual(["desk/", "orders/", "people/", "shop/"]);
    expect(boxes.length).toBe(graph.nodes.length);
    for (const [, address = "", left, top, width, height] of boxes)
      for (const frame of frames) {
        const [x, y, w, h] = [left, top, width, height].map(Number) as [number, number, number, number];
        const isInside =
          x >= frame.x && y >= frame.y && x + w <= frame.x + frame.width && y + h <= frame.y + frame.height;
        const isOutside = x > frame.x + frame.width || y > frame.y + frame.height || x + w < frame.x || y + h < frame.y;
        expect([address, frame.name, isInside, isOutside]).toEqual([
          address,
          frame.name,
          address.startsWith(frame.name),
          !address.startsWith(frame.name),
        ]);
      }
  });

  it("an inventory in which blocks of the same key stay apart, and targets as file_sd takes them", async () => {
    const world = virtualWorld();
    await carryOut(world, staging);
    const state = await world.state();
    const inventory = inventoryOf(state);
    expect(ansibleList(inventory, state.outputs ?? {}, routesOf(inventory))).toMatchObject({
      all: { children: expect.arrayContaining(["bastion", "shop", "desk", "orders", "people"]) },
      shop: { children: ["shop_web"] },
      shop_web: { hosts: [0, 1, 2].map((each) => `shop-web-staging-${each}`) },
      desk_web: { hosts: [0, 1].map((each) => `desk-web-staging-${each}`) },
      each_0: { hosts: ["desk-web-staging-0", "shop-web-staging-0"] },
      _meta: { hostvars: { "shop-web-staging-1": { reconcile_component: "shop", reconcile_block: "web" } } },
    });
    // https://prometheus.io/docs: a list of { targets: [host:port], labels: { name: value } }.
    for (const target of prometheusTargets(inventory, 9100) as {
      targets: string[];
      labels: Record<string, unknown>;
    }[]) {
      expect(Object.keys(target)).toEqual(["targets", "labels"]);
      expect(target.targets).toEqual([expect.stringMatching(/^[0-9.]+:9100$/)]);
      for (const [name, value] of Object.entries(target.labels))
        expect([name, value]).toEqual([expect.stringMatching(/^__meta_reconcile_[a-z_]+$/), expect.any(String)]);
    }
  });

  it("an inventory in which a block that is called as the group of a key stays apart from it", () => {
    const host = (address: string, name: string, block: string, each?: string) => ({
      ...{ address, id: name, name, privateIp: "10.0.0.1", block },
      ...(each === undefined ? {} : { each }),
    });
    const hosts = [host("vm.each_a", "lonely", "each_a"), host("vm.web[a]", "web-a", "web", "a")];
    expect(ansibleList({ hosts, without: [] }, {}, { of: new Map(), without: [] })).toMatchObject({
      each_a: { hosts: ["lonely"] },
      each_a_2: { hosts: ["web-a"] },
    });
  });

  it("who reaches whom, each family by itself where a name has a slash of its own", () => {
    const party = (address: string) => ({ kind: "group" as const, group: { address } });
    const ports = portsFromWord("22") ?? [];
    const [half] = explainReach(staging, {
      from: [party("desk/group.web")],
      to: [party("shop/group.web")],
      ports: Array.isArray(ports) ? ports : [ports],
    });
    expect(half?.missing).toBe("tcp 22 from desk/group.web (IPv4), tcp 22 from desk/group.web (IPv6)");
  });
});

/**
 * The same files and the same world give the same plan, byte for byte, through every door: the command, an MCP tool, a
 * program, a round of a fleet. A `watch` plans with the command's own function (test/unit/every-door-is-closed.test.ts),
 * and a resource of Pulumi's is planned alone.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningEmulator, startEmulator } from "../../emulator";
import { createHereOpener } from "../../reconciler/cli/fleet/open-project";
import { planDigest } from "../../reconciler/cli/fleet/plan-facts";
import { canonicalJson } from "../../reconciler/core/text/canonical-json";
import type { Prepared } from "../../reconciler/engine/plan";
import { checkOut } from "../../reconciler/fleet/sources/source";
import { codeOf, connect, handlerOf, readDesired } from "../../reconciler/index";
import { partsOf } from "../../reconciler/one/parts";
import type { ServiceClient } from "../../reconciler/service/client";
import { runs } from "../properties/random-desired";
import { jsonLines, runCli } from "../support/cli-process";
import { stackSpec } from "../support/fleet-stage";
import { makeFolder, writeFiles } from "../support/folder";

let emulator: RunningEmulator;
let env: Record<string, string>;
beforeAll(async () => {
  emulator = await startEmulator({ timeScale: 0, with: ["volume.list", "group.list"] });
  env = { RECONCILE_TOKEN: "ops-token", RECONCILE_BASE_URL: emulator.url };
  process.env["DOOR_TOKEN"] = "ops-token";
});
afterAll(() => emulator.close());

const dialect =
  "{ operations: { volume.list: { method: GET, path: /api/v1/volume/list }, group.list: { method: GET, path: /api/v1/security-group } } }";
let count = 0;

interface Wish {
  readonly sizes: readonly number[];
  readonly ports: readonly number[];
  readonly named: boolean;
}

/** Names are the service's, and every world has its own. */
const fileOf = ({ sizes, ports, named }: Wish, world: number): string => `version: 1
service: { dialect: ${dialect} }
volumes:
${sizes.map((size, index) => `  v${index}: { name: w${world}-v${index}, size: ${size} }`).join("\n")}
groups:
  web: { name: w${world}-web, rules: [ ${ports.map((port) => `{ protocol: tcp, dst_port: ${port}, remote_ip: 0.0.0.0/0 }`).join(", ")} ] }
  db: { name: w${world}-db, rules: [ { protocol: tcp, dst_port: 5432, remote_group: ${named ? "web" : "db"} } ] }
`;

const essence = (plan: object): string => {
  const {
    id: _,
    folder: __,
    folder_from_working_folder: ___,
    files: ____,
    created_by: _____,
    ...rest
  } = plan as Record<string, unknown>;
  return canonicalJson(rest, 1);
};
/** A new state has a lineage only once it is written. */
const withoutLineage = (text: string): string => text.replace(/"lineage": "[^"]*"/, '"lineage": ""');

async function planThroughEach(cwd: string, isNew: boolean): Promise<Record<string, string>> {
  const text = readFileSync(join(cwd, "reconcile.yaml"), "utf8");
  const command = await runCli(["plan", "--out", "command.plan.json"], { cwd, env });
  expect(command.exitCode, command.stderr).toBeLessThanOrEqual(2);
  const byCommand = JSON.parse(readFileSync(join(cwd, "command.plan.json"), "utf8"));

  const asked = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "plan", arguments: {} } };
  const mcp = await runCli(["mcp"], { cwd, env, input: `${JSON.stringify(asked)}\n` });
  const id = /plan id: ([0-9a-f]{12})/.exec(jsonLines(mcp.stdout)[0]?.["result"].content[0].text)?.[1];
  const byMcp = JSON.parse(readFileSync(join(cwd, `.reconcile/mcp/${id}.plan.json`), "utf8"));

  const cloud = connect(
    { baseUrl: emulator.url, token: "ops-token", dialect: byCommand.desired.service.dialect.inline },
    cwd,
  );
  const { desired } = readDesired([{ file: "reconcile.yaml", text }]);
  const planned = await cloud.plan(desired!, { state: "reconcile.state.json" });
  const byProgram = JSON.parse(JSON.stringify(planned));
  await cloud.close();

  const never = new AbortController().signal;
  const spec = stackSpec("door", { source: { kind: "folder", folder: cwd }, state: join(cwd, "reconcile.state.json") });
  const cache = makeFolder();
  const checkout = await checkOut(spec.source, cache, { signal: never, now: true });
  const project = await createHereOpener({ cache })({
    ...{ stack: spec, checkout, inputs: {}, destroy: false, worker: "w" },
    service: { name: "in-west", baseUrl: emulator.url, insecureHttp: false, credential: { env: "DOOR_TOKEN" } },
    mayRead: async (state) => ({ state }),
    siblings: async () => [],
  });
  const { facts } = await project.plan(never);
  await project.close();
  // What a worker computes of its plan, computed of the command's, whose paths are seen from another folder.
  const inCheckout = JSON.parse(
    JSON.stringify(byCommand).replaceAll('"reconcile.yaml"', JSON.stringify(join(checkout.folder, "reconcile.yaml"))),
  );
  const expected = planDigest({ plan: inCheckout, desired: inCheckout.desired } as Prepared, checkout, {
    beside: undefined,
    at: { service: "in-west", url: emulator.url },
  });

  const shown = (plan: object): string => (isNew ? withoutLineage(essence(plan)) : essence(plan));
  return {
    command: shown(byCommand),
    mcp: shown(byMcp),
    program: shown(byProgram),
    fleet: facts.digest === expected ? shown(byCommand) : `${facts.digest} where the command's plan has ${expected}`,
  };
}

describe("every door", () => {
  const wish = fc.record({
    sizes: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 2 }),
    ports: fc.uniqueArray(fc.constantFrom(22, 80, 443, 8080), { minLength: 1, maxLength: 3 }),
    named: fc.boolean(),
  });
  /** A volume only grows, and one comes along. */
  const change = fc.record({ grows: fc.integer({ min: 0, max: 3 }), wish });

  it("makes the plan that the others make, of a new world, of one that is changed, and of one that somebody else changed", async () => {
    await fc.assert(
      fc.asyncProperty(wish, change, async (first, { grows, wish: { ports, named } }) => {
        const second = { sizes: [...first.sizes.map((size) => size + grows), 5], ports, named };
        const world = count++;
        const cwd = makeFolder({ "reconcile.yaml": fileOf(first, world) });
        const alike = async (isNew: boolean): Promise<void> => {
          const plans = await planThroughEach(cwd, isNew);
          for (const [door, plan] of Object.entries(plans)) expect(plan, door).toBe(plans["command"]);
        };
        await alike(true);
        expect((await runCli(["apply", "-y"], { cwd, env })).exitCode).toBe(0);
        writeFiles(cwd, { "reconcile.yaml": fileOf(second, world) });
        await alike(false);
        // Somebody else opens a port; nothing but the engine's own client writes rules, so it is the one that is used.
        const other = connect({ baseUrl: emulator.url, token: "ops-token" }, cwd);
        const { client } = (await other.service()) as unknown as { client: ServiceClient };
        const group = emulator.dump().groups.find(({ name }) => name === `w${world}-web`);
        const rule = { direction: "ingress", ethertype: "IPv4", protocol: "udp", portMin: 53, portMax: 53 } as const;
        expect(await client.createRule(group!.id, rule)).toMatchObject({ status: "accepted" });
        await other.close();
        await alike(false);
      }),
      { ...runs(1), endOnFailure: true },
    );
  });
});

describe("a plan that was kept as JSON", () => {
  const file = "version: 1\nvolumes: { logs: { name: kept-logs, size: 2 } }\n";
  const open = (cwd: string) => connect({ baseUrl: emulator.url, token: "ops-token" }, cwd);
  const desiredIn = (text: string) => readDesired([{ file: "reconcile.yaml", text }]).desired!;

  it("is applied by the command where a program made it, and by a program where the command made it", async () => {
    const cwd = makeFolder({ "reconcile.yaml": file });
    const cloud = open(cwd);
    writeFileSync(
      join(cwd, "program.plan.json"),
      JSON.stringify(await cloud.plan(desiredIn(file), { state: "reconcile.state.json" })),
    );
    const applied = await runCli(["apply", "program.plan.json", "-y"], { cwd, env });
    expect(applied.exitCode, applied.stdout + applied.stderr).toBe(0);
    writeFiles(cwd, { "reconcile.yaml": file.replace("size: 2", "size: 3") });
    expect((await runCli(["plan", "--out", "command.plan.json"], { cwd, env })).exitCode).toBe(0);
    const text = readFileSync(join(cwd, "command.plan.json"), "utf8");
    const plan = await cloud.readPlan(text);
    expect(JSON.parse(JSON.stringify(plan))).toEqual(JSON.parse(text));
    expect((await cloud.apply(plan)).counts).toMatchObject({ failed: 0 });
    expect(
      (await cloud.history({ state: "reconcile.state.json" })).map(({ by, outcome }) => [by?.command, outcome]),
    ).toEqual([
      ["a program", "done"],
      ["reconcile apply", "done"],
    ]);
    await cloud.close();
  });

  it.each([
    ["was carried out already", (kept: string) => kept, "plan/stale"],
    ["was changed", (kept: string) => kept.replace('"unchanged":0', '"unchanged":1'), "plan/tampered"],
    ["is no JSON", () => "volumes: {}", "plan/unreadable"],
    ["is something else", () => "{}", "plan/unreadable"],
    ["is of a version to come", (kept: string) => kept.replace('"version":1', '"version":99'), "state/newer"],
  ])("is refused when it %s, and nothing is sent", async (_, change, code) => {
    const cwd = makeFolder();
    const cloud = open(cwd);
    const plan = await cloud.plan(desiredIn(file.replace("kept-logs", `kept-${code.length}-${_.length}`)), {
      state: "s.state.json",
    });
    const kept = JSON.stringify(plan);
    if (code === "plan/stale") await cloud.apply(plan);
    const before = emulator.dump();
    const error = await cloud.readPlan(change(kept)).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(codeOf(error)).toBe(code);
    expect(emulator.dump()).toEqual(before);
    await cloud.close();
  });

  it("is for one service, one state and one dialect", async () => {
    const cwd = makeFolder();
    const cloud = open(cwd);
    const kept = JSON.stringify(await cloud.plan(desiredIn(file), { state: "s.state.json" }));
    const spoken = connect(
      {
        baseUrl: emulator.url,
        token: "ops-token",
        dialect: { operations: { "volume.list": { method: "GET", path: "/v" } } },
      },
      cwd,
    );
    await expect(spoken.readPlan(kept)).rejects.toMatchObject({
      code: "plan/stale",
      message: expect.stringContaining("dialect"),
    });
    await expect(cloud.readPlan(kept, { state: "t.state.json" })).rejects.toMatchObject({
      code: "plan/stale",
      message: expect.stringContaining("s.state.json"),
    });
    await cloud.close();
    await spoken.close();
  });

  it("shows nothing of the engine beside it", async () => {
    const cwd = makeFolder();
    const cloud = open(cwd);
    const plan = await cloud.plan(desiredIn(file), { state: "s.state.json" });
    expect(Object.keys(plan).sort()).toEqual([
      "changes",
      "consents",
      "cost",
      "diagnostics",
      "estimate",
      "options",
      "orphans",
      "outputs",
      "owed",
      "serial",
      "steps",
      "toJSON",
      "unchanged",
    ]);
    expect(Object.keys(cloud).sort()).toEqual([
      "apply",
      "close",
      "drift",
      "exposure",
      "history",
      "look",
      "orphans",
      "outputs",
      "plan",
      "readPlan",
      "rehearse",
      "service",
    ]);
    await cloud.close();
  });
});

it("a resource that a program makes alone has the steps that it has in a file of its own", async () => {
  const texts = [
    "volumes: { alone: { name: alone-volume, size: 2 } }",
    "groups: { alone: { name: alone-group, rules: [ { protocol: tcp, dst_port: 443 } ] } }",
    'vms: { alone: { name: alone-vm, owner: ops@acme.example, user_id: "1042", image_id: 00000000-0000-4000-8003-000000000001, flavor_id: m1.small, size: 10, project: acme, region: in-west-1 } }',
  ];
  for (const text of texts) {
    const cwd = makeFolder();
    const cloud = connect({ baseUrl: emulator.url, token: "ops-token" }, cwd);
    const { desired, diagnostics } = readDesired([{ file: "reconcile.yaml", text: `version: 1\n${text}` }]);
    expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
    const inFile = (await cloud.plan(desired!, { state: "s.state.json" })).steps.map(({ title }) => title);
    const [part] = partsOf(desired!);
    const logged: string[] = [];
    const context = {
      service: () => cloud.service(),
      signal: new AbortController().signal,
      log: (_: string, line: string) => void logged.push(line),
    };
    const handler = handlerOf(part!.type);
    const { inputs } = handler.check(part!.inputs as never);
    await handler.create(context, inputs as never);
    expect(
      logged.filter((line) => inFile.includes(line)),
      text,
    ).toEqual(inFile);
    await cloud.close();
  }
});

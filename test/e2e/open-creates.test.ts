/**
 * A create is sent once: what the service accepted is never sent again, what cannot be looked up is asked about, and a
 * stranger of the same name is neither taken over nor deleted.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Intent } from "../../reconciler/core/model/recorded";
import { emptyState } from "../../reconciler/core/state/fold";
import { writeSnapshot } from "../../reconciler/core/state/text";
import type { Ran } from "../support/cli-process";
import type { Answer, Exchange } from "../support/own-place";
import { ownMeddledPlace, said } from "../support/own-place";

const place = ownMeddledPlace({ with: ["volume.list", "group.list"] });
const { reconcile, state, ask } = place;

const apply = (): Promise<Ran> => reconcile("apply", "-y", "--allow-data-loss");

/** `heard`: what the command hears in place of the answer; `"drop"`: nothing, although it was done. */
type Heard = (exchange: Exchange) => Partial<Answer> | "drop" | undefined;
const hear = (heard: Heard): void =>
  place.proxy.meddle(async (exchange, forward) => {
    const answer = await forward();
    const instead = heard({ ...exchange, body: answer.body });
    if (instead === "drop") throw new Error("nothing is heard");
    return { ...answer, ...instead };
  });

const list = (path: string) => ({ method: "GET", path });
const operations = { "volume.list": list("/api/v1/volume/list"), "group.list": list("/api/v1/security-group") };
const declare = (blocks: object, timing: object = {}): void =>
  place.declare(blocks, { timing: { vm_create_timeout: "100ms", ...timing }, dialect: { operations } });
const creates = (): number =>
  place.proxy.writes.filter((write) => /create|POST \/api\/v1\/security-group$/.test(write)).length;

const shown = async (path: string): Promise<unknown[]> => {
  const answer: unknown = await ask("GET", path);
  return Array.isArray(answer) ? answer : (Object.values(answer as object).find(Array.isArray) ?? []);
};

/** Lists are empty, as where what was made does not show yet. */
const emptyLists = ({ method, path }: Exchange) =>
  method === "GET" && /(vm\/list|volume\/list|\/security-group)$/.test(path) ? { body: "[]" } : undefined;
/** A state in which a create was sent, and its answer never came. */
function leaveOpen(intent: Pick<Intent, "address" | "operation" | "name" | "record"> & Partial<Intent>): void {
  const open: Intent = {
    step: `${intent.address}/create`,
    sentAt: new Date(0).toISOString(),
    idsBefore: [],
    ...intent,
  };
  const folded = { ...emptyState("a-lineage"), serial: 1, intents: new Map([[open.address, open]]) };
  writeFileSync(join(place.folder, "reconcile.state.json"), writeSnapshot(folded));
}
const volumeRecord = { kind: "volume", name: "data", sizeGb: 5, flush: { via: "ask" }, preventDestroy: false } as const;

it("a create whose answer names what was there before is looked for, and that is left alone", async () => {
  const { id: theirs } = await ask("POST", "/api/v1/volume/create", { name: "precious", size: "5" });
  declare({ volumes: { data: { size: 5 } } });
  hear(({ path }) =>
    path.endsWith("/volume/create") ? { body: JSON.stringify({ id: theirs, name: "precious", size: 5 }) } : undefined,
  );
  const ran = await apply();
  expect([ran.exitCode, creates()], ran.stderr).toEqual([0, 1]);
  const own = place.emulator.dump().volumes.find(({ name }) => name === "data")?.id;
  expect([state().resources["volume.data"].id, own === theirs]).toEqual([own, false]);
});

describe("an accepted create that does not show", () => {
  it.each([
    ["a VM", { vms: { web: {} } }, "vm.web"],
    ["a volume whose answer has no id", { volumes: { web: { size: 5 } } }, "volume.web"],
    ["a group whose answer has no id", { groups: { web: {} } }, "group.web"],
  ])("is looked for, asked about and never sent again: %s", async (_, blocks, address) => {
    declare(blocks);
    const withoutId = ({ method, path }: Exchange) =>
      method === "POST" && !path.includes("/vm/") ? { body: '"done"' } : undefined;
    hear((exchange) => emptyLists(exchange) ?? withoutId(exchange));
    for (let run = 1; run <= 3; run++) {
      const ran = await apply();
      expect([ran.exitCode, creates()], ran.stderr).toEqual([1, 1]);
      expect(said(ran)).toContain(
        `reconcile import ${address} ID (it exists), or reconcile state resolve ${address} --not-created (it does not)`,
      );
      expect(state().intents[address]).toMatchObject({ accepted: true });
    }
    expect((await reconcile("destroy", "-y")).exitCode).toBe(1);
    // It shows at last: taken over as what was made.
    hear(() => undefined);
    expect((await apply()).exitCode).toBe(0);
    expect([creates(), state().intents]).toEqual([1, {}]);
    expect((await reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
  });

  it("is sent again once somebody has said that it was not created", async () => {
    declare({ vms: { web: {} } });
    hear(
      (exchange) =>
        emptyLists(exchange) ?? (exchange.path.endsWith("/vm/create") ? { body: exchange.body } : undefined),
    );
    await apply();
    expect((await reconcile("state", "resolve", "vm.web", "--not-created")).exitCode).toBe(0);
    for (const vm of (await shown("/api/v1/vm/list")) as { id: string }[])
      await ask("DELETE", `/api/v1/vm/delete/${vm.id}`);
    hear(() => undefined);
    expect((await apply()).exitCode).toBe(0);
    expect(creates()).toBe(2);
  });
});

it.each([
  ["accepted", undefined],
  ["whose answer was lost", "drop" as const],
])(
  "a create %s and a list that cannot be read end at once with the reason",
  async (_, answer) => {
    declare({ volumes: { web: { size: 5 } } }, { discovery_window: "10m" });
    let sent = false;
    hear(({ method, path }) => {
      if (method === "POST") {
        sent = true;
        return answer ?? { body: '"done"' };
      }
      return sent && path.endsWith("/volume/list") ? { body: '{"nothing":"here"}' } : undefined;
    });
    const ran = await apply();
    expect([ran.exitCode, creates()]).toEqual([1, 1]);
    expect(said(ran)).toContain("the list to find it in cannot be read");
    expect((await apply()).exitCode).toBe(1);
    expect(creates()).toBe(1);
  },
  60_000,
);

it("a create that was lost and shows after the plan was made is not sent again", async () => {
  declare({ volumes: { data: { size: 5 } } }, { discovery_window: "1s" });
  leaveOpen({
    address: "volume.data",
    operation: "volume.create",
    name: "data",
    record: { ...volumeRecord, address: "volume.data" },
  });
  await ask("POST", "/api/v1/volume/create", { name: "data", size: "5" });
  let lists = 0;
  hear((exchange) => (exchange.path.endsWith("/volume/list") && ++lists <= 2 ? emptyLists(exchange) : undefined));
  expect((await reconcile("plan", "--out", "f.plan.json")).exitCode).toBe(0);
  const ran = await reconcile("apply", "f.plan.json", "-y");
  expect([ran.exitCode, creates()], said(ran)).toEqual([1, 0]);
  expect(ran.stderr).toContain("shows by now");
  expect((await apply()).exitCode).toBe(0);
  expect(creates()).toBe(0);
});

it.each([
  ["VM", { vms: { web: {} } }, "vm.web", "/api/v1/vm/list"],
  ["volume", { volumes: { web: { size: 5 } } }, "volume.web", "/api/v1/volume/list"],
] as const)("what an interrupted create made is found where no other %s shows", async (kind, blocks, address, path) => {
  declare(blocks);
  expect((await apply()).exitCode).toBe(0);
  const former = state().resources[address].id;
  await fetch(`${place.emulator.url}/_control/${kind.toLowerCase()}/${former}`, { method: "DELETE" });
  const again = () => reconcile("apply", "-y", "--allow-data-loss", "--recreate", address);
  let isSent = false;
  hear(({ method, path: asked }) => {
    isSent ||= method === "POST" && asked.endsWith("/create");
    if (method === "POST") return { body: '"done"' };
    return isSent && asked === path ? { body: "[]" } : undefined;
  });
  expect((await again()).exitCode).toBe(1);
  const unclear = await again();
  expect([unclear.exitCode, creates()], unclear.stderr).toEqual([1, 2]);
  expect(said(unclear)).toContain(`The list of ${kind}s proves nothing here (the service shows no ${kind}`);
  hear(() => undefined);
  const found = await again();
  expect([found.exitCode, creates()], found.stderr).toEqual([0, 2]);
  const made = JSON.stringify(await shown(path));
  expect([made.includes(state().resources[address].id), state().resources[address].id === former]).toEqual([
    true,
    false,
  ]);
});

describe("a stranger that bears the name of a lost create", () => {
  type Open = Parameters<typeof leaveOpen>[0];
  const vmRecord: Open["record"] = {
    ...{
      kind: "vm",
      address: "vm.web",
      name: "web",
      flavor: "m1.small",
      image: "ubuntu-24.04",
      owner: "ops@acme.example",
    },
    ...{ sizeGb: 10, preventDestroy: false, onDelete: { snapshot: false, preservedVolumes: "retain" } },
  };
  const vmBody = {
    ...{ name: "web", flavor_id: "m1.small", id: "1042", image_id: "00000000-0000-4000-8003-000000000001" },
    ...{ owner: "ops@acme.example", project: "acme", region: "in-west-1", size: "10" },
  };
  const groupRecord: Open["record"] = {
    ...{ kind: "group", address: "group.web", name: "web", description: "Public web", platformRules: [] },
    rules: [
      {
        ...{ direction: "ingress", ethertype: "IPv4", protocol: "tcp", ports: { min: 443, max: 443 } },
        remote: { kind: "any" },
      },
    ],
    preventDestroy: false,
  };
  const rule = { direction: "ingress", ethertype: "IPv4", protocol: "tcp", dst_port: "443", remote_ip: "0.0.0.0/0" };
  const open: Record<"vm" | "volume" | "group", Open> = {
    vm: { address: "vm.web", operation: "vm.create", name: "web", record: vmRecord },
    volume: {
      ...{ address: "volume.data", operation: "volume.create", name: "data" },
      record: { ...volumeRecord, address: "volume.data" },
    },
    group: { address: "group.web", operation: "group.create", name: "web", record: groupRecord },
  };
  const blocks = {
    vm: { vms: { web: {} } },
    volume: { volumes: { data: { size: 5 } } },
    group: { groups: { web: {} } },
  };
  const at = { vm: "/api/v1/vm/create", volume: "/api/v1/volume/create", group: "/api/v1/security-group" };
  const listAt = { vm: "/api/v1/vm/list", volume: "/api/v1/volume/list", group: "/api/v1/security-group" };

  it.each([
    ["a VM of another flavor", "vm", { ...vmBody, flavor_id: "m1.large" }, "its flavor is"],
    ["a VM from another image", "vm", { ...vmBody, image_id: "00000000-0000-4000-8003-000000000003" }, "its image is"],
    ["a VM with more data", "vm", { ...vmBody, size: "30" }, "its data volume is 30 GB, not 10 GB"],
    ["a volume of another size", "volume", { name: "data", size: "20" }, "its size is 20 GB, not 5 GB"],
    ["a group with another description", "group", { name: "web", description: "Mine", rules: [rule] }, "description"],
    ["a group without its rules", "group", { name: "web", description: "Public web" }, "it lacks the rule"],
    [
      "a group with a rule more",
      "group",
      { name: "web", description: "Public web", rules: [rule, { ...rule, dst_port: "22" }] },
      "it has the rule",
    ],
  ] as const)("%s is named, and neither taken over nor deleted", async (_, kind, body, difference) => {
    leaveOpen(open[kind]);
    await ask("POST", at[kind], body);
    declare(blocks[kind]);
    const before = await shown(listAt[kind]);
    const ran = await apply();
    expect([ran.exitCode, place.proxy.writes], ran.stdout).toEqual([1, []]);
    expect(said(ran)).toContain(difference);
    // Nor does it go when the block does.
    declare({});
    expect((await reconcile("apply", "-y", "--allow-data-loss", "--allow-empty")).exitCode).toBe(0);
    expect([place.proxy.writes, await shown(listAt[kind])]).toEqual([[], before]);
  });

  it.each([
    ["a VM", "vm", vmBody],
    ["a volume", "volume", { name: "data", size: "5" }],
    ["a group", "group", { name: "web", description: "Public web", rules: [rule] }],
  ] as const)("what is just as it was sent is taken over without a question: %s", async (_, kind, body) => {
    leaveOpen(open[kind]);
    await ask("POST", at[kind], body);
    declare({});
    const planned = await reconcile("plan");
    expect([planned.exitCode, planned.stdout.includes("delete")], planned.stderr).toEqual([0, true]);
  });

  it("is asked about where nothing but the name can be seen", async () => {
    leaveOpen(open.volume);
    const { id } = await ask("POST", at.volume, { name: "data", size: "20" });
    declare(blocks.volume);
    hear(({ path, body }) =>
      path.endsWith("/volume/list") ? { body: body.replaceAll(/"size(_gb)?":/g, '"volume":') } : undefined,
    );
    const ran = await apply();
    expect([ran.exitCode, place.proxy.writes]).toEqual([1, []]);
    expect(said(ran)).toContain(`${id} has its name`);
    expect(said(ran)).toContain("reconcile state resolve volume.data --not-created");
  });
});

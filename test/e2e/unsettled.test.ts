/** What people do between a run that was cut off and the next one: edit, move, import, protect. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { RecordedVolume } from "../../reconciler/core/model/recorded";
import { emptyState } from "../../reconciler/core/state/fold";
import { writeSnapshot } from "../../reconciler/core/state/text";
import { jsonLines, type Ran } from "../support/cli-process";
import { eventually } from "../support/eventually";
import { ownPlace } from "../support/own-place";
import { readDump } from "../support/world-shape";

const place = ownPlace();
const { reconcile, declare, state, ask } = place;
const apply = (...flags: string[]): Promise<Ran> => reconcile("apply", "-y", "--allow-data-loss", ...flags);
const summaryOf = (ran: Ran) => jsonLines(ran.stdout).at(-1) as { orphans: unknown[] };

const createVm = (name: string) =>
  ask("POST", "/api/v1/vm/create", {
    ...{ name, flavor_id: "m1.small", id: "1042", image_id: "00000000-0000-4000-8003-000000000001" },
    ...{ owner: "ops@acme.example", project: "acme", region: "in-west-1", size: "10" },
  });

const recordOf = (address: string, name: string) => ({
  ...{ kind: "volume" as const, address, name, sizeGb: 5 },
  ...{ flush: { via: "ask" as const }, preventDestroy: false },
});

/** A state in which the create of a volume was sent, and its answer never came. */
function leaveOpen(address: string, name: string, ...beside: readonly RecordedVolume[]): void {
  const record = recordOf(address, name);
  const intent = {
    ...{ step: `${address}/create`, address, operation: "volume.create" as const, name, record },
    ...{ sentAt: new Date(0).toISOString(), idsBefore: [] },
  };
  const resources = new Map(beside.map((other) => [other.address, other]));
  const open = { ...emptyState("a-lineage"), serial: 1, intents: new Map([[address, intent]]), resources };
  writeFileSync(join(place.folder, "reconcile.state.json"), writeSnapshot(open));
}

describe("a create that is open", () => {
  it("moves with state mv, and is imported at its new address", async () => {
    leaveOpen("volume.old", "data");
    declare({ volumes: { new: { name: "data", size: 5 } } });
    const { id } = (await ask("POST", "/api/v1/volume/create", { name: "data", size: "5" })) as { id: string };
    expect((await reconcile("state", "mv", "volume.old", "volume.new")).exitCode).toBe(0);
    expect((await reconcile("plan")).stderr).toContain(`reconcile import volume.new ID`);
    expect((await reconcile("import", "volume.new", id)).exitCode).toBe(0);
    expect(state().resources["volume.new"]).toMatchObject({ address: "volume.new", id });
    expect(state().intents).toEqual({});
    expect((await reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
  });

  it("is imported although its block is gone, and let go by the next apply", async () => {
    leaveOpen("volume.data", "data");
    declare({});
    const { id } = (await ask("POST", "/api/v1/volume/create", { name: "data", size: "5" })) as { id: string };
    expect((await reconcile("destroy", "-y", "--allow-data-loss")).stderr).toContain("reconcile import volume.data ID");
    const wrong = await reconcile("import", "volume.data", "00000000-0000-4000-8000-000000000000");
    expect([wrong.exitCode, wrong.stderr.includes("plan/import-not-found")]).toEqual([1, true]);
    expect((await reconcile("import", "volume.data", id)).exitCode).toBe(0);
    expect((await apply("--allow-empty")).exitCode).toBe(0);
    expect([state().resources, state().intents, state().orphans]).toEqual([{}, {}, {}]);
    expect(readDump(await ask("GET", "/_control/world")).volume).toEqual([]);
  });

  it("made what has the freed id of a resource that is gone: that one is forgotten, and the import goes on", async () => {
    declare({ volumes: { first: { size: 5 }, second: { size: 5 } } });
    const { id } = (await ask("POST", "/api/v1/volume/create", { name: "second", size: "5" })) as { id: string };
    leaveOpen("volume.second", "second", { ...recordOf("volume.first", "first"), id });
    const refused = await reconcile("import", "volume.second", id);
    expect([refused.exitCode, refused.stderr.includes("reconcile state rm volume.first (then import")]).toEqual([
      1,
      true,
    ]);
    expect((await reconcile("state", "rm", "volume.first")).exitCode).toBe(0);
    expect((await reconcile("import", "volume.second", id)).exitCode).toBe(0);
    expect((await apply()).exitCode).toBe(0);
    expect(state().resources["volume.second"].id).toBe(id);
    const { volume } = readDump(await ask("GET", "/_control/world"));
    expect(volume.map(({ name }) => name).sort()).toEqual(["first", "second"]);
  });

  it("is not written over by a record that moves to its address, by state mv or by a moved entry", async () => {
    declare({ volumes: { first: { size: 5 } } });
    leaveOpen("volume.second", "second");
    expect((await apply("--target", "volume.first")).exitCode).toBe(0);
    const moved = await reconcile("state", "mv", "volume.first", "volume.second");
    expect([moved.exitCode, moved.stderr.includes("state/occupied")]).toEqual([1, true]);
    declare({ volumes: { second: { size: 5 } }, moved: [{ from: "volume.first", to: "volume.second" }] });
    const planned = await reconcile("plan");
    expect([planned.exitCode, planned.stderr.includes("plan/move-occupied")]).toEqual([1, true]);
    expect(Object.keys(state().intents)).toEqual(["volume.second"]);
  });
});

describe("what was deleted by hand, and made again by hand under its name", () => {
  it("is imported in place of what is gone, which is kept as missing, and whose data volume is then an orphan", async () => {
    declare({ vms: { web: {} } });
    await apply();
    const { id, dataVolumeId } = state().resources["vm.web"];
    await ask("DELETE", `/api/v1/vm/delete/${id}`);
    await createVm("web");
    // A list that does not show what was made a moment ago may be behind.
    const planned = await eventually("a plan that believes the list", async () => {
      const ran = await reconcile("plan");
      return ran.stderr.includes("plan/not-listed-yet") ? undefined : ran;
    });
    expect(planned.exitCode).toBe(1);
    const [, now] = /reconcile import vm\.web (\S+)/.exec(planned.stderr) ?? [];
    expect((await reconcile("import", "vm.web", now!)).exitCode).toBe(0);
    expect(state().resources["vm.web"].id).toBe(now);
    const { orphans } = state();
    expect(Object.keys(orphans)).toEqual([`vm:${id}`, `volume:${dataVolumeId}`]);
    expect([`vm:${id}`, `volume:${dataVolumeId}`].map((key) => "missingSince" in orphans[key])).toEqual([true, false]);
    expect((await reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
  });

  it("what is still there keeps its address", async () => {
    declare({ vms: { web: {} } });
    await apply();
    const { id } = state().resources["vm.web"];
    await createVm("other");
    const refused = await reconcile("import", "vm.web", "other");
    expect([refused.exitCode, refused.stderr.includes("state/occupied")]).toEqual([1, true]);
    expect(state().resources["vm.web"].id).toBe(id);
  });

  it("is not to be forgotten for the sake of what does not exist, or of what another address manages", async () => {
    declare({ volumes: { a: { size: 5 }, b: { size: 5 } } });
    await apply();
    const { id } = state().resources["volume.a"];
    const nothing = await reconcile("import", "volume.b", "57a17000-0000-4000-8000-00000000dead");
    expect([nothing.exitCode, nothing.stderr.includes("plan/import-not-found")]).toEqual([1, true]);
    const other = await reconcile("import", "volume.b", id);
    expect([other.exitCode, other.stderr.includes(`${id} is managed as volume.a already`)]).toEqual([1, true]);
    // Neither to forget a volume that is there, nor to move one to an address that has another.
    expect(other.stderr).not.toMatch(/state (rm|mv)/);
  });

  it("nor is the own data volume of a VM: it would have two addresses, and each would undo what the other does", async () => {
    leaveOpen("volume.open", "open");
    declare({ vms: { web: {} }, volumes: { data: { size: 10 } } });
    await apply("--target", "vm.web");
    const { dataVolumeId } = state().resources["vm.web"];
    for (const address of ["volume.data", "volume.open"]) {
      const refused = await reconcile("import", address, dataVolumeId);
      expect([refused.exitCode, refused.stderr.includes("is the own data volume of vm.web")]).toEqual([1, true]);
    }
    // A VM that goes leaves it.
    declare({ volumes: { data: { size: 10 } } });
    expect((await reconcile("import", "volume.data", dataVolumeId)).exitCode).toBe(0);
  });
});

it("a volume that is replaced and deleted in one run is no orphan of that run", async () => {
  declare({ volumes: { data: { size: 5 } } });
  await apply();
  declare({ volumes: { data: { size: 5, name: "other" } } });
  const ran = await apply("--json");
  expect([ran.exitCode, summaryOf(ran).orphans]).toEqual([0, []]);
});

it("an id in the file that is nobody's ends the plan before the volume is off its VM", async () => {
  const nobodys = "00000000-dead-4000-8000-000000000001";
  const naming = (attach_to: unknown, remote_group: unknown) => ({
    vms: { web: {} },
    volumes: { data: { size: 5, attach_to, flush: { via: "stop" } } },
    groups: { front: { rules: [{ protocol: "tcp", dst_port: 80, remote_group }] } },
  });
  declare(naming("web", "front"));
  expect((await apply()).exitCode).toBe(0);
  const sent = place.writes();
  declare(naming({ id: nobodys }, { id: nobodys }));
  const refused = await apply();
  expect([refused.exitCode, refused.stderr]).toEqual([
    1,
    expect.stringContaining(`the service shows no VM ${nobodys}, which volume.data names`),
  ]);
  expect(refused.stderr).toContain(`the service shows no security group ${nobodys}, which group.front names`);
  expect(place.writes()).toBe(sent);
  await createVm("theirs");
  const theirs = place.emulator.dump().vms.find(({ name }) => name === "theirs")?.id;
  declare(naming({ id: theirs }, "front"));
  const done = await apply();
  expect(done.exitCode, done.stdout + done.stderr).toBe(0);
});

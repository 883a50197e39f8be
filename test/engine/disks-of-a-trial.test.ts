/** Which disks of its VM a trial takes for data, and which it notes to be taken away (engine/doctor/trial/disks.ts). */
import { expect, it } from "vitest";
import type { LiveVm, LiveVolume } from "../../reconciler/core/model/live";
import { accepted, type Outcome } from "../../reconciler/core/model/outcome";
import { listedNow } from "../../reconciler/engine/doctor/trial/away";
import { noteDisks, tellTrialDisks } from "../../reconciler/engine/doctor/trial/disks";
import type { Trial } from "../../reconciler/engine/doctor/trial/watch";

const vmWith = (...volumes: NonNullable<LiveVm["volumes"]>): LiveVm => ({
  ...{ kind: "vm", id: "v-1", name: "trial", status: "ACTIVE", phase: "running", volumes },
});
const disk = (more: Partial<LiveVolume>): LiveVolume => ({ kind: "volume", id: "d-1", failed: false, ...more });
const refused: Outcome<never> = { status: "rejected", condition: "forbidden", message: "not permitted" };

it.each<readonly [what: string, answer: Outcome<LiveVolume>, data: readonly string[], root: readonly string[]]>([
  ["of 1 GB is its data", accepted(disk({ sizeGb: 1 })), ["d-1"], []],
  ["of 2 GB is its root", accepted(disk({ sizeGb: 2 })), [], ["d-1"]],
  ["without a size tells nothing", accepted(disk({})), [], []],
  ["that may not be read tells nothing", refused, [], []],
])("a disk %s", async (_, answer, data, root) => {
  const made = { data: new Set<string>(), root: new Set<string>() };
  const trial = { client: { getVolume: async () => answer }, made } as unknown as Trial;
  await tellTrialDisks(trial, vmWith({ id: "d-1" }));
  expect([[...made.data], [...made.root]]).toEqual([data, root]);
});

it.each<
  readonly [
    what: string,
    vm: LiveVm,
    listed: Outcome<readonly LiveVolume[]> | undefined,
    known: { readonly root?: string; readonly noted?: string; readonly earlier?: string },
    notes: readonly string[],
  ]
>([
  ["what its VM shows", vmWith({ id: "d-1" }), undefined, {}, ["d-1"]],
  ["no root disk that its VM shows", vmWith({ id: "d-1", root: true }), undefined, {}, []],
  ["no root disk that was told by its size", vmWith({ id: "d-1" }), undefined, { root: "d-1" }, []],
  ["nothing a second time", vmWith({ id: "d-1" }), undefined, { noted: "d-1" }, []],
  ["what says that it hangs there", vmWith(), accepted([disk({ attachedTo: "v-1" })]), {}, ["d-1"]],
  ["nothing that hangs elsewhere", vmWith(), accepted([disk({ attachedTo: "v-2" })]), {}, []],
  ["once what both show", vmWith({ id: "d-1" }), accepted([disk({ attachedTo: "v-1" })]), {}, ["d-1"]],
  ["nothing that was listed before it", vmWith({ id: "d-1" }), undefined, { earlier: "d-1" }, []],
  ["what its VM shows, where the list is refused", vmWith({ id: "d-1" }), refused, {}, ["d-1"]],
])("a trial notes %s", async (_, vm, listed, { root, noted, earlier }, notes) => {
  const found: string[] = [];
  const trial = {
    client: { can: { canFindCreated: () => listed !== undefined }, listVolumes: async () => listed },
    report: { dialect: { operations: { "volume.list": null } }, emptied: new Set() },
    made: { root: new Set(root === undefined ? [] : [root]) },
    isNoted: (_kind: string, id: string) => id === noted,
    isOfOthers: (_kind: string, id: string) => id === earlier,
    notes: { add: ({ id }: { readonly id: string }) => found.push(id) },
    ports: { clock: { now: () => 0 } },
  };
  await noteDisks(trial as unknown as Trial, vm);
  expect(found).toEqual(notes);
});

it("what hangs on the VMs of others is theirs, where no list of volumes shows it", async () => {
  const operations = { "vm.list": { method: "GET", path: "/vms", items: [""] } };
  const trial = {
    client: {
      can: { canFindCreated: (kind: string) => kind === "vm" },
      listVms: async () => accepted([vmWith({ id: "shared" }, { id: "root", root: true })]),
    },
    report: { dialect: { operations }, emptied: new Set() },
  };
  const listed = await listedNow(trial as unknown as Trial);
  expect([...listed].map(([kind, { disks }]) => [kind, disks])).toEqual([["vm", ["shared", "root"]]]);
});

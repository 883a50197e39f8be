/** The delete of a VM: what is looked at directly before it, what it leaves behind, and which volume goes with it. */
import { describe, expect, it } from "vitest";
import type { LiveVolume } from "../../reconciler/core/model/live";
import { accepted, type Outcome } from "../../reconciler/core/model/outcome";
import type { RecordedResource } from "../../reconciler/core/model/recorded";
import type { ActionOf, Step } from "../../reconciler/core/plan/step";
import { away, gone, lost, performed, type Row, refused, vm, yes } from "../support/acts-on-vm";

type Delete = ActionOf<"vm.delete">;
const volume = (id: string, more: Partial<LiveVolume> = {}): LiveVolume => ({
  ...{ kind: "volume", id, name: id, failed: false, sizeGb: 5, attachedTo: null },
  ...more,
});
const preserved = (...ids: readonly string[]) => accepted({ preservedVolumes: ids });
const disks = (...ids: readonly string[]) =>
  vm({ volumes: [{ id: "r", root: true }, ...ids.map((id) => ({ id, root: false }))] });

interface Case extends Omit<Row, "becomes"> {
  readonly action?: Partial<Delete>;
}

async function deleted({ action, ...row }: Case) {
  const whole: Delete = {
    ...{ operation: "vm.delete", vm: { id: "v" }, deleteFloatingIp: false, managedVolumes: [], leaves: [] },
    ...action,
  } as unknown as Delete;
  const more = { forgets: true } as unknown as Partial<Step<"vm.delete">>;
  const done = await performed<"vm.delete">({ ...row, becomes: "" }, whole, more);
  const orphans = [...done.recorder.state.orphans.values()].map(
    ({ id, name, sizeGb, reason, deleting }) =>
      `${id} (${name}${sizeGb === undefined ? "" : `, ${sizeGb} GB`}${reason.includes("root disk") ? ", perhaps the root disk" : ""}${deleting === true ? ", being deleted" : ""})`,
  );
  return { ...done, orphans };
}

describe("the delete of a VM", () => {
  it.each<[what: string, row: Case, told: string, orphans?: readonly string[]]>([
    ["is done when the VM is gone", { shows: [vm(), gone], answers: [preserved()] }, "done | delete | no record"],
    [
      "takes the address along where that was asked for",
      { shows: [vm(), gone], answers: [preserved()], action: { deleteFloatingIp: true } },
      "done | delete with its address | no record",
    ],
    [
      "is not done while the VM shows, and what it is to leave is noted and not told",
      { shows: [vm()], answers: [preserved("d")] },
      "failed apply/timeout | delete | deleting true",
      ["d (data volume of web)"],
    ],
    [
      "is seen by nobody where VMs cannot be looked at",
      { shows: [], answers: [preserved()] },
      "done (that it is gone) | delete | no record",
    ],
    ["that is refused is no delete under way", { answers: [refused("conflict")] }, "failed service/conflict | delete"],
    ["that was lost stays one", { answers: [lost] }, "unknown service/unknown | delete | deleting true"],
    [
      "that the service was away for is no delete under way",
      { answers: [away] },
      "failed service/unavailable | delete",
    ],
    ["of what is gone already is done", { shows: [gone], answers: [gone], planned: {} }, "done | delete | no record"],
    ["of what was not found and shows yet is not done", { answers: [gone] }, "failed service/not_found | delete"],
    [
      "of what was not found and shows yet, where an earlier run had sent it, is still meant to go",
      { answers: [gone], recorded: { deleting: true } },
      "failed service/not_found | delete | deleting true",
    ],
    [
      "that is refused after an earlier one is no delete under way",
      { answers: [refused("forbidden")], recorded: { deleting: true } },
      "failed service/forbidden | delete",
    ],
    [
      "that is refused while the VM is on its way is sent once more when it has arrived",
      {
        answers: [refused("conflict"), preserved()],
        shows: [vm({ phase: "changing", status: "BUILD" }), vm({ phase: "changing", status: "BUILD" }), vm(), gone],
      },
      "done | delete, delete | no record",
    ],
    [
      "that an earlier run has sent is waited for while the VM is on its way, and not sent before",
      {
        answers: [gone],
        shows: [vm({ phase: "changing", status: "DELETING" }), vm({ phase: "changing", status: "DELETING" }), gone],
        recorded: { deleting: true },
      },
      "done | delete | no record",
    ],
    [
      "that an earlier run has sent is not sent again while the VM stays on its way",
      { shows: [vm({ phase: "changing", status: "DELETING" })], recorded: { deleting: true } },
      "failed apply/timeout | nothing | deleting true",
    ],
    [
      "leaves the volumes that the answer names",
      { shows: [vm(), gone], answers: [preserved("d")] },
      "done | delete | no record",
      ["d (data volume of web)"],
    ],
    [
      "leaves two volumes that the answer names, of which none is known",
      { shows: [vm(), gone], answers: [preserved("d", "e")] },
      "done | delete | no record",
      ["d (volume that hung on web)", "e (volume that hung on web)"],
    ],
    [
      "leaves its data volume of the size that it has",
      { shows: [vm(), gone], answers: [preserved("d")], recorded: { dataVolumeId: "d", sizeGb: 20 } },
      "done | delete | no record",
      ["d (data volume of web, 20 GB)"],
    ],
    [
      "leaves a data volume that the answer does not name, where it is still there",
      {
        shows: [vm(), gone],
        answers: [preserved()],
        recorded: { dataVolumeId: "d" },
        volumes: { d: accepted(volume("d")) },
      },
      "done | delete | no record",
      ["d (data volume of web)"],
    ],
    [
      "leaves nothing of a data volume that the answer does not name, where it is gone",
      { shows: [vm(), gone], answers: [preserved()], recorded: { dataVolumeId: "d" } },
      "done | delete | no record",
    ],
    [
      "leaves a data volume where the answer names nothing, without a look",
      { shows: [vm(), gone], answers: [accepted({})], recorded: { dataVolumeId: "d" } },
      "done | delete | no record",
      ["d (data volume of web)"],
    ],
    [
      "leaves nothing that an address manages",
      {
        shows: [vm(), gone],
        answers: [preserved("d", "e")],
        others: [
          {
            kind: "volume",
            address: "volume.d",
            id: "d",
            name: "d",
            sizeGb: 1,
            flush: { via: "ask" },
            preventDestroy: false,
          } as RecordedResource,
        ],
        action: { managedVolumes: ["e"] },
      },
      "done | delete | no record",
    ],
    [
      "leaves what the plan said stays behind",
      {
        shows: [vm(), gone],
        answers: [accepted({})],
        action: { leaves: [{ id: "x", name: "old", sizeGb: 7 }] } as unknown as Partial<Delete>,
        volumes: { x: accepted(volume("x")) },
      },
      "done | delete | no record",
      ["x (old, 7 GB, perhaps the root disk, being deleted)"],
    ],
    [
      "leaves a disk that may be its root disk only where it is still there",
      { shows: [vm(), gone], answers: [accepted({})], recorded: { disks: [{ id: "x", maybeRoot: true }] } },
      "done | delete | no record",
    ],
    [
      "leaves a disk that the answer names, which then is not the root disk",
      { shows: [vm(), gone], answers: [preserved("x")], recorded: { disks: [{ id: "x", maybeRoot: true }] } },
      "done | delete | no record",
      ["x (volume that hung on web)"],
    ],
    [
      "leaves no disk that may be its root disk, where the answer names others",
      {
        shows: [vm(), gone],
        answers: [preserved("y")],
        recorded: { disks: [{ id: "x", maybeRoot: true }] },
        volumes: { x: accepted(volume("x")) },
      },
      "done | delete | no record",
      ["y (data volume of web)"],
    ],
    [
      "leaves the disk that it is shown before",
      { shows: [disks("d"), disks("d"), gone], answers: [accepted({})] },
      "done | delete | no record",
      ["d (data volume of web)"],
    ],
  ])("%s", async (_, row, told, orphans = []) => {
    const done = await deleted(row);
    expect(done.told).toBe(told);
    expect(done.orphans).toEqual(orphans);
    const isDone = told.startsWith("done");
    expect(done.emitted.map(({ id }) => id)).toEqual(isDone ? orphans.map((one) => one.split(" ")[0]) : []);
    expect(done.run.deleted.has("vm:v")).toBe(isDone);
  });

  it("says where nobody knows what it left", async () => {
    const said = async (row: Case) => (await deleted({ shows: [vm(), gone], ...row })).said;
    const nobody = ["the answer does not name the volumes that it left, and nothing else shows them"];
    expect(await said({ answers: [accepted({})] })).toEqual(nobody);
    expect(await said({ answers: [preserved()] })).toEqual([]);
    expect(await said({ answers: [accepted({})], recorded: { dataVolumeId: "d" } })).toEqual([]);
    expect(await said({ answers: [accepted({})], action: { hanging: [] } as unknown as Partial<Delete> })).toEqual([]);
  });

  it("of what no look had shown, and was not found, keeps it as missing", async () => {
    const { told, orphans } = await deleted({ shows: [gone], answers: [gone] });
    expect([told, orphans]).toEqual(["done | delete | no record", ["v (web)"]]);
  });
});

describe("directly before the delete of a VM", () => {
  const hanging = (...ids: readonly string[]) => ({ hanging: ids }) as unknown as Partial<Delete>;
  const stop = { flush: "stop" } as unknown as Partial<Delete>;
  const since = "failed apply/attached-since | nothing";
  it.each<[what: string, row: Case, told: string]>([
    [
      "the same volumes hang on it",
      { shows: [disks("d"), gone], answers: [preserved()], action: hanging("r", "d") },
      "done | delete | no record | no",
    ],
    ["another volume hangs on it", { shows: [disks("d", "e")], action: hanging("r", "d") }, since],
    [
      "its data volume hangs on it, which the record knows",
      { shows: [disks("d"), gone], answers: [preserved()], recorded: { dataVolumeId: "d" }, action: hanging("r") },
      "done | delete | no record",
    ],
    [
      "another volume says that it hangs on it",
      { shows: [vm(), gone], listed: accepted([volume("e", { attachedTo: "v" })]), action: hanging() },
      since,
    ],
    [
      "another volume says that it hangs elsewhere",
      {
        shows: [vm(), gone],
        answers: [preserved()],
        listed: accepted([volume("e", { attachedTo: "w" })]),
        action: hanging(),
      },
      "done | delete | no record",
    ],
    [
      "the volumes cannot be listed",
      { shows: [vm()], listed: refused("forbidden"), action: hanging() },
      "failed service/forbidden | nothing",
    ],
    [
      "the list of volumes is away",
      { shows: [vm()], listed: away, action: hanging() },
      "failed service/unavailable | nothing",
    ],
    ["it is gone", { shows: [gone], answers: [gone], planned: {}, action: hanging() }, "done | delete | no record"],
    [
      "it may not be looked at",
      { shows: [refused("forbidden")], action: hanging() },
      "failed service/forbidden | nothing",
    ],
    ["it cannot be looked at now", { shows: [away], action: hanging() }, "failed service/unavailable | nothing"],
    [
      "it is stopped, as was asked",
      {
        shows: [vm({ phase: "stopped", status: "SHUTOFF" }), vm({ phase: "stopped", status: "SHUTOFF" }), gone],
        answers: [preserved()],
        action: stop,
      },
      "done | delete | no record",
    ],
    ["it runs, and was to be stopped", { shows: [vm()], action: stop }, "failed apply/not-stopped | nothing"],
    [
      "it runs, and was to be stopped, after an earlier run had sent its delete",
      { shows: [vm()], recorded: { deleting: true }, action: stop },
      "failed apply/not-stopped | nothing | deleting true",
    ],
  ])("%s", async (_, row, told) => expect((await deleted(row)).told).toBe(told.replace(/ \| no$/, "")));

  it("says which volumes hang on it", async () => {
    const message = async (shows: Row["shows"]) =>
      (await deleted({ shows: shows ?? [], action: hanging("r") })).result.message;
    expect(await message([disks("e")])).toBe(
      "nothing was sent: volume e hangs on VM web, and did not when the plan was made",
    );
    expect(await message([disks("f", "e")])).toBe(
      "nothing was sent: volumes e, f hang on VM web, and did not when the plan was made",
    );
  });
});

describe("the volume that goes with a VM", () => {
  const own = { deletesVolume: { id: "d", sizeGb: 5 } } as unknown as Partial<Delete>;
  const going = { shows: [vm(), gone], answers: [preserved("d"), yes], action: own } satisfies Case;
  const at = (...looks: readonly Outcome<LiveVolume>[]) => {
    let looked = 0;
    // Each look at the volume shows the next of these.
    return new Proxy({}, { get: () => looks[Math.min(looked++, looks.length - 1)] }) as NonNullable<Row["volumes"]>;
  };
  const none = refused("not_found", "no such volume", 404);
  it.each<[what: string, row: Case, told: string, orphans: readonly string[]]>([
    [
      "is deleted after it",
      { ...going, volumes: at(accepted(volume("d")), none) },
      "done | delete, delete volume d | no record",
      [],
    ],
    [
      "hangs on the VM that is gone, as its record may go on saying",
      { ...going, volumes: at(accepted(volume("d", { attachedTo: "v" })), none) },
      "done | delete, delete volume d | no record",
      [],
    ],
    [
      "shows no size",
      { ...going, volumes: at(accepted(volume("d", { sizeGb: undefined })), none) },
      "done | delete, delete volume d | no record",
      [],
    ],
    ["is gone already", { ...going, volumes: at(none) }, "done | delete, delete volume d | no record", []],
    [
      "has another size by now: it stays",
      { ...going, volumes: at(accepted(volume("d", { sizeGb: 6 }))) },
      "failed apply/attached-since | delete | no record",
      ["d (data volume of web, 5 GB)"],
    ],
    [
      "is called otherwise by now: it stays",
      {
        ...going,
        plannedVolume: volume("d", { name: "web-data" }),
        volumes: at(accepted(volume("d", { name: "theirs" }))),
      },
      "failed apply/attached-since | delete | no record",
      ["d (data volume of web, 5 GB)"],
    ],
    [
      "hangs on another VM by now: it stays",
      { ...going, volumes: at(accepted(volume("d", { attachedTo: "w" }))) },
      "failed apply/attached-since | delete | no record",
      ["d (data volume of web, 5 GB)"],
    ],
    [
      "may not be looked at: the next run tries it again",
      { ...going, volumes: at(refused("forbidden")) },
      "failed service/forbidden | delete | deleting true",
      ["d (data volume of web, 5 GB)"],
    ],
    [
      "may not be lost, which nobody permitted: it stays",
      { ...going, mayLose: false, volumes: at(accepted(volume("d"))) },
      "done | delete | no record",
      ["d (data volume of web, 5 GB)"],
    ],
    [
      "is not left behind by it",
      { ...going, answers: [preserved()], volumes: at(none) },
      "done | delete | no record",
      [],
    ],
    [
      "is refused: the next run tries it again",
      { ...going, answers: [preserved("d"), refused("forbidden")], volumes: at(accepted(volume("d"))) },
      "failed service/forbidden | delete, delete volume d | deleting true",
      ["d (data volume of web, 5 GB)"],
    ],
    [
      "was lost: it is being deleted",
      { ...going, answers: [preserved("d"), lost], volumes: at(accepted(volume("d"))) },
      "unknown service/unknown | delete, delete volume d | deleting true",
      ["d (data volume of web, 5 GB, being deleted)"],
    ],
    [
      "stays in view: it is being deleted",
      { ...going, volumes: at(accepted(volume("d"))) },
      "failed apply/volume-not-settled | delete, delete volume d | deleting true",
      ["d (data volume of web, 5 GB, being deleted)"],
    ],
  ])("%s", async (_, row, told, orphans) => {
    const done = await deleted(row);
    expect([done.told, done.orphans]).toEqual([told, orphans]);
  });
  it("is named where it stays", async () => {
    const plannedVolume = volume("d", { name: "web-data" });
    const message = async (...looks: readonly Outcome<LiveVolume>[]) =>
      (await deleted({ ...going, plannedVolume, volumes: at(...looks) })).result.message;
    expect(await message(accepted(volume("d", { name: "theirs" })))).toBe(
      "the VM is deleted, but its volume d is not what the plan named (5 GB): it is called theirs now, and was called web-data; it stays as an orphan",
    );
    expect(await message(accepted(volume("d", { name: "WEB-data", sizeGb: 6 })))).toBe(
      "the VM is deleted, but its volume d is not what the plan named (5 GB): it has 6 GB now, and had 5; it stays as an orphan",
    );
    expect(await message(accepted(volume("d", { name: "web-data", attachedTo: "w" })))).toBe(
      "the VM is deleted, but its volume d is not what the plan named (5 GB): it hangs on VM w now; it stays as an orphan",
    );
    expect(await message(refused("forbidden"))).toBe(
      "the VM is deleted, but its volume d is not: it could not be looked at: refused: no",
    );
  });
});

/** What is done before a VM is deleted, as a table: which steps, in which order, and what each of them waits for. */
import { describe, expect, it } from "vitest";
import type { Intent, RecordedVm } from "../../reconciler/core/model/recorded";
import type { LiveVm } from "../../reconciler/kinds/vm/live";
import { idOf, planFor, vm, volume, type World, waitsFor } from "../support/sample-plans";

const id = idOf("vm.web");
const web = vm("web");
const photographed = { onDelete: { snapshot: true, preservedVolumes: "retain" } } as const;
const data = volume("data", { attachTo: { address: "vm.web" } });
const own = { kind: "volume", id: `${id}-data`, name: "web-data", sizeGb: 20, failed: false, attachedTo: id } as const;
const going = (now: Partial<LiveVm>, memory: object = {}): World => ({
  applied: [{ ...web, now, memory }],
  strangers: [own],
  missing: [],
});
const withData = (now: Partial<LiveVm>): World => ({
  ...going(now),
  applied: [{ ...web, now: { volumes: [{ id: idOf("volume.data"), root: false }], ...now } }, data],
  desired: [volume("data")],
});
const hanging: Partial<LiveVm> = { volumes: [own.id, idOf("volume.data")].map((disk) => ({ id: disk, root: false })) };
const takesAlong = { memory: { onDelete: { snapshot: false, preservedVolumes: "delete" } } } as const;
/** It takes its data volume along, and it has no other. */
const goesWhole = (now: Partial<LiveVm>): World => going(now, takesAlong.memory);

const made = {
  ...{ kind: "vm", address: "vm.web", name: "web", preventDestroy: false, ...photographed, dataVolumeId: own.id },
} as RecordedVm;
/** The create that was cut off has made it. */
const begun: Intent = {
  ...{ step: "vm.web/create", address: "vm.web", operation: "vm.create", name: "web", idsBefore: [], accepted: true },
  ...{ sentAt: "2026-01-01T00:00:00Z", record: made },
};

/** `delete < settle?`: a step of the VM and what it waits for. */
const stepsOf = (world: World): readonly string[] =>
  planFor(world).steps.map((step) =>
    [
      step.id,
      ...(step.action.operation === "vm.delete" && step.action.flush !== undefined
        ? [`(flush: ${step.action.flush})`]
        : []),
      ...waitsFor(step),
    ]
      .join(" ")
      .replaceAll("vm.web/", ""),
  );

const stop = "flush-stop";
const whole = "delete (flush: stop)";

describe("before the delete of a VM", () => {
  it.each<[what: string, world: World, steps: readonly string[]]>([
    ["it is stopped while it runs, for what outlives it", going({}), [stop, `${whole} < ${stop}`]],
    ["nothing is done where it is stopped", going({ phase: "stopped" }), [whole]],
    [
      "nothing is done where an earlier run has sent its delete, and it is on its way",
      going({ phase: "changing", status: "DELETING" }, { deleting: true, ...photographed }),
      [whole],
    ],
    [
      "it is stopped once more where an earlier delete came to nothing",
      going({}, { deleting: true }),
      [stop, `${whole} < ${stop}`],
    ],
    ["nothing is done where it takes all of its volumes along", goesWhole({}), ["delete"]],
    [
      "nothing is done where all volumes on it are deleted as well",
      { ...withData({}), applied: [{ ...web, ...takesAlong, now: hanging }, data], desired: [] },
      ["delete", "volume.data/delete < delete"],
    ],
    ["nobody can stop one that failed, so a person is asked", going({ phase: "failed" }), ["delete (flush: ask)"]],
    [
      "nothing is flushed where it failed before it ever ran",
      going({ phase: "failed" }, { building: true }),
      ["delete"],
    ],
    [
      "nothing is flushed while it is built, and it is waited for until its volumes show",
      going({ phase: "changing", volumes: [] }, { building: true, dataVolumeId: undefined }),
      ["settle", "delete < settle?"],
    ],
    [
      "it is not waited for while it is built where its volumes show",
      going({ phase: "changing" }, { building: true }),
      ["delete"],
    ],
    ["it is stopped out of any other transition", going({ phase: "changing" }), [stop, `${whole} < ${stop}`]],
    [
      "a resize under way arrives and is undone",
      going({ phase: "changing" }, { resizing: { to: "m1.large" } }),
      [
        "settle",
        "revert-pending < settle",
        `${stop} < revert-pending? settle?`,
        `${whole} < settle? revert-pending? ${stop}`,
      ],
    ],
    [
      "a resize that waits is undone, and whether that succeeds holds nothing up",
      going({ phase: "verify_resize" }),
      ["revert-pending", `${stop} < revert-pending?`, `${whole} < revert-pending? ${stop}`],
    ],
    ["a resize that waits stays where nothing is flushed for", goesWhole({ phase: "verify_resize" }), ["delete"]],
    [
      "a person is asked where a resize waits that cannot be undone",
      { ...going({ phase: "verify_resize" }), missing: ["vm.resize.revert"] },
      ["delete (flush: ask)"],
    ],
    [
      "it is stopped once a person has undone its resize for its snapshot",
      { ...going({ phase: "verify_resize" }, photographed), missing: ["vm.resize.revert"] },
      [
        "revert-pending",
        "snapshot-delete < revert-pending",
        `${stop} < revert-pending? snapshot-delete`,
        `${whole} < revert-pending? snapshot-delete ${stop}`,
      ],
    ],
    [
      "it is stopped once a person has undone its resize for a volume that comes off it",
      { ...withData({ phase: "verify_resize" }), missing: ["vm.resize.revert"] },
      [
        "revert-pending",
        `${stop} < revert-pending?`,
        `volume.data/detach < ${stop}`,
        `${whole} < revert-pending? ${stop} volume.data/detach`,
      ],
    ],
    [
      "its snapshot is taken while it runs",
      going({}, photographed),
      ["snapshot-delete", `${stop} < snapshot-delete`, `${whole} < snapshot-delete ${stop}`],
    ],
    ["no snapshot is taken of one that failed", going({ phase: "failed" }, photographed), ["delete (flush: ask)"]],
    [
      "its snapshot waits until it has arrived, which has to succeed",
      going({ phase: "changing" }, photographed),
      [
        "settle",
        "snapshot-delete < settle",
        `${stop} < settle? snapshot-delete`,
        `${whole} < settle? snapshot-delete ${stop}`,
      ],
    ],
    [
      "its snapshot waits until the resize is undone, which has to succeed",
      going({ phase: "verify_resize" }, photographed),
      [
        "revert-pending",
        "snapshot-delete < revert-pending",
        `${stop} < revert-pending? snapshot-delete`,
        `${whole} < revert-pending? snapshot-delete ${stop}`,
      ],
    ],
    [
      "one that was made by a create that was cut off is written down first",
      {
        intents: [begun],
        strangers: [{ kind: "vm", id: "s", name: "web", phase: "verify_resize", status: "VERIFY_RESIZE" }, own],
        missing: [],
      },
      [
        "import",
        "revert-pending < import",
        "snapshot-delete < import revert-pending",
        "delete < import revert-pending? snapshot-delete",
      ],
    ],
    [
      "a volume that stays in the file comes off once it is stopped",
      withData({}),
      [stop, `volume.data/detach < ${stop}`, `${whole} < ${stop} volume.data/detach`],
    ],
    [
      "a volume that stays in the file comes off one whose resize was undone",
      withData({ phase: "verify_resize" }),
      [
        "revert-pending",
        `${stop} < revert-pending?`,
        `volume.data/detach < ${stop}`,
        `${whole} < revert-pending? ${stop} volume.data/detach`,
      ],
    ],
    [
      "a volume that stays in the file comes off one that failed, and a person is asked",
      withData({ phase: "failed" }),
      ["volume.data/detach", "delete (flush: ask) < volume.data/detach"],
    ],
  ])("%s", (_, world, steps) => {
    expect(stepsOf(world)).toEqual(steps);
  });

  it("counts as downtime of a VM that comes back, and of no other", () => {
    const down = (desired: World["desired"] = []) =>
      planFor({ ...going({}), desired }).steps.flatMap(({ id: step, downtimeOf }) =>
        downtimeOf === undefined ? [] : [`${step}: ${downtimeOf}`],
      );
    expect(down()).toEqual([]);
    const replaced = [`vm.web/${stop}: vm.web`, "vm.web/delete: vm.web", "vm.web/create: vm.web"];
    expect(down([{ ...web, region: "in-south-2" }])).toEqual(replaced);
  });

  it("notes its stop, so that the next run starts a VM that this one could not delete", () => {
    const stops = planFor(going({})).steps.filter(({ action }) => action.operation === "vm.stop");
    expect(stops.map(({ record }) => record)).toEqual([{ stoppedForFlush: true }]);
  });
});

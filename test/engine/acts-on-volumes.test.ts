/** What a step does to a volume: what is sent, what is looked at after it, and what the record has then, a row each. */
import { describe, expect, it } from "vitest";
import { adviceText } from "../../reconciler/core/model/fix";
import { type LiveVm, type LiveVolume, notSeen } from "../../reconciler/core/model/live";
import { accepted, type Outcome, type Rejection } from "../../reconciler/core/model/outcome";
import type { RecordedResource, RecordedVm, RecordedVolume } from "../../reconciler/core/model/recorded";
import type { ActionOf, ActOn, Step } from "../../reconciler/core/plan/step";
import { createPoller } from "../../reconciler/engine/poller";
import { defaultTiming } from "../../reconciler/engine/ports";
import type { StepResult } from "../../reconciler/engine/run";
import { volumePerformers } from "../../reconciler/kinds/volume/perform";
import { onceVolumeSteady, waitForVolume, watchOf } from "../../reconciler/kinds/volume/watch";
import { loneRun, stepAt } from "../support/virtual-world";

const volume = (more: Partial<LiveVolume> = {}): Outcome<LiveVolume> =>
  accepted({ kind: "volume", id: "d", name: "data", sizeGb: 5, failed: false, status: "available", ...more });
const vm = (more: Partial<LiveVm> = {}): Outcome<LiveVm> =>
  accepted({ kind: "vm", id: "v", name: "web", phase: "running", status: "ACTIVE", ...more });
const refused = (condition: Rejection["condition"], message = "no", httpStatus?: number): Rejection => ({
  ...{ status: "rejected", condition, message },
  ...(httpStatus === undefined ? {} : { httpStatus }),
});
const gone = refused("not_found", "no such volume", 404);
const yes = accepted(undefined);
const lost: Outcome<never> = { status: "unknown", reason: "the connection broke" };
const away: Outcome<never> = { status: "unavailable", reason: "503" };

const record: RecordedVolume = {
  ...{ kind: "volume", address: "volume.data", id: "d", name: "data", sizeGb: 5 },
  flush: { via: "ask" },
  preventDestroy: false,
};
const host: RecordedVm = {
  ...{ kind: "vm", address: "vm.web", id: "v", name: "web", preventDestroy: false },
  onDelete: { snapshot: false, preservedVolumes: "retain" },
};

interface Row {
  /** What one look after the other shows of the volume; the last for good. */
  readonly shows?: readonly Outcome<LiveVolume>[];
  /** What the VM's own record shows. Absent: VMs cannot be looked at. */
  readonly vms?: readonly Outcome<LiveVm>[];
  readonly answers?: readonly Outcome<undefined>[];
  readonly recorded?: readonly RecordedResource[];
  /** What the plan saw of the volume; `undefined`: nothing. */
  readonly planned?: Partial<LiveVolume>;
  /** The dialect says that a request is done when it is answered. */
  readonly doneAtOnce?: true;
  readonly address?: string;
  readonly becomes: string;
}

const words = (result: StepResult): string =>
  [
    result.end,
    result.code,
    ...(result.end === "done" && !result.effect.seen ? result.effect.writes.map(({ said }) => `(${said})`) : []),
  ]
    .filter((word) => word !== undefined)
    .join(" ");

async function stageOf({ shows = [volume()], vms, answers = [yes], recorded = [record], planned, doneAtOnce }: Row) {
  let [looked, lookedAtVm] = [0, 0];
  const sent: string[] = [];
  const answer = async (what: string): Promise<Outcome<undefined>> => {
    sent.push(what);
    return answers[Math.min(sent.length, answers.length) - 1] ?? yes;
  };
  const { run, recorder, clock } = await loneRun({
    records: recorded,
    has: (operation) => operation !== "vm.list" && (operation !== "vm.get" || vms !== undefined),
    live: {
      ...notSeen,
      of: {
        ...notSeen.of,
        volume: {
          ...notSeen.of.volume,
          byId: new Map(
            planned && [["d", { seen: "yes", value: { kind: "volume", id: "d", failed: false, ...planned } }]],
          ),
        },
      },
    },
    client: {
      ...(doneAtOnce === undefined ? {} : { volumesChange: false }),
      getVolume: async () => shows[Math.min(looked++, shows.length - 1)] ?? gone,
      getVm: async () => vms?.[Math.min(lookedAtVm++, vms.length - 1)] ?? refused("not_found"),
      attachVolume: (id, to) => answer(`attach ${id} to ${to}`),
      detachVolume: (id, from) => answer(`detach ${id} from ${from}`),
      resizeVolume: (id, size) => answer(`resize ${id} to ${size}`),
      deleteVolume: (id) => answer(`delete ${id}`),
    },
    more: { debtsBefore: new Map() },
  });
  return {
    recorder,
    clock,
    sent,
    run: { ...run, poller: createPoller(run.ports.client, clock, defaultTiming.pollIntervalMs) },
    looked: () => looked,
  };
}

const known = ["kind", "address", "name", "preventDestroy", "flush", "onDelete"];
/** What a record has beside what every record here has. */
const keptOf = (kept: RecordedResource | undefined, without: readonly string[] = []) =>
  Object.fromEntries(Object.entries(kept ?? {}).filter(([key]) => ![...known, ...without].includes(key)));

async function performed<O extends ActOn<"volume">>(row: Row, action: ActionOf<O>, what: Step<O>["record"] = {}) {
  const stage = await stageOf(row);
  const address = row.address ?? "volume.data";
  const step = { ...stepAt(address, "act"), action, record: what } as unknown as Step<O>;
  const result = await volumePerformers[action.operation](step as never, action as never, stage.run);
  const kept = keptOf(stage.recorder.state.resources.get(address));
  const times =
    stage.sent.length === 0 ? "nothing" : `${stage.sent[0]}${stage.sent.length > 1 ? ` ×${stage.sent.length}` : ""}`;
  return { told: `${words(result)} | ${times} | ${JSON.stringify(kept)}`, result };
}

const attach = { operation: "volume.attach", volume: { id: "d" }, vm: { id: "v" } } as const;
const detach = {
  operation: "volume.detach",
  volume: { id: "d" },
  vm: { id: "v" },
  flush: "ask",
} as unknown as ActionOf<"volume.detach">;
const byStop = { ...detach, flush: "stop" } as ActionOf<"volume.detach">;
const grow = { operation: "volume.resize", volume: { id: "d" }, sizeGb: 9 } as const;
const remove = { operation: "volume.delete", volume: { id: "d" } } as const;
const off = volume({ attachedTo: null });
const on = volume({ attachedTo: "v" });
const hidden = volume({ attachedTo: undefined });

describe("an attach", () => {
  it.each<[what: string, row: Row]>([
    [
      "is done when the volume shows it",
      { shows: [on], becomes: 'done | attach d to v | {"id":"d","sizeGb":5,"attachedTo":"v"}' },
    ],
    [
      "is waited for while the volume is on its way",
      {
        shows: [volume({ changing: true, status: "attaching" }), on],
        becomes: 'done | attach d to v | {"id":"d","sizeGb":5,"attachedTo":"v"}',
      },
    ],
    [
      "is not seen where the dialect says that an answer is the end",
      { doneAtOnce: true, becomes: 'done (attach_to: VM v) | attach d to v | {"id":"d","sizeGb":5,"attachedTo":"v"}' },
    ],
    [
      "has failed where the volume never shows it, and is looked for by the next run",
      {
        shows: [off],
        becomes: 'failed apply/volume-not-settled | attach d to v | {"id":"d","sizeGb":5,"attaching":"v"}',
      },
    ],
    [
      "is taken back where it is refused",
      { answers: [refused("forbidden")], becomes: 'failed service/forbidden | attach d to v | {"id":"d","sizeGb":5}' },
    ],
    [
      "that is refused leaves an earlier one open",
      {
        answers: [refused("forbidden")],
        recorded: [{ ...record, attaching: "w" }],
        becomes: 'failed service/forbidden | attach d to v | {"id":"d","sizeGb":5,"attaching":"w"}',
      },
    ],
    [
      "is taken back where the service is away",
      { answers: [away], becomes: 'failed service/unavailable | attach d to v | {"id":"d","sizeGb":5}' },
    ],
    [
      "that was refused as being so already is done where a look shows it",
      {
        answers: [refused("conflict")],
        shows: [on],
        becomes: 'done | attach d to v | {"id":"d","sizeGb":5,"attachedTo":"v"}',
      },
    ],
    [
      "that was refused as being so already is refused where a look shows otherwise",
      {
        answers: [refused("conflict")],
        shows: [off],
        becomes: 'failed service/conflict | attach d to v | {"id":"d","sizeGb":5}',
      },
    ],
    ...(
      [
        ["bad_request", "Volume is already attached to VM v; detach it first", true],
        ["refused", "the volume is in use already", true],
        ["conflict", "no", true],
        ["volume_attached", "no", true],
        ["bad_request", "a VM in state ERROR takes no volume", false],
        ["invalid_state", "another request is already under way", false],
        ["forbidden", "this volume is already attached", false],
      ] as const
    ).map(([condition, message, isOpen]): [string, Row] => [
      `that is refused (${condition}: ${message}) where nothing shows where it hangs is ${isOpen ? "open" : "refused"}`,
      {
        answers: [refused(condition, message)],
        shows: [hidden],
        becomes: isOpen
          ? 'unknown apply/outcome-unknown | attach d to v | {"id":"d","sizeGb":5,"attaching":"v"}'
          : `failed service/${condition} | attach d to v | {"id":"d","sizeGb":5}`,
      },
    ]),
    [
      "of a data volume that is refused as being so already is open where nothing shows where it hangs",
      {
        address: "vm.web",
        recorded: [{ ...host, dataVolumeId: "d" }],
        answers: [refused("bad_request", "already attached")],
        shows: [hidden],
        becomes:
          'unknown apply/outcome-unknown | attach d to v | {"id":"v","dataVolumeId":"d","dataVolumeMoving":"attaching"}',
      },
    ],
    [
      "whose answer was lost is done where a look shows it",
      { answers: [lost], shows: [on], becomes: 'done | attach d to v | {"id":"d","sizeGb":5,"attachedTo":"v"}' },
    ],
    [
      "whose answer was lost is sent again where the whole window shows that it is not so",
      {
        answers: [lost, refused("forbidden")],
        shows: [off],
        becomes: 'failed service/forbidden | attach d to v ×2 | {"id":"d","sizeGb":5}',
      },
    ],
    [
      "whose answer was lost is unknown where nothing shows where it hangs",
      {
        answers: [lost],
        shows: [hidden],
        becomes: 'unknown apply/outcome-unknown | attach d to v | {"id":"d","sizeGb":5,"attaching":"v"}',
      },
    ],
    [
      "is done where its record shows no VM, and not seen",
      {
        shows: [hidden],
        becomes: 'done (attach_to: VM v) | attach d to v | {"id":"d","sizeGb":5,"attachedTo":"v"}',
      },
    ],
    [
      "whose answer was lost is done where the VM's record shows the disk",
      {
        answers: [lost],
        shows: [hidden],
        vms: [vm({ volumes: [{ id: "d" }] })],
        becomes: 'done (attach_to: VM v) | attach d to v | {"id":"d","sizeGb":5,"attachedTo":"v"}',
      },
    ],
    [
      "whose answer was lost is sent again where the VM's record lacks the disk",
      {
        answers: [lost, refused("forbidden")],
        shows: [hidden],
        vms: [vm({ volumes: [{ id: "x" }] })],
        becomes: 'failed service/forbidden | attach d to v ×2 | {"id":"d","sizeGb":5}',
      },
    ],
    [
      "whose answer was lost is unknown where the VM's record has no disks",
      {
        answers: [lost],
        shows: [hidden],
        vms: [vm()],
        becomes: 'unknown apply/outcome-unknown | attach d to v | {"id":"d","sizeGb":5,"attaching":"v"}',
      },
    ],
    [
      "whose answer was lost is unknown where neither may be looked at",
      {
        answers: [lost],
        shows: [refused("forbidden")],
        vms: [refused("forbidden")],
        becomes: 'unknown apply/outcome-unknown | attach d to v | {"id":"d","sizeGb":5,"attaching":"v"}',
      },
    ],
    [
      "that an earlier run sent is done where a look shows it, and is not sent again",
      {
        recorded: [{ ...record, attaching: "v" }],
        shows: [on],
        becomes: 'done | nothing | {"id":"d","sizeGb":5,"attachedTo":"v"}',
      },
    ],
    [
      "that an earlier run sent is sent again where a look shows that it is not so",
      {
        recorded: [{ ...record, attaching: "v" }],
        shows: [off, on],
        becomes: 'done | attach d to v | {"id":"d","sizeGb":5,"attachedTo":"v"}',
      },
    ],
    [
      "that an earlier run sent to another VM is no reason to look first",
      {
        recorded: [{ ...record, attaching: "w" }],
        shows: [on],
        becomes: 'done | attach d to v | {"id":"d","sizeGb":5,"attachedTo":"v"}',
      },
    ],
    [
      "that is refused while the volume is on its way is sent once more when it has arrived",
      {
        answers: [refused("volume_attached"), yes],
        shows: [volume({ changing: true }), off, on],
        becomes: 'done | attach d to v ×2 | {"id":"d","sizeGb":5,"attachedTo":"v"}',
      },
    ],
    [
      "that is refused while the VM is on its way is sent once more when it has arrived",
      {
        answers: [refused("conflict"), yes],
        shows: [off, off, on],
        vms: [vm({ phase: "changing", status: "BUILD" }), vm()],
        becomes: 'done | attach d to v ×2 | {"id":"d","sizeGb":5,"attachedTo":"v"}',
      },
    ],
    [
      "of a data volume is noted in the record of its VM",
      {
        address: "vm.web",
        recorded: [host],
        shows: [on],
        becomes: 'done | attach d to v | {"id":"v","dataVolumeId":"d"}',
      },
    ],
    [
      "of a data volume that an earlier run sent is looked for first",
      {
        address: "vm.web",
        recorded: [{ ...host, dataVolumeId: "d", dataVolumeMoving: "attaching" }],
        shows: [on],
        becomes: 'done | nothing | {"id":"v","dataVolumeId":"d"}',
      },
    ],
    [
      "of another volume than the one that an earlier run sent is sent",
      {
        address: "vm.web",
        recorded: [{ ...host, dataVolumeId: "x", dataVolumeMoving: "attaching" }],
        shows: [on],
        becomes: 'done | attach d to v | {"id":"v","dataVolumeId":"d"}',
      },
    ],
    [
      "of a data volume whose detach an earlier run sent is sent",
      {
        address: "vm.web",
        recorded: [{ ...host, dataVolumeId: "d", dataVolumeMoving: "detaching" }],
        shows: [on],
        becomes: 'done | attach d to v | {"id":"v","dataVolumeId":"d"}',
      },
    ],
    [
      "of a data volume that is refused leaves the note of before",
      {
        address: "vm.web",
        recorded: [{ ...host, dataVolumeId: "d", dataVolumeMoving: "detaching" }],
        answers: [refused("forbidden")],
        becomes:
          'failed service/forbidden | attach d to v | {"id":"v","dataVolumeId":"d","dataVolumeMoving":"detaching"}',
      },
    ],
    [
      "of another volume than the recorded one notes nothing, and its lost answer is as any other",
      {
        recorded: [{ ...record, id: "new" }],
        answers: [lost],
        shows: [hidden],
        becomes: 'unknown service/unknown | attach d to v | {"id":"new","sizeGb":5}',
      },
    ],
    ["of what no record has notes nothing", { recorded: [], shows: [on], becomes: "done | attach d to v | {}" }],
  ])("%s", async (_, row) => expect((await performed(row, attach)).told).toBe(row.becomes));

  it("needs a VM that exists", async () => {
    const { told, result } = await performed({ becomes: "" }, { ...attach, vm: { address: "vm.web" } });
    expect(told).toBe('failed apply/no-id | nothing | {"id":"d","sizeGb":5}');
    expect(result.message).toBe("vm.web has no id yet");
  });
  it("says what it was about where nobody knows its end", async () => {
    const { result } = await performed({ answers: [lost], shows: [hidden], becomes: "" }, attach);
    expect(result.message).toBe(
      "outcome unknown: volume d was to be attached to VM v, the answer was lost (the connection broke), and looking could not tell whether it was done",
    );
  });
  it("says what the refusal says, and what settles it", async () => {
    const answers = [refused("bad_request", "Volume is already attached", 400)];
    const { result } = await performed({ answers, shows: [hidden], becomes: "" }, attach);
    expect(result.message).toBe(
      "outcome unknown: volume d was to be attached to VM v, and looking could not tell whether it hangs there: refused (HTTP 400): Volume is already attached",
    );
    expect(adviceText(result.end === "unknown" ? (result.fix ?? "") : "")).toMatch(/--attached .*--detached /);
  });
});

describe("a detach", () => {
  const held: readonly RecordedResource[] = [{ ...record, attachedTo: "v" }];
  it.each<[what: string, action: ActionOf<"volume.detach">, row: Row]>([
    [
      "is done when the volume is off",
      detach,
      { recorded: held, shows: [off], becomes: 'done | detach d from v | {"id":"d","sizeGb":5}' },
    ],
    [
      "is looked for by the next run where the volume stays on",
      detach,
      {
        recorded: held,
        shows: [on],
        becomes:
          'failed apply/volume-not-settled | detach d from v | {"id":"d","sizeGb":5,"attachedTo":"v","detaching":"v"}',
      },
    ],
    [
      "that is refused, of a volume that shows on the VM, may have been done by an earlier request",
      detach,
      {
        recorded: held,
        answers: [refused("bad_request")],
        shows: [on],
        becomes:
          'failed service/bad_request | detach d from v | {"id":"d","sizeGb":5,"attachedTo":"v","detaching":"v"}',
      },
    ],
    ...(
      [
        ["bad_request", "Volume is not attached to this VM", true],
        ["bad_request", "the volume is not currently attached", true],
        ["invalid_state", "Volume is detached already", true],
        ["conflict", "no", true],
        ["bad_request", "the VM is not in a state in which it is attached or detached", false],
      ] as const
    ).map(([condition, message, isOpen]): [string, ActionOf<"volume.detach">, Row] => [
      `that is refused (${condition}: ${message}) where nothing shows where it hangs is ${isOpen ? "open" : "refused"}`,
      detach,
      {
        recorded: held,
        answers: [refused(condition, message)],
        shows: [hidden],
        becomes: isOpen
          ? 'unknown apply/outcome-unknown | detach d from v | {"id":"d","sizeGb":5,"attachedTo":"v","detaching":"v"}'
          : `failed service/${condition} | detach d from v | {"id":"d","sizeGb":5,"attachedTo":"v"}`,
      },
    ]),
    [
      "that nobody may send is noted no longer",
      detach,
      {
        recorded: held,
        answers: [refused("forbidden")],
        shows: [on],
        becomes: 'failed service/forbidden | detach d from v | {"id":"d","sizeGb":5,"attachedTo":"v"}',
      },
    ],
    [
      "is sent of a VM that is stopped",
      byStop,
      {
        recorded: held,
        shows: [off],
        vms: [vm({ phase: "stopped", status: "SHUTOFF" })],
        becomes: 'done | detach d from v | {"id":"d","sizeGb":5}',
      },
    ],
    [
      "is not sent of a VM that runs where that was to be stopped",
      byStop,
      {
        recorded: held,
        vms: [vm()],
        becomes: 'failed apply/not-stopped | nothing | {"id":"d","sizeGb":5,"attachedTo":"v"}',
      },
    ],
    [
      "is sent of a VM that runs where another flush was asked for",
      detach,
      { recorded: held, shows: [off], vms: [vm()], becomes: 'done | detach d from v | {"id":"d","sizeGb":5}' },
    ],
    [
      "that was lost is done where a look shows the volume off",
      detach,
      { recorded: held, answers: [lost], shows: [off], becomes: 'done | detach d from v | {"id":"d","sizeGb":5}' },
    ],
    [
      "that was lost is done where the VM's record lacks the disk",
      detach,
      {
        recorded: held,
        answers: [lost],
        shows: [hidden],
        vms: [vm({ volumes: [] })],
        becomes: 'done (that it is off VM v) | detach d from v | {"id":"d","sizeGb":5}',
      },
    ],
  ])("%s", async (_, action, row) =>
    expect((await performed(row, action, { attachedTo: undefined })).told).toBe(row.becomes),
  );
  it("needs a VM that exists", async () =>
    expect((await performed({ becomes: "" }, { ...detach, vm: { address: "vm.web" } })).result.code).toBe(
      "apply/no-id",
    ));
  it("says what it was about where nobody knows its end", async () => {
    const { result } = await performed({ answers: [lost], shows: [hidden], becomes: "" }, detach);
    expect(result.message).toContain("volume d was to be detached from VM v");
  });
});

describe("a grow", () => {
  it.each<[what: string, row: Row]>([
    [
      "is done when the size shows",
      { shows: [volume({ sizeGb: 9 })], becomes: 'done | resize d to 9 | {"id":"d","sizeGb":9}' },
    ],
    [
      "is done when more than the size shows, and not seen",
      { shows: [volume({ sizeGb: 10 })], becomes: 'done (size: 9) | resize d to 9 | {"id":"d","sizeGb":9}' },
    ],
    [
      "has failed where the size does not show",
      { shows: [volume()], becomes: 'failed apply/volume-not-settled | resize d to 9 | {"id":"d","sizeGb":5}' },
    ],
    [
      "is done where no size shows, and not seen",
      { shows: [volume({ sizeGb: undefined })], becomes: 'done (size: 9) | resize d to 9 | {"id":"d","sizeGb":9}' },
    ],
    [
      "that is refused is refused",
      { answers: [refused("forbidden")], becomes: 'failed service/forbidden | resize d to 9 | {"id":"d","sizeGb":5}' },
    ],
    [
      "that is refused as being so already is done where the size shows",
      {
        answers: [refused("conflict")],
        shows: [volume({ sizeGb: 9 })],
        becomes: 'done | resize d to 9 | {"id":"d","sizeGb":9}',
      },
    ],
    [
      "that was lost is done where the size shows",
      { answers: [lost], shows: [volume({ sizeGb: 9 })], becomes: 'done | resize d to 9 | {"id":"d","sizeGb":9}' },
    ],
    [
      "that was lost is sent again where no size shows",
      {
        answers: [lost, refused("forbidden")],
        shows: [volume({ sizeGb: undefined })],
        becomes: 'failed service/forbidden | resize d to 9 ×2 | {"id":"d","sizeGb":5}',
      },
    ],
    [
      "that was lost is waited for while the volume is on its way",
      {
        answers: [lost],
        shows: [volume({ changing: true }), volume({ sizeGb: 9 })],
        becomes: 'done | resize d to 9 | {"id":"d","sizeGb":9}',
      },
    ],
    [
      "may not be looked at: the answer has to do",
      { shows: [refused("forbidden")], becomes: 'done (size: 9) | resize d to 9 | {"id":"d","sizeGb":9}' },
    ],
  ])("%s", async (_, row) => expect((await performed(row, grow, { sizeGb: 9 })).told).toBe(row.becomes));

  const byHand =
    "the service does not show its size; where its console says 9 GB by now: reconcile state rm volume.data, then reconcile import volume.data d";
  it.each<[what: string, row: Omit<Row, "becomes">, fix: string | undefined]>([
    ["refused, of a volume that shows no size", { answers: [refused("bad_request")], planned: {} }, byHand],
    ["lost each time", { answers: [lost, lost, lost], planned: {} }, `${byHand}, or else run the same command again`],
    ["refused, of a volume at which the plan did not look", { answers: [refused("bad_request")] }, undefined],
    ["refused where the size shows", { answers: [refused("bad_request")], planned: { sizeGb: 5 } }, undefined],
  ])("that may have been done before says what settles it: %s", async (_, row, fix) => {
    const { result } = await performed({ ...row, shows: [volume({ sizeGb: undefined })], becomes: "" }, grow);
    expect(result.end !== "done" && result.fix !== undefined ? adviceText(result.fix) : undefined).toBe(fix);
  });
});

describe("a delete", () => {
  const deleting = '{"id":"d","sizeGb":5,"deleting":true}';
  const untouched = '{"id":"d","sizeGb":5}';
  it.each<[what: string, row: Row]>([
    ["is done when the volume is gone", { shows: [volume(), gone], becomes: "done | delete d | {}" }],
    [
      "that an earlier run has sent is waited for while the volume is on its way, and not sent again",
      {
        shows: [volume({ changing: true }), volume({ changing: true }), gone],
        recorded: [{ ...record, deleting: true }],
        becomes: "done | nothing | {}",
      },
    ],
    [
      "of what is gone already is done",
      { answers: [gone], shows: [gone], planned: { sizeGb: 5 }, becomes: "done | delete d | {}" },
    ],
    [
      "is not done while the volume shows",
      { shows: [volume()], becomes: `failed apply/volume-not-settled | delete d | ${deleting}` },
    ],
    [
      "that is refused is no delete under way",
      { answers: [refused("conflict")], becomes: `failed service/conflict | delete d | ${untouched}` },
    ],
    ["that was lost stays one", { answers: [lost], becomes: `unknown service/unknown | delete d | ${deleting}` }],
    [
      "that is refused was not found, and yet the volume shows",
      { answers: [gone], becomes: `failed service/not_found | delete d | ${untouched}` },
    ],
    [
      "is not sent of what has another size than the plan saw",
      { planned: { sizeGb: 4 }, becomes: `failed apply/volume-changed | nothing | ${untouched}` },
    ],
    [
      "is not sent of what has another name than the plan saw",
      {
        planned: { name: "data" },
        shows: [volume({ name: "theirs" })],
        becomes: `failed apply/volume-changed | nothing | ${untouched}`,
      },
    ],
    [
      "is not sent of what has another size than the record",
      {
        recorded: [{ ...record, sizeGb: 4 }],
        becomes: 'failed apply/volume-changed | nothing | {"id":"d","sizeGb":4}',
      },
    ],
    [
      "is sent of what has the size that the plan saw",
      {
        recorded: [{ ...record, sizeGb: 4 }],
        planned: { sizeGb: 5 },
        shows: [volume(), gone],
        becomes: "done | delete d | {}",
      },
    ],
    [
      "is sent of what shows no size",
      { shows: [volume({ sizeGb: undefined }), gone], becomes: "done | delete d | {}" },
    ],
    [
      "is sent where nobody knows its size",
      { recorded: [{ ...record, sizeGb: undefined }], shows: [volume(), gone], becomes: "done | delete d | {}" },
    ],
    [
      "is not sent of what hangs on another VM",
      { shows: [on], becomes: `failed apply/volume-changed | nothing | ${untouched}` },
    ],
    [
      "is sent of what hangs where the plan saw it",
      { shows: [on, gone], planned: { attachedTo: "v" }, becomes: "done | delete d | {}" },
    ],
    [
      "is sent of what hangs where the record has it",
      { shows: [on, gone], recorded: [{ ...record, attachedTo: "v" }], becomes: "done | delete d | {}" },
    ],
    [
      "is sent of what hangs where it was being attached",
      { shows: [on, gone], recorded: [{ ...record, attaching: "v" }], becomes: "done | delete d | {}" },
    ],
    [
      "is not sent of what may not be looked at",
      { shows: [refused("forbidden")], becomes: `failed service/forbidden | nothing | ${untouched}` },
    ],
    [
      "is not sent of what cannot be looked at now",
      { shows: [away], becomes: `failed service/unavailable | nothing | ${untouched}` },
    ],
    [
      "that an earlier run sent stays one where this one sends nothing",
      {
        recorded: [{ ...record, deleting: true }],
        shows: [on],
        becomes: `failed apply/volume-changed | nothing | ${deleting}`,
      },
    ],
    [
      "is sent once more when a volume on its way has arrived",
      {
        answers: [refused("volume_attached"), yes],
        shows: [volume(), volume({ changing: true }), volume(), gone],
        becomes: "done | delete d ×2 | {}",
      },
    ],
  ])("%s", async (_, row) => {
    const step = await stageOf(row);
    const result = await volumePerformers["volume.delete"](
      { ...stepAt("volume.data", "delete"), action: remove, forgets: true } as Step<"volume.delete">,
      remove,
      step.run,
    );
    const kept = keptOf(step.recorder.state.resources.get("volume.data"), ["attachedTo", "attaching"]);
    const times =
      step.sent.length === 0 ? "nothing" : `${step.sent[0]}${step.sent.length > 1 ? ` ×${step.sent.length}` : ""}`;
    expect(`${words(result)} | ${times} | ${JSON.stringify(kept)}`).toBe(row.becomes);
  });
  it("says what is other than the plan named", async () => {
    const message = async (row: Partial<Row>) => (await performed({ becomes: "", ...row }, remove)).result.message;
    expect(await message({ planned: { sizeGb: 4 } })).toBe(
      "nothing was sent: volume d is not what the plan named: it has 5 GB now, and had 4",
    );
    expect(await message({ planned: { name: "data" }, shows: [volume({ name: "theirs" })] })).toBe(
      "nothing was sent: volume d is not what the plan named: it is called theirs now, and was called data",
    );
    expect(await message({ shows: [on] })).toBe(
      "nothing was sent: volume d is not what the plan named: it hangs on VM v now",
    );
  });
  it("says how the volume is looked at where the plan was made from memory", async () => {
    const fix = async (row: Partial<Row>) => {
      const { result } = await performed({ becomes: "", ...row }, remove);
      return "fix" in result ? result.fix : undefined;
    };
    const then = "it plans on the volume as it is now, and names what would be lost";
    expect(await fix({ planned: { sizeGb: 4 } })).toBe(`run the same command again: ${then}`);
    expect(await fix({ shows: [on] })).toBe(`run the same command again without --no-refresh: ${then}`);
  });
});

describe("waiting for a volume", () => {
  it.each<
    [
      what: string,
      shows: readonly Outcome<LiveVolume>[],
      wait: Parameters<typeof waitForVolume>[2],
      ends: string,
      message?: string,
    ]
  >([
    ["that settles", [volume({ changing: true }), volume()], { for: "steady" }, "done"],
    [
      "that failed",
      [volume({ failed: true, status: "error" })],
      { for: "steady" },
      "failed apply/volume-failed",
      "the volume ended in state error",
    ],
    [
      "in a state that no dialect explains, for a whole window",
      [volume({ changing: true, unsaid: true, status: "limbo" })],
      { for: "steady" },
      "failed apply/volume-failed",
      "it shows limbo, and the dialect does not say what that means",
    ],
    [
      "that changes for as long as anybody looks",
      [volume({ changing: true, status: "creating" })],
      { for: "steady" },
      "failed apply/volume-not-settled",
      `the service accepted it, and ${defaultTiming.vmCreateTimeoutMs / 1000} s later the service does not show that it settled; its state is creating`,
    ],
    [
      "that does not show what was asked for, for a whole window",
      [volume({ status: undefined })],
      { for: "grown", sizeGb: 9 },
      "failed apply/volume-not-settled",
      `the service accepted it, and ${defaultTiming.discoveryWindowMs / 1000} s later the service does not show that it was resized`,
    ],
    [
      "that does not show any more",
      [gone],
      { for: "attached", vmId: "v" },
      "failed apply/volume-not-settled",
      `the service accepted it, and ${defaultTiming.discoveryWindowMs / 1000} s later the service does not show the volume any more`,
    ],
    [
      "of a service that is away",
      [away],
      { for: "attached", vmId: "v" },
      "unknown apply/volume-not-settled",
      `the service accepted it, and ${defaultTiming.discoveryWindowMs / 1000} s later the volume cannot be looked at: 503`,
    ],
    ["of a service that is away for a moment", [away, on], { for: "attached", vmId: "v" }, "done"],
    ["that is gone, as was asked", [gone], { for: "gone" }, "done"],
    [
      "of which nobody may see whether it is gone",
      [refused("forbidden")],
      { for: "gone" },
      "failed service/forbidden",
      "the service accepted the delete of volume d, and whether it is gone cannot be seen: refused: no",
    ],
    ["that nobody may look at", [refused("forbidden")], { for: "detached", vmId: "v" }, "done (that it is off VM v)"],
    [
      "that cannot be looked at for another reason",
      [refused("bad_request")],
      { for: "steady" },
      "done (that it exists)",
    ],
  ])("%s", async (_, shows, wait, ends, message) => {
    const { run } = await stageOf({ shows, becomes: "" });
    const result = await waitForVolume(watchOf(stepAt("volume.data", "wait"), run), "d", wait);
    expect(words(result)).toBe(ends);
    expect(result.message).toBe(message);
  });
  it("remembers what it was shown", async () => {
    const { run } = await stageOf({ shows: [on], becomes: "" });
    await waitForVolume(watchOf(stepAt("volume.data", "wait"), run), "d", { for: "attached", vmId: "v" });
    expect([...run.shown.keys()]).toEqual(["volume:d"]);
  });
  it("says why it was not looked at only where that will not change", async () => {
    const blind = async (look: Outcome<LiveVolume>) => {
      const { run } = await stageOf({ shows: [look], becomes: "" });
      const result = await waitForVolume(watchOf(stepAt("volume.data", "wait"), run), "d", { for: "steady" });
      return result.end === "done" && !result.effect.seen ? result.effect.writes[0]?.blind : "seen";
    };
    expect(await blind(refused("forbidden"))).toBe("volume d cannot be looked at: refused: no");
    expect(await blind(refused("unsupported"))).toBe("volume d cannot be looked at: refused: no");
    expect(await blind(refused("bad_request"))).toBeUndefined();
  });

  it.each<[what: string, answers: readonly Outcome<undefined>[], row: Partial<Row>, asked: number, looked: number]>([
    ["is asked once where it is accepted", [yes], {}, 1, 0],
    ["is asked once where it is refused for good", [refused("forbidden")], {}, 1, 0],
    ["is asked once where the answer was lost", [lost], {}, 1, 0],
    ["is asked once where it is refused and at rest", [refused("conflict")], {}, 1, 1],
    [
      "is asked once where it is refused and may not be looked at",
      [refused("conflict")],
      { shows: [refused("forbidden")] },
      1,
      1,
    ],
    [
      "is asked again when it has arrived",
      [refused("conflict"), yes],
      { shows: [volume({ changing: true }), volume()] },
      2,
      2,
    ],
    [
      "is asked again when it has come off its VM",
      [refused("volume_attached"), yes],
      { shows: [volume({ changing: true }), volume()] },
      2,
      2,
    ],
    [
      "is not asked again when it has failed",
      [refused("conflict"), yes],
      { shows: [volume({ changing: true }), volume({ failed: true })] },
      1,
      2,
    ],
    ["is not looked at where an answer is the end", [refused("conflict")], { doneAtOnce: true }, 1, 0],
  ])("a volume in transition %s", async (_, answers, row, asked, looked) => {
    const stage = await stageOf({ becomes: "", ...row });
    let times = 0;
    const outcome = await onceVolumeSteady(
      watchOf(stepAt("volume.data", "wait"), stage.run),
      "d",
      async () => answers[times++] ?? yes,
    );
    expect([times, stage.looked()]).toEqual([asked, looked]);
    expect(outcome).toEqual(answers[asked - 1]);
  });
});

it("a number that a delete of the same run has freed is the id of the volume that is made after it", async () => {
  const old: LiveVolume = { kind: "volume", id: "7", name: "old", sizeGb: 5, failed: false, status: "available" };
  const made: LiveVolume = { ...old, name: "data" };
  let shown: LiveVolume | undefined = old;
  const { run, recorder } = await loneRun({
    has: (operation) => operation !== "volume.list",
    records: [{ ...record, address: "volume.old", id: "7", name: "old" }],
    live: {
      ...notSeen,
      of: { ...notSeen.of, volume: { ...notSeen.of.volume, byId: new Map([["7", { seen: "yes", value: old }]]) } },
    },
    client: {
      getVolume: async () => (shown === undefined ? gone : accepted(shown)),
      deleteVolume: async () => {
        shown = undefined;
        return yes;
      },
      createVolume: async () => {
        shown = made;
        return accepted(made);
      },
    },
  });
  const step = { ...stepAt("volume.old", "delete"), action: { ...remove, volume: { id: "7" } }, forgets: true };
  const removing = step as unknown as Step<"volume.delete">;
  expect((await volumePerformers["volume.delete"](removing, removing.action, run)).end).toBe("done");
  const action = { operation: "volume.create", name: "data", sizeGb: 5 } as const;
  const { id: _, ...declared } = record;
  const making = { ...stepAt("volume.data", "create"), action, record: declared } as unknown as Step<"volume.create">;
  expect(words(await volumePerformers["volume.create"](making, action, run))).toMatch(/^done/);
  expect(recorder.state.resources.get("volume.data")?.id).toBe("7");
});

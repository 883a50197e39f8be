/**
 * A VM in a service of one test, for tables of what a step does to it: what one look after the other shows, what each
 * request is answered with, and in one line what came of it.
 */
import { indexCatalogue } from "../../reconciler/core/canonical/catalogue";
import { type LiveImage, type LiveVm, type LiveVolume, notSeen } from "../../reconciler/core/model/live";
import { accepted, type Outcome, type Rejection } from "../../reconciler/core/model/outcome";
import type { Intent, Orphan, RecordedResource, RecordedVm } from "../../reconciler/core/model/recorded";
import type { ActionOf, Step } from "../../reconciler/core/plan/step";
import { createPoller } from "../../reconciler/engine/poller";
import { defaultTiming } from "../../reconciler/engine/ports";
import type { Run, StepResult } from "../../reconciler/engine/run";
import { vmPerformers } from "../../reconciler/kinds/vm/perform";
import { loneRun, stepAt } from "./virtual-world";

export const address = "vm.web";
export const vm = (more: Partial<LiveVm> = {}): Outcome<LiveVm> =>
  accepted({ kind: "vm", id: "v", name: "web", phase: "running", status: "ACTIVE", ...more });
export const refused = (condition: Rejection["condition"], message = "no", httpStatus?: number): Rejection => ({
  ...{ status: "rejected", condition, message },
  ...(httpStatus === undefined ? {} : { httpStatus }),
});
export const gone = refused("not_found", "no such VM", 404);
export const yes = accepted(undefined);
export const lost: Outcome<never> = { status: "unknown", reason: "the connection broke" };
export const away: Outcome<never> = { status: "unavailable", reason: "503" };
export const record: RecordedVm = {
  ...{ kind: "vm", address, id: "v", name: "web", flavor: "small", image: "a", preventDestroy: false },
  onDelete: { snapshot: false, preservedVolumes: "retain" },
};

export interface Row {
  /** What one look after the other shows of the VM; the last for good. None: VMs cannot be looked at. */
  readonly shows?: readonly Outcome<LiveVm>[];
  readonly answers?: readonly Outcome<unknown>[];
  readonly recorded?: Partial<RecordedVm> | null;
  readonly planned?: Partial<LiveVm>;
  /** The volume that the plan saw. */
  readonly plannedVolume?: LiveVolume;
  readonly lacks?: readonly string[];
  readonly images?: readonly Outcome<readonly LiveImage[]>[];
  readonly volumes?: Readonly<Record<string, Outcome<LiveVolume>>>;
  /** The list of volumes. Absent: there is none. */
  readonly listed?: Outcome<readonly LiveVolume[]>;
  readonly intents?: readonly Intent[];
  readonly others?: readonly RecordedResource[];
  readonly confirmed?: true;
  readonly mayLose?: false;
  readonly becomes: string;
}

export const words = (result: StepResult): string =>
  [
    result.end,
    result.code,
    ...(result.end === "done" && !result.effect.seen ? result.effect.writes.map(({ said }) => `(${said})`) : []),
  ]
    .filter((word) => word !== undefined)
    .join(" ");

export async function stageOf(row: Row) {
  const { shows = [vm()], answers = [yes], planned, plannedVolume, lacks = [], images, volumes = {}, listed } = row;
  let [looked, lookedAtImages] = [0, 0];
  const sent: string[] = [];
  const answer = async (what: string): Promise<Outcome<never>> => {
    sent.push(what);
    // Each row answers with what its request answers with.
    return (answers[Math.min(sent.length, answers.length) - 1] ?? yes) as Outcome<never>;
  };
  const said: string[] = [];
  const emitted: Orphan[] = [];
  const lone = await loneRun({
    records: [...(row.recorded === null ? [] : [{ ...record, ...row.recorded }]), ...(row.others ?? [])],
    intents: row.intents ?? [],
    has: (operation) =>
      operation !== "vm.list" &&
      (operation !== "vm.get" || shows.length > 0) &&
      (operation !== "image.list" || images !== undefined) &&
      (operation !== "volume.list" || listed !== undefined) &&
      !lacks.includes(operation),
    live: {
      ...notSeen,
      of: {
        ...notSeen.of,
        vm: {
          ...notSeen.of.vm,
          byId: new Map(
            planned && [
              ["v", { seen: "yes", value: { kind: "vm", id: "v", name: "web", phase: "running", ...planned } }],
            ],
          ),
        },
        volume: {
          ...notSeen.of.volume,
          byId: new Map(plannedVolume && [[plannedVolume.id, { seen: "yes", value: plannedVolume }]]),
        },
      },
    },
    client: {
      getVm: async () => shows[Math.min(looked++, shows.length - 1)] ?? refused("unsupported"),
      listImages: async () => images?.[Math.min(lookedAtImages++, images.length - 1)] ?? refused("unsupported"),
      getVolume: async (id) => volumes[id] ?? refused("not_found", "no such volume", 404),
      listVolumes: async () => listed ?? refused("unsupported"),
      renameVm: (_, name) => answer(`rename to ${name}`),
      rebuildVm: (_, image) => answer(`rebuild from ${image}`),
      resizeVm: (_, flavor) => answer(`resize to ${flavor}`),
      revertResize: () => answer("revert"),
      stopVm: () => answer("stop"),
      startVm: () => answer("start"),
      rebootVm: () => answer("reboot"),
      snapshotVm: (_, name) => answer(`snapshot ${name}`),
      deleteVm: (_, ip) => answer(`delete${ip === true ? " with its address" : ""}`),
      deleteVolume: (id) => answer(`delete volume ${id}`),
    },
    more: {
      debtsBefore: new Map(),
      images: indexCatalogue([
        { id: "a", name: "image a" },
        { id: "b", name: "image b" },
      ]),
      flavors: indexCatalogue([
        { id: "small", name: "m1.small" },
        { id: "large", name: "m1.large" },
      ]),
      isFlushConfirmed: () => row.confirmed === true,
      mayLose: () => row.mayLose !== false,
      progress: (_, message) => said.push(message),
    },
  });
  const run: Run = {
    ...lone.run,
    ports: {
      ...lone.run.ports,
      checkHealth: async ({ kind }) => sent.push(`check of ${kind}`) > 0,
      emit: (event) => (event.type === "orphan" ? void emitted.push(event.orphan) : undefined),
    },
    listVolumes: () => lone.run.ports.client.listVolumes(),
    poller: createPoller(lone.run.ports.client, lone.clock, defaultTiming.pollIntervalMs),
  };
  return { ...lone, run, sent, said, emitted, looked: () => looked };
}

const known = ["kind", "address", "id", "preventDestroy", "onDelete"];
const keptOf = (kept: RecordedResource | undefined) =>
  kept === undefined
    ? "no record"
    : Object.entries(kept)
        .filter(([key, value]) => !known.includes(key) && value !== fieldOf(key))
        .map(([key, value]) => `${key} ${JSON.stringify(value)}`)
        .join(", ");
const fieldOf = (key: string): unknown => Object.entries(record).find(([name]) => name === key)?.[1];

type Operation = keyof typeof vmPerformers;
export async function performed<O extends Operation>(row: Row, action: ActionOf<O>, more: Partial<Step<O>> = {}) {
  const stage = await stageOf(row);
  const step = { ...stepAt(address, "act"), action, ...more } as unknown as Step<O>;
  const result = await vmPerformers[action.operation](step as never, action as never, stage.run);
  const times = stage.sent.length === 0 ? "nothing" : stage.sent.join(", ");
  const kept = keptOf(stage.recorder.state.resources.get(address));
  return { told: [words(result), times, kept].filter((one) => one !== "").join(" | "), result, ...stage };
}

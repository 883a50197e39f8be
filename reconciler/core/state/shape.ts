/** Whether a piece of state has the shape its readers rely on; says what is wrong in words, for the quarantine. */

import { type Kind, parseAddress } from "../model/address";
import {
  type Check,
  checksOfRecord,
  flag,
  list,
  mapOf,
  number,
  object,
  oneOf,
  optional,
  shape,
  text,
  timeText,
} from "../model/checks";
import { groupFields, type RecordedFields, type Rows, vmFields, volumeFields } from "../model/fields";
import { kinds } from "../model/kinds";
import type { Outputs } from "../model/output";
import {
  type Intent,
  type LastSeen,
  orphanKinds,
  type RecordedGroup,
  type RecordedRun,
  type RecordedVm,
  type RecordedVolume,
  type RunEnd,
  type RunStart,
  type Scope,
} from "../model/recorded";
import { fieldsIn, isObject } from "../text/objects";

/** The fields of a record beside those of its kind. */
type Memory<R, F extends Rows> = Readonly<
  Record<Exclude<keyof R, keyof RecordedFields<F> | "kind" | "address">, Check>
>;

const vmMemory: Memory<RecordedVm, typeof vmFields> = {
  id: optional(text),
  imageId: optional(text),
  preventDestroy: flag,
  onDelete: object,
  dataVolumeId: optional(text),
  disks: optional(list(shape({ id: text, name: optional(text), sizeGb: optional(number), maybeRoot: optional(flag) }))),
  privateIp: optional(text),
  floatingIp: optional(text),
  createdAt: optional(text),
  building: optional(flag),
  resizing: optional(shape({ from: optional(text), to: text })),
  dataVolumeDetached: optional(flag),
  dataVolumeMoving: optional((value) => value === "attaching" || value === "detaching"),
  deleting: optional(flag),
  stoppedForFlush: optional(flag),
};
const volumeMemory: Memory<RecordedVolume, typeof volumeFields> = {
  id: text,
  attachedTo: optional(text),
  deleting: optional(flag),
  attaching: optional(text),
  detaching: optional(text),
  preventDestroy: flag,
};
const groupMemory: Memory<RecordedGroup, typeof groupFields> = {
  id: text,
  platformRules: list(text),
  preventDestroy: flag,
  deleting: optional(flag),
  updating: optional(mapOf(text)),
  retired: optional(list(shape({ id: text, name: optional(text) }))),
};

const checks: Record<Kind, readonly (readonly [string, Check])[]> = {
  vm: Object.entries({ ...checksOfRecord(vmFields), ...vmMemory }),
  volume: Object.entries({ ...checksOfRecord(volumeFields), ...volumeMemory }),
  group: Object.entries({ ...checksOfRecord(groupFields), ...groupMemory }),
};

export function recordProblem(address: string, record: unknown): string | undefined {
  const kind = parseAddress(address)?.kind;
  if (kind === undefined) return `${JSON.stringify(address)} is no address`;
  if (!isObject(record)) return "it is not a record";
  const fields = record;
  if (fields.kind !== kind) return `its kind is ${JSON.stringify(fields.kind ?? null)}, not ${kind}`;
  if (fields.address !== address) return `it says it is ${JSON.stringify(fields.address ?? null)}`;
  for (const [field, check] of checks[kind]) if (!check(fields[field])) return `its ${field} is not readable`;
  return undefined;
}

/** The kind of the resource that an intent's operation is about. */
const kindsOfIntents: ReadonlyMap<unknown, Kind> = new Map<Intent["operation"], Kind>([
  ...kinds.map((kind) => [`${kind}.create`, kind] as const),
  ["vm.snapshot", "vm"],
]);

const intentShape: readonly (readonly [string, Check])[] = [
  ["step", optional(text)],
  ["name", text],
  ["sentAt", timeText],
  ["idsBefore", list(text)],
  ["unknown", optional(flag)],
  ["accepted", optional(flag)],
  ["image", optional(text)],
];

/**
 * An intent that cannot be read may be a create under way, so its address is left alone, like that of a damaged record.
 */
export function intentProblem(address: string, intent: unknown): string | undefined {
  const kind = parseAddress(address)?.kind;
  if (kind === undefined) return `${JSON.stringify(address)} is no address`;
  if (!isObject(intent)) return "it is not an intent";
  const fields = intent;
  const { operation, record } = fields;
  if (fields.address !== address) return `its intent says it is for ${JSON.stringify(fields.address ?? null)}`;
  const intended = kindsOfIntents.get(operation);
  if (intended === undefined)
    return `its intent is to ${JSON.stringify(operation ?? null)}, which this version does not know`;
  if (intended !== kind) return `its intent is to ${operation}, which is no ${kind}'s`;
  for (const [field, check] of intentShape)
    if (!check(fields[field])) return `the ${field} of its intent is not readable`;
  if (record === undefined) return undefined;
  if (!isObject(record)) return "the record of its intent is not readable";
  // An intent's record has no id: the create was to give it.
  const problem = recordProblem(address, { ...record, id: "" });
  return problem === undefined ? undefined : `the record of its intent is not readable: ${problem}`;
}

const orphanShape: readonly (readonly [string, Check])[] = [
  ["kind", oneOf(...orphanKinds)],
  ["id", (value) => typeof value === "string" && value !== ""],
  ["name", text],
  ["reason", text],
  ["sizeGb", optional(number)],
  ["missingSince", optional(timeText)],
  ["deleting", optional(flag)],
];

export function orphanProblem(orphan: unknown): string | undefined {
  if (!isObject(orphan)) return "it is not an orphan";
  const fields = orphan;
  for (const [field, check] of orphanShape)
    if (!check(fields[field])) return `its ${field} as an orphan is not readable`;
  const { record } = fields;
  if (record === undefined) return undefined;
  const { address } = fieldsIn(record);
  return recordProblem(typeof address === "string" ? address : "", record);
}

const scopeShape = shape({
  origin: text,
  project: optional(text),
  environment: optional(text),
  sees: optional(list(text)),
});
const outputsShape = mapOf(
  shape({ value: (value) => value !== undefined, description: optional(text), sensitive: optional(flag) }),
);
export const areOutputs = (outputs: unknown): outputs is Outputs => outputsShape(outputs);

export const isScope = (scope: unknown): scope is Scope => scopeShape(scope);

const lastSeenShape = shape({ all: optional(timeText), each: optional(mapOf(timeText)) });
export const isLastSeen = (seen: unknown): seen is LastSeen => lastSeenShape(seen);

const sightingsShape = shape({ at: timeText, addresses: optional(list(text)) });
export const isSightings = (seen: unknown): boolean => sightingsShape(seen);

const runStart = shape({
  id: text,
  number,
  at: timeText,
  by: optional(shape({ who: text, host: text, command: text, commit: optional(text) })),
  consents: optional(list(text)),
  changes: optional(mapOf(number)),
  open: mapOf(text),
});
export const isRunStart = (run: unknown): run is RunStart => runStart(run);

const runEnd = shape({
  endedAt: timeText,
  outcome: oneOf("done", "failed", "waiting", "interrupted"),
  steps: mapOf(number),
  open: mapOf(text),
});
export const isRunEnd = (end: unknown): end is RunEnd => runEnd(end);

/**
 * A run that cannot be read is left out. What was before it is not known any more, so the runs before it keep no
 * records: nobody is shown a state that never was.
 */
export function runsOf(section: unknown): { readonly runs?: readonly RecordedRun[] } {
  if (!isObject(section)) return {};
  const fields = section;
  const runs: RecordedRun[] = [];
  let broken = false;
  for (const key of Object.keys(fields).sort().reverse()) {
    const run = fields[key];
    if (!isRunStart(run)) {
      broken = true;
      continue;
    }
    // `isRunStart` has held the fields beside `before` to their shape, and `before` is checked below.
    const { before, ...rest } = run as RecordedRun;
    broken ||= before === undefined || !hasReadableRecords(before);
    runs.unshift(broken || before === undefined ? rest : { ...rest, before });
  }
  return runs.length === 0 ? {} : { runs };
}

const hasReadableRecords = (before: unknown): boolean =>
  isObject(before) &&
  Object.entries(before).every(([address, record]) => record === null || recordProblem(address, record) === undefined);

/** Whether a piece of state has the shape its readers rely on; says what is wrong in words, for the quarantine. */

import { type Kind, parseAddress } from "../model/address";
import {
  type Check,
  checksOfRecord,
  flag,
  list,
  mapWith,
  number,
  oneOf,
  optional,
  shape,
  text,
  timeText,
} from "../model/checks";
import { memoryOf } from "../model/facts";
import { fieldsOf } from "../model/fields";
import { kinds, perKind } from "../model/kinds";
import type { Outputs } from "../model/output";
import {
  type Intent,
  type LastSeen,
  orphanKinds,
  type RecordedRun,
  type RunEnd,
  type Scope,
  type Transfer,
} from "../model/recorded";
import { fieldsIn, isObject, onlyDefined } from "../text/objects";

const checks = perKind((kind) => Object.entries({ ...checksOfRecord(fieldsOf[kind]), ...memoryOf(kind) }));

export function recordProblem(address: string, record: unknown): string | undefined {
  const kind = parseAddress(address)?.kind;
  if (kind === undefined) return `${JSON.stringify(address)} is no address`;
  if (!isObject(record)) return "it is not a record";
  if (record.kind !== kind) return `its kind is ${JSON.stringify(record.kind ?? null)}, not ${kind}`;
  if (record.address !== address) return `it says it is ${JSON.stringify(record.address ?? null)}`;
  for (const [field, check] of checks[kind]) if (!check(record[field])) return `its ${field} is not readable`;
  return undefined;
}

/** The kind of the resource that an intent's operation is about. */
const kindsOfIntents: ReadonlyMap<unknown, Kind> = new Map<Intent["operation"], Kind>([
  ...kinds.map((kind) => [`${kind}.create`, kind] as const),
  ["vm.snapshot", "vm"],
]);

const intentShape: readonly (readonly [string, Check])[] = [
  ["step", text],
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
  const { operation, record } = intent;
  if (intent.address !== address) return `its intent says it is for ${JSON.stringify(intent.address ?? null)}`;
  const intended = kindsOfIntents.get(operation);
  if (intended === undefined)
    return `its intent is to ${JSON.stringify(operation ?? null)}, which this version does not know`;
  if (intended !== kind) return `its intent is to ${operation}, which is no ${kind}'s`;
  for (const [field, check] of intentShape)
    if (!check(intent[field])) return `the ${field} of its intent is not readable`;
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
  ["replacedBy", optional(text)],
  ["deleting", optional(flag)],
];

export function orphanProblem(orphan: unknown): string | undefined {
  if (!isObject(orphan)) return "it is not an orphan";
  for (const [field, check] of orphanShape)
    if (!check(orphan[field])) return `its ${field} as an orphan is not readable`;
  const { record } = orphan;
  if (record === undefined) return undefined;
  const { address } = fieldsIn(record);
  return recordProblem(typeof address === "string" ? address : "", record);
}

export const isScope = shape<Scope>({
  origin: text,
  project: optional(text),
  environment: optional(text),
  sees: optional(list(text)),
  subject: optional(text),
});
export const areOutputs = mapWith<Outputs[string]>(
  shape<Outputs[string]>({
    value: (value) => value !== undefined,
    description: optional(text),
    sensitive: optional(flag),
  }),
);

export const isLastSeen = shape<LastSeen>({ all: optional(timeText), each: optional(mapWith(timeText)) });
export const isSightings: Check = shape({ at: timeText, addresses: optional(list(text)) });

const endOfRun = {
  endedAt: timeText,
  outcome: oneOf("done", "failed", "waiting", "interrupted"),
  steps: mapWith(number),
  unseen: optional(list(text)),
};

/** A run, with its end where it has one, and without the records of before it. */
export const isRun = shape<Omit<RecordedRun, "before">>({
  id: text,
  number,
  at: timeText,
  by: optional(shape({ who: text, host: text, command: text, commit: optional(text) })),
  consents: optional(list(text)),
  part: optional(flag),
  changes: optional(mapWith(number)),
  open: mapWith(text),
  did: optional(mapWith(oneOf("made", "deleted", "took"))),
  brought: optional(flag),
  endedAt: optional(endOfRun.endedAt),
  outcome: optional(endOfRun.outcome),
  steps: optional(endOfRun.steps),
  unseen: endOfRun.unseen,
});

export const isRunEnd = shape<RunEnd>({ ...endOfRun, open: mapWith(text) });

export const isTransfer = shape<Transfer>({
  side: oneOf("giving", "gave", "taking"),
  other: text,
  at: timeText,
  by: text,
  addresses: mapWith(text),
  orphans: optional(list(text)),
  outputs: optional(areOutputs),
  files: optional(text),
});
export const areMoves = mapWith<Transfer>(isTransfer);

/** The runs of an entry, with what was before each. */
export const areRuns = (runs: unknown): runs is readonly RecordedRun[] =>
  Array.isArray(runs) && runs.every((run) => isRun(run) && hasReadableRecords(fieldsIn(run)["before"] ?? {}));

/**
 * A run that cannot be read is left out. What was before it is not known any more, so the runs before it keep no
 * records: nobody is shown a state that never was.
 */
export function runsOf(section: unknown): { readonly runs?: readonly RecordedRun[] } {
  if (!isObject(section)) return {};
  const runs: RecordedRun[] = [];
  let broken = false;
  for (const key of Object.keys(section).sort().reverse()) {
    const run = section[key];
    if (!isRun(run)) {
      broken = true;
      continue;
    }
    // `isRun` has held the fields beside `before` to their shape, and `before` is checked below.
    const { before, ...rest } = run as RecordedRun;
    broken ||= !hasReadableRecords(before);
    runs.unshift(broken ? rest : { ...rest, ...onlyDefined({ before }) });
  }
  return runs.length === 0 ? {} : { runs };
}

const hasReadableRecords = (before: unknown): boolean =>
  isObject(before) &&
  Object.entries(before).every(([address, record]) => record === null || recordProblem(address, record) === undefined);

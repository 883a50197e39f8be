/** Lays what was found over the dialect that was given. */
import { isAssumed } from "../../core/model/operation";
import { onlyDefined } from "../../core/text/objects";
import type { AssumedRoutes, Dialect, ErrorRule, RecordPlace } from "../../dialect/dialect";
import type { LearntEnvelope } from "../../dialect/learn/envelope";
import { leavesOf } from "../../dialect/learn/values";
import type { Learnings } from "./learnings";
import type { DoctorReport, OperationFinding } from "./report";
import type { WordsSeen } from "./states";

export function fittingDialect(
  learnings: Learnings,
  findings: readonly OperationFinding[],
  likely: WordsSeen["likely"],
  refusal: LearntEnvelope | undefined,
  authorization: DoctorReport["authorization"],
): Dialect {
  const { given } = learnings;
  return {
    ...given,
    operations: fittingRoutes(withRegionFields(learnings), findings),
    records: fittingRecords(learnings),
    states: { ...given.states, vm: withMoreWords(given.states.vm, likely) },
    answers: fittingAnswers(learnings),
    ...(refusal !== undefined && {
      envelope: { ...given.envelope, ...refusal.envelope },
      errors: [...given.errors, ...refusal.errors] satisfies ErrorRule[],
    }),
    retry_after: given.retry_after ?? learnings.waitHeader ?? null,
    ...onlyDefined({
      attachments: learnings.attachments,
      authorization: authorization === undefined ? undefined : { ...given.authorization, ...authorization },
    }),
  };
}

/** A write whose path names a region takes it from the record, where records show it alone at a place. */
export function withRegionFields({ given, samples, texts }: Learnings): Dialect {
  const regions = new Set(texts("region", "id"));
  let { operations } = given;
  for (const [operation, kind] of writesOfRegions) {
    const route = operations[operation];
    const region = route?.path.split("/").find((part) => regions.has(part));
    if (route === null || region === undefined) continue;
    const field = (samples.get(kind) ?? [])
      .flatMap((record) => leavesOf(record))
      .find(({ place, value }) => typeof place === "string" && value === region)?.place;
    if (typeof field !== "string") continue;
    const path = route.path.split("/").map((part) => (part === region ? `{field:${field}}` : part));
    operations = { ...operations, [operation]: { ...route, path: path.join("/") } };
  }
  return operations === given.operations ? given : { ...given, operations };
}

const writesOfRegions = [
  ["vm.resize.confirm", "vm"],
  ["vm.resize.revert", "vm"],
  ["volume.delete", "volume"],
] as const;

/** An operation that was tried and is not there is switched off. An unclear one stays as the dialect has it. */
function fittingRoutes(dialect: Dialect, findings: readonly OperationFinding[]): AssumedRoutes {
  let routes = dialect.operations;
  for (const { operation, verdict, route, isKept, isLikely } of findings)
    if ((verdict === "found" || verdict === "missing" || isLikely === true) && isKept !== true)
      routes = { ...routes, [operation]: route };
  return routes;
}

function fittingRecords({ given, records: found }: Learnings): Dialect["records"] {
  let { records } = given;
  for (const { record, fields } of found.values()) {
    const learnt = fields.filter(({ learnt, field }) => learnt === true && !field.includes("."));
    const entry = fields.flatMap(({ field, place, learnt }) =>
      learnt === true && field.startsWith("volume_entry.") && place !== undefined
        ? [[field.slice("volume_entry.".length), [place]]]
        : [],
    );
    const placed = learnt.map(({ field, place, also }): [string, readonly (RecordPlace | undefined)[]] => [
      field,
      [place, also].filter((one) => one !== undefined),
    ]);
    const fitting = {
      ...given.records[record],
      ...Object.fromEntries(placed),
      ...onlyDefined({
        volume_entry: entry.length > 0 ? { ...given.records.vm.volume_entry, ...Object.fromEntries(entry) } : undefined,
      }),
    };
    records = { ...records, [record]: fitting };
  }
  return records;
}

type Words = Readonly<Record<string, readonly string[]>>;

/** The words of a kind's states, with others after them. */
export const withMoreWords = <S extends Words>(
  states: S,
  more: Readonly<Partial<Record<keyof S, readonly string[]>>>,
): S => ({
  ...states,
  ...Object.fromEntries(
    Object.entries(states).map(([phase, words]) => [phase, [...new Set([...words, ...(more[phase] ?? [])])]]),
  ),
});

function fittingAnswers({
  given,
  volumeItem: item,
  rulesItem: rules,
  findings,
  wrapped,
}: Learnings): Dialect["answers"] {
  const group = findings.get("group.get")?.route?.item;
  return {
    ...onlyDefined({ "volume.create": item === undefined ? undefined : { item: [item] } }),
    // A wrapper that two kinds of answers have in common is taken for the other kinds too: where they lack it, looking
    // there costs nothing.
    ...(rules !== undefined &&
      rules === item && {
        "group.create": { item: [rules] },
        "group.rule.create": { item: [rules] },
        "vm.delete": { item: [rules] },
        "vm.snapshot": { item: [rules] },
      }),
    ...onlyDefined({ "group.create": group === undefined ? undefined : { item: group } }),
    // What was given is kept before what is likely; what was seen comes before both.
    ...given.answers,
    ...onlyDefined({
      "volume.get": item === undefined ? undefined : { item: [item] },
      "group.rule.list": rules === undefined ? undefined : { item: [rules] },
    }),
    ...Object.fromEntries(
      [...wrapped]
        .filter(([operation]) => !isAssumed(operation))
        .map(([operation, place]) => [operation, { item: [place] }]),
    ),
  };
}

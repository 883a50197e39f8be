/** `reads:` and `lookups:` — what is elsewhere, and what `${read.…}` and `${lookup.…}` are worth once somebody has looked. */

import {
  type External,
  type ExternalValues,
  type LookupKind,
  type LookupRequest,
  lookupAttributes,
  lookupKinds,
  type Read,
} from "../../core/model/external";
import type { Json } from "../../core/model/output";
import { listed } from "../../core/text/list-text";
import { nearestText } from "../../core/text/nearest";
import { ownValue } from "../../core/text/objects";
import { unlikelyPlace } from "../../core/text/outside-policy";
import { isGiven, readMap, readText, readUnmanagedId, reportMissing, subjectWithin } from "../fields";
import { type InterpolationProblem, type InterpolationScope, keyOf, type Report } from "../interpolation";
import { holdsForeignMark } from "../open-text";
import type { Problems } from "../problems";
import { interpolated, subjectOfEntry, type Written } from "../sections";
import type { MergedEntry } from "../sources";
import type { Expression } from "../template";
import { isMap, positionOf, valueAt } from "../yaml/file";

/** `later`: nobody has looked yet. A value that needs one of these counts as unreadable, and is not reported. */
export type GivenExternal = ExternalValues | "later";

export const readExternal = (
  reads: readonly MergedEntry[],
  lookups: readonly MergedEntry[],
  scope: InterpolationScope,
  problems: Problems,
): External => ({
  reads: reads.flatMap((entry) => readRead(entry, scope, problems)),
  lookups: lookups.flatMap((entry) => readLookup(entry, scope, problems)),
});

function externalSubject(
  section: string,
  entry: MergedEntry,
  scope: InterpolationScope,
  problems: Problems,
): Written | undefined {
  const { value } = entry;
  const subject = subjectOfEntry(section, entry, problems);
  // What is no map is told by the schema.
  if (!isMap(value)) return undefined;
  const values = interpolated(subject, value, scope);
  return { subject, values: isMap(values) ? values : {} };
}

function readRead(entry: MergedEntry, scope: InterpolationScope, problems: Problems): Read[] {
  const found = externalSubject("reads", entry, scope, problems);
  if (found === undefined) return [];
  const { subject, values } = found;
  const state = readText(subject, values, "state");
  if (!Object.hasOwn(values, "state"))
    reportMissing(subject, "state", "add state: and where the state of the other project lies");
  const missed = state === undefined ? undefined : unlikelyPlace(state);
  if (missed !== undefined) problems.add({ code: "config/invalid-value", ...missed, at: subject.place(["state"]) });
  return state === undefined ? [] : [{ name: entry.key, state, source: positionOf(subject.place([])) }];
}

function readLookup(entry: MergedEntry, scope: InterpolationScope, problems: Problems): LookupRequest[] {
  const found = externalSubject("lookups", entry, scope, problems);
  if (found === undefined) return [];
  const { subject, values } = found;
  const given = lookupKinds.filter((kind) => Object.hasOwn(values, kind));
  const [kind] = given;
  if (given.length > 1)
    subject.problems.add({
      code: "config/invalid-value",
      summary: `the lookup ${entry.key} looks for ${given.join(" and ")}`,
      detail: "expected one of them: a lookup finds one thing",
      fix: "write a lookup for each, with a name of its own",
      at: subject.place([], "key"),
    });
  if (kind === undefined)
    reportMissing(subject, `one of ${lookupKinds.join(", ")}`, "write for example { vm: { name: legacy-app } }");
  if (kind === undefined || given.length > 1) return [];
  const what = readMap(subject, values, kind);
  const own = subjectWithin(subject, kind);
  const id = readUnmanagedId(own, what);
  const name = readText(own, what, "name");
  const source = positionOf(subject.place([]));
  if (id !== undefined && name === undefined) return [{ name: entry.key, kind, by: "id", wanted: id, source }];
  if (name !== undefined && id === undefined) return [{ name: entry.key, kind, by: "name", wanted: name, source }];
  if (isMap(values[kind]) && isGiven(what, "id") === isGiven(what, "name"))
    reportMissing(own, "id or name", "a lookup takes an id or a name, one of the two");
  return [];
}

/**
 * The value of `${read.…}` and `${lookup.…}`; `used` is told what was asked for. Each branch is one way in which a
 * reference can be wrong, in the order of its parts.
 */
export function externalValue(
  expression: Expression,
  scope: InterpolationScope,
  { reads, lookups }: External,
  given: GivenExternal | undefined,
  used: (value: {
    readonly of: "reads" | "lookups";
    readonly name: string;
    readonly part: string;
    readonly value: Json;
  }) => void,
  report: Report,
): unknown {
  const { root, steps, text } = expression;
  const say = (problem: Omit<InterpolationProblem, "code">): undefined => {
    report({ code: "config/unknown-reference", ...problem });
    return undefined;
  };
  const [first, second, ...rest] = steps;
  const isRead = root === "read";
  const declared: readonly { readonly name: string; readonly kind?: LookupKind }[] = isRead ? reads : lookups;
  if (first?.kind !== "field" || second?.kind !== "field")
    return say({
      summary: `\${${text}} is not known`,
      detail: isRead ? "expected ${read.NAME.OUTPUT}" : "expected ${lookup.NAME.id}",
    });
  const found = declared.find(({ name }) => name === first.name);
  if (found === undefined)
    return say(
      undeclaredProblem(
        isRead,
        first.name,
        second.name,
        declared.map(({ name }) => name),
      ),
    );
  const attributes: readonly string[] = found.kind === undefined ? [] : lookupAttributes[found.kind];
  if (!isRead && (rest.length > 0 || !attributes.includes(second.name)))
    return say(noAttribute(text, found, second.name, attributes));
  if (given === "later") return undefined;
  if (given === undefined)
    return say({ summary: `\${${text}} has no value`, detail: "reads and lookups are not carried out here" });
  const of = isRead ? "reads" : "lookups";
  const values = ownValue(given[of], first.name) ?? {};
  const value = ownValue(values, second.name);
  // An output may be recorded without a value: that is nothing that a rule or a text could be made of.
  if (value === undefined || value === null)
    return noValue(isRead, first.name, second.name, Object.keys(values), found.kind, say);
  used({ of, name: first.name, part: second.name, value });
  const keys = rest.flatMap((step) => keyOf(step, scope, report) ?? []);
  const inner = keys.length < rest.length ? undefined : valueAt(value, keys);
  if (inner !== undefined && holdsForeignMark(JSON.stringify(inner)))
    return say({ summary: `\${${text}} holds a character that no text has`, detail: "U+FDD0 to U+FDD3 are none" });
  return inner ?? say({ summary: `\${${text}} is not known`, detail: `${first.name}.${second.name} has no such part` });
}

const noAttribute = (
  text: string,
  { name, kind }: { readonly name: string; readonly kind?: LookupKind },
  part: string,
  attributes: readonly string[],
): Omit<InterpolationProblem, "code"> => ({
  summary: `\${${text}} is not known`,
  detail: `of a ${kind} there is ${attributes.join(", ")}`,
  fix: nearestText(part, attributes, (near) => `write \${lookup.${name}.${near}}`),
});

function undeclaredProblem(
  isRead: boolean,
  name: string,
  part: string,
  declared: readonly string[],
): Omit<InterpolationProblem, "code"> {
  const [section, root] = isRead ? ["reads", "read"] : ["lookups", "lookup"];
  return {
    summary: `no ${root} ${name} is declared`,
    fix:
      nearestText(name, declared, (near) => `write \${${root}.${near}.${part}}`) ??
      `declare it: ${section}: { ${name}: … }`,
  };
}

function noValue(
  isRead: boolean,
  name: string,
  part: string,
  there: readonly string[],
  kind: LookupKind | undefined,
  say: (problem: Omit<InterpolationProblem, "code">) => undefined,
): undefined {
  if (!isRead)
    return say({
      summary: `\${lookup.${name}.${part}} has no value: the service's record of that ${kind} shows none`,
      fix: `records: { ${kind}: { ${part}: [/…] } } in the dialect says where the record has it`,
    });
  return say({
    summary: `the project that ${name} reads hands out no output ${part}`,
    detail: `it hands out ${there.length === 0 ? "nothing" : listed(there)}; a sensitive output is not handed out`,
    fix:
      nearestText(part, there, (near) => `write \${read.${name}.${near}}`) ??
      `declare it there without sensitive: true, and apply that project: outputs: { ${part}: … }`,
  });
}

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
import { isGiven, readMap, readText, readUnmanagedId, reportAt, reportMissing, subjectWithin } from "../fields";
import { type InterpolationScope, keyOf, type Report, unknownReference } from "../interpolation";
import { holdsForeignMark } from "../open-text";
import { interpolated, type SectionContext, subjectOfEntry, type Written } from "../sections";
import type { Merged, MergedEntry } from "../sources";
import type { Expression, TemplateStep } from "../template";
import { isMap, positionOf, valueAt } from "../yaml/file";

/** `later`: nobody has looked yet. A value that needs one of these counts as unreadable, and is not reported. */
export type GivenExternal = ExternalValues | "later";

export function readExternal(
  { reads, lookups }: Pick<Merged, "reads" | "lookups">,
  { scope, problems }: SectionContext,
): External {
  const written = (section: "reads" | "lookups", entry: MergedEntry): Written => {
    const subject = subjectOfEntry(section, entry, problems);
    const values = interpolated(subject, entry.value, scope);
    return { subject, values: isMap(values) ? values : {} };
  };
  // What is no map is told by the schema.
  const mapsOf = (all: readonly MergedEntry[]) => all.filter(({ value }) => isMap(value));
  return {
    reads: mapsOf(reads).flatMap((entry) => readRead(entry.key, written("reads", entry))),
    lookups: mapsOf(lookups).flatMap((entry) => readLookup(entry.key, written("lookups", entry))),
  };
}

function readRead(name: string, { subject, values }: Written): Read[] {
  const state = readText(subject, values, "state");
  if (!Object.hasOwn(values, "state"))
    reportMissing(subject, "state", "add state: and where the state of the other project lies");
  const missed = state === undefined ? undefined : unlikelyPlace(state);
  if (missed !== undefined) reportAt(subject, ["state"], { code: "config/invalid-value", ...missed });
  return state === undefined ? [] : [{ name, state, source: positionOf(subject.place([])) }];
}

function readLookup(name: string, { subject, values }: Written): LookupRequest[] {
  const given = lookupKinds.filter((kind) => Object.hasOwn(values, kind));
  const [kind] = given;
  if (given.length > 1)
    subject.problems.add({
      code: "config/invalid-value",
      summary: `the lookup ${name} looks for ${given.join(" and ")}`,
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
  const itsName = readText(own, what, "name");
  const source = positionOf(subject.place([]));
  if (id !== undefined && itsName === undefined) return [{ name, kind, by: "id", wanted: id, source }];
  if (itsName !== undefined && id === undefined) return [{ name, kind, by: "name", wanted: itsName, source }];
  if (isMap(values[kind]) && isGiven(what, "id") === isGiven(what, "name"))
    reportMissing(own, "id or name", "a lookup takes an id or a name, one of the two");
  return [];
}

/** What a reference names, with what follows it in the value. Of a lookup, `kind` says what it looks for. */
interface NamedExternal {
  readonly of: "reads" | "lookups";
  readonly name: string;
  readonly part: string;
  readonly kind?: LookupKind;
  readonly rest: readonly TemplateStep[];
}

/** The value of `${read.…}` and `${lookup.…}`; `used` is told what was asked for. */
export function externalValue(
  expression: Expression,
  scope: InterpolationScope,
  external: External,
  given: GivenExternal | undefined,
  used: (value: Pick<NamedExternal, "of" | "name" | "part"> & { readonly value: Json }) => void,
  report: Report,
): unknown {
  const { text } = expression;
  const named = namedExternal(expression, external, report);
  if (named === undefined || given === "later") return undefined;
  const fail = (problem: Parameters<typeof unknownReference>[1]): undefined => unknownReference(report, problem);
  if (given === undefined)
    return fail({ summary: `\${${text}} has no value`, detail: "reads and lookups are not carried out here" });
  const { of, name, part, rest } = named;
  const values = ownValue(given[of], name) ?? {};
  const value = ownValue(values, part);
  // An output may be recorded without a value: that is nothing that a rule or a text could be made of.
  if (value === undefined || value === null) return fail(noValue(named, Object.keys(values)));
  used({ of, name, part, value });
  const keys = rest.flatMap((step) => keyOf(step, scope, report) ?? []);
  const inner = keys.length < rest.length ? undefined : valueAt(value, keys);
  if (inner !== undefined && holdsForeignMark(JSON.stringify(inner)))
    return fail({ summary: `\${${text}} holds a character that no text has`, detail: "U+FDD0 to U+FDD3 are none" });
  return inner ?? fail({ summary: `\${${text}} is not known`, detail: `${name}.${part} has no such part` });
}

/** The ways in which a reference can be wrong whatever is found, in the order of its parts. */
function namedExternal(
  { root, steps, text }: Expression,
  { reads, lookups }: External,
  report: Report,
): NamedExternal | undefined {
  const [first, second, ...rest] = steps;
  const of = root === "read" ? "reads" : "lookups";
  if (first?.kind !== "field" || second?.kind !== "field")
    return unknownReference(report, {
      summary: `\${${text}} is not known`,
      detail: of === "reads" ? "expected ${read.NAME.OUTPUT}" : "expected ${lookup.NAME.id}",
    });
  const [name, part] = [first.name, second.name];
  const declared: readonly Pick<NamedExternal, "name" | "kind">[] = of === "reads" ? reads : lookups;
  const found = declared.find((one) => one.name === name);
  if (found === undefined) {
    const names = declared.map((one) => one.name);
    return unknownReference(report, {
      summary: `no ${root} ${name} is declared`,
      fix:
        nearestText(name, names, (near) => `write \${${root}.${near}.${part}}`) ?? `declare it: ${of}: { ${name}: … }`,
    });
  }
  const { kind } = found;
  const attributes: readonly string[] = kind === undefined ? [] : lookupAttributes[kind];
  if (kind !== undefined && (rest.length > 0 || !attributes.includes(part)))
    return unknownReference(report, {
      summary: `\${${text}} is not known`,
      detail: `of a ${kind} there is ${attributes.join(", ")}`,
      fix: nearestText(part, attributes, (near) => `write \${lookup.${name}.${near}}`),
    });
  return { of, name, part, kind, rest };
}

const noValue = ({ name, part, kind }: NamedExternal, there: readonly string[]) =>
  kind === undefined
    ? {
        summary: `the project that ${name} reads hands out no output ${part}`,
        detail: `it hands out ${there.length === 0 ? "nothing" : listed(there)}; a sensitive output is not handed out`,
        fix:
          nearestText(part, there, (near) => `write \${read.${name}.${near}}`) ??
          `declare it there without sensitive: true, and apply that project: outputs: { ${part}: … }`,
      }
    : {
        summary: `\${lookup.${name}.${part}} has no value: the service's record of that ${kind} shows none`,
        fix: `records: { ${kind}: { ${part}: [/…] } } in the dialect says where the record has it`,
      };

/**
 * What the service shows, as blocks of a desired-state file that change nothing when they are applied. What a file cannot
 * say (a name outside the rules, a rule beyond the vocabulary) is fenced off with the field that leaves it alone, and
 * what the service does not show is named in a comment, never made up.
 */
import { canonicalName, nameProblem } from "../core/canonical/names";
import type { Kind } from "../core/model/address";
import { type FieldRow, fieldsOf, hasPlainNames } from "../core/model/fields";
import { definitionOf } from "../core/model/kinds";
import type { LiveOf } from "../core/model/live";
import { hostOf } from "../core/model/relations";
import { isSayable } from "../core/text/canonical-text";
import { fieldsIn } from "../core/text/objects";
import { printable } from "../core/text/printable";
import { longestVolumeName } from "./read/names";
import type { Plain, YamlBlock } from "./yaml/write";

export type BlockFields = Record<string, Plain>;

/** Gives out keys and names, none twice a kind. */
export interface NamesTaken {
  key(kind: Kind, wanted: string): string;
  name(kind: Kind, wanted: string): string;
}

export function createNames(): NamesTaken {
  const taken = new Set<string>();
  const claim = (scope: string, wanted: string, longest: number): string => {
    for (let count = 1; ; count++) {
      const suffix = count === 1 ? "" : `-${count}`;
      const candidate = wanted.slice(0, longest - suffix.length) + suffix;
      if (taken.has(`${scope} ${candidate}`)) continue;
      taken.add(`${scope} ${candidate}`);
      return candidate;
    }
  };
  return {
    key: (kind, wanted) => claim(`key ${kind}`, fitKey(wanted), 100),
    name: (kind, wanted) => claim(`name ${kind}`, wanted, hasPlainNames[kind] ? 50 : longestVolumeName),
  };
}

/** No file can have `__proto__` as a key. */
const fitKey = (name: string): string =>
  name.replaceAll(/[^A-Za-z0-9_-]+|^__proto__$/g, "-").replaceAll(/^-+|-+$/g, "") || "unnamed";

/** The name rule, whatever was written: lower case, other characters as hyphens, 3 to 50 long. */
export function fitName(name: string): string {
  const fitting = canonicalName(name.normalize("NFKD").replaceAll(/\p{M}/gu, ""))
    .replaceAll(/[^a-z0-9-]+/g, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, 50);
  return fitting.length >= 3 ? fitting : `${fitting === "" ? "unnamed" : fitting}-1`;
}

const fitLine = (name: string): string => printable(name).slice(0, longestVolumeName);

export interface Naming {
  readonly key: string;
  readonly fields: BlockFields;
  readonly ignored: readonly string[];
  readonly notes: readonly string[];
}

function namingOf(kind: Kind, id: string, names: NamesTaken, given: string | undefined): Naming {
  const short = id
    .replaceAll(/[^A-Za-z0-9]/g, "")
    .slice(0, 8)
    .toLowerCase();
  const key = given ?? names.key(kind, `${kind}-${short}`);
  const name = names.name(kind, hasPlainNames[kind] ? fitName(key) : key);
  // A name that is made up is a label alone, also where it has to be written.
  const isLabel = definitionOf(kind).keyIsLabel === true && name === key;
  return {
    key,
    fields: name === key ? {} : { name },
    ignored: isLabel ? [] : ["name"],
    notes: [
      isLabel
        ? "the service does not show its name; write it as name:"
        : "the service does not show its name; write it as name:, and take name out of ignore_changes",
    ],
  };
}

export function nameBlock(
  kind: Kind,
  live: { readonly id: string; readonly name?: string },
  names: NamesTaken,
  given: string | undefined,
): Naming {
  const shown = live.name;
  if (shown === undefined || shown.trim() === "") return namingOf(kind, live.id, names, given);
  const key = given ?? names.key(kind, shown);
  const isPlain = hasPlainNames[kind];
  const fits = isPlain
    ? nameProblem(shown) === undefined
    : isSayable(shown, false) && shown.length <= longestVolumeName;
  const wanted = isPlain ? (fits ? canonicalName(shown) : fitName(shown)) : fits ? shown : fitLine(shown);
  const name = names.name(kind, wanted);
  const leftAlone = !fits || name !== wanted;
  const why = fits ? "another one has as well" : "breaks the name rule";
  return {
    key,
    fields: name === key ? {} : { name },
    ignored: leftAlone ? ["name"] : [],
    notes: leftAlone ? [`its name in the service is ${shown}, which ${why}; it is left as it is`] : [],
  };
}

export const lifecycleBlock = (ignored: readonly string[]): BlockFields =>
  ignored.length === 0 ? {} : { lifecycle: { ignore_changes: ignored } };

/** A kind that is its rows and its relations alone: the rows that show, and where it hangs. */
export function blockOfUsual(
  live: LiveOf[Kind],
  keyOrId: (id: string) => Plain,
  names: NamesTaken,
  key?: string,
): YamlBlock {
  const { kind, id } = live;
  const naming = nameBlock(kind, live, names, key);
  const host = hostOf[kind];
  const fields: BlockFields = { ...naming.fields };
  const missing: string[] = [];
  for (const [own, { field, absent, observed }] of Object.entries<FieldRow>(fieldsOf[kind])) {
    const shown = fieldsIn(live)[own === host?.field ? host.recorded : own];
    if (own === host?.field && typeof shown === "string") fields[field] = keyOrId(shown);
    else if (observed === true && isPlainValue(shown) && shown !== "" && own !== "name") fields[field] = shown;
    else if (absent === "missing") missing.push(field);
  }
  const notes = missing.length === 0 ? [] : [`fill in: ${missing.join(", ")} (the service does not show it)`];
  return {
    ...{ kind, id, key: naming.key, notes: [...naming.notes, ...notes] },
    fields: { ...fields, ...lifecycleBlock(naming.ignored) },
  };
}

const isPlainValue = (value: unknown): value is string | number | boolean =>
  ["string", "number", "boolean"].includes(typeof value);

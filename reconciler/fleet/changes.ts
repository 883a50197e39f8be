/** What `fleet sync` would do: which stacks are added, changed, released or given to be destroyed. */
import { deepEqual } from "../core/text/deep-equal";
import { onlyDefined } from "../core/text/objects";
import type { StackSpec } from "./model";

export interface StackChange {
  readonly action: "add" | "change" | "release" | "destroy";
  readonly name: string;
  /** What the database is to hold; for a stack that leaves, what it held. */
  readonly spec: StackSpec;
  /** For a changed stack: which parts differ. */
  readonly fields: readonly string[];
  /** For an added stack: one that leaves, with the same files and its state elsewhere. It may be meant as a new name. */
  readonly insteadOf?: StackSpec;
}

export function changesOf(now: ReadonlyMap<string, StackSpec>, wanted: ReadonlyMap<string, StackSpec>): StackChange[] {
  const changes: StackChange[] = [];
  const leaving = [...now.values()].filter(({ name }) => !wanted.has(name));
  for (const [name, spec] of wanted) {
    const before = now.get(name);
    if (before === undefined) {
      const insteadOf = leaving.find((one) => hasOtherName(one, spec));
      changes.push({ action: "add", name, spec, fields: [], ...onlyDefined({ insteadOf }) });
      continue;
    }
    const fields = differingFields(before, spec);
    if (fields.length > 0) changes.push({ action: "change", name, spec, fields });
  }
  for (const spec of leaving)
    changes.push({ action: spec.destroy ? "destroy" : "release", name: spec.name, spec, fields: [] });
  return changes.sort((a, b) => (a.name < b.name ? -1 : 1));
}

const whatItSays = ({ source, env, service, vars }: StackSpec): readonly unknown[] => {
  const { ref: _, digest: __, pulls: ___, ...place } = { ref: "", digest: "", pulls: undefined, ...source };
  return [place, env, service, vars];
};

const hasOtherName = (one: StackSpec, other: StackSpec): boolean =>
  one.state !== other.state && deepEqual(whatItSays(one), whatItSays(other));

function differingFields(before: StackSpec, after: StackSpec): string[] {
  const [old, now] = [Object.entries(before), Object.entries(after)];
  const was = new Map(old);
  const is = new Map(now);
  return [...new Set([...was.keys(), ...is.keys()])].filter((key) => !deepEqual(was.get(key), is.get(key))).sort();
}

/** What `fleet sync` would do: which stacks are added, changed, released or given to be destroyed. */
import { deepEqual } from "../core/text/deep-equal";
import type { StackSpec } from "./model";

export interface StackChange {
  readonly action: "add" | "change" | "release" | "destroy";
  readonly name: string;
  /** What the database is to hold; for a stack that leaves, what it held. */
  readonly spec: StackSpec;
  /** For a changed stack: which parts differ. */
  readonly fields: readonly string[];
}

export function changesOf(now: ReadonlyMap<string, StackSpec>, wanted: ReadonlyMap<string, StackSpec>): StackChange[] {
  const changes: StackChange[] = [];
  for (const [name, spec] of wanted) {
    const before = now.get(name);
    if (before === undefined) {
      changes.push({ action: "add", name, spec, fields: [] });
      continue;
    }
    const fields = differingFields(before, spec);
    if (fields.length > 0) changes.push({ action: "change", name, spec, fields });
  }
  for (const [name, spec] of now)
    if (!wanted.has(name)) changes.push({ action: spec.destroy ? "destroy" : "release", name, spec, fields: [] });
  return changes.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function differingFields(before: StackSpec, after: StackSpec): string[] {
  const [old, now] = [Object.entries(before), Object.entries(after)];
  const was = new Map(old);
  const is = new Map(now);
  return [...new Set([...was.keys(), ...is.keys()])].filter((key) => !deepEqual(was.get(key), is.get(key))).sort();
}

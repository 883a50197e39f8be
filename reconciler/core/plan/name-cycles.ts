/**
 * Two resources that swap names would wait for each other, because names are unique. One of them is renamed to a
 * passing name first.
 */
import { idInName } from "../model/aside-name";
import type { Reference } from "../model/desired";
import { itemAt, mustGet } from "../text/invariant";
import { addStep, type Draft, type NameKey } from "./draft";
import { need } from "./step";

export function breakNameCycles(draft: Draft): void {
  const takerOf = new Map(draft.namesTaken().map((take) => [take.step, take.key]));
  const renames = new Map<NameKey, { readonly from: string; readonly to: NameKey }>();
  for (const [key, step] of draft.namesFreed()) {
    const to = takerOf.get(step);
    if (to !== undefined) renames.set(key, { from: step, to });
  }
  if (renames.size === 0) return;
  const indexOfStep = new Map(draft.steps.map((step, index) => [step.id, index]));
  const done = new Set<string>();
  for (const start of renames.keys()) {
    if (done.has(start)) continue;
    const path = new Set<string>();
    let key = start;
    while (renames.has(key) && !done.has(key) && !path.has(key)) {
      path.add(key);
      key = mustGet(renames, key).to;
    }
    if (path.has(key)) renameToPassingName(draft, key, mustGet(indexOfStep, mustGet(renames, key).from));
    for (const visited of path) done.add(visited);
  }
}

/** The rename that frees `key` is preceded by one to a passing name; whoever wants `key` waits only for that. */
function renameToPassingName(draft: Draft, key: NameKey, index: number): void {
  const rename = itemAt(draft.steps, index);
  const { action } = rename;
  if (action.operation !== "vm.rename" && action.operation !== "group.update") return;
  if (rename.needs.some(({ step }) => step === `${rename.id}-aside`)) return;
  const passing = passingName(
    key.slice(key.indexOf(":") + 1),
    action.operation === "vm.rename" ? action.vm : action.group,
  );
  const aside = addStep(draft, {
    ...rename,
    id: `${rename.id}-aside`,
    // Only the name: the second rename records and tells everything else.
    action:
      action.operation === "vm.rename"
        ? { ...action, name: passing }
        : { operation: action.operation, group: action.group, name: passing },
    title: `rename ${rename.address} to ${passing} for a moment, because names are swapped`,
    record: { name: passing },
  });
  draft.steps[index] = { ...rename, needs: [...rename.needs, need(aside)] };
  draft.freesName(key, aside);
}

/** A passing name: of the allowed length, and borne by nobody else, since an interrupted swap may have left one. */
function passingName(name: string, of: Reference): string {
  const own = idInName("id" in of ? of.id : of.address);
  return `${name.slice(0, 44 - own.length)}-swap-${own}`;
}

/** The rules of evidence, as what may never be seen between two processes. */

import type { Closed } from "../../reconciler/core/model/desired";
import { openStoredState } from "../../reconciler/engine/plan";
import { differencesFromDesired } from "../properties/world-checks";
import { emulatedWorld, type VirtualWorld } from "../support/virtual-world";

import { debtsLeft, debtsLost } from "./guest";
import { arrive, type Lived, type Moment } from "./world";

export const stateOf = ({ stored }: Moment) =>
  openStoredState({ snapshot: stored.snapshot, journal: stored.journal }, "memory", "explored").state;

/** Everything that is on its way arrives, and what moves comes to rest. */
function atRest(moment: Moment) {
  const emulated = emulatedWorld({}, {}, moment.world);
  for (const one of moment.onItsWay) arrive(emulated, emulated.call, one);
  emulated.nowMs += 600_000;
  return emulated;
}

/** What is broken where a process has ended or died. */
export function brokenAt(moment: Moment): string[] {
  const { tables } = atRest(moment).world;
  const state = stateOf(moment);
  const text = JSON.stringify([[...state.resources], [...state.orphans], [...state.intents]]);
  const broken: string[] = [];
  const open = new Set([...state.intents.values()].map(({ operation, name }) => `${operation.split(".")[0]} ${name}`));
  const seen = new Map<string, string>();
  for (const kind of ["vm", "volume", "group"] as const)
    for (const thing of tables[kind].values()) {
      const { id, name } = thing;
      if (moment.strangers.includes(id) || ("platform" in thing && thing.platform)) continue;
      const host = "attached_to" in thing ? thing.attached_to : null;
      // The disks of a VM are known with it, and those of somebody else's VM are not ours.
      if (host !== null && (moment.strangers.includes(host) || ("root" in thing && thing.root))) continue;
      const isItsVms = host !== null && !text.includes(id) && isOwnDisk(name, tables.vm.get(host)?.name);
      const isKnown =
        text.includes(id) ||
        open.has(`${kind} ${name}`) ||
        (isItsVms && isNamed(host, tables.vm.get(host)?.name, text, open));
      if (!isKnown) broken.push(`forgotten: ${kind} ${name} is in no record, orphan or open create`);
      const what = `${kind} ${name}`;
      const other = seen.get(what);
      seen.set(what, id);
      // What a replacement leaves for a while, or for good, is said to be left.
      const isLeft = (one: string): boolean => state.orphans.has(`${kind}:${one}`) || /"retired":\[/.test(text);
      if (other !== undefined && !isItsVms && !isLeft(id) && !isLeft(other))
        broken.push(`twin: two of ${what}, ${other} and ${id}`);
    }
  broken.push(...debtsLost(moment.unpaid, state));
  return broken;
}

const isOwnDisk = (disk: string, vm: string | undefined): boolean => vm !== undefined && disk.startsWith(vm);
const isNamed = (id: string, name: string | undefined, text: string, open: ReadonlySet<string>): boolean =>
  text.includes(id) || open.has(`vm ${name}`);

/**
 * A process that says that all is done has to be right. While something that was told is still on its way, nobody can be:
 * the runs that follow have to be.
 */
export function wronglyDone({ end, after }: Lived, desired: Closed): string[] {
  if (end !== "done" && end !== "nothing to do") return [];
  if (after.strangers.length > 0 || after.onItsWay.length > 0) return [];
  const emulated = atRest(after);
  // The checks look at the world alone.
  const stage = { emulated, has: () => true } as unknown as VirtualWorld;
  const state = stateOf(after);
  return [...differencesFromDesired(desired, stage, state), ...debtsLeft(after.unpaid, state, desired)].map(
    (one) => `${end}, and ${one}`,
  );
}

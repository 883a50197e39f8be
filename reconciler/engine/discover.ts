/**
 * Looks by name for what a create may have made, until the caller has found it or the time is over. Only this file
 * knows how each kind is looked for.
 */
import type { Kind } from "../core/model/address";
import { hasPlainNames } from "../core/model/fields";
import type { LiveOf, LiveVm } from "../core/model/live";
import type { Failure } from "../core/model/outcome";
import type { Step } from "../core/plan/step";
import { lookWithin } from "./look-again";
import { listOfKind } from "./observe";
import { blindAfter } from "./poller";
import type { Run } from "./run";

export interface Search<L> {
  readonly step: Step;
  readonly name: string;
  /** Whether the search may end before its time. */
  isEnough(named: readonly L[]): boolean;
  readonly windowMs: number;
}

/**
 * `seen`: the last whole list. Unless it showed what was looked for, it was asked for when the time was over. `all`: empty
 * where it did show that.
 */
export type Looked<L> =
  | { readonly status: "seen"; readonly named: readonly L[]; readonly all: readonly L[] }
  | { readonly status: "blind"; readonly failure: Failure }
  | { readonly status: "aborted" };

type Looker<L> = (search: Search<L>, run: Run) => Promise<Looked<L>>;

/** A kind that is not named here is listed until the resource shows. */
const ownLookers: { readonly [K in Kind]?: Looker<LiveOf[K]> } = { vm: watchVms };

export function discover<K extends Kind>(kind: K, search: Search<LiveOf[K]>, run: Run): Promise<Looked<LiveOf[K]>> {
  const look = ownLookers[kind];
  return look === undefined ? lookThrough(kind, search, run) : look(search, run);
}

/** All waits for VMs share one list. */
async function watchVms({ step, name, isEnough, windowMs }: Search<LiveVm>, run: Run): Promise<Looked<LiveVm>> {
  const started = run.ports.clock.now();
  let named: readonly LiveVm[] = [];
  const waited = await run.poller.watch(
    (seen) => {
      named = seen.named(name);
      return isEnough(named) ? named : undefined;
    },
    windowMs,
    [],
    { signal: run.signal, soon: "shown", leadsTo: "built" },
  );
  run.waited(step, run.ports.clock.now() - started);
  if (waited.ended === "aborted") return { status: "aborted" };
  if (waited.ended === "blind") return { status: "blind", failure: waited.failure };
  if (isEnough(named)) return { status: "seen", named, all: [] };
  // After this list the create counts as not done, so the list has to prove that it is whole.
  const last = await run.ports.client.listVms({ signal: run.signal, proves: true });
  if (last.status !== "accepted")
    return run.signal.aborted ? { status: "aborted" } : { status: "blind", failure: last };
  return { status: "seen", named: last.value.filter((vm) => vm.name.toLowerCase() === name), all: last.value };
}

/**
 * Lists until the caller has found it. A list that is refused ends the search at once; a list that fails ends it when
 * the time is over.
 */
async function lookThrough<K extends Kind>(
  kind: K,
  { name, isEnough, windowMs }: Search<LiveOf[K]>,
  run: Run,
): Promise<Looked<LiveOf[K]>> {
  const isNamed = (live: LiveOf[K]): boolean => (hasPlainNames[kind] ? live.name?.toLowerCase() : live.name) === name;
  let failures = 0;
  const look = async (isOver: boolean): Promise<Looked<LiveOf[K]> | undefined> => {
    const listed = await listOfKind(kind, run.ports.client, { signal: run.signal, proves: isOver });
    if (run.signal.aborted) return { status: "aborted" };
    if (listed.status === "accepted") {
      failures = 0;
      const named = listed.value.filter(isNamed);
      if (isEnough(named)) return { status: "seen", named, all: [] };
      return isOver ? { status: "seen", named, all: listed.value } : undefined;
    }
    const isBlind = isOver || listed.status === "rejected" || ++failures >= blindAfter;
    return isBlind ? { status: "blind", failure: listed } : undefined;
  };
  return (await lookWithin(run, windowMs, look, { pauseFirst: true })) ?? { status: "aborted" };
}

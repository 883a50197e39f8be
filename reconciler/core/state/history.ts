/**
 * What the state remembers of the runs that wrote it: who applied what, when, and how it ended. Each run keeps the
 * records that changed from its beginning to the beginning of the next one, as they were before, so that an earlier
 * state can be told from the present one. Kept with the state, in whatever store that lies.
 */
import type { Address } from "../model/address";
import { addressesByIdentity, identityKeyOf } from "../model/identity";
import type { Before, Deed, Intent, RecordedResource, RecordedRun, RunEnd, RunStart } from "../model/recorded";
import { itemAt } from "../text/invariant";

/** How many runs are remembered. */
const mostRuns = 50;

/** How many former records of older runs are kept in all. Those of the last run are kept whatever their number. */
const mostFormer = 500;

export const runBegins = (runs: readonly RecordedRun[], run: RunStart): RecordedRun[] =>
  trimmed([...runs, { ...run, before: {}, did: {} }]);

export const runEnds = (runs: readonly RecordedRun[], { open, ...end }: RunEnd): RecordedRun[] => {
  const last = runs.at(-1);
  return last === undefined ? [] : [...runs.slice(0, -1), { ...last, ...end, open }];
};

/**
 * Notes the former record in the last run, in place: only the owner of the state calls this. The first value is the one
 * from before the run.
 */
export function noteFormer(
  run: RecordedRun | undefined,
  address: Address,
  former: RecordedResource | undefined,
  next: RecordedResource | null,
  open: Intent | undefined,
): void {
  if (run?.before === undefined) return;
  if (!Object.hasOwn(run.before, address)) run.before[address] = former ?? null;
  const key = identityKeyOf(next ?? former);
  const deed = deedOf(former, next, open, run.outcome === undefined);
  if (key !== undefined && deed !== undefined && run.did !== undefined) run.did[key] = deed;
}

/** That something was made or deleted is written where the create or the delete was; nobody infers it later. */
function deedOf(
  former: RecordedResource | undefined,
  next: RecordedResource | null,
  open: Intent | undefined,
  isUnderWay: boolean,
): Deed | undefined {
  if (next === null) return former?.deleting === true ? "deleted" : undefined;
  if (next.id === undefined || next.id === former?.id) return undefined;
  // A record without an id is that of a create whose answer did not say the id.
  const isMade = former === undefined ? isMadeBy(open, next.id) : former.id === undefined || isMadeBy(open, next.id);
  if (isMade) return "made";
  // What a person takes over or moves by hand between two runs is no run's doing.
  return isUnderWay ? "took" : undefined;
}

/** An id from before the create was sent is not what the create made. */
export const isMadeBy = (open: Intent | undefined, id: string): boolean =>
  open !== undefined && open.operation !== "vm.snapshot" && !open.idsBefore.includes(id);

/** Keeps the runs, oldest first. A run that does not fit any more loses its former records, and then is dropped. */
function trimmed(runs: readonly RecordedRun[]): RecordedRun[] {
  const kept = runs.slice(-mostRuns);
  let former = 0;
  let full = false;
  for (let index = kept.length - 2; index >= 0; index--) {
    const { before, did, ...run } = itemAt(kept, index);
    if (before === undefined) full = true;
    else if (!full && index < kept.length - 2) former += countFormer(before);
    full ||= former > mostFormer;
    // Only of the last run does anybody ask how it ended.
    kept[index] = full ? { ...run, open: {} } : { ...run, open: {}, before, did };
  }
  return kept;
}

const countFormer = (before: NonNullable<RecordedRun["before"]>): number =>
  Object.values(before).filter((record) => record !== null).length;

/** Addresses of one state, and what each becomes in another. */
export type Addresses = Readonly<Record<Address, Address>>;

/**
 * The runs of a state that takes records over: its own, and those of the giving state that changed these records, in the
 * order in which they began. What was before each goes along with the record.
 */
export function runsTaking(
  own: readonly RecordedRun[],
  { resources, runs: given = [] }: Remembering,
  addresses: Addresses,
): readonly RecordedRun[] {
  const brought = new Map(
    parted(given, resources, addresses).flatMap(({ run, goes }): [string, RecordedRun][] => {
      const before = movedRecords(goes, addresses);
      return Object.keys(before).length === 0 ? [] : [[run.id, { ...run, open: {}, before, brought: true }]];
    }),
  );
  // What was before each run is copied: the owner of a state adds to it in place.
  const joined = own.map((run): RecordedRun => {
    const also = brought.get(run.id);
    brought.delete(run.id);
    if (run.before === undefined) return run;
    const did = also?.did === undefined ? run.did : { ...run.did, ...also.did };
    return { ...run, before: { ...run.before, ...also?.before }, did };
  });
  if (brought.size === 0) return joined;
  const inTime = (a: RecordedRun, b: RecordedRun): number =>
    a.at === b.at ? a.number - b.number : a.at < b.at ? -1 : 1;
  // A run that came from elsewhere has the number of the one before it here, so that the state's own runs keep theirs.
  let last = 0;
  const numbered = [...joined, ...brought.values()].sort(inTime).map((run) => {
    if (run.brought === true) return { ...run, number: last };
    last = run.number;
    return run;
  });
  return trimmed(numbered);
}

/** The runs of a state that gives records away. A run that came along with them and changed nothing else goes again. */
export const runsGiving = ({ resources, runs = [] }: Remembering, addresses: Addresses): readonly RecordedRun[] =>
  parted(runs, resources, addresses).flatMap(({ run, stays }) => {
    if (run.before === undefined) return [run];
    return run.brought === true && Object.keys(stays).length === 0 ? [] : [{ ...run, before: stays }];
  });

/**
 * What was before each run, parted: of what goes along, under the address that it has now, and of the rest. What a run
 * gave another address would stay behind under its former one, for an undo to take back what the other state manages.
 */
function parted(
  runs: readonly RecordedRun[],
  resources: Remembering["resources"],
  addresses: Addresses,
): readonly Parted[] {
  let going = Object.keys(addresses).map((now) => ({ now, at: now, key: identityKeyOf(resources.get(now)) }));
  return [...runs]
    .reverse()
    .map((run): Parted => {
      const { before = {} } = run;
      const places = addressesByIdentity(Object.values(before).filter((record) => record !== null));
      const keys = new Set(going.map(({ key }) => key));
      const stays = { ...before };
      const goes: Former = {};
      going = going.map((one) => {
        const { now, at, key } = one;
        const former = before[at];
        if (former === undefined) return one;
        const from = (key === undefined ? undefined : places.get(key)) ?? at;
        const record = before[from];
        if (from === at || record === undefined) {
          delete stays[at];
          goes[now] = former;
          return { ...one, key: identityKeyOf(former) };
        }
        goes[now] = record;
        delete stays[from];
        if (former === null) delete stays[at];
        // What stays had the address, and has the former one of what goes.
        else if (!keys.has(identityKeyOf(former))) stays[from] = null;
        return { now, at: from, key };
      });
      return { run, stays, goes };
    })
    .reverse();
}

type Former = NonNullable<RecordedRun["before"]>;
interface Parted {
  readonly run: RecordedRun;
  readonly stays: Former;
  readonly goes: Former;
}

function movedRecords(before: Former, addresses: Addresses) {
  const moved: Record<Address, RecordedResource | null> = {};
  for (const [from, to] of Object.entries(addresses)) {
    const record = before[from];
    if (record !== undefined) moved[to] = record === null ? null : { ...record, address: to };
  }
  return moved;
}

export interface Remembering {
  readonly resources: ReadonlyMap<Address, RecordedResource>;
  readonly runs?: readonly RecordedRun[];
}

/** The run that a person means: by the beginning of its id, or `last`. */
export function findRun(
  runs: readonly RecordedRun[],
  named: string,
): { readonly run: RecordedRun } | { readonly candidates: readonly RecordedRun[] } {
  const last = runs.at(-1);
  if (named === "last" && last !== undefined) return { run: last };
  const found = runs.filter(({ id }) => named.length >= 4 && id.startsWith(named.toLowerCase()));
  const [only] = found;
  return only !== undefined && found.length === 1 ? { run: only } : { candidates: found };
}

/** What the state held when the run began; `undefined` when that is not remembered any more. */
export function stateBefore({ resources, runs = [] }: Remembering, id: string): Before | undefined {
  const records = new Map(resources);
  const did = new Map<string, Deed>();
  for (const run of [...runs].reverse()) {
    if (run.before === undefined) return undefined;
    for (const [address, record] of Object.entries(run.before))
      if (record === null) records.delete(address);
      else records.set(address, record);
    const had = addressesByIdentity(records.values());
    // What the state had already came to another address, which is no run's taking over.
    for (const [key, deed] of Object.entries(run.did ?? {}))
      if (!did.has(key) && !(deed === "took" && had.has(key))) did.set(key, deed);
    if (run.id === id) return { records, did };
  }
  return undefined;
}

export const recordsBefore = (state: Remembering, id: string): Before["records"] | undefined =>
  stateBefore(state, id)?.records;

/** The records at the end of the run, with the changes made by hand until the next run. */
export function recordsAfter(state: Remembering, id: string): ReadonlyMap<Address, RecordedResource> | undefined {
  const runs = state.runs ?? [];
  const index = runs.findIndex((run) => run.id === id);
  if (index < 0) return undefined;
  const next = runs[index + 1];
  return next === undefined ? state.resources : recordsBefore(state, next.id);
}

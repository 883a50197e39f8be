/**
 * The state is the fold of what became true. Invariants, cited by the tests:
 *  S1  an intent and its record never contradict: an id that an address did not have before ends the create that was open
 *      there, whether or not the line that says so was written too.
 *  S2  a serial is never used twice in one lineage.
 *  S3  folding a journal cut after any line gives a state from which the next run can go on.
 *  S4  entries of a holder whose lease was taken over (a lower epoch) count for nothing.
 *  S5  entries that are written together count together: a group of lines that was cut off counts for nothing.
 *  S6  what an address takes over is no orphan any more, by whichever way it was taken over.
 */
import type { Address } from "../model/address";
import {
  type Intent,
  type LastSeen,
  type Orphan,
  orphanKey,
  type Quarantined,
  type RecordedResource,
  type State,
  type StateChange,
  type Transfer,
} from "../model/recorded";
import { ifAny, onlyDefined } from "../text/objects";
import { isMadeBy, noteFormer, runBegins, runEnds } from "./history";

export interface JournalEntry {
  readonly serial: number;
  /** Which holder of the lock wrote the entry: the number grows with every holder. */
  readonly epoch: number;
  readonly change: StateChange;
  /** How many entries of the same group follow. Absent: it is the last, or alone. */
  readonly more?: number;
}

export interface FoldedState extends State {
  readonly epoch: number;
  /** Lines in the journal that were folded: what compaction would save. */
  readonly journalled: number;
}

export const emptyState = (lineage: string): FoldedState => ({
  lineage,
  serial: 0,
  epoch: 0,
  journalled: 0,
  resources: new Map(),
  intents: new Map(),
  orphans: new Map(),
  quarantined: [],
});

/** A damaged line keeps its place: a later entry for its address repairs it, an earlier one does not. */
export function foldEntries(snapshot: FoldedState, entries: Iterable<JournalEntry | Quarantined>): FoldedState {
  const folded = continued(snapshot);
  const { resources, intents, orphans } = folded;
  let quarantined = [...snapshot.quarantined];
  let { serial, epoch, journalled } = snapshot;
  for (const entry of entries) {
    journalled++;
    if ("problem" in entry) {
      quarantined.push(entry);
      continue;
    }
    // The snapshot has this entry already: the process died after writing the snapshot and before clearing the journal.
    if (entry.serial <= snapshot.serial) continue;
    if (entry.epoch < epoch) continue;
    epoch = entry.epoch;
    serial = Math.max(serial, entry.serial);
    applyChange(folded, entry.change);
    quarantined = stillQuarantined(quarantined, entry.change);
  }
  const { lineage } = snapshot;
  return { lineage, serial, epoch, journalled, resources, intents, orphans, quarantined, ...headOf(folded) };
}

/** What was damaged is no longer of interest once it is let go, or written anew. */
export const stillQuarantined = <Q extends readonly Quarantined[]>(
  quarantined: Q,
  change: StateChange,
): Q | Quarantined[] =>
  change.type === "release" || (change.type === "resource" && quarantined.length > 0)
    ? quarantined.filter((piece) => piece.address !== change.address)
    : quarantined;

type StateHead = Pick<State, "scope" | "outputs" | "runs" | "seen" | "moves">;

/** What a state has beside its maps. A state without one of these has no such field, rather than an empty one. */
export const headOf = ({ scope, outputs, runs, seen, moves }: StateHead): StateHead =>
  onlyDefined({
    scope,
    outputs: outputs && ifAny(outputs),
    runs: runs && ifAny(runs),
    seen,
    moves: moves && ifAny(moves),
  });

/** A copy of the state for a run that continues it: the run adds to the former records of the last one. */
export const continued = ({ resources, intents, orphans, ...head }: Omit<State, "quarantined">): MutableState => ({
  resources: new Map(resources),
  intents: new Map(intents),
  orphans: new Map(orphans),
  ...ownHeadOf(head),
});

function ownHeadOf(state: StateHead): StateHead {
  const head = headOf(state);
  const last = head.runs?.at(-1);
  if (head.runs === undefined || last?.before === undefined) return head;
  const did = last.did === undefined ? undefined : { ...last.did };
  return { ...head, runs: [...head.runs.slice(0, -1), { ...last, before: { ...last.before }, did }] };
}

export type MutableState = { -readonly [K in keyof StateHead]: StateHead[K] } & {
  readonly resources: Map<Address, RecordedResource>;
  readonly intents: Map<Address, Intent>;
  readonly orphans: Map<string, Orphan>;
};

/**
 * Changes a state in place: only the holder of the state, which owns its maps, calls this. One row for each type of
 * change.
 */
export function applyChange(state: MutableState, change: StateChange): void {
  switch (change.type) {
    case "resource":
      applyRecord(state, change.address, change.record);
      return;
    case "intent":
      putOrTake(state.intents, change.address, change.intent);
      return;
    case "orphan":
      putOrTake(state.orphans, change.key, change.orphan);
      return;
    case "scope":
      state.scope = change.scope;
      return;
    case "outputs":
      state.outputs = change.outputs;
      return;
    case "run":
      if (change.run !== undefined) state.runs = runBegins(state.runs ?? [], change.run);
      return;
    case "run_end":
      state.runs = runEnds(state.runs ?? [], change.end);
      return;
    case "seen":
      state.seen = seenAfter(state.seen, change);
      return;
    case "transfer":
      applyTransfer(state, change.id, change.transfer);
      return;
    case "runs":
      state.runs = change.runs;
      return;
    case "release":
      return;
    default:
      change satisfies never;
  }
}

/** `null` takes it away. */
function putOrTake<K, V>(all: Map<K, V>, key: K, value: V | null): void {
  if (value === null) all.delete(key);
  else all.set(key, value);
}

function applyRecord(state: MutableState, address: Address, record: RecordedResource | null): void {
  noteFormer(state.runs?.at(-1), address, state.resources.get(address), record, state.intents.get(address));
  if (record !== null) takeNewId(state, address, record);
  putOrTake(state.resources, address, record);
}

function applyTransfer(state: MutableState, id: string, transfer: Transfer | null): void {
  const { [id]: _, ...others } = state.moves ?? {};
  state.moves = transfer === null ? others : { ...others, [id]: transfer };
  if (transfer?.side === "gave") state.seen = seenWithout(state.seen, transfer.addresses);
}

/**
 * What an id means that the address did not have before. The disk may be full between the line with it and the one that
 * ends its create. An id from before the create was sent is not what the create made: a replacement is under way, and its
 * create stays open. An orphan is noted while its record still has the id, and stays one whatever else the record learns.
 */
function takeNewId({ intents, resources, orphans }: MutableState, address: Address, { kind, id }: RecordedResource) {
  if (id === undefined || resources.get(address)?.id === id) return;
  orphans.delete(orphanKey({ kind, id }));
  if (isMadeBy(intents.get(address), id)) intents.delete(address);
}

function seenWithout(seen: LastSeen | undefined, gone: Readonly<Record<Address, Address>>): LastSeen | undefined {
  if (seen?.each === undefined) return seen;
  const { each, ...rest } = seen;
  const left = Object.entries(each).filter(([address]) => !Object.hasOwn(gone, address));
  if (left.length > 0) return { ...rest, each: Object.fromEntries(left) };
  return rest.all === undefined ? undefined : rest;
}

export const seenAfter = (
  before: LastSeen | undefined,
  { at, addresses }: { readonly at: string; readonly addresses?: readonly Address[] },
): LastSeen =>
  addresses === undefined
    ? { all: at }
    : { ...before, each: { ...before?.each, ...Object.fromEntries(addresses.map((address) => [address, at])) } };

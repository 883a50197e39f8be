/**
 * What a plan may take from memory: resources that neither the file nor an interrupted run touches, and that were seen
 * not too long ago. A plan from the state alone tells which are touched, and is believed no further than that.
 */
import type { PlanOptions } from "../diff/context";
import type { Pair } from "../diff/pair";
import type { Address } from "../model/address";
import { type Live, sight } from "../model/live";
import type { LastSeen, State } from "../model/recorded";
import { calendarAge, type Instant } from "../model/time";

/** A resource that was taken from memory. */
export interface TakenFromMemory {
  readonly address: Address;
  /** ISO time of the last look. Absent: nobody knows. */
  readonly seenAt?: string;
}

const lastSeen = ({ seen }: State, address: Address): string | undefined => seen?.each?.[address] ?? seen?.all;

/** Resources that were never seen, or not for so long. */
export function tooOld(state: State, maxAgeMs: number, now: Instant): ReadonlySet<Address> {
  const old = new Set<Address>();
  for (const address of state.resources.keys()) {
    const at = lastSeen(state, address);
    // A time in the future comes from another clock, and counts as never seen.
    const age = at === undefined ? undefined : calendarAge(at, now);
    if (age === undefined || age >= maxAgeMs) old.add(address);
  }
  return old;
}

/** What a caller that plans again and again remembers beside the state. */
export interface LookMemory {
  readonly seen: LastSeen | undefined;
  /** Addresses that are looked at in any case. */
  readonly again: ReadonlySet<Address>;
  /**
   * The share of all resources that each plan looks at, those unseen for longest first: so no two plans meet many old
   * ones at once.
   */
  readonly share: number;
}

/** The state with the later of two notes for each resource of when it was seen. */
export function remembering(state: State, { seen }: LookMemory): State {
  if (seen === undefined) return state;
  const later = (one = "", other = ""): string => (one > other ? one : other);
  const each: Record<Address, string> = {};
  const known: State = { ...state, seen };
  for (const address of state.resources.keys()) {
    const at = later(lastSeen(state, address), lastSeen(known, address));
    if (at !== "") each[address] = at;
  }
  return { ...state, seen: { each } };
}

/** The resources that were not seen for longest. A resource that was never seen comes first. */
export function oldest(state: State, count: number): readonly Address[] {
  const at = (address: Address): string => lastSeen(state, address) ?? "";
  return [...state.resources.keys()]
    .sort((a, b) => (at(a) < at(b) ? -1 : at(a) > at(b) ? 1 : a < b ? -1 : 1))
    .slice(0, count);
}

export const takenFromMemory = (pairs: readonly Pair[], state: State, live: Live): TakenFromMemory[] =>
  pairs.flatMap(({ kind, address, recorded }) => {
    if (recorded?.id === undefined || sight(live, kind, recorded.id).seen !== "unobserved") return [];
    const seenAt = lastSeen(state, address);
    return [{ address, seenAt }];
  });

/** The resources that were seen, and when. */
export interface Sightings {
  readonly at: string;
  /** Absent: everything that is recorded. */
  readonly addresses?: readonly Address[];
  /** Some of them had not been seen for too long: the note is worth a write of its own. */
  readonly isDue: boolean;
}

export function sightingsIn(state: State, live: Live, { maxAgeMs }: PlanOptions, now: Instant): Sightings | undefined {
  const addresses: Address[] = [];
  for (const { kind, id, address } of state.resources.values())
    if (id !== undefined && sight(live, kind, id).seen === "yes") addresses.push(address);
  if (addresses.length === 0) return undefined;
  const old = maxAgeMs === undefined ? new Set<Address>() : tooOld(state, maxAgeMs, now);
  return {
    at: now,
    addresses: addresses.length === state.resources.size ? undefined : addresses,
    isDue: addresses.some((address) => old.has(address)),
  };
}

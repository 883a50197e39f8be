/**
 * What a plan may take as it was seen last: what neither the file nor an interrupted run touches, and was seen not too
 * long ago. A plan from the state alone says what is touched; nothing of it is believed further than that.
 */
import type { PlanOptions } from "../diff/context";
import type { Pair } from "../diff/pair";
import type { Address } from "../model/address";
import { type Live, sight } from "../model/live";
import type { LastSeen, State } from "../model/recorded";

/** Taken as it was seen last. */
export interface Remembered {
  readonly address: Address;
  /** ISO time; absent: nobody knows. */
  readonly seenAt?: string;
}

export const lastSeen = ({ seen }: State, address: Address): string | undefined => seen?.each?.[address] ?? seen?.all;

/** What was never seen, or not for so long. */
export function tooOld(state: State, maxAgeMs: number, now: number): ReadonlySet<Address> {
  const old = new Set<Address>();
  for (const address of state.resources.keys()) {
    const at = lastSeen(state, address);
    // A time to come is of another clock, and says nothing.
    if (at === undefined || !(Date.parse(at) <= now && now - Date.parse(at) < maxAgeMs)) old.add(address);
  }
  return old;
}

/** Of somebody who plans again and again, beside what the state keeps. */
export interface LookMemory {
  readonly seen: LastSeen | undefined;
  /** These are looked at in any case. */
  readonly again: ReadonlySet<Address>;
  /** So much of everything, what was not seen for longest first: so nothing gets too old at one time with much else. */
  readonly share: number;
}

/** The state with whichever is the later note of when things were seen. */
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

/** What was not seen for longest; what was never seen comes first. */
export function oldest(state: State, count: number): readonly Address[] {
  const at = (address: Address): string => lastSeen(state, address) ?? "";
  return [...state.resources.keys()]
    .sort((a, b) => (at(a) < at(b) ? -1 : at(a) > at(b) ? 1 : a < b ? -1 : 1))
    .slice(0, count);
}

export function takenFromMemory(pairs: readonly Pair[], state: State, live: Live): Remembered[] {
  return pairs.flatMap(({ kind, address, recorded }) => {
    if (recorded?.id === undefined || sight[kind](live, recorded.id).seen !== "unobserved") return [];
    const seenAt = lastSeen(state, address);
    return [{ address, ...(seenAt === undefined ? {} : { seenAt }) }];
  });
}

/** What was seen, and when. */
export interface Sightings {
  readonly at: string;
  /** Absent: everything that is recorded. */
  readonly addresses?: readonly Address[];
  /** Some of it had not been seen for too long: worth to be written down, whatever else there is to do. */
  readonly isDue: boolean;
}

export function sightingsIn(state: State, live: Live, { maxAgeMs }: PlanOptions, now: number): Sightings | undefined {
  if (maxAgeMs === undefined && state.seen === undefined) return undefined;
  const addresses: Address[] = [];
  for (const { kind, id, address } of state.resources.values())
    if (id !== undefined && sight[kind](live, id).seen === "yes") addresses.push(address);
  if (addresses.length === 0) return undefined;
  const old = maxAgeMs === undefined ? new Set<Address>() : tooOld(state, maxAgeMs, now);
  return {
    at: new Date(now).toISOString(),
    ...(addresses.length === state.resources.size ? {} : { addresses }),
    isDue: addresses.some((address) => old.has(address)),
  };
}

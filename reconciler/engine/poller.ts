/**
 * Everybody who waits for a VM shares one list: while anyone waits, one poll is under way at a time, and nobody holds
 * a request slot meanwhile. A list that was asked for before a wait began says nothing about it. Where few wait beside a
 * long list, each VM is read by its id instead. When the next look is due, and which one it is, is core/schedule/pace.ts.
 */

import { usualListCost } from "../core/model/list-cost";
import type { LiveVm } from "../core/model/live";
import { accepted, type Failure, isGone, type Outcome } from "../core/model/outcome";
import {
  cheaperLook,
  mayBeLate,
  mayLookSoon,
  notBefore,
  patienceFor,
  togetherAt,
  untilNextLook,
} from "../core/schedule/pace";
import { isWindowOver, lookedAgain, openWindow, type Window } from "../core/schedule/window";
import { groupedBy } from "../core/text/objects";
import { onAbort } from "../service/abort-listeners";
import type { ServiceReader } from "../service/client";
import type { Clock } from "../service/clock";

/** The VMs of one poll, by id and by name, so that ten thousand waits for a name need not each walk the list. */
export interface SeenVms {
  readonly byId: ReadonlyMap<string, LiveVm>;
  /** By the name in lower case. */
  named(name: string): readonly LiveVm[];
}

/** `undefined`: keep waiting. */
export type WaitUntil<T> = (seen: SeenVms) => T | undefined;

export type Waited<T> =
  | { readonly ended: "found"; readonly value: T }
  | { readonly ended: "timeout" }
  | { readonly ended: "aborted" }
  | { readonly ended: "blind"; readonly failure: Failure };

export interface Poller {
  /** `ids`: what to look at one by one where there is no list. */
  watch<T>(look: WaitUntil<T>, timeoutMs: number, ids: readonly string[], options?: WatchOptions): Promise<Waited<T>>;
}

export interface WatchOptions {
  readonly signal?: AbortSignal;
  /** The kind of the wait, where an early look can tell: the time it took is remembered for the next one. */
  readonly soon?: string;
}

interface PollWatcher {
  readonly look: WaitUntil<unknown>;
  readonly ids: readonly string[];
  readonly since: number;
  readonly from: number;
  readonly soon?: string;
  /** Its limit, counted over the looks that told it of anything. */
  window: Window;
  /** When the last look that told of it had ended; before the first one, when the wait began. */
  lookedAt: number;
  /** A look has told of it, and it was not there yet. */
  missed: boolean;
  leave?: () => void;
  readonly settle: (waited: Waited<unknown>) => void;
  readonly fail: (error: unknown) => void;
}

/** Resources come one after another, out of step, in place of everything that one run makes, all at once. */
export interface ByAndBy {
  /** When something was last under way that another wait may follow. */
  busyAt(): number;
}

interface PollLook {
  readonly seen: Outcome<SeenVms>;
  /** Whom it tells anything. */
  readonly told: "all" | readonly PollWatcher[];
  readonly requests: number;
  /** Of a list. */
  readonly pages?: number;
}

/** So many failed looks in a row, and those who wait are told that nobody can see. */
export const blindAfter = 10;

export function createPoller(
  client: ServiceReader,
  clock: Clock,
  intervalMs: number,
  apart: (work: () => Promise<void>) => Promise<void> = (work) => work(),
  byAndBy?: ByAndBy,
): Poller {
  const watchers = new Set<PollWatcher>();
  /** How long the last wait of each kind took. */
  const took = new Map<string, number>();
  const looks = { made: 0, requests: 0, early: 0, activeMs: 0, waits: 0 };
  let turn = 0;
  let running = false;
  let failures = 0;
  let last = { askedAt: Number.NEGATIVE_INFINITY, tookMs: 0, pages: 1 };
  let joinedAt = Number.NEGATIVE_INFINITY;
  let wakeUp: ((joined: PollWatcher) => void) | undefined;
  const idsOf = (some: Iterable<PollWatcher>): Set<string> => new Set([...some].flatMap(({ ids }) => ids));

  /** What tells all who wait, by the fewest requests. */
  function nextLook(): "list" | "each" {
    if (client.can.seesVms !== "list") return "each";
    if (!client.can.readsOneVm) return "list";
    const byName = [...watchers].some(({ ids }) => ids.length === 0);
    return cheaperLook({ byName, ids: idsOf(watchers).size }, { pages: last.pages, ...listCost() });
  }

  /** A look that costs much, because the list is long, is not repeated at once. */
  function dueAt({ from, soon, since, lookedAt }: PollWatcher, kind: "list" | "each"): number {
    const tookMs = soon === undefined ? undefined : took.get(soon);
    const mayBeSoon = soon !== undefined && mayLookSoon(looks, intervalMs);
    const waiting = { waitedMs: lookedAt - from, mayBeSoon, tookMs };
    const gap = Math.max(untilNextLook(waiting, intervalMs), Math.min(4 * last.tookMs, intervalMs));
    if (byAndBy === undefined) return lookedAt + gap;
    const patience = kind === "each" ? 1 : patienceFor(looks);
    const late = lookedAt + Math.max(gap, mayBeLate(tookMs, intervalMs, patience));
    const shared = Math.max(late, from + notBefore(tookMs, intervalMs));
    if (kind === "each" || since !== turn) return shared;
    const quietSince = Math.max(joinedAt, byAndBy.busyAt());
    return Math.max(shared, togetherAt({ ...last, waitsSince: from, quietSince, patience }, intervalMs));
  }

  function firstDue(): number {
    const kind = nextLook();
    return Math.min(...[...watchers].map((watcher) => dueAt(watcher, kind)));
  }

  /** Until the first look that somebody who waits is due, or who joins meanwhile. */
  async function pause(): Promise<void> {
    for (let due = firstDue(); ; ) {
      const left = due - clock.now();
      if (left <= 0 || watchers.size === 0) return;
      const cut = new AbortController();
      const joined = new Promise<PollWatcher>((resolve) => {
        wakeUp = resolve;
      });
      const first = await Promise.race([joined, clock.sleep(left, cut.signal)]);
      cut.abort();
      wakeUp = undefined;
      // Who comes by and by may put a shared look off; a run that makes thousands at once asks the newcomer alone.
      if (byAndBy !== undefined) due = firstDue();
      else if (first !== undefined) due = Math.min(due, dueAt(first, "list"));
    }
  }

  async function poll(): Promise<void> {
    running = true;
    while (watchers.size > 0) {
      const since = clock.now();
      await pause();
      looks.activeMs += clock.now() - since;
      if (watchers.size === 0) break;
      const asked = turn++;
      const askedAt = clock.now();
      const { seen, told, requests, pages = last.pages } = await look(askedAt);
      const endedAt = clock.now();
      last = { askedAt, tookMs: endedAt - askedAt, pages };
      looks.activeMs += last.tookMs;
      looks.made++;
      looks.requests += requests;
      let isEarly = false;
      if (seen.status === "accepted") failures = 0;
      else failures++;
      for (const watcher of told === "all" ? [...watchers] : told) {
        if (!watchers.has(watcher)) continue;
        watcher.lookedAt = endedAt;
        watcher.window = lookedAgain(watcher.window, askedAt);
        const waited = endOf(watcher, seen, asked);
        if (waited === undefined) {
          watcher.missed ||= watcher.since <= asked;
          continue;
        }
        if (waited.ended === "found") {
          const tookMs = askedAt - watcher.from;
          // What the first look shows may have been there for a while.
          if (watcher.soon !== undefined) took.set(watcher.soon, watcher.missed ? tookMs : (7 / 8) * tookMs);
          isEarly ||= askedAt - watcher.from < intervalMs;
        }
        finish(watcher, waited);
      }
      if (isEarly) looks.early++;
    }
    running = false;
  }

  /** How a wait ends with what was just seen; `undefined`: it goes on. */
  function endOf(watcher: PollWatcher, seen: Outcome<SeenVms>, asked: number): Waited<unknown> | undefined {
    const over = isWindowOver(watcher.window);
    if (seen.status !== "accepted") {
      const isBlind = over || seen.status === "rejected" || failures >= blindAfter;
      return isBlind ? { ended: "blind", failure: seen } : undefined;
    }
    // A list that was asked for before the wait began proves nothing, neither that it shows nor that it does not.
    if (watcher.since > asked) return undefined;
    const value = watcher.look(seen.value);
    if (value !== undefined) return { ended: "found", value };
    return over ? { ended: "timeout" } : undefined;
  }

  async function look(now: number): Promise<PollLook> {
    const kind = nextLook();
    if (kind === "each") {
      const told = [...watchers].filter((watcher) => dueAt(watcher, kind) <= now);
      const ids = idsOf(told);
      const seen = await readEach(ids);
      // What may not be read by itself may still be listed.
      if (seen.status === "accepted" || client.can.seesVms !== "list") return { seen, told, requests: ids.size };
    }
    const listed = await client.listVms();
    if (listed.status !== "accepted") return { seen: listed, told: "all", requests: 1 };
    const pages = Math.max(1, Math.ceil(listed.value.length / listCost().pageItems));
    return {
      seen: accepted(seenVmsOf(new Map(listed.value.map((vm) => [vm.id, vm])))),
      told: "all",
      pages,
      requests: pages,
    };
  }

  async function readEach(ids: ReadonlySet<string>): Promise<Outcome<SeenVms>> {
    const vms = new Map<string, LiveVm>();
    for (const outcome of await Promise.all([...ids].map((id) => client.getVm(id)))) {
      if (outcome.status === "accepted") vms.set(outcome.value.id, outcome.value);
      else if (!isGone(outcome)) return outcome;
    }
    return accepted(seenVmsOf(vms));
  }

  const listCost = () => client.listCost?.("vm") ?? usualListCost;

  function finish(watcher: PollWatcher, waited: Waited<unknown>): void {
    leave(watcher);
    watcher.settle(waited);
  }

  function leave(watcher: PollWatcher): void {
    watchers.delete(watcher);
    watcher.leave?.();
  }

  /** A look that throws tells nobody anything: each that waits ends with what was thrown, and nobody waits for ever. */
  function breakOff(error: unknown): void {
    running = false;
    for (const watcher of [...watchers]) {
      leave(watcher);
      watcher.fail(error);
    }
  }

  return {
    watch<T>(look: WaitUntil<T>, timeoutMs: number, ids: readonly string[], { signal, soon }: WatchOptions = {}) {
      return new Promise<Waited<T>>((resolve, reject) => {
        if (signal?.aborted === true) return resolve({ ended: "aborted" });
        const now = clock.now();
        joinedAt = now;
        const watcher: PollWatcher = {
          look,
          ids,
          since: turn,
          from: now,
          lookedAt: now,
          missed: false,
          window: openWindow(timeoutMs, now),
          soon,
          // `look` is the only source of the value, and it gives a `T`.
          settle: resolve as (waited: Waited<unknown>) => void,
          fail: reject,
        };
        watchers.add(watcher);
        looks.waits++;
        if (signal !== undefined) watcher.leave = onAbort(signal, () => finish(watcher, { ended: "aborted" }));
        if (running) wakeUp?.(watcher);
        else apart(poll).catch(breakOff);
      });
    },
  };
}

function seenVmsOf(byId: ReadonlyMap<string, LiveVm>): SeenVms {
  let byName: Map<string, LiveVm[]> | undefined;
  return {
    byId,
    named(name) {
      byName ??= indexByName(byId.values());
      return byName.get(name) ?? [];
    },
  };
}

function indexByName(vms: Iterable<LiveVm>): Map<string, LiveVm[]> {
  const byName = groupedBy(vms, (vm) => vm.name.toLowerCase());
  return byName;
}

/**
 * Everybody who waits for a VM shares one list: while anyone waits, one poll is under way at a time, and nobody holds
 * a request slot meanwhile. A list that was asked for before a wait began says nothing about it. Where few wait beside a
 * long list, each VM is read by its id instead. When the next look is due, and which one it is, is core/schedule/pace.ts.
 */

import { usualListCost } from "../core/model/list-cost";
import type { LiveVm } from "../core/model/live";
import { accepted, type Failure, isGone, type Outcome } from "../core/model/outcome";
import type { Elapsed } from "../core/model/time";
import {
  type Costs,
  cheaperLook,
  costsMuch,
  type Ended,
  lastTime,
  mayBeLate,
  mayLookSoon,
  mayTry,
  notBefore,
  patienceFor,
  togetherAt,
  tryAfter,
  untilNextLook,
  usualTime,
} from "../core/schedule/pace";
import { isWindowOver, lookedAgain, openWindow, type Window } from "../core/schedule/window";
import { itemAt } from "../core/text/invariant";
import { groupedBy, leastOf, mostOf } from "../core/text/objects";
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
export type WaitUntil<T> = (seen: SeenVms, askedAt: Elapsed) => T | undefined;

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
  /** The kind of the wait that follows for what is found: where looks have cost much, one look serves both. */
  readonly leadsTo?: string;
  /** When that which is waited for began, where that was before the wait. */
  readonly begunAt?: number;
}

interface PollWatcher {
  readonly look: WaitUntil<unknown>;
  readonly ids: readonly string[];
  readonly since: number;
  readonly from: number;
  readonly soon?: string;
  readonly leadsTo?: string;
  /** Its limit, counted over the looks that told it of anything. */
  window: Window;
  /** When the last look that told of it had ended; before the first one, when the wait began. */
  lookedAt: number;
  /** How long it had waited when a look told last that it was not there yet. */
  missedMs: number;
  /** How many looks in a row have failed for it. */
  failures: number;
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
  /** Of VMs that were read one by one, by their id: it tells nothing of the others. */
  readonly failed?: ReadonlyMap<string, Failure>;
  /** Whom it tells anything. */
  readonly told: "all" | readonly PollWatcher[];
  readonly requests: number;
  /** Of a list. */
  readonly pages?: number;
}

/** So many looks in a row that failed for one who waits, and that one is told that nobody can see. */
export const blindAfter = 10;

export function createPoller(
  client: ServiceReader,
  clock: Clock,
  intervalMs: number,
  apart: (work: () => Promise<void>) => Promise<void> = (work) => work(),
  byAndBy?: ByAndBy,
): Poller {
  const watchers = new Set<PollWatcher>();
  /** How long waits of each kind take, and how many looks have shown the end of some. */
  const usual = new Map<string, { readonly tookMs: number; readonly looks: number }>();
  const looks = { made: 0, requests: 0, early: 0, activeMs: 0, waits: 0 };
  let turn = 0;
  let running = false;
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

  const usualMs = (kind: string | undefined): number | undefined =>
    kind === undefined ? undefined : usual.get(kind)?.tookMs;

  const costsOf = (kind: "list" | "each"): Costs =>
    byAndBy === undefined || kind === "each"
      ? { pages: 1, patience: 1 }
      : { pages: last.pages, patience: patienceFor(looks) };

  /** Of what it is looked at together with, where that follows and looks have cost much. */
  const wholeKind = ({ soon, leadsTo }: PollWatcher, costs: Costs): string | undefined =>
    leadsTo !== undefined && costsMuch(costs) ? leadsTo : soon;

  /** A look that costs much, because the list is long, is not repeated at once. */
  function dueAt(watcher: PollWatcher, kind: "list" | "each"): number {
    const { from, soon, since, lookedAt } = watcher;
    const mayBeSoon = soon !== undefined && mayLookSoon(looks, intervalMs);
    const waiting = { waitedMs: lookedAt - from, mayBeSoon, tookMs: usualMs(soon) };
    const gap = Math.max(untilNextLook(waiting, intervalMs), Math.min(4 * last.tookMs, intervalMs));
    if (byAndBy === undefined) return lookedAt + gap;
    const costs = costsOf(kind);
    const { patience } = costs;
    const whole = wholeKind(watcher, costs);
    const wholeMs = usualMs(whole);
    const usualEnd = from + notBefore(wholeMs, intervalMs);
    const isFirst = since === turn;
    if (!isFirst && usualEnd > lookedAt) return Math.max(lookedAt + gap, usualEnd);
    const late = lookedAt + Math.max(gap, mayBeLate(wholeMs, intervalMs, patience));
    if (!isFirst) return Math.max(lookedAt + gap, Math.min(late, lookedAt + mayBeLate(wholeMs, intervalMs, 2)));
    const tries = mayTry(usual.get(whole ?? "")?.looks ?? 0, patience) && wholeMs !== undefined;
    const shared = Math.max(late, tries ? from + notBefore(tryAfter * wholeMs, intervalMs) : usualEnd);
    if (kind === "each") return shared;
    const quietSince = Math.max(joinedAt, byAndBy.busyAt());
    return Math.max(shared, togetherAt({ ...last, waitsSince: lookedAt, quietSince, patience }, intervalMs));
  }

  /** A look that costs much is put off for those whose usual end comes soon, so that those out of step come together. */
  function firstDue(): number {
    const kind = nextLook();
    const costs = costsOf(kind);
    const dues = [...watchers].map((watcher) => dueAt(watcher, kind));
    const first = leastOf(dues);
    if (!costsMuch(costs)) return first;
    const until = [...watchers].map((watcher, index) => {
      const wholeMs = usualMs(wholeKind(watcher, costs));
      const usualEnd = watcher.from + notBefore(wholeMs, intervalMs);
      return Math.max(itemAt(dues, index), usualEnd + mayBeLate(wholeMs, intervalMs, costs.patience));
    });
    const latest = leastOf(until);
    return mostOf(dues.filter((due) => due <= latest));
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
      const { seen, failed, told, requests, pages = last.pages } = await look(askedAt);
      const endedAt = clock.now();
      last = { askedAt, tookMs: endedAt - askedAt, pages };
      looks.activeMs += last.tookMs;
      looks.made++;
      looks.requests += requests;
      const found: PollWatcher[] = [];
      for (const watcher of told === "all" ? [...watchers] : told) {
        if (!watchers.has(watcher)) continue;
        watcher.lookedAt = endedAt;
        watcher.window = lookedAgain(watcher.window, askedAt);
        const [unread] = watcher.ids.flatMap((id) => failed?.get(id) ?? []);
        const answer = unread ?? seen;
        watcher.failures = answer.status === "accepted" ? 0 : watcher.failures + 1;
        const waited = endOf(watcher, answer, asked, askedAt);
        if (waited === undefined) {
          if (watcher.since <= asked) watcher.missedMs = askedAt - watcher.from;
          continue;
        }
        if (waited.ended === "found") found.push(watcher);
        finish(watcher, waited);
      }
      if (found.some(({ from }) => askedAt - from < intervalMs)) looks.early++;
      noteTimes(found, askedAt);
    }
    running = false;
  }

  /** How long waits take, as a look has shown that ended some. */
  function noteTimes(found: readonly PollWatcher[], askedAt: number): void {
    const ended = new Map<string, Ended[]>();
    for (const { from, soon, leadsTo, missedMs } of found) {
      const tookMs = askedAt - from;
      // A look that was put off for what follows may have shown the end of that as well.
      const isBoth = byAndBy !== undefined && tookMs >= tryAfter * (usualMs(leadsTo) ?? Number.POSITIVE_INFINITY);
      for (const kind of isBoth ? [soon, leadsTo] : [soon]) {
        if (kind === undefined) continue;
        const missed = missedMs >= (byAndBy === undefined ? 0 : (usualMs(kind) ?? Number.POSITIVE_INFINITY));
        ended.set(kind, [...(ended.get(kind) ?? []), { tookMs, missed }]);
      }
    }
    for (const [kind, some] of ended) {
      const tookMs = byAndBy === undefined ? lastTime(some) : usualTime(usualMs(kind), some);
      usual.set(kind, { tookMs, looks: (usual.get(kind)?.looks ?? 0) + 1 });
    }
  }

  /** How a wait ends with what was just seen; `undefined`: it goes on. */
  function endOf(
    watcher: PollWatcher,
    seen: Outcome<SeenVms>,
    asked: number,
    askedAt: Elapsed,
  ): Waited<unknown> | undefined {
    const over = isWindowOver(watcher.window);
    if (seen.status !== "accepted") {
      const isBlind = over || seen.status === "rejected" || watcher.failures >= blindAfter;
      return isBlind ? { ended: "blind", failure: seen } : undefined;
    }
    // A list that was asked for before the wait began proves nothing, neither that it shows nor that it does not.
    if (watcher.since > asked) return undefined;
    const value = watcher.look(seen.value, askedAt);
    if (value !== undefined) return { ended: "found", value };
    return over ? { ended: "timeout" } : undefined;
  }

  async function look(now: number): Promise<PollLook> {
    const kind = nextLook();
    if (kind === "each") {
      const told = [...watchers].filter((watcher) => dueAt(watcher, kind) <= now);
      const ids = idsOf(told);
      const read = await readEach(ids);
      // What may not be read by itself may still be listed.
      if (read.failed === undefined || client.can.seesVms !== "list") return { ...read, told, requests: ids.size };
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

  async function readEach(ids: ReadonlySet<string>): Promise<Pick<PollLook, "seen" | "failed">> {
    const vms = new Map<string, LiveVm>();
    const failed = new Map<string, Failure>();
    const read = async (id: string): Promise<void> => {
      const outcome = await client.getVm(id);
      if (outcome.status === "accepted") vms.set(outcome.value.id, outcome.value);
      else if (!isGone(outcome)) failed.set(id, outcome);
    };
    await Promise.all([...ids].map(read));
    return { seen: accepted(seenVmsOf(vms)), ...(failed.size === 0 ? {} : { failed }) };
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
    watch<T>(look: WaitUntil<T>, timeoutMs: number, ids: readonly string[], options: WatchOptions = {}) {
      const { signal, soon, leadsTo, begunAt } = options;
      return new Promise<Waited<T>>((resolve, reject) => {
        if (signal?.aborted === true) return resolve({ ended: "aborted" });
        const now = clock.now();
        joinedAt = now;
        const watcher: PollWatcher = {
          look,
          ids,
          since: turn,
          from: byAndBy === undefined ? now : (begunAt ?? now),
          lookedAt: now,
          missedMs: begunAt === undefined ? Number.NEGATIVE_INFINITY : now - begunAt,
          failures: 0,
          window: openWindow(timeoutMs, now),
          soon,
          leadsTo,
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

const indexByName = (vms: Iterable<LiveVm>): Map<string, LiveVm[]> => groupedBy(vms, (vm) => vm.name.toLowerCase());

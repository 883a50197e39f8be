/**
 * Everybody who waits for a VM shares one list: while anyone waits, one poll is under way at a time, and nobody holds
 * a request slot meanwhile. A list that was asked for before a wait began says nothing about it. When the next look is
 * due is core/schedule/pace.ts.
 */
import { usualListCost } from "../core/model/list-cost";
import type { LiveVm } from "../core/model/live";
import type { Failure, Outcome } from "../core/model/outcome";
import { mayBeLate, mayLookSoon, togetherAfter, untilNextLook } from "../core/schedule/pace";
import { onAbort } from "../service/abort-listeners";
import type { ServiceClient } from "../service/client";
import type { Clock } from "./ports";

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

interface Watcher {
  readonly look: WaitUntil<unknown>;
  readonly ids: readonly string[];
  readonly since: number;
  readonly from: number;
  readonly deadline: number;
  readonly soon?: string;
  leave?: () => void;
  readonly settle: (waited: Waited<unknown>) => void;
}

/** Who waits: everything that one run makes, all at once; or resources that come one after another, out of step. */
export type Waits = "at-once" | "by-and-by";

/** So many failed looks in a row, and those who wait are told that nobody can see. */
export const blindAfter = 10;

export function createPoller(
  client: ServiceClient,
  clock: Clock,
  intervalMs: number,
  apart: (work: () => Promise<void>) => Promise<void> = (work) => work(),
  waits: Waits = "at-once",
): Poller {
  const watchers = new Set<Watcher>();
  /** How long the last wait of each kind took. */
  const took = new Map<string, number>();
  const looks = { made: 0, early: 0, activeMs: 0 };
  let turn = 0;
  let running = false;
  let failures = 0;
  let last = { askedAt: Number.NEGATIVE_INFINITY, tookMs: 0, pages: 1 };
  let wakeUp: ((joined: Watcher) => void) | undefined;

  /** A look that costs much, because the list is long, is not repeated at once. */
  function gapFor({ from, soon, since }: Watcher, now: number): number {
    const tookMs = soon === undefined ? undefined : took.get(soon);
    const mayBeSoon = soon !== undefined && mayLookSoon(looks, intervalMs);
    const waiting = { waitedMs: now - from, mayBeSoon, ...(tookMs === undefined ? {} : { tookMs }) };
    const gap = Math.max(untilNextLook(waiting, intervalMs), Math.min(4 * last.tookMs, intervalMs));
    if (waits === "at-once") return gap;
    const together = since === turn ? last.askedAt + togetherAfter(last.pages, intervalMs) - now : 0;
    return Math.max(gap, together, mayBeLate(tookMs, intervalMs));
  }

  /** Until the first look that somebody who waits is due, or who joins meanwhile. */
  async function pause(since: number): Promise<void> {
    let dueAt = since + Math.min(...[...watchers].map((watcher) => gapFor(watcher, since)));
    for (;;) {
      const left = dueAt - clock.now();
      if (left <= 0) return;
      const cut = new AbortController();
      const joined = new Promise<Watcher>((resolve) => {
        wakeUp = resolve;
      });
      const first = await Promise.race([joined, clock.sleep(left, cut.signal)]);
      cut.abort();
      wakeUp = undefined;
      if (first === undefined) return;
      dueAt = Math.min(dueAt, clock.now() + gapFor(first, clock.now()));
    }
  }

  async function poll(): Promise<void> {
    running = true;
    for (let since = clock.now(); watchers.size > 0; since = clock.now()) {
      await pause(since);
      looks.activeMs += clock.now() - since;
      if (watchers.size === 0) break;
      const asked = turn++;
      const askedAt = clock.now();
      const seen = await look();
      last = { askedAt, tookMs: clock.now() - askedAt, pages: seen.status === "accepted" ? pagesOf(seen.value) : 1 };
      looks.activeMs += last.tookMs;
      looks.made++;
      let isEarly = false;
      if (seen.status === "accepted") failures = 0;
      else failures++;
      for (const watcher of [...watchers]) {
        const waited = endOf(watcher, seen, asked, askedAt);
        if (waited === undefined) continue;
        if (waited.ended === "found") {
          if (watcher.soon !== undefined) took.set(watcher.soon, askedAt - watcher.from);
          isEarly ||= askedAt - watcher.from < intervalMs;
        }
        finish(watcher, waited);
      }
      if (isEarly) looks.early++;
    }
    running = false;
  }

  /** How a wait ends with what was just seen; `undefined`: it goes on. */
  function endOf(
    watcher: Watcher,
    seen: Outcome<SeenVms>,
    asked: number,
    askedAt: number,
  ): Waited<unknown> | undefined {
    const isOver = askedAt >= watcher.deadline;
    if (seen.status !== "accepted") {
      const isBlind = isOver || seen.status === "rejected" || failures >= blindAfter;
      return isBlind ? { ended: "blind", failure: seen } : undefined;
    }
    // A list that was asked for before the wait began proves nothing, neither that it shows nor that it does not.
    if (watcher.since > asked) return undefined;
    const value = watcher.look(seen.value);
    if (value !== undefined) return { ended: "found", value };
    return isOver ? { ended: "timeout" } : undefined;
  }

  async function look(): Promise<Outcome<SeenVms>> {
    const vms = new Map<string, LiveVm>();
    if (client.can.seesVms === "list") {
      const listed = await client.listVms();
      if (listed.status !== "accepted") return listed;
      for (const vm of listed.value) vms.set(vm.id, vm);
      return { status: "accepted" as const, value: seenOf(vms) };
    }
    const ids = new Set([...watchers].flatMap((watcher) => watcher.ids));
    for (const outcome of await Promise.all([...ids].map((id) => client.getVm(id)))) {
      if (outcome.status === "accepted") vms.set(outcome.value.id, outcome.value);
      else if (!(outcome.status === "rejected" && outcome.condition === "not_found")) return outcome;
    }
    return { status: "accepted" as const, value: seenOf(vms) };
  }

  const pagesOf = ({ byId }: SeenVms): number =>
    client.can.seesVms === "list" ? Math.ceil(byId.size / (client.listCost?.("vm") ?? usualListCost).pageItems) : 1;

  function finish(watcher: Watcher, waited: Waited<unknown>): void {
    watchers.delete(watcher);
    watcher.leave?.();
    watcher.settle(waited);
  }

  return {
    watch<T>(look: WaitUntil<T>, timeoutMs: number, ids: readonly string[], { signal, soon }: WatchOptions = {}) {
      return new Promise<Waited<T>>((resolve) => {
        if (signal?.aborted === true) return resolve({ ended: "aborted" });
        const watcher: Watcher = {
          look,
          ids,
          since: turn,
          from: clock.now(),
          deadline: clock.now() + timeoutMs,
          ...(soon === undefined ? {} : { soon }),
          // `look` is the only source of the value, and it gives a `T`.
          settle: resolve as (waited: Waited<unknown>) => void,
        };
        watchers.add(watcher);
        if (signal !== undefined) watcher.leave = onAbort(signal, () => finish(watcher, { ended: "aborted" }));
        if (running) wakeUp?.(watcher);
        else void apart(poll);
      });
    },
  };
}

function seenOf(byId: ReadonlyMap<string, LiveVm>): SeenVms {
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
  const byName = new Map<string, LiveVm[]>();
  for (const vm of vms) {
    const name = vm.name.toLowerCase();
    const same = byName.get(name);
    if (same === undefined) byName.set(name, [vm]);
    else same.push(vm);
  }
  return byName;
}

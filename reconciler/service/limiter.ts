/**
 * The slots that requests wait for: the most important first, as many at once as concurrency.ts allows, none while the
 * service asked for a pause. Waiting for a state or for the next try is not a request and holds no slot.
 */
import { itemAt } from "../core/text/invariant";
import { onAbort } from "./abort-listeners";

import type { Clock } from "./clock";
import { adjustConcurrency, type Sample, startConcurrency } from "./concurrency";

export interface Limiter {
  /** Whether a slot was given; `false` when the signal fired first. A slot must be given back. */
  acquire(priority: number, signal?: AbortSignal): boolean | Promise<boolean>;
  release(): void;
  observe(sample: Sample): void;
  /** No request is started before that time. */
  pauseFor(ms: number): void;
  readonly limit: number;
}

interface LimitWaiter {
  readonly priority: number;
  readonly order: number;
  readonly give: (given: boolean) => void;
  leave?: () => void;
  gone: boolean;
}

/** `perSecond`: what the service bears; requests then begin evenly spread. */
export function createLimiter(allowed: number, clock: Clock, perSecond = Number.POSITIVE_INFINITY): Limiter {
  let concurrency = startConcurrency(allowed);
  let inUse = 0;
  let order = 0;
  let pausedUntil = Number.NEGATIVE_INFINITY;
  let waking = false;
  const queue: LimitWaiter[] = [];

  const begin = () => {
    inUse += 1;
    if (perSecond !== Number.POSITIVE_INFINITY) pausedUntil = Math.max(pausedUntil, clock.now() + 1000 / perSecond);
  };
  const isFree = () => inUse < Math.floor(concurrency.limit) && clock.now() >= pausedUntil;

  function grant(): void {
    while (queue.length > 0 && isFree()) {
      // The queue was just seen not to be empty.
      const waiter = takeFirst(queue)!;
      if (waiter.gone) continue;
      begin();
      waiter.leave?.();
      waiter.give(true);
    }
    if (queue.length > 0 && clock.now() < pausedUntil) wakeAfterPause();
  }

  function wakeAfterPause(): void {
    if (waking) return;
    waking = true;
    void clock.sleep(Math.max(1, Math.ceil(pausedUntil - clock.now()))).then(() => {
      waking = false;
      grant();
    });
  }

  return {
    acquire(priority, signal) {
      if (signal?.aborted === true) return false;
      if (queue.length === 0 && isFree()) {
        begin();
        return true;
      }
      return new Promise((resolve) => {
        const waiter: LimitWaiter = { priority, order: order++, give: resolve, gone: false };
        if (signal !== undefined)
          waiter.leave = onAbort(signal, () => {
            waiter.gone = true;
            resolve(false);
          });
        addWaiter(queue, waiter);
        grant();
      });
    },
    release() {
      inUse -= 1;
      grant();
    },
    observe(sample) {
      concurrency = adjustConcurrency(concurrency, sample);
      grant();
    },
    pauseFor(ms) {
      pausedUntil = Math.max(pausedUntil, clock.now() + ms);
    },
    get limit() {
      return Math.floor(concurrency.limit);
    },
  };
}

/** A binary heap: ten thousand requests may wait at once, and each must not cost a walk over the others. */
const comesFirst = (a: LimitWaiter, b: LimitWaiter): boolean =>
  a.priority > b.priority || (a.priority === b.priority && a.order < b.order);

function addWaiter(heap: LimitWaiter[], waiter: LimitWaiter): void {
  let at = heap.length;
  heap.push(waiter);
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (!comesFirst(itemAt(heap, at), itemAt(heap, parent))) break;
    [heap[at], heap[parent]] = [itemAt(heap, parent), itemAt(heap, at)];
    at = parent;
  }
}

function takeFirst(heap: LimitWaiter[]): LimitWaiter | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (heap.length === 0 || last === undefined) return first;
  heap[0] = last;
  for (let at = 0; ; ) {
    const left = 2 * at + 1;
    const right = left + 1;
    let next = at;
    if (left < heap.length && comesFirst(itemAt(heap, left), itemAt(heap, next))) next = left;
    if (right < heap.length && comesFirst(itemAt(heap, right), itemAt(heap, next))) next = right;
    if (next === at) return first;
    [heap[at], heap[next]] = [itemAt(heap, next), itemAt(heap, at)];
    at = next;
  }
}

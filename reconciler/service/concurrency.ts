/**
 * How many requests may be under way at once: additive increase, multiplicative decrease. Starts at what the user
 * allows, gives way when the service says "slow down" or answers ever more slowly, and comes back step by step.
 * Pure: (state, sample) -> state.
 *
 *   told to slow down     limit x 0.5, at most once a pause, never under 1
 *   latency rises         limit x 0.8, at most once a second, never under a quarter of what is allowed:
 *                         latency is a guess, and a slow service must not be mistaken for a crowded one
 *   answered in time      limit + 1/limit, so about one more for each full round
 */
export interface Concurrency {
  readonly allowed: number;
  /** A fraction counts towards the next whole slot. */
  readonly limit: number;
  readonly decreasedAtMs: number;
  readonly latencies: ReadonlyMap<string, Latency>;
}

interface Latency {
  /** The best latency of the operation. It creeps up, so that one lucky answer long ago does not count for ever. */
  readonly best: number;
  /** A moving average over about ten answers. */
  readonly recent: number;
}

export type Sample =
  | { readonly kind: "throttled"; readonly atMs: number }
  /** `latencyMs` only of reads: how long a write takes says more about the work than about the crowd. */
  | { readonly kind: "answered"; readonly atMs: number; readonly operation: string; readonly latencyMs?: number };

const throttledGapMs = 250;
const latencyGapMs = 1000;
const hasRisen = (latency: Latency): boolean =>
  latency.recent > 4 * latency.best && latency.recent - latency.best > 250;

export const startConcurrency = (allowed: number): Concurrency => ({
  allowed: Math.max(1, Math.floor(allowed)),
  limit: Math.max(1, Math.floor(allowed)),
  decreasedAtMs: Number.NEGATIVE_INFINITY,
  latencies: new Map(),
});

export function adjustConcurrency(state: Concurrency, sample: Sample): Concurrency {
  const sinceDecrease = sample.atMs - state.decreasedAtMs;
  if (sample.kind === "throttled") {
    if (sinceDecrease < throttledGapMs) return state;
    return { ...state, limit: Math.max(1, state.limit / 2), decreasedAtMs: sample.atMs };
  }
  let { latencies } = state;
  if (sample.latencyMs !== undefined) {
    const latency = nextLatency(latencies.get(sample.operation), sample.latencyMs);
    latencies = new Map(latencies).set(sample.operation, latency);
    if (hasRisen(latency)) {
      if (sinceDecrease < latencyGapMs) return { ...state, latencies };
      const limit = Math.min(state.limit, Math.max(state.limit * 0.8, state.allowed / 4, 1));
      return { ...state, latencies, limit, decreasedAtMs: sample.atMs };
    }
  }
  const limit = state.limit >= state.allowed ? state.limit : Math.min(state.allowed, state.limit + 1 / state.limit);
  return limit === state.limit && latencies === state.latencies ? state : { ...state, latencies, limit };
}

function nextLatency(known: Latency | undefined, sampleMs: number): Latency {
  if (known === undefined) return { best: sampleMs, recent: sampleMs };
  return { best: Math.min(sampleMs, known.best * 1.002), recent: known.recent + (sampleMs - known.recent) / 10 };
}

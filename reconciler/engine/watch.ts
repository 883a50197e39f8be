/**
 * Continuous mode, without what a round does: one round after another, further apart after failures, never quite at the
 * same moment as another watcher's, until somebody asks it to stop.
 */
import type { Action } from "../core/diff/changes";
import type { Elapsed, Instant } from "../core/model/time";
import type { Clock } from "../service/clock";

export type RoundResult =
  /** `why`: what of it could not be looked at, so that nobody knows whether it is. */
  | { readonly end: "in_sync"; readonly why?: string }
  /** Something differs, and the watcher was not asked to correct it. */
  | { readonly end: "pending" }
  | { readonly end: "applied" }
  /** A consent is missing, or something waits for an outside act. */
  | { readonly end: "blocked"; readonly why: string }
  /** Another process holds the state. */
  | { readonly end: "standby"; readonly why: string }
  | { readonly end: "failed"; readonly why: string };

export interface Observation {
  readonly drifted: readonly string[];
  readonly pending: Readonly<Partial<Record<Action, number>>>;
  /** What would be changed and in what, such as `vm.db (flavor_id)`. */
  readonly differs: readonly string[];
  /** Administration ports that managed groups leave open to the world; absent when no group was seen. */
  readonly worldOpenPorts?: number;
  readonly resources: number;
  /** Whether the live rules keep the file's assertions. */
  readonly assertions?: readonly { readonly label: string; readonly verdict: "holds" | "unproven" | "violated" }[];
}

export interface Round {
  /** When it began. */
  readonly at: Instant;
  /** When it ended: the date for people, the other for what is measured from there. */
  readonly ended: { readonly at: Instant; readonly elapsed: Elapsed };
  readonly durationMs: number;
  readonly result: RoundResult;
  readonly seen?: Observation;
}

export interface WatchSetting {
  readonly intervalMs: number;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  /** Ends a pause at once, and a round as soon as the requests in flight are finished. */
  readonly signal: AbortSignal;
  readonly round: () => Promise<{ readonly result: RoundResult; readonly seen?: Observation }>;
  readonly ended: (round: Round, nextInMs: number) => void;
  /** Work during the pause, for at most so long. Left out: nothing. */
  readonly between?: (pauseMs: number) => Promise<void>;
}

/** How much longer a pause may be than its interval, so that watchers started together drift apart. */
const jitter = 0.1;
const longestRoundPauseMs = 3_600_000;
/** A lease that lapsed should soon have a new holder. */
const standbyMs = 30_000;

export function pauseMs(intervalMs: number, failures: number, result: RoundResult["end"], random: number): number {
  const base =
    result === "standby"
      ? Math.min(intervalMs, standbyMs)
      : Math.min(intervalMs * 2 ** Math.min(failures, 20), Math.max(intervalMs, longestRoundPauseMs));
  return Math.round(base * (1 + jitter * random));
}

export async function watch(setting: WatchSetting): Promise<void> {
  const { clock, signal } = setting;
  let failures = 0;
  while (!signal.aborted) {
    const [at, began] = [clock.instant(), clock.now()];
    const { result, seen } = await setting.round();
    const ended = { at: clock.instant(), elapsed: clock.now() };
    failures = result.end === "failed" ? failures + 1 : 0;
    const pause = pauseMs(setting.intervalMs, failures, result.end, setting.random());
    setting.ended({ at, ended, durationMs: ended.elapsed - began, result, seen }, pause);
    await (setting.between?.(pause) ?? clock.sleep(pause, signal));
  }
}

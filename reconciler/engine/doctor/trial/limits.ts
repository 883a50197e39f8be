/**
 * How many connections a service bears, where it resets what comes beyond, and how many requests in a second, where it
 * asks for a pause: told by reads that are sent together.
 */
import { isThrottled } from "../../../dialect/conditions";
import { contractRead, nobody } from "../enter";
import { type TrialAct, trialAct } from "./act";
import type { Trial } from "./watch";

const connectionCounts = [10, 8, 6, 5, 4, 3, 2, 1] as const;

export const limitActs: readonly TrialAct[] = [
  trialAct([], async ({ trial }) => {
    if (trial.report.dialect.limits.connections !== undefined) return;
    for (const connections of connectionCounts) {
      if ((await unanswered(trial, connections)) > 0) continue;
      if (connections === connectionCounts[0]) return;
      trial.limits = { ...trial.limits, connections };
      trial.say(`It answers ${connections} requests at once, and resets more.`);
      return;
    }
  }),
  trialAct([], async ({ trial }) => {
    if (trial.report.dialect.limits.requests_per_second !== undefined) return;
    const first = await burst(trial);
    if (first.pauseMs === 0 || first.pauseMs > longestPauseMs) return;
    // The trial itself has asked for much before the first burst, so only those behind a pause tell how much is borne.
    const rates: number[] = [];
    let { pauseMs } = first;
    while (rates.length < 2) {
      await trial.ports.clock.sleep(pauseMs);
      const { answered, ms, ...next } = await burst(trial);
      rates.push(Math.floor((answered * 1000) / Math.max(1000, pauseMs, ms)));
      pauseMs = Math.min(Math.max(next.pauseMs, first.pauseMs), longestPauseMs);
    }
    const requests = Math.max(1, Math.min(...rates));
    trial.limits = { ...trial.limits, requests_per_second: requests };
    trial.say(`It answers ${requests} requests in a second, and asks for a pause before more.`);
    await trial.ports.clock.sleep(first.pauseMs);
  }),
];

const mostInBurst = 48;
/** A longer pause is that of a quota of minutes or hours. */
const longestPauseMs = 2000;

interface Burst {
  readonly answered: number;
  readonly ms: number;
  /** 0: no pause was asked for. */
  readonly pauseMs: number;
}

/** Reads one after the other, a few at once, until a pause is asked for. */
async function burst(trial: Trial): Promise<Burst> {
  const { clock } = trial.ports;
  const start = clock.now();
  const atOnce = Math.min(4, trial.limits.connections ?? trial.report.dialect.limits.connections ?? 4);
  let answered = 0;
  let pauseMs = 0;
  while (answered < mostInBurst && pauseMs === 0) {
    const asked = await Promise.all(Array.from({ length: atOnce }, () => readNobody(trial)));
    const pauses = asked.flatMap(({ outcome }) =>
      outcome.status === "unavailable" && isThrottled(outcome) ? [Math.max(1, outcome.retryAfterMs ?? 1000)] : [],
    );
    answered += asked.length - pauses.length;
    pauseMs = Math.max(0, ...pauses);
  }
  return { answered, ms: clock.now() - start, pauseMs };
}

const readNobody = (trial: Trial) => trial.ports.doctor.probe(contractRead("volume", nobody));

async function unanswered(trial: Trial, count: number): Promise<number> {
  const asked = await Promise.all(Array.from({ length: count }, () => readNobody(trial)));
  return asked.filter(({ answer }) => answer === undefined).length;
}

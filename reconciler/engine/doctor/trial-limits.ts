/**
 * How many connections a service bears, where it resets what comes beyond, and how many requests in a second, where it
 * asks for a pause: told by reads that are sent together.
 */
import { isThrottled } from "../../dialect/conditions";
import { contractRead, nobody } from "./enter";
import { type TrialAct, trialAct } from "./trial-act";
import type { Trial } from "./trial-watch";

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
    const first = await untilThrottled(trial);
    if (first === undefined || first.pauseMs > longestPauseMs) return;
    await trial.ports.clock.sleep(first.pauseMs);
    // What was saved up while nothing was asked counts for the first burst alone.
    const again = await untilThrottled(trial);
    const ms = Math.max(1000, first.pauseMs, again?.ms ?? 0);
    const requests = Math.max(1, Math.floor((Math.min(again?.answered ?? first.answered, first.answered) * 1000) / ms));
    trial.limits = { ...trial.limits, requests_per_second: requests };
    trial.say(`It answers ${requests} requests in a second, and asks for a pause before more.`);
    await trial.ports.clock.sleep(again?.pauseMs ?? 0);
  }),
];

const mostInBurst = 48;
/** A longer pause is that of a quota of minutes or hours. */
const longestPauseMs = 2000;

interface Throttled {
  readonly answered: number;
  readonly ms: number;
  readonly pauseMs: number;
}

/** Reads one after the other, a few at once; `undefined`: all of them were answered. */
async function untilThrottled(trial: Trial): Promise<Throttled | undefined> {
  const { clock } = trial.ports;
  const start = clock.now();
  const atOnce = Math.min(4, trial.limits.connections ?? trial.report.dialect.limits.connections ?? 4);
  for (let answered = 0; answered < mostInBurst; answered += atOnce) {
    const asked = await Promise.all(Array.from({ length: atOnce }, () => readNobody(trial)));
    const throttled = asked.flatMap(({ outcome }) =>
      outcome.status === "unavailable" && isThrottled(outcome) ? [outcome] : [],
    );
    const pauses = throttled.map(({ retryAfterMs = 1000 }) => retryAfterMs);
    if (throttled.length > 0)
      return {
        answered: answered + asked.length - throttled.length,
        ms: clock.now() - start,
        pauseMs: Math.max(...pauses),
      };
  }
  return undefined;
}

const readNobody = (trial: Trial) => trial.ports.doctor.probe(contractRead("volume", nobody));

async function unanswered(trial: Trial, count: number): Promise<number> {
  const asked = await Promise.all(Array.from({ length: count }, () => readNobody(trial)));
  return asked.filter(({ answer }) => answer === undefined).length;
}

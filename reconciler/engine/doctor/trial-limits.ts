/** How many connections a service bears, where it resets what comes beyond: told by reads that are sent together. */
import { nobody, volumePath } from "./enter";
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
];

async function unanswered(trial: Trial, count: number): Promise<number> {
  const ask = () => trial.ports.doctor.probe({ operation: "volume.get", method: "GET", path: volumePath(nobody) });
  const asked = await Promise.all(Array.from({ length: count }, ask));
  return asked.filter(({ answer }) => answer === undefined).length;
}

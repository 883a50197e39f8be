/** How fast budgets are used, computed from two looks at them. */
import type { BudgetRecord } from "../database/workers";
import type { Rate } from "./operations";

interface RateSample {
  readonly at: number;
  readonly used: number;
}

const rateWindowMs = 60_000;
/** Two looks that are closer together than this give no rate. */
const leastMs = 1000;

export function createRates() {
  const samples = new Map<string, RateSample[]>();
  return {
    of(budgets: readonly Pick<BudgetRecord, "service" | "used">[], now: Date): Map<string, Rate> {
      const rates = new Map<string, Rate>();
      for (const { service, used } of budgets) {
        const before = (samples.get(service) ?? []).filter(({ at }) => at >= now.getTime() - rateWindowMs);
        const first = before.find(({ at }) => now.getTime() - at >= leastMs);
        if (first !== undefined && used >= first.used) {
          const overMs = now.getTime() - first.at;
          rates.set(service, { perSecond: ((used - first.used) * 1000) / overMs, overMs });
        }
        const last = before.at(-1);
        if (last === undefined || now.getTime() - last.at >= leastMs) before.push({ at: now.getTime(), used });
        samples.set(service, before);
      }
      return rates;
    },
  };
}

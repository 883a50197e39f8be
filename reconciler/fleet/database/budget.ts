/**
 * One budget of requests for each service, shared by all workers: the generic cell rate algorithm in one row. A worker
 * reserves some requests with one statement and sends them at the moments it got; when the service asks one of them to
 * wait, all of them wait.
 */
import { type Database, maybeTime, numberOf } from "./database";
import { schema } from "./tables";

export interface Budget {
  /** Resolves when one request may be sent; false when the signal fired first. */
  take(signal?: AbortSignal): Promise<boolean>;
  /** The service said: not before then. Every worker hears of it. */
  refused(retryAfterMs: number): Promise<void>;
  /** Another worker was told to wait, or a pause is over. */
  look(): Promise<void>;
  /** Why requests wait at present; absent: they do not. */
  readonly waits: string | undefined;
}

export interface BudgetSetting {
  readonly database: Database;
  readonly service: string;
  readonly perSecond: number;
  readonly burst: number;
  /** How many share the budget, for when the database cannot be asked. */
  readonly workers: () => number;
  readonly now?: () => number;
  readonly say?: (text: string) => void;
}

/** So much of a second's budget is reserved at a time: few statements, and still even shares. */
const shareOfSecond = 20;
/** A reserved moment that could have been used so long ago is given up. */
const staleMs = 100;
/** So much of a second's budget is kept back from a burst: what timers send late comes on top of it. */
const lateShare = 0.06;
/** A worker that could not ask for so long asks again. */
const offlineMs = 2000;
export const pauseChannel = "reconcile_fleet_pause";

export function createBudget(setting: BudgetSetting): Budget {
  const { database, service, perSecond, burst } = setting;
  const now = setting.now ?? Date.now;
  const batch = Math.max(1, Math.floor(Math.min(perSecond / shareOfSecond, burst)));
  const atOnce = Math.max(batch, burst - perSecond * lateShare);
  /** Moments at which a request may be sent, soonest first. */
  let moments: number[] = [];
  let pausedUntil = 0;
  let reserving: Promise<void> | undefined;
  let offlineUntil = 0;
  let lastOffline = 0;
  let waits: string | undefined;
  let saidOffline = false;

  async function reserve(): Promise<void> {
    if (now() < offlineUntil) return alone();
    try {
      const asked = now();
      const [row] = await database.query(
        `UPDATE ${schema}.budgets SET tat = GREATEST(tat, extract(epoch FROM clock_timestamp()) - $3 / per_second, extract(epoch FROM paused_until)) + $2 / per_second, used = used + $2
         WHERE service = $1 AND per_second > 0
         RETURNING tat, per_second, extract(epoch FROM clock_timestamp())::double precision AS at, paused_until`,
        [service, batch, atOnce],
      );
      if (row === undefined) return alone();
      saidOffline = false;
      // The server's clock decides; half of the way there and back is its distance from ours.
      const offset = (asked + now()) / 2 - numberOf(row["at"]) * 1000;
      const [tat, rate] = [numberOf(row["tat"]), numberOf(row["per_second"])];
      // What is left of a burst may be sent now: its moments have passed, and are not late.
      moments = Array.from({ length: batch }, (_, index) =>
        Math.max(now(), (tat - (batch - 1 - index) / rate) * 1000 + offset),
      );
      const paused = maybeTime(row["paused_until"])?.getTime();
      if (paused !== undefined) pausedUntil = Math.max(pausedUntil, paused + offset);
    } catch {
      offlineUntil = now() + offlineMs;
      alone();
    }
  }

  /** Nobody can be asked: an even share of the rate, and never more. */
  function alone(): void {
    if (!saidOffline)
      setting.say?.(`the budget of ${service} cannot be asked for; this worker keeps to its share of it`);
    saidOffline = true;
    const gap = (1000 / perSecond) * Math.max(1, setting.workers());
    lastOffline = Math.max(now(), lastOffline + gap);
    moments = [lastOffline];
  }

  async function nextMoment(): Promise<number> {
    for (;;) {
      const moment = moments.shift();
      // After a pause of this process its moments are gone: sent now, they would come on top of the others'.
      if (moment !== undefined && moment > now() - staleMs) return moment;
      if (moment !== undefined) continue;
      reserving ??= reserve().finally(() => {
        reserving = undefined;
      });
      await reserving;
    }
  }

  return {
    get waits() {
      return waits;
    },
    async take(signal) {
      for (;;) {
        if (signal?.aborted === true) return false;
        const moment = await nextMoment();
        for (;;) {
          const wait = Math.max(moment, pausedUntil) - now();
          if (wait <= 0) break;
          waits =
            pausedUntil > now()
              ? `${service} asked for a pause until ${new Date(pausedUntil).toISOString()}`
              : `the budget of ${service} is used up`;
          if (!(await sleep(Math.min(wait, 1000), signal))) return false;
        }
        waits = undefined;
        // After a pause all who waited would go at once: who has lost its moment asks for another.
        if (moment > now() - staleMs) return true;
      }
    },
    async refused(retryAfterMs) {
      pausedUntil = Math.max(pausedUntil, now() + retryAfterMs);
      await database
        .query(
          `WITH paused AS (UPDATE ${schema}.budgets SET refusals = refusals + 1,
             paused_until = GREATEST(paused_until, clock_timestamp() + $2 * interval '1 millisecond') WHERE service = $1 RETURNING service)
           SELECT pg_notify('${pauseChannel}', service) FROM paused`,
          [service, Math.round(retryAfterMs)],
        )
        .catch(() => undefined);
    },
    async look() {
      const asked = now();
      const [row] = await database
        .query(
          `SELECT paused_until, extract(epoch FROM clock_timestamp())::double precision AS at FROM ${schema}.budgets WHERE service = $1`,
          [service],
        )
        .catch(() => []);
      const paused = maybeTime(row?.["paused_until"])?.getTime();
      if (paused === undefined) return;
      pausedUntil = Math.max(pausedUntil, paused + (asked + now()) / 2 - numberOf(row?.["at"]) * 1000);
    },
  };
}

/** False when the signal fired first. */
function sleep(ms: number, signal: AbortSignal | undefined): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve(true);
    }, ms);
    const stop = (): void => {
      clearTimeout(timer);
      resolve(false);
    };
    signal?.addEventListener("abort", stop, { once: true });
  });
}

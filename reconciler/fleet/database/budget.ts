/**
 * One budget of requests for each service, shared by all workers: the generic cell rate algorithm in one row. A worker
 * reserves some requests with one statement and sends them at the moments it got; when the service asks one of them to
 * wait, all of them wait.
 */

import { steadyNow } from "../steady";
import { type Database, maybeTime } from "./database";
import { schema } from "./tables";

export interface Budget {
  /** Resolves when one request may be sent; false when the signal fired first. */
  take(signal?: AbortSignal): Promise<boolean>;
  /** The service refuses requests for this long; every worker is told. */
  refused(retryAfterMs: number): Promise<void>;
  /** Reads the budget again, because another worker was told to wait or a pause is over. */
  look(): Promise<void>;
  /** Why requests wait at present; absent: they do not wait. */
  readonly waits: string | undefined;
}

export interface BudgetSetting {
  readonly database: Database;
  readonly service: string;
  readonly perSecond: number;
  readonly burst: number;
  /** How many workers share the budget, for when the database cannot be asked. */
  readonly workers: () => number;
  readonly now?: () => number;
  readonly say?: (text: string) => void;
}

/** A worker reserves this part (1/20) of a second's budget at a time: few statements, and still even shares. */
const shareOfSecond = 20;
/** A reserved moment that passed longer ago than this is given up. */
const staleMs = 100;
/** This share of a second's budget is kept back from a burst, for requests that timers send late. */
const lateShare = 0.06;
/** When the database could not be asked, it is asked again after this time. */
const offlineMs = 2000;
export const pauseChannel = "reconcile_fleet_pause";

export function createBudget(setting: BudgetSetting): Budget {
  const { database, service, perSecond, burst } = setting;
  const now = setting.now ?? steadyNow;
  const batch = Math.max(1, Math.floor(Math.min(perSecond / shareOfSecond, burst)));
  const atOnce = Math.max(batch, burst - perSecond * lateShare);
  /** The moments at which a request may be sent, the soonest first. */
  let moments: number[] = [];
  let pausedUntil = 0;
  let reserving: Promise<void> | undefined;
  let offlineUntil = 0;
  let lastOffline = 0;
  let waits: string | undefined;
  let saidOffline = false;
  let ahead: number | undefined;

  /**
   * How far this process's clock is ahead of the database's, which was read between question and answer. A slow answer
   * says little about it, so it corrects what is known only as far as it proves that wrong: a request whose moment was
   * shifted would be sent together with those of other workers.
   */
  function distance(asked: number, at: number): number {
    const [least, most] = [asked - at, now() - at];
    ahead = Math.min(Math.max(ahead ?? (least + most) / 2, least), most);
    return ahead;
  }

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
      const offset = distance(asked, Number(row["at"]) * 1000);
      const [tat, rate] = [Number(row["tat"]), Number(row["per_second"])];
      // The rest of a burst may be sent now: its moments have passed, but they are not late.
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

  /** The database cannot be asked: this worker takes an even share of the rate, and never more. */
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
      // After a pause of this process its moments have passed: requests sent now would be on top of those of other
      // workers.
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
          if (!(await waitUnlessStopped(Math.min(wait, 1000), signal))) return false;
        }
        waits = undefined;
        // After a pause all waiting requests would be sent at once: a request that lost its moment asks for another.
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
      pausedUntil = Math.max(pausedUntil, paused + distance(asked, Number(row?.["at"]) * 1000));
    },
  };
}

/** False when the signal fired first. */
const waitUnlessStopped = (ms: number, signal: AbortSignal | undefined): Promise<boolean> =>
  new Promise((resolve) => {
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

/**
 * When to look again at something that is on its way. Soon at first, because some services are done at once; then less
 * often than the interval while nothing is due, which pays for the early looks; and once in an interval when it may be
 * there. What took a minute takes no more looks than one in every interval would.
 *
 *   waited, in intervals    0.1  0.25  0.6  1.6 | 3.1  4.6 … half of what it took last | + 1 each
 *
 * What took long last time is not looked at soon.
 */

export interface Waiting {
  readonly waitedMs: number;
  /** How long the last wait of this kind took. Absent: none has ended yet. */
  readonly tookMs?: number;
  /** Whether an early look can tell anything. A resource that still shows its old state may only not have begun. */
  readonly mayBeSoon: boolean;
}

/** Until a wait of the kind has ended, it is taken to need so many intervals: a minute, at two seconds. */
const usualIntervals = 30;

export function untilNextLook({ waitedMs, tookMs, mayBeSoon }: Waiting, intervalMs: number): number {
  const isSlow = tookMs !== undefined && tookMs > 4 * intervalMs;
  if (waitedMs < 1.5 * intervalMs) {
    if (!mayBeSoon || isSlow) return intervalMs;
    return Math.min(Math.max(intervalMs / 10, waitedMs * 1.5), intervalMs);
  }
  return waitedMs < (tookMs ?? usualIntervals * intervalMs) / 2 ? 1.5 * intervalMs : intervalMs;
}

/**
 * Where few wait at a time and others follow, as in a program whose resources are made a few at a time, a look for each
 * of them would read the whole list for one. Who begins to wait waits for the next look with all who come meanwhile; the
 * more pages a look has, and the more looks have cost, the longer. When nobody has come for a while and nothing is under way that
 * another wait may follow, nobody will: whoever else is to come waits for these.
 */
export const togetherAt = ({ waitsSince, tookMs, pages, quietSince, patience }: LastLook, intervalMs: number): number =>
  Math.min(
    waitsSince + Math.min(6, (pages / 2) * patience) * intervalMs,
    quietSince + Math.min(Math.max((patience * intervalMs) / 4, 2 * tookMs), intervalMs),
  );

interface LastLook {
  readonly waitsSince: number;
  /** Where a look takes long, so does the rest: those who come are given more time. */
  readonly tookMs: number;
  readonly pages: number;
  readonly quietSince: number;
  /** From patienceFor. */
  readonly patience: number;
}

/**
 * Whether those who wait are told by one list or by a read of each, whichever is fewer requests. Where both cost the
 * same the list is read, which tells more. What has only its name yet is in no read.
 */
export const cheaperLook = (
  { byName, ids }: { readonly byName: boolean; readonly ids: number },
  { pages, pageReads }: { readonly pages: number; readonly pageReads: number },
): "list" | "each" => (byName || ids >= pages * pageReads ? "list" : "each");

/**
 * What took long may be noticed late by so much of it, and by more where looks have cost much: then many who wait out of
 * step share a look.
 */
export const mayBeLate = (tookMs: number | undefined, intervalMs: number, patience: number): number =>
  patience * Math.min((tookMs ?? 0) / 8, 5 * intervalMs);

/**
 * How much longer than usual a look is put off. Once looks have cost more than a quarter of a request for each wait, beside
 * what a few VMs need, each tells more at a time.
 */
export const patienceFor = ({ requests, waits }: Pick<LooksSoFar, "requests" | "waits">): number =>
  requests > requestsLent + waits / 4 ? 4 : 1;

const requestsLent = 30;

/** A look in case that waits have become shorter comes after so much of the usual time. */
export const tryAfter = 7 / 8;

/** One wait that a look ended. `missed`: a look at its usual end, or later, had not shown it. */
export interface Ended {
  readonly tookMs: number;
  readonly missed: boolean;
}

/** Of those who begin to wait all at once: what a first look shows may have been there for a while. */
export function lastTime(ended: readonly Ended[]): number {
  const { tookMs = 0, missed = false } = ended.at(-1) ?? {};
  return missed ? tookMs : tryAfter * tookMs;
}

/**
 * How long waits of one kind take, after a look that ended some. Those who share a look wait for the last of them, so
 * that the shortest of these times is the nearest to the truth; a little less than usual is no news.
 */
export function usualTime(beforeMs: number | undefined, ended: readonly Ended[]): number {
  const late = ended.filter(({ missed }) => missed);
  const shortest = Math.min(...(late.length > 0 ? late : ended).map(({ tookMs }) => tookMs));
  const isNews = late.length > 0 || beforeMs === undefined || shortest < ((1 + tryAfter) / 2) * beforeMs;
  return isNews ? shortest : beforeMs;
}

/**
 * Whether the next look may come before the usual end, in case that waits have become shorter: seldom, and the more so
 * where looks have cost much.
 */
export const mayTry = (looksThatEnded: number, patience: number): boolean =>
  looksThatEnded % (2 * (patience + 1)) === 1;

/** Of a look: how many pages it has, and from patienceFor. */
export interface Costs {
  readonly pages: number;
  readonly patience: number;
}

export const costsMuch = ({ pages, patience }: Costs): boolean => pages > 1 || patience > 1;

/** What took long is first looked at when as much has passed again, and not much later than it usually takes. */
export const notBefore = (tookMs: number | undefined, intervalMs: number): number =>
  tookMs === undefined || tookMs <= 4 * intervalMs ? 0 : Math.min(tookMs, 1.5 * usualIntervals * intervalMs);

/** How many looks all waits together have made, and for how long anybody has waited. */
export interface LooksSoFar {
  readonly made: number;
  /** A list costs one for each page. */
  readonly requests: number;
  /** How many waits have begun. */
  readonly waits: number;
  /** Early looks that showed what was waited for: each has saved a later look. */
  readonly early: number;
  readonly activeMs: number;
}

/**
 * Whether one more early look keeps the number of looks at one in every interval. At the start a few more are allowed.
 */
export const mayLookSoon = (
  { made, early, activeMs }: Omit<LooksSoFar, "requests" | "waits">,
  intervalMs: number,
): boolean => made - early < Math.max(lent, activeMs / intervalMs - 1);

const lent = 4;

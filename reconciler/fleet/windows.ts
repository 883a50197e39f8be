/**
 * Whether something may be done now: deny windows take precedence, and where there are allow windows, nothing is done
 * outside of them.
 */
import { CronExpressionParser } from "cron-parser";
import { type FleetWindow, fitsAny, type WindowAction } from "./model";

export type Opening = { readonly open: true } | { readonly open: false; readonly until?: Date; readonly why: string };

export function openingOf(windows: readonly FleetWindow[], stack: string, action: WindowAction, now: Date): Opening {
  const meant = windows.filter((window) => fitsAny(window.stacks, stack) && window.actions.includes(action));
  const denied = meant.flatMap((window) => {
    const until = window.kind === "deny" ? lastsUntil(window, now) : undefined;
    return until === undefined ? [] : [{ window, until }];
  });
  const longest = denied.sort((a, b) => b.until.getTime() - a.until.getTime())[0];
  if (longest !== undefined)
    return { open: false, until: longest.until, why: `the deny window "${longest.window.schedule}"` };
  const allowing = meant.filter(({ kind }) => kind === "allow");
  if (allowing.length === 0 || allowing.some((window) => lastsUntil(window, now) !== undefined)) return { open: true };
  const next = allowing
    .map((window) => begins(window, now).next().toDate())
    .sort((a, b) => a.getTime() - b.getTime())[0];
  return { open: false, ...(next === undefined ? {} : { until: next }), why: "no allow window is open" };
}

const begins = ({ schedule, timeZone }: FleetWindow, now: Date) =>
  CronExpressionParser.parse(schedule, { currentDate: now, tz: timeZone });

/** Until when the window is open; absent: it is closed now. */
function lastsUntil(window: FleetWindow, now: Date): Date | undefined {
  // A window may begin in the minute that begins now.
  const began = begins(window, new Date(now.getTime() + 1))
    .prev()
    .toDate();
  const until = new Date(began.getTime() + window.durationMs);
  return until > now ? until : undefined;
}

/** What is wrong with a schedule; absent: nothing. */
export function scheduleProblem(schedule: string, timeZone: string): string | undefined {
  if (schedule.trim().split(/\s+/).length !== 5) return "it has not five fields (minute hour day month weekday)";
  try {
    CronExpressionParser.parse(schedule, { tz: timeZone }).next();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/**
 * Whether something may be done now: deny windows take precedence, and where there are allow windows, nothing is done
 * outside of them. A window begins at times of its zone's clocks: one that the clocks leave out begins when they go on,
 * and one that they show twice begins at the first. A window that cannot be read is closed, and nothing here throws.
 */
import { CronExpressionParser } from "cron-parser";
import { dayMs } from "../core/model/time";
import { errorMessage } from "../core/text/errors";
import { type FleetWindow, fitsAny, type WindowAction } from "./model";
import { instantOf, offsetAt, type WallTime, wallTimeAt } from "./zone";

export type Opening = { readonly open: true } | { readonly open: false; readonly until?: Date; readonly why: string };

/** Nothing is applied that was not looked at. */
export function openingOf(windows: readonly FleetWindow[], stack: string, action: WindowAction, now: Date): Opening {
  const looking = openingFor(windows, stack, "look", now);
  return looking.open && action === "apply" ? openingFor(windows, stack, action, now) : looking;
}

function openingFor(windows: readonly FleetWindow[], stack: string, action: WindowAction, now: Date): Opening {
  const meant = windows.filter((window) => fitsAny(window.stacks, stack) && window.actions.includes(action));
  const times: { readonly window: FleetWindow; readonly times: Times }[] = [];
  for (const window of meant) {
    const found = timesOf(window, now.getTime());
    if ("problem" in found)
      return {
        open: false,
        why: `the ${window.kind} window "${window.schedule}" cannot be read (${found.problem}), so that it counts as closed: correct it in the fleet's file`,
      };
    times.push({ window, times: found });
  }
  const denied = times.flatMap(({ window, times: { until } }) =>
    window.kind === "deny" && until !== undefined ? [{ window, until }] : [],
  );
  const longest = denied.sort((a, b) => b.until - a.until)[0];
  if (longest !== undefined)
    return { open: false, until: new Date(longest.until), why: `the deny window "${longest.window.schedule}"` };
  const allowing = times.filter(({ window }) => window.kind === "allow");
  if (allowing.length === 0 || allowing.some((one) => one.times.until !== undefined)) return { open: true };
  const next = allowing
    .flatMap((one) => (one.times.next === undefined ? [] : [one.times.next]))
    .sort((a, b) => a - b)[0];
  return { open: false, until: next === undefined ? undefined : new Date(next), why: "no allow window is open" };
}

interface Times {
  /** Until when the window is open; absent: it is closed now. */
  readonly until?: number;
  /** When it opens; only looked for where it is closed and matters. */
  readonly next?: number;
}

/** The clocks may have been set back, or be set forward, within so many hours of now. */
const nearMs = 26 * 3_600_000;

function timesOf(window: FleetWindow, now: number): Times | { readonly problem: string } {
  const { schedule, timeZone, kind } = window;
  try {
    const problem = fieldsProblem(schedule);
    if (problem !== undefined) return { problem };
    const began = lastBegin(schedule, timeZone, now);
    const until = began === undefined ? undefined : windowEnd(window, began);
    if (until !== undefined && until > now) return { until };
    const next = kind === "allow" ? nextBegin(schedule, timeZone, now) : undefined;
    return next === undefined ? {} : { next };
  } catch (error) {
    return { problem: errorMessage(error) };
  }
}

/** The begins of a schedule as wall times: cron-parser counts them in UTC, where no hour is left out or comes twice. */
const beginsFrom = (schedule: string, wall: WallTime) =>
  CronExpressionParser.parse(schedule, { currentDate: new Date(wall), tz: "UTC" });

function lastBegin(schedule: string, zone: string, now: number): WallTime | undefined {
  // Clocks that were set back have shown later times than the one that they show now.
  const latest = now + Math.max(offsetAt(zone, now), offsetAt(zone, now - nearMs));
  const begins = beginsFrom(schedule, latest + 1);
  for (;;) {
    const wall = begins.prev().getTime();
    if (instantOf(zone, wall) <= now) return wall;
  }
}

function nextBegin(schedule: string, zone: string, now: number): number | undefined {
  const earliest = now + Math.min(offsetAt(zone, now), offsetAt(zone, now + nearMs));
  const begins = beginsFrom(schedule, earliest - 1);
  for (;;) {
    const instant = instantOf(zone, begins.next().getTime());
    if (instant > now) return instant;
  }
}

/** Days are counted by the calendar, everything else by the clock that is never set. */
const windowEnd = ({ days, durationMs, timeZone }: FleetWindow, began: WallTime): number =>
  days === undefined ? instantOf(timeZone, began) + durationMs : instantOf(timeZone, began + days * dayMs);

/** What is wrong with a schedule; absent: nothing. */
export function scheduleProblem(schedule: string, timeZone: string): string | undefined {
  const problem = fieldsProblem(schedule);
  if (problem !== undefined) return problem;
  try {
    wallTimeAt(timeZone, Date.now());
    beginsFrom(schedule, Date.now()).next();
    return undefined;
  } catch (error) {
    return errorMessage(error);
  }
}

function fieldsProblem(schedule: string): string | undefined {
  const fields = schedule.trim().split(/\s+/);
  if (fields.length !== 5) return "it has not five fields (minute hour day month weekday)";
  if (fields.some((field) => /(^|,)H($|[,/(-])/i.test(field)))
    return "H stands for a time that somebody else chooses, and would be another one at each look: write a number";
  return undefined;
}

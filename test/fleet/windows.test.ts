/** Windows on the days on which clocks change: every zone, every change of eleven years, against a count by the minute. */
import { describe, expect, test } from "vitest";
import type { FleetWindow } from "../../reconciler/fleet/model";
import { openingOf, scheduleProblem } from "../../reconciler/fleet/windows";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

const deny = (schedule: string, timeZone: string, more: Partial<FleetWindow> = {}): FleetWindow => ({
  kind: "deny",
  schedule,
  timeZone,
  durationMs: hourMs,
  stacks: [],
  actions: ["apply"],
  ...more,
});
const isOpen = (window: FleetWindow, at: number | string): boolean =>
  openingOf([window], "x", "apply", new Date(at)).open;

const formats = new Map<string, Intl.DateTimeFormat>();
/** What the clocks of the zone show, as text that sorts as the time does. */
function shown(zone: string, at: number): string {
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "short" });
    formats.set(zone, format);
  }
  return format.format(at);
}
const offset = (zone: string, at: number): number => Date.parse(`${shown(zone, at).replace(" ", "T")}Z`) - at;

/** The first moments of a new offset. */
function changesOf(zone: string, from: number, to: number): number[] {
  const found: number[] = [];
  const step = 12 * dayMs;
  for (let at = from; at < to; at += step) {
    if (offset(zone, at) === offset(zone, at + step)) continue;
    let [low, high] = [at, at + step];
    while (high - low > minuteMs) {
      const middle = Math.floor((low + high) / 2 / minuteMs) * minuteMs;
      if (offset(zone, middle) === offset(zone, at)) low = middle;
      else high = middle;
    }
    found.push(high);
  }
  return found;
}

test("on the day of every change in every zone a daily window begins when the clocks first show its time or a later one", () => {
  let tried = 0;
  const wrong: string[] = [];
  for (const zone of Intl.supportedValuesOf("timeZone"))
    for (const change of changesOf(zone, Date.UTC(2020, 0, 1), Date.UTC(2031, 0, 1))) {
      const jump = offset(zone, change) - offset(zone, change - minuteMs);
      // The middle of what is left out or comes twice, and what comes right after it.
      for (const into of [Math.abs(jump) / 2, Math.abs(jump)]) {
        const before = change + offset(zone, change - minuteMs);
        const wall = new Date(jump > 0 ? before + into : before - into);
        const time = wall.toISOString().slice(0, 16).replace("T", " ");
        // By the minute: the first one in which the clocks show the time, or a later one.
        let begins = change - 4 * hourMs;
        while (shown(zone, begins) < time) begins += 5 * minuteMs;
        while (shown(zone, begins - minuteMs) >= time) begins -= minuteMs;
        const window = deny(`${wall.getUTCMinutes()} ${wall.getUTCHours()} * * *`, zone);
        for (const [at, open] of [
          [begins - 1, true],
          [begins, false],
          [begins + hourMs - 1, false],
          [begins + hourMs, true],
        ] as const) {
          tried += 1;
          if (isOpen(window, at) !== open) wrong.push(`${zone} ${time} at ${new Date(at).toISOString()}`);
        }
      }
    }
  expect(wrong).toEqual([]);
  expect(tried).toBeGreaterThan(10_000);
});

describe("a window in Berlin", () => {
  const zone = "Europe/Berlin";
  test.each([
    ["the hour that is left out", "30 2 * * *", { durationMs: hourMs }, "2026-03-29T01:00:00Z", "2026-03-29T02:00:00Z"],
    ["24 hours of the short day", "0 0 * * 0", { durationMs: dayMs }, "2026-03-28T23:00:00Z", "2026-03-29T23:00:00Z"],
    ["the short day", "0 0 * * 0", { durationMs: dayMs, days: 1 }, "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"],
    ["24 hours of the long day", "0 0 * * 0", { durationMs: dayMs }, "2026-10-24T22:00:00Z", "2026-10-25T22:00:00Z"],
    ["the long day", "0 0 * * 0", { durationMs: dayMs, days: 1 }, "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"],
  ] as const)("%s", (_, schedule, length, from, to) => {
    const window = deny(schedule, zone, length);
    const closed = openingOf([window], "x", "apply", new Date(from));
    expect(!closed.open && closed.until?.toISOString()).toBe(new Date(to).toISOString());
    expect([isOpen(window, Date.parse(from) - 1), isOpen(window, Date.parse(to) - 1), isOpen(window, to)]).toEqual([
      true,
      false,
      true,
    ]);
  });

  test("that permits begins on the day without its time as well, and says when", () => {
    const window = deny("30 2 * * *", zone, { kind: "allow" });
    const closed = openingOf([window], "x", "apply", new Date("2026-03-28T20:00:00Z"));
    expect(!closed.open && closed.until?.toISOString()).toBe("2026-03-29T01:00:00.000Z");
    expect(isOpen(window, "2026-03-29T01:30:00Z")).toBe(true);
  });
});

test("midnight that does not exist closes its window, and nothing throws", () => {
  for (const zone of ["America/Santiago", "Africa/Cairo", "Asia/Beirut", "America/Havana"])
    for (const change of changesOf(zone, Date.UTC(2025, 0, 1), Date.UTC(2027, 0, 1)))
      for (const minutes of [-90, -1, 0, 1, 59, 61, 600, 1439])
        expect(() => isOpen(deny("0 0 * * *", zone), change + minutes * minuteMs)).not.toThrow();
  // 6 September 2026 begins at one o'clock in Santiago.
  expect(isOpen(deny("0 0 * * *", "America/Santiago"), "2026-09-06T04:30:00Z")).toBe(false);
});

test.each([
  ["H H * * *", "UTC"],
  ["H/15 * * * *", "UTC"],
  ["0 0 31 2 *", "UTC"],
  ["soon", "UTC"],
  ["0 0 * * *", "Mars/Olympus"],
])("the schedule %s of %s is refused, and closed where it is found", (schedule, zone) => {
  expect(scheduleProblem(schedule, zone)).toEqual(expect.any(String));
  for (const kind of ["deny", "allow"] as const) {
    const found = openingOf([deny(schedule, zone, { kind })], "x", "apply", new Date());
    expect(found).toMatchObject({ open: false, why: expect.stringContaining("cannot be read") });
  }
});

test.each(["0 0 * * THU", "0 0 1 MAR *", "*/15 9-17 * * 1-5", "0 0 L * *"])("the schedule %s is taken", (schedule) =>
  expect(scheduleProblem(schedule, "Europe/Berlin")).toBeUndefined(),
);

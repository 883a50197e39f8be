import { describe, expect, it } from "vitest";
import { calendarAge, calendarLeft, elapsedAt, instantAt } from "../../reconciler/core/model/time";
import { isWindowOver, lookedAgain, openWindow } from "../../reconciler/core/schedule/window";

/** After how many of the looks at these moments a window of 90 seconds, opened at 0, is over; none: never. */
function overAfter(moments: readonly number[]): number | undefined {
  let window = openWindow(90, elapsedAt(0));
  for (const [index, at] of moments.entries()) {
    window = lookedAgain(window, elapsedAt(at));
    if (isWindowOver(window)) return index + 1;
  }
  return undefined;
}

describe("a window is over when it was served from look to look", () => {
  const everyTwo = (to: number): number[] => Array.from({ length: to / 2 }, (_, index) => 2 * (index + 1));
  it.each([
    ["looks all the time", everyTwo(200), 45],
    ["a look at its end alone", [90], undefined],
    ["three looks, evenly", [30, 60, 90], 3],
    ["three looks at its end", [90, 91, 92], undefined],
    ["a jump of a day, and looks as before", [86_400, ...everyTwo(200).map((at) => 86_400 + at)], 31],
    ["two jumps of a day", [86_400, 172_800, ...everyTwo(200).map((at) => 172_800 + at)], 17],
    ["three looks that are far apart", [3600, 7200, 10_800], 3],
    ["time that stands still", [0, 0, 0, 0], undefined],
    ["time that goes back, which no clock of ours does", [10, 5, 10, 5], undefined],
  ])("%s", (_, moments, looks) => {
    expect(overAfter(moments)).toBe(looks);
  });

  it("one of no length is over at the first look", () => {
    expect(isWindowOver(openWindow(0, elapsedAt(0)))).toBe(true);
  });

  it.each([500, 4500, 90_000, 900_000, 7, 100 / 3])("%d ms are over after three thirds", (lengthMs) => {
    let window = openWindow(lengthMs, elapsedAt(12345.678));
    for (const nth of [1, 2, 3]) window = lookedAgain(window, elapsedAt(12345.678 + nth * lengthMs));
    expect(isWindowOver(window)).toBe(true);
  });
});

describe("what a date may shorten", () => {
  const now = instantAt(Date.UTC(2026, 0, 2));
  it.each([
    ["2026-01-01T23:59:00.000Z", 60_000, 30_000],
    ["2026-01-01T00:00:00.000Z", 86_400_000, 0],
    ["2026-01-02T01:00:00.000Z", undefined, 90_000],
    ["no date", undefined, 90_000],
  ])("%s", (date, age, left) => {
    expect([calendarAge(date, now), calendarLeft(date, 90_000, now)]).toEqual([age, left]);
  });
});

/** How one worker tells that a service does not answer, and what it does about it. */
import { describe, expect, test } from "vitest";
import { createSilences } from "../../reconciler/fleet/silence";
import { createTroubles } from "../../reconciler/fleet/troubles";

function hearing() {
  const clock = { now: 0 };
  return { clock, silences: createSilences(() => clock.now) };
}

describe("a service that does not answer", () => {
  test("makes its rounds wait after two seconds, and only those that asked", () => {
    const { clock, silences } = hearing();
    const [asking, idle] = [silences.begin("west"), silences.begin("west")];
    asking.asked();
    clock.now = 1900;
    expect([asking.waits, silences.pauseMs("west")]).toEqual([false, undefined]);
    clock.now = 2100;
    expect([asking.waits, idle.waits]).toEqual([true, false]);
    expect([silences.pauseMs("west"), silences.pauseMs("north")]).toEqual([10_000, undefined]);
    asking.heard();
    expect([asking.waits, silences.pauseMs("west")]).toEqual([false, undefined]);
    // Between two questions it waits for nothing, however long that is.
    clock.now = 60_000;
    expect(asking.waits).toBe(false);
  });

  test("is tried by one round at a time, and less and less often", () => {
    const { silences } = hearing();
    const pauses: (number | undefined)[] = [];
    for (let times = 0; times < 7; times++) {
      // Nobody tries it now: whoever comes next does.
      expect(silences.pauseMs("west")).toBeUndefined();
      const round = silences.begin("west");
      pauses.push(silences.pauseMs("west"));
      round.end(false);
    }
    expect(pauses).toEqual([undefined, undefined, 10_000, 20_000, 40_000, 60_000, 60_000]);
    const back = silences.begin("west");
    back.heard();
    expect(silences.pauseMs("west")).toBeUndefined();
    back.end(true);
    silences.begin("west");
    expect(silences.pauseMs("west")).toBeUndefined();
  });

  test("a request that is answered while others are not shows that it lives", () => {
    const { clock, silences } = hearing();
    const round = silences.begin("west");
    for (let times = 0; times < 3; times++) round.asked();
    clock.now = 1500;
    round.heard();
    clock.now = 3000;
    expect(round.waits).toBe(false);
    clock.now = 3600;
    expect(round.waits).toBe(true);
  });
});

test("a repository that gives one worker no files is left to the others, who get them, and tried less and less often", () => {
  const clock = { now: 0 };
  const troubles = createTroubles(() => clock.now);
  const url = "https://user:secret@git.example/shop.git";
  const [nobody, another] = [
    { count: 0, troubled: [] },
    { count: 1, troubled: [] },
  ];
  const rests: (number | undefined)[] = [];
  for (let times = 0; times < 7; times++) {
    const from = clock.now;
    while (troubles.rests(url, another)) clock.now += 1000;
    rests.push(clock.now - from);
    troubles.failed(url, "no space left");
  }
  expect(rests).toEqual([0, 0, 0, 10_000, 20_000, 40_000, 60_000]);
  const origin = "https://git.example/shop.git";
  expect(troubles.told).toEqual([{ origin, failures: 7, why: "no space left" }]);
  // Where nobody else gets them, its rounds fail and say why.
  expect([another, nobody, { count: 1, troubled: [origin] }].map((others) => troubles.rests(url, others))).toEqual([
    true,
    false,
    false,
  ]);
  expect(troubles.rests("https://git.example/other.git", another)).toBe(false);
  troubles.worked(url);
  expect([troubles.rests(url, another), troubles.told]).toEqual([false, []]);
});

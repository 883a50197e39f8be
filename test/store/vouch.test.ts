/** For how long an answer of a store vouches for its lock, whatever happens to the process and to the clocks between. */
import { expect, it } from "vitest";

import { monotonicMs, vouch } from "../../reconciler/store/lease";

type Act =
  /** Both clocks go on, or one of them alone. */
  | { readonly pass: number }
  | { readonly asleep: number }
  | { readonly set: number }
  /** Something is written, and so long passes between the store's answer and the reading of it. */
  | { readonly append: number };

it.each<{ readonly of: string; readonly acts: readonly Act[]; readonly asks: boolean }>([
  { of: "a lock that was just taken", acts: [], asks: false },
  { of: "a lock that was asked for long ago", acts: [{ pass: 5000 }], asks: true },
  { of: "a lock just written under", acts: [{ append: 3 }], asks: false },
  { of: "a write of less than the time of trust ago", acts: [{ append: 3 }, { pass: 4900 }], asks: false },
  { of: "a write of the time of trust ago", acts: [{ append: 3 }, { pass: 5000 }], asks: true },
  { of: "an answer that was read late, by a process that was stopped", acts: [{ append: 12_000 }], asks: true },
  { of: "an answer and a stop that are together too long", acts: [{ append: 3000 }, { pass: 2500 }], asks: true },
  { of: "a machine that slept", acts: [{ append: 3 }, { asleep: 60_000 }], asks: true },
  { of: "a clock that was set back", acts: [{ append: 3 }, { set: -3_600_000 }], asks: true },
  { of: "a later write after a late answer", acts: [{ append: 12_000 }, { append: 3 }], asks: false },
])("$of: the store is asked again: $asks", async ({ acts, asks }) => {
  const clocks = { steady: 1000, wall: 1_000_000 };
  let asked = 0;
  const read = () => ({ ...clocks });
  const vouching = vouch({ trustMs: 5000, since: read(), ask: () => void asked++, clocks: read });
  const pass = (ms: number): void => {
    clocks.steady += ms;
    clocks.wall += ms;
  };
  for (const act of acts) {
    if ("pass" in act) pass(act.pass);
    else if ("asleep" in act) clocks.wall += act.asleep;
    else if ("set" in act) clocks.wall += act.set;
    else await vouching.confirm(() => pass(act.append));
  }
  await vouching.assertHeld();
  expect(asked).toBe(asks ? 1 : 0);
});

it("an answer that says no vouches for nothing", async () => {
  const ask = (): never => {
    throw new Error("lost");
  };
  const longAgo = { steady: monotonicMs() - 60_000, wall: Date.now() - 60_000 };
  const vouching = vouch({ trustMs: 5000, since: longAgo, ask });
  await expect(vouching.confirm(() => Promise.reject(new Error("the disk is full")))).rejects.toThrow("full");
  await expect(vouching.assertHeld()).rejects.toThrow("lost");
  await expect(vouching.assertHeld()).rejects.toThrow("lost");
});

/**
 * How long a test waits for anything before it counts as hung. No test is about time: it waits for the thing itself, and
 * how much it does is set by its number of runs. So one generous limit is enough for all of them. TEST_PATIENCE=3 makes
 * it three times as long, for a machine that is slow or has other work.
 */
const factor = Number(process.env["TEST_PATIENCE"] ?? 1);
if (!(factor > 0)) throw new Error(`TEST_PATIENCE is a factor such as 1 or 2.5, not ${process.env["TEST_PATIENCE"]}`);

/** One test or hook, however much it does. */
const testLimitMs = factor * 30 * 60_000;

/** One thing that a test waits for; less than a test has, so that the failure says what never came. */
const waitLimitMs = factor * 5 * 60_000;

export const patience = {
  testTimeout: testLimitMs,
  hookTimeout: testLimitMs,
  expect: { poll: { timeout: waitLimitMs } },
  /** For support/eventually.ts. */
  provide: { waitLimitMs },
};

import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeFolder } from "../support/folder";
import { chanceFrom } from "../support/hostile-requests";
import { runSigkillCampaign } from "../support/sigkill-campaign";

// SIGKILL_CYCLES=1000 for the whole campaign; SIGKILL_DIR for a folder in memory.
const cycles = Number(process.env["SIGKILL_CYCLES"] ?? 20);
const seed = Number(process.env["SIGKILL_SEED"] ?? 1);

it(`${cycles} SIGKILLs under write load (seed ${seed}) lose nothing that was acknowledged or shown`, async () => {
  const dir = join(process.env["SIGKILL_DIR"] ?? makeFolder(), "world");
  const result = await runSigkillCampaign(dir, cycles, chanceFrom(seed));
  rmSync(dir, { recursive: true, force: true });
  if (process.env["SIGKILL_CYCLES"] !== undefined) process.stdout.write(`${JSON.stringify(result)}\n`);
  expect(result.violations).toEqual([]);
  expect(result.cycles).toBe(cycles);
  expect(result.acknowledged).toBeGreaterThan(cycles);
});

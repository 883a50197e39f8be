import { describe, expect, it } from "vitest";
import { countCampaign } from "../support/campaign-count";
import { momentsOf } from "../support/mortal";
import { countInProcess, endsWellUnlocked, killAt, undisturbedRun } from "../support/oracles";
import { changeScenes } from "../support/theatre";

/** Every n-th kill point is tried, and of a few stories, or with EVERY_STORY=1 of all. */
const stride = Number(process.env["PROCESS_KILL_STRIDE"] ?? 23);
const few = ["create everything", "destroy everything"];

describe("the command, killed at any request or durable write, is finished by its next run", () => {
  for (const scene of changeScenes)
    it.skipIf(process.env["EVERY_STORY"] !== "1" && !few.includes(scene.story))(scene.title, async () => {
      const theatre = await scene.open();
      try {
        const undisturbed = await undisturbedRun(theatre);
        await theatre.reset();
        const counts = await countInProcess(theatre);
        const violations: string[] = [];
        // Every edit writes: a run without a counted write is one that the kills would miss.
        expect(counts.write).toBeGreaterThan(0);
        const moments = momentsOf(counts).filter((_, index) => index % stride === 0);
        for (const moment of moments) {
          await theatre.reset();
          const problems = [...(await killAt(theatre, moment)), ...(await endsWellUnlocked(theatre, undisturbed))];
          for (const problem of problems) violations.push(`${moment.when} ${moment.of} ${moment.nth}: ${problem}`);
        }
        countCampaign("killed processes", moments.length, violations.length);
        expect(violations.join("\n")).toEqual("");
      } finally {
        await theatre.close();
      }
    });
});

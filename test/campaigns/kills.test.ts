import { describe, expect, it } from "vitest";
import { countCampaign } from "../support/campaign-count";
import { momentsOf } from "../support/mortal";
import { dieAt, undisturbed } from "../support/stage";
import { stories } from "../support/stories";

/**
 * Every n-th moment is tried; 1 tries all. `check` tries few of each story, because every death in small worlds is
 * tried there by the explorer, without HTTP.
 */
const stride = Number(process.env["KILL_STRIDE"] ?? 17);
let offset = 0;
const slow = process.env["SLOW_WORLD"] === undefined ? {} : { timeScale: Number(process.env["SLOW_WORLD"]) };

describe.each(["everything", "built-in"] as const)(
  "a run that dies at any request or write is finished by the next one, with the service's %s",
  (service) => {
    for (const [title, story] of Object.entries(stories))
      it.skipIf(story.only !== undefined && story.only !== service)(title, async () => {
        const { expected, counts } = await undisturbed(story, service, slow);
        const violations: string[] = [];
        const tried = momentsOf(counts).filter((_, index) => (index + offset++) % stride === 0);
        for (const moment of tried) {
          const problems = await dieAt(story, service, moment, expected, slow);
          for (const problem of problems) violations.push(`${moment.when} ${moment.of} ${moment.nth}: ${problem}`);
        }
        countCampaign("runs that die", tried.length, violations.length);
        expect(violations.join("\n")).toEqual("");
      });
  },
);

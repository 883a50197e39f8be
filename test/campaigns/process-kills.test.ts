import { describe, expect, it } from "vitest";
import { countCampaign } from "../support/campaign-count";
import { killsOf, openCliStage } from "../support/cli-stage";
import { stories } from "../support/stories";

/** Every n-th kill point is tried, and of a few stories, or with EVERY_STORY=1 of all. */
const stride = Number(process.env["PROCESS_KILL_STRIDE"] ?? 23);
const few = ["create everything", "destroy everything"];

describe.each(["everything", "built-in"] as const)(
  "the command, killed at any request or durable write, is finished by its next run, with the service's %s",
  (service) => {
    for (const [title, story] of Object.entries(stories))
      it.skipIf(process.env["EVERY_STORY"] !== "1" && !few.includes(title))(title, async () => {
        const stage = await openCliStage(story, service);
        try {
          const { requests, writes, expected } = await stage.measure();
          const violations: string[] = [];
          // Every edit writes: a run without a counted write is one that the kills would miss.
          expect(writes).toBeGreaterThan(0);
          const kills = killsOf({ requests, writes }).filter((_, index) => index % stride === 0);
          for (const kill of kills) {
            await stage.reset();
            const killed = await stage.edit({ kill });
            const where = `${kill.when} ${kill.at} ${kill.nth}`;
            if (killed.signal !== "SIGKILL" && killed.exitCode !== 0)
              violations.push(`${where}: it was not killed: ${killed.stderr}`);
            for (const problem of await stage.recover(expected)) violations.push(`${where}: ${problem}`);
          }
          countCampaign("killed processes", kills.length, violations.length);
          expect(violations.join("\n")).toEqual("");
        } finally {
          await stage.close();
        }
      });
  },
);

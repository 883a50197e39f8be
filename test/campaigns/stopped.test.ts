import { describe, expect, it } from "vitest";
import { openCliStage } from "../support/cli-stage";
import { eventually } from "../support/eventually";
import { stories } from "../support/stories";

/** A build takes a third of a second here, so that there is something to interrupt. */
const timeScale = 200;

describe("Ctrl-C leaves a usable state, and the next run goes on", () => {
  it.each([
    ["once, what is in flight is finished and nothing more is started", 1],
    ["twice, it stops at once", 2],
  ])("%s", async (_, times) => {
    const stage = await openCliStage(stories["create everything"]!, "everything", timeScale);
    try {
      const { expected } = await stage.measure();
      await stage.reset();
      await stage.control("DELETE", "/requests");
      const stopped = await stage.edit({
        started: async (child) => {
          await eventually("a create", async () => {
            const { counts } = (await stage.control("GET", "/requests")) as { counts: Record<string, number> };
            return counts["vm.create"];
          });
          for (let time = 0; time < times; time++) {
            child.kill("SIGINT");
            await new Promise((done) => setTimeout(done, 50));
          }
        },
      });
      expect(stopped.signal).toBeNull();
      expect(stopped.exitCode).toBe(1);
      expect(stopped.stderr).not.toMatch(/^\s+at /m);
      expect(await stage.recover(expected)).toEqual([]);
    } finally {
      await stage.close();
    }
  });
});

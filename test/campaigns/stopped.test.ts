import { describe, expect, it } from "vitest";
import { endsWell, undisturbedRun } from "../support/oracles";
import type { Asked } from "../support/other-services/other-service";
import { changeScenes } from "../support/theatre";

const moments: Readonly<Record<string, (asked: Asked, created: boolean) => boolean>> = {
  "a create is under way": ({ operation }) => operation === "vm.create",
  "a new VM is waited for": ({ operation }, created) => created && operation === "vm.list",
};

describe.each(Object.entries(moments))("Ctrl-C while %s leaves a usable state, and the next run goes on", (_, isIt) => {
  it.each([
    ["once, what is in flight is finished and nothing more is started", 1],
    ["twice, it stops at once", 2],
  ])("%s", async (_, times) => {
    const scene = changeScenes.find(({ story, service }) => story === "create everything" && service === "built-in");
    const theatre = await scene!.open();
    try {
      const undisturbed = await undisturbedRun(theatre);
      await theatre.reset();
      const { child, finished } = theatre.launch();
      let [created, stopped] = [false, false];
      theatre.door.become({
        // The answer comes when the process has had its signals.
        async tell(asked) {
          if (!stopped && isIt(asked, created)) {
            stopped = true;
            for (let time = 0; time < times; time++) {
              child.kill("SIGINT");
              await new Promise((done) => setTimeout(done, 50));
            }
          }
          created ||= asked.operation === "vm.create";
          return undefined;
        },
      });
      const { exitCode, stderr } = await finished;
      expect([stopped, child.signalCode]).toEqual([true, null]);
      expect(exitCode).toBe(1);
      expect(stderr).not.toMatch(/^\s+at /m);
      theatre.door.become({});
      expect(await endsWell(theatre, undisturbed)).toEqual([]);
    } finally {
      await theatre.close();
    }
  });
});

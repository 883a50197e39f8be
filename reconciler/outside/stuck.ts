/**
 * Ends this process when its loop does not turn any more. A process that hangs looks alive to everybody else; one that
 * ended is known to have, and others go on with its work.
 */
import { writeSync } from "node:fs";
import { Worker } from "node:worker_threads";

const stuckTickMs = 1000;

/**
 * A thread of its own counts its looks at which the loop had not turned. They are counted, not timed, because a machine
 * that was asleep has not hung.
 */
const watcherProgram = `
const { workerData: { turns, most, tickMs, words } } = require("node:worker_threads");
let [seen, stuck] = [-1, 0];
setInterval(() => {
  const now = Atomics.load(turns, 0);
  stuck = now === seen ? stuck + 1 : 0;
  seen = now;
  if (stuck < most) return;
  require("node:fs").writeSync(2, words);
  process.kill(process.pid, "SIGKILL");
}, tickMs);
`;

export function endWhenStuck(limitMs: number, what: string): { stop(): Promise<void> } {
  const turns = new Int32Array(new SharedArrayBuffer(4));
  const timer = setInterval(() => Atomics.add(turns, 0, 1), stuckTickMs);
  timer.unref();
  const words = `${what} did nothing for ${limitMs / 1000} s and is ended.\n`;
  const thread = new Worker(watcherProgram, {
    eval: true,
    workerData: { turns, most: Math.ceil(limitMs / stuckTickMs), tickMs: stuckTickMs, words },
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
  });
  thread.unref();
  thread.on("error", (error) => writeSync(2, `the watch over ${what} ended: ${error.message}\n`));
  return {
    async stop() {
      clearInterval(timer);
      await thread.terminate();
    },
  };
}

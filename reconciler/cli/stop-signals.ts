/**
 * Ctrl-C once: finish what is in flight, start nothing more. Twice: wait for nothing but the answers to what was sent,
 * which would be unknown for nothing. A third time: leave. All of them leave a usable state.
 */
import { setMaxListeners } from "node:events";
import type { StopSignals } from "../engine/run-plan";
import type { Output } from "./output";

/** For the last output to be written. */
const leaveMs = 3000;

export function listenForStop(output: Output): StopSignals & { close(): void } {
  const soft = new AbortController();
  const hard = new AbortController();
  // Every command that runs listens; Node takes more than ten listeners for a leak and says so.
  setMaxListeners(0, soft.signal, hard.signal);
  const onSignal = (): void => {
    if (!soft.signal.aborted) {
      output.note("Stopping: what is in flight is finished, nothing more is started. Once more to stop at once.");
      soft.abort();
      return;
    }
    if (hard.signal.aborted) process.exit(1);
    output.note("Stopping at once: only the answers to what was sent are waited for. Once more to leave without them.");
    hard.abort();
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  return {
    soft: soft.signal,
    hard: hard.signal,
    close() {
      process.off("SIGINT", onSignal);
      process.off("SIGTERM", onSignal);
      // A request that nobody waits for any more would keep the process until its own time limit.
      if (soft.signal.aborted) setTimeout(() => process.exit(), leaveMs).unref();
    },
  };
}

/**
 * Ctrl-C once: what is in flight is finished, and nothing new is started. Twice: only answers to requests that were
 * sent are waited for, because their outcome would be unknown otherwise. A third time: the process ends. All three
 * leave a usable state.
 */
import { setMaxListeners } from "node:events";
import type { StopSignals } from "../engine/run-plan";
import type { Output } from "./output";

/** Time for the last output to be written. */
const leaveMs = 500;

export interface Stop extends StopSignals {
  /** The state does not answer: nothing that ends now could be written down. */
  atOnce(): void;
  close(): void;
}

const finishing = "Stopping: what is in flight is finished, nothing more is started. Once more to stop at once.";

export function listenForStop(output: Output, says = finishing): Stop {
  const soft = new AbortController();
  const hard = new AbortController();
  // Every command that runs listens to these signals; Node takes more than ten listeners for a leak and warns.
  setMaxListeners(0, soft.signal, hard.signal);
  const onSignal = (): void => {
    if (!soft.signal.aborted) {
      output.note(says);
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
    atOnce() {
      if (hard.signal.aborted) return;
      output.note("The state does not answer: stopping at once. The next run looks what became of what was begun.");
      hard.abort();
    },
    close() {
      process.off("SIGINT", onSignal);
      process.off("SIGTERM", onSignal);
      // A request that nobody waits for would keep the process until the request's own time limit.
      if (soft.signal.aborted) setTimeout(() => process.exit(), leaveMs).unref();
    },
  };
}

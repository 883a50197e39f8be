/**
 * Ctrl-C once: what is in flight is finished, and nothing new is started. Twice: only answers to requests that were
 * sent are waited for, because their outcome would be unknown otherwise. A third time: the process ends. All three
 * leave a usable state. A terminal that is closed counts as the first, however often it is told.
 */
import { setMaxListeners } from "node:events";
import type { Diagnostic } from "../core/model/diagnostic";
import type { StopSignals } from "../engine/run-plan";
import type { Output } from "./output";

const leftWithout: Diagnostic = {
  severity: "error",
  code: "apply/interrupted",
  summary: "left without the answers to what was sent",
  fix: "run the same command again: it looks what became of that, and goes on",
};

/** Of a command that tries things out: what was not tried has found nothing. */
export const cutShort = (what: string): Diagnostic => ({
  severity: "error",
  code: "apply/interrupted",
  summary: `stopped before ${what} was over`,
  fix: "run the same command again",
});

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
    if (output.finished) process.exit(1);
    if (hard.signal.aborted) process.exit(output.finish({ exitCode: 1, diagnostics: [leftWithout] }));
    output.note("Stopping at once: only the answers to what was sent are waited for. Once more to leave without them.");
    hard.abort();
  };
  let isHungUp = false;
  const onHangup = (): void => {
    isHungUp = true;
    if (!soft.signal.aborted) onSignal();
  };
  // Node aborts at its end where it cannot give a terminal that is gone its modes back. The signal ends it before.
  const endOfHangup = (): void => {
    process.off("SIGHUP", onHangup);
    process.kill(process.pid, "SIGHUP");
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  process.on("SIGHUP", onHangup);
  return {
    soft: soft.signal,
    hard: hard.signal,
    atOnce() {
      if (hard.signal.aborted) return;
      output.note("The state does not answer: stopping at once. The next run looks what became of what was begun.");
      hard.abort();
    },
    close() {
      if (isHungUp && process.stderr.isTTY === true) process.on("exit", endOfHangup);
      // A request that nobody waits for would keep the process until the request's own time limit. Until it is left, one
      // more signal leaves it at once.
      if (soft.signal.aborted) {
        setTimeout(() => process.exit(), leaveMs).unref();
        return;
      }
      process.off("SIGINT", onSignal);
      process.off("SIGTERM", onSignal);
      process.off("SIGHUP", onHangup);
    },
  };
}

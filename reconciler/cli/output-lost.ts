import type { Diagnostic } from "../core/model/diagnostic";
import { errorMessage } from "../core/text/errors";

/**
 * An output that cannot be written ends no run half-way: the end of the process says so, with exit code 1. The answer is
 * for a summary that is still to be written elsewhere.
 */
export function tellOutputLost(what: string, error: unknown): Diagnostic {
  const lost = {
    severity: "error",
    code: "cli/output-lost",
    summary: `${what} could not be written: ${errorMessage(error)}`,
    fix: "make room where it goes; what was done is recorded, and reconcile plan shows what is left",
  } satisfies Diagnostic;
  process.on("exit", () => {
    process.exitCode = 1;
    process.stderr.write(`error[${lost.code}]: ${lost.summary}\n   = fix: ${lost.fix}\n`);
  });
  return lost;
}

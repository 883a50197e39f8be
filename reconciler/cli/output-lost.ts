import { errorMessage } from "../core/text/errors";

/** An output that cannot be written ends no run half-way: the end of the process says so, with exit code 1. */
export function tellOutputLost(what: string, error: unknown): void {
  process.on("exit", () => {
    process.exitCode = 1;
    process.stderr.write(
      `error[cli/output-lost]: ${what} could not be written: ${errorMessage(error)}\n   = fix: make room where it goes; what was done is recorded, and reconcile plan shows what is left\n`,
    );
  });
}

/** Checks that every code that a file denies exists. Codes of `--deny` are checked when flags are read. */
import type { Denial } from "../core/model/desired";
import type { Diagnostic } from "../core/model/diagnostic";
import { CommandFailed } from "./crash";
import { isDeniable, nearestCode } from "./flag-values";

/** A misspelt code would deny nothing, and nobody would notice. */
export function assertKnown(denials: readonly Denial[]): void {
  const unknown = denials.filter(({ code }) => !isDeniable(code));
  if (unknown.length === 0) return;
  throw new CommandFailed(
    unknown.map(({ code, source }): Diagnostic => {
      const near = nearestCode(code);
      return {
        severity: "error",
        code: "config/not-allowed",
        summary: `there is no code ${code} to deny`,
        fix: near === undefined ? "reconcile explain lists all codes" : `write ${near}`,
        source,
      };
    }),
  );
}

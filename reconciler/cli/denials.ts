/** The codes that a file or a flag denies, held against those there are. */
import type { Denial } from "../core/model/desired";
import type { Diagnostic } from "../core/model/diagnostic";
import { nearestName } from "../core/text/nearest";
import { explanations } from "../report/explanations";
import { CommandFailed } from "./crash";

/** A misspelt code would deny nothing, and nobody would notice. */
export function assertKnown(denials: readonly Denial[]): void {
  const unknown = denials.filter(({ code }) => !isKnown(code));
  if (unknown.length === 0) return;
  throw new CommandFailed(
    unknown.map(({ code, source }): Diagnostic => {
      const near = nearestName(code, Object.keys(explanations));
      return {
        severity: "error",
        code: source === undefined ? "cli/bad-flag" : "config/not-allowed",
        summary: `there is no code ${code} to deny`,
        fix: near === undefined ? "reconcile explain lists all codes" : `write ${near}`,
        ...(source === undefined ? {} : { source }),
      };
    }),
  );
}

const isKnown = (code: string): boolean =>
  code === "*" ||
  code.startsWith("policy/") ||
  (code.endsWith("/*")
    ? Object.keys(explanations).some((known) => known.startsWith(code.slice(0, -1)))
    : Object.hasOwn(explanations, code));

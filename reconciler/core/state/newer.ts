/**
 * What a newer version of this tool wrote. It may hold what this version does not know, so it is neither read nor
 * replaced: whoever writes over it forgets resources that exist.
 */

import type { Diagnostic } from "../model/diagnostic";
import type { DiagnosticCode } from "../model/diagnostic-code";
import { printable } from "../text/printable";

/** The only version of each format that there has been: of states, journals, stored documents, saved plans and the records of programs. */
export const knownVersion = 1;

/** `undefined`: it is not newer, and may be nothing that can be read at all. */
export const newerVersion = (version: unknown): string | undefined =>
  typeof version === "number" && version > knownVersion ? String(version) : undefined;

export class WrittenByNewer extends Error {
  override readonly name = "WrittenByNewer";
  readonly code = "state/newer" satisfies DiagnosticCode;
  readonly diagnostics: readonly Diagnostic[];
  /** `needs`: the version that it says it needs. */
  constructor(what: string, because: string, needs?: unknown) {
    const summary = `${what} was written by a newer version of reconcile: ${because}; it is not read, and nothing replaces it`;
    super(summary);
    const version =
      typeof needs === "string" ? `reconcile-cloud@${printable(needs.slice(0, 40))}` : "reconcile-cloud@latest";
    this.diagnostics = [
      {
        severity: "error",
        code: "state/newer",
        summary,
        fix: `install the version that wrote it, or a later one, and run the same command again: npm install --global ${version}`,
      },
    ];
  }
}

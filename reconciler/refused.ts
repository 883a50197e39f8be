import { asClosed, type Closed, type Desired, isOpen } from "./core/model/desired";
import type { Diagnostic } from "./core/model/diagnostic";
import type { DiagnosticCode } from "./core/model/diagnostic-code";

/** What the user has to put right first: every problem with what would make it work. Nothing was sent. */
export class Refused extends Error {
  override readonly name: string = "Refused";
  /** Of the first problem. */
  readonly code: Diagnostic["code"];
  constructor(
    readonly diagnostics: readonly Diagnostic[],
    say: (diagnostic: Diagnostic) => string = sentenceOf,
  ) {
    super(diagnostics.map(say).join("\n"));
    this.code = diagnostics[0]?.code ?? "apply/failed";
  }
}

export const sentenceOf = ({ summary, detail, fix }: Pick<Diagnostic, "summary" | "detail" | "fix">): string =>
  [summary, detail, fix].filter((text) => text !== undefined).join(" — ");

export const refuse = (code: DiagnosticCode, summary: string, fix: string): Refused =>
  new Refused([{ severity: "error", code, summary, fix }]);

/** For programs, which may hand in what they read with `external: "later"`. */
export function closedOrRefused(desired: Desired): Closed {
  if (isOpen(desired))
    throw refuse(
      "config/read-failed",
      "the file's reads and lookups were not carried out, so the values that need them are missing",
      "read it again: readDesired(sources, { external: await cloud.look(desired) })",
    );
  return asClosed(desired);
}

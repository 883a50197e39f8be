/**
 * A problem of the user, as a value: a stable code, a fixed summary, then what, why and what to do, with the address
 * and the source line it belongs to. All of them are collected and shown sorted; nothing throws for them.
 */
import { fieldsIn } from "../text/objects";
import type { DiagnosticCode, PolicyCode } from "./diagnostic-code";
import type { Fix } from "./fix";

export type Severity = "error" | "warning" | "note";

export interface SourcePosition {
  readonly file: string;
  /** 1-based. */
  readonly line: number;
  readonly column?: number;
}

export interface Diagnostic {
  readonly severity: Severity;
  /** Stable, e.g. `config/unknown-key`; `reconcile explain CODE` tells more. */
  readonly code: DiagnosticCode | PolicyCode;
  /** One line, fixed for the code but for names. */
  readonly summary: string;
  /** What was found and what was expected. */
  readonly detail?: string;
  /** The exact flag, field or command that makes it work. */
  readonly fix?: string;
  /** What the fix is made of where it names commands, for another door than the command line. */
  readonly fixParts?: readonly Fix[];
  readonly address?: string;
  readonly source?: SourcePosition;
  /** The offending source line as written, for the excerpt. */
  readonly excerpt?: string;
}

const severityRank: Record<Severity, number> = { error: 0, warning: 1, note: 2 };

/** Errors first, then by file, line, address and text, so that the same problems always print in the same order. */
export const sortDiagnostics = <D extends Diagnostic>(diagnostics: readonly D[]): D[] =>
  [...diagnostics].sort(
    (a, b) =>
      severityRank[a.severity] - severityRank[b.severity] ||
      compareText(a.source?.file ?? "", b.source?.file ?? "") ||
      (a.source?.line ?? 0) - (b.source?.line ?? 0) ||
      (a.source?.column ?? 0) - (b.source?.column ?? 0) ||
      compareText(a.address ?? "", b.address ?? "") ||
      compareText(a.summary, b.summary),
  );

/** The diagnostics that a thrown error carries. Every error of this project with such a field has a list of them in it. */
export function diagnosticsIn(error: unknown): readonly Diagnostic[] | undefined {
  const { diagnostics } = fieldsIn(error);
  return Array.isArray(diagnostics) ? diagnostics : undefined;
}

export const errorsAmong = <D extends Pick<Diagnostic, "severity">>(diagnostics: readonly D[]): D[] =>
  diagnostics.filter(({ severity }) => severity === "error");

export const hasErrors = (diagnostics: readonly Diagnostic[]): boolean =>
  diagnostics.some((diagnostic) => diagnostic.severity === "error");

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * What a reviewer has to see of a plan, as one list that every form shows: a finding is a diagnostic, and one that
 * carries `refused` keeps the plan from being carried out (exit 3). `deny` and `--strict` decide that here, once.
 */
import type { Denial } from "../model/desired";
import type { Diagnostic } from "../model/diagnostic";

export interface Finding extends Diagnostic {
  /** Why the plan is not carried out: `denied by --deny exposure/open-port`. Left out: the finding stops nothing. */
  readonly refused?: string;
  /** For an assertion that does not hold: one flow that shows it, and the whole set. */
  readonly counterexample?: {
    readonly set: string;
    readonly witness: { readonly direction: string; readonly service: string; readonly peer: string } | null;
    readonly rule: string | null;
    readonly step: string | null;
  };
}

export interface Strictness {
  readonly deny: readonly Denial[];
  /** With `--strict` every warning stops the plan, except those that have a consent of their own. */
  readonly strict: boolean;
}

const denies = (denied: string, code: string): boolean =>
  denied === code || denied === "*" || (denied.endsWith("/*") && code.startsWith(denied.slice(0, -1)));

export function judge(findings: readonly Finding[], { deny, strict }: Strictness): Finding[] {
  return findings.map((finding) => {
    if (finding.refused !== undefined) return finding;
    const denial = deny.find(({ code }) => denies(code, finding.code));
    if (denial !== undefined) return { ...finding, severity: "error", refused: deniedBy(denial) };
    // A consent is given with a flag of its own, and `--strict` does not take that away.
    return strict && finding.severity === "warning" && !finding.code.startsWith("consent/")
      ? { ...finding, severity: "error", refused: "refused by --strict" }
      : finding;
  });
}

const deniedBy = ({ code, source }: Denial): string =>
  source === undefined ? `denied by --deny ${code}` : `denied by deny: ${code} (${source.file}:${source.line})`;

export const isRefused = (findings: readonly Finding[]): boolean =>
  findings.some(({ refused }) => refused !== undefined);

/** The finding as a diagnostic that names what refuses the plan. */
export const findingAsDiagnostic = ({ refused, counterexample: _, ...diagnostic }: Finding): Diagnostic =>
  refused === undefined || diagnostic.detail?.includes(refused) === true
    ? diagnostic
    : { ...diagnostic, detail: diagnostic.detail === undefined ? refused : `${diagnostic.detail}; ${refused}` };

/**
 * What a reviewer has to see of a plan, as one list that every form shows: a finding is a diagnostic, and one that
 * carries `refused` keeps the plan from being carried out (exit 3). `deny` and `--strict` decide that here, once.
 */
import type { Denial } from "../model/desired";
import type { Diagnostic } from "../model/diagnostic";

export interface Finding extends Diagnostic {
  /** Why the plan is not carried out: `denied by --deny exposure/open-port`. Left out: it is carried out all the same. */
  readonly refused?: string;
  /** Of an assertion that does not hold: one flow that shows it, and the whole set. */
  readonly counterexample?: {
    readonly set: string;
    readonly witness: { readonly direction: string; readonly service: string; readonly peer: string } | null;
    readonly rule: string | null;
    readonly step: string | null;
  };
}

export interface Strictness {
  readonly deny: readonly Denial[];
  /** No warning passes, but for what has a consent of its own. */
  readonly strict: boolean;
}

export const denies = (denied: string, code: string): boolean =>
  denied === code || denied === "*" || (denied.endsWith("/*") && code.startsWith(denied.slice(0, -1)));

export function judge(findings: readonly Finding[], { deny, strict }: Strictness): Finding[] {
  return findings.map((finding) => {
    if (finding.refused !== undefined) return finding;
    const denial = deny.find(({ code }) => denies(code, finding.code));
    if (denial !== undefined) return { ...finding, severity: "error", refused: deniedBy(denial) };
    // A consent has a flag of its own; to be strict takes nothing away from whoever gave it.
    return strict && finding.severity === "warning" && !finding.code.startsWith("consent/")
      ? { ...finding, severity: "error", refused: "refused by --strict" }
      : finding;
  });
}

const deniedBy = ({ code, source }: Denial): string =>
  source === undefined ? `denied by --deny ${code}` : `denied by deny: ${code} (${source.file}:${source.line})`;

export const isRefused = (findings: readonly Finding[]): boolean =>
  findings.some(({ refused }) => refused !== undefined);

/** As a diagnostic, which says what the refusal comes from. */
export const asDiagnostic = ({ refused, counterexample: _, ...diagnostic }: Finding): Diagnostic =>
  refused === undefined || diagnostic.detail?.includes(refused) === true
    ? diagnostic
    : { ...diagnostic, detail: diagnostic.detail === undefined ? refused : `${diagnostic.detail}; ${refused}` };

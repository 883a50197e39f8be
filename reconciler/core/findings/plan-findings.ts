/**
 * Everything a reviewer of a plan has to see, in one list: problems, what the plan opens to the network, and the
 * consents it needs.
 */
import type { Exposure } from "../../kinds/group/exposure/exposure";
import { exposureFindings } from "../../kinds/group/exposure/findings";
import { type Diagnostic, sortDiagnostics } from "../model/diagnostic";
import { consentCodes } from "../plan/consent";
import type { Plan } from "../plan/plan";
import { type Finding, judge, type Strictness } from "./finding";

export interface PlanFindings {
  readonly plan: Plan;
  /** Diagnostics of the files, the service and the plan. */
  readonly diagnostics: readonly Diagnostic[];
  /** Absent: the plan changes no group. */
  readonly exposure?: Exposure | undefined;
  /** Findings of assertions, checks and policies. */
  readonly more?: readonly Finding[];
}

export function findingsOfPlan(
  { plan, diagnostics, exposure, more = [] }: PlanFindings,
  strictness: Strictness,
): Finding[] {
  const sources = new Map(plan.changes.map(({ address, source }) => [address, source]));
  const sourceOf = (address: string) => sources.get(address);
  const opened = exposure === undefined ? [] : exposureFindings(exposure, { plannedOnly: true, sourceOf });
  const consents = plan.consents.map(({ kind, address, detail, grant, source: place }): Finding => {
    const source = place ?? (address === undefined ? undefined : sourceOf(address));
    return {
      severity: kind === "prevent_destroy" ? "error" : "warning",
      code: consentCodes[kind],
      summary: detail,
      fix: grant,
      address,
      source,
    };
  });
  return sortDiagnostics(judge([...diagnostics, ...opened, ...consents, ...more], strictness));
}

/** Findings that the plan's own text shows in another place: what it opens, and which consents it needs. */
export const isInPlanText = ({ code, refused }: Finding): boolean =>
  refused === undefined && (code.startsWith("exposure/") || code.startsWith("consent/"));

/**
 * What a plan has for its reviewer, and whether that keeps it from being carried out: every command that plans comes
 * through here before it shows the plan, and the ones that apply before the first write.
 */
import { type Exposure, exposureOf } from "../core/exposure/exposure";
import { asDiagnostic, type Finding, isRefused, type Strictness } from "../core/findings/finding";
import { findingsOfPlan, isInPlanText } from "../core/findings/plan-findings";
import type { Denial } from "../core/model/desired";
import { type Diagnostic, hasErrors } from "../core/model/diagnostic";
import { judgeReachability, type Reachability } from "../core/reachability/findings";
import type { Prepared } from "../engine/plan";
import { todayUtc } from "../outside/clock";
import { assertKnown } from "./denials";
import type { Flags } from "./flags";
import { allDiagnostics, type Session } from "./session";

export interface Review {
  readonly findings: readonly Finding[];
  /** Absent: the plan changes no group. */
  readonly exposure: Exposure | undefined;
  readonly reachability: Reachability;
  /** Those that the plan's own text does not have, as the run's diagnostics. */
  readonly diagnostics: readonly Diagnostic[];
  /** 1: it cannot be planned. 3: it is refused before anything is sent. */
  readonly exitCode: 0 | 1 | 3;
}

export async function reviewPlan(session: Session, prepared: Prepared): Promise<Review> {
  const { plan } = prepared;
  const diagnostics = allDiagnostics(session, plan);
  const exposure = plannedExposure(prepared);
  const reachability = judgeReachability(prepared, { today: todayUtc() });
  const findings = findingsOfPlan(
    { plan, diagnostics, exposure, more: reachability.findings },
    strictnessOf(session.workspace.desired.deny ?? [], session.invocation.flags),
  );
  return {
    findings,
    exposure,
    reachability,
    diagnostics: findings.filter((finding) => !isInPlanText(finding)).map(asDiagnostic),
    exitCode: hasErrors(diagnostics) ? 1 : isRefused(findings) ? 3 : 0,
  };
}

/** What the plan's groups admit; nothing is computed for a plan without groups. */
function plannedExposure(prepared: Prepared): Exposure | undefined {
  if (!prepared.plan.changes.some((change) => change.kind === "group")) return undefined;
  return exposureOf(prepared, { touchedOnly: true });
}

function strictnessOf(denials: readonly Denial[], flags: Flags): Strictness {
  const deny = [...denials, ...(flags.deny ?? []).map((code) => ({ code }))];
  assertKnown(deny);
  return { deny, strict: flags.strict === true };
}

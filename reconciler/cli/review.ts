/**
 * The findings of a plan for its reviewer, and whether they keep the plan from being carried out. Every command that
 * plans comes through here before it shows the plan, and those that apply before the first write.
 */
import { dirname, resolve } from "node:path";
import { type Finding, findingAsDiagnostic, isRefused, type Strictness } from "../core/findings/finding";
import { isInPlanText } from "../core/findings/plan-findings";
import { findingsOfAnswer } from "../core/findings/policy-answer";
import { shownText } from "../core/model/computed";
import type { Denial } from "../core/model/desired";
import { type Diagnostic, hasErrors } from "../core/model/diagnostic";
import type { Policy } from "../core/model/policy";
import { isEmpty, type Plan } from "../core/plan/plan";
import { idlePermissions } from "../core/plan/select";
import type { StepAction } from "../core/plan/step";
import { printable } from "../core/text/printable";
import type { Prepared } from "../engine/plan";
import { judgePlan } from "../judge-plan";
import type { Exposure } from "../kinds/group/exposure/exposure";
import { askProgram } from "../outside/commands";
import { setting } from "../outside/environment";
import { refusedCheck, type Trust } from "../outside/trust";
import { policyInput } from "../report/policy-input";
import { createMasking } from "../service/masking";
import type { Flags } from "./flags";
import { allDiagnostics, type Session } from "./session";

/** Where a plan was made. */
export interface PlanPlace {
  readonly workspace: Pick<Session["workspace"], "sensitive">;
  readonly service: Pick<Session["service"], "baseUrl" | "trust">;
}

export interface Review {
  readonly findings: readonly Finding[];
  /** Absent when the plan changes no group. */
  readonly exposure: Exposure | undefined;
  /** The findings that the plan's own text does not show, as diagnostics of the run. */
  readonly diagnostics: readonly Diagnostic[];
  /** 1: it cannot be planned. 3: it is refused before anything is sent. */
  readonly exitCode: 0 | 1 | 3;
}

export async function reviewPlan(session: Session, prepared: Prepared): Promise<Review> {
  const { plan } = prepared;
  const diagnostics = [...allDiagnostics(session, plan), ...permissionsUnused(session.invocation.flags, prepared)];
  const strictness = strictnessOf(prepared.desired.deny ?? [], session.invocation.flags);
  const { exposure, findingsWith } = judgePlan(prepared, diagnostics, strictness);
  const judged = findingsWith([]);
  // The policy judges no plan that has errors or changes nothing.
  const { invocation, service } = session;
  const isShown = looking.includes(invocation.command) || (invocation.command === "watch" && !invocation.flags.apply);
  const missing = programsMissing(plan, service.trust, isShown);
  const asked =
    hasErrors(diagnostics) || isEmpty(plan) ? [] : [...missing, ...(await askPolicy(session, prepared, judged))];
  const findings = asked.length === 0 ? judged : findingsWith(asked);
  return {
    findings,
    exposure,
    diagnostics: findings.filter((finding) => !isInPlanText(finding)).map(findingAsDiagnostic),
    exitCode: hasErrors(diagnostics) ? 1 : isRefused(findings) ? 3 : 0,
  };
}

function permissionsUnused(flags: Flags, { desired, state, plan }: Prepared): Diagnostic[] {
  const { "allow-loss": allowLoss = [], "confirm-flush": confirmFlush = [], recreate = [], unprotect = [] } = flags;
  return idlePermissions({ "allow-loss": allowLoss, "confirm-flush": confirmFlush, recreate, unprotect }, [
    ...desired.resources,
    ...state.resources.values(),
    ...state.intents.values(),
    ...plan.changes,
  ]);
}

/** The commands that carry nothing out. */
const looking: readonly string[] = ["plan", "graph", "rehearse"];

/** The findings for a reader who does not see the plan's text: all but the consents, which are shown elsewhere. */
export const withoutPlanText = ({ findings }: Pick<Review, "findings">): readonly Diagnostic[] =>
  findings.filter((finding) => finding.code.startsWith("exposure/") || !isInPlanText(finding)).map(findingAsDiagnostic);

/** `policy:` of the file: a program that reads the plan and answers with findings within a time limit. */
export async function askPolicy(
  { workspace, service }: PlanPlace,
  { plan, desired }: Pick<Prepared, "plan" | "desired">,
  findings: readonly Finding[],
): Promise<Finding[]> {
  const { sensitive } = workspace;
  const { policy, said } = policyIn(desired.policy, service.trust);
  if (policy === undefined) return said;
  const masked = createMasking(sensitive ?? new Set()).text;
  // A policy is often seen to print what it reads.
  const hide = (_: string, value: unknown): unknown => (typeof value === "string" ? masked(value) : value);
  const input = `${JSON.stringify(policyInput(plan, desired, findings, service.baseUrl), hide)}\n`;
  const beside = dirname(resolve(policy.source.file));
  const answer = await askProgram(policy.command, beside, input, policy.timeoutMs, policy.env);
  const found = findingsOfAnswer(answer, policy.source);
  return [...said, ...found.map((finding) => ({ ...finding, ...maskedTexts(finding, masked) }))];
}

/** Before a report escapes them, so that what is hidden is found in them. */
const maskedTexts = ({ summary, detail, fix }: Finding, masked: (text: string) => string) => ({
  summary: masked(summary),
  detail: detail === undefined ? undefined : masked(detail),
  fix: fix === undefined ? undefined : masked(fix),
});

const usualPolicyTimeoutMs = 60_000;

/** The policy that judges: the file's, or in a closed run the one that RECONCILE_POLICY names, whatever the file says. */
function policyIn(
  own: Policy | undefined,
  { closedBy }: Trust,
): { readonly policy?: Policy | undefined; readonly said: Finding[] } {
  if (closedBy === undefined) return { policy: own, said: [] };
  const path = setting("RECONCILE_POLICY");
  const instead: Policy | undefined =
    path === undefined
      ? undefined
      : { command: [resolve(path)], timeoutMs: usualPolicyTimeoutMs, source: { file: path, line: 1 } };
  if (own === undefined) return { policy: instead, said: [] };
  const judge = instead === undefined ? "nothing else judged this plan" : "RECONCILE_POLICY judged this plan instead";
  const said: Finding = {
    severity: instead === undefined ? "warning" : "note",
    code: "policy/not-run",
    summary: `the file's policy was not run: ${printable(own.command.join(" "))}`,
    detail: `${closedBy} starts no program that a file names; ${judge}`,
    fix: instead === undefined ? "RECONCILE_POLICY=/path of a program that judges it instead" : undefined,
    source: own.source,
  };
  return { policy: instead, said: [said] };
}

/** The program of a file without which a step cannot be carried out. */
function programOf(action: StepAction) {
  if (action.operation === "flush") return action;
  return action.operation === "vm.check" && action.check.kind === "command" ? action.check : undefined;
}

/**
 * What a plan needs programs for that this run does not start. A plan that is only shown says so; one that would be
 * carried out is refused, since a flush or a check that is left out is none.
 */
export function programsMissing({ steps }: Plan, trust: Trust, isShown: boolean): Finding[] {
  const { closedBy } = trust;
  if (closedBy === undefined) return [];
  return steps.flatMap(({ action, address }): Finding[] => {
    if (action.operation === "vm.check" && action.check.kind === "http") {
      const refused = refusedCheck(trust, shownText(action.check.url));
      if (refused === undefined) return [];
      return [
        {
          ...{ ...refused, summary: `${address}: ${refused.summary}`, address },
          ...(isShown ? { severity: "note" as const } : { refused: `refused by ${closedBy}` }),
        },
      ];
    }
    const command = programOf(action);
    if (command === undefined) return [];
    const words = printable(command.argv.map(shownText).join(" "));
    const what = action.operation === "flush" ? "flush command" : "check";
    return [
      {
        severity: isShown ? "note" : "error",
        code: "trust/program",
        summary: `${address}: apply ${isShown ? "runs" : "needs"} its ${what}: ${words}`,
        detail: `${closedBy} starts no program that a file names`,
        ...(isShown
          ? {}
          : { fix: `run it without ${closedBy} where the files were reviewed`, refused: `refused by ${closedBy}` }),
        address,
      },
    ];
  });
}

const strictnessOf = (denials: readonly Denial[], flags: Flags): Strictness => ({
  deny: [...denials, ...(flags.deny ?? []).map((code) => ({ code }))],
  strict: flags.strict === true,
});

/** What plan, apply and destroy have in common: make the plan, show it, get the consent, carry it out, say how it ended. */
import type { PlanOptions } from "../core/diff/context";
import type { Desired } from "../core/model/desired";
import { type Diagnostic, hasErrors } from "../core/model/diagnostic";
import { type Consent, type Grants, missingConsents } from "../core/plan/consent";
import type { Plan } from "../core/plan/plan";
import type { EngineEvent } from "../engine/events";
import { type Prepared, preparePlan } from "../engine/plan";
import type { RunReport } from "../engine/run-plan";
import type { StateStore } from "../store/store";
import { createPorts, holderOf, newLineage, openService, openStore, type Service, systemClock } from "./compose";
import type { Flags } from "./flags";
import type { Invocation } from "./invocation";
import { listenForStop } from "./stop-signals";
import type { Workspace } from "./workspace";

export interface Session {
  readonly invocation: Invocation;
  readonly workspace: Workspace;
  readonly service: Service;
  readonly store: StateStore;
}

export async function withSession(
  invocation: Invocation,
  workspace: Workspace,
  use: (session: Session) => Promise<number>,
): Promise<number> {
  const store = openStore(workspace, invocation.flags);
  const service = await openService(workspace, invocation);
  try {
    return await use({ invocation, workspace, service, store });
  } finally {
    await service.close();
  }
}

/** A plan alone loads nothing of what carries one out. */
const applying = () => require("../engine/apply") as typeof import("../engine/apply");

export const planOptions = (flags: Flags): PlanOptions => ({
  ...(flags.destroy === true ? { destroy: true } : {}),
  ...(flags.target === undefined ? {} : { targets: [...flags.target].sort() }),
  ...(flags.replace === undefined ? {} : { replace: [...flags.replace].sort() }),
  ...(flags.adopt === true ? { adopt: true } : {}),
});

export async function prepare(
  session: Session,
  options: PlanOptions,
  desired: Desired = session.workspace.desired,
): Promise<Prepared> {
  const { store, service, invocation } = session;
  const observe = invocation.flags["no-refresh"] !== true;
  return preparePlan({
    desired,
    store,
    client: service.client,
    options,
    clock: systemClock,
    lineage: newLineage(),
    observe,
    emit: (event) => {
      if (event.type === "refresh" && event.status === "started" && observe && event.resources >= manyResources)
        invocation.output.note(`Looking at ${event.resources} resources in the service.`);
    },
  });
}

/** So many take long enough to look at that a person wonders. */
const manyResources = 200;

/** The plan for people or as JSON lines; its diagnostics go with the summary. */
export function showPlan(invocation: Invocation, plan: Plan): void {
  const { output, flags } = invocation;
  if (output.json) {
    const { changeEvents } = require("../report/json-lines") as typeof import("../report/json-lines");
    for (const event of changeEvents(plan)) output.event(event);
    return;
  }
  const { planLines } = require("../report/plan-text") as typeof import("../report/plan-text");
  const grants = grantsOf(flags);
  output.printLines(
    planLines(plan, { colour: output.colour, width: output.width, steps: flags.steps === true, grants }),
  );
}

export const allDiagnostics = (session: Session, plan: Plan): Diagnostic[] => [
  ...session.workspace.diagnostics,
  ...session.service.diagnostics,
  ...plan.diagnostics,
];

export interface Approval {
  /** A plan that was reviewed as a file: what it loses was seen. */
  readonly reviewed: boolean;
}

/** Plans, asks, applies. */
export async function planAndApply(session: Session, options: PlanOptions): Promise<number> {
  const { store, service, workspace, invocation } = session;
  const stop = listenForStop(invocation.output);
  try {
    const { awaitInterrupted } = require("../engine/await-interrupted") as typeof import("../engine/await-interrupted");
    await awaitInterrupted(
      store,
      service.client,
      createPorts(service, workspace, () => undefined),
      newLineage(),
      stop.soft,
    );
    const prepared = await prepare(session, options);
    showPlan(invocation, prepared.plan);
    return await approveAndApply(session, prepared, { reviewed: false }, stop);
  } finally {
    stop.close();
  }
}

export async function approveAndApply(
  session: Session,
  prepared: Prepared,
  approval: Approval,
  stop: ReturnType<typeof listenForStop>,
): Promise<number> {
  const { invocation } = session;
  const { output } = invocation;
  const { plan } = prepared;
  const diagnostics = allDiagnostics(session, plan);
  if (hasErrors(diagnostics)) return output.finish({ exitCode: 1, diagnostics, plan });
  const { hasNothingToDo } = applying();
  if (hasNothingToDo(plan)) return output.finish({ exitCode: 0, diagnostics, plan });
  if (plan.steps.length > 0) {
    const refused = await getConsent(invocation, plan, approval);
    if (refused.length > 0)
      return output.finish({ exitCode: 3, diagnostics: [...diagnostics, ...refused.map(consentMissing)], plan });
  }
  const report = await carryOut(session, prepared, stop);
  return finishRun(session, prepared, report, diagnostics);
}

export async function carryOut(
  session: Session,
  prepared: Prepared,
  stop: ReturnType<typeof listenForStop>,
  listen?: (event: EngineEvent) => void,
): Promise<RunReport> {
  const { service, store, workspace, invocation } = session;
  const { startProgress } = require("./progress") as typeof import("./progress");
  const { savePlan } = require("./saved-plan") as typeof import("./saved-plan");
  const { applyPlan } = applying();
  const progress = startProgress(invocation.output, prepared.plan);
  const emit = (event: EngineEvent): void => {
    progress.event(event);
    listen?.(event);
  };
  try {
    return await applyPlan({
      prepared,
      store,
      ports: createPorts(service, workspace, emit),
      holder: holderOf(invocation.spec.name),
      stop,
      planId: savePlan(prepared.plan, prepared.desired, workspace.folder).id,
    });
  } finally {
    progress.close();
  }
}

function finishRun(
  session: Session,
  prepared: Prepared,
  report: RunReport,
  diagnostics: readonly Diagnostic[],
): number {
  const { output } = session.invocation;
  const { runText } = require("../report/run-text") as typeof import("../report/run-text");
  const exitCode = exitCodeOf(report);
  output.print(runText(report, prepared.plan, { colour: output.colour, width: output.width }));
  const shown = output.json
    ? [...diagnostics, ...stepDiagnostics(report)]
    : diagnostics.filter((diagnostic) => diagnostic.severity !== "note");
  return output.finish({ exitCode, diagnostics: shown, plan: prepared.plan, run: report });
}

export function exitCodeOf(report: RunReport): number {
  if (report.broken !== undefined || report.counts.failed > 0 || report.interrupted) return 1;
  return report.counts.waiting > 0 ? 4 : 0;
}

/** Failed and waiting steps, for readers of the summary. */
function stepDiagnostics(report: RunReport): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  for (const { step, result } of report.steps) {
    if (result.end === "done" || result.end === "skipped") continue;
    const said = "code" in result ? result : undefined;
    diagnostics.push({
      severity: result.end === "waiting" ? "warning" : "error",
      code: said?.code ?? `apply/${result.end}`,
      summary: `${step.title}: ${result.message ?? result.end}`,
      address: step.address,
      ...(said?.fix === undefined ? {} : { fix: said.fix }),
    });
  }
  return diagnostics;
}

export const grantsOf = (flags: Flags): Grants => ({
  allowDataLoss: flags["allow-data-loss"] === true,
  allowEmpty: flags["allow-empty"] === true,
  confirmFlush: flags["confirm-flush"] ?? [],
});

async function getConsent(invocation: Invocation, plan: Plan, approval: Approval): Promise<MissingConsent[]> {
  const { flags } = invocation;
  const automatic = flags["auto-approve"] === true || approval.reviewed;
  const interactive = !automatic && process.stdin.isTTY === true && !invocation.output.json;
  const given = grantsOf(flags);
  const grants: Grants = {
    allowDataLoss: given.allowDataLoss || approval.reviewed || interactive,
    allowEmpty: given.allowEmpty || approval.reviewed,
    confirmFlush: interactive ? ["all"] : given.confirmFlush,
  };
  const missing: MissingConsent[] = missingConsents(plan.consents, grants);
  if (missing.length > 0) return missing;
  if (automatic) return [];
  if (!interactive)
    return [
      {
        kind: "approval",
        detail: "the plan was not approved, and there is nobody to ask",
        grant: "--auto-approve (or save it with plan --out and apply that)",
      },
    ];
  const { ask } = require("./ask") as typeof import("./ask");
  const confirmed = new Set(flags["confirm-flush"] ?? []);
  for (const consent of plan.consents)
    if (
      consent.kind === "flush" &&
      !confirmed.has("all") &&
      !confirmed.has(consent.address ?? "") &&
      !(await ask(`${consent.detail}. Is it unmounted or synced?`))
    )
      return [consent];
  const losses = plan.consents.filter((consent) => consent.kind === "data_loss").length;
  const question =
    losses === 0
      ? "Apply this plan?"
      : `Apply this plan, and lose what is listed above (${losses} ${losses === 1 ? "loss" : "losses"})?`;
  return (await ask(question))
    ? []
    : [{ kind: "approval", detail: "the plan was not approved", grant: "answer yes, or --auto-approve" }];
}

type MissingConsent = Omit<Consent, "kind"> & { readonly kind: Consent["kind"] | "approval" };

const consentMissing = (consent: MissingConsent): Diagnostic => ({
  severity: "error",
  code: `consent/${consent.kind.replaceAll("_", "-")}`,
  summary: consent.detail,
  fix: consent.grant,
  ...(consent.address === undefined ? {} : { address: consent.address }),
});

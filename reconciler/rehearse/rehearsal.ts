/**
 * The dress rehearsal: the plan for the real service is carried out on its twin, by the engine that would carry it out
 * there. The result is a value; report/rehearsal-text.ts words it.
 */

import { pairResources } from "../core/diff/pair";
import { type Address, isMeant } from "../core/model/address";
import { type Diagnostic, errorsAmong, hasErrors } from "../core/model/diagnostic";
import type { Operation } from "../core/model/operation";
import { valueIn } from "../core/model/outcome";
import type { Consent } from "../core/plan/consent";
import { PermittedPlan } from "../core/plan/permitted";
import { isEmpty, type Plan } from "../core/plan/plan";
import { whatIsMeant } from "../core/plan/select";
import { canonicalJson } from "../core/text/canonical-json";
import { carryOutPermitted } from "../engine/apply";
import type { EngineEvent } from "../engine/events";
import { openStoredState, type Prepared, preparePlan } from "../engine/plan";
import type { RunReport, StepReport } from "../engine/run-plan";
import { type Owed, owedBy } from "../kinds/vm/guest-steps";
import type { ServiceClient, ServiceReader } from "../service/client";
import type { Holder, StateStore } from "../store/store";
import { interceptClient } from "./intercepted-client";
import { type RunningTwin, startTwin, type TwinSetting } from "./twin-run";
import { describeWorld } from "./world-lines";

export interface RehearsedStep {
  readonly step: string;
  readonly address: Address;
  readonly operation: string;
  readonly title: string;
  readonly end: StepReport["result"]["end"];
  /** The time since the beginning, as the real service would take it; absent for a step that never started. */
  readonly startMs?: number;
  readonly endMs?: number;
  readonly waitedMs: number;
  readonly message?: string;
  readonly fix?: string;
}

export interface RehearsedRefusal {
  readonly operation: Operation;
  readonly condition: string;
  readonly message: string;
}

export interface Rehearsal {
  readonly steps: readonly RehearsedStep[];
  readonly durationMs: number;
  readonly downtimeMs: Readonly<Record<Address, number>>;
  readonly refusals: readonly RehearsedRefusal[];
  /** Consents that were given for the rehearsal; the real run asks for them. */
  readonly consents: readonly Consent[];
  readonly assumptions: readonly string[];
  /** Commands that the real run owes to guests; none was run here. */
  readonly owed: readonly Owed[];
  /** The changes of a second plan; empty when the result is what was asked for. */
  readonly remaining: Plan["changes"];
  readonly diagnostics: readonly Diagnostic[];
  readonly verdict: "converged" | "waits" | "failed";
  /** The resulting world, one line for each resource. */
  readonly world: readonly string[];
}

/** Fast enough that a build of a minute takes half a second, slow enough that polls two seconds apart stay apart. */
export const speedOfTwin = 120;
export const speedUnderChaos = 600;

export const rehearsalHolder: Holder = { who: "rehearsal", host: "here", pid: 0, since: "", command: "rehearse" };

export async function rehearse(
  setting: TwinSetting,
  signal: AbortSignal,
  emit: (event: EngineEvent) => void = () => undefined,
): Promise<Rehearsal> {
  const twin = await startTwin(setting);
  try {
    return await rehearseOn(twin, setting, signal, emit);
  } finally {
    await twin.close();
  }
}

async function rehearseOn(
  twin: RunningTwin,
  { prepared }: TwinSetting,
  signal: AbortSignal,
  emit: (event: EngineEvent) => void,
): Promise<Rehearsal> {
  const { desired, plan } = prepared;
  const refusals: RehearsedRefusal[] = [];
  const client = interceptClient(twin.connect(), async (operation, send) => {
    const outcome = await send();
    if (outcome.status === "rejected" && !isRead(operation))
      refusals.push({ operation, condition: outcome.condition, message: outcome.message });
    return outcome;
  });
  const seenAlike = await planOnTwin(twin, client, prepared, plan.options);
  const began = twin.clock.now();
  const report = await carryOutPermitted(PermittedPlan.onTwin(plan), {
    prepared,
    store: twin.store,
    ports: twin.ports(client, emit),
    holder: rehearsalHolder,
    stop: { soft: signal, hard: signal },
    planId: "rehearsal",
  });
  const durationMs = twin.clock.now() - began;
  const { replace: _done, ...options } = plan.options;
  const after = await planOnTwin(twin, client, { ...prepared, desired }, options);
  return {
    steps: report.steps.map((step) => rehearsedStep(step, began)),
    durationMs,
    downtimeMs: downtimeOf(report),
    refusals,
    consents: plan.consents,
    assumptions: [...twin.assumptions, ...twin.notRun],
    owed: owedBy(plan),
    remaining: after.changes,
    diagnostics: [...planDifferences(plan, seenAlike), ...errorsAmong(after.diagnostics)],
    verdict: rehearsalVerdict(report, after),
    world: describeWorld(twin.emulator.dump()),
  };
}

const isRead = (operation: Operation): boolean => /\.(list|get)$/.test(operation);

export const planOnTwin = async (
  twin: RunningTwin,
  client: ServiceClient,
  prepared: Pick<Prepared, "desired" | "state">,
  options: Plan["options"],
): Promise<Plan> => (await prepareOnTwin(twin, twin.store, client, prepared, options)).plan;

/** What a target named may be gone from the twin by now. With the last of them, everything is left out. */
export async function prepareOnTwin(
  { clock }: Pick<RunningTwin, "clock">,
  store: StateStore,
  client: ServiceClient,
  { desired, state: { lineage } }: Pick<Prepared, "desired" | "state">,
  options: Plan["options"],
): Promise<Prepared> {
  const { targets, ...rest } = options;
  const { state } = openStoredState(await store.read(), store.location, lineage);
  const known = pairResources(whatIsMeant(desired, options), state).pairs.map(({ address }) => address);
  const left = targets?.filter((target) => known.some((address) => isMeant(address, target))) ?? [];
  const narrowed =
    targets === undefined ? rest : left.length > 0 ? { ...rest, targets: left } : { ...rest, excludes: known };
  return preparePlan({ desired, store, client, options: narrowed, clock, lineage, observe: true });
}

function rehearsalVerdict(report: RunReport, after: Plan): Rehearsal["verdict"] {
  const { failed, waiting } = report.counts;
  if (report.broken !== undefined || failed > 0 || report.interrupted || hasErrors(after.diagnostics)) return "failed";
  if (waiting > 0) return "waits";
  return isEmpty(after) ? "converged" : "failed";
}

const rehearsedStep = ({ step, result, startedAt, endedAt, waitedMs }: StepReport, began: number): RehearsedStep => ({
  step: step.id,
  address: step.address,
  operation: step.action.operation,
  title: step.title,
  end: result.end,
  startMs: startedAt === undefined ? undefined : startedAt - began,
  endMs: endedAt === undefined ? undefined : endedAt - began,
  waitedMs,
  message: result.message,
  fix: "fix" in result ? result.fix : undefined,
});

/** From the first step that takes a VM down to the last one that keeps the VM down. */
function downtimeOf(report: RunReport): Record<Address, number> {
  const spans = new Map<Address, { readonly from: number; readonly to: number }>();
  for (const { step, startedAt, endedAt } of report.steps) {
    if (step.downtimeOf === undefined || startedAt === undefined || endedAt === undefined) continue;
    const span = spans.get(step.downtimeOf);
    spans.set(step.downtimeOf, {
      from: Math.min(span?.from ?? startedAt, startedAt),
      to: Math.max(span?.to ?? endedAt, endedAt),
    });
  }
  return Object.fromEntries(
    [...spans].sort(([a], [b]) => (a < b ? -1 : 1)).map(([vm, { from, to }]) => [vm, to - from]),
  );
}

/**
 * Differences between the plan for the real service and the plan for the twin: where the two differ, the rehearsal
 * proves less.
 */
function planDifferences(real: Plan, twin: Plan): Diagnostic[] {
  const before = new Map(real.changes.map((change) => [change.address, canonicalJson(change)]));
  const now = new Map(twin.changes.map((change) => [change.address, canonicalJson(change)]));
  return [...new Set([...before.keys(), ...now.keys()])]
    .filter((address) => before.get(address) !== now.get(address))
    .sort()
    .map((address) => ({
      severity: "warning" as const,
      code: "rehearse/twin-differs",
      summary: `the twin shows ${address} differently from the service; the rehearsal is less certain about it`,
      address,
    }));
}

/**
 * A refresh reads the catalogue only where a plan needs it. The twin refuses flavors and images that its catalogue
 * lacks, so it gets all of it.
 */
export async function withCatalogue(prepared: Prepared, client: ServiceReader): Promise<Prepared> {
  const { catalogue } = prepared.live;
  const [flavors, images, regions] = await Promise.all([
    catalogue.flavors ?? (client.can.listsFlavors ? client.listFlavors().then(valueIn) : undefined),
    catalogue.images ?? (client.can.listsImages ? client.listImages().then(valueIn) : undefined),
    catalogue.regions ?? (client.can.listsRegions ? client.listRegions().then(valueIn) : undefined),
  ]);
  return { ...prepared, live: { ...prepared.live, catalogue: { flavors, images, regions } } };
}

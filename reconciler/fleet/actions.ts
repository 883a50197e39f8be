/**
 * What a person or a program asks of a fleet. The command line, the pages and the webhooks use these functions, and
 * each leaves a decision in the history.
 */
import type { DiagnosticCode } from "../core/model/diagnostic-code";
import { nearestName } from "../core/text/nearest";
import { changesOf, type StackChange } from "./changes";
import type { Records } from "./database/records";
import type { StackRecord } from "./database/stacks";
import { rejectedWhy } from "./decide";
import type { Fleet, StackSpec } from "./model";
import type { Queue } from "./queue";
import { afterRejection, newStatus } from "./status";
import { openingOf } from "./windows";

export interface Desk {
  readonly records: Records;
  readonly queue: Queue;
  /** Whose decisions these are. */
  readonly who: string;
}

/** The request cannot be done: one sentence, and what to do instead. */
export class ActionRefused extends Error {
  override readonly name = "ActionRefused";
  constructor(
    readonly code: Extract<DiagnosticCode, `fleet/${string}`>,
    message: string,
    readonly fix: string,
  ) {
    super(message);
  }
}

export async function stackNamed({ records }: Pick<Desk, "records">, name: string): Promise<StackRecord> {
  const stack = await records.stack(name);
  if (stack !== undefined) return stack;
  const near = nearestName(
    name,
    (await records.stacks()).map((one) => one.name),
  );
  throw new ActionRefused(
    "fleet/no-stack",
    `the fleet has no stack ${name}`,
    near === undefined ? "reconcile fleet list" : `did you mean ${near}?`,
  );
}

/** What a sync would change. */
export async function plannedSync(
  { records }: Pick<Desk, "records">,
  stacks: readonly StackSpec[],
): Promise<StackChange[]> {
  const now = new Map((await records.stacks()).filter(({ leaving }) => !leaving).map(({ name, spec }) => [name, spec]));
  return changesOf(now, new Map(stacks.map((spec) => [spec.name, spec])));
}

/** So many changes of a sync are carried out at the same time: each one waits for its statements. */
const changesAtOnce = 16;

export async function carryOutSync(desk: Desk, fleet: Fleet, changes: readonly StackChange[]): Promise<void> {
  // The settings alone: each stack has a row of its own.
  const { stacks: _stacks, generators: _generators, ...settings } = fleet;
  await desk.records.saveSettings(settings);
  for (let index = 0; index < changes.length; index += changesAtOnce)
    await Promise.all(changes.slice(index, index + changesAtOnce).map((change) => carryOutChange(desk, change)));
}

async function carryOutChange({ records, queue, who }: Desk, { action, name, spec }: StackChange): Promise<void> {
  switch (action) {
    case "add":
    case "change": {
      await records.saveStack(spec);
      await queue.hasten({ stack: name, tenant: spec.tenant, cause: "new" });
      break;
    }
    case "release": {
      await queue.forget(name);
      await records.releaseStack(name);
      break;
    }
    case "destroy": {
      await records.leaveStack(name);
      await queue.hasten({ stack: name, tenant: spec.tenant, cause: "new" });
      break;
    }
    default:
      action satisfies never;
  }
  await records.note({ who, what: "sync", stack: name, detail: action });
}

export async function runNow({ records, queue, who }: Desk, name: string): Promise<void> {
  const stack = await stackNamed({ records }, name);
  if (stack.paused)
    throw new ActionRefused("fleet/paused", `the stack ${name} is paused`, `reconcile fleet resume ${name}`);
  await records.forgetRejection(name);
  await queue.hasten({ stack: name, tenant: stack.spec.tenant, cause: "person", startedBy: who });
  await records.note({ who, what: "run", stack: name });
}

const dayMs = 86_400_000;

export async function approve(
  { records, queue, who }: Desk,
  name: string,
  digest: string,
  {
    forMs = dayMs,
    why,
    now = new Date(),
  }: { readonly forMs?: number; readonly why?: string; readonly now?: Date } = {},
): Promise<void> {
  const stack = await stackNamed({ records }, name);
  const plan = await waitingPlan({ records }, name, digest);
  const opening = openingOf((await records.settings()).windows, name, "apply", now);
  if (!opening.open)
    throw new ActionRefused(
      "fleet/window-closed",
      `the plan ${plan.digest} of ${name} cannot be carried out now: ${opening.why}`,
      opening.until === undefined
        ? "change the windows of the fleet's file"
        : `approve it after ${opening.until.toISOString()}, or change the windows of the fleet's file`,
    );
  const approval = {
    digest: plan.digest,
    by: who,
    ...(why === undefined ? {} : { why }),
    at: now.toISOString(),
    until: new Date(now.getTime() + forMs).toISOString(),
  };
  if (!(await records.approve(name, approval))) throw otherPlan(name, digest);
  await records.note({ who, what: "approve", stack: name, detail: [digest, why].filter(Boolean).join(": ") });
  await queue.hasten({ stack: name, tenant: stack.spec.tenant, cause: "approval", startedBy: who });
}

/** Rejects a plan: it is not carried out, and not offered again until the files, the state or a person change it. */
export async function reject(
  { records, who }: Desk,
  name: string,
  digest: string,
  { why, now = new Date() }: { readonly why?: string; readonly now?: Date } = {},
): Promise<void> {
  const stack = await stackNamed({ records }, name);
  const plan = await waitingPlan({ records }, name, digest);
  const at = now.toISOString();
  const rejection = { digest: plan.digest, by: who, ...(why === undefined ? {} : { why }), at };
  await records.reject(name, rejection, afterRejection(stack.status, rejectedWhy(rejection)));
  await records.note({ who, what: "reject", stack: name, detail: [plan.digest, why].filter(Boolean).join(": ") });
}

/** The waiting plan, found by its digest or the beginning of it. */
async function waitingPlan({ records }: Pick<Desk, "records">, name: string, digest: string) {
  const plan = await records.waitingPlan(name);
  if (plan === undefined || digest.length < 6 || !plan.digest.startsWith(digest)) throw otherPlan(name, digest);
  return plan;
}

const otherPlan = (name: string, digest: string): ActionRefused =>
  new ActionRefused(
    "fleet/no-plan",
    `the plan ${digest} of ${name} does not wait for approval (any more)`,
    `reconcile fleet plan ${name} shows the one that does`,
  );

export async function pause({ records, queue, who }: Desk, name: string): Promise<void> {
  await stackNamed({ records }, name);
  await records.pauseStack(name, true);
  await queue.forget(name);
  await records.note({ who, what: "pause", stack: name });
}

/**
 * Ends the round that runs, and lets none begin until the stack is resumed: what is in flight is ended first, or not
 * even that with `now`. False: no round of it runs.
 */
export async function stop(
  { records, queue, who }: Desk,
  name: string,
  { why, now, at = new Date() }: { readonly why?: string | undefined; readonly now: boolean; readonly at?: Date },
): Promise<boolean> {
  const { lastRun } = await stackNamed({ records }, name);
  await records.stopStack(name, { by: who, ...(why === undefined ? {} : { why }), now, at: at.toISOString() });
  await queue.forget(name);
  await records.note({
    who,
    what: now ? "stop at once" : "stop",
    stack: name,
    ...(why === undefined ? {} : { detail: why }),
  });
  return lastRun !== undefined && lastRun.endedAt === undefined;
}

/** Resumes a paused or stalled stack. */
export async function resume({ records, queue, who }: Desk, name: string): Promise<void> {
  const stack = await stackNamed({ records }, name);
  await records.pauseStack(name, false);
  if (stack.status.stalled)
    await records.saveStatus(name, { ...stack.status, stalled: false, failures: 0, reason: newStatus.reason });
  await queue.hasten({ stack: name, tenant: stack.spec.tenant, cause: "person", startedBy: who });
  await records.note({ who, what: "resume", stack: name });
}

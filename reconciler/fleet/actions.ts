/**
 * What a person or a program asks of a fleet. The command line, the pages and the webhooks use these functions, and
 * each leaves a decision in the history.
 */
import type { DiagnosticCode } from "../core/model/diagnostic-code";
import { dayMs } from "../core/model/time";
import { nearestText } from "../core/text/nearest";
import { onlyDefined } from "../core/text/objects";
import { changesOf, type StackChange } from "./changes";
import type { Records } from "./database/records";
import type { RunRecord } from "./database/runs";
import type { StackRecord, WaitingPlan } from "./database/stacks";
import { type Approval, asksWhy, isSamePerson, joined, namesIn, rejectedWhy, voicesIn } from "./decide";
import { refuseSharedStates } from "./may-read";
import { type Fleet, type FleetSettings, pullVariablesOf, type StackSpec } from "./model";
import { type Letter, lettersOf } from "./notify";
import { type Queue, triggerOf } from "./queue";
import { isBy } from "./sources/change";
import { type GitSource, renamedFolders } from "./sources/git";
import { afterRejection, afterResume, occasionsOf } from "./status";
import { type Opening, openingOf } from "./windows";

export interface Desk {
  readonly records: Records;
  readonly queue: Queue;
  /** Whose decisions these are. */
  readonly who: string;
  /** At the database itself, where scripts of before approve: a reason that is missing is noted, and not asked for. */
  readonly atDatabase?: boolean;
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
  const names = (await records.stacks()).map((one) => one.name);
  throw new ActionRefused(
    "fleet/no-stack",
    `the fleet has no stack ${name}`,
    nearestText(name, names, (near) => `did you mean ${near}?`) ?? "reconcile fleet list",
  );
}

/** What a sync would change. `cache`: where repositories are, in which a folder may have got another name. */
export async function plannedSync(
  { records }: Pick<Desk, "records">,
  stacks: readonly StackSpec[],
  cache?: string,
): Promise<readonly StackChange[]> {
  const stored = await records.stacks();
  const now = new Map(stored.filter(({ leaving }) => !leaving).map(({ name, spec }) => [name, spec]));
  const wanted = new Map(stacks.map((spec) => [spec.name, spec]));
  // What is to be destroyed has its state until it is: another stack would find its own resources taken away.
  const going = stored.filter(({ name, leaving, spec }) => !wanted.has(name) && (leaving || spec.destroy));
  refuseSharedStates(
    stacks,
    going.map(({ spec }) => spec),
    "give it another state, or sync again once the other one is gone: reconcile fleet list",
  );
  const changes = changesOf(now, wanted);
  const released = stored.filter(({ name, leaving }) => !leaving && !wanted.has(name));
  return cache === undefined ? changes : withRenamed(changes, released, cache);
}

/** The changes, where what was added in the place of another stack says so: it has that one's files in another folder. */
export async function withRenamed(
  changes: readonly StackChange[],
  leaving: readonly StackRecord[],
  cache: string,
): Promise<readonly StackChange[]> {
  const urls = new Set(changes.flatMap(({ action, spec }) => (action === "add" ? [placeOf(spec)?.url] : [])));
  const renamed = new Map<string, StackSpec>();
  for (const { spec, status } of leaving) {
    const place = placeOf(spec);
    const { observedRevision: since } = status;
    if (place === undefined || since === null || !urls.has(place.url)) continue;
    for (const path of await renamedFolders(place, cache, since)) renamed.set(`${place.url} ${path}`, spec);
  }
  return changes.map((change) => {
    const { action, spec, insteadOf } = change;
    const place = placeOf(spec);
    const former = place === undefined ? undefined : renamed.get(`${place.url} ${place.path}`);
    const isNew = action === "add" && insteadOf === undefined && former !== undefined && former.state !== spec.state;
    return isNew ? { ...change, insteadOf: former } : change;
  });
}

const placeOf = ({ source }: StackSpec): GitSource | undefined => (source.kind === "git" ? source : undefined);

/** So many stacks are written in one statement. */
const stacksAtOnce = 500;

export async function carryOutSync(desk: Desk, fleet: Fleet, changes: readonly StackChange[]): Promise<void> {
  const { records } = desk;
  // The settings alone: each stack has a row of its own.
  const { stacks, ...settings } = fleet;
  await records.saveSettings({
    ...settings,
    services: await servicesToKeep(records, fleet, changes),
    pullVariables: pullVariablesOf([...stacks, ...fleet.generators]),
  });
  await carryOutChanges(desk, changes);
}

/** The stacks alone: what all of them share stays as it is. */
export async function carryOutChanges({ records, queue, who }: Desk, changes: readonly StackChange[]): Promise<void> {
  const decided = ({ name, action }: StackChange) => ({ who, what: "sync", stack: name, detail: action });
  const written = changes.filter(({ action }) => action === "add" || action === "change");
  for (let index = 0; index < written.length; index += stacksAtOnce) {
    const some = written.slice(index, index + stacksAtOnce);
    await records.saveStacks(
      some.map(({ spec }) => spec),
      some.map(decided),
    );
    await queue.hastenAll(some.map((change) => triggerOf(change, "new")));
  }
  for (const change of changes) {
    const { action, name } = change;
    if (action === "release") {
      await queue.forget(name);
      await records.releaseStack(name, { decision: decided(change) });
    } else if (action === "destroy") {
      await records.leaveStack(name, decided(change));
      await queue.hasten(triggerOf(change, "new"));
    }
  }
}

/** A stack that goes on without being in the file, until a person lets it go or it is destroyed, needs its service. */
async function servicesToKeep(
  records: Records,
  { services }: Fleet,
  changes: readonly StackChange[],
): Promise<Fleet["services"]> {
  const before = (await records.settings()).services.filter(({ name }) => !services.some((one) => one.name === name));
  if (before.length === 0) return services;
  const changed = new Map(changes.map(({ name, action }) => [name, action]));
  const used = new Set(
    (await records.stacks()).flatMap(({ name, spec }) => {
      const action = changed.get(name);
      return action === undefined || action === "destroy" ? [spec.service] : [];
    }),
  );
  return [...services, ...before.filter(({ name }) => used.has(name))];
}

export async function runNow({ records, queue, who }: Desk, name: string): Promise<void> {
  const stack = await stackNamed({ records }, name);
  if (stack.paused)
    throw new ActionRefused("fleet/paused", `the stack ${name} is paused`, `reconcile fleet resume ${name}`);
  await records.forgetRejection(name);
  await queue.hasten({ ...triggerOf(stack, "person"), startedBy: who });
  await records.note({ who, what: "run", stack: name });
}

export interface Yes {
  readonly forMs?: number | undefined;
  readonly why?: string | undefined;
  /** A closed window does not hold the plan up; needs a reason, which everybody is told. */
  readonly throughWindow?: boolean;
  readonly now?: Date;
}

/** Approves a plan. The answer says how many people still have to. */
export async function approve(
  { records, queue, who, atDatabase = false }: Desk,
  name: string,
  digest: string,
  { forMs = dayMs, why, throughWindow = false, now: given }: Yes = {},
): Promise<{ readonly missing: number; readonly paused: boolean }> {
  const stack = await stackNamed({ records }, name);
  const { readAt = new Date() } = stack;
  const now = given ?? readAt;
  const plan = await waitingPlan({ records }, name, digest);
  const settings = await records.settings();
  const opening = openingOf(settings.windows, name, "apply", now);
  const before = await approvalWithEarlier({ records }, plan, stack.approval, now);
  const refusal =
    authorRefused(stack, plan, who) ??
    twiceRefused(stack, plan, before, who, now) ??
    (atDatabase ? undefined : silentRefused(plan, why)) ??
    windowRefused(plan, opening, throughWindow, why);
  if (refusal !== undefined) throw refusal;
  const through = !opening.open && throughWindow;
  const what = through ? "approve through the window" : "approve";
  const approved = await records.approve(
    name,
    {
      digest: plan.digest,
      by: who,
      why,
      at: now.toISOString(),
      until: new Date(now.getTime() + forMs).toISOString(),
      throughWindow: through ? (true as const) : undefined,
    },
    through ? windowLetters(settings, stack, { who, why: why ?? "", plan: plan.digest, window: opening.why }, now) : [],
    { who, what, stack: name, detail: [plan.digest, why].filter(Boolean).join(": ") },
  );
  if (approved === undefined) throw otherPlan(name, digest);
  const missing = Math.max(0, (stack.spec.approvers ?? 1) - (await voicesFor({ records }, plan, approved, now)).length);
  // What is still missing is said with the next look.
  await queue.hasten({ ...triggerOf(stack, "approval"), startedBy: who });
  return { missing, paused: stack.paused };
}

/** Who has approved the plan, also before the merge. */
export async function approvalWithEarlier(
  { records }: Pick<Desk, "records">,
  { stack, digest }: Pick<WaitingPlan, "stack" | "digest">,
  since: Approval | undefined,
  now: Date,
): Promise<Approval | undefined> {
  const before = await records.approvalBeforeMerge(stack, digest);
  return before === undefined ? since : joined(before, since, now);
}

async function voicesFor(
  desk: Pick<Desk, "records">,
  plan: WaitingPlan,
  since: Approval | undefined,
  now: Date,
): Promise<readonly string[]> {
  const all = await approvalWithEarlier(desk, plan, since, now);
  return all?.digest === plan.digest ? namesIn(all) : [];
}

function authorRefused({ name, spec }: StackRecord, { body }: WaitingPlan, who: string): ActionRefused | undefined {
  if (spec.notTheAuthor !== true) return undefined;
  const { commits = [], alsoBy = [] } = body.change ?? {};
  const mine = commits.find((commit) => isBy(commit, who));
  const isOlder = alsoBy.some((writers) => isBy(writers, who));
  if (body.change !== undefined && mine === undefined && !isOlder) return undefined;
  const wrote = mine === undefined ? "an older commit of it" : `${mine.id.slice(0, 12)} (${mine.subject})`;
  const why =
    body.change === undefined
      ? `who changed the files of ${name} is not known, and nobody may approve what they wrote themselves`
      : `${who} wrote ${wrote}, and whoever wrote a change of ${name} may not approve it`;
  return new ActionRefused(
    "fleet/own-change",
    why,
    "somebody else approves it, or not_the_author leaves the fleet's file",
  );
}

function twiceRefused(
  { name, spec }: StackRecord,
  { digest }: WaitingPlan,
  approval: Approval | undefined,
  who: string,
  now: Date,
): ActionRefused | undefined {
  const { approvers = 1 } = spec;
  const voices = approvers > 1 ? voicesIn(approval, digest, now) : [];
  const before = voices.find((by) => isSamePerson(by, who));
  if (before === undefined) return undefined;
  return new ActionRefused(
    "fleet/approved-already",
    `${before} has approved the plan ${digest} of ${name} already, and ${approvers} people have to`,
    "somebody else approves it as well",
  );
}

function silentRefused({ stack, digest, body }: WaitingPlan, why: string | undefined): ActionRefused | undefined {
  if (!asksWhy(body.consents) || (why !== undefined && why.trim() !== "")) return undefined;
  return new ActionRefused(
    "fleet/say-why",
    `the plan ${digest} of ${stack} loses data, and whoever approves it says why`,
    `reconcile fleet approve ${stack} ${digest} --why TEXT`,
  );
}

function windowRefused(
  { stack, digest }: WaitingPlan,
  opening: Opening,
  through: boolean,
  why: string | undefined,
): ActionRefused | undefined {
  if (opening.open) return undefined;
  if (through && why !== undefined && why.trim() !== "") return undefined;
  const anyway = `reconcile fleet approve ${stack} ${digest} --through-window --why TEXT`;
  if (through)
    return new ActionRefused(
      "fleet/window-closed",
      `a plan is carried out in a closed window (${opening.why}) for a reason that everybody is told, and none is given`,
      anyway,
    );
  return new ActionRefused(
    "fleet/window-closed",
    `the plan ${digest} of ${stack} cannot be carried out now: ${opening.why}`,
    opening.until === undefined
      ? `change the windows of the fleet's file, or ${anyway}`
      : `approve it after ${opening.until.toISOString()}, change the windows of the fleet's file, or ${anyway}`,
  );
}

/** Every receiver of the stack is told, whatever else it wants to hear. */
const windowLetters = (
  { receivers, channels = [], ...settings }: FleetSettings,
  { name, spec, status }: StackRecord,
  {
    who,
    why,
    plan,
    window,
  }: { readonly who: string; readonly why: string; readonly plan: string; readonly window: string },
  now: Date,
): Letter[] =>
  lettersOf(
    {
      ...settings,
      receivers: receivers.map((receiver) => ({ ...receiver, on: ["through_window"] })),
      channels: channels.map((channel) => ({ ...channel, on: ["through_window"] })),
    },
    [
      {
        occasion: "through_window",
        stack: name,
        tenant: spec.tenant,
        source: spec.source,
        status: {
          ...status,
          plan,
          reason: `${who} lets the plan ${plan} be carried out although it is held by ${window}: ${why}`,
        },
      },
    ],
    now,
  );

/** Rejects a plan: it is not carried out, and not offered again until the files, the state or a person change it. */
export async function reject(
  { records, queue, who }: Desk,
  name: string,
  digest: string,
  { why, now: given }: { readonly why?: string | undefined; readonly now?: Date } = {},
): Promise<void> {
  const stack = await stackNamed({ records }, name);
  const { readAt = new Date() } = stack;
  const now = given ?? readAt;
  const plan = await waitingPlan({ records }, name, digest);
  if (
    hasRunUnderWay(stack) &&
    (await voicesFor({ records }, plan, stack.approval, now)).length >= (stack.spec.approvers ?? 1)
  )
    throw new ActionRefused(
      "fleet/no-plan",
      `the plan ${plan.digest} of ${name} was approved, and run ${stack.lastRun?.id} is under way with it`,
      `reconcile fleet stop ${name} ends that run`,
    );
  const at = now.toISOString();
  const { undoing } = stack;
  const rejection = { digest: plan.digest, by: who, ...onlyDefined({ why }), at };
  const change = afterRejection(rejectedWhy(rejection));
  const status = { ...stack.status, ...change };
  const told = { stack: name, tenant: stack.spec.tenant, source: stack.spec.source, status };
  // No round will find anything new in it.
  const occasions = occasionsOf(stack.status, status, { end: "observed", why: "" });
  const letters = lettersOf(
    await records.settings(),
    occasions.map((occasion) => ({ ...told, occasion })),
    now,
  );
  const decision = { who, what: "reject", stack: name, detail: [plan.digest, why].filter(Boolean).join(": ") };
  if (!(await records.reject(name, rejection, change, letters, decision))) throw otherPlan(name, digest);
  // The run is not undone: the stack goes on with its files, or with what was undone before.
  if (undoing !== undefined && undoing.held === undefined) {
    await records.endUndo(name, undoing);
    await queue.hasten({ ...triggerOf(stack, "person"), startedBy: who });
  }
}

/** Whoever says no then would be told that it was rejected, and the run would go on. */
const hasRunUnderWay = ({ lastRun }: StackRecord): boolean => lastRun !== undefined && lastRun.endedAt === undefined;

/** So much of a digest tells a plan from all others. */
const leastOfDigest = 6;

/** The waiting plan, found by its digest or the beginning of it. */
async function waitingPlan({ records }: Pick<Desk, "records">, name: string, digest: string) {
  const plan = await records.waitingPlan(name);
  if (plan === undefined || digest.length < leastOfDigest || !plan.digest.startsWith(digest))
    throw otherPlan(name, digest);
  return plan;
}

const otherPlan = (name: string, digest: string): ActionRefused =>
  new ActionRefused(
    "fleet/no-plan",
    digest.length < leastOfDigest
      ? `no plan of ${name} is named${digest === "" ? "" : `: ${digest} is shorter than ${leastOfDigest} characters`}`
      : `the plan ${digest} of ${name} does not wait for approval (any more)`,
    `reconcile fleet plan ${name} shows the one that does`,
  );

/** Lets no round begin until the stack is resumed. True: one runs, and goes on to its end. */
export async function pause({ records, queue, who }: Desk, name: string): Promise<boolean> {
  await stackNamed({ records }, name);
  await records.pauseStack(name, true, { who, what: "pause", stack: name });
  await queue.forget(name);
  return hasRunUnderWay(await stackNamed({ records }, name));
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
  const stack = await stackNamed({ records }, name);
  const request = { by: who, why, now, at: at.toISOString() };
  await records.stopStack(name, request, { who, what: now ? "stop at once" : "stop", stack: name, detail: why });
  await queue.forget(name);
  return hasRunUnderWay(stack);
}

/**
 * Asks for a run to be undone. The next round plans that, which waits for approval like any other
 * plan. The answer is the stack.
 */
export async function undo(
  { records, queue, who }: Desk,
  run: RunRecord | undefined,
  named: string,
  { why, at = new Date() }: { readonly why?: string | undefined; readonly at?: Date } = {},
): Promise<string> {
  const cannot = (message: string, fix: string) => new ActionRefused("fleet/no-undo", message, fix);
  if (run === undefined)
    throw cannot(
      `the fleet remembers no run ${named}`,
      "reconcile fleet history shows those it does, with their numbers",
    );
  const { stack: name, plan, report, endedAt } = run;
  const { spec, leaving, paused, stopping } = await stackNamed({ records }, name);
  if (endedAt === undefined)
    throw cannot(`run ${run.id} of ${name} is under way`, `reconcile fleet stop ${name}, and then undo it`);
  // The state remembers a run by the plan that it carried out.
  const id = report === undefined ? undefined : plan?.split("-")[0];
  if (id === undefined)
    throw cannot(
      `run ${run.id} of ${name} carried nothing out that the fleet knows of`,
      `name one that was applied: reconcile fleet history ${name}`,
    );
  if (leaving || spec.approve === "never")
    throw cannot(
      leaving ? `${name} leaves the fleet` : `${name} is only looked at (approve: never)`,
      "undo it with reconcile undo, from its files",
    );
  if (paused && stopping === undefined)
    throw new ActionRefused("fleet/paused", `the stack ${name} is paused`, `reconcile fleet resume ${name}`);
  const word = why === undefined ? {} : { why };
  const request = { run: run.id, id, by: who, ...word, at: at.toISOString() };
  const detail = [`run ${run.id}`, why].filter(Boolean).join(": ");
  await records.undo(name, request, { who, what: "undo", stack: name, detail });
  await queue.hasten({ ...triggerOf({ name, spec }, "person"), startedBy: who });
  return name;
}

/** Resumes a paused or stalled stack. */
export async function resume({ records, queue, who }: Desk, name: string): Promise<void> {
  const stack = await stackNamed({ records }, name);
  const after = afterResume(stack.status);
  const { stalled, failures, reason, stateSeen } = after;
  const change = after === stack.status ? {} : { stalled, failures, reason };
  await records.resumeStack(name, change, stateSeen === undefined, { who, what: "resume", stack: name });
  await queue.hasten({ ...triggerOf(stack, "person"), startedBy: who });
}

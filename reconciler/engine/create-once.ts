/**
 * Creates a volume or a group so that none is made twice: written down before it is sent, and after a lost answer looked
 * for before it is sent again. Where nobody can look, it stops and says what a person has to find out.
 */
import type { Kind } from "../core/model/address";
import type { Operation } from "../core/model/operation";
import type { Outcome } from "../core/model/outcome";
import type { Intent } from "../core/model/recorded";
import type { Step } from "../core/plan/step";
import { failedBy, isoNow, type Run, type StepResult } from "./perform";

export interface Creation<L> {
  readonly kind: Extract<Kind, "volume" | "group">;
  readonly what: string;
  readonly name: string;
  send(): Promise<Outcome<L>>;
  list(): Promise<Outcome<readonly L[]>>;
  isNamed(live: L): boolean;
  keep(live: L): Promise<StepResult>;
}

export async function createOnce<L extends { readonly id: string }>(
  step: Step,
  creation: Creation<L>,
  run: Run,
): Promise<StepResult> {
  const { kind, name } = creation;
  const { address } = step;
  const intent: Intent = {
    step: step.id,
    address,
    operation: `${kind}.create`,
    name,
    sentAt: isoNow(run),
    idsBefore: run.idsBefore(kind, name),
    record: step.record as Intent["record"],
  };
  for (let attempt = 1; attempt <= 3; attempt++) {
    await run.recorder.record([{ type: "intent", address, intent }]);
    const outcome = await creation.send();
    if (outcome.status === "accepted") return keepOrTell(step, creation, outcome.value);
    const lost = outcome.status === "unknown" || (outcome.status === "rejected" && outcome.condition === "unreadable");
    if (!lost) {
      await run.recorder.record([{ type: "intent", address, intent: null }]);
      return failedBy(outcome);
    }
    if (!run.ports.client.has(`${kind}.list` satisfies Operation)) break;
    const found = await discover(creation, intent.idsBefore, run);
    if (found === undefined || found.length > 1) break;
    if (found.length === 1) return keepOrTell(step, creation, found[0]!);
    run.progress(step, "the lost create was not done; sending it again");
  }
  return outcomeUnknown(creation.what, intent, run);
}

/** The id that could not be recorded is shown: where nobody can list, it is found nowhere else. */
async function keepOrTell<L extends { readonly id: string }>(
  { address }: Step,
  { what, name, keep }: Creation<L>,
  live: L,
): Promise<StepResult> {
  try {
    return await keep(live);
  } catch (error) {
    throw new NotRecorded(
      error as Error,
      `${what} ${name} was created as ${live.id}, and that could not be recorded: ${(error as Error).message}`,
      `reconcile import ${address} ${live.id}`,
    );
  }
}

/** The state failed at an id; `cause` is how, which others that shared the write have as well. */
export class NotRecorded extends Error {
  override readonly name = "NotRecorded";
  constructor(
    override readonly cause: Error & { readonly code?: unknown },
    message: string,
    readonly fix: string,
  ) {
    super(message);
  }
}

export async function outcomeUnknown(what: string, intent: Intent, run: Run): Promise<StepResult> {
  const { address, name, sentAt } = intent;
  await run.recorder.record([{ type: "intent", address, intent: { ...intent, unknown: true } }]);
  return {
    end: "unknown",
    code: "apply/outcome-unknown",
    message: `outcome unknown: the create of ${what} ${name} was sent at ${sentAt} and its answer was lost; repeating it could make a second one`,
    fix: `reconcile import ${address} ID (it exists), or reconcile state resolve ${address} --not-created (it does not)`,
  };
}

/** Looks until one shows or the window is over; `undefined` when nobody can look. */
async function discover<L extends { readonly id: string }>(
  creation: Creation<L>,
  idsBefore: readonly string[],
  run: Run,
): Promise<L[] | undefined> {
  const { clock, timing } = run.ports;
  const before = new Set(idsBefore);
  const deadline = clock.now() + timing.discoveryWindowMs;
  for (;;) {
    await clock.sleep(timing.pollIntervalMs, run.signal);
    const listed = await creation.list();
    if (run.signal.aborted) return undefined;
    if (listed.status === "accepted") {
      const found = listed.value.filter(
        (live) => creation.isNamed(live) && !before.has(live.id) && run.recorder.addressOf(live.id) === undefined,
      );
      if (found.length > 0 || clock.now() >= deadline) return found;
    } else if (clock.now() >= deadline) return undefined;
  }
}

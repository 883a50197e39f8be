/**
 * Deletes what a step is to end: noted before it is sent, believed when a look agrees that nothing is there any more, and
 * the note taken back where it was refused. How long it is waited for after that is the kind's.
 */
import { accepted, type Failure, isGone, type Outcome } from "../core/model/outcome";
import { orphanKey } from "../core/model/recorded";
import type { FieldsOf, StepChange } from "../core/plan/record-patch";
import type { Step } from "../core/plan/step";
import { confirmGone, doubtOf } from "./confirm-gone";
import { type ExistingOperation, kindDeleted, missingInstead, noteDeleting, recordOf } from "./record-step";
import { failedBy, type Run, type StepResult } from "./run";

interface Deleting<T> {
  /** Other fields for the record when the delete is noted. */
  readonly beside?: FieldsOf<"vm">;
  /** An earlier run has sent it, and it may be on its way: how that ends, or that it is waited for and not sent again. */
  readonly unfinished?: () => Promise<StepResult | "on its way" | undefined>;
  /** The look directly before the request: why nothing is sent. */
  readonly refuse?: () => Promise<StepResult | undefined>;
  readonly send: () => Promise<Outcome<T>>;
  /** Whether it is gone. Absent: nobody can look. */
  readonly look: ((sentBefore: boolean) => Promise<Outcome<unknown> | undefined>) | undefined;
}

type Deleted<T> =
  | { readonly end: StepResult; readonly refusal?: Failure }
  | {
      readonly end?: undefined;
      readonly answer: Outcome<T | undefined>;
      readonly value?: T | undefined;
      /** For when it is gone. `changes`: in place of what the step says. */
      readonly record: (changes?: readonly StepChange[]) => Promise<void>;
    };

export async function sendDelete<T>(
  step: Step<ExistingOperation>,
  id: string,
  run: Run,
  { beside, unfinished, refuse, send, look }: Deleting<T>,
): Promise<Deleted<T>> {
  const kind = kindDeleted(step);
  const sentBefore = await noteDeleting(step, id, run, true, beside);
  const recordBy =
    (answer: Outcome<unknown>) =>
    (changes?: readonly StepChange[]): Promise<void> => {
      run.deleted.add(orphanKey({ kind, id }));
      return run.recorder.record(
        changes ?? [...missingInstead(step, id, run, answer, sentBefore), ...recordOf(step, run)],
      );
    };
  const earlier = sentBefore ? await unfinished?.() : undefined;
  if (earlier === "on its way") return { answer: accepted(undefined), record: recordBy(accepted(undefined)) };
  if (earlier !== undefined) return { end: earlier };
  const refused = await refuse?.();
  if (refused !== undefined) {
    if (!sentBefore) await noteDeleting(step, id, run, undefined);
    return { end: refused };
  }
  const answer = await send();
  const outcome = await confirmGone(answer, look && (() => look(sentBefore)), doubtOf(run, kind, id, sentBefore));
  if (outcome.status === "accepted") return { answer, value: outcome.value, record: recordBy(answer) };
  // What is not found and shows all the same may be gone by the delete of an earlier run, and was meant to go then.
  if (outcome.status !== "unknown" && !(sentBefore && isGone(outcome))) await noteDeleting(step, id, run, undefined);
  return { end: failedBy(outcome), refusal: outcome };
}

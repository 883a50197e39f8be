/** Commands that change the state alone: they lock it, change it and release it. */
import type { State, StateChange } from "../core/model/recorded";
import type { StepChange } from "../core/plan/record-patch";
import { asError } from "../core/text/errors";
import { inShell } from "../core/text/in-shell";
import { openForWriting } from "../engine/apply";
import { assertSameScope } from "../engine/scope";
import { type StateStore, StoreFailed } from "../store/store";
import type { Invocation } from "./command";
import { commandHolder, fail, newLineage } from "./compose";
import { CommandFailed } from "./crash";
import type { Flags } from "./flags";
import { stateUnclosed } from "./run-end";
import { chosenEnvironment } from "./workspace";

type StateWrite = StateChange | StepChange;

/**
 * A state of another environment than the one that was chosen is not the one that is meant, whatever names its place:
 * nothing of it is forgotten, handed on or logged in to.
 */
export function assertChosen({ scope }: Pick<State, "scope">, flags: Flags): void {
  const environment = chosenEnvironment(flags);
  if (scope !== undefined && environment !== undefined) assertSameScope({ scope }, { ...scope, environment });
}

/** That it has no such record is not true of one that is damaged, and another is not to be acted on in its place. */
export function damagedRecord(asked: string, { quarantined }: Pick<State, "quarantined">): CommandFailed | undefined {
  const piece = quarantined.find(({ address }) => address === asked);
  if (piece === undefined) return undefined;
  const address = inShell(asked);
  return fail(
    "state/quarantined",
    `the record of ${asked} in the state is damaged and was set aside: ${piece.problem}`,
    `reconcile import ${address} ID, where it exists and a file declares it; otherwise: reconcile state rm ${address}`,
  );
}

/** `decide` gets the state under the lock and answers with the changes to record. */
export async function changeState(
  invocation: Invocation,
  store: StateStore,
  decide: (state: State) => readonly StateWrite[] | Promise<readonly StateWrite[]>,
): Promise<void> {
  const { recorder } = await openForWriting(store, commandHolder(invocation.command), newLineage());
  await closedAfter(
    async () => {
      assertChosen(recorder.state, invocation.flags);
      await recorder.record(await decide(recorder.state));
    },
    () => recorder.close(),
  );
}

/**
 * A failure of the work is told before one of the end. Where the end alone fails, what was done is done, and is not to be
 * done again; `unclosed` says what becomes of the result then.
 */
export async function closedAfter<T>(
  work: () => Promise<T>,
  close: () => Promise<void>,
  unclosed = (_: T, error: Error): T => {
    throw error;
  },
): Promise<T> {
  let result: T;
  try {
    result = await work();
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }
  try {
    await close();
    return result;
  } catch (error) {
    if (error instanceof StoreFailed && error.hasLost) return unclosed(result, error);
    const fix = "check the place of the state; if its lock stays: reconcile state unlock";
    return unclosed(result, new CommandFailed([{ ...stateUnclosed(asError(error)), fix }]));
  }
}

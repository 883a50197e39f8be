/** Commands that change the state alone: they lock it, change it and release it. */
import type { State, StateChange } from "../core/model/recorded";
import type { StepChange } from "../core/plan/record-patch";
import { openForWriting } from "../engine/apply";
import type { StateStore } from "../store/store";
import type { Invocation } from "./command";
import { commandHolder, newLineage } from "./compose";

type StateWrite = StateChange | StepChange;

/** `decide` gets the state under the lock and answers with the changes to record. */
export async function changeState(
  invocation: Invocation,
  store: StateStore,
  decide: (state: State) => readonly StateWrite[] | Promise<readonly StateWrite[]>,
): Promise<void> {
  const { recorder } = await openForWriting(store, commandHolder(invocation.command), newLineage());
  try {
    await recorder.record(await decide(recorder.state));
  } finally {
    await recorder.close();
  }
}

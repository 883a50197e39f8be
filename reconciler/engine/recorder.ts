/**
 * The one writer of the state during a run. Everything that becomes true goes through `record`, which returns when it
 * is durable; what is asked for while a write is under way goes into the next one, so that many steps share one write.
 */

import type { DiagnosticCode } from "../core/model/diagnostic-code";
import { type AddressOf, addressesByIdentity, identityKeyOf, lookUpIn } from "../core/model/identity";
import type { State, StateChange } from "../core/model/recorded";
import { type StepChange, writtenChanges } from "../core/plan/record-patch";
import { applyChange, continued, type FoldedState, headOf, stillQuarantined } from "../core/state/fold";
import { writeEntry, writeSnapshot } from "../core/state/text";
import { errorMessage } from "../core/text/errors";
import { addAll } from "../core/text/objects";
import { type StateSession, StoreFailed } from "../store/store";

/** The recorder as a step has it: a step waits while others write, so it can write no record that it has read. */
export interface StepRecorder {
  readonly state: State;
  readonly addressOf: AddressOf;
  /** Rejects when the state is somebody else's by now, or cannot be written any more: then nothing may be sent. */
  assertHeld(): Promise<void>;
  /**
   * Resolves when the changes are durable. Rejects when the lease was lost or the store failed: then nothing more may
   * be sent. What is said of a record is put into the record as it is now.
   */
  record(changes: readonly StepChange[]): Promise<void>;
}

export interface Recorder extends StepRecorder {
  record(changes: readonly (StateChange | StepChange)[]): Promise<void>;
  /** Writes one snapshot in place of a long journal, and lets the lock go. */
  close(): Promise<void>;
}

/**
 * At its end a run folds the journal into the snapshot, so that one file says everything; not so for a large state of
 * which little changed, where rewriting it all would cost more than the run.
 */
const isWorthFolding = (journalled: number, records: number): boolean =>
  journalled > 0 && (records <= 10_000 || journalled * 10 > records);

export function createRecorder(initial: FoldedState, session: StateSession): Recorder {
  const state = continued(initial);
  const addresses = addressesByIdentity(state.resources.values());
  let quarantined = initial.quarantined;
  let { serial, journalled } = initial;
  let pending: { readonly lines: string[]; readonly done: Promise<void> } | undefined;
  let writing: Promise<void> = Promise.resolve();
  let broken: unknown;

  function enqueue(lines: readonly string[]): Promise<void> {
    if (pending === undefined) {
      const batch: string[] = [];
      const done = writing.then(async () => {
        pending = undefined;
        if (broken !== undefined) throw broken;
        try {
          await session.append(batch);
        } catch (error) {
          broken = asStateError(error);
          throw broken;
        }
      });
      writing = done.catch(() => undefined);
      pending = { lines: batch, done };
    }
    addAll(pending.lines, lines);
    return pending.done;
  }

  const { lineage } = initial;
  const now = (): State => {
    const { resources, intents, orphans } = state;
    return { lineage, serial, resources, intents, orphans, quarantined, ...headOf(state) };
  };

  return {
    get state(): State {
      return now();
    },
    addressOf: lookUpIn(addresses),
    async assertHeld() {
      if (broken !== undefined) throw broken;
      await session.assertHeld().catch((error: unknown) => {
        throw asStateError(error);
      });
    },
    async record(changes) {
      if (changes.length === 0) return;
      if (broken !== undefined) throw broken;
      const written = writtenChanges(changes, state.resources);
      const isGroup = !isSettledCreate(written);
      const lines = written.map((change, index) => {
        if (change.type === "resource") {
          const former = identityKeyOf(state.resources.get(change.address));
          if (former !== undefined && addresses.get(former) === change.address) addresses.delete(former);
          const present = identityKeyOf(change.record);
          if (present !== undefined) addresses.set(present, change.address);
        }
        applyChange(state, change);
        quarantined = stillQuarantined(quarantined, change);
        serial++;
        journalled++;
        const more = isGroup ? written.length - 1 - index : 0;
        return writeEntry({ serial, epoch: session.epoch, change, more: more > 0 ? more : undefined });
      });
      if (lines.length > 0) await enqueue(lines);
    },
    async close() {
      await writing;
      try {
        if (broken === undefined && isWorthFolding(journalled, state.resources.size))
          await session.replace(writeSnapshot({ ...now(), epoch: session.epoch, journalled: 0 }));
      } catch (error) {
        // Tried once: a second failure would hide what the run did.
        await session.release().catch(() => undefined);
        throw error;
      }
      await session.release();
    },
  };
}

/**
 * A new id and the end of its create. The id alone says both (fold.ts), so it counts even where the disk was full before
 * the second line.
 */
const isSettledCreate = ([made, ended, ...others]: readonly StateChange[]): boolean =>
  made?.type === "resource" &&
  made.record?.id !== undefined &&
  ended?.type === "intent" &&
  ended.intent === null &&
  ended.address === made.address &&
  others.length === 0;

/** An error that a store threw is a failure of the state. Its code tells it from a bug in a step. */
function asStateError(error: unknown): Error {
  if (isStateError(error)) return error;
  return new StoreFailed(`the state could not be written: ${errorMessage(error)}`, {
    cause: error,
  });
}

export const isStateError = (error: unknown): error is Error & { readonly code: DiagnosticCode } =>
  error instanceof Error && "code" in error && typeof error.code === "string" && error.code.startsWith("state/");

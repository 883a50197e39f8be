/** What an open command works on: its files, its service and its state. */

import type { Diagnostic } from "../core/model/diagnostic";
import type { Plan } from "../core/plan/plan";
import type { PreparePlan } from "../engine/plan";
import { onAbort } from "../service/abort-listeners";
import type { Invocation } from "./command";
import type { Service } from "./compose";
import { type CommandFailed, fail } from "./crash";
import type { Workspace } from "./workspace";

/** Its signal aborts whatever only looks; what earlier rounds saw is there for a command that plans again and again. */
export interface Session extends Pick<PreparePlan, "store" | "memory" | "swept" | "signal"> {
  readonly invocation: Invocation;
  readonly workspace: Workspace;
  readonly service: Service;
  /** The id of the saved and reviewed plan; absent when the plan is made now. */
  readonly savedPlanId?: string;
}

export const allDiagnostics = (session: Session, plan: Plan): Diagnostic[] => [
  ...session.workspace.diagnostics,
  ...session.service.diagnostics,
  ...plan.diagnostics,
];

/** The session with further notes beside the diagnostics of the files. */
export const withNotes = (session: Session, notes: readonly Diagnostic[]): Session => ({
  ...session,
  workspace: { ...session.workspace, diagnostics: [...session.workspace.diagnostics, ...notes] },
});

/** What was found so far is not reported. */
export const stoppedBefore = (): CommandFailed => fail("apply/interrupted", "stopped before anything was sent");

/** A look is no longer waited for once the command was told to stop: nothing depends on how it ends. */
export async function unlessStopped<T>(signal: AbortSignal | undefined, looking: Promise<T>): Promise<T> {
  if (signal === undefined) return looking;
  let left = (): void => undefined;
  const stopped = new Promise<never>((_, reject) => {
    const leave = (): void => reject(stoppedBefore());
    left = onAbort(signal, leave);
    if (signal.aborted) leave();
  });
  try {
    return await Promise.race([looking, stopped]);
  } finally {
    left();
  }
}

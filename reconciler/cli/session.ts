/** What an open command works on: its files, its service and its state. */
import type { Diagnostic } from "../core/model/diagnostic";
import type { LookMemory } from "../core/plan/memory";
import type { Plan } from "../core/plan/plan";
import type { Swept } from "../core/plan/sweep";
import type { StateStore } from "../store/store";
import type { Invocation } from "./command";
import type { Service } from "./compose";
import type { Workspace } from "./workspace";

export interface Session {
  readonly invocation: Invocation;
  readonly workspace: Workspace;
  readonly service: Service;
  readonly store: StateStore;
  /** The id of the saved and reviewed plan; absent when the plan is made now. */
  readonly savedPlanId?: string;
  /** What earlier rounds saw, for a command that plans again and again. */
  readonly memory?: LookMemory;
  /** What a watch saw between its rounds. */
  readonly swept?: Swept;
  /** Aborts whatever only looks. */
  readonly signal?: AbortSignal;
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

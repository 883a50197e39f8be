/** What a command works on once it is open: its files, its service and its state. */
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
  /** The plan as it was saved and reviewed; absent when it is made on the spot. */
  readonly savedPlanId?: string;
  /** Of a command that plans again and again from memory. */
  readonly memory?: LookMemory;
  /** What was seen between the rounds of a watch. */
  readonly swept?: Swept;
  /** Ends what only looks. */
  readonly signal?: AbortSignal;
}

export const allDiagnostics = (session: Session, plan: Plan): Diagnostic[] => [
  ...session.workspace.diagnostics,
  ...session.service.diagnostics,
  ...plan.diagnostics,
];

/** With more to say beside what the files gave cause to. */
export const withNotes = (session: Session, notes: readonly Diagnostic[]): Session => ({
  ...session,
  workspace: { ...session.workspace, diagnostics: [...session.workspace.diagnostics, ...notes] },
});

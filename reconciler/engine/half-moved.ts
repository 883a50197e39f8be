/** A state that may share records with another one: nothing is planned on it, and nothing but the move is written. */

import type { Diagnostic } from "../core/model/diagnostic";
import type { DiagnosticCode } from "../core/model/diagnostic-code";
import { told, toSay } from "../core/model/fix";
import type { State, Transfer } from "../core/model/recorded";
import { listed } from "../core/text/list-text";

export class HalfMoved extends Error {
  override readonly name = "HalfMoved";
  readonly code = "state/half-moved" satisfies DiagnosticCode;
  readonly diagnostics: readonly Diagnostic[];
  constructor(
    /** Where the state lies that has the notes. */
    readonly location: string,
    readonly moves: Readonly<Record<string, Transfer>>,
  ) {
    const [note] = Object.values(moves);
    const addresses = Object.keys(note?.addresses ?? {});
    const named = listed(addresses, 3);
    const summary = `a move between ${location} and ${note?.other ?? "another state"} is half done (${named}; begun at ${note?.at ?? "an unknown time"} by ${note?.by ?? "somebody"})`;
    super(summary);
    this.diagnostics = [
      {
        severity: "error",
        code: "state/half-moved",
        summary,
        detail: "Both states may have these resources, so nothing is planned or sent until the move is finished.",
        ...told([toSay(["run ", ["apply"], " for either project: it finishes the move first"], undefined)]),
      },
    ];
  }
}

/** Refuses a state that shares records with another one. */
export function assertWhole(state: State, location: string): void {
  if (state.moves !== undefined) throw new HalfMoved(location, state.moves);
}

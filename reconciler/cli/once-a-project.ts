/** Notes that nobody can act upon are said while a project is new. Programs, and --deny, have them always. */
import type { Diagnostic } from "../core/model/diagnostic";
import type { FoldedState } from "../core/state/fold";

/** After the second run everybody who works on the project has read them; `doctor` goes on saying what it learns. */
export const onceAProject = (
  diagnostics: readonly Diagnostic[],
  { runs = [] }: Pick<FoldedState, "runs">,
): readonly Diagnostic[] => (runs.length > 1 ? withoutGroupNames(diagnostics) : diagnostics);

/** One that --deny or --strict refuses is the reason of the exit code. */
export const withoutGroupNames = (diagnostics: readonly Diagnostic[]): readonly Diagnostic[] =>
  diagnostics.filter(({ code, severity }) => code !== "plan/group-names-unobserved" || severity === "error");

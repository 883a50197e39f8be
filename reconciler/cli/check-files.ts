/** What can be said of files that were read, before anything asks a service: for `validate`, and for editors while typing. */
import { checkDeclared } from "../core/findings/checks";
import { type Finding, judge } from "../core/findings/finding";
import { asClosed, type DesiredResource, isOpen } from "../core/model/desired";
import type { Diagnostic } from "../core/model/diagnostic";
import type { NameProblem } from "../core/model/name-rule";
import { nameRefused } from "../core/plan/names-refused";
import { nameProblemBy } from "../dialect/name-problem";
import { judgeFile } from "../kinds/group/reachability/findings";
import { todayUtc } from "../outside/clock";
import { readDialectWith } from "./compose";
import { CommandFailed } from "./crash";
import type { Flags } from "./flags";
import type { Workspace } from "./workspace";

interface CheckedFiles {
  /** As `deny:` of the file judges them. */
  readonly findings: readonly Finding[];
  /** Assertions about reach wait for the plan: the file takes values from elsewhere. */
  readonly leavesReach: boolean;
}

/** Throws what leaves nothing to judge: a dialect that cannot be read, names that the service refuses. */
export function checkFiles(workspace: Workspace, flags: Flags): CheckedFiles {
  const { desired } = workspace;
  const dialect = readDialectWith(workspace, flags);
  const refused = namesRefusedIn(desired.resources, nameProblemBy(dialect.dialect.names));
  if (refused.length > 0) throw new CommandFailed([...workspace.diagnostics, ...dialect.diagnostics, ...refused]);
  const leavesReach = desired.reachability !== undefined && isOpen(desired);
  const judged =
    desired.reachability === undefined || leavesReach ? [] : judgeFile(asClosed(desired), todayUtc()).findings;
  const all = [...workspace.diagnostics, ...dialect.diagnostics, ...judged, ...checkDeclared(desired)];
  return { findings: judge(all, { deny: desired.deny ?? [], strict: false }), leavesReach };
}

/** Names that the service's rules refuse: a plan would stop at them, and here they are reported without a service. */
const namesRefusedIn = (resources: readonly DesiredResource[], problemOf: NameProblem): Diagnostic[] =>
  resources.flatMap(({ kind, address, name, source }) => {
    const problem = problemOf(kind, name);
    return problem === undefined ? [] : [nameRefused(address, kind, name, problem, source)];
  });

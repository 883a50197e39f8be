/** `reconcile validate`: everything that can be checked without the service. */

import { findingAsDiagnostic, isRefused } from "../../core/findings/finding";
import { sharedBetween } from "../../core/findings/shared-between";
import type { Kind } from "../../core/model/address";
import { countOf } from "../../report/style";
import { originAt } from "../../service/origin-at";
import { annotated, printAnnotations, readAnnotations } from "../annotations";
import { checkFiles } from "../check-files";
import { command, type Invocation } from "../command";
import { forEachEnvironment, isForAll } from "../each-environment";
import { commonFlags } from "../flags";
import { readEnvironments, readWorkspace } from "../workspace";

export const validateCommand = command({
  usage: "validate [FILE|DIR]…",
  summary: "checks everything that needs no service",
  section: "From a file to the service",
  examples: [
    ["reconcile validate", "needs neither a service nor a credential: good for a pre-commit hook"],
    ["reconcile validate --env all", "each environment that the file declares"],
    ["reconcile validate --json", "the problems in the last line, each with file and line, for an editor or CI"],
  ],
  flags: ["file", "annotations", ...commonFlags],
  run: (invocation) => annotated(invocation, () => validateAll(invocation)),
});

const validateAll = async (invocation: Invocation): Promise<number> =>
  isForAll(invocation)
    ? forEachEnvironment(
        invocation,
        async (own) => validate(own),
        sharedBetween(readEnvironments(invocation), originAt),
      )
    : validate(invocation);

function validate(invocation: Invocation): number {
  const format = readAnnotations(invocation);
  const workspace = readWorkspace(invocation);
  const { findings, leavesReach } = checkFiles(workspace, invocation.flags);
  const { resources, files, environment } = workspace.desired;
  const count = (kind: Kind, word: string): string =>
    countOf(resources.filter((resource) => resource.kind === kind).length, word);
  if (leavesReach)
    invocation.output.note(
      "The assertions are judged by reconcile plan: the file takes values from elsewhere (reads, lookups).",
    );
  const diagnostics = findings.map(findingAsDiagnostic);
  if (format !== undefined) printAnnotations(invocation, format, findings);
  else if (!isRefused(findings))
    invocation.output.print(
      `Valid: ${count("vm", "VM")}, ${count("volume", "volume")} and ${count("group", "security group")} in ${countOf(files.length, "file")}${environment === undefined ? "" : `, for ${environment}`}.`,
    );
  return invocation.output.finish({ exitCode: isRefused(findings) ? 3 : 0, diagnostics, findings });
}

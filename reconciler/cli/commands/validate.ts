/** `reconcile validate`: everything that can be checked without the service. */

import type { Kind } from "../../core/model/address";
import { countOf } from "../../report/style";
import { annotated, printAnnotations, readAnnotations } from "../annotations";
import { command, type Invocation } from "../command";
import { readDialect } from "../compose";
import { readWorkspace } from "../workspace";

export const validateCommand = command({
  usage: "validate [FILE|DIR]…",
  summary: "checks everything that needs no service",
  section: "From a file to the service",
  examples: [
    ["reconcile validate", "needs neither a service nor a credential: good for a pre-commit hook"],
    ["reconcile validate --json", "the problems in the last line, each with file and line, for an editor or CI"],
  ],
  flags: ["file", "dialect", "annotations", "var", "var-file", "json", "no-color"],
  run: (invocation) => annotated(invocation, async () => validate(invocation)),
});

function validate(invocation: Invocation): number {
  const format = readAnnotations(invocation);
  const workspace = readWorkspace(invocation);
  const dialect = readDialect(workspace, invocation.flags);
  const { resources, files } = workspace.desired;
  const count = (kind: Kind, word: string): string =>
    countOf(resources.filter((resource) => resource.kind === kind).length, word);
  const diagnostics = [...workspace.diagnostics, ...dialect.diagnostics];
  if (format !== undefined) printAnnotations(invocation, format, diagnostics);
  else
    invocation.output.print(
      `Valid: ${count("vm", "VM")}, ${count("volume", "volume")} and ${count("group", "security group")} in ${countOf(files.length, "file")}.`,
    );
  return invocation.output.finish({ exitCode: 0, diagnostics });
}

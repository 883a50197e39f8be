/** `reconcile validate`: everything that can be checked without the service. */
import { annotated, printAnnotations, readAnnotations } from "../annotations";
import { readDialect } from "../compose";
import type { Invocation } from "../invocation";
import { readWorkspace } from "../workspace";

export const run = (invocation: Invocation): Promise<number> => annotated(invocation, async () => validate(invocation));

function validate(invocation: Invocation): number {
  const format = readAnnotations(invocation);
  const workspace = readWorkspace(invocation);
  const dialect = readDialect(workspace, invocation.flags);
  const { resources, files } = workspace.desired;
  const count = (kind: string): number => resources.filter((resource) => resource.kind === kind).length;
  const diagnostics = [...workspace.diagnostics, ...dialect.diagnostics];
  if (format !== undefined) printAnnotations(invocation, format, diagnostics);
  else
    invocation.output.print(
      `Valid: ${count("vm")} VMs, ${count("volume")} volumes and ${count("group")} security groups in ${files.length} ${files.length === 1 ? "file" : "files"}.`,
    );
  return invocation.output.finish({ exitCode: 0, diagnostics });
}

/** `reconcile validate`: everything that can be checked without the service. */
import type { Kind } from "../../core/model/address";
import { readDialect } from "../compose";
import type { Invocation } from "../invocation";
import { readWorkspace } from "../workspace";

export async function run(invocation: Invocation): Promise<number> {
  const workspace = readWorkspace(invocation);
  const dialect = readDialect(workspace, invocation.flags);
  const { resources, files } = workspace.desired;
  const { countOf } = require("../../report/style") as typeof import("../../report/style");
  const count = (kind: Kind, word: string): string =>
    countOf(resources.filter((resource) => resource.kind === kind).length, word);
  invocation.output.print(
    `Valid: ${count("vm", "VM")}, ${count("volume", "volume")} and ${count("group", "security group")} in ${countOf(files.length, "file")}.`,
  );
  return invocation.output.finish({ exitCode: 0, diagnostics: [...workspace.diagnostics, ...dialect.diagnostics] });
}

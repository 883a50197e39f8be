/** `reconcile version`. Without flags the entry script answers it before any of this is loaded. */
import { version } from "../../version";
import { command, noArguments } from "../command";

export const versionCommand = command({
  usage: "version",
  summary: "prints the version",
  section: "This program",
  examples: [["reconcile version", "the version"]],
  flags: ["json"],
  positionals: noArguments,
  async run(invocation) {
    invocation.output.print(`reconcile ${version}`);
    invocation.output.event({ type: "version", version, node: process.version });
    return invocation.output.finish({ exitCode: 0 });
  },
});

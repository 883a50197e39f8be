/** `reconcile version`. Without flags it is answered before any of this is loaded. */
import { version } from "../../version";
import type { Invocation } from "../invocation";

export async function run(invocation: Invocation): Promise<number> {
  invocation.output.print(`reconcile ${version}`);
  invocation.output.event({ type: "version", version, node: process.version });
  return invocation.output.finish({ exitCode: 0 });
}

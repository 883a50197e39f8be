/** `reconcile graph`: the resources, or the plan, as a picture. */
import { fail } from "../compose";
import type { Invocation } from "../invocation";

export async function run(_invocation: Invocation): Promise<number> {
  throw fail("cli/not-there", "the graph is not there yet");
}

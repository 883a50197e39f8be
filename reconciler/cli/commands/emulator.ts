/** `reconcile emulator`: the embedded service as a process of its own. */
import { runEmulator } from "../../../emulator/main";
export async function runArguments(rest: readonly string[]): Promise<number> {
  return runEmulator(rest);
}

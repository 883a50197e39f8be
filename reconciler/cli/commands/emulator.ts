/** `reconcile emulator`: the embedded service as a process of its own. */
export async function runArguments(rest: readonly string[]): Promise<number> {
  const { runEmulator } = require("../../../emulator/main") as typeof import("../../../emulator/main");
  return runEmulator(rest);
}

/** `reconcile emulator`: the embedded service as a process of its own. */
export async function runArguments(rest: readonly string[]): Promise<number> {
  const { runEmulator } = require("../../../emulator/main") as typeof import("../../../emulator/main");
  return runEmulator(rest);
}

export function emulatorHelp(): string {
  const { emulatorFlags } = require("../../../emulator/main") as typeof import("../../../emulator/main");
  return `Usage: reconcile emulator [flags]\n\n  serves the whole service on loopback until it is stopped\n\nFlags:\n${emulatorFlags.map((flag) => `  ${flag}`).join("\n")}\n`;
}

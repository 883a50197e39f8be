/** Help, made from the tables. */
import { commands } from "./command-table";
import { commonFlags, type FlagName, type FlagRow, flagTable } from "./flags";

export function printHelp(words: readonly string[]): number {
  const topic = words.join(" ");
  if (topic === "") {
    process.stdout.write(overview());
    return 0;
  }
  const matching = commands.filter((command) => command.name === topic || command.name.startsWith(`${topic} `));
  if (matching.length === 0) {
    process.stderr.write(`reconcile has no command ${JSON.stringify(topic)}\nAll commands: reconcile help\n`);
    return 1;
  }
  if (topic === "emulator") {
    const { emulatorHelp } = require("./commands/emulator") as typeof import("./commands/emulator");
    process.stdout.write(emulatorHelp());
    return 0;
  }
  process.stdout.write(matching.map((command) => commandHelp(command)).join("\n"));
  return 0;
}

function overview(): string {
  const width = Math.max(...commands.map((command) => command.name.length));
  const lines = [
    "reconcile: makes VMs, volumes and security groups what a YAML file says they should be",
    "",
    "Usage: reconcile COMMAND [FILE|DIR]… [flags]",
    "",
  ];
  for (const command of commands) lines.push(`  ${command.name.padEnd(width)}  ${command.summary}`);
  lines.push(
    "",
    "Common flags:",
    ...flagLines(commonFlags),
    "",
    "Without a file, reconcile.yaml in this folder. `reconcile help COMMAND` tells more.",
    "Exit codes: 0 done, 1 error, 2 changes pending, 3 consent missing, 4 something waits for you outside.",
    "Credentials: RECONCILE_TOKEN, RECONCILE_AUTHORIZATION, or a command named in the dialect.",
    "",
  );
  return lines.join("\n");
}

function commandHelp(command: (typeof commands)[number]): string {
  const common = new Set<string>(commonFlags);
  const own = command.flags.filter((flag) => !common.has(flag));
  const shared = command.flags.filter((flag) => common.has(flag));
  const lines = [`Usage: reconcile ${command.usage}`, "", `  ${command.summary}`, ""];
  if (own.length > 0) lines.push("Flags:", ...flagLines(own), "");
  if (shared.length > 0) lines.push("Common flags:", ...flagLines(shared), "");
  return lines.join("\n");
}

function flagLines(names: readonly FlagName[]): string[] {
  const shown = names.map((name) => {
    const row: FlagRow = flagTable[name];
    return {
      left: `--${name}${row.value === undefined ? "" : ` ${row.value}`}${row.short === undefined ? "" : `, -${row.short}`}`,
      help: row.help,
    };
  });
  const width = Math.max(...shown.map(({ left }) => left.length));
  return shown.map(({ left, help }) => `  ${left.padEnd(width)}  ${help}`);
}

/**
 * Help, made from the tables: an overview by what one wants to do, a page for each command with examples, and the words
 * that may follow the first one of a command with two. Fits the terminal it is printed on.
 */
import { emulatorFlagHelp } from "../../emulator/main";
import { nearestName } from "../core/text/nearest";
import { hang } from "../report/style";
import { examplesOf } from "./command-examples";
import { type CommandSpec, commands } from "./command-table";
import { commonFlags, type FlagName, type FlagRow, flagTable } from "./flags";

export function printHelp(words: readonly string[]): number {
  const topic = words.join(" ");
  if (topic === "") {
    process.stdout.write(overview());
    return 0;
  }
  const command = commands.find(({ name }) => name === topic) ?? commands.find(({ name }) => name === words[0]);
  if (command !== undefined) {
    process.stdout.write(commandHelp(command));
    return 0;
  }
  if (wordsAfter(topic).length > 0) {
    process.stdout.write(groupHelp(topic));
    return 0;
  }
  const near = nearestName(
    topic,
    commands.map(({ name }) => name),
  );
  process.stderr.write(
    `reconcile has no command ${JSON.stringify(topic)}${near === undefined ? "" : `; did you mean: reconcile help ${near}?`}\nAll commands: reconcile help\n`,
  );
  return 1;
}

/** Commands by what one wants; one that no section names stands under the last. */
const sections: readonly (readonly [title: string, firstWords: readonly string[]])[] = [
  ["From a file to the service", ["init", "validate", "plan", "rehearse", "apply", "destroy", "watch"]],
  ["Looking", ["drift", "exposure", "graph", "doctor"]],
  ["Taking over and handing on", ["import", "group", "pull", "export"]],
  ["Acting on a VM", ["vm"]],
  ["The state", ["state", "orphans"]],
  ["This program", []],
];

function overview(): string {
  const width = Math.max(...commands.map((command) => command.name.length));
  const placed = new Set(sections.flatMap(([, firstWords]) => firstWords));
  const lines = [
    "reconcile makes VMs, volumes and security groups what a YAML file says",
    "",
    "Usage: reconcile COMMAND [FILE|DIR]… [flags]     (no file: ./reconcile.yaml)",
  ];
  for (const [title, firstWords] of sections) {
    const shown = commands.filter(({ name }) => {
      const first = name.split(" ")[0]!;
      return firstWords.length === 0 ? !placed.has(first) : firstWords.includes(first);
    });
    lines.push("", title);
    for (const command of shown) lines.push(...hang(`  ${command.name.padEnd(width)}  `, command.summary, columns()));
  }
  lines.push(
    "",
    "Common flags",
    ...flagLines(commonFlags),
    "",
    "Exit codes   0 done, 1 error, 2 changes are pending, 3 a consent is missing and",
    "             nothing was sent, 4 something waits for you outside",
    "Credentials  RECONCILE_TOKEN, RECONCILE_AUTHORIZATION, or a command named in the",
    "             dialect; never a flag",
    "",
    "More: reconcile help COMMAND, reconcile explain CODE",
    "",
  );
  return lines.join("\n");
}

const wordsAfter = (first: string): readonly CommandSpec[] =>
  commands.filter((command) => command.name.startsWith(`${first} `));

/** What may follow `first`; with `wrong`, because something else did. */
export function groupHelp(first: string, wrong?: string): string {
  const matching = wordsAfter(first);
  const near =
    wrong === undefined
      ? undefined
      : nearestName(
          `${first} ${wrong}`,
          matching.map(({ name }) => name),
        );
  const width = Math.max(...matching.map(({ name }) => name.length));
  return [
    ...(wrong === undefined
      ? []
      : [
          `reconcile ${first} has no ${JSON.stringify(wrong)}${near === undefined ? "" : `; did you mean: reconcile ${near}?`}`,
          "",
        ]),
    `Usage: reconcile ${first} ${matching.map(({ name }) => name.slice(first.length + 1)).join("|")}`,
    "",
    ...matching.flatMap(({ name, summary }) => hang(`  ${name.padEnd(width)}  `, summary, columns())),
    "",
    `More: reconcile help ${matching[0]!.name}`,
    "",
  ].join("\n");
}

function commandHelp(command: CommandSpec): string {
  const common = new Set<string>(["file", ...commonFlags]);
  const own = command.flags.filter((flag) => !common.has(flag));
  const shared = command.flags.filter((flag) => common.has(flag));
  const lines = [`Usage: reconcile ${command.usage}`, "", ...hang("  ", command.summary, columns()), ""];
  const examples = examplesOf(command.name);
  if (examples.length > 0) lines.push(examples.length === 1 ? "Example" : "Examples", ...exampleLines(examples), "");
  if (command.name === "emulator") {
    lines.push("Flags", ...columnsOfFlags(emulatorFlagHelp), "");
  }
  if (own.length > 0) lines.push("Flags", ...flagLines(own), "");
  if (shared.length > 0) lines.push("Common flags", ...flagLines(shared), "");
  return lines.join("\n");
}

const exampleLines = (examples: ReturnType<typeof examplesOf>): string[] =>
  examples.flatMap(({ line, says }) => [`  ${line}`, ...hang("      ", says, columns())]);

const flagLines = (names: readonly FlagName[]): string[] => columnsOfFlags(names.map(flagHelp));

export function flagHelp(name: FlagName): { readonly left: string; readonly help: string } {
  const row: FlagRow = flagTable[name];
  const short = row.short === undefined ? "" : `-${row.short}, `;
  return { left: `${short}--${name}${row.value === undefined ? "" : ` ${row.value}`}`, help: row.help };
}

function columnsOfFlags(flags: readonly { readonly left: string; readonly help: string }[]): string[] {
  const width = Math.max(...flags.map(({ left }) => left.length));
  return flags.flatMap(({ left, help }) => hang(`  ${left.padEnd(width)}  `, help, columns()));
}

const columns = (): number => Math.max(60, process.stdout.columns ?? 80);

/**
 * Help, made from the definitions of the commands: an overview in sections, a page for each command with examples, and
 * a page for the first word of commands that have two. Fits the width of the terminal.
 */
import { nearestName } from "../core/text/nearest";
import { hang } from "../report/style";
import { allCommands, type Commands, type Example, findCommand, type NamedCommand, sections } from "./command";
import { commonFlags, type FlagHelp, type FlagName, type FlagRow, flagTable } from "./flags";

export function printHelp(commands: Commands, words: readonly string[]): number {
  const topic = words.join(" ");
  if (topic === "") {
    process.stdout.write(overview(commands));
    return 0;
  }
  const asked = findCommand(commands, words);
  if (asked !== undefined) {
    process.stdout.write(commandHelp(asked.found));
    return 0;
  }
  if (wordsAfter(commands, topic).length > 0) {
    process.stdout.write(groupHelp(commands, topic));
    return 0;
  }
  const near = nearestName(topic, Object.keys(commands));
  process.stderr.write(
    `reconcile has no command ${JSON.stringify(topic)}${near === undefined ? "" : `; did you mean: reconcile help ${near}?`}\nAll commands: reconcile help\n`,
  );
  return 1;
}

function overview(commands: Commands): string {
  const all = allCommands(commands);
  const width = widest(all.map(({ name }) => name));
  const lines = [
    "reconcile makes VMs, volumes and security groups what a YAML file says",
    "",
    "Usage: reconcile COMMAND [FILE|DIR]… [flags]     (no file: ./reconcile.yaml)",
  ];
  for (const title of sections) {
    lines.push("", title);
    for (const { section, name, summary } of all)
      if (section === title) lines.push(...hang(`  ${name.padEnd(width)}  `, summary, columns()));
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

const wordsAfter = (commands: Commands, first: string): readonly NamedCommand[] =>
  allCommands(commands).filter(({ name }) => name.startsWith(`${first} `));

/** The words that may follow `first`. `wrong` is the word that was typed in their place. */
export function groupHelp(commands: Commands, first: string, wrong?: string): string {
  const matching = wordsAfter(commands, first);
  const names = matching.map(({ name }) => name);
  const near = wrong === undefined ? undefined : nearestName(`${first} ${wrong}`, names);
  return [
    ...(wrong === undefined
      ? []
      : [
          `reconcile ${first} has no ${JSON.stringify(wrong)}${near === undefined ? "" : `; did you mean: reconcile ${near}?`}`,
          "",
        ]),
    `Usage: reconcile ${first} ${names.map((name) => name.slice(first.length + 1)).join("|")}`,
    "",
    ...matching.flatMap(({ name, summary }) => hang(`  ${name.padEnd(widest(names))}  `, summary, columns())),
    "",
    `More: reconcile help ${names[0]}`,
    "",
  ].join("\n");
}

function commandHelp(command: NamedCommand): string {
  const { usage, summary, examples, flags, ownFlags } = command;
  const { own, shared } = splitFlags(flags);
  const title = examples.length === 1 ? "Example" : "Examples";
  const lines = [`Usage: reconcile ${usage}`, "", ...hang("  ", summary, columns()), ""];
  lines.push(title, ...exampleLines(examples), "");
  const particular = ownFlags?.() ?? own.map((flag) => flagHelp(flag, command));
  if (particular.length > 0) lines.push("Flags", ...columnsOfFlags(particular), "");
  if (shared.length > 0) lines.push("Common flags", ...flagLines(shared), "");
  return lines.join("\n");
}

const common = new Set<FlagName>(["file", ...commonFlags]);
/** A command's own flags, apart from those that nearly all commands have. */
export const splitFlags = (flags: readonly FlagName[]) => ({
  own: flags.filter((flag) => !common.has(flag)),
  shared: flags.filter((flag) => common.has(flag)),
});

const exampleLines = (examples: readonly Example[]): string[] =>
  examples.flatMap(([line, says]) => [`  ${line}`, ...hang("      ", says, columns())]);

const flagLines = (names: readonly FlagName[]): string[] => columnsOfFlags(names.map((name) => flagHelp(name)));

export function flagHelp(name: FlagName, command?: Pick<NamedCommand, "formats">): FlagHelp {
  const row: FlagRow = flagTable[name];
  const short = row.short === undefined ? "" : `-${row.short}, `;
  const value = (name === "format" ? command?.formats?.().join("|") : undefined) ?? row.value;
  return { left: `${short}--${name}${value === undefined ? "" : ` ${value}`}`, help: row.help };
}

function columnsOfFlags(flags: readonly FlagHelp[]): string[] {
  const width = widest(flags.map(({ left }) => left));
  return flags.flatMap(({ left, help }) => hang(`  ${left.padEnd(width)}  `, help, columns()));
}

const widest = (words: readonly string[]): number => Math.max(...words.map((word) => word.length));

const columns = (): number => Math.max(60, process.stdout.columns ?? 80);

/**
 * Help, made from the definitions of the commands: one screen with the daily ones, an overview of all in sections, the
 * flags that nearly all have, a page for each command with examples, and a page for the first word of commands that have
 * two. Fits the width of the terminal.
 */
import { nearestName, nearestText } from "../core/text/nearest";
import { withoutUsers } from "../core/text/outside-policy";
import { hang } from "../report/style";
import { allCommands, type Commands, type Example, findCommand, helpSections, type NamedCommand } from "./command";
import { commonFlags, type FlagHelp, type FlagName, type FlagRow, flagTable } from "./flags";
import { ourCommand } from "./foreign-words";

/** `undefined`: no page, command or first word of commands is called so. */
export function helpText(commands: Commands, words: readonly string[]): string | undefined {
  const topic = words.join(" ");
  const page = Object.hasOwn(helpPages, topic) ? helpPages[topic] : undefined;
  if (page !== undefined) return page(commands);
  const asked = findCommand(commands, words);
  if (asked !== undefined) return commandHelp(asked.found);
  return wordsAfter(commands, topic).length > 0 ? groupHelp(commands, topic) : undefined;
}

/** What is typed every day, in the order of a first day. */
const daily = [
  "init",
  "validate",
  "plan",
  "apply",
  "drift",
  "history",
  "undo",
  "output",
  "import",
  "pull",
  "destroy",
  "doctor",
  "explain",
];

const title = [
  "reconcile makes VMs, volumes and security groups what a YAML file says",
  "",
  "Usage: reconcile COMMAND [FILE|DIR]… [flags]     (no file: ./reconcile.yaml)",
];

/** One screen of a terminal of 80 by 24, its prompt included. */
function firstScreen(commands: Commands): string {
  const shown = allCommands(commands).filter(({ name }) => daily.includes(name));
  return [
    ...title,
    "",
    ...commandLines(shown.sort((one, other) => daily.indexOf(one.name) - daily.indexOf(other.name))),
    "",
    "A first try: reconcile init, then reconcile apply. No account is needed.",
    "More: reconcile help COMMAND, help flags, help all (every command)",
    "",
  ].join("\n");
}

function everyCommand(commands: Commands): string {
  const all = allCommands(commands);
  const width = widestOf(all.map(({ name }) => name));
  return [
    ...title,
    ...helpSections.flatMap((title) => [
      "",
      title,
      ...commandLines(
        all.filter(({ section }) => section === title),
        width,
      ),
    ]),
    "",
    "More: reconcile help COMMAND, reconcile help flags, reconcile explain CODE",
    "",
  ].join("\n");
}

const everyCommonFlag = (): string =>
  [
    "Flags that nearly all commands have",
    ...flagLines(["file", ...commonFlags]),
    "",
    "Exit codes   0 done, 1 error, 2 changes are pending, 3 a consent is missing and",
    "             nothing was sent, 4 something waits for you outside",
    "Credentials  RECONCILE_TOKEN, RECONCILE_AUTHORIZATION, or a command named in the",
    "             dialect; never a flag",
    "",
  ].join("\n");

const helpPages: Readonly<Record<string, (commands: Commands) => string>> = {
  "": firstScreen,
  all: everyCommand,
  flags: everyCommonFlag,
};

/** What to say of words that begin with no command: ours for one of another tool, else the nearest. */
export function noCommand(commands: Commands, words: readonly string[]): string {
  const [first = "", second] = words;
  const problem = `reconcile has no command ${JSON.stringify(withoutUsers(first))}`;
  const ours = ourCommand(first, second);
  if (ours !== undefined) return `${problem}; here it is ${ours}`;
  const names = [...Object.keys(commands), "help"];
  const near = nearestName(words.slice(0, 2).join(" "), names) ?? nearestName(first, names);
  return near === undefined ? problem : `${problem}; did you mean: reconcile ${near}?`;
}

const wordsAfter = (commands: Commands, first: string): readonly NamedCommand[] =>
  allCommands(commands).filter(({ name }) => name.startsWith(`${first} `));

/** What to say of a word that may not follow one of ours. */
export function noSecondWord(commands: Commands, first: string, second: string): string {
  const problem = `reconcile ${first} has no ${JSON.stringify(second)}`;
  const ours = ourCommand(first, second);
  if (ours !== undefined) return `${problem}; here it is ${ours}`;
  const words = wordsAfter(commands, first).map(({ name }) => name.slice(first.length + 1));
  const near = nearestText(second, words, (near) => `; did you mean: reconcile ${first} ${near}?`);
  return `${problem}${near ?? ""}`;
}

/** The words that may follow `first`. */
export function groupHelp(commands: Commands, first: string): string {
  const matching = wordsAfter(commands, first);
  const names = matching.map(({ name }) => name);
  return [
    `Usage: reconcile ${first} ${names.map((name) => name.slice(first.length + 1)).join("|")}`,
    "",
    ...commandLines(matching),
    "",
    `More: reconcile help ${names[0]}`,
    "",
  ].join("\n");
}

function commandHelp(command: NamedCommand): string {
  const { usage, summary, examples, flags, ownFlags } = command;
  const { own, shared } = splitFlags(flags);
  const title = examples.length === 1 ? "Example" : "Examples";
  const lines = [`Usage: reconcile ${usage}`, "", ...hang("  ", summary, helpColumns()), ""];
  lines.push(title, ...exampleLines(examples), "");
  const particular = ownFlags?.() ?? own.map((flag) => flagHelp(flag, command));
  if (particular.length > 0) lines.push("Flags", ...columnsOfFlags(particular), "");
  if (shared.length > 0) lines.push("And the flags that nearly all commands have: reconcile help flags", "");
  return lines.join("\n");
}

const flagsOfMost = new Set<FlagName>(["file", ...commonFlags]);
/** A command's own flags, apart from those that nearly all commands have. */
export const splitFlags = (flags: readonly FlagName[]) => ({
  own: flags.filter((flag) => !flagsOfMost.has(flag)),
  shared: flags.filter((flag) => flagsOfMost.has(flag)),
});

const exampleLines = (examples: readonly Example[]): string[] =>
  examples.flatMap(([line, says]) => [`  ${line}`, ...hang("      ", says, helpColumns())]);

const flagLines = (names: readonly FlagName[]): string[] => columnsOfFlags(names.map((name) => flagHelp(name)));

export function flagHelp(name: FlagName, command?: Pick<NamedCommand, "formats">): FlagHelp {
  const row: FlagRow = flagTable[name];
  const short = row.short === undefined ? "" : `-${row.short}, `;
  const value = (name === "format" ? command?.formats?.().join("|") : undefined) ?? row.value;
  return { left: `${short}--${name}${value === undefined ? "" : ` ${value}`}`, help: row.help };
}

const columnsOfFlags = (flags: readonly FlagHelp[], width = widestOf(flags.map(({ left }) => left))): string[] =>
  flags.flatMap(({ left, help }) => hang(`  ${left.padEnd(width)}  `, help, helpColumns()));

const commandLines = (shown: readonly NamedCommand[], width?: number): string[] =>
  columnsOfFlags(
    shown.map(({ name, summary }) => ({ left: name, help: summary })),
    width,
  );

const widestOf = (words: readonly string[]): number => Math.max(...words.map((word) => word.length));

const helpColumns = (): number => Math.max(60, process.stdout.columns ?? 80);

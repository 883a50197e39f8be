/**
 * Reads the words of a command line as flags and arguments by the table of flags.ts, or says what is wrong with them.
 */
import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import type { Diagnostic } from "../core/model/diagnostic";
import { itemAt } from "../core/text/invariant";
import { nearestName, nearestText } from "../core/text/nearest";
import { onlyDefined } from "../core/text/objects";
import { withoutUsers } from "../core/text/outside-policy";
import type { NamedCommand } from "./command";
import { formatProblem, valueProblem } from "./flag-values";
import { type FlagRow, type Flags, flagRowOf, flagRows, printFlags } from "./flags";
import { ourFlag } from "./foreign-words";

export interface ReadFlags {
  readonly flags: Flags;
  readonly args: readonly string[];
  /** The words that are no use of the command. */
  readonly problems: readonly string[];
  /** The values that their flags do not take. */
  readonly badValues: readonly Diagnostic[];
}

/** The flags and arguments that a command takes. */
interface FlagReads extends Pick<NamedCommand, "name" | "formats" | "positionals"> {
  readonly flags: readonly string[];
}

const rowOfWord = (word: string): FlagRow | undefined => (word.startsWith("--") ? flagRowOf(word.slice(2)) : undefined);

/** The words before `--`, and those behind it, which are no flags. */
export function splitAtDashes(argv: readonly string[]): {
  readonly head: readonly string[];
  readonly tail: readonly string[];
} {
  const at = argv.indexOf("--");
  return at === -1 ? { head: argv, tail: [] } : { head: argv.slice(0, at), tail: argv.slice(at + 1) };
}

export function readFlags(argv: readonly string[], command: FlagReads): ReadFlags {
  const { name, flags, positionals: wanted } = command;
  const options = Object.fromEntries(
    Object.entries(flagRows).map(([name, row]) => [
      name,
      {
        type: row.value === undefined ? ("boolean" as const) : ("string" as const),
        multiple: row.multiple ?? false,
        ...onlyDefined({ short: row.short }),
      },
    ]),
  );
  const { head, tail } = splitAtDashes(argv);
  const known = new Set<string>([...flags, ...printFlags]);
  const { words, foreign } = withoutOneDash(head, name, known);
  const {
    values,
    positionals: before,
    tokens,
  } = parseArgs({
    args: withBareValues(withTwoWords(words.map(withoutShortEquals))),
    options,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const positionals = [...before, ...tail];
  const problems: string[] = [...foreign];
  const badValues: Diagnostic[] = [];
  const given = new Set(Object.keys(values));
  for (const token of tokens) {
    if (token.kind !== "option") continue;
    const problem = flagProblem(token, name, known, given);
    const badValue = problem === undefined ? badValueOf(token, command) : undefined;
    if (problem !== undefined) problems.push(problem);
    if (badValue !== undefined) badValues.push(badValue);
  }
  // What stands behind `--` is for another program, or is completed.
  if (before.includes(""))
    problems.push(`reconcile ${name} has an empty argument: a variable of the shell may be unset`);
  if (wanted !== undefined && positionals.length < wanted.min) problems.push(`reconcile ${name} needs ${wanted.what}`);
  const extra = wanted === undefined ? undefined : positionals[wanted.max];
  // Behind a flag that the command lacks it may be that flag's value, and a secret.
  const isAlone = foreign.length === 0 && tokens.every((token) => token.kind !== "option" || known.has(token.name));
  if (extra !== undefined && isAlone) {
    const hint = known.has("file") && existsSync(extra) ? "; a file or folder is named with -f" : "";
    problems.push(`reconcile ${name} takes no ${JSON.stringify(withoutUsers(extra))}${hint}`);
  }
  // `parseArgs` has read each flag by its type in the table of flags.
  return { flags: values as Flags, args: positionals, problems, badValues };
}

/** `--curl OP COMMAND` as `--curl=OP=COMMAND`: both words belong to the flag, wherever it stands. */
function withTwoWords(argv: readonly string[]): string[] {
  const words: string[] = [];
  for (let at = 0; at < argv.length; at++) {
    const [word = "", name = "", rest = ""] = argv.slice(at, at + 3);
    if (rowOfWord(word)?.twoWords === true && /^[a-z][a-z.]*$/.test(name) && rest !== "" && !rest.startsWith("--")) {
      words.push(`${word}=${name}=${rest}`);
      at += 2;
    } else words.push(word);
  }
  return words;
}

/** What is wrong with one flag of a command. */
function flagProblem(
  token: GivenFlag,
  command: string,
  known: ReadonlySet<string>,
  given: ReadonlySet<string>,
): string | undefined {
  const { rawName, value } = token;
  const row = flagRowOf(token.name);
  if (row === undefined || !known.has(token.name)) {
    const ours = ourFlag(token.name, known);
    const near = nearestText(token.name, known, (near) => `; did you mean --${near}?`) ?? "";
    return ours === undefined ? `${noFlag(command, rawName)}${near}` : noFlag(command, rawName, ours);
  }
  if (row.value === undefined) return value === undefined ? undefined : `${rawName} takes no value`;
  const needed = `${rawName} needs a value: ${rawName} ${row.value}`;
  if (value === undefined || value === "") return needed;
  // `--out --json` is taken for a forgotten value, not for a file named `--json`.
  if (token.inlineValue !== true && value.startsWith("--") && known.has(value.slice(2)))
    return `${needed}, not ${value}`;
  if (row.with !== undefined && known.has(row.with) && !given.has(row.with))
    return `${rawName} says nothing without --${row.with}`;
  if (row.oneOf === undefined || row.oneOf.includes(value)) return undefined;
  const ours = ourFlag(`${token.name}=${value}`, known);
  const near = nearestText(value, row.oneOf, (word) => `; did you mean ${word}?`) ?? "";
  const meant = ours === undefined ? near : `; here it is ${ours}`;
  return `${rawName} is one of ${row.oneOf.join(", ")}, not ${value}${meant}`;
}

/**
 * `-out F` and `-auto-approve`, as Terraform writes flags, and `-pWORD`: read letter by letter, they would be many wrong
 * flags. Each is one problem, and is left out with its value, which may be a secret.
 */
function withoutOneDash(
  argv: readonly string[],
  command: string,
  known: ReadonlySet<string>,
): { readonly words: string[]; readonly foreign: readonly string[] } {
  const words: string[] = [];
  const foreign: string[] = [];
  for (let at = 0; at < argv.length; at++) {
    const word = itemAt(argv, at);
    const [, name = "", given] = /^-([a-z][a-z-]+)(?:=(.*))?$/s.exec(word) ?? [];
    const ours = name === "" ? undefined : withTwoDashes(name, given, known);
    if (name === "" || (ours === undefined && beginsShort(name, known))) {
      words.push(/^-[^-]./s.test(word) && !beginsShort(word.slice(1), known) ? word.slice(0, 2) : word);
      continue;
    }
    const flag = given === "true" || given === "false" ? word : `-${name}`;
    foreign.push(
      ours?.startsWith("--") === true ? `${flag}: flags have two dashes here: ${ours}` : noFlag(command, flag, ours),
    );
    if (given === undefined && flagRowOf(name)?.value !== undefined) at++;
  }
  return { words, foreign };
}

const noFlag = (command: string, flag: string, ours?: string): string =>
  `${`reconcile ${command}`.trimEnd()} has no flag ${flag}${ours === undefined ? "" : `; here it is ${ours}`}`;

/** `-yf FILE` is `-y -f FILE`. */
const beginsShort = (letters: string, known: ReadonlySet<string>): boolean =>
  Object.entries(flagRows).some(
    ([name, { short }]) => short !== undefined && known.has(name) && letters.startsWith(short),
  );

function withTwoDashes(name: string, given: string | undefined, known: ReadonlySet<string>): string | undefined {
  const ours = ourFlag(`${name}=${given}`, known);
  if (ours !== undefined) return ours;
  const row = flagRowOf(name);
  if (row === undefined || !known.has(name)) {
    const near = name.length > 3 ? nearestName(name, known) : undefined;
    return ourFlag(name, known) ?? (near === undefined ? undefined : `--${near}`);
  }
  return `--${name}${row.value === undefined ? "" : ` ${row.value}`}`;
}

function badValueOf({ name, rawName, value }: GivenFlag, { formats }: FlagReads): Diagnostic | undefined {
  if (value === undefined) return undefined;
  if (name === "format" && formats !== undefined) return formatProblem(formats(), value);
  const shape = flagRowOf(name)?.shape;
  return shape === undefined ? undefined : valueProblem(shape, rawName, value);
}

interface GivenFlag {
  readonly name: string;
  readonly rawName: string;
  readonly value?: string | undefined;
  readonly inlineValue?: boolean | undefined;
}

/** `-f=a.yaml` means `--file=a.yaml`; `parseArgs` would read the file name `=a.yaml`, and in `-y=false` a flag `-=`. */
function withoutShortEquals(word: string): string {
  const [, letter, value] = /^-([A-Za-z])=(.*)$/s.exec(word) ?? [];
  const long = Object.entries(flagRows).find(([, { short }]) => letter !== undefined && short === letter)?.[0];
  return long === undefined ? word : `--${long}=${value}`;
}

/**
 * `reconcile --json plan`: flags before the command are moved behind it, with their values; the command's own words
 * stay in order.
 */
export function withFlagsBehind(argv: readonly string[]): string[] {
  const takesNext = (word: string): boolean =>
    Object.entries(flagRows).some(
      ([name, row]) => row.value !== undefined && (word === `--${name}` || word === `-${row.short}`),
    );
  let at = 0;
  const isBare = (word: string, next: string): boolean => {
    const row = rowOfWord(word);
    return row?.whenBare !== undefined && !isValueOf(row, next);
  };
  while (at < argv.length && itemAt(argv, at).startsWith("-"))
    at += takesNext(itemAt(argv, at)) && !isBare(itemAt(argv, at), argv[at + 1] ?? "") ? 2 : 1;
  const command = argv.slice(at);
  if (at === 0 || command.length === 0) return [...argv];
  const words = command.findIndex((word) => word.startsWith("-"));
  const end = words === -1 ? command.length : words;
  return [...command.slice(0, end), ...argv.slice(0, at), ...command.slice(end)];
}

/**
 * `--chaos reconcile.yaml`: a following word that is neither a number nor one of the flag's words is not the flag's
 * value.
 */
const withBareValues = (argv: readonly string[]): string[] =>
  argv.map((word, index) => {
    const row = rowOfWord(word);
    return row?.whenBare === undefined || isValueOf(row, argv[index + 1] ?? "") ? word : `${word}=${row.whenBare}`;
  });

/** A misspelt word is its value as well, and said to be none: as a file it would not be found. */
const isValueOf = ({ oneOf }: FlagRow, word: string): boolean =>
  oneOf === undefined
    ? /^\d+$/.test(word)
    : oneOf.includes(word) || (nearestName(word, oneOf) !== undefined && !existsSync(word));

/**
 * What a command is: one value that dispatch, help, completion and the documents read, and that runs. Each file under
 * commands/ makes its own; registry.ts lists them. Nothing here imports a command: whoever needs the commands is handed
 * them.
 */
import type { Kind } from "../core/model/address";
import type { FoldedState } from "../core/state/fold";
import type { FlagHelp, FlagName, Flags } from "./flags";
import type { Output } from "./output";

/** The sections in which help lists the commands. */
export const helpSections = [
  "From a file to the service",
  "Looking",
  "Taking over and handing on",
  "Acting on a VM",
  "The state",
  "The fleet",
  "This program",
] as const;

/** One line of an example, which a test parses and the documents run, and what the line does. */
export type Example = readonly [line: string, says: string];

/** How many arguments that are no flags a command takes. `A` is the type of the argument lists that pass. */
export interface Positionals<A extends readonly string[] = readonly string[]> {
  readonly min: number;
  readonly max: number;
  /** What the user has to add when there are too few. */
  readonly what: string;
  readonly shape?: A;
}
export const noArguments: Positionals<readonly []> = { min: 0, max: 0, what: "" };
export const maybeOne: Positionals<readonly [] | readonly [string]> = { min: 0, max: 1, what: "" };
export const oneArgument = (what: string): Positionals<readonly [string]> => ({ min: 1, max: 1, what });
export const two = (what: string): Positionals<readonly [string, string]> => ({ min: 2, max: 2, what });
export const oneOrMore = (what: string): Positionals<readonly [string, ...string[]]> => ({ min: 1, max: 1000, what });

export interface Suggestion {
  readonly word: string;
  readonly says?: string;
}

/** What completion may look at: the state and the files of this machine, as far as they can be read. */
export interface CompletionSources {
  state(): Promise<FoldedState | undefined>;
  recorded(kind?: Kind): Promise<readonly Suggestion[]>;
  declared(): readonly Suggestion[];
  environments(): readonly Suggestion[];
}

export interface Command<F extends FlagName = FlagName, A extends readonly string[] = readonly string[]> {
  readonly usage: string;
  readonly summary: string;
  readonly section: (typeof helpSections)[number];
  readonly examples: readonly [Example, ...Example[]];
  readonly flags: readonly F[];
  /** The words that its `--format` takes, the usual one first where one is meant when the flag is left out. */
  formats?(): readonly string[];
  /** Left out: the command takes any number of files of the desired state. */
  readonly positionals?: Positionals<A>;
  /** What the next argument may be, after the typed ones. Left out: a file, where the command takes arguments. */
  complete?(args: readonly string[], known: CompletionSources): readonly Suggestion[] | Promise<readonly Suggestion[]>;
  /** The command goes on until it is stopped; a trace shows each of its rounds by itself. */
  readonly longRunning?: true;
  /** The help of a command that reads its own flags: everything typed after the command's name is its arguments. */
  ownFlags?(): readonly FlagHelp[];
  run(invocation: Invocation<F, A>): Promise<number>;
}

/** `run` sees only the flags and the arguments that the definition names. */
export const command = <const F extends FlagName, A extends readonly string[] = readonly string[]>(
  definition: Command<F, A>,
): Command<F, A> => definition;

/** What a command gets when it runs. */
export interface Invocation<F extends FlagName = FlagName, A extends readonly string[] = readonly string[]> {
  /** The command's name. */
  readonly command: string;
  readonly args: A;
  readonly flags: Pick<Flags, F>;
  readonly output: Output;
  /** Every command, for help and completion. */
  readonly commands: Commands;
}

/** The commands by name, in the order in which help lists them. A command is loaded when it is asked for. */
export type Commands = Readonly<Record<string, () => Command>>;

export interface NamedCommand extends Command {
  readonly name: string;
}

const namedCommand = (name: string, load: () => Command): NamedCommand => ({ name, ...load() });

export const allCommands = (commands: Commands): readonly NamedCommand[] =>
  Object.entries(commands).map(([name, load]) => namedCommand(name, load));

/** The command that the words begin with; a name of two words (`state list`) is tried before a name of one. */
export function findCommand(
  commands: Commands,
  argv: readonly string[],
): { readonly found: NamedCommand; readonly rest: readonly string[] } | undefined {
  for (const words of [2, 1]) {
    const name = argv.slice(0, words).join(" ");
    const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
    if (load !== undefined) return { found: namedCommand(name, load), rest: argv.slice(words) };
  }
  return undefined;
}

/**
 * What may stand where the cursor is: commands, flags that are not given yet, their values, and addresses from the
 * state and the files. For the completion of shells, so it never fails and never asks the service or a remote store.
 */

import type { Kind } from "../core/model/address";
import type { FoldedState } from "../core/state/fold";
import { ifPossible } from "../core/text/errors";
import { isUrl } from "../core/text/outside-policy";
import { setting } from "../outside/environment";
import {
  allCommands,
  type Commands,
  type CompletionSources,
  findCommand,
  type NamedCommand,
  type Suggestion,
} from "./command";
import { openStore, stateIn, stateLocation } from "./compose";
import { type FlagName, type FlagRow, type Flags, flagRowOf, flagRows, flagTable, offersOf } from "./flags";
import { readFlags } from "./read-flags";
import { environmentsOf, nothingHere, readWorkspace, type Workspace } from "./workspace";

/** Lets the shell complete file names. */
const fileSuggestion: readonly Suggestion[] = [{ word: ":files" }];

/** `words` are those after the program's name, quoted as they are typed; the last is being typed, perhaps empty. */
export async function suggestions(commands: Commands, words: readonly string[]): Promise<readonly Suggestion[]> {
  const plain = words.map((word) => word.replaceAll(/\\(.?)|"([^"]*)"?|'([^']*)'?/gs, "$1$2$3"));
  const typed = plain.at(-1) ?? "";
  const before = plain.slice(0, -1);
  const found = await candidatesFor(commands, before, typed);
  return found === fileSuggestion ? fileSuggestion : found.filter(({ word }) => word.startsWith(typed));
}

async function candidatesFor(
  commands: Commands,
  before: readonly string[],
  typed: string,
): Promise<readonly Suggestion[]> {
  const asked = findCommand(commands, before);
  if (asked === undefined) return commandWords(commands, before);
  const { found, rest } = asked;
  const open = flagBefore(rest.at(-1) ?? "", found);
  // Errors in what is typed so far are reported when the command runs.
  const { flags: given, args } = readFlags(open === undefined ? rest : rest.slice(0, -1), {
    name: found.name,
    flags: Object.keys(flagRows),
  });
  // `plan prod/ --target …`: arguments that are no flags name the files.
  const flags: Flags =
    found.positionals !== undefined || args.length === 0 ? given : { ...given, file: [...args, ...(given.file ?? [])] };
  const known = knownHere(flags);
  if (open === "format" && found.formats !== undefined) return found.formats().map((word) => ({ word }));
  if (open !== undefined) return flagValues(flagTable[open], known);
  if (typed.startsWith("-")) return flagsOf(found, given);
  return nextArgument(found, args, known);
}

function commandWords(commands: Commands, before: readonly string[]): readonly Suggestion[] {
  const [first] = before;
  if (first === "help") return before.length > 3 ? [] : commandWords(commands, before.slice(1));
  if (before.length > 1) return [];
  if (first !== undefined)
    return allCommands(commands)
      .filter(({ name }) => name.startsWith(`${first} `))
      .map(({ name, summary }) => ({ word: name.slice(first.length + 1), says: summary }));
  const words = new Map<string, string>([["help", "what a command does"]]);
  for (const { name, summary } of allCommands(commands)) {
    const word = name.replace(/ .*/, "");
    if (!words.has(word)) words.set(word, word === name ? summary : `${word} …`);
  }
  return [...words].map(([word, says]) => ({ word, says }));
}

/** The flag whose value is being typed. */
function flagBefore(word: string, { flags }: NamedCommand): FlagName | undefined {
  const name = flags.find((flag) => word === `--${flag}` || word === `-${flagRowOf(flag)?.short}`);
  return name === undefined || flagRowOf(name)?.value === undefined ? undefined : name;
}

function flagsOf({ flags, ownFlags }: NamedCommand, given: Flags): readonly Suggestion[] {
  if (ownFlags !== undefined)
    return ownFlags().map(({ left, help }) => ({ word: left.replace(/ .*/, ""), says: help }));
  const open = flags.flatMap((name) => {
    const row: FlagRow = flagTable[name];
    return given[name] === undefined || row.multiple === true ? [{ word: `--${name}`, says: row.help }] : [];
  });
  return [...open, { word: "--help" }];
}

async function flagValues(row: FlagRow, known: CompletionSources): Promise<readonly Suggestion[]> {
  const offers = offersOf(row);
  if (offers === "files") return fileSuggestion;
  if (offers === "environments") return known.environments();
  if (offers === "volumes") return [...(await known.recorded("volume")), { word: "all" }];
  if (offers === "addresses") {
    const both = [...(await known.recorded()), ...known.declared()];
    return [...new Map(both.map((suggestion) => [suggestion.word, suggestion])).values()];
  }
  return (offers ?? []).map((word) => ({ word }));
}

function nextArgument(
  { positionals, complete, ownFlags }: NamedCommand,
  args: readonly string[],
  known: CompletionSources,
): readonly Suggestion[] | Promise<readonly Suggestion[]> {
  if (positionals !== undefined && args.length >= positionals.max) return [];
  if (complete !== undefined) return complete(args, known);
  return ownFlags === undefined ? fileSuggestion : [];
}

const knownHere = (flags: Flags): CompletionSources => ({
  state: () => stateIfReadable(flags),
  recorded: (kind) => recorded(flags, kind),
  declared: () => declared(flags),
  environments: () => environments(flags),
});

const environments = (flags: Flags): Suggestion[] =>
  ifPossible(() => environmentsOf({ args: [], flags }).map((word) => ({ word }))) ?? [];

async function recorded(flags: Flags, kind?: Kind): Promise<Suggestion[]> {
  const state = await stateIfReadable(flags);
  return [...(state?.resources.values() ?? [])]
    .filter((record) => kind === undefined || record.kind === kind)
    .map(({ address, name }) => ({ word: address, says: name }));
}

function declared(flags: Flags): Suggestion[] {
  const resources = workspaceIfReadable(flags)?.desired.resources ?? [];
  return resources.map(({ address, name }) => ({ word: address, says: name }));
}

const workspaceIfReadable = (flags: Flags) => ifPossible(() => readWorkspace({ args: [], flags }, { needed: false }));

async function stateIfReadable(flags: Flags): Promise<FoldedState | undefined> {
  // While a person types, the file is often incomplete; its state lies beside it all the same.
  return stateOnThisMachine(workspaceIfReadable(flags) ?? nothingHere, flags);
}

/** The state, if it lies on this machine: a key press must not ask a bucket, nor run a command for the state's key. */
export async function stateOnThisMachine(workspace: Workspace, flags: Flags): Promise<FoldedState | undefined> {
  if (setting("RECONCILE_STATE_KEY_COMMAND") !== undefined) return undefined;
  try {
    if (isUrl(stateLocation(workspace, flags))) return undefined;
    return await stateIn(openStore(workspace, flags));
  } catch {
    return undefined;
  }
}

/**
 * What may stand where the cursor is: commands, flags that are not given yet, their values, and addresses from the state
 * and the files. For the shells' completion, so it never fails and never asks the service or a remote store anything.
 */

import { emulatorFlagHelp } from "../../emulator/main";
import type { Kind } from "../core/model/address";
import type { FoldedState } from "../core/state/fold";
import { openState } from "../engine/plan";
import { setting } from "../outside/environment";
import { explanations } from "../report/explanations";
import { type CommandSpec, commands, findCommand } from "./command-table";
import { newLineage, openStore } from "./compose";
import { type FlagName, type FlagRow, type Flags, flagTable } from "./flags";
import { readWorkspace } from "./workspace";

export interface Suggestion {
  readonly word: string;
  readonly says?: string;
}

/** Files of the shell's own finding. */
export const files: readonly Suggestion[] = [{ word: ":files" }];

const plain = (words: Iterable<string>): Suggestion[] => [...words].map((word) => ({ word }));

/** `words` are those after the program's name; the last is the one being typed, perhaps empty. */
export async function suggest(words: readonly string[]): Promise<readonly Suggestion[]> {
  const typed = (words.at(-1) ?? "").replaceAll(/[\\'"]/g, "");
  const before = words.slice(0, -1);
  const found = await candidates(before, typed);
  return found === files ? files : found.filter(({ word }) => word.startsWith(typed));
}

async function candidates(before: readonly string[], typed: string): Promise<readonly Suggestion[]> {
  const found = findCommand(before);
  if (found === undefined) return commandWords(before);
  const { spec, rest } = found;
  const { flags: given, args } = readLoosely(rest);
  // `plan prod/ --target …`: what is no flag names the files.
  const flags: Flags =
    spec.positionals !== undefined || args.length === 0 ? given : { ...given, file: [...args, ...(given.file ?? [])] };
  const open = rest.length === 0 ? undefined : flagBefore(rest.at(-1)!, spec);
  if (open !== undefined) return flagValues(open, flags);
  if (typed.startsWith("-")) return flagsOf(spec, given);
  return positionals(spec, args, flags);
}

function commandWords(before: readonly string[]): Suggestion[] {
  if (before[0] === "help") return before.length > 3 ? [] : commandWords(before.slice(1));
  if (before.length === 0) {
    const first = new Map<string, string>([["help", "what a command does"]]);
    for (const { name, summary } of commands) {
      const [word, second] = name.split(" ");
      if (!first.has(word!)) first.set(word!, second === undefined ? summary : `${word} …`);
    }
    return [...first].map(([word, says]) => ({ word, says }));
  }
  if (before.length > 1) return [];
  return commands
    .filter(({ name }) => name.startsWith(`${before[0]} `))
    .map(({ name, summary }) => ({ word: name.split(" ")[1]!, says: summary }));
}

const rowOf = (name: string): FlagRow | undefined => (flagTable as Record<string, FlagRow>)[name];

/** The flag whose value is being typed. */
function flagBefore(word: string, spec: CommandSpec): FlagName | undefined {
  const name = spec.flags.find((flag) => word === `--${flag}` || word === `-${rowOf(flag)?.short}`);
  return name !== undefined && rowOf(name)!.type === "string" ? name : undefined;
}

/** As far as it is typed: what is wrong with it is told when it runs. */
function readLoosely(rest: readonly string[]): { readonly flags: Flags; readonly args: readonly string[] } {
  const flags: Record<string, string | string[] | boolean> = {};
  const args: string[] = [];
  for (let index = 0; index < rest.length; index++) {
    const word = rest[index]!;
    if (!word.startsWith("-")) {
      args.push(word);
      continue;
    }
    const [left, given] = word.split(/=(.*)/s);
    const name = Object.keys(flagTable).find((flag) => left === `--${flag}` || left === `-${rowOf(flag)?.short}`);
    if (name === undefined) continue;
    const row = rowOf(name)!;
    if (row.type === "boolean") flags[name] = true;
    else {
      const value = given ?? rest[++index] ?? "";
      flags[name] = row.multiple === true ? [...((flags[name] as string[] | undefined) ?? []), value] : value;
    }
  }
  return { flags: flags as Flags, args };
}

function flagsOf(spec: CommandSpec, given: Flags): Suggestion[] {
  if (spec.name === "emulator") {
    return emulatorFlagHelp.map(({ left, help }) => ({ word: left.split(" ")[0]!, says: help }));
  }
  const open = spec.flags.filter((name) => given[name] === undefined || rowOf(name)!.multiple === true);
  return [...open.map((name) => ({ word: `--${name}`, says: rowOf(name)!.help })), { word: "--help" }];
}

const fileFlags: readonly FlagName[] = ["file", "dialect", "var-file", "out", "state"];

async function flagValues(flag: FlagName, flags: Flags): Promise<readonly Suggestion[]> {
  if (fileFlags.includes(flag)) return files;
  if (flag === "format") return plain(["mermaid", "dot", "svg"]);
  if (flag === "log-level") return plain(["silent", "info", "debug"]);
  if (flag === "base-url") return plain(["embedded"]);
  if (flag === "confirm-flush") return [...(await recorded(flags, "volume")), { word: "all" }];
  if (flag !== "target" && flag !== "replace") return [];
  const both = [...(await recorded(flags)), ...declared(flags)];
  return [...new Map(both.map((suggestion) => [suggestion.word, suggestion])).values()];
}

async function positionals(spec: CommandSpec, args: readonly string[], flags: Flags): Promise<readonly Suggestion[]> {
  const full = spec.positionals !== undefined && args.length >= spec.positionals.max;
  if (full) return [];
  switch (spec.name) {
    case "vm start":
    case "vm stop":
    case "vm reboot":
    case "vm snapshot":
      return recorded(flags, "vm");
    case "state show":
    case "state rm":
      return (await recorded(flags)).filter(({ word }) => !args.includes(word));
    case "state mv":
      return args.length === 0 ? recorded(flags) : declared(flags);
    case "state resolve":
      return plain((await stateOf(flags))?.intents.keys() ?? []);
    case "orphans delete":
      return [...((await stateOf(flags))?.orphans.values() ?? [])].map(({ id, name }) => ({ word: id, says: name }));
    case "import": {
      const known = new Set((await recorded(flags)).map(({ word }) => word));
      return args.length === 0 ? declared(flags).filter(({ word }) => !known.has(word)) : [];
    }
    case "explain": {
      return Object.entries(explanations).map(([word, { means }]) => ({ word, says: means }));
    }
    case "completion":
      return plain(["bash", "zsh", "fish"]);
    default:
      return spec.ownArguments === true || spec.positionals?.max === 0 ? [] : files;
  }
}

async function recorded(flags: Flags, kind?: Kind): Promise<Suggestion[]> {
  const state = await stateOf(flags);
  return [...(state?.resources.values() ?? [])]
    .filter((record) => kind === undefined || record.kind === kind)
    .map(({ address, name }) => ({ word: address, ...(name === undefined ? {} : { says: name }) }));
}

function declared(flags: Flags): Suggestion[] {
  const resources = workspaceOf(flags)?.desired.resources ?? [];
  return resources.map(({ address, name }) => ({ word: address, says: name }));
}

function workspaceOf(flags: Flags) {
  try {
    return readWorkspace({ args: [], flags }, { needed: false });
  } catch {
    return undefined;
  }
}

/** Only of a state on this machine: a key press is no reason to ask a bucket, or a command for the state's key. */
async function stateOf(flags: Flags): Promise<FoldedState | undefined> {
  if ((flags.state ?? setting("RECONCILE_STATE") ?? "").includes("://")) return undefined;
  if (setting("RECONCILE_STATE_KEY_COMMAND") !== undefined) return undefined;
  try {
    // A file that is half-written is the usual case while typing; its state lies beside it all the same.
    const store = openStore(workspaceOf(flags) ?? { folder: process.cwd() }, flags);
    return openState(await store.read(), store.location, newLineage()).state;
  } catch {
    return undefined;
  }
}

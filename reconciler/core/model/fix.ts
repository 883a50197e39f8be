/**
 * What the reader of a diagnostic is told to do, as data: a command, a line of a file, or a sentence. Its texts are made
 * here alone, one for each door: a program that manages single resources has no state that a command of `reconcile`
 * knows, and no addresses. What names a command is told in this way, so that one that does not exist, or lacks a word,
 * does not compile.
 */
import { inShell } from "../text/in-shell";

export type Fix =
  | { readonly run: Command; readonly when: string | undefined }
  | { readonly write: string; readonly why: string | undefined }
  | { readonly ask: string }
  /** A sentence with commands in it. `inProgram`: the whole of it for a program. */
  | { readonly say: readonly (string | Command)[]; readonly inProgram: string | undefined };

/** A text names no command; what does has its parts. */
export type Advice = string | readonly Fix[];

/** Words in capitals stand for what the reader has to find out, such as ID. */
export type Command =
  | readonly ["import", address: string, id: string]
  | readonly ["state rm", address: string]
  | readonly ["state mv", from: string, to: string]
  | readonly ["state resolve", address: string, answer: Answer]
  | readonly ["orphans list"]
  | readonly ["orphans delete", id: string]
  | readonly ["owe", address: string]
  | readonly ["init"]
  | readonly ["doctor"]
  | readonly ["doctor", "--out", "FILE"]
  | readonly ["show", plan: string]
  | readonly ["apply", ...flags: string[]];

/** How what was sent, or was owed, has ended, as a person found out. */
export type Answer = "--not-created" | "--confirmed" | "--reverted" | "--attached" | "--detached" | "--paid";

/** `when`: what has to be so for it to be the right one. */
export const toRun = (command: Command, when?: string): Fix => ({ run: command, when });
export const toWrite = (line: string, why?: string): Fix => ({ write: line, why });
export const toAsk = (words: string): Fix => ({ ask: words });
export const toSay = (say: readonly (string | Command)[], inProgram: string | undefined): Fix => ({ say, inProgram });

const adviceOf = (advice: Advice): readonly Fix[] => (typeof advice === "string" ? [toAsk(advice)] : advice);

/** For the command line. Several are told as a choice. */
export const fixText = (...fixes: readonly Fix[]): string => fixes.map(textOfFix).join(", or ");

export const adviceText = (advice: Advice): string => fixText(...adviceOf(advice));

/** For a program; `undefined`: nothing of it can be done from there. */
export function adviceInProgram(advice: Advice): string | undefined {
  const told = adviceOf(advice).flatMap((fix) => inProgram(fix) ?? []);
  return told.length === 0 ? undefined : told.join(", or ");
}

/** The fields of a diagnostic, or of a step that is not done, that say what to do. */
export interface ToldFix {
  readonly fix: string | undefined;
  readonly fixParts?: readonly Fix[];
}

export const told = (advice: Advice | undefined): ToldFix =>
  advice === undefined || typeof advice === "string" ? { fix: advice } : { fix: adviceText(advice), fixParts: advice };

const commandText = ([name, ...words]: Command): string => ["reconcile", name, ...words.map(inShell)].join(" ");

function textOfFix(fix: Fix): string {
  if ("ask" in fix) return fix.ask;
  if ("write" in fix) return fix.why === undefined ? fix.write : `${fix.write}   ${fix.why}`;
  if ("say" in fix) return fix.say.map((part) => (typeof part === "string" ? part : commandText(part))).join("");
  const command = commandText(fix.run);
  return fix.when === undefined ? command : `${command} (${fix.when})`;
}

function inProgram(fix: Fix): string | undefined {
  if ("ask" in fix) return fix.ask;
  if ("say" in fix) return fix.inProgram;
  if ("write" in fix) return undefined;
  const words = commandInProgram(fix.run);
  return words === undefined || fix.when === undefined ? words : `${words} (${fix.when})`;
}

function commandInProgram(command: Command): string | undefined {
  switch (command[0]) {
    case "import":
      return `adopt: ${JSON.stringify(command[2] === "ID" ? "<its id>" : command[2])}`;
    case "state rm":
      return "pulumi state delete with its URN";
    case "apply":
    case "orphans delete":
      return "run the same update again";
    case "state mv":
    case "state resolve":
    case "orphans list":
    case "owe":
    case "init":
    case "doctor":
    case "show":
      return undefined;
  }
}

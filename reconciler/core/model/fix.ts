/**
 * What the reader of a diagnostic is told to do, as data: a command, a line of a file, or a sentence on which only a
 * person can act. Its text is made here alone. What changes what the state knows of a resource is told in this way, so
 * that a command that does not exist, or lacks a word, does not compile.
 */
export type Fix =
  | { readonly run: Command; readonly when: string | undefined }
  | { readonly write: string; readonly why: string | undefined }
  | { readonly ask: string };

/** Words in capitals stand for what the reader has to find out, such as ID. */
export type Command =
  | readonly ["import", address: string, id: string]
  | readonly ["state rm", address: string]
  | readonly ["state mv", from: string, to: string]
  | readonly ["state resolve", address: string, answer: Answer]
  | readonly ["orphans delete", id: string]
  | readonly ["owe", address: string]
  | readonly ["apply"];

/** How what was sent, or was owed, has ended, as a person found out. */
export type Answer = "--not-created" | "--confirmed" | "--reverted" | "--attached" | "--detached" | "--paid";

/** `when`: what has to be so for it to be the right one. */
export const toRun = (command: Command, when?: string): Fix => ({ run: command, when });
export const toWrite = (line: string, why?: string): Fix => ({ write: line, why });
export const toAsk = (words: string): Fix => ({ ask: words });

/** Several are told as a choice. */
export const fixText = (...fixes: readonly Fix[]): string => fixes.map(textOfFix).join(", or ");

function textOfFix(fix: Fix): string {
  if ("ask" in fix) return fix.ask;
  if ("write" in fix) return fix.why === undefined ? fix.write : `${fix.write}   ${fix.why}`;
  const command = `reconcile ${fix.run.join(" ")}`;
  return fix.when === undefined ? command : `${command} (${fix.when})`;
}

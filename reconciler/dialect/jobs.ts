/** What an answer to a question about a job says of it, by operations.wait. */
import type { JobRoute } from "./dialect";
import { compilePointers, findText, findWord } from "./pointers";

export type JobReading =
  | { readonly means: "done" }
  | { readonly means: "waiting"; readonly word: string }
  | { readonly means: "failed"; readonly word: string; readonly message: string | undefined };

/** `undefined`: it shows no state where the dialect looks for one. */
export function readJob(wait: JobRoute, body: unknown): JobReading | undefined {
  const word = findWord(body, compilePointers(wait.status));
  if (word === undefined) return undefined;
  const isOf = (words: readonly string[]): boolean => words.some((one) => one.toLowerCase() === word.toLowerCase());
  if (isOf(wait.done)) return { means: "done" };
  if (!isOf(wait.failed)) return { means: "waiting", word };
  return { means: "failed", word, message: findText(body, compilePointers(wait.message)) ?? undefined };
}

/** What an answer to a question about a job says of it, by operations.wait. */
import type { JobRoute } from "./dialect";
import { findAtPath } from "./places";
import { compilePointers, findText, findWord } from "./pointers";

export type JobReading =
  | { readonly means: "done" }
  | { readonly means: "waiting"; readonly word: string }
  | { readonly means: "failed"; readonly word: string; readonly message: string | undefined };

/** `undefined`: it shows no state where the dialect looks for one. A state that is null there is still to come. */
export function readJob(wait: JobRoute, body: unknown): JobReading | undefined {
  const places = compilePointers(wait.status);
  const word = findWord(body, places);
  if (word === undefined)
    return places.some((place) => findAtPath(body, place) === null) ? { means: "waiting", word: "null" } : undefined;
  const isOf = (words: readonly string[]): boolean => words.some((one) => one.toLowerCase() === word.toLowerCase());
  if (isOf(wait.done)) return { means: "done" };
  if (!isOf(wait.failed)) return { means: "waiting", word };
  return { means: "failed", word, message: findText(body, compilePointers(wait.message)) ?? undefined };
}

/** What an answer to a question about a job says of it, by operations.wait. */
import { plainValuesIn } from "../core/text/objects";
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
  const isOf = (words: readonly string[]): boolean =>
    word !== undefined && words.some((one) => one.toLowerCase() === word.toLowerCase());
  if (isOf(wait.failed) || showsError(wait, body))
    return {
      means: "failed",
      word: word ?? "failed",
      message: findText(body, compilePointers(wait.message)) ?? undefined,
    };
  if (word === undefined)
    return places.some((place) => findAtPath(body, place) === null) ? { means: "waiting", word: "null" } : undefined;
  return isOf(wait.done) ? { means: "done" } : { means: "waiting", word };
}

const showsError = ({ error }: JobRoute, body: unknown): boolean =>
  compilePointers(error).some((place) => holdsSomething(findAtPath(body, place)));

/** Zero, no, an empty text and a map of nothing else say that there is no error. */
export const holdsSomething = (value: unknown): boolean =>
  plainValuesIn(value).some((one) => Boolean(one) && one !== "0");

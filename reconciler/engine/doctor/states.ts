/** The words for states that were seen, and what they probably mean. */
import type { Dialect } from "../../dialect/dialect";
import { compilePointers, findWord } from "../../dialect/pointers";
import type { Learnings } from "./learnings";

type Phase = keyof Dialect["states"]["vm"];

export interface WordsSeen {
  /** Words that the dialect gives no meaning to. */
  readonly unknown: readonly string[];
  /** What a word probably means, by the word alone. */
  readonly likely: Readonly<Partial<Record<Phase, readonly string[]>>>;
}

/** Words whose meaning is plain. A number, a word of the service's own, and every word for "deleted" stay a question. */
const likelyWords: readonly (readonly [phase: Phase, word: RegExp])[] = [
  ["running", /^(active|running|run|started|online|up|on|poweredon|powered_on|powered-on)$/i],
  ["stopped", /^(shutoff|stopped|off|down|halted|poweredoff|powered_off|powered-off|deallocated)$/i],
  ["verify_resize", /^(verify[-_ ]?resize|resize[-_ ]?(verification|verify|confirm(ation)?|pending))$/i],
  ["failed", /^(error|errored|failed|failure|faulted|broken|crashed)$/i],
];

/** All words of these phases, in small letters. */
export const wordsOfPhases = (states: Readonly<Record<string, readonly string[]>>): ReadonlySet<string> =>
  new Set(Object.values(states).flatMap((words) => words.map((word) => word.toLowerCase())));

export function wordsSeen(learnings: Learnings): WordsSeen {
  const { given, samples } = learnings;
  const place = learnings.placeOf("vm", "status");
  const paths = compilePointers(place === undefined ? given.records.vm.status : [place]);
  const seen = new Set((samples.get("vm") ?? []).flatMap((vm) => findWord(vm, paths) ?? []));
  const known = wordsOfPhases(given.states.vm);
  const unknown = [...seen].filter((word) => !known.has(word.toLowerCase())).sort();
  const likely: Partial<Record<Phase, readonly string[]>> = {};
  for (const [phase, pattern] of likelyWords) {
    const words = unknown.filter((word) => pattern.test(word));
    if (words.length > 0) likely[phase] = words;
  }
  const taken = new Set(Object.values(likely).flat());
  return { unknown: unknown.filter((word) => !taken.has(word)), likely };
}

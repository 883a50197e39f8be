/**
 * Regular expressions that a file brings, tried within a limit: one such as `^(a+)+$` takes longer than anybody lives on
 * a text of forty letters, and whoever reads the file would hang with it.
 */
import { type Context, createContext, Script } from "node:vm";

export type Fit = "fits" | "differs" | "endless";

const limitMs = 1000;
/** What all values of one pattern may take together. */
const allMs = 3000;

const test = new Script("pattern.test(text)");
let context: Context | undefined;
const spent = new WeakMap<RegExp, number>();

export function fitOf(pattern: RegExp, text: string): Fit {
  const before = spent.get(pattern) ?? 0;
  if (before >= allMs) return "endless";
  const began = performance.now();
  try {
    context ??= createContext({});
    Object.assign(context, { pattern, text });
    return test.runInContext(context, { timeout: limitMs }) === true ? "fits" : "differs";
  } catch {
    // Nothing else throws here.
    return "endless";
  } finally {
    spent.set(pattern, before + performance.now() - began);
  }
}

export const endlessDetail = `it was not decided within ${limitMs / 1000} s`;
export const endlessFix = "write the pattern without a repetition within a repetition, such as a+ in place of (a+)+";

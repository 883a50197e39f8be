/**
 * Regular expressions that a file brings, tried within a limit: one such as `^(a+)+$` takes longer than anybody lives on
 * a text of forty letters, and whoever reads the file would hang with it.
 */
import { cpuUsage } from "node:process";
import { type Context, createContext, Script } from "node:vm";
import { errorCode } from "../core/text/errors";

export type Fit = "fits" | "differs" | "endless";

const patternLimitMs = 1000;

const test = new Script("pattern.test(text)");
let context: Context | undefined;
/** Patterns that were endless once: that was told, and the other values need not wait for it as well. */
const givenUp = new WeakSet<RegExp>();

export function fitOf(pattern: RegExp, text: string): Fit {
  if (givenUp.has(pattern)) return "fits";
  context ??= createContext({});
  Object.assign(context, { pattern, text });
  // Node limits the time of the clock, in which a busy or paused machine may have done little here: what counts is the
  // processor's.
  for (let timeout = patternLimitMs; ; timeout *= 2) {
    const before = cpuUsage();
    try {
      return test.runInContext(context, { timeout }) === true ? "fits" : "differs";
    } catch (error) {
      // Whatever else is thrown, such as that there is no room left for what is still to be tried, is thrown each time.
      const isCutOff = errorCode(error) === "ERR_SCRIPT_EXECUTION_TIMEOUT";
      if (isCutOff && cpuUsage(before).user / 1000 < 0.8 * patternLimitMs) continue;
      givenUp.add(pattern);
      return "endless";
    }
  }
}

export const endlessDetail = `it was not decided within ${patternLimitMs / 1000} s`;
export const endlessFix = "write the pattern without a repetition within a repetition, such as a+ in place of (a+)+";

/** What the value of a flag has to be: held when the command line is read, so that all its problems show at once. */
import { parseDuration } from "../config/durations";
import type { Diagnostic } from "../core/model/diagnostic";
import { nearestName, nearestText } from "../core/text/nearest";
import { explanations } from "../report/explanations";

export type ValueShape = keyof typeof valueShapes;

interface ValueForm {
  isValid(text: string): boolean;
  /** The problem, as the end of a sentence that begins with the flag. */
  readonly problem: (text: string) => string;
  /** A value that would do, or where such values are listed. */
  readonly example: string;
}

const isNumber = (text: string): boolean => text.trim() !== "" && Number.isFinite(Number(text)) && Number(text) >= 0;
const isCount = (text: string): boolean => isNumber(text) && Number.isInteger(Number(text)) && Number(text) >= 1;
const notCount = (text: string): string => `must be a whole number of at least 1, not ${text}`;
const notDuration = (text: string): string => `${text} is no duration`;

const valueShapes = {
  number: { isValid: isNumber, problem: (text) => `must be a number of at least 0, not ${text}`, example: "20" },
  count: { isValid: isCount, problem: notCount, example: "10" },
  "count or all": {
    isValid: (text) => text === "all" || isCount(text),
    problem: (text) => `must be a whole number of at least 1 or the word all, not ${text}`,
    example: "10",
  },
  duration: { isValid: (text) => parseDuration(text) !== undefined, problem: notDuration, example: "10m (30s, 1h, …)" },
  "duration or 0": {
    isValid: (text) => text === "0" || parseDuration(text) !== undefined,
    problem: notDuration,
    example: "30s (5m, or 0 for no wait)",
  },
  age: { isValid: (text) => ageMs(text) !== undefined, problem: notDuration, example: "12h (30m, 7d, …)" },
  code: {
    isValid: isDeniable,
    problem: (text) => `${text} denies nothing: there is no such code`,
    example: "reconcile explain lists all codes",
  },
} as const satisfies Record<string, ValueForm>;

/** Beside the flags, which are read before the first word: the model's own constant would load the planner. */
export const aDayMs = 24 * 60 * 60_000;

/** A timer cannot wait for days, and an age may be as many. */
export function ageMs(text: string): number | undefined {
  const days = /^([0-9]{1,4})d$/.exec(text.trim())?.[1];
  return days === undefined ? parseDuration(text) : Number(days) * aDayMs;
}

/** A code that a plan's findings may have, or a pattern of such codes. Programs of `policy:` make codes of their own. */
export function isDeniable(code: string): boolean {
  if (code === "*" || code.startsWith("policy/")) return true;
  if (!code.endsWith("/*")) return Object.hasOwn(explanations, code);
  return Object.keys(explanations).some((known) => known.startsWith(code.slice(0, -1)));
}

export const nearestCode = (code: string): string | undefined => nearestName(code, Object.keys(explanations));

/** What is wrong with the format that a command was asked for; `undefined` when it has that format. */
export function formatProblem(formats: readonly string[], format: string): Diagnostic | undefined {
  if (formats.includes(format)) return undefined;
  const fix = nearestText(format, formats, (near) => `--format ${near}`) ?? `one of ${formats.join(", ")}`;
  return { severity: "error", code: "cli/bad-flag", summary: `--format ${format} is not known`, fix };
}

/** What is wrong with the value of a flag; `undefined` when nothing is. */
export function valueProblem(shape: ValueShape, flag: string, text: string): Diagnostic | undefined {
  const { isValid, problem, example }: ValueForm = valueShapes[shape];
  if (isValid(text)) return undefined;
  const near = shape === "code" ? nearestCode(text) : undefined;
  const fix =
    shape === "code" && near === undefined ? example : `${flag}${flag.startsWith("--") ? " " : "="}${near ?? example}`;
  return { severity: "error", code: "cli/bad-flag", summary: `${flag} ${problem(text)}`, fix };
}

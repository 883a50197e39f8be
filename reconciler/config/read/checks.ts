/** `checks:` and `policy:`: what a file demands of the plans that may be carried out. */

import { type Kind, kindRows } from "../../core/model/kinds";
import type { Amount, Checks, Hours, Policy } from "../../core/model/policy";
import { ifAny, keysOf, onlyDefined } from "../../core/text/objects";
import {
  fieldOf,
  readArgv,
  readBoolean,
  readDuration,
  readMap,
  readText,
  readVariables,
  reportValue,
  requireKey,
  type Subject,
  subjectWithin,
  type Values,
  type ValuesOfRow,
} from "../fields";
import type { ChecksBlock, PolicyBlock } from "../rows/sections";
import { type Path, positionOf } from "../yaml/file";
import { readPrice } from "./prices";

const reasons = ["rebuild", "resize", "delete"] as const;
const dayNames = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] as const;

export function readChecks(subject: Subject, values: ValuesOfRow<ChecksBlock>): Checks {
  const lists = ["flavors", "images", "regions"] as const;
  const [flavors, images, regions] = lists.map((key) => readTextList(subject, values, key));
  const required = readMap(subject, values, "lifecycle");
  const ofLifecycle = subjectWithin(subject, "lifecycle");
  const lifecycleOf = (kind: string): Values => readMap(ofLifecycle, required, kind);
  const preventDestroy = keysOf(kindRows).filter(
    (kind) => readBoolean(subjectWithin(ofLifecycle, kind), lifecycleOf(kind), "prevent_destroy") === true,
  );
  const asked = readTextList(subjectWithin(ofLifecycle, "vm"), lifecycleOf("vm"), "snapshot_before") ?? [];
  const snapshotBefore = reasons.filter((reason) => asked.includes(reason));
  const names = readNames(subjectWithin(subject, "names"), readMap(subject, values, "names"));
  const limits: ValuesOfRow<ChecksBlock["at_most"]> = readMap(subject, values, "at_most");
  const ofLimits = subjectWithin(subject, "at_most");
  const most = ["remove", "stop"] as const;
  const [remove, stop] = most.map((key) => readAmount(ofLimits, [key], fieldOf(limits, key), ""));
  const monthlyCost = readPrice(ofLimits, limits, "monthly_cost");
  const monthlyIncrease = readPrice(ofLimits, limits, "monthly_increase");
  const atMost = onlyDefined({ remove, stop, monthlyCost, monthlyIncrease });
  const hours = readHours(subjectWithin(subject, "hours"), readMap(subject, values, "hours"));
  return {
    ...onlyDefined({
      flavors,
      images,
      regions,
      names: ifAny(names),
      preventDestroy: ifAny(preventDestroy),
      snapshotBefore: ifAny(snapshotBefore),
      atMost: ifAny(atMost),
      hours,
    }),
    source: positionOf(subject.place([], "key")),
  };
}

function readTextList<V extends object>(
  subject: Subject,
  values: V,
  key: keyof V & string,
): readonly string[] | undefined {
  const value = fieldOf(values, key);
  if (value === undefined) return undefined;
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.flatMap((item, index) => {
    if (typeof item === "string" || typeof item === "number") return [String(item)];
    reportValue(subject, [key, index], item, "text", { code: "config/wrong-type" });
    return [];
  });
}

function readNames(subject: Subject, values: Values): Partial<Record<Kind, string>> {
  const names: Partial<Record<Kind, string>> = {};
  for (const kind of keysOf(kindRows)) {
    const pattern = readText(subject, values, kind);
    if (pattern === undefined) continue;
    try {
      new RegExp(`^(?:${pattern})$`, "u");
      names[kind] = pattern;
    } catch {
      reportValue(subject, [kind], pattern, "a regular expression, such as web-[a-z0-9-]+");
    }
  }
  return names;
}

/** `what`: what the number is, as the beginning of what was expected. */
export function readAmount(subject: Subject, path: Path, value: unknown, what: string, least = 0): Amount | undefined {
  const match = /^\s*([0-9]+)\s*(%?)\s*$/.exec(String(value));
  const number = Number(match?.[1]);
  if (match === null || number < least || (match[2] === "%" && number > 100))
    return reportValue(subject, path, value, `${what}a number, or a share such as 25%`);
  return match[2] === "%" ? { percent: number } : { count: number };
}

function readHours(subject: Subject, values: ValuesOfRow<ChecksBlock["hours"]>): Hours | undefined {
  if (Object.keys(values).length === 0) return undefined;
  const days = readTextList(subject, values, "days") ?? [];
  const known: readonly string[] = dayNames;
  const wrong = days.filter((day) => !known.includes(day));
  for (const day of wrong) reportValue(subject, ["days", days.indexOf(day)], day, `days of ${dayNames.join(", ")}`);
  const time = (key: "from" | "to"): number | undefined => {
    const text = readText(subject, values, key);
    const match = /^(?:([01][0-9]|2[0-3]):([0-5][0-9])|(24):(00))$/.exec(text ?? "");
    requireKey(subject, values, key, `add ${key}: "08:00"`);
    if (text !== undefined && match === null)
      reportValue(subject, [key], text, 'a time in UTC such as "08:00", in quotes');
    return match === null ? undefined : Number(match[1] ?? match[3]) * 60 + Number(match[2] ?? match[4]);
  };
  const [from, to] = [time("from"), time("to")];
  if (from === undefined || to === undefined || wrong.length > 0) return undefined;
  const clock = (minutes: number): string =>
    `${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;
  return {
    days: days.map((day) => known.indexOf(day)),
    from,
    to,
    text: `${days.length === 0 ? "" : `${days.join(", ")} `}${clock(from)} to ${clock(to)}`,
  };
}

export function readPolicy(subject: Subject, values: ValuesOfRow<PolicyBlock>): Policy | undefined {
  const argv = readArgv(subject, values, "command");
  const timeoutMs = readDuration(subject, values, "timeout") ?? 60_000;
  const env = readVariables(subject, values);
  requireKey(subject, values, "command", "add command: [conftest, test, --output, json, -]");
  if (argv === undefined) return undefined;
  return {
    // No word is open: a policy is run before anything is known.
    command: argv.flatMap((word) => (typeof word === "string" ? [word] : [])),
    ...env,
    timeoutMs,
    source: positionOf(subject.place(["command"], "key")),
  };
}

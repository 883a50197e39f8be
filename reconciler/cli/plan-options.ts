/** What the flags of a command say about the plan: what it is for, and how it looks. */
import type { PlanOptions } from "../core/diff/context";
import { fail } from "./compose";
import { aDayMs, ageMs } from "./flag-values";
import type { Flags } from "./flags";
import { readSourceFile } from "./workspace";

export const planOptions = (flags: Flags): PlanOptions => ({
  destroy: flags.destroy === true ? true : undefined,
  ...targetsOf(flags),
  excludes: flags.exclude === undefined ? undefined : [...flags.exclude].sort(),
  replace: flags.replace === undefined ? undefined : [...flags.replace].sort(),
  owe: flags.owe === undefined ? undefined : [...flags.owe].sort(),
  adopt: flags.adopt === true ? true : undefined,
  acceptService: flags["accept-service"] === true ? true : undefined,
  ...maxAgeOf(flags),
});

function maxAgeOf({ refresh, "max-age": maxAge, "no-refresh": none }: Flags): Pick<PlanOptions, "maxAgeMs"> {
  if (none === true && refresh !== undefined && refresh !== "none")
    throw fail("cli/bad-flag", `--no-refresh and --refresh ${refresh} contradict each other`, "leave one of them out");
  if (refresh !== "changed") {
    if (maxAge === undefined) return {};
    throw fail("cli/bad-flag", "--max-age says nothing without --refresh=changed", "--refresh=changed as well");
  }
  return { maxAgeMs: (maxAge === undefined ? undefined : ageMs(maxAge)) ?? aDayMs };
}

export const isLooking = (flags: Flags): boolean => flags["no-refresh"] !== true && flags.refresh !== "none";

function targetsOf(flags: Flags): Pick<PlanOptions, "targets"> {
  if (flags.target === undefined && flags["target-file"] === undefined) return {};
  return { targets: [...(flags.target ?? []), ...(flags["target-file"] ?? []).flatMap(readTargets)].sort() };
}

function readTargets(file: string): string[] {
  const targets = readSourceFile(file, undefined, "correct the path")
    .text.split(/\r?\n/)
    .map((line) => line.replace(/(^|\s)#.*$/, "").trim())
    .filter((line) => line !== "");
  // An empty file would plan for everything, which is the opposite of a narrow plan.
  if (targets.length === 0)
    throw fail("cli/bad-flag", `--target-file ${file} names no address`, "one address a line, such as vm.db");
  return targets;
}

/** `enabled: false` on a block, a component or a rule: as if it were not written. */
import { type InterpolationScope, interpolate } from "./interpolation";
import { type Problems, shown } from "./problems";
import type { Place } from "./yaml/file";

/** Decided before anything else of the block is read. An unreadable value is reported, and counts as enabled. */
export function isSwitchedOn(enabled: unknown, scope: InterpolationScope, problems: Problems, at: Place): boolean {
  const value = interpolate(enabled, scope, (problem) => problems.add({ ...problem, at }));
  if (value === undefined || value === null || typeof value === "boolean") return value !== false;
  if (value === "true" || value === "false") return value === "true";
  problems.add({
    code: "config/wrong-type",
    summary: `enabled cannot be ${shown(value)}`,
    detail: "expected true or false",
    at,
  });
  return true;
}

/** Why a change is made, in one sentence for people. */
import type { Inherited } from "../model/desired";
import type { FieldChange, Reason } from "./changes";

/** The last run had to do this change: it was stopped first, or it began the change and did not finish. */
export type LeftOpen = "stopped" | "unfinished";

export function explain(
  reason: Reason,
  fields: readonly FieldChange[],
  left?: LeftOpen,
  inherited?: Inherited,
): string {
  const names = [...new Set(fields.map((field) => field.field))].join(", ");
  switch (reason) {
    case "requested":
      return "--replace asks for it";
    case "drifted":
      return `the service no longer has what was applied: ${names}`;
    case "changed":
      return `the file changed: ${names}${fromElsewhere(fields, inherited)}`;
    case "imported":
      return "an imports entry takes it over";
    case "moved":
      return "a moved entry renames its address";
    case "follows":
      return "a group that its rules name is replaced";
    default:
      if (left !== undefined && names !== "")
        return left === "stopped"
          ? `the last run stopped before this: ${names}`
          : `the last run did not get this done: ${names}`;
      return "an interrupted run left it unfinished";
  }
}

/** Names the line of each value that comes from the defaults or a variable: a reader does not find it in the block. */
function fromElsewhere(fields: readonly FieldChange[], inherited: Inherited = {}): string {
  const lines = new Map<string, Set<string>>();
  for (const { field } of fields) {
    const place = Object.hasOwn(inherited, field) ? inherited[field] : undefined;
    if (place === undefined) continue;
    const line = `${place.by === undefined ? "in the defaults at" : `by ${place.by} in`} ${place.file}:${place.line}`;
    lines.set(line, (lines.get(line) ?? new Set()).add(field));
  }
  if (lines.size === 0) return "";
  const isAll = lines.size === 1 && fields.every(({ field }) => Object.hasOwn(inherited, field));
  if (isAll) return `, ${[...lines.keys()].join()}`;
  return `; ${[...lines].map(([line, names]) => `${[...names].join(", ")} ${line}`).join(", ")}`;
}

/** Why a change is made, in one sentence for people. */
import type { FieldChange, Reason } from "./changes";

/** The last run was to do it: it was stopped before, or it came to it and did not get it done. */
export type LeftOpen = "stopped" | "unfinished";

export function explain(reason: Reason, fields: readonly FieldChange[], left?: LeftOpen): string {
  const names = [...new Set(fields.map((field) => field.field))].join(", ");
  switch (reason) {
    case "requested":
      return "--replace asks for it";
    case "drifted":
      return `the service no longer has what was applied: ${names}`;
    case "changed":
      return `the file changed: ${names}`;
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

/** Why a change is made, in one sentence for people. */
import type { FieldChange, Reason } from "./changes";

export function explain(reason: Reason, fields: readonly FieldChange[]): string {
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
    default:
      return "an interrupted run left it unfinished";
  }
}

/**
 * A change is what differs about one resource and what will be done about it, with the reason and the place in the
 * file it comes from. Reasons inform; they never steer. Steps are made from changes by core/plan.
 */
import type { Address, Kind } from "../model/address";
import type { SourcePosition } from "../model/diagnostic";
import type { FieldRow } from "../model/fields";
import type { Loss } from "../model/loss";

export type Action = "create" | "update" | "replace" | "delete" | "import" | "forget";

export type FieldValue = string | number | boolean | null;

export interface FieldChange {
  /** As the file calls it. */
  readonly field: string;
  /** `null`: not there, or not known. */
  readonly before: FieldValue;
  readonly after: FieldValue;
  readonly forces?: "replace";
  /** What happens, in one word: rename, resize, rebuild, grow, attach… */
  readonly verb: string;
}

/** Why the action is what it is; texts for people are made from it in one place. */
export type Reason =
  | "declared"
  | "changed"
  | "drifted"
  /** A resource that this one refers to gets another id. */
  | "follows"
  | "removed"
  /** A `removed` entry takes the resource out of the state and leaves it alive in the service. */
  | "let_go"
  | "gone"
  | "failed"
  | "requested"
  | "interrupted"
  | "imported"
  | "adopted"
  | "moved"
  | "destroy";

export interface Change {
  readonly address: Address;
  readonly kind: Kind;
  readonly action: Action;
  /** The name in the service, now or after a create. */
  readonly name: string;
  readonly id?: string;
  readonly fields: readonly FieldChange[];
  readonly reason: Reason;
  /** One sentence for people. */
  readonly because: string;
  /** What is lost for good; empty when nothing is. */
  readonly losses: readonly Loss[];
  /** What outlives the resource with no address to manage it, one sentence each. */
  readonly leaves?: readonly string[];
  readonly movedFrom?: Address;
  readonly source?: SourcePosition;
}

/** A size that gets smaller does not grow. */
const verbOfField = ({ verb }: FieldRow, before: FieldValue | undefined, after: FieldValue | undefined): string =>
  verb === "grow" && typeof before === "number" && typeof after === "number" && after < before ? "shrink" : verb;

export const fieldChange = (
  row: FieldRow,
  before: FieldValue | undefined,
  after: FieldValue | undefined,
  verb: string = verbOfField(row, before, after),
): FieldChange => ({
  field: row.field,
  before: before ?? null,
  after: after ?? null,
  verb,
  forces: row.effect === "replace" || verb === "replace" ? ("replace" as const) : undefined,
});

/** A resource that has another address from now on. */
export const movedField = (pair: { readonly address: Address; readonly movedFrom?: Address }): FieldChange[] =>
  pair.movedFrom === undefined ? [] : [{ field: "address", before: pair.movedFrom, after: pair.address, verb: "move" }];

/** What a row of the table of fields says (fields.ts). */

export type FieldEffect =
  /** The service changes the field in place. */
  | "in_place"
  /** The service cannot change it: a new resource takes its place. */
  | "replace"
  /** lifecycle.on_image_change decides what a change leads to. */
  | "image"
  /** The field says how this tool behaves; nothing in the service changes with it. */
  | "none";

/** What a field may hold (Shapes in fields.ts), or one of some words. */
export type FieldType =
  | "text"
  | "remark"
  | "name"
  | "size"
  | "flag"
  | "reference"
  | "flush"
  | "command"
  | "rules"
  | readonly string[];

/** What a field is when the file leaves it out. */
type WhenAbsent =
  /** The field is required. */
  | "missing"
  /** The value at the top of the file (`project`, `region`). */
  | "inherited"
  /** The key of the block. */
  | "key"
  /** Not asked for, which is `undefined`. */
  | "unset"
  /** The field's own reader decides. */
  | "usual"
  | { readonly value: string | number | boolean };

export interface FieldRow {
  /** The name in the file, in messages and in JSON. */
  readonly field: string;
  readonly type: FieldType;
  /** One or two sentences for the schemas and the reference. */
  readonly about: string;
  readonly absent: WhenAbsent;
  /** An example for the hint where the field is missing. */
  readonly hint?: string;
  readonly effect: FieldEffect;
  /** The verb that the plan shows for a change. */
  readonly verb: string;
  /** The consequence of a change, as people read it before they make it. */
  readonly costs: string;
  /**
   * plain: differs when the value that is observed, or else recorded, is another one.
   * own: the diff of its kind has a comparison for it.
   */
  readonly compare: "plain" | "own" | "never";
  /** Whether a record holds the field under the same key, and whether always: an import does not know every field. */
  readonly recorded: "always" | "known" | "never";
  /** The keys under which a record keeps the field, if not under its own key alone. */
  readonly recordKeys?: readonly string[];
  /** Whether the service's records may show the field: it is then observed under the same key. */
  readonly observed?: true;
  /** It names an entry of a list of the service, where two spellings may mean one. */
  readonly catalogue?: "flavors" | "images";
  /** The field's name in the body of the create, where it is sent unchanged (a size as text). */
  readonly sentAs?: string;
}

export type Rows = Readonly<Record<string, FieldRow>>;

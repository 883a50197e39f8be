/**
 * The one table of the fields of each kind. Everything about a field stands in its row: its name in the file, what it
 * holds, what it is when it is left out, what a change of it leads to, where it is compared, recorded, observed and
 * sent. The types of what is desired, recorded and observed, the reader of files, the checks of states and plans, the
 * schemas and the documents are made from these rows.
 *
 * The script that writes the schemas reads it without a build, and whatever it imports with it: keep that little.
 */
import { kindTable } from "../../kinds/table";
import { vmFields } from "../../kinds/vm/fields";
import { keysOf, tableOf } from "../text/objects";
import type { Text } from "./computed";
import type { FieldRow, FieldType, Rows } from "./field-row";
import type { GuestCommand } from "./guest";
import { type Kind, perKind } from "./kinds";
import type { FlushPolicy, Reference } from "./reference";
import type { Rule } from "./rule";

export { groupFields } from "../../kinds/group/fields";
export { volumeFields } from "../../kinds/volume/fields";
export type { FieldEffect, FieldRow, FieldType, Rows } from "./field-row";
export { vmFields };

type FieldsOfKinds = { readonly [K in Kind]: (typeof kindTable)[K]["fields"] };
export const fieldsOf = tableOf<Kind, unknown>(
  keysOf(kindTable),
  (kind) => kindTable[kind].fields,
  // Each has the fields that the kind says.
) as FieldsOfKinds;

/** What a field may hold, beside one of some words. */
interface Shapes extends Record<Exclude<FieldType, readonly string[]>, unknown> {
  text: string;
  /** Text that may have several lines, or none. */
  remark: string;
  name: string;
  /** Whole GB. */
  size: number;
  flag: boolean;
  reference: Reference;
  flush: FlushPolicy;
  /** A command that is owed after something happened. */
  command: GuestCommand;
  rules: readonly Rule[];
}

/** In a file, a remark may hold what only the service knows; what is recorded and observed is text. */
interface DesiredShapes extends Omit<Shapes, "remark"> {
  remark: Text;
}

type ValueOf<T extends FieldType, S extends Shapes | DesiredShapes = Shapes> = T extends keyof S
  ? S[T]
  : T extends readonly string[]
    ? T[number]
    : never;

export type KeysWith<F extends Rows, M> = { [K in keyof F]: F[K] extends M ? K : never }[keyof F] & string;

/** Shows in an editor, and in what the compiler says, as one plain object. */
type Simplify<T> = { [K in keyof T]: T[K] } & {};

/** What a file asks for. */
export type DesiredFields<F extends Rows> = Simplify<
  { readonly [K in keyof F as F[K]["absent"] extends "unset" ? never : K]: ValueOf<F[K]["type"], DesiredShapes> } & {
    readonly [K in KeysWith<F, { absent: "unset" }>]?: ValueOf<F[K]["type"], DesiredShapes>;
  }
>;

/** What a record knows of a resource, under the same keys. */
export type RecordedFields<F extends Rows> = Simplify<
  { readonly [K in KeysWith<F, { recorded: "always" }>]: ValueOf<F[K]["type"]> } & {
    readonly [K in KeysWith<F, { recorded: "known" }>]?: ValueOf<F[K]["type"]>;
  }
>;

/** What the service's records may show of a resource. */
export type ObservedFields<F extends Rows> = {
  readonly [K in KeysWith<F, { observed: true }>]?: ValueOf<F[K]["type"]>;
};

/** What the create sends unchanged. The service has its own default for a field that may be left out. */
export type SentFields<F extends Rows> = Simplify<
  {
    readonly [K in KeysWith<F, { sentAs: string; absent: "missing" | "inherited" | "key" }>]: ValueOf<F[K]["type"]>;
  } & {
    readonly [K in KeysWith<F, { sentAs: string; absent: "unset" | object }>]?: ValueOf<F[K]["type"]>;
  }
>;

const rowFits = (row: FieldRow, match: Partial<FieldRow>): boolean =>
  keysOf(match).every((part) => row[part] === match[part]);

/** The keys of the rows that fit a condition, in the order of the table. */
export const keysWith = <const F extends Rows, const M extends Partial<FieldRow>>(
  rows: F,
  match: M,
): readonly KeysWith<F, M>[] =>
  Object.entries(rows)
    .filter(([, row]) => rowFits(row, match))
    // The filter is the type's condition.
    .map(([key]) => key as KeysWith<F, M>);

/** The keys of the rows that say something of the service. */
type KeysOfService<F extends Rows> = { [K in keyof F]: F[K] extends { effect: "none" } ? never : K }[keyof F] & string;

/** The fields of a VM that say something of the service, in the order of the table. */
export const vmServiceFields = keysOf(vmFields).filter(
  (key): key is KeysOfService<typeof vmFields> => vmFields[key].effect !== "none",
);

/** The fields of a VM that its record in the service shows, as they are. */
export const observedVmFields = keysWith(vmFields, { observed: true });

/** Whether names of this kind are one word in lower case; others are any text. */
export const hasPlainNames = perKind((kind) => fieldsOf[kind].name.type === "name");

/** The fields that name an entry of the catalogue. */
export const cataloguedOf = perKind((kind): readonly string[] =>
  Object.entries<FieldRow>(fieldsOf[kind]).flatMap(([key, { catalogue }]) => (catalogue === undefined ? [] : [key])),
);

const namesIgnorable = (rows: Rows): string[] =>
  Object.values(rows)
    .filter(({ effect }) => effect !== "none")
    .map(({ field }) => field);

/** What lifecycle.ignore_changes may name: every field that says something of the service. */
export const ignorable = perKind((kind): readonly string[] => namesIgnorable(fieldsOf[kind]));

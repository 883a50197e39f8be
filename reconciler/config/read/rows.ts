/** The fields of a block that are plain values, each read as its row in the table of fields says. */
import type { Kind } from "../../core/model/address";
import type { Text } from "../../core/model/computed";
import { type DesiredFields, type FieldRow, fieldsOf, type Rows } from "../../core/model/fields";
import { kindRows, perKind } from "../../core/model/kinds";
import { nearestName } from "../../core/text/nearest";
import type { Instance } from "../blocks";
import { isGiven, readBoolean, readEnum, readRemark, readSize, readText, reportMissing, type Subject } from "../fields";
import { readName } from "./names";

/** Values at the top of the file that hold for every block. */
export type TopValues = Readonly<Record<string, string | undefined>>;

type RowReader = (subject: Subject, instance: Instance, row: FieldRow) => Text | number | boolean | undefined;

const readers = {
  name: (subject, { values }, { field }) => readText(subject, values, field),
  text: (subject, { values }, { field }) => readText(subject, values, field),
  remark: (subject, { values }, { field }) => readRemark(subject, values, field),
  size: (subject, { values }, { field }) => readSize(subject, values, field),
  flag: (subject, { values }, { field }) => readBoolean(subject, values, field),
} satisfies Record<string, RowReader>;

/** A stand-in for a value that could not be read and was reported, so that reading goes on. */
const standIns = { name: "", text: "", remark: "", size: 1, flag: false };
type ReadType = keyof typeof readers | readonly string[];

/** The rows that hold plain values; the others (references, rules, how to flush) have readers of their own. */
type PlainKeys<F extends Rows> = { [K in keyof F]: F[K]["type"] extends ReadType ? K : never }[keyof F];
export type PlainFields<F extends Rows> = Pick<DesiredFields<F>, PlainKeys<F> & keyof DesiredFields<F>>;

const isPlain = (type: FieldRow["type"]): type is ReadType => typeof type !== "string" || type in readers;

interface PlainRow {
  readonly key: string;
  readonly row: FieldRow;
  readonly type: ReadType;
}

const plainRowsIn = (rows: Rows): readonly PlainRow[] =>
  Object.entries(rows).flatMap(([key, row]) => (isPlain(row.type) ? [{ key, row, type: row.type }] : []));
const plainRowsOfKind = perKind((kind) => plainRowsIn(fieldsOf[kind]));

/** The block as far as it could be read; what is missing is reported. */
export function readRows<K extends Kind>(
  kind: K,
  subject: Subject,
  instance: Instance,
  top: TopValues = {},
): PlainFields<(typeof fieldsOf)[K]> {
  const fields: Record<string, unknown> = {};
  for (const { key, row, type } of plainRowsOfKind[kind]) {
    const value = readRow(row, type, subject, instance, top);
    if (value !== undefined) fields[key] = value;
  }
  // Each row was read by the reader of its type, and only what may be unset is left out.
  return fields as PlainFields<(typeof fieldsOf)[K]>;
}

function readRow(row: FieldRow, type: ReadType, subject: Subject, instance: Instance, top: TopValues): unknown {
  const { absent } = row;
  if (absent === "key") return readName(subject, instance);
  const value =
    typeof type === "string"
      ? readers[type](subject, instance, row)
      : readEnum(subject, instance.values, row.field, type);
  if (value !== undefined || absent === "unset") return value;
  if (typeof absent === "object") return absent.value;
  const inherited = absent === "inherited" ? top[row.field] : undefined;
  if (inherited !== undefined) return inherited;
  if (!isGiven(instance.values, row.field) && !isMisspelt(row, instance)) reportMissingRow(row, subject, instance);
  return typeof type === "string" ? standIns[type] : type[0];
}

/** An unknown key for which this field is the suggestion, and the missing field, are one mistake and not two. */
function isMisspelt({ field }: FieldRow, { values, block: { kind } }: Instance): boolean {
  const known = Object.values<FieldRow>(fieldsOf[kind]).map((row) => row.field);
  return Object.keys(values).some((key) => !known.includes(key) && nearestName(key, known) === field);
}

function reportMissingRow({ field, absent, hint }: FieldRow, subject: Subject, { block: { kind } }: Instance): void {
  const elsewhere = absent === "inherited" ? "once at the top of the file" : `to defaults.${kind}`;
  const what = hint === undefined ? field : `${field} (${hint})`;
  reportMissing(subject, field, `add ${what} to the ${kindRows[kind].noun}, or ${elsewhere}`);
}

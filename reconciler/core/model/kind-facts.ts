/**
 * What the facts of a kind are, and what those of several kinds are made of: what a record remembers, and how a record
 * reads as a wish.
 */
import { fieldsIn, isOneOf, keysOf } from "../text/objects";
import { type Check, list, oneOf, optional, shape, text, timeText } from "./checks";
import type { DesiredByKind, DesiredResource, Reference } from "./desired";
import { effectFields } from "./effect";
import { type DesiredFields, type FieldRow, fieldsOf, type RecordedFields, type Rows } from "./fields";
import { dueReasons, duties } from "./guest";
import { type Kind, kinds } from "./kinds";
import type { Orphan, RecordedByKind } from "./recorded";

/** The fields of a record beside those of its kind. */
export type MemoryChecks<R> = Readonly<Record<Exclude<keyof R, "kind" | "address">, Check>>;

export interface KindFacts<K extends Kind> {
  /** Other resources that a resource of the file names. */
  references(desired: DesiredByKind[K]): readonly Reference[];
  /** The same resource, with each of them named in another way. */
  renamed(desired: DesiredByKind[K], named: (reference: Reference, of: Kind) => Reference): DesiredByKind[K];
  /** Ids of other resources that a record names. */
  names(recorded: RecordedByKind[K]): readonly string[];
  /** Ids that nothing but the record remembers, beside its own, each as an orphan's key. */
  keeps(recorded: RecordedByKind[K]): readonly string[];
  /** What nobody knows of any more once the record is forgotten. */
  leaves?(recorded: RecordedByKind[K]): readonly Orphan[];
  memory(): MemoryChecks<Omit<RecordedByKind[K], keyof RecordedFields<(typeof fieldsOf)[K]>>>;
  /** The record as a wish that changes nothing. `ignoreChanges` has the fields that the record does not know. */
  wish(recorded: RecordedByKind[K]): DesiredByKind[K];
  /** The record without what nobody declared and a cut-off run has set on its way. */
  declared?(recorded: RecordedByKind[K]): RecordedByKind[K];
  /** The wish, behaving as the file says today, where the file still declares the resource. */
  behaving(wish: DesiredByKind[K], now: DesiredByKind[K] | undefined): DesiredByKind[K];
  /** What a delete has to heed beside `prevent_destroy`, where the file asks for more than the record does. */
  guarded?(recorded: RecordedByKind[K], now: DesiredByKind[K]): RecordedByKind[K];
}

export const source = { file: "state", line: 1 };

/** A stand-in for a field that the record does not know, and that is therefore not compared. */
const blank = { text: "", remark: "", name: "", size: 0, flag: false };
const blankOf = ({ type, absent }: FieldRow): unknown =>
  absent !== "unset" && isOneOf(type, keysOf(blank)) ? blank[type] : undefined;

interface KnownFields<F extends Rows> {
  readonly fields: Pick<DesiredFields<F>, keyof DesiredFields<F> & keyof RecordedFields<F>>;
  /** Fields of the file that the record does not know. */
  readonly unknown: readonly string[];
}

export function fieldsOfRecord<F extends Rows>(rows: F, record: object): KnownFields<F> {
  const fields: Record<string, unknown> = {};
  const unknown: string[] = [];
  const known = fieldsIn(record);
  for (const [key, row] of Object.entries(rows)) {
    if (row.recorded === "never") continue;
    const value = known[key] ?? blankOf(row);
    if (known[key] === undefined && row.effect !== "none") unknown.push(row.field);
    if (value !== undefined) fields[key] = value;
  }
  // Every row that a record may hold has a value of its type here, but for those that may be unset.
  return { fields: fields as KnownFields<F>["fields"], unknown };
}

/** The lifecycle that the file says today, without comparing what no record knew. */
export const behavingAs = <L extends DesiredResource["lifecycle"]>(now: L, { lifecycle }: DesiredResource): L => ({
  ...now,
  ignoreChanges: [...new Set([...now.ignoreChanges, ...lifecycle.ignoreChanges])],
});

const namesOfFields = kinds.flatMap((kind) => Object.values<FieldRow>(fieldsOf[kind]).map(({ field }) => field));

export const isUnseenList = optional(
  list(
    shape({
      field: oneOf(...effectFields, ...namesOfFields),
      value: text,
      said: text,
      since: timeText,
      looked: optional(text),
    }),
  ),
);

export const owes = optional(list(shape({ command: oneOf(...duties), reason: oneOf(...dueReasons), since: timeText })));

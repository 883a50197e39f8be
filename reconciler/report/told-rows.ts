/** What the words of a kind are, and the rows that the words of several kinds are made of. */
import type { Kind } from "../core/model/address";
import { type OpenText, shownText, textKey } from "../core/model/computed";
import type { DesiredByKind, DesiredResource } from "../core/model/desired";
import type { Rows as FieldTable, KeysWith } from "../core/model/fields";
import type { AddressOf } from "../core/model/identity";
import type { Catalogue, LiveOf } from "../core/model/live";
import type { RecordedByKind, RecordedResource, RecordedVm } from "../core/model/recorded";
import type { Command, Reference } from "../core/model/reference";
import { fieldsIn } from "../core/text/objects";
import { printable } from "../core/text/printable";
import { cutToColumns, valueText } from "./style";

/** The words for a value. A list is shown as lines of its own; `undefined` leaves the field out. */
export type ToldValue = string | number | boolean | readonly string[] | undefined;
export type LabelledRow<T> = readonly [label: string, tell: (record: T) => ToldValue];
export type WordRows<T> = Readonly<Record<Exclude<keyof T, "kind" | "address">, LabelledRow<T>>>;

/** A row with its words. */
export type ToldRow = readonly [label: string, words: ToldValue];

export const rowsToldBy = <T>(rows: Readonly<Record<string, LabelledRow<T>>>, one: T): ToldRow[] =>
  Object.values(rows).map(([label, tell]) => [label, tell(one)]);

export interface SideRow {
  readonly field: string;
  /** Absent when the files ask for nothing. */
  readonly desired?: string;
  /** Absent when the service does not show the value and none was recorded. */
  readonly live?: string;
  /** The value is the recorded one, because the service does not show it. */
  readonly recorded?: true;
  readonly differs?: true;
  /** The service made this rule by itself, and no file has to want it. */
  readonly own?: true;
}

/** One resource as it is wanted, recorded and seen. */
export interface RowSources<K extends Kind> {
  readonly want: Extract<DesiredResource, { readonly kind: K }> | undefined;
  readonly record: Extract<RecordedResource, { readonly kind: K }> | undefined;
  readonly shown: Extract<LiveOf[Kind], { readonly kind: K }> | undefined;
  readonly catalogue: Catalogue;
  readonly addressOf: AddressOf;
}

export interface WordsOfKind<K extends Kind> {
  rows(addressOf: AddressOf): WordRows<RecordedByKind[K]>;
  /** The remarks on a record, such as an unfinished build; empty when there are none. */
  remarks(record: RecordedByKind[K]): readonly string[];
  described(desired: DesiredByKind[K]): string;
  sides(looked: RowSources<K>): readonly SideRow[];
}

export const remarkIf = (condition: boolean | undefined, remark: string): string => (condition === true ? remark : "");

export const yes = (value: boolean | undefined, words = "yes"): string | undefined =>
  value === true ? words : undefined;

/** Writes that the service accepted and no look has shown. */
export const unseenRow: LabelledRow<Pick<RecordedResource, "unseen">> = [
  "not seen",
  ({ unseen }) =>
    unseen?.map(
      ({ said, since, looked }) =>
        `${said} (accepted; ${looked === undefined ? "nobody can look" : `not in ${looked}`}, ${since})`,
    ),
];

export const unseenRemarks = ({ unseen = [] }: Pick<RecordedResource, "unseen">): readonly string[] =>
  unseen.length === 0 ? [] : [`accepted and not seen: ${unseen.map(({ said }) => said).join(", ")}`];

/** A record keeps the values of a command as the file names them, whatever became of them since. */
export const shownCommand = (command: Command | undefined): string | undefined => command?.argv.map(textKey).join(" ");

/** Commands that are owed to the guest. */
export const owesRow: LabelledRow<Pick<RecordedVm, "owes">> = [
  "owed",
  ({ owes }) => owes?.map(({ command, reason, since }) => `${command} (${reason}), since ${since}`),
];

export const deletingRow: LabelledRow<{ readonly deleting?: boolean }> = [
  "delete sent",
  ({ deleting }) => yes(deleting),
];

export const stillToSetRow: LabelledRow<{ readonly stillToSet?: string }> = [
  "still to set",
  ({ stillToSet }) => stillToSet,
];

/** The kinds of fields whose value is told as it is. */
type WordsType = "text" | "name" | "remark" | "size" | "flag" | readonly string[];
type ToldAsItIs<F extends FieldTable> = {
  readonly [K in KeysWith<F, { recorded: "always" | "known"; type: WordsType }>]: LabelledRow<object>;
};

/** The rows of fields that are told as they are, under their names in the file. */
export const toldAsTheyAre = <F extends FieldTable>(fields: F): ToldAsItIs<F> =>
  Object.fromEntries(
    Object.entries(fields).map(([key, { field }]): [string, LabelledRow<object>] => [
      key,
      [
        field,
        (record) => {
          const value = fieldsIn(record)[key];
          return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
            ? value
            : undefined;
        },
      ],
    ]),
    // A key that the type does not name has a row of its own below.
  ) as ToldAsItIs<F>;

export type SideValue = string | OpenText | number | boolean | Reference | null | undefined;

/** The most characters of a value that are shown; a text of the service may be of any length. */
const widest = 300;

/** One row; none when nobody asks for the field and nobody shows it. */
export function rowOfSides(field: string, desired: SideValue, live: SideValue, recorded: SideValue): SideRow[] {
  const [left, right, kept] = [desired, live, recorded].map((value) => textOfValue(field, value));
  const shown = right ?? kept;
  if (left === undefined && shown === undefined) return [];
  return [
    { field, desired: left, live: shown, recorded: right === undefined && kept !== undefined ? true : undefined },
  ];
}

function textOfValue(field: string, value: SideValue): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "object" || value === null) return short(valueText(field, value));
  if ("parts" in value) return short(shownText(value));
  return short("id" in value ? value.id : value.address);
}

export const short = (text: string): string => cutToColumns(printable(text), widest);

/**
 * What is said of one resource of each kind, in words: every field of its record, what of the record is worth a remark,
 * its label in a picture, and its fields as the file wants them beside what the service shows.
 */
import type { Kind } from "../core/model/address";
import type { DesiredByKind, DesiredResource } from "../core/model/desired";
import { type Rows as FieldTable, fieldsOf } from "../core/model/fields";
import { type AddressOf, identity } from "../core/model/identity";
import { eachKind, isKind, kindRows, ofKind } from "../core/model/kinds";
import type { LiveOf } from "../core/model/live";
import type { RecordedByKind, RecordedResource } from "../core/model/recorded";
import { hostOf } from "../core/model/relations";
import { fieldsIn } from "../core/text/objects";
import { groupWords } from "../kinds/group/words";
import { vmWords } from "../kinds/vm/words";
import { volumeWords } from "../kinds/volume/words";
import {
  deletingRow,
  type LabelledRow,
  type RowSources,
  remarkIf,
  rowOfSides,
  rowsToldBy,
  type SideRow,
  type SideValue,
  stillToSetRow,
  type ToldRow,
  type ToldValue,
  toldAsTheyAre,
  unseenRemarks,
  unseenRow,
  type WordRows,
  type WordsOfKind,
} from "./told-rows";

/** Of a kind that is its rows and its relations alone. */
function usualWords(kind: Kind): WordsOfKind<Kind> {
  const fields: FieldTable = fieldsOf[kind];
  const host = hostOf[kind];
  const hostWith = (id: string) => identity(host !== undefined && isKind(host.kind) ? host.kind : kind, id);
  const onHost = (addressOf: AddressOf): Readonly<Record<string, LabelledRow<object>>> => {
    if (host === undefined) return {};
    const label = fields[host.field]?.field ?? host.field;
    const tell = (record: object): ToldValue => {
      const id = fieldsIn(record)[host.recorded];
      return typeof id === "string" ? `${addressOf(hostWith(id)) ?? "a"} (${id})` : undefined;
    };
    return { [host.recorded]: [label, tell] };
  };
  return {
    rows: (addressOf) =>
      // Its rows, and what every record remembers.
      ({
        id: ["id", ({ id }: RecordedResource) => id],
        ...toldAsTheyAre(fields),
        ...onHost(addressOf),
        preventDestroy: ["prevent_destroy", ({ preventDestroy }: RecordedResource) => preventDestroy],
        deleting: deletingRow,
        stillToSet: stillToSetRow,
        unseen: unseenRow,
      }) as unknown as WordRows<RecordedByKind[Kind]>,
    remarks: () => [],
    described: ({ name }) => `${kindRows[kind].fullNoun} ${name}`,
    sides: ({ want, record, shown, addressOf }) =>
      Object.entries(fields).flatMap(([key, { field }]) => {
        const isHost = key === host?.field;
        const [wanted, seen, known] = [want, shown, record].map((one, index) => {
          const value = fieldsIn(one)[isHost && index > 0 ? host.recorded : key];
          // A row has a plain value, and its host an id.
          return (isHost && typeof value === "string" ? (addressOf(hostWith(value)) ?? value) : value) as SideValue;
        });
        return rowOfSides(field, wanted, seen, known);
      }),
  };
}

const ownWords: { readonly [K in Kind]?: WordsOfKind<K> } = { vm: vmWords, volume: volumeWords, group: groupWords };
// Each kind has its own words or those that follow from its rows.
const words = eachKind<{ readonly [K in Kind]: WordsOfKind<K> }>(
  (kind) => ownWords[kind] ?? (usualWords(kind) as unknown as WordsOfKind<"volume">),
);

// The kind goes beside the resource: from that the compiler sees that both are of one kind.

const toldRows = <K extends Kind>(kind: K, record: RecordedByKind[K], addressOf: AddressOf): ToldRow[] =>
  rowsToldBy<RecordedByKind[K]>(words[kind].rows(addressOf), record);
export const toldOfRecord = (record: RecordedResource, addressOf: AddressOf): ToldRow[] =>
  toldRows(record.kind, record, addressOf);

const remarks = <K extends Kind>(kind: K, record: RecordedByKind[K]) => words[kind].remarks(record);
export const remarksOn = (record: RecordedResource): readonly string[] => [
  remarkIf(record.preventDestroy, "prevent_destroy"),
  ...remarks(record.kind, record),
  ...unseenRemarks(record),
];

const described = <K extends Kind>(kind: K, desired: DesiredByKind[K]) => words[kind].described(desired);
export const describedIn = (desired: DesiredResource): string => described(desired.kind, desired);

export const sideRows = <K extends Kind>(
  kind: K,
  {
    want,
    record,
    shown,
    ...rest
  }: Pick<RowSources<K>, "catalogue" | "addressOf"> & {
    readonly want: DesiredResource | undefined;
    readonly record: RecordedResource | undefined;
    readonly shown: LiveOf[Kind] | undefined;
  },
): readonly SideRow[] =>
  words[kind].sides({ want: ofKind(want, kind), record: ofKind(record, kind), shown: ofKind(shown, kind), ...rest });

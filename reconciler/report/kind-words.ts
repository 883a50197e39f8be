/**
 * What is said of one resource of each kind, in words: every field of its record, what of the record is worth a remark,
 * its label in a picture, and its fields as the file wants them beside what the service shows. The compiler refuses a new
 * field of a record until this file shows it.
 */

import { canonicalLiveRule, describeRule, ruleKey } from "../core/canonical/rules";
import type { Address, Kind } from "../core/model/address";
import { type OpenText, shownText } from "../core/model/computed";
import type { DesiredByKind, DesiredResource } from "../core/model/desired";
import {
  type Rows as FieldTable,
  fieldsOf,
  groupFields,
  type KeysWith,
  vmFields,
  vmServiceFields,
  volumeFields,
} from "../core/model/fields";
import { commandOf, type Duty, type GuestCommand } from "../core/model/guest";
import { type AddressOf, identity } from "../core/model/identity";
import { eachKind, isKind, kindRows, ofKind } from "../core/model/kinds";
import type { Catalogue, CatalogueEntry, LiveOf } from "../core/model/live";
import type {
  RecordedByKind,
  RecordedGroup,
  RecordedResource,
  RecordedVm,
  RecordedVolume,
} from "../core/model/recorded";
import type { Reference } from "../core/model/reference";
import { hostOf } from "../core/model/relations";
import type { Rule } from "../core/model/rule";
import { fieldsIn } from "../core/text/objects";
import { printable } from "../core/text/printable";
import { countOf, cutToColumns, valueText } from "./style";

/** The words for a value. A list is shown as lines of its own; `undefined` leaves the field out. */
export type ToldValue = string | number | boolean | readonly string[] | undefined;
export type LabelledRow<T> = readonly [label: string, tell: (record: T) => ToldValue];
type WordRows<T> = Readonly<Record<Exclude<keyof T, "kind" | "address">, LabelledRow<T>>>;

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
interface RowSources<K extends Kind> {
  readonly want: Extract<DesiredResource, { readonly kind: K }> | undefined;
  readonly record: Extract<RecordedResource, { readonly kind: K }> | undefined;
  readonly shown: Extract<LiveOf[Kind], { readonly kind: K }> | undefined;
  readonly catalogue: Catalogue;
  readonly addressOf: ReadonlyMap<string, Address>;
}

interface WordsOfKind<K extends Kind> {
  rows(addressOf: AddressOf): WordRows<RecordedByKind[K]>;
  /** The remarks on a record, such as an unfinished build; empty when there are none. */
  remarks(record: RecordedByKind[K]): readonly string[];
  described(desired: DesiredByKind[K]): string;
  sides(looked: RowSources<K>): readonly SideRow[];
}

const remarkIf = (condition: boolean | undefined, remark: string): string => (condition === true ? remark : "");

export const yes = (value: boolean | undefined, words = "yes"): string | undefined =>
  value === true ? words : undefined;

/** Writes that the service accepted and no look has shown. */
const unseenRow: LabelledRow<Pick<RecordedResource, "unseen">> = [
  "not seen",
  ({ unseen }) =>
    unseen?.map(
      ({ said, since, looked }) =>
        `${said} (accepted; ${looked === undefined ? "nobody can look" : `not in ${looked}`}, ${since})`,
    ),
];

const unseenRemarks = ({ unseen = [] }: Pick<RecordedResource, "unseen">): readonly string[] =>
  unseen.length === 0 ? [] : [`accepted and not seen: ${unseen.map(({ said }) => said).join(", ")}`];

const shownCommand = (command: GuestCommand | undefined): string | undefined => command?.argv.map(shownText).join(" ");

const commandRow = (duty: Duty): LabelledRow<RecordedVm> => [duty, (record) => shownCommand(commandOf(record, duty))];

/** Commands that are owed to the guest. */
const owesRow: LabelledRow<Pick<RecordedVm, "owes">> = [
  "owed",
  ({ owes }) => owes?.map(({ command, reason, since }) => `${command} (${reason}), since ${since}`),
];

const deletingRow: LabelledRow<{ readonly deleting?: boolean }> = ["delete sent", ({ deleting }) => yes(deleting)];

/** The kinds of fields whose value is told as it is. */
type WordsType = "text" | "name" | "remark" | "size" | "flag" | readonly string[];
type ToldAsItIs<F extends FieldTable> = {
  readonly [K in KeysWith<F, { recorded: "always" | "known"; type: WordsType }>]: LabelledRow<object>;
};

/** The rows of fields that are told as they are, under their names in the file. */
const toldAsTheyAre = <F extends FieldTable>(fields: F): ToldAsItIs<F> =>
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

const { name, flavor, image, ...otherVmRows } = toldAsTheyAre(vmFields);

const vmWordRows: WordRows<RecordedVm> = {
  id: ["id", ({ id }) => id ?? "(not known yet)"],
  name,
  flavor,
  image,
  imageId: ["image, by id", ({ image, imageId }) => (imageId === image ? undefined : imageId)],
  ...otherVmRows,
  preventDestroy: ["prevent_destroy", ({ preventDestroy }) => preventDestroy],
  onDelete: [
    "on delete",
    ({ onDelete }) => [
      ...(onDelete.snapshot ? ["snapshot_before: [delete]"] : []),
      ...(onDelete.deleteFloatingIp === undefined ? [] : [`delete_floating_ip: ${onDelete.deleteFloatingIp}`]),
      `preserved_volumes: ${onDelete.preservedVolumes}`,
    ],
  ],
  dataVolumeId: ["data volume", ({ dataVolumeId }) => dataVolumeId],
  disks: [
    "other disks",
    ({ disks }) => disks?.map(({ id, maybeRoot }) => `${id}${maybeRoot ? ", perhaps its root disk" : ""}`),
  ],
  privateIp: ["private_ip", ({ privateIp }) => privateIp],
  floatingIp: ["floating_ip", ({ floatingIp }) => floatingIp],
  createdAt: ["first seen", ({ createdAt }) => createdAt],
  building: ["being built", ({ building }) => yes(building)],
  resizing: [
    "resize open",
    ({ resizing }) => resizing && `${resizing.from === undefined ? "" : `${resizing.from} → `}${resizing.to}`,
  ],
  stoppedForFlush: ["stopped", ({ stoppedForFlush }) => yes(stoppedForFlush, "for a flush, and not started again yet")],
  deleting: deletingRow,
  dataVolumeDetached: ["data volume", ({ dataVolumeDetached }) => yes(dataVolumeDetached, "detached to be grown")],
  dataVolumeMoving: [
    "data volume",
    ({ dataVolumeMoving }) => dataVolumeMoving && `${dataVolumeMoving}, without an answer`,
  ],
  afterReady: commandRow("after_ready"),
  afterAttach: commandRow("after_attach"),
  owes: owesRow,
  unseen: unseenRow,
};

const volumeRows = (addressOf: AddressOf): WordRows<RecordedVolume> => ({
  id: ["id", ({ id }) => id],
  name: [volumeFields.name.field, ({ name }) => name],
  sizeGb: [volumeFields.sizeGb.field, ({ sizeGb }) => sizeGb],
  attachedTo: [
    volumeFields.attachTo.field,
    ({ attachedTo }) => attachedTo && `${addressOf(identity("vm", attachedTo)) ?? "a VM"} (${attachedTo})`,
  ],
  attaching: [
    "being attached to",
    ({ attaching }) => attaching && `${addressOf(identity("vm", attaching)) ?? "a VM"} (${attaching})`,
  ],
  detaching: [
    "being taken off",
    ({ detaching }) => detaching && `${addressOf(identity("vm", detaching)) ?? "a VM"} (${detaching})`,
  ],
  flush: [
    volumeFields.flush.field,
    ({ flush }) => `via ${flush.via}${flush.via === "command" ? `: ${flush.argv.join(" ")}` : ""}`,
  ],
  preventDestroy: ["prevent_destroy", ({ preventDestroy }) => preventDestroy],
  afterAttach: [volumeFields.afterAttach.field, ({ afterAttach }) => shownCommand(afterAttach)],
  owes: owesRow,
  deleting: deletingRow,
  unseen: unseenRow,
});

const groupRows = (addressOf: AddressOf): WordRows<RecordedGroup> => ({
  id: ["id", ({ id }) => id],
  name: [groupFields.name.field, ({ name }) => name],
  description: [groupFields.description.field, ({ description }) => description],
  rules: [
    groupFields.rules.field,
    ({ rules }) =>
      rules.map((rule) => {
        const said = describeRule(rule, (group) =>
          "id" in group ? (addressOf(identity("group", group.id)) ?? group.id) : group.address,
        );
        return rule.description === undefined ? said : `${said} (${rule.description})`;
      }),
  ],
  platformRules: ["by itself", ({ platformRules }) => platformRules.map((key) => `${key} (the service's own)`)],
  preventDestroy: ["prevent_destroy", ({ preventDestroy }) => preventDestroy],
  updating: [
    "told to be",
    ({ updating }) => updating && `${Object.values(updating).join(", ")} (no answer came, and nobody can look)`,
  ],
  deleting: deletingRow,
  retired: ["replaced", ({ retired }) => retired?.map(({ name, id }) => `${name} (${id}), still to delete`)],
  buried: ["former ids", ({ buried }) => buried],
  unseen: unseenRow,
});

const vmWords: WordsOfKind<"vm"> = {
  rows: () => vmWordRows,
  remarks: (record) => [
    remarkIf(record.building, "being built"),
    remarkIf(record.resizing !== undefined, "resize not decided"),
    remarkIf(record.stoppedForFlush, "stopped for a flush"),
    remarkIf(record.dataVolumeDetached, "data volume detached"),
    remarkIf(record.dataVolumeMoving !== undefined, `data volume ${record.dataVolumeMoving}`),
  ],
  described: ({ name, flavor }) => `VM ${name}, ${flavor}`,
  sides({ want, record, shown: live, catalogue }) {
    const shown: Partial<Record<keyof typeof vmFields, SideValue>> =
      live === undefined
        ? {}
        : {
            name: live.name,
            flavor: nameInCatalogue(live.flavor, catalogue.flavors),
            image: nameInCatalogue(live.image, catalogue.images),
            owner: live.owner,
            power: live.status ?? live.phase,
          };
    return vmServiceFields.flatMap((key) => rowOfSides(vmFields[key].field, want?.[key], shown[key], record?.[key]));
  },
};

const volumeWords: WordsOfKind<"volume"> = {
  rows: volumeRows,
  remarks: (record) => [
    remarkIf(record.attaching !== undefined, "being attached"),
    remarkIf(record.detaching !== undefined, "being detached"),
  ],
  described: ({ name, sizeGb }) => `volume ${name}, ${sizeGb} GB`,
  sides({ want, record, shown, addressOf }) {
    const place = (on: string | null | undefined): SideValue => (on == null ? on : (addressOf.get(on) ?? on));
    return [
      ...rowOfSides(volumeFields.name.field, want?.name, shown?.name, record?.name),
      ...rowOfSides(volumeFields.sizeGb.field, want?.sizeGb, shown?.sizeGb, record?.sizeGb),
      ...rowOfSides(volumeFields.attachTo.field, want?.attachTo, place(shown?.attachedTo), place(record?.attachedTo)),
    ];
  },
};

const groupWords: WordsOfKind<"group"> = {
  rows: groupRows,
  remarks({ retired = [] }) {
    return [remarkIf(retired.length > 0, `${countOf(retired.length, "replaced group")} to delete`)];
  },
  described: ({ name, rules }) => `group ${name}, ${countOf(rules.length, "rule")}`,
  sides: ({ want, record, shown, addressOf }) => [
    ...rowOfSides(groupFields.name.field, want?.name, shown?.name, record?.name),
    ...rowOfSides(groupFields.description.field, want?.description, shown?.description, record?.description),
    ...ruleSides(want?.rules ?? [], record, shown, addressOf),
  ],
};

function ruleSides(
  wanted: readonly Rule[],
  record: RecordedGroup | undefined,
  shown: LiveOf["group"] | undefined,
  addressOf: ReadonlyMap<string, Address>,
): SideRow[] {
  const identify = (other: Reference): string =>
    "id" in other ? (addressOf.get(other.id) ?? other.id) : other.address;
  const say = (rule: Rule): string => short(describeRule(rule, identify));
  const byKey = (rules: readonly Rule[]): Map<string, string> =>
    new Map(rules.slice(0, mostRules).map((rule) => [ruleKey(rule, identify), say(rule)]));
  const wants = byKey(wanted);
  const has = byKey(shown?.rules?.map(canonicalLiveRule) ?? (shown === undefined ? (record?.rules ?? []) : []));
  const own = new Set([
    ...(record?.platformRules ?? []),
    ...(shown?.rules ?? []).flatMap((rule) =>
      rule.platform === true ? [ruleKey(canonicalLiveRule(rule), identify)] : [],
    ),
  ]);
  const isRecorded = shown?.rules === undefined && has.size > 0;
  return [...new Set([...wants.keys(), ...has.keys()])].map((key): SideRow => {
    const [left, right] = [wants.get(key), has.get(key)];
    return {
      field: "rule",
      ...(left === undefined ? (own.has(key) ? { own: true } : {}) : { desired: left }),
      ...(right === undefined ? {} : { live: right, recorded: isRecorded ? true : undefined }),
    };
  });
}

type SideValue = string | OpenText | number | boolean | Reference | null | undefined;

/** The most characters of a value that are shown; a text of the service may be of any length. */
const widest = 300;
const mostRules = 200;

/** One row; none when nobody asks for the field and nobody shows it. */
function rowOfSides(field: string, desired: SideValue, live: SideValue, recorded: SideValue): SideRow[] {
  const [left, right, kept] = [desired, live, recorded].map((value) => textOfValue(field, value));
  const shown = right ?? kept;
  if (left === undefined && shown === undefined) return [];
  return [
    {
      field,
      desired: left,
      live: shown,
      recorded: right === undefined && kept !== undefined ? true : undefined,
    },
  ];
}

function textOfValue(field: string, value: SideValue): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "object" || value === null) return short(valueText(field, value));
  if ("parts" in value) return short(shownText(value));
  return short("id" in value ? value.id : value.address);
}

export const short = (text: string): string => cutToColumns(printable(text), widest);

/** The name of what the service refers to by its id. */
const nameInCatalogue = (id: string | undefined, entries: readonly CatalogueEntry[] | undefined): string | undefined =>
  entries?.find((entry) => entry.id === id)?.name ?? id;

/** Of a kind that is its rows and its relations alone. */
function usualWords(kind: Kind): WordsOfKind<Kind> {
  const fields: FieldTable = fieldsOf[kind];
  const host = hostOf[kind];
  const onHost = (addressOf: AddressOf): Readonly<Record<string, LabelledRow<object>>> => {
    if (host === undefined) return {};
    const label = fields[host.field]?.field ?? host.field;
    const tell = (record: object): ToldValue => {
      const id = fieldsIn(record)[host.recorded];
      return typeof id === "string"
        ? `${addressOf(identity(isKind(host.kind) ? host.kind : kind, id)) ?? "a"} (${id})`
        : undefined;
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
          return (isHost && typeof value === "string" ? (addressOf.get(value) ?? value) : value) as SideValue;
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

/**
 * Each resource as the files want it, beside what the service shows, with the differences marked. The plan says what
 * differs; texts are not compared, because a flavor's name and its id mean the same flavor.
 */
import { canonicalLiveRule, describeRule, ruleKey } from "../core/canonical/rules";
import type { Change } from "../core/diff/changes";
import { type Address, compareAddresses, type Kind } from "../core/model/address";
import { type OpenText, shownText } from "../core/model/computed";
import type { DesiredGroup, DesiredResource, DesiredVm, DesiredVolume } from "../core/model/desired";
import { groupFields, keysWith, vmFields, volumeFields } from "../core/model/fields";
import { type CatalogueEntry, type Live, sightGroup, sightVm, sightVolume } from "../core/model/live";
import type { RecordedGroup, RecordedResource, RecordedVm, RecordedVolume } from "../core/model/recorded";
import type { Reference } from "../core/model/reference";
import type { Rule } from "../core/model/rule";
import { printable } from "../core/text/printable";
import { cutToColumns, valueText } from "./style";

export interface Side {
  readonly address: Address;
  readonly kind: Kind;
  /** Absent when the resource is as the files want it. */
  readonly action?: Change["action"];
  /** The reason of the change in one sentence. */
  readonly because?: string;
  /** not_there: nothing was made yet; gone: the resource existed before; unseen: nobody could look. */
  readonly live: "seen" | "not_there" | "gone" | "unseen";
  readonly rows: readonly SideRow[];
}

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

export interface SidesInput {
  readonly desired: readonly DesiredResource[];
  readonly records: ReadonlyMap<Address, RecordedResource>;
  /** Absent when nobody looked since the records were written. */
  readonly live?: Live;
  readonly changes: readonly Change[];
}

/** The most characters of a value that are shown; a text of the service may be of any length. */
const widest = 300;
const mostRules = 200;

export function sidesOf({ desired, records, live, changes }: SidesInput): Side[] {
  const wanted = new Map(desired.map((resource) => [resource.address, resource]));
  const changed = new Map(changes.map((change) => [change.address, change]));
  const addressOf = new Map(
    [...records.values()].flatMap(({ id, address }) => (id === undefined ? [] : [[id, address]])),
  );
  const addresses = [...new Set([...wanted.keys(), ...records.keys(), ...changed.keys()])].sort(compareAddresses);
  return addresses.flatMap((address): Side[] => {
    const change = changed.get(address);
    const record = records.get(change?.movedFrom ?? address) ?? records.get(address);
    const goes = change?.action === "delete" || change?.action === "forget";
    const want = goes ? undefined : wanted.get(address);
    const kind = want?.kind ?? record?.kind ?? change?.kind;
    if (kind === undefined) return [];
    const look = { want, record, live, id: change?.id ?? record?.id, addressOf };
    const { seen, rows } = { vm: vmSide, volume: volumeSide, group: groupSide }[kind](look);
    return [
      {
        address,
        kind,
        ...(change === undefined ? {} : { action: change.action, because: short(change.because) }),
        live: seen,
        rows: marked(rows, change),
      },
    ];
  });
}

interface Looked {
  readonly want: DesiredResource | undefined;
  readonly record: RecordedResource | undefined;
  readonly live: Live | undefined;
  readonly id: string | undefined;
  readonly addressOf: ReadonlyMap<string, Address>;
}

interface Found {
  readonly seen: Side["live"];
  readonly rows: readonly SideRow[];
}

type Value = string | OpenText | number | boolean | Reference | null | undefined;

function vmSide({ want, record, live, id }: Looked): Found {
  const desired: DesiredVm | undefined = want?.kind === "vm" ? want : undefined;
  const known: RecordedVm | undefined = record?.kind === "vm" ? record : undefined;
  const sighting = id === undefined || live === undefined ? undefined : sightVm(live, id);
  const vm = sighting?.seen === "yes" ? sighting.value : undefined;
  const shown: Partial<Record<keyof typeof vmFields, Value>> =
    vm === undefined
      ? {}
      : {
          name: vm.name,
          flavor: named(vm.flavor, live?.catalogue.flavors),
          image: named(vm.image, live?.catalogue.images),
          owner: vm.owner,
          power: vm.status ?? vm.phase,
        };
  const rows = keysWith(vmFields, {}).flatMap((key) =>
    row(vmFields[key].field, desired?.[key], shown[key], known?.[key]),
  );
  return { seen: seenAs(sighting?.seen, id, live), rows };
}

function volumeSide({ want, record, live, id, addressOf }: Looked): Found {
  const desired: DesiredVolume | undefined = want?.kind === "volume" ? want : undefined;
  const known: RecordedVolume | undefined = record?.kind === "volume" ? record : undefined;
  const sighting = id === undefined || live === undefined ? undefined : sightVolume(live, id);
  const volume = sighting?.seen === "yes" ? sighting.value : undefined;
  const place = (vm: string | null | undefined): Value => (vm == null ? vm : (addressOf.get(vm) ?? vm));
  const rows = [
    ...row(volumeFields.name.field, desired?.name, volume?.name, known?.name),
    ...row(volumeFields.sizeGb.field, desired?.sizeGb, volume?.sizeGb, known?.sizeGb),
    ...row(volumeFields.attachTo.field, desired?.attachTo, place(volume?.attachedTo), place(known?.attachedTo)),
  ];
  return { seen: seenAs(sighting?.seen, id, live), rows };
}

function groupSide({ want, record, live, id, addressOf }: Looked): Found {
  const desired: DesiredGroup | undefined = want?.kind === "group" ? want : undefined;
  const known: RecordedGroup | undefined = record?.kind === "group" ? record : undefined;
  const sighting = id === undefined || live === undefined ? undefined : sightGroup(live, id);
  const group = sighting?.seen === "yes" ? sighting.value : undefined;
  const identify = (other: Reference): string =>
    "id" in other ? (addressOf.get(other.id) ?? other.id) : other.address;
  const say = (rule: Rule): string => short(describeRule(rule, identify));
  const byKey = (rules: readonly Rule[]): Map<string, string> =>
    new Map(rules.slice(0, mostRules).map((rule) => [ruleKey(rule, identify), say(rule)]));
  const wants = byKey(desired?.rules ?? []);
  const has = byKey(group?.rules?.map(canonicalLiveRule) ?? (group === undefined ? (known?.rules ?? []) : []));
  const own = new Set([
    ...(known?.platformRules ?? []),
    ...(group?.rules ?? []).flatMap((rule) =>
      rule.platform === true ? [ruleKey(canonicalLiveRule(rule), identify)] : [],
    ),
  ]);
  const isRecorded = group?.rules === undefined && has.size > 0;
  const rules = [...new Set([...wants.keys(), ...has.keys()])].map((key): SideRow => {
    const [left, right] = [wants.get(key), has.get(key)];
    return {
      field: "rule",
      ...(left === undefined ? (own.has(key) ? { own: true } : {}) : { desired: left }),
      ...(right === undefined ? {} : { live: right, ...(isRecorded ? { recorded: true } : {}) }),
    };
  });
  const rows = [
    ...row(groupFields.name.field, desired?.name, group?.name, known?.name),
    ...row(groupFields.description.field, desired?.description, group?.description, known?.description),
    ...rules,
  ];
  return { seen: seenAs(sighting?.seen, id, live), rows };
}

function seenAs(seen: "yes" | "gone" | "unobserved" | undefined, id: string | undefined, live: Live | undefined) {
  if (id === undefined) return "not_there";
  if (live === undefined || seen === undefined) return "unseen";
  return seen === "yes" ? "seen" : seen === "gone" ? "gone" : "unseen";
}

/** One row; none when nobody asks for the field and nobody shows it. */
function row(field: string, desired: Value, live: Value, recorded: Value): SideRow[] {
  const [left, right, kept] = [desired, live, recorded].map((value) => textOf(field, value));
  const shown = right ?? kept;
  if (left === undefined && shown === undefined) return [];
  return [
    {
      field,
      ...(left === undefined ? {} : { desired: left }),
      ...(shown === undefined ? {} : { live: shown }),
      ...(right === undefined && kept !== undefined ? { recorded: true } : {}),
    },
  ];
}

function textOf(field: string, value: Value): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "object" || value === null) return short(valueText(field, value));
  if ("parts" in value) return short(shownText(value));
  return short("id" in value ? value.id : value.address);
}

const short = (text: string): string => cutToColumns(printable(text), widest);

/** The name of what the service refers to by its id. */
const named = (id: string | undefined, entries: readonly CatalogueEntry[] | undefined): string | undefined =>
  entries?.find((entry) => entry.id === id)?.name ?? id;

/** The rows with the differences that the plan has. The plan has a rule as its text. */
function marked(rows: readonly SideRow[], change: Change | undefined): SideRow[] {
  if (change === undefined) return [...rows];
  if (change.action === "create" || change.action === "delete") return rows.map((one) => ({ ...one, differs: true }));
  const fields = new Map(change.fields.filter(({ field }) => field !== "rules").map((one) => [one.field, one]));
  const rules = new Set(
    change.fields.flatMap(({ field, before, after }) =>
      field === "rules" ? [before, after].flatMap((text) => (typeof text === "string" ? [short(text)] : [])) : [],
    ),
  );
  return rows.map((one): SideRow => {
    if (one.field === "rule") {
      const differs = [one.desired, one.live].some((text) => text !== undefined && rules.has(text));
      return differs && (one.desired === undefined || one.live === undefined) ? { ...one, differs: true } : one;
    }
    const field = fields.get(one.field);
    if (field === undefined) return one;
    const { live: _, recorded: __, ...rest } = one;
    return {
      ...rest,
      ...(field.before === null ? {} : { live: short(valueText(one.field, field.before)) }),
      differs: true,
    };
  });
}

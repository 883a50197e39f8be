/**
 * Learns where the fields of a record are: by the built-in places first, then by what can be cross-checked (a VM's
 * flavor must be in the list of flavors, an attachment must be a VM's id), and by the words of a key last. What cannot
 * be told is left open and never guessed at.
 */
import { deepEqual } from "../../core/text/deep-equal";
import { fieldsIn, isObject, onlyDefined } from "../../core/text/objects";
import { builtInDialect } from "../built-in";
import type { Dialect, Pointers, RecordPlace } from "../dialect";
import { asText, findAtPath } from "../places";
import { compilePointers, findText, findWord } from "../pointers";
import {
  absentIsNone,
  addressKind,
  knownReferenceIn,
  type Leaf,
  leavesOf,
  lettersAndDigits,
  samePlace,
  withCut,
  withNone,
} from "./values";
import { anyNoun, type Learnt } from "./where";

export type ReadKind = Learnt;

/** The ids that are known of other kinds, by which references are recognised. */
export interface KnownThings {
  /** Left out: the service has no such list. */
  readonly vms?: ReadonlySet<string>;
  /** Names of VMs that one of them bears alone. */
  readonly vmNames?: ReadonlySet<string>;
  readonly volumes: ReadonlySet<string>;
  readonly volumeNames?: ReadonlySet<string>;
  readonly flavors: ReadonlySet<string>;
  readonly images: ReadonlySet<string>;
  readonly made?: Made | undefined;
}

/** What a trial knows of the things that it has made itself. */
export interface Made {
  /** GB, by the ids of volumes. */
  readonly sizes: ReadonlyMap<string, number>;
  /** The disks of its VM that were asked for as data, and the others. */
  readonly data: ReadonlySet<string>;
  readonly root: ReadonlySet<string>;
  readonly owner?: string | undefined;
}

export interface FieldFinding {
  readonly field: string;
  readonly place?: RecordPlace;
  /** An example of a value seen at the place. */
  readonly shows?: string;
  /** The place in a record that is read by itself, if it differs from the place in the list. */
  readonly also?: RecordPlace;
  /** What stands where the dialect looks is something else. */
  readonly nowhere?: true;
  /** The place was learnt, and the dialect looks at another one. */
  readonly learnt?: true;
}

export interface RecordFinding {
  readonly record: ReadKind;
  readonly looked: number;
  readonly keys: readonly string[];
  readonly fields: readonly FieldFinding[];
}

const mostLooked = 200;

interface Rule {
  /** Plain names of a place, the best first. */
  readonly names: readonly RegExp[];
  /** Whether a value fits the field. */
  fits?(text: string, evidence: KnownThings): boolean;
  /** The ids of which a reference has to name one. A reference is recognised at any place. */
  refersTo?(evidence: KnownThings): ReadonlySet<string> | undefined;
  /** Where no place refers by ids: the names by which it may refer. */
  named?(evidence: KnownThings): ReadonlySet<string> | undefined;
  /** Every record shows a value, and each a different one. */
  readonly unique?: true;
  readonly everywhere?: true;
  /** The value is enough to recognise the field, where only one place shows such values. */
  readonly byValue?: true;
  /** The field belongs to the record itself, and not to something within it: `/state/name` is no name of a VM. */
  readonly own?: true;
  /** A record that does not show the field has no value, once another record has shown one. */
  readonly absentIsNone?: true;
}

const noun = `(${anyNoun}|sec(urity)?group|secgroup|sg)`;
const idWord = "(id|uuid|uid|guid|no|number|code|slug|ref|reference|identifier|key|urn)";
const idNames = [
  /^(id|uuid|uid|guid)$/,
  new RegExp(`^${noun}(id|uuid|uid|guid)$`),
  /^(ref|key|urn|slug|identifier|resourceid)$/,
  new RegExp(`^${noun}${idWord}$`),
  /^(code|no|number|self|selflink|href|arn|serial)$/,
];
/** A flavor, an image or a region may have nothing but its name. */
const catalogueIds = [...idNames, /^name$/, new RegExp(`^${noun}name$`)];
const nameNames = [
  /^(name|displayname)$/,
  new RegExp(`^${noun}?(name|title|label)$`),
  /^(title|label|hostname|caption|alias)$/,
];
const stateNames = [
  /^(status|state|lifecyclestate|lifecyclestatus)$/,
  new RegExp(`^${noun}?(status|state|phase)(name|value|word|text)?$`),
  /^(phase|power|powered|poweredon|power(state|status)|running|isrunning|condition|taskstate|taskstatus|provisioningstate)$/,
  new RegExp(`^${noun}?(status|state)code$`),
];
const isId = (text: string): boolean => text !== "" && text.length <= 255 && !/\s/.test(text);
const isShort = (text: string): boolean => text !== "" && text.length <= 60;
const isAddress = (wanted: "private" | "public") => (text: string) => addressKind(text) === wanted;

/** A value that names no known id may be right where no ids are known. */
const someOf = (known: ReadonlySet<string>): ReadonlySet<string> | undefined => (known.size === 0 ? undefined : known);

const rules: Readonly<Record<ReadKind, Readonly<Record<string, Rule>>>> = {
  vm: {
    id: { names: idNames, fits: isId, unique: true, own: true },
    name: { names: nameNames, everywhere: true, own: true },
    status: { names: stateNames, fits: isShort, everywhere: true },
    flavor: {
      names: [new RegExp(`^(flavor|plan|instancetype|machinetype|size|product)${idWord}?$`)],
      refersTo: ({ flavors }) => someOf(flavors),
    },
    image: {
      names: [new RegExp(`^(image|template|os|sourceimage)${idWord}?$`)],
      refersTo: ({ images }) => someOf(images),
    },
    owner: {
      names: [
        /^owner(email|mail|name|id|dataid)?$/,
        /^(contact|email|mail|useremail|account|accountname|ownedby|createdby|user|username|creator|labelsowner)$/,
      ],
      fits: (text) => /\S+@\S+/.test(text),
    },
    floating_ip: {
      names: [/^(floating|public|external|elastic|pub|eip|wan)(ip|address|addr)?$/],
      fits: isAddress("public"),
      byValue: true,
      absentIsNone: true,
    },
    private_ip: {
      names: [/^(private|fixed|internal|priv|lan)(ip|address|addr)?$/],
      fits: isAddress("private"),
      byValue: true,
      absentIsNone: true,
    },
  },
  volume: {
    id: { names: idNames, fits: isId, unique: true, own: true },
    name: { names: nameNames, own: true },
    size: {
      names: [
        new RegExp(`^${noun}?(size|capacity)(in)?(gb|gib|g|gigabytes|value|amount)?$`),
        /^(gigabytes|gb|gib|sizegigabytes|total(gb|size)|provisionedsize)$/,
        new RegExp(`^${noun}?(size|capacity)?(in)?(mb|mib|megabytes|bytes|kb|kib)$`),
      ],
      fits: (text) => /^\d+(\.\d+)?\s*([KMGT]i?B?)?$/i.test(text),
      everywhere: true,
    },
    status: { names: stateNames, fits: isShort },
    attached_to: {
      names: [
        new RegExp(
          `^(attached(to|vm|server|instance)?|vm|virtualmachine|server|instance|machine|droplet|host|hostvm|usedby|users?|attachments?)${idWord}?s?\\d*$`,
        ),
      ],
      refersTo: ({ vms }) => vms,
      named: ({ vmNames }) => vmNames,
      absentIsNone: true,
    },
  },
  group: {
    id: { names: idNames, fits: isId, unique: true, own: true },
    name: { names: nameNames, everywhere: true, own: true },
    description: { names: [new RegExp(`^${noun}?description$`), /^(note|notes|about|comment|summary|desc|remark)$/] },
  },
  flavor: { id: { names: catalogueIds, fits: isId, unique: true, own: true }, name: { names: nameNames, own: true } },
  image: {
    id: { names: catalogueIds, fits: isId, unique: true, own: true },
    name: { names: nameNames, own: true },
    status: { names: stateNames, fits: isShort },
  },
  region: { id: { names: catalogueIds, fits: isId, unique: true, own: true }, name: { names: nameNames, own: true } },
};

export function learnRecord(
  kind: ReadKind,
  dialect: Dialect,
  records: readonly unknown[],
  evidence: KnownThings,
): RecordFinding {
  const looked = records.slice(0, mostLooked);
  const leaves = looked.map((record) => (isObject(record) ? leavesOf(record) : []));
  const keys = [...new Set(looked.flatMap((record) => (isObject(record) ? Object.keys(record) : [])))].sort();
  // The fields that `rules` has for a kind are those whose places are a list of pointers.
  const said = dialect.records[kind] as Readonly<Record<string, Pointers>>;
  const fields: FieldFinding[] = [];
  for (const [field, rule] of Object.entries(rules[kind])) {
    // What identifies a record refers to nothing else, though kinds may share their ids.
    const own = fields.flatMap(({ field: other, place }) =>
      place !== undefined && (other === "id" || other === "name" || other === "size") ? [place] : [],
    );
    const free =
      rule.refersTo === undefined
        ? leaves
        : leaves.map((all) => all.filter(({ place }) => !own.some((one) => sameValueAt(one, place))));
    const known = whereItIsSaid(said[field] ?? [], looked, rule, evidence);
    const learnt = known ?? learnPlace(rule, free, evidence) ?? learnName(rule, free, evidence);
    const unit = field === "size" ? unitOf(learnt?.place, looked, fields, evidence) : undefined;
    if (learnt === undefined) fields.push({ field });
    else if (unit !== undefined) fields.push({ field, ...learnt, place: unit, learnt: true });
    else fields.push(known === undefined ? { field, ...learnt, learnt: true } : { field, ...learnt });
  }
  if (kind === "group") fields.push(...rulesOfGroup(said["rules"] ?? [], looked));
  if (kind === "vm") fields.push(...volumesOfVm(dialect, looked, evidence));
  return { record: kind, looked: looked.length, keys, fields };
}

/** A place that the dialect names, where it holds in every record that shows anything there. */
function whereItIsSaid(
  places: Pointers,
  records: readonly unknown[],
  rule: Rule,
  evidence: KnownThings,
): { readonly place: RecordPlace; readonly shows?: string } | undefined {
  const wanted = rule.refersTo?.(evidence);
  for (const place of places) {
    const path = compilePointers([place]);
    const isEmpty = records.every((record) => {
      const found = path[0] === undefined ? undefined : findAtPath(record, path[0]);
      return found === undefined || isObject(found) || Array.isArray(found);
    });
    if (isEmpty) continue;
    const texts = records.map((record) => findText(record, path) ?? findWord(record, path));
    const shown = texts.filter((text): text is string => typeof text === "string" && text !== "");
    if (rule.unique === true && new Set(shown).size !== records.length) continue;
    if (rule.everywhere === true && shown.length < records.length) continue;
    if (wanted !== undefined && shown.some((text) => !wanted.has(text))) continue;
    if (rule.refersTo !== undefined && shown.some((text) => saysNone.test(text))) continue;
    if (rule.fits !== undefined && shown.some((text) => rule.fits?.(text, evidence) === false)) continue;
    // Only some records have the place: the dialect has to say what its absence means.
    const isAbsent = records.some((record) => path[0] !== undefined && findAtPath(record, path[0]) === undefined);
    if (rule.absentIsNone === true && isAbsent && shown.length > 0) return undefined;
    return { place, shows: shown[0] };
  }
  return undefined;
}

const sameValueAt = (one: RecordPlace, other: RecordPlace): boolean =>
  samePlace(one, other) || (typeof one === "object" && one.in === undefined && one.value === other);

/** The same for a place that refers by a name. */
function learnName(
  rule: Rule,
  leaves: readonly (readonly Leaf[])[],
  evidence: KnownThings,
): ReturnType<typeof learnPlace> {
  const names = rule.named?.(evidence);
  if (names === undefined || names.size === 0) return undefined;
  const { named: _, ...others } = rule;
  const learnt = learnPlace({ ...others, refersTo: () => names }, leaves, evidence);
  if (learnt === undefined) return undefined;
  const { place } = learnt;
  return { ...learnt, place: { ...(typeof place === "string" ? { value: place } : place), by: "name" } };
}

/** The place of a size with its unit, told by volumes whose sizes are known, or by numbers that can only be bytes. */
function unitOf(
  place: RecordPlace | undefined,
  records: readonly unknown[],
  fields: readonly FieldFinding[],
  { made }: KnownThings,
): RecordPlace | undefined {
  const id = fields.find(({ field }) => field === "id")?.place;
  if (place === undefined || id === undefined) return undefined;
  if (typeof place === "object" && place.unit !== undefined) return undefined;
  const [sizeAt, idAt] = [compilePointers([place]), compilePointers([id])];
  const shown = records.flatMap((record) => {
    const size = Number(findText(record, sizeAt) ?? Number.NaN);
    return Number.isFinite(size) && size > 0 ? [{ size, id: findText(record, idAt) ?? "" }] : [];
  });
  const ratios = shown.flatMap(({ size, id: of }) => {
    const gb = made?.sizes.get(of);
    return gb === undefined ? [] : [size / gb];
  });
  const ratio = ratios[0] ?? (shown.length > 0 && shown.every(({ size }) => size >= 10 ** 7) ? 1024 ** 3 : 1);
  const unit = ({ [10 ** 9]: "B", 1024: "MB", [1024 ** 2]: "KB", [1024 ** 3]: "B" } as const)[ratio];
  return unit === undefined ? undefined : { ...(typeof place === "string" ? { value: place } : place), unit };
}

interface Candidate {
  readonly place: RecordPlace;
  readonly score: number;
  readonly values: readonly (string | undefined)[];
}

function learnPlace(
  rule: Rule,
  leaves: readonly (readonly Leaf[])[],
  evidence: KnownThings,
): { readonly place: RecordPlace; readonly shows?: string } | undefined {
  const wanted = rule.refersTo?.(evidence);
  const byPlace = new Map<string, { place: RecordPlace; names: readonly string[] }>();
  for (const leaf of leaves.flat()) {
    const key = JSON.stringify(leaf.place);
    if (!byPlace.has(key)) byPlace.set(key, leaf);
  }
  // One line for each clause of the rule that a place has to keep.
  const candidates = [...byPlace.values()].flatMap(({ place, names }): Candidate[] => {
    if (rule.own === true && typeof place === "string" && !isOwn(place)) return [];
    const found = leaves.map((all) => all.find((leaf) => samePlace(leaf.place, place)));
    const values = found.map((leaf) =>
      leaf?.value === null ? "" : leaf === undefined ? undefined : asText(leaf.value),
    );
    const shown = values.filter((value): value is string => value !== undefined && value !== "");
    if (shown.length === 0) return [];
    if (rule.unique === true && new Set(shown).size !== leaves.length) return [];
    if (rule.everywhere === true && shown.length < leaves.length) return [];
    const named = rule.names.findIndex((name) => names.some((one) => name.test(one)));
    const byName = named < 0 ? 0 : 100 - 10 * named - 5 * names.findIndex((one) => rule.names[named]?.test(one));
    const simple = (typeof place === "string" ? 5 - place.split("/").length : 0) + (shown.length / leaves.length) * 10;
    if (wanted !== undefined) return referring(place, wanted, values, shown, 200 + byName + simple);
    if (rule.fits !== undefined && shown.some((text) => rule.fits?.(text, evidence) === false)) return [];
    return byName === 0 && rule.byValue !== true ? [] : [{ place, score: byName + simple, values }];
  });
  const best = candidates.sort((one, other) => other.score - one.score)[0];
  if (best === undefined) return undefined;
  const shows = best.values.find((value) => value !== undefined && value !== "");
  const isAbsent = best.values.some((value) => value === undefined);
  const none = rule.refersTo !== undefined && shows !== undefined && saysNone.test(shows) ? shows : undefined;
  const told = none === undefined ? best.place : withNone(best.place, none);
  const place = rule.absentIsNone === true && isAbsent ? absentIsNone(told) : told;
  return { place: withUnit(place, shows), shows };
}

/** A place whose values are ids of the wanted things, all written alike. */
function referring(
  place: RecordPlace,
  wanted: ReadonlySet<string>,
  values: Candidate["values"],
  shown: readonly string[],
  score: number,
): Candidate[] {
  const references = shown.filter((text) => !saysNone.test(text)).map((text) => knownReferenceIn(text, wanted));
  if (references.length === 0 || references.some((one) => one === undefined)) return [];
  const cuts = new Set(references.map((one) => one?.cut));
  if (cuts.size !== 1) return [];
  const told = values.map((value) => (value !== undefined && saysNone.test(value) ? undefined : value));
  const cut = [...cuts][0];
  const sign = shown.find((text) => saysNone.test(text));
  const written = cut === undefined && sign !== undefined ? withNone(place, sign) : withCut(place, cut);
  return [{ place: written, score, values: told }];
}

/** Texts that mean that there is no reference. */
const saysNone = /^(-|none|null|nil|n\/a|0)?$/i;

/** At the top of the record, or within what only holds its fields. */
const isOwn = (place: string): boolean =>
  place
    .split("/")
    .slice(1, -1)
    .every((key) =>
      /^(attributes|metadata|meta|properties|props|spec|info|details|data|summary|vm|server|instance|volume|disk|group|securitygroup|flavor|image|region)$/.test(
        lettersAndDigits(key),
      ),
    );

/** The unit of a size, by the words of its place. */
function withUnit(place: RecordPlace, shows: string | undefined): RecordPlace {
  const at = typeof place === "string" ? place : (place.value ?? "");
  if (shows === undefined || !/^\d+(\.\d+)?$/.test(shows)) return place;
  const key = lettersAndDigits(at.split("/").at(-1) ?? "");
  const unit =
    /bytes$/.test(key) && !/(giga|mega)bytes$/.test(key)
      ? "B"
      : /(mb|mib|megabytes)$/.test(key)
        ? "MB"
        : /(kb|kib)$/.test(key)
          ? "KB"
          : undefined;
  return unit === undefined ? place : { ...(typeof place === "string" ? { value: place } : place), unit };
}

function rulesOfGroup(places: Pointers, records: readonly unknown[]): FieldFinding[] {
  for (const place of places) {
    const [path] = compilePointers([place]);
    if (path !== undefined && records.some((record) => Array.isArray(findAtPath(record, path))))
      return [{ field: "rules", place }];
  }
  const sides = rulesUnderTwoKeys(records);
  const [side, otherSide] = sides;
  if (side !== undefined) return [{ field: "rules", place: side, learnt: true, ...onlyDefined({ also: otherSide }) }];
  for (const record of records)
    if (isObject(record))
      for (const [key, value] of Object.entries(record))
        if (Array.isArray(value) && value.some((item) => isObject(item) && "direction" in item))
          return [{ field: "rules", place: `/${key}`, learnt: true }];
  return [{ field: "rules" }];
}

/** Rules under a key for each direction. They are read as the contract has them, so each has to show its id. */
function rulesUnderTwoKeys(records: readonly unknown[]): readonly RecordPlace[] {
  const isRule = (item: unknown): boolean => isObject(item) && "id" in item && "protocol" in item;
  return (["ingress", "egress"] as const).flatMap((direction): RecordPlace[] => {
    const name = direction === "ingress" ? /^(ingress|inbound)(rules?)?$/ : /^(egress|outbound)(rules?)?$/;
    const keys = new Set(records.flatMap((record) => Object.keys(fieldsIn(record))));
    const key = [...keys].find((one) => name.test(lettersAndDigits(one)));
    const lists = key === undefined ? [] : records.map((record) => fieldsIn(record)[key]);
    const isOfRules = lists.length > 0 && lists.every((list) => Array.isArray(list) && list.every(isRule));
    return key === undefined || !isOfRules ? [] : [{ value: `/${key}`, direction }];
  });
}

/** The list of a VM's disks, and how one of them is read. */
function volumesOfVm(
  dialect: Dialect,
  records: readonly unknown[],
  { volumes, volumeNames, flavors, images, made }: KnownThings,
): FieldFinding[] {
  const { volumes: places, volume_entry: said } = dialect.records.vm;
  const lists: { place: RecordPlace; entries: readonly unknown[]; isSaid: boolean }[] = [];
  for (const place of places) {
    const [path] = compilePointers([place]);
    const entries = records.flatMap((record) => {
      const found = path === undefined ? undefined : findAtPath(record, path);
      return Array.isArray(found) ? found : [];
    });
    if (entries.length > 0) lists.push({ place, entries, isSaid: true });
  }
  const visit = (value: unknown, at: string, depth: number): void => {
    if (!isObject(value) || depth > 3) return;
    for (const [key, member] of Object.entries(value)) {
      const here = `${at}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
      const isCalled = /volume|disk|drive|blockdevice|storage/.test(lettersAndDigits(key));
      const add = (place: RecordPlace, entries: readonly unknown[]): void => {
        const known = lists.find((list) => samePlace(list.place, place));
        if (known === undefined) lists.push({ place, entries, isSaid: false });
        else if (!known.isSaid) lists[lists.indexOf(known)] = { ...known, entries: [...known.entries, ...entries] };
      };
      if (Array.isArray(member) && member.length > 0 && (isCalled || member.some((item) => namesOne(item, volumes))))
        add(here, member);
      else if (isObject(member) && isCalled && Object.keys(member).length > 0 && Object.values(member).every(isObject))
        if (Object.keys(member).some((id) => volumes.has(id)) || volumes.size === 0)
          add(
            { in: here, keys: "id" },
            Object.entries(member).map(([id, entry]) => ({ ...fieldsIn(entry), id })),
          );
        else if (Object.values(member).some((entry) => namesOne(entry, volumes)))
          add({ in: `${here}/*` }, Object.values(member));
        else visit(member, here, depth + 1);
      else visit(member, here, depth + 1);
    }
  };
  for (const record of records) visit(record, "", 0);
  const proven = lists.find(({ entries }) => entries.some((entry) => namesOne(entry, volumes)));
  // No dialect can say that volumes stand there by their names: the volumes themselves tell what they hang on.
  const areNames = (list: { readonly entries: readonly unknown[] }): boolean =>
    list.entries.some((entry) => volumeNames?.has(asText(entry) ?? "") === true);
  const list = proven ?? lists.find((one) => !areNames(one));
  if (list === undefined)
    return [lists.length > 0 ? { field: "volumes", nowhere: true, learnt: true } : { field: "volumes" }];
  const entryLeaves = list.entries.map((entry): readonly Leaf[] =>
    isObject(entry) ? leavesOf(entry) : [{ place: "", names: ["id"], value: asText(entry) ?? null }],
  );
  const shown = { field: "volumes", place: list.place, learnt: !list.isSaid ? (true as const) : undefined };
  const learntId = learnPlace(
    {
      names: [...idNames, /^(volume|disk|drive)(id|ref)?$/],
      fits: isId,
      refersTo: proven === undefined ? undefined : () => volumes,
    },
    // The list may leave out root disks: one entry that is proven to be a volume tells the place for all of them.
    proven === undefined ? entryLeaves : entryLeaves.filter((_, index) => namesOne(list.entries[index], volumes)),
    { volumes, flavors, images },
  );
  const id = proven === undefined && learntId !== undefined ? withoutLink(learntId) : learntId;
  const idAt = id === undefined ? compilePointers(said.id) : compilePointers([id.place]);
  const root =
    (made === undefined ? undefined : rootMade(list.entries, entryLeaves, idAt, made)) ?? rootOf(entryLeaves);
  // What was given and finds something in every entry is kept; and what a root disk is, a person knows best.
  const saidId = list.entries.every((entry) => (findText(entry, compilePointers(said.id)) ?? "") !== "")
    ? givenPlace(said.id, builtInDialect.records.vm.volume_entry.id)
    : undefined;
  const saidRoot = givenPlace(said.root, builtInDialect.records.vm.volume_entry.root);
  return [shown, entryField("id", id, saidId), entryField("root", root, saidRoot)];
}

/** Where no list of volumes tells their ids, a link that names a volume holds it at its end. */
function withoutLink(learnt: { readonly place: RecordPlace; readonly shows?: string }): typeof learnt {
  const [, before] =
    /^(?:[a-z]+:\/\/)?\S*?(\/?[^/\s]*(?:volume|disk|drive|storage)[^/\s]*\/)[^/\s]+$/i.exec(learnt.shows ?? "") ?? [];
  return before === undefined ? learnt : { ...learnt, place: withCut(learnt.place, `*${before}{value}`) };
}

/** The first place of those that were given, where they are not those that are built in. */
const givenPlace = (given: Pointers, builtIn: Pointers): RecordPlace | undefined =>
  deepEqual(given, builtIn) ? undefined : given[0];

function entryField(
  name: "id" | "root",
  learnt: { readonly place: RecordPlace; readonly shows?: string } | undefined,
  given: RecordPlace | undefined,
): FieldFinding {
  const field = `volume_entry.${name}`;
  if (given !== undefined) return { field, place: given };
  return learnt === undefined ? { field } : { field, ...learnt, learnt: true };
}

const namesOne = (entry: unknown, known: ReadonlySet<string>): boolean =>
  known.size > 0 &&
  (isObject(entry) ? leavesOf(entry) : [{ value: asText(entry) ?? null }]).some(
    ({ value }) => typeof value === "string" && knownReferenceIn(value, known) !== undefined,
  );

/** What tells the root disk of a VM that a trial has made from the data disk that it asked for. */
function rootMade(
  entries: readonly unknown[],
  leaves: readonly (readonly Leaf[])[],
  idAt: ReturnType<typeof compilePointers>,
  made: Made,
): { readonly place: RecordPlace; readonly shows: string } | undefined {
  const of = entries.map((entry) => {
    const id = asText(entry) ?? findText(entry, idAt) ?? "";
    return made.root.has(id) ? "root" : made.data.has(id) ? "data" : undefined;
  });
  if (!of.includes("data")) return undefined;
  // Data disks are listed alone.
  if (!of.includes("root") && of.every((one) => one === "data"))
    return { place: { value: "", is: "-" }, shows: "data disks alone" };
  const valuesAt = (place: RecordPlace, which: "root" | "data"): ReadonlySet<string> =>
    new Set(
      leaves.flatMap((all, index) => {
        const leaf = of[index] === which ? all.find((one) => samePlace(one.place, place)) : undefined;
        return leaf === undefined ? [] : [String(leaf.value)];
      }),
    );
  const told = leaves.flat().flatMap(({ place, names: [name = ""], value }) => {
    if (typeof place !== "string" || /(id|uuid|name|size|source|href|self|link|gb)$/.test(name)) return [];
    const [root, data] = [valuesAt(place, "root"), valuesAt(place, "data")];
    const [word] = root;
    if (root.size !== 1 || word === undefined || data.has(word)) return [];
    const isTruth = typeof value === "boolean" && word === "true";
    return [
      {
        place: isTruth ? place : { value: place, is: word },
        shows: word,
        score: isTruth ? 2 : /boot|root|type|role|kind|purpose/.test(name) ? 1 : 0,
      },
    ];
  });
  const [best] = told.sort((one, other) => other.score - one.score);
  return best === undefined ? undefined : { place: best.place, shows: best.shows };
}

/** The yes of a word for yes or no, as it is written there. */
function affirmed(word: string): string {
  const yes = /^(yes|no)$/i.test(word) ? "yes" : "true";
  if (word === word.toUpperCase()) return yes.toUpperCase();
  return word[0] === word[0]?.toUpperCase() ? yes[0]?.toUpperCase() + yes.slice(1) : yes;
}

/** What tells the root disk from the others: a flag, the first place in the order of booting, a device, a word. */
function rootOf(
  entries: readonly (readonly Leaf[])[],
): { readonly place: RecordPlace; readonly shows: string } | undefined {
  for (const leaf of entries.flat()) {
    if (typeof leaf.place !== "string") continue;
    const [name = ""] = leaf.names;
    const shows = String(leaf.value);
    if (typeof leaf.value === "boolean" && /^(is)?(root|boot|bootable|system|primary)(disk|volume)?$/.test(name))
      return { place: leaf.place, shows };
    const word = String(leaf.value).toLowerCase();
    if (/^[01]$/.test(word) && /^(is)?(root|boot|bootable|system|primary)(disk|volume)?$/.test(name))
      return { place: { value: leaf.place, is: 1 }, shows };
    if (/^(yes|no|true|false)$/.test(word) && /^(is)?(root|boot|bootable|system|primary)(disk|volume)?$/.test(name))
      return { place: { value: leaf.place, is: affirmed(shows) }, shows };
    if (typeof leaf.value === "number" && /^boot(index|order)$/.test(name))
      return { place: { value: leaf.place, is: 0 }, shows };
    if (typeof leaf.value === "string" && /^device(name)?$/.test(name) && /(vd|sd|xvd|hd)a\d?$/.test(leaf.value))
      return { place: { value: leaf.place, is: leaf.value }, shows };
    if (typeof leaf.value === "string" && /^(root|system|boot|os)(disk)?$/.test(lettersAndDigits(leaf.value)))
      return { place: { value: leaf.place, is: leaf.value }, shows };
  }
  return undefined;
}

/**
 * Learns where the fields of a record are: by the built-in places first, then by what can be cross-checked (a VM's
 * flavor must be in the list of flavors, an attachment must be a VM's id), and by the words of a key last. What cannot
 * be told is left open and never guessed at.
 */
import { kindRows } from "../../core/model/kinds";
import { deepEqual } from "../../core/text/deep-equal";
import { saysNone } from "../../core/text/id-problem";
import { fieldsIn, isObject, onlyDefined } from "../../core/text/objects";
import { builtInDialect } from "../built-in";
import type { Dialect, Pointers, RecordPlace } from "../dialect";
import { findAtPath } from "../places";
import { compilePointers, findText, findWord } from "../pointers";
import { isContractRule } from "../rule-record";
import { volumesOfVm } from "./disks";
import {
  cutOfLinks,
  type FieldFinding,
  fitsAll,
  idNames,
  idWord,
  isId,
  type KnownThings,
  keepsCounts,
  type LearntPlace,
  learnPlace,
  noun,
  type PlaceRule,
} from "./place";
import { inUnit, isInNoUnit, type Leaves, sizeSent } from "./sizes";
import { addressKind, knownReferenceIn, leavesOf, lettersAndDigits, saidMore, samePlace, textOfPlace } from "./values";
import { type Learnt, nouns } from "./where";

export interface RecordFinding {
  readonly record: Learnt;
  readonly looked: number;
  readonly keys: readonly string[];
  readonly fields: readonly FieldFinding[];
}

const mostLooked = 200;

/** A flavor, an image or a region may have nothing but its name. */
const catalogueIds = [...idNames, new RegExp(`^${noun}$`), /^name$/, new RegExp(`^${noun}name$`)];
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
/** Where nothing is called an id, what the record is of may be: { vm: vm-1001, name: … }. */
const idNamesOf = (kind: Learnt): readonly RegExp[] => [
  ...idNames,
  new RegExp(`^(${nouns[kind].map(lettersAndDigits).join("|")})$`),
];
/** What a record of a kind may have its own fields in. The image within a VM's record is another thing. */
const called = {
  vm: /^(vm|server|instance)$/,
  volume: /^(volume|disk)$/,
  group: /^(group|securitygroup)$/,
  flavor: /^flavor$/,
  image: /^image$/,
  region: /^region$/,
} as const satisfies Readonly<Record<Learnt, RegExp>>;
const idRule = (kind: Learnt, names: readonly RegExp[]): PlaceRule => ({
  ...{ names, fits: isId, unique: true, own: called[kind], links: true },
});
const nameRule = (kind: Learnt): PlaceRule => ({ names: nameNames, own: called[kind] });
const stateRule: PlaceRule = { names: stateNames, plain: true, fits: (text) => text !== "" && text.length <= 60 };
/** What a VM is called by what hangs on it. */
const hostNouns =
  "attached(to|vm|server|instance)?|vm|virtualmachine|server|instance|machine|droplet|host|hostvm|usedby|users?|attachments?";
/** An address of something beside the VM, and what is only written as one. */
const otherAddress =
  /(dns|nameserver|resolver|gateway|gw|router|ntp|dhcp|mask|broadcast|host|hypervisor|proxy|version)(servers?)?(ip|address|addr)?s?\d*$/;
const isAddressOfKind = (wanted: "private" | "public") => (text: string) => addressKind(text) === wanted;

/** A value that names no known id may be right where no ids are known. */
const someOf = (known: ReadonlySet<string>): ReadonlySet<string> | undefined => (known.size === 0 ? undefined : known);
const rules: Readonly<Record<Learnt, Readonly<Record<string, PlaceRule>>>> = {
  vm: {
    id: idRule("vm", idNamesOf("vm")),
    name: { ...nameRule("vm"), everywhere: true },
    status: { ...stateRule, everywhere: true },
    flavor: {
      names: [new RegExp(`^(flavor|plan|instancetype|machinetype|size|product)${idWord}?$`)],
      besides: /(disk|volume|storage|memory|image|template)\w*size$/,
      refersTo: ({ flavors }) => someOf(flavors),
      outlives: true,
    },
    image: {
      names: [new RegExp(`^(image|template|os|sourceimage)${idWord}?$`)],
      refersTo: ({ images }) => someOf(images),
      outlives: true,
    },
    owner: {
      names: [
        /^owner(email|mail|name|id|dataid)?$/,
        /^((contact|user)?e?mail|mailbox|contact|account|accountname|ownedby|createdby|user|username|creator|labelsowner)$/,
      ],
      fits: (text) => /\S+@\S+/.test(text),
    },
    floating_ip: {
      names: [/^(floating|public|external|elastic|pub|eip|wan)(ip|address|addr)?$/],
      besides: otherAddress,
      fits: isAddressOfKind("public"),
      byValue: true,
      absentIsNone: true,
    },
    private_ip: {
      names: [/^(private|fixed|internal|priv|lan)(ip|address|addr)?$/],
      besides: otherAddress,
      fits: isAddressOfKind("private"),
      byValue: true,
      absentIsNone: true,
    },
  },
  volume: {
    id: idRule("volume", idNamesOf("volume")),
    name: nameRule("volume"),
    size: {
      names: [
        new RegExp(`^${noun}?(size|capacity|storage)(in)?(gbs?|gibs?|g|gigabytes|value|amount)?$`),
        /^(gigabytes|gb|gib|sizegigabytes|total(gb|size)|provisionedsize)$/,
        new RegExp(`^${noun}?(size|capacity)?(in)?(mbs?|mibs?|megabytes|bytes|kb|kib)$`),
      ],
      fits: (text) => /^\d+(\.\d+)?\s*([KMGT]i?B?)?$/i.test(text),
      everywhere: true,
    },
    status: stateRule,
    attached_to: {
      names: [
        new RegExp(`^(${hostNouns})${idWord}?s?\\d*$`),
        new RegExp(`^(${hostNouns})(host)?(name|label|title)s?\\d*$`),
      ],
      besides: /created|(?<!re)source|origin|last(?!ic)|prev|former|parent|backup|snapshot/,
      refersTo: ({ vms }) => vms,
      named: ({ vmNames }) => vmNames,
      absentIsNone: true,
    },
  },
  group: {
    id: idRule("group", idNamesOf("group")),
    name: { ...nameRule("group"), everywhere: true },
    description: { names: [new RegExp(`^${noun}?desc(ription)?$`), /^(note|notes|about|comment|summary|remark)$/] },
  },
  flavor: { id: idRule("flavor", catalogueIds), name: nameRule("flavor") },
  image: { id: idRule("image", catalogueIds), name: nameRule("image"), status: stateRule },
  region: { id: idRule("region", catalogueIds), name: nameRule("region") },
};

export function learnRecord(
  kind: Learnt,
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
  for (const [field, rule] of Object.entries(rules[kind]))
    fields.push(learnField(field, rule, { kind, said, looked, leaves, evidence, fields }));
  const [id, name] = [placeLearnt("id", fields), fields.find(({ field }) => field === "name")];
  // A flavor, an image or a region may have nothing but its name.
  if (!(kind in kindRows) && id === undefined && name?.place !== undefined)
    fields.splice(0, 1, { ...name, field: "id", learnt: true });
  const listsWithin: Readonly<Partial<Record<Learnt, () => readonly FieldFinding[]>>> = {
    vm: () => volumesOfVm(dialect, looked, evidence),
    group: () => rulesOfGroup(said["rules"] ?? [], looked),
  };
  return { record: kind, looked: looked.length, keys, fields: [...fields, ...(listsWithin[kind]?.() ?? [])] };
}

/** What one field of a record is learnt from. */
interface FieldEvidence {
  readonly kind: Learnt;
  /** Where the dialect looks. */
  readonly said: Readonly<Record<string, Pointers>>;
  readonly looked: readonly unknown[];
  readonly leaves: Leaves;
  readonly evidence: KnownThings;
  /** The fields that were learnt before this one. */
  readonly fields: readonly FieldFinding[];
}

function learnField(field: string, rule: PlaceRule, shown: FieldEvidence): FieldFinding {
  const { said, looked, leaves, evidence, fields } = shown;
  const id = placeLearnt("id", fields);
  const { places, free, owned } = placesFor(field, rule, shown);
  const there = whereItIsSaid(places, looked, rule, evidence, owned);
  const isKnown = there !== undefined && !(field === "id" && isNamedBetter(there.place, rule, free, shown));
  const learnt = isKnown ? there : learnAnew(field, rule, free, owned, shown);
  const nowhere: FieldFinding = { field, nowhere: true, learnt: true };
  if (learnt === undefined) return places.length === said[field]?.length ? { field } : nowhere;
  if (field === "size" && isInNoUnit(learnt.place, looked, id, evidence)) return nowhere;
  const better =
    field === "name"
      ? otherName(learnt, id, rule, leaves, evidence)
      : field === "size"
        ? inUnit(learnt, looked, id, evidence)
        : undefined;
  const found = { field, ...(better ?? learnt) };
  return isKnown && better === undefined ? found : { ...found, learnt: true };
}

/**
 * Where a field may be: the places of the dialect, and the leaves at which nothing else was found. `owned`: those that
 * show what the record is known to be called.
 */
function placesFor(field: string, rule: PlaceRule, shown: FieldEvidence) {
  const { kind, said, leaves, evidence, fields } = shown;
  const id = placeLearnt("id", fields);
  // A description stands beside the name.
  const taken = field === "description" ? placeLearnt("name", fields) : undefined;
  const isOver = field === "attached_to" ? placesOfFree(rule, id, shown) : () => false;
  // A file may name a flavor or an image by its id: that tells nothing of its name.
  const apart = field === "name" && !(kind in kindRows) ? withoutPlace(leaves, id) : leaves;
  return {
    places: (said[field] ?? []).filter(
      (place) => (taken === undefined || !sameValueAt(taken, place)) && !isOver(place),
    ),
    free:
      rule.refersTo === undefined
        ? withoutPlace(leaves, taken)
        : withoutOwn(leaves, fields).map((all) => all.filter(({ place }) => !isOver(place))),
    owned: field === "id" || field === "name" ? ownPlaces(apart, evidence.own?.[field]) : undefined,
  };
}

/** Where the record of a volume that hangs on nothing shows a VM all the same: one on which it hung before. */
function placesOfFree(
  rule: PlaceRule,
  id: RecordPlace | undefined,
  { looked, evidence }: FieldEvidence,
): (place: RecordPlace) => boolean {
  const idAt = compilePointers(id === undefined ? [] : [id]);
  const free = looked.filter((record) => evidence.made?.free?.has(findText(record, idAt) ?? "") === true);
  const vms = new Set([...(rule.refersTo?.(evidence) ?? []), ...(rule.named?.(evidence) ?? [])]);
  return (place) =>
    free.some((record) => {
      const text = findText(record, compilePointers([place]));
      return text !== undefined && text !== null && knownReferenceIn(text, vms) !== undefined;
    });
}

/** Where a field is that is not where the dialect looks; what proves most comes first. */
function learnAnew(
  field: string,
  rule: PlaceRule,
  free: Leaves,
  owned: Leaves | undefined,
  { looked, leaves, evidence, fields }: FieldEvidence,
): LearntPlace | undefined {
  const bySent = () => textSent(free, evidence.made?.sent?.[field]);
  // Without a list of them, a flavor or an image that was sent is the best proof.
  const isProvenBySent = rule.outlives === true && rule.refersTo?.(evidence) === undefined;
  return (
    (owned === undefined ? undefined : learnPlace({ ...rule, byValue: true, own: undefined }, owned, evidence)) ??
    (isProvenBySent ? bySent() : undefined) ??
    learnPlace(rule, free, evidence) ??
    learnName(rule, free, evidence) ??
    (field === "size" ? sizeSent(leaves, looked, placeLearnt("id", fields), evidence) : bySent())
  );
}

const placeLearnt = (field: string, fields: readonly FieldFinding[]): RecordPlace | undefined =>
  fields.find((one) => one.field === field)?.place;

/**
 * Built in, the name of a region stands for its id as well: what is called an id says more, unless others refer to the
 * name.
 */
function isNamedBetter(
  place: RecordPlace,
  rule: PlaceRule,
  free: Leaves,
  { kind, said, evidence }: FieldEvidence,
): boolean {
  const isByName = (said["name"] ?? []).some((one) => one === place);
  if (!isByName || !deepEqual(said["id"], builtInDialect.records[kind].id)) return false;
  const better = learnPlace({ ...rule, names: [...idNames, /^name$/] }, free, evidence);
  return better !== undefined && better.place !== place;
}

/** What identifies a record refers to nothing else, though kinds may share their ids. */
function withoutOwn(leaves: Leaves, fields: readonly FieldFinding[]): Leaves {
  const own = ["id", "name", "size"].flatMap((field) => placeLearnt(field, fields) ?? []);
  return own.reduce(withoutPlace, leaves);
}

/** The leaves at places where one of the known ids stands; `undefined`: there is none. */
function ownPlaces(leaves: Leaves, own: ReadonlySet<string> = new Set()): Leaves | undefined {
  const known = leaves.flat().filter(({ value }) => knownReferenceIn(String(value), own) !== undefined);
  if (known.length === 0) return undefined;
  const places = new Set(known.map(({ place }) => textOfPlace(place)));
  return leaves.map((all) => all.filter(({ place }) => places.has(textOfPlace(place))));
}

/** A place that the dialect names, where it holds in every record that shows anything there. */
function whereItIsSaid(
  places: Pointers,
  records: readonly unknown[],
  rule: PlaceRule,
  evidence: KnownThings,
  owned?: Leaves,
): LearntPlace | undefined {
  const { alike } = evidence;
  const isOther = rule.unique === true && alike !== undefined && owned === undefined && isUniqueAt(alike, records);
  for (const place of places) {
    if (isOther && !samePlace(place, alike)) continue;
    if (owned?.flat().some((leaf) => sameValueAt(place, leaf.place)) === false) continue;
    const path = compilePointers([place]);
    const found = records.map((record) => (path[0] === undefined ? undefined : findAtPath(record, path[0])));
    if (found.every((one) => one === undefined || isObject(one) || Array.isArray(one))) continue;
    // That a list is empty says nothing of what stands in its items.
    if (typeof place === "string" && /\/\d+\//.test(place) && found.every((one) => one == null)) continue;
    const texts = records.map((record) => findText(record, path) ?? findWord(record, path));
    const shown = texts.filter((text): text is string => typeof text === "string" && text !== "");
    if (!keepsCounts(rule, shown, records.length) || !fitsAll(rule, shown, evidence)) continue;
    if (
      !refersToKnown(rule, shown, evidence) ||
      (typeof place === "string" && cutOfLinks(rule, shown, evidence) !== undefined)
    )
      continue;
    // Only some records have the place: the dialect has to say what its absence means.
    if (rule.absentIsNone === true && found.includes(undefined) && shown.length > 0) return undefined;
    return { place, shows: shown[0] };
  }
  return undefined;
}

/** Whether what is shown names nothing but the things that it has to refer to. */
function refersToKnown(rule: PlaceRule, shown: readonly string[], evidence: KnownThings): boolean {
  if (rule.refersTo === undefined) return true;
  const wanted = rule.refersTo(evidence);
  const strangers = wanted === undefined ? [] : shown.filter((text) => !wanted.has(text));
  return (
    strangers.length <= (rule.outlives === true ? shown.length - 1 : 0) && !shown.some((text) => saysNone.test(text))
  );
}

function isUniqueAt(place: RecordPlace, records: readonly unknown[]): boolean {
  const path = compilePointers([place]);
  return new Set(records.flatMap((record) => findText(record, path) ?? [])).size === records.length;
}

/** What is called a name and is the id: a place that is a name as well is the name. */
function otherName(
  { place }: LearntPlace,
  id: RecordPlace | undefined,
  rule: PlaceRule,
  leaves: Leaves,
  evidence: KnownThings,
): LearntPlace | undefined {
  if (id === undefined || !sameValueAt(id, place)) return undefined;
  return learnPlace(rule, withoutPlace(leaves, id), evidence);
}

const withoutPlace = (leaves: Leaves, place: RecordPlace | undefined): Leaves =>
  place === undefined ? leaves : leaves.map((all) => all.filter((leaf) => !sameValueAt(place, leaf.place)));

const sameValueAt = (one: RecordPlace, other: RecordPlace): boolean =>
  samePlace(one, other) || (typeof one === "object" && one.in === undefined && one.value === other);

/** Where entries of any list name the VM that something hangs on, by its id or by its name. */
export function attachedTo(leaves: Leaves, evidence: KnownThings): RecordPlace | undefined {
  const { absentIsNone: _, ...rule } = {
    ...rules.volume["attached_to"],
    names: rules.volume["attached_to"]?.names ?? [],
  };
  return (learnPlace(rule, leaves, evidence) ?? learnName(rule, leaves, evidence))?.place;
}

/** The same for a place that refers by a name. */
function learnName(rule: PlaceRule, leaves: Leaves, evidence: KnownThings): LearntPlace | undefined {
  const names = rule.named?.(evidence);
  if (names === undefined || names.size === 0) return undefined;
  const { named: _, ...others } = rule;
  const learnt = learnPlace({ ...others, refersTo: () => names, isSpoken: true }, leaves, evidence);
  return learnt && { ...learnt, place: saidMore(learnt.place, { by: "name" }) };
}

/** Where a record shows the very text that a trial has sent, whatever the key. */
function textSent(leaves: Leaves, sent: string | undefined): LearntPlace | undefined {
  const shown = sent === undefined ? [] : leaves.flat().filter(({ value }) => value === sent);
  const found = shown.find(({ place }) => typeof place === "string") ?? shown[0];
  return found === undefined ? undefined : { place: found.place, shows: sent };
}

function rulesOfGroup(places: Pointers, records: readonly unknown[]): FieldFinding[] {
  for (const place of places) {
    const [path] = compilePointers([place]);
    const lists = path === undefined ? [] : records.map((record) => findAtPath(record, path)).filter(Array.isArray);
    const isSaid = typeof place === "object" && place.direction !== undefined;
    // Rules in the service's own form, or without ids, are read one group at a time instead.
    if (lists.flat().some((item) => !isContractRule(isSaid ? { direction: "", ...item } : item)))
      return [{ field: "rules", nowhere: true, learnt: true }];
    if (lists.length > 0) return [{ field: "rules", place }];
  }
  const sides = rulesUnderTwoKeys(records);
  const [side, otherSide] = sides;
  if (side !== undefined) return [{ field: "rules", place: side, learnt: true, ...onlyDefined({ also: otherSide }) }];
  const [key] =
    records
      .flatMap((record) => Object.entries(fieldsIn(record)))
      .find(([, value]) => Array.isArray(value) && value.length > 0 && value.every(isContractRule)) ?? [];
  return [key === undefined ? { field: "rules" } : { field: "rules", place: `/${key}`, learnt: true }];
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

/**
 * What is to know of the resources of each kind, of one alone: what it names, what its record remembers beside its
 * fields, and how the record reads as a wish. What is decided between resources stands where it is decided.
 */

import { fieldsIn, isOneOf, keysOf } from "../text/objects";
import { type Check, flag, list, mapWith, number, object, oneOf, optional, shape, text, timeText } from "./checks";
import { type Attribute, type Computed, computedInRule, computedInTexts } from "./computed";
import type { DesiredByKind, DesiredResource, FlushPolicy, GuestCommand, HealthCheck, Reference } from "./desired";
import { effectFields } from "./effect";
import {
  type DesiredFields,
  type FieldRow,
  fieldsOf,
  groupFields,
  type RecordedFields,
  type Rows,
  vmFields,
  volumeFields,
} from "./fields";
import { dueReasons, duties } from "./guest";
import { definitionOf, eachKind, type Kind, kinds } from "./kinds";
import type { RecordedByKind, RecordedResource } from "./recorded";
import { hostOf } from "./relations";
import { groupNamed, namingGroup, type Rule } from "./rule";
import { asDesired } from "./usual";

/** The fields of a record beside those of its kind. */
type MemoryChecks<R> = Readonly<Record<Exclude<keyof R, "kind" | "address">, Check>>;

interface KindFacts<K extends Kind> {
  /** Other resources that a resource of the file names. */
  references(desired: DesiredByKind[K]): readonly Reference[];
  /** The same resource, with each of them named in another way. */
  renamed(desired: DesiredByKind[K], named: (reference: Reference) => Reference): DesiredByKind[K];
  /** Values that only the service knows, in texts of a resource of the file. */
  computed(desired: DesiredByKind[K]): readonly Computed[];
  /** Ids of other resources that a record names. */
  names(recorded: RecordedByKind[K]): readonly string[];
  /** Ids that nothing but the record remembers, beside its own, each as an orphan's key. */
  keeps(recorded: RecordedByKind[K]): readonly string[];
  memory(): MemoryChecks<Omit<RecordedByKind[K], keyof RecordedFields<(typeof fieldsOf)[K]>>>;
  /** The record as a wish that changes nothing. `ignoreChanges` has the fields that the record does not know. */
  wish(recorded: RecordedByKind[K]): DesiredByKind[K];
  /** The wish, behaving as the file says today, where the file still declares the resource. */
  behaving(wish: DesiredByKind[K], now: DesiredByKind[K] | undefined): DesiredByKind[K];
}

const computedInCheck = (check: HealthCheck): Computed[] =>
  check.kind === "tcp" ? [] : computedInTexts(check.kind === "http" ? [check.url] : check.argv);

const computedInFlush = (flush: FlushPolicy | undefined): readonly Computed[] =>
  flush?.via === "command" ? computedInTexts(flush.argv) : [];

const computedInCommands = (...commands: readonly (GuestCommand | undefined)[]): readonly Computed[] =>
  commands.flatMap((command) => (command === undefined ? [] : computedInTexts(command.argv)));

const groupsOfRules = (rules: readonly Rule[]): Reference[] => rules.flatMap((rule) => groupNamed(rule) ?? []);

const source = { file: "state", line: 1 };

/** A stand-in for a field that the record does not know, and that is therefore not compared. */
const blank = { text: "", remark: "", name: "", size: 0, flag: false };
const blankOf = ({ type, absent }: FieldRow): unknown =>
  absent !== "unset" && isOneOf(type, keysOf(blank)) ? blank[type] : undefined;

interface KnownFields<F extends Rows> {
  readonly fields: Pick<DesiredFields<F>, keyof DesiredFields<F> & keyof RecordedFields<F>>;
  /** Fields of the file that the record does not know. */
  readonly unknown: readonly string[];
}

function fieldsOfRecord<F extends Rows>(rows: F, record: object): KnownFields<F> {
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
const behavingAs = <L extends DesiredResource["lifecycle"]>(now: L, { lifecycle }: DesiredResource): L => ({
  ...now,
  ignoreChanges: [...new Set([...now.ignoreChanges, ...lifecycle.ignoreChanges])],
});

/** What the file wants to run, with the places where it says so. */
const commandsOf = ({ commandFile, commandFiles, afterReady, afterAttach }: DesiredByKind["vm"]) => ({
  commandFile,
  commandFiles,
  afterReady,
  afterAttach,
});

const namesOfFields = kinds.flatMap((kind) => Object.values<FieldRow>(fieldsOf[kind]).map(({ field }) => field));

const isUnseenList = optional(
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

const owes = optional(list(shape({ command: oneOf(...duties), reason: oneOf(...dueReasons), since: timeText })));

const vmFacts: KindFacts<"vm"> = {
  references: () => [],
  renamed: (desired) => desired,
  computed({ lifecycle: { verifyResize }, flush, afterReady, afterAttach }) {
    const check = verifyResize.check === undefined ? [] : computedInCheck(verifyResize.check);
    return [...check, ...computedInFlush(flush), ...computedInCommands(afterReady, afterAttach)];
  },
  names: () => [],
  keeps({ dataVolumeId, disks = [], deleting }) {
    // The other disks count only for a VM that is being deleted: while the VM exists, a look at it shows them again.
    const left = deleting === true ? disks.map(({ id }) => id) : [];
    return [...(dataVolumeId === undefined ? [] : [dataVolumeId]), ...left].map((id) => `volume:${id}`);
  },
  memory: () => ({
    id: optional(text),
    imageId: optional(text),
    preventDestroy: flag,
    onDelete: object,
    dataVolumeId: optional(text),
    disks: optional(
      list(shape({ id: text, name: optional(text), sizeGb: optional(number), maybeRoot: optional(flag) })),
    ),
    privateIp: optional(text),
    floatingIp: optional(text),
    createdAt: optional(text),
    building: optional(flag),
    resizing: optional(shape({ from: optional(text), to: text })),
    dataVolumeDetached: optional(flag),
    dataVolumeMoving: optional((value) => value === "attaching" || value === "detaching"),
    deleting: optional(flag),
    stoppedForFlush: optional(flag),
    owes,
    unseen: isUnseenList,
  }),
  wish(record) {
    const { fields, unknown } = fieldsOfRecord(vmFields, record);
    const { snapshot, ...onDelete } = record.onDelete;
    return {
      kind: "vm",
      address: record.address,
      ...fields,
      lifecycle: {
        preventDestroy: record.preventDestroy,
        ignoreChanges: unknown,
        onImageChange: "rebuild",
        snapshotBefore: snapshot ? ["delete"] : [],
        ...onDelete,
        verifyResize: { confirm: "auto", timeoutMs: 0, onFailure: "leave" },
      },
      source,
    };
  },
  behaving(wish, now) {
    const verifyResize = { confirm: "auto", timeoutMs: 120_000, onFailure: "revert" } as const;
    return now === undefined
      ? { ...wish, lifecycle: { ...wish.lifecycle, verifyResize } }
      : { ...wish, ...commandsOf(now), lifecycle: behavingAs(now.lifecycle, wish), source: now.source };
  },
};

const volumeFacts: KindFacts<"volume"> = {
  references: ({ attachTo }) => (attachTo === undefined ? [] : [attachTo]),
  renamed: (desired, named) =>
    desired.attachTo === undefined ? desired : { ...desired, attachTo: named(desired.attachTo) },
  computed: ({ flush, afterAttach }) => [...computedInFlush(flush), ...computedInCommands(afterAttach)],
  names: ({ attachedTo, attaching, detaching }) => [attachedTo, attaching, detaching].flatMap((id) => id ?? []),
  keeps: () => [],
  memory: () => ({
    id: text,
    attachedTo: optional(text),
    deleting: optional(flag),
    attaching: optional(text),
    detaching: optional(text),
    owes,
    unseen: isUnseenList,
    preventDestroy: flag,
  }),
  wish(record) {
    const { fields, unknown } = fieldsOfRecord(volumeFields, record);
    return {
      kind: "volume",
      address: record.address,
      ...fields,
      attachTo: record.attachedTo === undefined ? undefined : { id: record.attachedTo },
      lifecycle: { preventDestroy: record.preventDestroy, ignoreChanges: unknown },
      source,
    };
  },
  behaving: (wish, now) =>
    now === undefined
      ? wish
      : {
          ...wish,
          flush: now.flush,
          afterAttach: now.afterAttach,
          commandFile: now.commandFile,
          commandFiles: now.commandFiles,
          lifecycle: behavingAs(now.lifecycle, wish),
          source: now.source,
        },
};

const groupFacts: KindFacts<"group"> = {
  references: ({ rules }) => groupsOfRules(rules),
  renamed: (desired, named) => ({
    ...desired,
    rules: desired.rules.map((rule) => namingGroup(rule, named)),
  }),
  computed: ({ description, rules }) => [...computedInTexts([description]), ...rules.flatMap(computedInRule)],
  names: ({ rules }) => groupsOfRules(rules).flatMap((named) => ("id" in named ? [named.id] : [])),
  keeps: ({ retired = [] }) => retired.map(({ id }) => `group:${id}`),
  memory: () => ({
    id: text,
    platformRules: list(text),
    preventDestroy: flag,
    deleting: optional(flag),
    updating: optional(mapWith(text)),
    retired: optional(list(shape({ id: text, name: optional(text) }))),
    buried: optional(list(text)),
    unseen: isUnseenList,
  }),
  wish(record) {
    const { fields, unknown } = fieldsOfRecord(groupFields, record);
    return {
      kind: "group",
      address: record.address,
      ...fields,
      rulesMode: "authoritative",
      lifecycle: { preventDestroy: record.preventDestroy, ignoreChanges: unknown, onRuleRemoval: "replace" },
      source,
    };
  },
  behaving: (wish, now) =>
    now === undefined
      ? wish
      : { ...wish, rulesMode: now.rulesMode, lifecycle: behavingAs(now.lifecycle, wish), source: now.source },
};

/** The value of an attribute, as the record of its resource has it. */
export function recordedAttribute(record: RecordedResource | undefined, attribute: Attribute): string | undefined {
  if (record === undefined) return undefined;
  const keys: Readonly<Record<string, string>> = definitionOf(record.kind).words.attributes;
  const value = fieldsIn(record)[keys[attribute] ?? ""];
  return value === undefined ? undefined : String(value);
}

/** The host that a resource of the file names. */
export function hostNamedBy(desired: DesiredResource): Reference | undefined {
  const host = hostOf[desired.kind];
  // The reader of the file has made a reference of the field.
  return host === undefined ? undefined : (fieldsIn(desired)[host.field] as Reference | undefined);
}

/** What follows for a kind from its rows and its relations alone. */
function usualFacts(kind: Kind): KindFacts<Kind> {
  const host = hostOf[kind];
  const hangsOn = (record: RecordedResource): string | undefined => {
    const id = host === undefined ? undefined : fieldsIn(record)[host.recorded];
    return typeof id === "string" ? id : undefined;
  };
  const onHost = (reference: Reference | undefined) => (host === undefined ? {} : { [host.field]: reference });
  return {
    references: (desired) => [hostNamedBy(desired)].flatMap((reference) => reference ?? []),
    renamed(desired, rename) {
      const reference = hostNamedBy(desired);
      return reference === undefined ? desired : { ...desired, ...onHost(rename(reference)) };
    },
    computed: () => [],
    names: (record) => [hangsOn(record)].flatMap((id) => id ?? []),
    keeps: () => [],
    memory: () => ({
      id: text,
      ...(host === undefined ? {} : { [host.recorded]: optional(text) }),
      deleting: optional(flag),
      unseen: isUnseenList,
      preventDestroy: flag,
    }),
    wish(record) {
      const { fields, unknown } = fieldsOfRecord<Rows>(fieldsOf[kind], record);
      const id = hangsOn(record);
      const lifecycle = { preventDestroy: record.preventDestroy, ignoreChanges: unknown };
      const on = onHost(id === undefined ? undefined : { id });
      return asDesired({ kind, address: record.address, ...fields, ...on, lifecycle, source });
    },
    behaving: (wish, now) =>
      now === undefined ? wish : asDesired({ ...wish, lifecycle: behavingAs(now.lifecycle, wish), source: now.source }),
  };
}

const ownFacts: { readonly [K in Kind]?: KindFacts<K> } = { vm: vmFacts, volume: volumeFacts, group: groupFacts };
// Each kind has its own facts or those that follow from its rows.
const facts = eachKind<{ readonly [K in Kind]: KindFacts<K> }>(
  (kind) => ownFacts[kind] ?? (usualFacts(kind) as KindFacts<never>),
);

export const memoryOf = (kind: Kind): Readonly<Record<string, Check>> => facts[kind].memory();

// The kind goes beside the resource: from that the compiler sees that both are of one kind.

/** Its create was accepted, and no look has shown it since. */
export const isNeverSeen = ({ unseen = [] }: RecordedResource): boolean =>
  unseen.some(({ field }) => field === "existence");

const references = <K extends Kind>(kind: K, desired: DesiredByKind[K]) => facts[kind].references(desired);
export const referencesIn = (desired: DesiredResource): readonly Reference[] => references(desired.kind, desired);

const renamedIn = <K extends Kind>(kind: K, desired: DesiredByKind[K], named: (reference: Reference) => Reference) =>
  facts[kind].renamed(desired, named);
export const withReferences = (desired: DesiredResource, named: (reference: Reference) => Reference): DesiredResource =>
  renamedIn(desired.kind, desired, named);

const computed = <K extends Kind>(kind: K, desired: DesiredByKind[K]) => facts[kind].computed(desired);
/** What a resource depends on beside the resources that it names: those of which its texts hold a value. */
export const computedOfResource = (desired: DesiredResource): readonly Computed[] => computed(desired.kind, desired);

const names = <K extends Kind>(kind: K, recorded: RecordedByKind[K]) => facts[kind].names(recorded);
export const idsNamedBy = (recorded: RecordedResource): readonly string[] => names(recorded.kind, recorded);

const keeps = <K extends Kind>(kind: K, recorded: RecordedByKind[K]) => facts[kind].keeps(recorded);
export const idsKeptBy = (recorded: RecordedResource): readonly string[] => keeps(recorded.kind, recorded);

const wish = <K extends Kind>(kind: K, recorded: RecordedByKind[K]) => facts[kind].wish(recorded);
export const recordAsDesired = (recorded: RecordedResource): DesiredResource => wish(recorded.kind, recorded);

const behaving = <K extends Kind>(kind: K, desired: DesiredByKind[K], now: DesiredByKind[K] | undefined) =>
  facts[kind].behaving(desired, now);
export const behavingAsDeclared = (desired: DesiredResource, now: DesiredResource | undefined): DesiredResource =>
  behaving(desired.kind, desired, now?.kind === desired.kind ? now : undefined);

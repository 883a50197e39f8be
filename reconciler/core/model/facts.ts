/**
 * What is to know of the resources of each kind, of one alone: what it names, what its record remembers beside its
 * fields, and how the record reads as a wish. What is decided between resources stands where it is decided.
 */
import { groupFacts } from "../../kinds/group/facts";
import { vmFacts } from "../../kinds/vm/facts";
import { volumeFacts } from "../../kinds/volume/facts";
import { fieldsIn } from "../text/objects";
import { type Check, flag, optional, text } from "./checks";
import { type Attribute, type Computed, computedWithin } from "./computed";
import type { DesiredResource, Reference } from "./desired";
import { fieldsOf, type Rows } from "./fields";
import { behavingAs, fieldsOfRecord, isUnseenList, type KindFacts, source } from "./kind-facts";
import { definitionOf, type Kind, ofKind, perKind } from "./kinds";
import type { LiveOf } from "./live";
import type { Orphan, RecordedResource, State } from "./recorded";
import { hostOf, readingFieldsOf } from "./relations";
import { asDesired } from "./usual";

/** The value of an attribute, as the record of its resource has it, or as the service shows the resource. */
export function recordedAttribute(
  record: RecordedResource | LiveOf[Kind] | undefined,
  attribute: Attribute,
): string | undefined {
  if (record === undefined) return undefined;
  const keys: Readonly<Record<string, string>> = definitionOf(record.kind).words.attributes;
  const value = fieldsIn(record)[keys[attribute] ?? ""];
  return value === undefined ? undefined : String(value);
}

export const recordedValue = ({ address, attribute }: Computed, resources: State["resources"]): string | undefined =>
  recordedAttribute(resources.get(address), attribute);

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
      if (reference === undefined || host === undefined) return desired;
      return { ...desired, ...onHost(rename(reference, host.kind)) };
    },
    names: (record) => [hangsOn(record)].flatMap((id) => id ?? []),
    keeps: () => [],
    memory: () => ({
      id: text,
      ...(host === undefined ? {} : { [host.recorded]: optional(text) }),
      deleting: optional(flag),
      stillToSet: optional(text),
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
// Each kind has its own facts or those that follow from its rows, and is asked of resources of that kind alone.
const facts = perKind((kind): KindFacts<Kind> => ownFacts[kind] ?? usualFacts(kind));
const factsOfKind = ({ kind }: { readonly kind: Kind }): KindFacts<Kind> => facts[kind];

export const memoryOf = (kind: Kind): Readonly<Record<string, Check>> => facts[kind].memory();

/** Its create was accepted, and no look has shown it since. */
export const isNeverSeen = ({ unseen = [] }: RecordedResource): boolean =>
  unseen.some(({ field }) => field === "existence");

export const referencesIn = (desired: DesiredResource): readonly Reference[] =>
  factsOfKind(desired).references(desired);

export const withReferences = (
  desired: DesiredResource,
  named: (reference: Reference, of: Kind) => Reference,
): DesiredResource => factsOfKind(desired).renamed(desired, named);

/** What a resource depends on beside the resources that it names: those of which its texts hold a value. */
export const computedOfResource = (desired: DesiredResource): readonly Computed[] =>
  readingFieldsOf[desired.kind].flatMap((field) => computedWithin(fieldsIn(desired)[field]));

export const idsNamedBy = (recorded: RecordedResource): readonly string[] => factsOfKind(recorded).names(recorded);

export const idsKeptBy = (recorded: RecordedResource): readonly string[] => factsOfKind(recorded).keeps(recorded);

export const leftWhenForgotten = (recorded: RecordedResource): readonly Orphan[] =>
  factsOfKind(recorded).leaves?.(recorded) ?? [];

export const recordAsDesired = (recorded: RecordedResource): DesiredResource => factsOfKind(recorded).wish(recorded);

export const recordAsDeclared = (recorded: RecordedResource): DesiredResource =>
  recordAsDesired(factsOfKind(recorded).declared?.(recorded) ?? recorded);

export const behavingAsDeclared = (desired: DesiredResource, now: DesiredResource | undefined): DesiredResource =>
  factsOfKind(desired).behaving(desired, ofKind(now, desired.kind));

/**
 * The record, protected as well as its block: what protects counts before an apply has recorded it. What permits more
 * counts after that.
 */
export function guardedAsDeclared(recorded: RecordedResource, now: DesiredResource): RecordedResource {
  const own = recorded.kind === now.kind ? (factsOfKind(recorded).guarded?.(recorded, now) ?? recorded) : recorded;
  return { ...own, preventDestroy: own.preventDestroy || now.lifecycle.preventDestroy };
}

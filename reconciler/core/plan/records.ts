/**
 * What the state will say of a resource once it is as desired. A field that a step is still to make true keeps what is
 * recorded until that step has succeeded; everything else follows the file at once.
 */

import { recordRules } from "../../kinds/group/diff";
import type { Change } from "../diff/changes";
import type { Abilities } from "../model/abilities";
import type { Text } from "../model/computed";
import {
  type DesiredByKind,
  type DesiredGroup,
  type DesiredResource,
  type DesiredVm,
  type DesiredVolume,
  leftToOthers,
  type NewVm,
  type Reference,
} from "../model/desired";
import {
  type FieldRow,
  fieldsOf,
  keysWith,
  observedVmFields,
  type RecordedFields,
  type Rows,
  vmFields,
} from "../model/fields";
import { type Kind, perKind } from "../model/kinds";
import type { Live, LiveVm } from "../model/live";
import type { RecordedByKind, RecordedGroup, RecordedResource, RecordedVm, RecordedVolume } from "../model/recorded";
import type { Rule } from "../model/rule";
import { asRecord } from "../model/usual";
import { fieldsIn, keysOf, onlyDefined } from "../text/objects";
import type { FieldsOf } from "./record-patch";

/** What is known of a thing that a create has made. */
export interface SeenMade {
  readonly can: Abilities;
  /** Where it was looked at since. */
  readonly live?: Live;
  /** The rules that the file has by now. */
  readonly declared?: readonly Rule[];
  /** Others may have changed it since it was made: of its rules, only such as services make by themselves are the service's. */
  readonly isFoundLater?: true;
  /** When the create was sent, where that is to be remembered. */
  readonly sentAt?: string;
}

export type Unidentified<T> = Omit<T, "id">;

/** The fields with those keys that the value has: a field that is not asked for stays out. */
function pickKeys<T extends object, K extends keyof T>(from: T, keys: readonly K[]): Pick<T, K> {
  const picked: { -readonly [P in K]?: T[P] } = {};
  for (const key of keys) if (from[key] !== undefined) picked[key] = from[key];
  // Only what `T` has as optional is left out.
  return picked as Pick<T, K>;
}

const recordedKeys = perKind((kind): readonly string[] => [
  ...keysWith<Rows, { recorded: "always" }>(fieldsOf[kind], { recorded: "always" }),
  ...keysWith<Rows, { recorded: "known" }>(fieldsOf[kind], { recorded: "known" }),
]);

type RecordOfRows<K extends Kind> = RecordedFields<(typeof fieldsOf)[K]> &
  Pick<RecordedByKind[K], "kind" | "address" | "preventDestroy">;

/** What every record has, and its fields by the rows of its kind. */
const recordOfRows = <K extends Kind>(desired: DesiredByKind[K]): RecordOfRows<K> => {
  const { kind, address, lifecycle } = desired;
  const fields = pickKeys<Record<string, unknown>, string>(fieldsIn(desired), recordedKeys[kind]);
  const record: object = { kind, address, ...fields, preventDestroy: lifecycle.preventDestroy };
  // The keys are those of the kind's rows, with the values of the same keys.
  return record as RecordOfRows<K>;
};

/** The record of a kind that remembers nothing of the file beside its fields. */
export const plainRecord = (desired: DesiredResource): Unidentified<RecordedResource> =>
  asRecord(recordOfRows(desired));

export function vmRecord(desired: DesiredVm, imageId: string | undefined): Unidentified<RecordedVm> {
  const { lifecycle } = desired;
  return {
    ...recordOfRows<"vm">(desired),
    ...onlyDefined({ imageId }),
    onDelete: {
      snapshot: lifecycle.snapshotBefore.includes("delete"),
      ...onlyDefined({ deleteFloatingIp: lifecycle.deleteFloatingIp }),
      preservedVolumes: lifecycle.preservedVolumes,
    },
  };
}

const sentOfVm = keysOf(vmFields).filter((key): key is keyof NewVm => "sentAs" in vmFields[key]);
export const newVm = (desired: DesiredVm): NewVm => pickKeys(desired, sentOfVm);

/** The fields of a state's record, as the service's record of the VM shows them. */
export const observedRecord = (live: LiveVm): Partial<RecordedVm> => ({
  ...pickKeys(live, observedVmFields),
  ...onlyDefined({ imageId: live.image }),
});

export const volumeRecord = (desired: DesiredVolume): Unidentified<RecordedVolume> => recordOfRows<"volume">(desired);

/** A value that is not known yet is recorded by the step that fills it in. */
const knownText = (text: Text | undefined): string | undefined => (typeof text === "string" ? text : undefined);

export const groupRecord = (
  desired: DesiredGroup,
  resolve: (group: Reference) => string | undefined,
  platformRules: readonly string[],
  rules: readonly Rule[] = desired.rules,
): Unidentified<RecordedGroup> => ({
  ...recordOfRows<"group">({ ...desired, description: knownText(desired.description) }),
  rules: recordRules(rules, resolve),
  platformRules,
});

/** The keys of a record that hold a field of the file. */
export const recordFields = perKind((kind): Readonly<Record<string, readonly string[]>> => {
  const rows = Object.entries<FieldRow>(fieldsOf[kind]);
  const keysOfRow = (key: string, { recorded, recordKeys }: FieldRow) =>
    recordKeys ?? (recorded === "never" ? [] : [key]);
  return Object.fromEntries(rows.map(([key, row]) => [row.field, keysOfRow(key, row)]));
});

/** `next`, but with the old value of every field that is still to change. */
export function holdBack<T extends RecordedResource>(
  next: T,
  previous: Partial<T>,
  pendingFields: Iterable<string>,
): T {
  const pending = [...pendingFields];
  if (pending.length === 0) return next;
  const held: Record<string, unknown> = { ...next };
  const table = recordFields[next.kind];
  for (const field of pending) {
    for (const key of table[field] ?? []) {
      const value = fieldsIn(previous)[key];
      if (value === undefined) delete held[key];
      else held[key] = value;
    }
  }
  // Every value of `held` is of a record of the kind, under the key that it has there.
  return held as T;
}

/** What is taken over: the fields of which its record keeps what the service shows. */
export const keptAsShown = <T extends RecordedResource>(
  { change, desired }: { readonly change: Change; readonly desired: DesiredResource },
  next: T,
  shown: Partial<T>,
): readonly string[] => [
  ...change.fields.map(({ field }) => field),
  // What the file leaves alone is as it is, and not as the file has it.
  ...leftToOthers(desired).filter((field) =>
    recordFields[next.kind][field]?.some(
      (key) => fieldsIn(next)[key] !== undefined && fieldsIn(shown)[key] !== undefined,
    ),
  ),
];

/** The name of a resource that nobody has seen, sent or written is not recorded. */
export const unseenName = ({ desired, live, change }: TakenOver): readonly string[] =>
  desired.nameUnsaid === true && live?.name === undefined && change.reason !== "interrupted" ? ["name"] : [];

interface TakenOver {
  readonly desired: { readonly nameUnsaid?: true };
  readonly live?: { readonly name?: string } | undefined;
  readonly change: Pick<Change, "reason">;
}

/** What a step makes true: the record fields behind some fields of the file. */
export function patchFor<T extends RecordedResource>(
  next: Unidentified<T> & { kind: T["kind"] },
  fields: readonly string[],
): FieldsOf<T["kind"]> {
  const patch: Record<string, unknown> = {};
  const table = recordFields[next.kind];
  for (const field of fields) for (const key of table[field] ?? []) patch[key] = fieldsIn(next)[key];
  // Every value of the patch is from `next`, under the key that it has there.
  return patch as FieldsOf<T["kind"]>;
}

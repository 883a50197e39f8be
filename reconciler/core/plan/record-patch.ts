/**
 * What a step may write of the records. A step waits for the service while other steps of its address go on, so a record
 * that it read is old by the time it writes. It therefore says what became true, and the recorder puts that into the
 * record as it is at that moment. A whole record does not fit any of these types; only a resource that has just been made
 * or taken over brings one.
 */

import { ruleKey, sortRules } from "../canonical/rules";
import type { Address } from "../model/address";
import { type UnseenWrite, writeKey } from "../model/effect";
import { type Debt, type Duty, debtsIn, withDebt } from "../model/guest";
import { type Kind, ofKind } from "../model/kinds";
import {
  type PlannedChange,
  type RecordedByKind,
  type RecordedGroup,
  type RecordedResource,
  recordedAt,
  type StateChange,
} from "../model/recorded";
import type { Rule } from "../model/rule";
import { asRecord } from "../model/usual";
import { invariant } from "../text/invariant";
import { ifAny, onlyDefined } from "../text/objects";

/** What tells one record from another; no patch changes it. */
type Identity = "kind" | "address" | "id";

/** Lists to which several steps of one group add at the same time: each has a change of its own. */
type SharedList = "rules" | "retired" | "buried" | "unseen" | "owes";

/** A key that no patch may have, so that a whole record is none. */
type Without<K extends PropertyKey> = { readonly [P in K]?: never };

/** Some fields of a record; `undefined` takes a field away. */
export type FieldsOf<K extends Kind> = Partial<Omit<RecordedByKind[K], Identity | SharedList>> &
  Without<Identity | SharedList>;

export type Fields = { readonly [K in Kind]: FieldsOf<K> }[Kind];

/** The data volume of a VM has no address: what becomes of it stands in the record of its VM. */
export type FieldsOfDataVolume = Pick<
  FieldsOf<"vm">,
  "dataVolumeId" | "dataVolumeDetached" | "dataVolumeMoving" | "sizeGb"
> &
  Without<Identity | SharedList>;

/** The record of a resource that was made or taken over, beside its id. */
export type NewRecordOf<K extends Kind> = Omit<RecordedByKind[K], "id"> & Without<"id">;
export type NewRecord = { readonly [K in Kind]: NewRecordOf<K> }[Kind];

/** Of a group: rules that exist by now, declared ones and others that stay, and the keys of those that do not. */
export interface RuleChanges {
  readonly added?: readonly Rule[];
  readonly left?: readonly Rule[];
  readonly removed?: readonly string[];
}

/** Accepted writes that were looked for: those that did not show, and the keys of those that are settled. */
export interface UnseenChanges {
  readonly added?: readonly UnseenWrite[];
  readonly settled?: readonly string[];
}

/** Commands that are owed from now on, and those that are not any more; a debt may be put back as it was. */
export interface DebtChanges {
  readonly added?: readonly Debt[];
  readonly paid?: readonly Duty[];
}

export type StepChange =
  | {
      readonly type: "patch";
      readonly address: Address;
      /** The record is patched only while it has this id: by then the address may be another resource's. */
      readonly of?: string;
      readonly fields?: Fields | FieldsOfDataVolume;
      readonly rules?: RuleChanges;
      readonly unseen?: UnseenChanges;
      readonly owes?: DebtChanges;
      /** For a group: the former self that is deleted by now. */
      readonly buries?: string;
      /** For a group: the former self that cannot be deleted, and is an orphan by now. */
      readonly releases?: string;
    }
  /** From now on the address is this resource's. Without an id: nobody could tell it. */
  | { readonly type: "made"; readonly address: Address; readonly id?: string; readonly record: NewRecord }
  | { readonly type: "forgotten"; readonly address: Address }
  | Extract<StateChange, { type: "intent" | "orphan" }>;

/**
 * What a plan gives to a step that sends nothing, as a step writes it: a record there is one of a resource that the step
 * takes over. The clock of the run says since when something is missing.
 */
export const stepChangesOf = (changes: readonly PlannedChange[], at: string): StepChange[] =>
  recordedAt(changes, at).flatMap((change): StepChange[] => {
    if (change.type === "intent" || change.type === "orphan") return [change];
    invariant(change.type === "resource", "a step of a plan that sends nothing writes records, intents and orphans");
    const { address, record } = change;
    return [record === null ? { type: "forgotten", address } : takenOverChange(address, record)];
  });

function takenOverChange(address: Address, { id, ...record }: RecordedResource): StepChange {
  // What is left of a record without its id is a new record of that kind.
  return { type: "made", address, ...onlyDefined({ id }), record: record as NewRecord };
}

/** Enough for the rules that may still name a former self of a group. */
const mostBuried = 20;

/** What is written down for changes of a step, with the records as they are now. */
export function writtenChanges(
  changes: readonly (StateChange | StepChange)[],
  present: ReadonlyMap<Address, RecordedResource>,
): StateChange[] {
  const since = new Map<Address, RecordedResource | null>();
  const recordAt = (address: Address): RecordedResource | undefined => {
    const latest = since.get(address);
    return latest === undefined ? present.get(address) : (latest ?? undefined);
  };
  return changes.flatMap((change) => {
    const written = writtenChange(change, recordAt);
    for (const one of written) if (one.type === "resource") since.set(one.address, one.record);
    return written;
  });
}

function writtenChange(
  change: StateChange | StepChange,
  recordAt: (address: Address) => RecordedResource | undefined,
): readonly StateChange[] {
  switch (change.type) {
    case "patch": {
      const { address } = change;
      const before = recordAt(address);
      if (before === undefined || (change.of !== undefined && before.id !== change.of)) return [];
      const record = withLists(withFields(before, change.fields), change);
      return [{ type: "resource", address, record }];
    }
    case "made":
      return [{ type: "resource", address: change.address, record: recordMade(change) }];
    case "forgotten":
      return [{ type: "resource", address: change.address, record: null }];
    default:
      return [change];
  }
}

// A record of its kind with its id: `NewRecord` lacks nothing else.
const recordMade = ({ id, record }: Extract<StepChange, { type: "made" }>): RecordedResource =>
  asRecord({ ...record, ...onlyDefined({ id }) });

export function withFields<R extends RecordedResource>(before: R, fields: object = {}): R {
  const merged: R = { ...before, ...fields };
  for (const key in merged) if (merged[key] === undefined) Reflect.deleteProperty(merged, key);
  return merged;
}

function withLists(
  record: RecordedResource,
  { unseen, owes, ...lists }: Extract<StepChange, { type: "patch" }>,
): RecordedResource {
  const listed = withDebts(withRules(record, lists), owes);
  return unseen === undefined ? listed : withFields(listed, { unseen: editedUnseen(listed.unseen ?? [], unseen) });
}

/** What is paid is taken away first, so that a debt can be put back as it was. */
function withDebts(record: RecordedResource, { added = [], paid = [] }: DebtChanges = {}): RecordedResource {
  if (added.length === 0 && paid.length === 0) return record;
  const left = debtsIn(record).filter(({ command }) => !paid.includes(command));
  const owes = added.reduce<readonly Debt[]>(withDebt, left);
  return withFields(record, { owes: ifAny(owes) });
}

function editedUnseen(
  before: readonly UnseenWrite[],
  { added = [], settled = [] }: UnseenChanges,
): readonly UnseenWrite[] | undefined {
  const over = new Set([...settled, ...added.map(writeKey)]);
  return ifAny([...before.filter((write) => !over.has(writeKey(write))), ...added]);
}

function withRules(
  record: RecordedResource,
  { rules, buries, releases }: Pick<Extract<StepChange, { type: "patch" }>, "rules" | "buries" | "releases">,
): RecordedResource {
  const group = ofKind(record, "group");
  if (group === undefined) return record;
  const edited = rules === undefined ? group : withEditedRules(group, rules);
  const rest = releases === undefined ? edited : withoutRetired(edited, releases);
  return buries === undefined ? rest : buried(rest, buries);
}

function withEditedRules(group: RecordedGroup, { added = [], left = [], removed = [] }: RuleChanges): RecordedGroup {
  const edited = (rules: readonly Rule[], more: readonly Rule[]): Rule[] => {
    const gone = new Set([...removed, ...more.map((rule) => ruleKey(rule))]);
    return sortRules([...rules.filter((rule) => !gone.has(ruleKey(rule))), ...more]);
  };
  const { left: before = [], ...rest } = group;
  return { ...rest, rules: edited(group.rules, added), ...onlyDefined({ left: ifAny(edited(before, left)) }) };
}

function withoutRetired({ retired: former = [], ...rest }: RecordedGroup, id: string): RecordedGroup {
  const retired = former.filter((group) => group.id !== id);
  return retired.length === 0 ? rest : { ...rest, retired };
}

const buried = (record: RecordedGroup, id: string): RecordedGroup => ({
  ...withoutRetired(record, id),
  buried: [...(record.buried ?? []).filter((one) => one !== id), id].slice(-mostBuried),
});

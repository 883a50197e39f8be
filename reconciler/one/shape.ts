/** What is particular to one kind of resource; one/resource.ts has what all kinds have in common. */
import type { Change } from "../core/diff/changes";
import type { Abilities } from "../core/model/abilities";
import type { Address, Kind } from "../core/model/address";
import type { Closed, DesiredResource } from "../core/model/desired";
import { type FieldRow, fieldsOf } from "../core/model/fields";
import type { Live, LiveOf } from "../core/model/live";
import type { Disk, RecordedResource } from "../core/model/recorded";
import type { Step } from "../core/plan/step";
import { knownVersion, newerVersion, WrittenByNewer } from "../core/state/newer";
import { recordProblem } from "../core/state/shape";
import { itemAt } from "../core/text/invariant";
import { fieldsIn } from "../core/text/objects";
import { type HandlerService, holdsUnknown, isPending, type Property, type Props } from "./handler";
import type { NamedId } from "./named-ids";
import { asFileKey, asProperty, desiredOf, knownPart, type Written, writtenOfExisting } from "./one-desired";
import type { Remembered } from "./one-run";
import type { ProgramNotes } from "./program-notes";
import type { Noticed } from "./stands-on";

export type Of<K extends Kind> = Extract<RecordedResource, { kind: K }>;
export interface Shape<K extends Kind> {
  readonly type: string;
  readonly kind: K;
  readonly description: string;
  readonly inputs: Readonly<Record<string, Property>>;
  readonly outputs: Readonly<Record<string, Property>>;
  /** Properties that are not managed while they are left out: giving one is a change, whatever the record says. */
  readonly optional: readonly string[];
  /** Texts that are emptied in the service when the program no longer gives them. */
  readonly emptied?: readonly string[];
  /** The other things that the inputs name by their ids. */
  names?(inputs: Props): readonly NamedId[];
  /** What is lost when a program's user replaces a resource that would not have to be replaced. */
  lossOfReplacing?(inputs: Props): string;
  /** What makes the service replace it shows at every field that differs. */
  readonly replacedAsAWhole?: true;
  /**
   * What is wished in place of a replacement that no preview has shown, and what is said of it: something was added to
   * the resource elsewhere, and stays until a refresh shows it.
   */
  sparing?(desired: Closed, inputs: Props): { readonly wish: Closed; readonly says: string };
  /** What is planned with in place of a value of which nothing is known, where its former value would hide a change. */
  whileUnknown?(can: Abilities): Props;
  /** The record as a wish, without what a program with these inputs leaves alone. */
  asManaged?(recorded: Closed, before: Props): Closed;
  /** The former version must be deleted first, because its name is taken until then. */
  readonly deleteBeforeReplace: boolean;
  write(inputs: Props): Written;
  /** A record made of what the service shows, for a resource that is only looked at. */
  recordOfLive(address: Address, live: LiveOf[K], world: Live): Of<K>;
  /** The record with what the service shows for the fields that differ. */
  drifted(record: Of<K>, live: LiveOf[K], change: Change, before: Props): Of<K>;
  /** The record with what the notes of a delete that was cut off say. */
  leaving?(record: Of<K>, left: readonly Disk[]): Of<K>;
  /** The record with the VM that was stopped for a flush, and is to be started again. */
  stopped?(record: Of<K>, vm: string): Of<K>;
  inputsOf(record: Of<K>): Props;
  outputsOf(record: Of<K>, live: LiveOf[K] | undefined): Props;
  /** Records of other resources that a delete must not take for leftovers of this one. */
  neighbours?(
    record: Of<K>,
    live: LiveOf[K] | undefined,
    isOthers: (thing: string) => boolean,
  ): readonly RecordedResource[];
  /** The id of the VM whose work an update or a delete would disturb. */
  hangsOn?(live: LiveOf[K]): string | undefined;
  /** What a guest notices of it: as recorded, or once the steps are done. */
  noticed?(record: Of<K>, steps?: readonly Step[], inputs?: Props): Noticed | undefined;
  /** Records of other resources that an update has to look at as well. */
  standsOn?(live: LiveOf[K], inputs: Props): readonly RecordedResource[];
  /** The record with what the program says of a delete, and of these fields. */
  asSaid?(record: Of<K>, said: DesiredResource, fields: readonly string[]): Of<K>;
  /** The record of what is deleted, which only this resource's state has told of. */
  going?(record: Of<K>): Of<K>;
  /** Of a record that was read by its id: the part that a program with these inputs manages. */
  managed?(record: Of<K>, before: Props, inputs: Props): Of<K>;
  /** What a new resource in the place of a lost one does not have, as the end of a sentence. */
  lostWith?(record: Of<K>): string;
  /** The record as it is kept between two calls. `beside`: records of others, as the run leaves them. */
  keep?(record: Of<K>, declared: DesiredResource, beside: readonly RecordedResource[]): Of<K>;
  /** The desired resource, once it is seen what else the service has. */
  wantedAmong?(desired: DesiredResource, inputs: Props, record: Of<K> | undefined, live: LiveOf[K]): DesiredResource;
  /** Fields of it that may be resources of their own as well: what is in the service, and whose it is. */
  readonly fields?: FieldsShared<K>;
  /** Whether no operation on the resource is under way in the service. */
  isSettled?(live: LiveOf[K]): boolean;
  /**
   * Whether the engine's own work on the resource is not finished, so that only a look tells what a change would do.
   */
  isUnsettled(record: Of<K>): boolean;
}

export interface FieldsShared<K extends Kind> {
  /** Remembers those that an update removes, for the resource that may name one of them then. */
  noteGoing(service: HandlerService, id: string, desired: DesiredResource, record: Of<K>): void;
  /** Those that are wished and there, and that the record does not have: by their names in ownership. */
  taken(live: LiveOf[K], desired: DesiredResource, record: Of<K> | undefined): readonly string[];
  /** The record without those that are another resource's. */
  without(record: Of<K>, live: LiveOf[K], isOthers: (field: string) => boolean): Of<K>;
}

/** Where the engine's own record is kept among the outputs. */
export const recordedKey = "recorded";

export const recordedProperty: Property = {
  type: "object",
  description: "What the engine remembers of the resource between two runs. Not for programs.",
};

/** Throws where a newer version of the plugin wrote it: it may hold what this one does not know, and would drop. */
export function rememberedIn(before: Props): Remembered {
  const recorded = fieldsIn(before[recordedKey]);
  const { version, needs } = recorded;
  const newer = newerVersion(version);
  if (newer !== undefined)
    throw new WrittenByNewer(
      "the record of this resource in the program's state",
      `its version is ${newer}, and this plugin reads version ${knownVersion}`,
      needs,
    );
  // Only the handlers write this key, and `plain` keeps what they write. What somebody took out of a state by hand is not
  // remembered.
  return Object.fromEntries(Object.entries(recorded).filter(([, value]) => value !== null)) as Remembered;
}

/**
 * The properties as they say what is kept of that id. Where somebody edited the state by hand (`pulumi stack export`,
 * `import`), the record may be of a former id, which is not what a preview names, or lack a part without which nothing
 * can be told of the resource.
 */
export function ownRecordOf<K extends Kind>({ kind }: Shape<K>, id: string, before: Props): Props {
  const { record, ...others } = fieldsIn(before[recordedKey]);
  const { address, ...of } = fieldsIn(record);
  if (isPending(id) || record === undefined) return before;
  const isOwn = of["id"] === id && of["kind"] === kind;
  return isOwn && recordProblem(String(address), record) === undefined ? before : { ...before, [recordedKey]: others };
}

/**
 * A record that was read by its id may have more than the program manages; `inputs` and `before` say how much that is.
 */
export function recordIn<K extends Kind>(shape: Shape<K>, before: Props, inputs: Props = before): Of<K> | undefined {
  // A handler remembers records of its own kind only.
  const { record, imported } = rememberedIn(before) as Remembered & { readonly record?: Of<K> };
  if (record === undefined) return record;
  const said = asSaid(shape, record, before, imported === true);
  return imported !== true ? said : (shape.managed?.(said, before, inputs) ?? said);
}

/**
 * Of what the service does not show, only the program's last word is known, and that alone stands for what an import did
 * not see. What an update changes is known by how that ended.
 */
function asSaid<K extends Kind>(shape: Shape<K>, record: Of<K>, before: Props, isImported: boolean): Of<K> {
  const { kind, inputs, write } = shape;
  if (shape.asSaid === undefined) return record;
  const isTaken = (key: string, { behaviour, onlyToCreate, replaces }: Partial<Property> = {}): boolean =>
    (isImported && behaviour === true) ||
    (fieldsIn(record)[key] === undefined && (isImported || onlyToCreate === true || replaces === true));
  const fields = Object.entries<FieldRow>(fieldsOf[kind]).flatMap(([key, { field }]) => {
    const name = asProperty(field);
    return before[name] !== undefined && isTaken(key, inputs[name]) ? [field] : [];
  });
  if (fields.length === 0 && !isImported) return record;
  const names = new Set(fields.map(asProperty));
  const stated = Object.entries(before).filter(([name]) => names.has(name) || inputs[name]?.behaviour === true);
  const { desired } = desiredOf(write(knownPart(Object.fromEntries(stated), inputs)));
  return shape.asSaid(record, itemAt(desired.resources, 0), fields);
}

/** The record of what is replaced: it goes as the program says by now, which is what a preview has told. */
export function goingAsSaid<K extends Kind>(shape: Shape<K>, record: Of<K>, inputs: Props | undefined): Of<K> {
  if (inputs === undefined || holdsUnknown(inputs) || shape.asSaid === undefined) return record;
  const behaviours = Object.entries(shape.inputs).flatMap(([name, { behaviour }]) =>
    behaviour === true ? [asFileKey(name)] : [],
  );
  return shape.asSaid(record, itemAt(wanted(shape, inputs).desired.resources, 0), behaviours);
}

/** The record with the stop that was noted. */
export const withStopped = <K extends Kind>(
  shape: Shape<K>,
  record: Of<K> | undefined,
  notes: ProgramNotes | undefined,
): Of<K> | undefined => {
  const vm = record === undefined || shape.stopped === undefined ? undefined : notes?.findStopped();
  return record === undefined || vm === undefined ? record : shape.stopped?.(record, vm);
};

/** The record with what a delete that was cut off has noted. */
export const withLeft = <K extends Kind>(shape: Shape<K>, record: Of<K>, left: readonly Disk[] | undefined): Of<K> =>
  left === undefined ? record : { ...(shape.leaving?.(record, left) ?? record), deleting: true };

export const wanted = <K extends Kind>(
  shape: Shape<K>,
  inputs: Props,
): { readonly desired: Closed; readonly address: Address } =>
  desiredOf(writtenOfExisting(shape.inputs, inputs, shape.write));

export const withoutOutputs = <K extends Kind>(shape: Shape<K>, before: Props): Props =>
  Object.fromEntries(Object.entries(before).filter(([name]) => Object.hasOwn(shape.inputs, name)));

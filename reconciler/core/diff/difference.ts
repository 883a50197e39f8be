/**
 * What the diff of one resource found: facts for the step makers, and an outcome tagged by its action, which has exactly
 * what that action needs. The reasons and the words that every kind has in common stand here once.
 */
import type { Kind } from "../model/address";
import type { DesiredResource } from "../model/desired";
import type { Diagnostic } from "../model/diagnostic";
import { ofKind } from "../model/kinds";
import type { LiveGroup, LiveOf, LiveVm, LiveVolume } from "../model/live";
import type { RecordedResource } from "../model/recorded";
import type { Action, Change, FieldChange, Reason } from "./changes";
import type { LeftOpen } from "./explain";
import type { Known } from "./find";
import { letGo, neverMade, noLongerExists, type Vanished } from "./findings";
import type { DesiredOf, Pair, PairOf, RecordedOf } from "./pair";

export interface Facts<K extends Kind> extends Pick<PairOf<K>, "kind" | "address" | "desired" | "recorded"> {
  readonly live?: Extract<LiveVm | LiveVolume | LiveGroup, { kind: K }>;
  /** An interrupted run created the resource, or this plan takes it over: its id is known now. */
  readonly adopts?: boolean;
  readonly diagnostics: readonly Diagnostic[];
}

export type ChangeTo<A extends Action> = Change & { readonly action: A };

export interface Unchanged {
  readonly action: "none";
  readonly change?: undefined;
}

export interface Created<K extends Kind> {
  readonly action: "create";
  readonly change: ChangeTo<"create">;
  readonly desired: DesiredOf<K>;
}

/** The resource is there already, and is made as desired. */
interface Kept<K extends Kind, A extends Action> {
  readonly action: A;
  readonly change: ChangeTo<A>;
  readonly id: string;
  readonly desired: DesiredOf<K>;
}
export type Updated<K extends Kind> = Kept<K, "update"> | Kept<K, "import">;
export type Replaced<K extends Kind> = Kept<K, "replace">;

export interface Deleted<K extends Kind> {
  readonly action: "delete";
  readonly change: ChangeTo<"delete">;
  readonly id: string;
  readonly recorded: RecordedOf<K>;
}

export interface Forgotten<K extends Kind> {
  readonly action: "forget";
  readonly change: ChangeTo<"forget">;
  readonly recorded: RecordedOf<K>;
}

export type DiffOutcome<K extends Kind> = Unchanged | Created<K> | Updated<K> | Replaced<K> | Deleted<K> | Forgotten<K>;

/** The outcomes with some actions, beside the facts that go with them. */
export type Acted<F extends Facts<K>, K extends Kind, A extends DiffOutcome<K>["action"]> = Omit<
  F,
  "kind" | "address" | "recorded" | "desired"
> &
  Pick<Partial<F>, "recorded" | "desired"> &
  Extract<DiffOutcome<K>, { readonly action: A }>;

export const unchanged: Unchanged = { action: "none" };

/**
 * The change of a resource that is there already, or no change. The words for it are made only when somebody asks for
 * them.
 */
export function kept<K extends Kind>(
  action: "update" | "import" | "replace" | undefined,
  id: string,
  desired: DesiredOf<K>,
  changed: () => Omit<Change, "action" | "id">,
): Unchanged | Updated<K> | Replaced<K> {
  switch (action) {
    case undefined:
      return unchanged;
    case "update":
      return { action, id, desired, change: { ...changed(), action, id } };
    case "import":
      return { action, id, desired, change: { ...changed(), action, id } };
    case "replace":
      return { action, id, desired, change: { ...changed(), action, id } };
  }
}

/** The change that makes a resource. */
export const creation = (
  { address, kind, name, source }: DesiredResource,
  fields: readonly FieldChange[],
  why: Pick<Change, "reason" | "because">,
): ChangeTo<"create"> => ({ address, kind, action: "create", name, fields, ...why, losses: [], source });

/** Why a declared resource is not there yet. */
export const creationReason = (
  pair: Pick<DesiredResource, "kind">,
  gone: Vanished | undefined,
): Pick<Change, "reason" | "because"> =>
  gone === undefined
    ? { reason: "declared", because: "it is declared and does not exist yet" }
    : { reason: "gone", because: noLongerExists(pair, gone) };

export const removalReason = (destroys: boolean): Pick<Change, "reason" | "because"> =>
  destroys
    ? { reason: "destroy", because: "everything in the state is to be destroyed" }
    : { reason: "removed", because: "it is no longer declared" };

/** Why a record is dropped: the resource is not in the service any more, or a `removed` entry lets it go. */
export const forgettingReason = (
  pair: Pick<Pair, "kind" | "forget" | "recorded">,
  gone: Vanished | undefined,
): Pick<Change, "reason" | "because"> => {
  if (pair.forget) return { reason: "let_go", because: letGo };
  if (gone === undefined) return { reason: "gone", because: neverMade };
  const rest =
    pair.recorded?.deleting === true ? "; an earlier run has sent its delete" : "; the orphans keep it as missing";
  return { reason: "gone", because: noLongerExists(pair, gone) + rest };
};

export const forgotten = (
  { address, kind, name, id }: Pick<RecordedResource, "address" | "kind" | "name" | "id">,
  why: Pick<Change, "reason" | "because">,
): ChangeTo<"forget"> => ({
  address,
  kind,
  action: "forget",
  name: name ?? id ?? address,
  id,
  fields: [],
  ...why,
  losses: [],
});

/** `otherwise`: the reason where no field changes. */
export function updateReason(options: {
  readonly isRequested: boolean;
  readonly adopted: Reason | undefined;
  readonly hasFields: boolean;
  readonly isDrift: boolean;
  readonly left: LeftOpen | undefined;
  readonly otherwise: Reason;
}): Reason {
  if (options.isRequested) return "requested";
  if (options.adopted !== undefined) return options.adopted;
  if (!options.hasFields) return options.otherwise;
  if (options.isDrift) return "drifted";
  return options.left === undefined ? "changed" : "interrupted";
}

/** The record of what an open create has made: its intent says what that was to be, and `usual` what the intent may lack. */
export function madeByIntent<K extends Kind>(
  pair: Pick<PairOf<K>, "kind" | "address" | "intent">,
  { live, id }: Known<LiveOf[K]>,
  usual: object,
): RecordedOf<K> {
  const { kind, address, intent } = pair;
  const name = live?.name ?? intent?.name ?? id;
  const made: object = { kind, name, preventDestroy: false, ...usual, ...ofKind(intent?.record, kind), address, id };
  // The record of a create is that of its own kind, and `usual` has what every record of the kind has.
  return made as RecordedOf<K>;
}

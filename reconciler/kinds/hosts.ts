/** Where something that hangs on another resource is, and where it shall be, for placement.ts. */
import { type FieldChange, fieldChange, movedField, type Reason } from "../core/diff/changes";
import { type DiffContext, referenceId } from "../core/diff/context";
import { updateReason } from "../core/diff/difference";
import type { Pair } from "../core/diff/pair";
import type { Address } from "../core/model/address";
import type { DesiredResource, Reference } from "../core/model/desired";
import { identity } from "../core/model/identity";
import type { Kind } from "../core/model/kinds";
import type { RecordedResource, State } from "../core/model/recorded";
import { consequences, type Host, placementOf, type Target, type Whereabouts } from "./placement";

/** What a plan makes of the hosts. */
export interface HostFates {
  /** Ids that this plan deletes, alone or to replace them. */
  readonly deleted: ReadonlySet<string>;
  /** Addresses that get a new id in this plan. */
  readonly renewed: ReadonlySet<Address>;
  /** The ids of those that this plan takes over. */
  readonly adopted: ReadonlyMap<Address, string>;
}

export function wantedHost(reference: Reference | undefined, state: State, fates: HostFates): Target | undefined {
  if (reference === undefined) return undefined;
  if ("id" in reference) return { id: reference.id };
  const { address } = reference;
  const id = fates.renewed.has(address) ? undefined : (fates.adopted.get(address) ?? referenceId(reference, state));
  return id === undefined ? { address } : { address, id };
}

interface Standing {
  readonly adopted: Reason | undefined;
  readonly isDrift: boolean;
  /** An interrupted run has left work, whatever the fields say. */
  readonly isLeft?: boolean;
}

/** What becomes of what exists and differs in these fields, and why. */
export function updateOf(
  pair: Pick<Pair, "address" | "movedFrom">,
  desired: DesiredResource,
  fields: readonly FieldChange[],
  { adopted, isDrift, isLeft = false }: Standing,
  context: DiffContext,
) {
  const isRequested = context.replace.has(pair.address);
  const replaces = isRequested || fields.some(({ forces }) => forces === "replace");
  const left = context.leftOpen(desired);
  const hasFields = fields.length > 0;
  const changed = [...movedField(pair), ...fields];
  const action = replaces
    ? "replace"
    : adopted !== undefined
      ? "import"
      : changed.length > 0 || isLeft
        ? "update"
        : undefined;
  const reason = updateReason({
    isRequested,
    adopted,
    hasFields,
    isDrift,
    left,
    otherwise: isLeft ? "interrupted" : "moved",
  });
  return { replaces, left, reason, action, changed } as const;
}

interface Hanging {
  readonly hostKind: Kind;
  /** The host that it hangs on now, and the one that the record names. */
  readonly on: string | undefined;
  readonly recordedOn: string | undefined;
  /** The attach was this tool's. */
  readonly isOurs: boolean;
  readonly target: Target | undefined;
  readonly isIgnored: boolean;
}

function whereaboutsOf(
  { hostKind, on, recordedOn, isOurs, target, isIgnored }: Hanging,
  { addressOf }: DiffContext,
  { deleted, renewed }: HostFates,
): Whereabouts {
  const hostAt = (id: string | undefined): Host | undefined =>
    id === undefined ? undefined : { id, address: addressOf(identity(hostKind, id)), goes: deleted.has(id) };
  return {
    host: hostAt(on),
    formerHost: hostAt(on === undefined ? recordedOn : undefined),
    target,
    isTargetRenewed: target?.address !== undefined && renewed.has(target.address),
    isOurs,
    isIgnored,
  };
}

/** A host that is managed here is told by its address, also where the state or the file names its id. */
const shownTarget = (target: Target | undefined, kind: Kind, { addressOf }: DiffContext): string | undefined =>
  target?.id === undefined ? target?.address : (target.address ?? addressOf(identity(kind, target.id)) ?? target.id);

/** What becomes of it on its host. `field`: the change of this row; `undefined`: no request is sent. */
export function placeOnHost(
  row: Parameters<typeof fieldChange>[0],
  hanging: Hanging,
  recorded: RecordedResource | undefined,
  context: DiffContext,
  fates: HostFates,
) {
  const whereabouts = whereaboutsOf(hanging, context, fates);
  const { becomes, target } = placementOf(whereabouts);
  const { verb } = consequences[becomes];
  const { host } = whereabouts;
  const isIntended =
    verb !== undefined && (recorded === undefined || hanging.isOurs || hanging.recordedOn === host?.id);
  const field =
    verb === undefined
      ? undefined
      : fieldChange(row, host?.address ?? host?.id, shownTarget(target, hanging.hostKind, context), verb);
  return { whereabouts, becomes, target, verb, field, isIntended };
}

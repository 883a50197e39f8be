/** Where something that hangs on another resource is, and where it shall be, for placement.ts. */
import { type DiffContext, referenceId } from "../core/diff/context";
import type { Address } from "../core/model/address";
import type { Reference } from "../core/model/desired";
import { identity } from "../core/model/identity";
import type { Kind } from "../core/model/kinds";
import type { State } from "../core/model/recorded";
import type { Host, Target, Whereabouts } from "./placement";

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

export function whereaboutsOf(
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

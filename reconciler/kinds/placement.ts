/**
 * What becomes of a volume on its VM: one answer for each case, and for each answer what the plan does and says. The
 * table test is test/core/placement.test.ts.
 */
import type { Address } from "../core/model/address";

/** The VM that a volume shall hang on: an id, or an address that has no id yet. */
export type Target =
  | { readonly address: Address; readonly id: string }
  | { readonly address: Address; readonly id?: undefined }
  | { readonly address?: undefined; readonly id: string };

/** The VM that a volume hangs on, or hung on. */
export interface Host {
  readonly id: string;
  /** The address that manages this VM. */
  readonly address?: Address;
  /** This plan deletes the VM, alone or to replace it. */
  readonly goes: boolean;
}

export interface Whereabouts {
  /** `undefined`: the volume hangs on no VM, or nobody knows on which. */
  readonly host?: Host;
  /** The VM that the record names, where the volume hangs there no more. */
  readonly formerHost?: Host;
  /** What the file asks for. */
  readonly target?: Target;
  /** The VM at the target's address gets a new id in this plan. */
  readonly isTargetRenewed: boolean;
  /** The state remembers this attachment. A volume attached by hand is not taken off. */
  readonly isOurs: boolean;
  /** `ignore_changes` leaves the attachment to others. */
  readonly isIgnored: boolean;
}

/**
 * `attached`: from no VM onto one. `reattached`: its VM is gone, and the new one at the same address gets it. `detached`:
 * the file asks for no VM. `moved`: from one VM onto another. `follows`: onto the new VM that replaces its own.
 * `uprooted`: the file leaves it where it is, but this VM is deleted. `replanted`: likewise, and a new VM replaces it.
 */
export type Becomes = "stays" | "attached" | "reattached" | "detached" | "moved" | "follows" | "uprooted" | "replanted";

export interface Placement {
  readonly becomes: Becomes;
  /** The VM that the volume hangs on after the plan, where the file names one. */
  readonly target?: Target;
}

interface Consequence {
  /** `undefined`: no request is sent. */
  readonly verb: "attach" | "detach" | "move" | "follow" | undefined;
  /** The reason where nothing else about the volume changes: what happens to the VM. */
  readonly cause?: "vm_renewed" | "vm_deleted";
  /** The file or the record asked for this. False: it happens because the VM goes. */
  readonly isAsked: boolean;
}

export const consequences: Readonly<Record<Becomes, Consequence>> = {
  stays: { verb: undefined, isAsked: false },
  attached: { verb: "attach", isAsked: true },
  reattached: { verb: "attach", cause: "vm_renewed", isAsked: true },
  detached: { verb: "detach", isAsked: true },
  moved: { verb: "move", isAsked: true },
  follows: { verb: "follow", cause: "vm_renewed", isAsked: true },
  uprooted: { verb: "detach", cause: "vm_deleted", isAsked: false },
  replanted: { verb: "follow", cause: "vm_renewed", isAsked: false },
};

/** The decision table of a volume: where it is, where it shall be, and what becomes of the VMs at both ends. */
export function placementOf(whereabouts: Whereabouts): Placement {
  const { host, formerHost, target, isTargetRenewed, isOurs, isIgnored } = whereabouts;
  const isManaged = (target !== undefined || isOurs) && !isIgnored;
  const isThere = target?.id !== undefined && target.id === host?.id;
  if (isManaged && !isThere) {
    if (target === undefined) return { becomes: "detached" };
    const isFromThere = isTargetRenewed && mayHaveBeenAttachedTo(host ?? formerHost, target);
    if (host === undefined) return { becomes: isFromThere ? "reattached" : "attached", target };
    return { becomes: isFromThere ? "follows" : "moved", target };
  }
  if (host?.goes !== true) return { becomes: "stays", target };
  const isReplaced = isTargetRenewed && target?.address !== undefined && target.address === host.address;
  return isReplaced ? { becomes: "replanted", target } : { becomes: "uprooted" };
}

/** A VM that no address manages any more may have been the former one at the target's address. */
const mayHaveBeenAttachedTo = (host: Host | undefined, target: Target): boolean =>
  host !== undefined && target.address !== undefined && (host.address ?? target.address) === target.address;

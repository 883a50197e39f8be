/** What the service shows of a VM. */
import type { ObservedFields, vmFields } from "../../core/model/fields";
import { onlyDefined } from "../../core/text/objects";

export type VmPhase = "running" | "stopped" | "verify_resize" | "failed" | "changing";

export interface LiveVmVolume {
  readonly id: string;
  readonly root?: boolean;
}

export interface LiveVm extends ObservedFields<typeof vmFields> {
  readonly kind: "vm";
  readonly id: string;
  readonly name: string;
  /** The service's own word for the state, shown as it is; `undefined` when the record has none. */
  readonly status?: string;
  /** What the dialect makes of the status; a word it does not know is `changing`. */
  readonly phase: VmPhase;
  /** Only the dialect can say whether the service means "deleted" by this state, and it does not. */
  readonly unsaid?: true;
  readonly floatingIp?: string;
  readonly privateIp?: string;
  /** Places where an IP address was looked for and something else was found: the address counts as not shown. */
  readonly notAddresses?: readonly { readonly field: "floating_ip" | "private_ip"; readonly found: string }[];
  readonly volumes?: readonly LiveVmVolume[];
}

/**
 * Whether a VM that shows no address has none. A stopped VM, or one in transition, may hide an address that it keeps.
 */
export const showsAddresses = ({ phase }: LiveVm): boolean => phase === "running" || phase === "verify_resize";

/** Whether it runs; `undefined`: it is not at rest, or it failed. */
export const powerShown = (live: LiveVm | undefined): "running" | "stopped" | undefined =>
  live?.phase === "running" || live?.phase === "stopped" ? live.phase : undefined;

export function addressesShown(live: LiveVm | undefined): Pick<LiveVm, "privateIp" | "floatingIp"> {
  if (live === undefined) return {};
  const { privateIp, floatingIp } = live;
  if (showsAddresses(live)) return { privateIp, floatingIp };
  return onlyDefined({ privateIp, floatingIp });
}

/** What a plan compares, by its name in the file. */
export const comparedOfVm: { readonly [F in keyof LiveVm]?: string } = {
  flavor: "flavor_id",
  image: "image_id",
  owner: "owner",
  status: "power",
  volumes: "disks",
};

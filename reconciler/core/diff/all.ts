/** What differs about everything, kind by kind: VMs first, because a volume goes where its VM goes. */
import type { Address } from "../model/address";
import type { State } from "../model/recorded";
import type { DiffContext } from "./context";
import { diffGroups, type GroupDifference } from "./group";
import type { Pair } from "./pair";
import { diffVm, type VmDifference } from "./vm";
import { diffVolume, type VmFates, type VolumeDifference } from "./volume";

export type Difference = VmDifference | VolumeDifference | GroupDifference;

export interface Differences {
  readonly vms: readonly VmDifference[];
  readonly volumes: readonly VolumeDifference[];
  readonly groups: readonly GroupDifference[];
  readonly all: readonly Difference[];
  readonly fates: VmFates;
}

export function diffAll(pairs: readonly Pair[], context: DiffContext, state: State): Differences {
  const vms = pairs.filter((pair) => pair.kind === "vm").map((pair) => diffVm(pair, context));
  const fates = fatesOf(vms);
  const volumes = pairs.filter((pair) => pair.kind === "volume").map((pair) => diffVolume(pair, context, state, fates));
  const groups = diffGroups(
    pairs.filter((pair) => pair.kind === "group"),
    context,
    state,
  );
  return { vms, volumes, groups, all: [...groups, ...vms, ...volumes], fates };
}

function fatesOf(vms: readonly VmDifference[]): VmFates {
  const deleted = new Set<string>();
  const renewed = new Set<Address>();
  const adopted = new Map<Address, string>();
  for (const vm of vms) {
    if (vm.action === "delete" || vm.action === "replace") deleted.add(vm.id);
    if (vm.action === "create" || vm.action === "replace" || vm.idUnknown === true) renewed.add(vm.address);
    if (vm.adopts === true && vm.change?.id !== undefined) adopted.set(vm.address, vm.change.id);
  }
  return { deleted, renewed, adopted };
}

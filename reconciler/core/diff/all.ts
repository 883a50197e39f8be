/** Diffs all resources, kind by kind: VMs first, because a volume goes where its VM goes. */

import { diffGroups, type GroupDifference } from "../../kinds/group/diff";
import { fillGroup, usesComputed } from "../../kinds/group/fill-in";
import type { HostFates } from "../../kinds/hosts";
import { diffUsual } from "../../kinds/usual/diff";
import { diffVm, type VmDifference } from "../../kinds/vm/diff";
import { diffVolume, type VolumeDifference } from "../../kinds/volume/diff";
import type { Address } from "../model/address";
import type { Diagnostic } from "../model/diagnostic";
import { allOfKind, type Kind, kinds } from "../model/kinds";
import type { RecordedVm, State } from "../model/recorded";
import type { DiffContext } from "./context";
import type { Pair, PairOf } from "./pair";
import { type Standings, standingsOf } from "./standing";

export type ResourceDifference = VmDifference | VolumeDifference | GroupDifference;

export interface Differences {
  readonly vms: readonly VmDifference[];
  readonly volumes: readonly VolumeDifference[];
  readonly groups: readonly GroupDifference[];
  readonly all: readonly ResourceDifference[];
  readonly fates: HostFates;
  /** What is known of the values that only the service knows. */
  readonly standings: Standings;
  readonly diagnostics: readonly Diagnostic[];
}

export function diffAll(
  pairs: readonly Pair[],
  context: DiffContext,
  state: State,
  isYoung: (vm: RecordedVm) => boolean,
): Differences {
  const vms = allOfKind(pairs, "vm").map((pair) => diffVm(pair, context));
  const fates = fatesOf(vms);
  const volumes = allOfKind(pairs, "volume").map((pair) => diffVolume(pair, context, state, fates));
  const standingsWith = (groups: readonly GroupDifference[]): Standings =>
    standingsOf({ differences: [groups, vms, volumes], pairs, state, context, isYoung });
  const groupPairs = allOfKind(pairs, "group");
  // A rule may name the IP address of a VM, and a rule's remark the id of a group. What becomes of the groups
  // themselves decides what both are.
  let filled = fillGroups(groupPairs, standingsWith([]));
  let groups = diffGroups(filled.pairs, context, state);
  const standings = standingsWith(groups);
  if (filled.pairs !== groupPairs) {
    filled = fillGroups(groupPairs, standings);
    groups = diffGroups(filled.pairs, context, state);
  }
  const { diagnostics } = filled;
  const own: { readonly [K in Kind]?: readonly ResourceDifference[] } = { group: groups, vm: vms, volume: volumes };
  const others = pairs.filter(({ kind }) => own[kind] === undefined);
  // The compiler knows the differences of the kinds that have code of their own.
  const usual = others.map((pair) => diffUsual(pair, context, state, fates) as ResourceDifference);
  const all = kinds.flatMap((kind) => own[kind] ?? allOfKind(usual, kind));
  return { vms, volumes, groups, all, fates, standings, diagnostics };
}

function fillGroups(
  pairs: readonly PairOf<"group">[],
  standings: Standings,
): { readonly pairs: readonly PairOf<"group">[]; readonly diagnostics: readonly Diagnostic[] } {
  const diagnostics: Diagnostic[] = [];
  let changed = false;
  const filled = pairs.map((pair) => {
    if (pair.desired === undefined || !usesComputed(pair.desired)) return pair;
    changed = true;
    const { group, diagnostics: found } = fillGroup(pair.desired, standings);
    diagnostics.push(...found);
    return { ...pair, desired: group };
  });
  return changed ? { pairs: filled, diagnostics } : { pairs, diagnostics };
}

function fatesOf(vms: readonly VmDifference[]): HostFates {
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

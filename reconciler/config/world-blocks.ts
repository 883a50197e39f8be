/** A whole observed world as blocks: keys for everything first, so that whatever names another names its key. */
import type { VmDisks } from "../core/model/disks";
import { type Kind, kindRows, type Section } from "../core/model/kinds";
import type { LiveGroup, LiveOf, LiveVm, LiveVolume } from "../core/model/live";
import { keysOf } from "../core/text/objects";
import { blockOfGroup, nameGroup } from "../kinds/group/block";
import { blockOfVm } from "../kinds/vm/block";
import { blockOfVolume } from "../kinds/volume/block";
import { blockOfUsual, createNames } from "./live-blocks";
import type { Plain, YamlBlock } from "./yaml/write";

export interface ObservedWorld extends Readonly<Record<Section, readonly unknown[]>> {
  readonly vms: readonly { readonly vm: LiveVm; readonly disks: VmDisks }[];
  readonly volumes: readonly LiveVolume[];
  readonly groups: readonly LiveGroup[];
  /** Of kinds that are rows alone. */
  readonly others?: readonly LiveOf[Kind][];
}

export interface WorldBlocks {
  readonly blocks: readonly YamlBlock[];
  /** Resources without a block, with the reason, a line for each. */
  readonly left: readonly string[];
}

export function worldBlocks(world: ObservedWorld): WorldBlocks {
  const names = createNames();
  const left: string[] = [];
  const keyOfVm = new Map<string, string>();
  const keyOrId = (id: string): Plain => keyOfVm.get(id) ?? { id };
  const vms = world.vms.map(({ vm, disks }) => {
    const block = blockOfVm(vm, disks, names);
    keyOfVm.set(vm.id, block.key);
    if (!disks.told)
      left.push(
        `the disks of VM ${vm.name} (${vm.id}) are not told apart; only those that --volume ID names are written`,
      );
    return block;
  });
  const volumes = world.volumes.map((volume) => {
    const on = volume.attachedTo;
    return blockOfVolume(volume, typeof on === "string" ? keyOrId(on) : undefined, names);
  });
  const named = world.groups.flatMap((group) => {
    if (!isOfPlatform(group)) return [nameGroup(group, names)];
    left.push(`group ${group.name ?? group.id} (${group.id}) is managed by the platform and cannot be declared`);
    return [];
  });
  const keyOfGroup = new Map(named.map(({ group, naming }) => [group.id, naming.key]));
  const groups = named.map((one) => blockOfGroup(one, (id) => keyOfGroup.get(id)));
  const written: Readonly<Record<Section, readonly YamlBlock[]>> = { vms, volumes, groups };
  const others = (world.others ?? []).map((live) => blockOfUsual(live, keyOrId, names));
  return { blocks: [...keysOf(kindRows).flatMap((kind) => written[kindRows[kind].section] ?? []), ...others], left };
}

const isOfPlatform = ({ name, rules = [] }: LiveGroup): boolean =>
  name?.toLowerCase() === "default" || (rules.length > 0 && rules.every((rule) => rule.platform === true));

/** The YAML for one existing resource, as `import --generate` and `group import` print it. */
import { blockOfUsual, createNames } from "../config/live-blocks";
import type { YamlBlock } from "../config/yaml/write";
import { type Address, componentOf, keyWithin, parseAddress } from "../core/model/address";
import { type Diagnostic, hasErrors } from "../core/model/diagnostic";
import { type Kind, kindRows } from "../core/model/kinds";
import type { State } from "../core/model/recorded";
import { hostOf } from "../core/model/relations";
import { onlyDefined } from "../core/text/objects";
import { pullWorld } from "../engine/pull";
import { blockOfGroup, nameGroup } from "../kinds/group/block";
import { blockOfVm } from "../kinds/vm/block";
import { blockOfVolume } from "../kinds/volume/block";
import type { ServiceReader } from "../service/client";

export interface Generated {
  readonly block?: YamlBlock;
  readonly diagnostics: readonly Diagnostic[];
}

export async function generateBlock(
  client: ServiceReader,
  address: Address,
  id: string,
  state: State,
): Promise<Generated> {
  // An address was parsed when the command line or the file was read.
  const parts = parseAddress(address)!;
  const pulled = await pullWorld(client, { [kindRows[parts.kind].section]: [id] });
  const { diagnostics } = pulled;
  if (hasErrors(diagnostics)) return { diagnostics };
  const names = createNames();
  const keyOf = (kind: string, wanted: string): string | undefined => keyOfId({ kind, id: wanted }, state, address);
  const [vm] = pulled.vms;
  const [volume] = pulled.volumes;
  const [group] = pulled.groups;
  const [other] = pulled.others;
  const blocks: Readonly<Partial<Record<Kind, () => YamlBlock | undefined>>> = {
    vm: () => vm && blockOfVm(vm.vm, vm.disks, names, parts.key),
    volume: () => {
      const on = volume?.attachedTo;
      const attachTo = typeof on === "string" ? (keyOf("vm", on) ?? { id: on }) : undefined;
      return volume && blockOfVolume(volume, attachTo, names, parts.key);
    },
    group: () => {
      const own = (wanted: string): string | undefined => (wanted === id ? parts.key : keyOf("group", wanted));
      return group && blockOfGroup(nameGroup(group, names, parts.key), own);
    },
  };
  const usual = () =>
    other && blockOfUsual(other, (on) => keyOf(hostOf[parts.kind]?.kind ?? "vm", on) ?? { id: on }, names, parts.key);
  const block = (blocks[parts.kind] ?? usual)();
  if (block === undefined) return { diagnostics };
  const { within, each } = parts;
  const notes = [
    ...(within === undefined ? [] : [`for the file of the component ${within}; imports stand in the project's own`]),
    ...(each === undefined
      ? []
      : [`${address} as it is; the for_each of its block, and what holds for all, are not in it`]),
    ...(block.notes ?? []),
  ];
  return { block: { ...block, ...onlyDefined({ within }), notes }, diagnostics };
}

/**
 * How a file refers to a resource of the state: by its key, with the for_each key where it has one. The block of a
 * component can name only that component's resources.
 */
function keyOfId(
  { kind, id }: { readonly kind: string; readonly id: string },
  state: State,
  except: Address,
): string | undefined {
  for (const record of state.resources.values())
    if (
      record.kind === kind &&
      record.id === id &&
      record.address !== except &&
      componentOf(record.address) === componentOf(except)
    )
      return keyWithin(record.address);
  return undefined;
}

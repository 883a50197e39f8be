/** Whether an emulated world is what a desired state asks for, told without any of the planner's code. */
import type { OpenText } from "../../reconciler/core/model/computed";
import type { Desired, DesiredVm } from "../../reconciler/core/model/desired";
import type { State } from "../../reconciler/core/model/recorded";
import type { VirtualWorld } from "../support/virtual-world";

export function differencesFromDesired(desired: Desired, stage: VirtualWorld, state: State): string[] {
  const { tables } = stage.emulated.world;
  const problems: string[] = [];
  const idOf = (address: string): string => state.resources.get(address)?.id ?? "none";
  const count = { vm: 0, volume: 0, group: 0 };
  for (const resource of desired.resources) {
    count[resource.kind]++;
    const { address, name } = resource;
    const id = idOf(address);
    const entity = tables[resource.kind].get(id);
    if (entity === undefined) {
      problems.push(`${address} does not exist`);
      continue;
    }
    const expectSame = (what: string, actual: unknown, wanted: unknown): void => {
      if (actual !== wanted) problems.push(`${address}: ${what} is ${String(actual)}, not ${String(wanted)}`);
    };
    expectSame("name", entity.name, name);
    if (resource.kind === "vm") compareVm(resource, stage, id, expectSame);
    if (resource.kind === "volume") {
      const volume = tables.volume.get(id)!;
      expectSame("size", volume.size, resource.sizeGb);
      const on = resource.attachTo;
      expectSame("attached_to", volume.attached_to, on === undefined ? null : "id" in on ? on.id : idOf(on.address));
    }
    if (resource.kind === "group") {
      const live = [...tables.rule.values()].filter((rule) => rule.security_group_id === id);
      const platform = live.filter(
        (rule) => rule.direction === "egress" && rule.protocol === null && rule.remote_group_id === null,
      );
      if (resource.description !== undefined)
        expectSame("description", tables.group.get(id)!.description, resource.description);
      for (const rule of resource.rules) {
        const { remote } = rule;
        const group =
          remote.kind !== "group" ? null : "id" in remote.group ? remote.group.id : idOf(remote.group.address);
        const found = live.some(
          (one) =>
            one.direction === rule.direction &&
            one.ether_type === rule.ethertype &&
            (one.protocol ?? "any") === rule.protocol &&
            (one.port_range_min ?? undefined) === rule.ports?.min &&
            (one.remote_group_id ?? null) === group &&
            (remote.kind !== "cidr" || one.remote_ip_prefix === remote.cidr) &&
            (remote.kind !== "computed" || one.remote_ip_prefix === `${addressIn(remote.text, stage, idOf)}/32`),
        );
        if (!found) problems.push(`${address}: rule ${JSON.stringify(rule)} is missing`);
      }
      const strict = resource.rulesMode === "authoritative" && resource.lifecycle.onRuleRemoval === "replace";
      const declaredOpen = resource.rules.filter(
        (rule) => rule.direction === "egress" && rule.protocol === "any" && rule.remote.kind === "any",
      );
      if (strict && live.length - platform.length > resource.rules.length - declaredOpen.length)
        problems.push(
          `${address}: ${live.length - platform.length} rules, of which ${resource.rules.length} are declared`,
        );
    }
  }
  const shown = Object.fromEntries(
    stage.emulated.dump().vms.map(({ id, private_ip, floating_ip }) => [id, [private_ip, floating_ip]]),
  );
  const outputs = Object.entries(state.outputs ?? {}).map(([name, { value }]) => [name, value]);
  const wanted = (desired.outputs ?? []).map(({ name }) => [name, shown[idOf(name.replace("addresses of ", ""))]]);
  if (JSON.stringify(outputs.sort()) !== JSON.stringify(wanted.sort()))
    problems.push(`outputs are ${JSON.stringify(outputs)}, not ${JSON.stringify(wanted)}`);
  const vms = tables.vm.size;
  if (vms !== count.vm) problems.push(`${vms} VMs, ${count.vm} declared`);
  const groups = [...tables.group.values()].filter((group) => !group.platform).length;
  if (groups !== count.group) problems.push(`${groups} groups, ${count.group} declared`);
  const known = new Set(
    [...state.resources.values()].flatMap((one) => [one.id, one.kind === "vm" ? one.dataVolumeId : undefined]),
  );
  for (const volume of tables.volume.values())
    if (!volume.root && !known.has(volume.id) && !state.orphans.has(`volume:${volume.id}`))
      problems.push(`volume ${volume.name} is known to nobody`);
  for (const { id, missingSince } of state.orphans.values())
    if (missingSince === undefined && !tables.volume.has(id)) problems.push(`the orphan ${id} does not exist any more`);
  return problems;
}

/** The address that a rule names, as the service shows it. */
function addressIn({ parts }: OpenText, stage: VirtualWorld, idOf: (address: string) => string): unknown {
  const [part] = parts;
  if (part === undefined || typeof part === "string" || parts.length > 1) return undefined;
  const vm = stage.emulated.dump().vms.find(({ id }) => id === idOf(part.address));
  return part.attribute === "private_ip" ? vm?.private_ip : vm?.floating_ip;
}

function compareVm(
  vm: DesiredVm,
  stage: VirtualWorld,
  id: string,
  expectSame: (what: string, actual: unknown, wanted: unknown) => void,
): void {
  const { tables } = stage.emulated.world;
  const live = stage.emulated.dump().vms.find((one) => one.id === id)!;
  expectSame("flavor", tables.flavor.get(live.flavor_id)?.name, vm.flavor);
  if (vm.lifecycle.onImageChange !== "ignore") expectSame("image", live.image_id, vm.image);
  expectSame("root_size", live.root_size, vm.rootSizeGb);
  if (vm.power !== undefined) expectSame("status", live.status, vm.power === "running" ? "ACTIVE" : "SHUTOFF");
  const sizes = [...tables.volume.values()]
    .filter((volume) => volume.attached_to === id && !volume.root)
    .map((volume) => volume.size);
  expectSame(`a data disk of ${vm.sizeGb} among ${sizes.join(", ")}`, sizes.includes(vm.sizeGb), true);
}

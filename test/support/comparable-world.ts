/** A world of the emulator without its ids and times: two that were made by different requests can be compared. */
import type { WorldDump } from "../../emulator";

/** `powered`: names of the VMs whose power is declared; that of the others is nobody's to compare. */
export function comparableWorld(dump: WorldDump, powered: ReadonlySet<string>): unknown {
  const nameOf = new Map<string, string>();
  for (const { id, name } of [...dump.vms, ...dump.groups, ...dump.flavors]) nameOf.set(id, name);
  const sorted = <T>(items: readonly T[]): T[] =>
    [...items].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  const vms = dump.vms.map((vm) => ({
    name: vm.name,
    status: powered.has(vm.name) ? vm.status : "not managed",
    flavor: nameOf.get(vm.flavor_id),
    image: vm.image_id,
    owner: vm.owner,
    user: vm.user_id,
    region: vm.region,
    rootSize: vm.root_size,
    hasFloatingIp: vm.floating_ip !== null,
    rootWipes: vm.root_wipes,
  }));
  const ours = /^vol-/;
  const volumes = dump.volumes.map((volume) => ({
    name: ours.test(volume.name) ? volume.name : volume.root ? "root" : "data",
    size: volume.size,
    status: volume.status,
    on: volume.attached_to === null ? null : nameOf.get(volume.attached_to),
  }));
  const rules = new Map<string, string[]>();
  for (const rule of dump.rules) {
    const remote = rule.remote_group_id === null ? rule.remote_ip_prefix : nameOf.get(rule.remote_group_id);
    const text = `${rule.direction} ${rule.ether_type} ${rule.protocol} ${rule.port_range_min}-${rule.port_range_max} ${remote}`;
    const list = rules.get(rule.security_group_id);
    if (list === undefined) rules.set(rule.security_group_id, [text]);
    else list.push(text);
  }
  const groups = dump.groups.map((group) => ({
    name: group.name,
    description: group.description,
    rules: (rules.get(group.id) ?? []).sort(),
  }));
  const snapshots = dump.images.filter((image) => image.project_id !== null).map((image) => image.name);
  return { vms: sorted(vms), volumes: sorted(volumes), groups: sorted(groups), snapshots: snapshots.sort() };
}

/** Random desired states over a small pool of keys, so that two of them in a row make an edit and not a new world. */
import fc from "fast-check";
import type { WorldDump } from "../../emulator";

export interface RandomVm {
  readonly name: string;
  readonly flavor_id: string;
  readonly image_id: string;
  readonly owner: string;
  readonly size: number;
  readonly power?: string;
  readonly skip_floating_ip: boolean;
  readonly lifecycle?: object;
}
export interface RandomVolume {
  readonly name: string;
  readonly size: number;
  readonly attach_to?: string;
  readonly flush: object;
}
export interface RandomGroup {
  readonly name: string;
  readonly description?: string;
  readonly rules_mode?: string;
  readonly rules: readonly object[];
}
export interface RandomWorld {
  readonly vms: Readonly<Record<string, RandomVm>>;
  readonly volumes: Readonly<Record<string, RandomVolume>>;
  readonly groups: Readonly<Record<string, RandomGroup>>;
}

const vmKeys = ["one", "two", "three", "four"];
const volumeKeys = ["data", "logs", "cache", "extra"];
const groupKeys = ["front", "back", "admin"];
const flavors = ["m1.small", "m1.medium", "m1.large"];
const images = ["ubuntu-24.04", "debian-12"];

const subset = <T>(keys: readonly string[], value: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> =>
  fc
    .tuple(...keys.map((key) => fc.option(fc.tuple(fc.constant(key), value), { freq: 4, nil: undefined })))
    .map((entries) => Object.fromEntries(entries.filter((entry) => entry !== undefined)));

/** Names are a permutation of few, so that renames and swaps happen. */
const vm = fc.record({
  flavor_id: fc.constantFrom(...flavors),
  image_id: fc.constantFrom(...images),
  owner: fc.constantFrom("ops@acme.example", "ops"),
  size: fc.constantFrom(10, 20),
  skip_floating_ip: fc.boolean(),
  power: fc.constantFrom(undefined, undefined, "running", "stopped"),
  lifecycle: fc.constantFrom(
    undefined,
    undefined,
    { on_image_change: "replace" },
    { preserved_volumes: "delete" },
    { snapshot_before: ["rebuild", "delete"] },
    { verify_resize: { check: { tcp: 22 } } },
  ),
});

const volume = fc.record({
  size: fc.constantFrom(5, 6, 7),
  attach_to: fc.constantFrom(undefined, ...vmKeys),
  flush: fc.constantFrom({ via: "ask" }, { via: "stop" }, { via: "command", command: ["true"] }),
});

const rule = fc.record({
  direction: fc.constantFrom("ingress", "ingress", "egress"),
  protocol: fc.constantFrom("tcp", "udp"),
  dst_port: fc.constantFrom(22, 80, 443),
  remote: fc.oneof(
    fc.constantFrom(
      { remote_ip: "0.0.0.0/0" },
      { remote_ip: "10.0.0.0/8" },
      { remote_ip: "2001:db8::/32", ethertype: "IPv6" },
    ),
    fc.constantFrom(...groupKeys).map((remote_group) => ({ remote_group })),
  ),
});

const group = fc.record({
  description: fc.constantFrom(undefined, "first", "second"),
  rules_mode: fc.constantFrom(undefined, undefined, "additive"),
  rules: fc.array(rule, { maxLength: 4 }),
});

export const randomWorld: fc.Arbitrary<RandomWorld> = fc
  .record({
    vms: subset(vmKeys, vm),
    volumes: subset(volumeKeys, volume),
    groups: subset(groupKeys, group),
    vmNames: fc.shuffledSubarray(vmKeys, { minLength: 4 }),
    groupNames: fc.shuffledSubarray(groupKeys, { minLength: 3 }),
    stable: fc.boolean(),
  })
  .map(({ vms, volumes, groups, vmNames, groupNames, stable }) => {
    const nameOf = (keys: readonly string[], names: readonly string[], key: string): string =>
      stable ? key : names[keys.indexOf(key)]!;
    return {
      vms: Object.fromEntries(
        Object.entries(vms).map(([key, value]) => [
          key,
          dropUndefined({ ...value, name: `vm-${nameOf(vmKeys, vmNames, key)}` }),
        ]),
      ),
      volumes: Object.fromEntries(
        Object.entries(volumes).map(([key, value]) => [
          key,
          dropUndefined({
            ...value,
            name: `vol-${key}`,
            ...(value.attach_to !== undefined && vms[value.attach_to] === undefined ? { attach_to: undefined } : {}),
          }),
        ]),
      ),
      groups: Object.fromEntries(
        Object.entries(groups).map(([key, value]) => {
          const rules = new Map<string, object>();
          for (const { remote, ...rest } of value.rules) {
            if ("remote_group" in remote && groups[remote.remote_group] === undefined) continue;
            const shown = { ...rest, ...remote };
            rules.set(JSON.stringify(shown), shown);
          }
          return [
            key,
            dropUndefined({
              ...value,
              name: `group-${nameOf(groupKeys, groupNames, key)}`,
              rules: [...rules.values()],
            }),
          ];
        }),
      ),
    } as unknown as RandomWorld;
  });

const dropUndefined = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as T;

/** Sizes only grow: an edit never asks for less than what is there. */
export function keepSizes(before: RandomWorld, after: RandomWorld): RandomWorld {
  const grow = <T extends { readonly size: number }>(
    items: Readonly<Record<string, T>>,
    old: Readonly<Record<string, T>>,
  ): Record<string, T> =>
    Object.fromEntries(
      Object.entries(items).map(([key, item]) => [key, { ...item, size: Math.max(item.size, old[key]?.size ?? 0) }]),
    );
  return { ...after, vms: grow(after.vms, before.vms), volumes: grow(after.volumes, before.volumes) };
}

export const yamlOf = (world: RandomWorld): string =>
  JSON.stringify({
    version: 1,
    project: "acme",
    region: "in-west-1",
    defaults: { vm: { user_id: "1042" } },
    ...world,
  });

/**
 * A world of the emulator without its ids and times: two that were made by different requests can be compared.
 * `powered`: names of the VMs whose power is declared; that of the others is nobody's to compare.
 */
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

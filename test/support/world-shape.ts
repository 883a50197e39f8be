/**
 * What a world amounts to, without ids: two runs that did the same leave the same shape. And what of it nobody names:
 * neither a record, nor an intent, nor an orphan.
 */
import type { WorldDump } from "../../emulator";
import type { State } from "../../reconciler/core/model/recorded";

/** What a user may have made of it: without the disks and groups that the platform brings, and the images of everybody. */
export interface Dump {
  readonly vm: WorldDump["vms"];
  readonly volume: WorldDump["volumes"];
  readonly group: WorldDump["groups"];
  readonly rule: WorldDump["rules"];
  readonly image: WorldDump["images"];
}

/** `dump`: as the control endpoint answers. */
export function readDump(dump: unknown): Dump {
  const { vms, volumes, groups, rules, images } = dump as WorldDump;
  return {
    vm: vms,
    volume: volumes.filter((volume) => !volume.root),
    group: groups.filter((group) => !group.platform),
    rule: rules,
    image: images.filter((image) => image.project_id !== null),
  };
}

export type Shape = Readonly<Record<"vms" | "volumes" | "groups" | "images", readonly unknown[]>>;

export function shapeOf(dump: Dump): Shape {
  const vmName = new Map(dump.vm.map((vm) => [vm.id, vm.name]));
  const groupName = new Map(dump.group.map((group) => [group.id, group.name]));
  // Which address a VM gets is chance; whose it is, is not.
  const hostOf = new Map<string, string>(
    dump.vm.flatMap(({ name, private_ip, floating_ip }) => [
      [`${private_ip}/32`, `private ${name}`] as const,
      [`${floating_ip}/32`, `public ${name}`] as const,
    ]),
  );
  const byText = <T>(items: T[]): T[] => items.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  return {
    vms: byText(
      dump.vm.map(({ name, status, flavor_id, image_id, owner, root_size, root_wipes, pending }) => ({
        name,
        status: pending?.becomes?.status ?? status,
        ...{ flavor_id, image_id, owner, root_size, root_wipes },
      })),
    ),
    volumes: byText(
      dump.volume.map(({ name, size, attached_to }) => ({ name, size, on: vmName.get(attached_to ?? "") ?? null })),
    ),
    groups: byText(
      dump.group.map(({ id, name, description }) => ({
        name,
        description,
        rules: byText(
          dump.rule
            .filter((rule) => rule.security_group_id === id)
            .map((rule) => [
              rule.direction,
              rule.ether_type,
              rule.protocol,
              rule.port_range_min,
              rule.port_range_max,
              hostOf.get(rule.remote_ip_prefix ?? "") ?? rule.remote_ip_prefix,
              groupName.get(rule.remote_group_id ?? "") ?? rule.remote_group_id,
            ]),
        ),
      })),
    ),
    images: dump.image.map(({ name }) => name).sort(),
  };
}

/** What exists and the state does not name. */
export function unnamed(dump: Dump, state: State, letGo: readonly string[] = []): string[] {
  const ids = new Set<string>();
  const names = new Set<string>(letGo);
  for (const record of state.resources.values()) {
    if (record.id !== undefined) ids.add(record.id);
    else names.add(`${record.kind} ${record.name}`);
    if (record.kind === "vm" && record.dataVolumeId !== undefined) ids.add(record.dataVolumeId);
    if (record.kind === "group") for (const retired of record.retired ?? []) ids.add(retired.id);
    // The data volume of a VM whose disks nobody has seen yet comes with it.
    if (record.kind === "vm" && record.id !== undefined && record.dataVolumeId === undefined)
      for (const volume of dump.volume) if (volume.attached_to === record.id) ids.add(volume.id);
  }
  for (const orphan of state.orphans.values()) ids.add(orphan.id);
  for (const intent of state.intents.values()) names.add(`${intent.operation.split(".")[0]} ${intent.name}`);
  const vmNames = new Map(dump.vm.map((vm) => [vm.id, vm.name]));
  const problems: string[] = [];
  for (const kind of ["vm", "volume", "group"] as const)
    for (const row of dump[kind]) {
      if (ids.has(row.id) || names.has(`${kind} ${row.name}`)) continue;
      if ("attached_to" in row && names.has(`vm ${vmNames.get(row.attached_to ?? "")}`)) continue;
      problems.push(`${kind} ${row.name} (${row.id})`);
    }
  return problems;
}

/** What is left on purpose and named may differ: an interrupted run leaves as an orphan what it did not get to delete. */
export function withoutOrphans(dump: Dump, state: Pick<State, "orphans">): Dump {
  const orphans = new Set([...state.orphans.values()].map(({ id }) => id));
  return { ...dump, volume: dump.volume.filter(({ id }) => !orphans.has(id)) };
}

export function differences(found: Shape, expected: Shape): string[] {
  return (Object.keys(expected) as (keyof Shape)[]).flatMap((part) => {
    const texts = (shape: Shape): string[] => shape[part].map((item) => JSON.stringify(item));
    const [have, want] = [texts(found), texts(expected)];
    const less = (from: readonly string[], without: readonly string[]): string[] => {
      const left = [...without];
      return from.filter((text) => {
        const at = left.indexOf(text);
        if (at >= 0) left.splice(at, 1);
        return at < 0;
      });
    };
    const [more, missing] = [less(have, want), less(want, have)];
    return more.length + missing.length === 0 ? [] : [`${part}: there is ${more.join(" ")}, not ${missing.join(" ")}`];
  });
}

/** Which requests a service refused, but for the look that has to follow a delete, and finds nothing. */
interface Answered {
  readonly operation: string;
  readonly status: number;
}

/** `idOf`: what a request is about, spelled alike for a delete and for a look. */
export function refusedOf<T extends Answered>(sent: readonly T[], idOf: (one: T) => string | undefined): T[] {
  const deleted = new Set<string | undefined>();
  return sent.filter((one) => {
    if (/^(volume|group)\.delete$/.test(one.operation) && one.status < 300) deleted.add(idOf(one));
    if (/^(volume\.get|group\.get|group\.rule\.list)$/.test(one.operation) && one.status === 404)
      return !deleted.has(idOf(one));
    return one.status >= 400;
  });
}

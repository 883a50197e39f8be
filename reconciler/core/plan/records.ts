/**
 * What the state will say of a resource once it is as desired. A field that a step is still to make true keeps what is
 * recorded until that step has succeeded; everything else follows the file at once.
 */

import { recordRules } from "../diff/group";
import type { DesiredGroup, DesiredVm, DesiredVolume, Reference } from "../model/desired";
import type { RecordedGroup, RecordedVm, RecordedVolume } from "../model/recorded";

export type Unidentified<T> = Omit<T, "id">;

export function vmRecord(desired: DesiredVm, imageId: string | undefined): Unidentified<RecordedVm> {
  const { lifecycle } = desired;
  return {
    kind: "vm",
    address: desired.address,
    name: desired.name,
    flavor: desired.flavor,
    image: desired.image,
    ...(imageId === undefined ? {} : { imageId }),
    owner: desired.owner,
    userId: desired.userId,
    project: desired.project,
    region: desired.region,
    rootSizeGb: desired.rootSizeGb,
    sizeGb: desired.sizeGb,
    skipFloatingIp: desired.skipFloatingIp,
    ...(desired.power === undefined ? {} : { power: desired.power }),
    preventDestroy: lifecycle.preventDestroy,
    onDelete: {
      snapshot: lifecycle.snapshotBefore.includes("delete"),
      ...(lifecycle.deleteFloatingIp === undefined ? {} : { deleteFloatingIp: lifecycle.deleteFloatingIp }),
      preservedVolumes: lifecycle.preservedVolumes,
    },
  };
}

export function volumeRecord(desired: DesiredVolume): Unidentified<RecordedVolume> {
  return {
    kind: "volume",
    address: desired.address,
    name: desired.name,
    sizeGb: desired.sizeGb,
    flush: desired.flush,
    preventDestroy: desired.lifecycle.preventDestroy,
  };
}

export function groupRecord(
  desired: DesiredGroup,
  resolve: (group: Reference) => string | undefined,
  platformRules: readonly string[],
): Unidentified<RecordedGroup> {
  return {
    kind: "group",
    address: desired.address,
    name: desired.name,
    ...(desired.description === undefined ? {} : { description: desired.description }),
    rules: recordRules(desired.rules, resolve),
    platformRules,
    preventDestroy: desired.lifecycle.preventDestroy,
  };
}

/** Which record fields a field of the file stands behind. */
const vmRecordFields: Record<string, readonly (keyof RecordedVm)[]> = {
  name: ["name"],
  flavor_id: ["flavor"],
  image_id: ["image", "imageId"],
  owner: ["owner"],
  user_id: ["userId"],
  project: ["project"],
  region: ["region"],
  root_size: ["rootSizeGb"],
  size: ["sizeGb"],
  skip_floating_ip: ["skipFloatingIp"],
  power: ["power"],
};
const volumeRecordFields: Record<string, readonly (keyof RecordedVolume)[]> = {
  name: ["name"],
  size: ["sizeGb"],
  attach_to: ["attachedTo"],
};
const groupRecordFields: Record<string, readonly (keyof RecordedGroup)[]> = {
  name: ["name"],
  description: ["description"],
  rules: ["rules"],
};
const recordFields = { vm: vmRecordFields, volume: volumeRecordFields, group: groupRecordFields };

/** `next`, but with the old value of every field that is still to change. */
export function holdBack<T extends RecordedVm | RecordedVolume | RecordedGroup>(
  next: T,
  previous: Partial<T>,
  pendingFields: Iterable<string>,
): T {
  const held: Record<string, unknown> = { ...next };
  const table: Record<string, readonly string[]> = recordFields[next.kind];
  for (const field of pendingFields) {
    for (const key of table[field] ?? []) {
      const value = (previous as Record<string, unknown>)[key];
      if (value === undefined) delete held[key];
      else held[key] = value;
    }
  }
  return held as unknown as T;
}

/** What a step makes true: the record fields behind some fields of the file. */
export function patchFor<T extends RecordedVm | RecordedVolume | RecordedGroup>(
  next: Unidentified<T> & { kind: T["kind"] },
  fields: readonly string[],
): Partial<T> {
  const patch: Record<string, unknown> = {};
  const table: Record<string, readonly string[]> = recordFields[next.kind];
  for (const field of fields) for (const key of table[field] ?? []) patch[key] = (next as Record<string, unknown>)[key];
  return patch as Partial<T>;
}

/**
 * The one table of what each field means: how it is called in the file, what a change of it leads to, and whether
 * that loses data. Diff, plan text and documents read it; a new field does not compile until it has a row.
 */
import type { Kind } from "./address";
import type { DesiredGroup, DesiredVm, DesiredVolume } from "./desired";

export type FieldEffect =
  /** Changed where it is. */
  | "in_place"
  /** The service cannot change it: a new resource takes its place. */
  | "replace"
  /** Decided by lifecycle.on_image_change. */
  | "image"
  /** Says how the tool behaves; nothing in the service. */
  | "none";

export interface FieldRow {
  /** The name in the file, in messages and in JSON. */
  readonly field: string;
  readonly effect: FieldEffect;
  /** What happens, in the words of the plan. */
  readonly verb: string;
}

const row = (field: string, effect: FieldEffect, verb: string): FieldRow => ({ field, effect, verb });

type Declared<T> = Exclude<keyof T, "kind" | "address" | "source" | "lifecycle" | "commandFile">;

export const vmFields = {
  name: row("name", "in_place", "rename"),
  flavor: row("flavor_id", "in_place", "resize"),
  image: row("image_id", "image", "rebuild"),
  owner: row("owner", "replace", "replace"),
  userId: row("user_id", "replace", "replace"),
  project: row("project", "replace", "replace"),
  region: row("region", "replace", "replace"),
  rootSizeGb: row("root_size", "replace", "replace"),
  sizeGb: row("size", "in_place", "grow"),
  skipFloatingIp: row("skip_floating_ip", "replace", "replace"),
  power: row("power", "in_place", "power"),
} as const satisfies Record<Declared<DesiredVm>, FieldRow>;

export const volumeFields = {
  name: row("name", "replace", "replace"),
  sizeGb: row("size", "in_place", "grow"),
  attachTo: row("attach_to", "in_place", "attach"),
  flush: row("flush", "none", ""),
} as const satisfies Record<Declared<DesiredVolume>, FieldRow>;

export const groupFields = {
  name: row("name", "in_place", "rename"),
  description: row("description", "in_place", "update"),
  rules: row("rules", "in_place", "update"),
  rulesMode: row("rules_mode", "none", ""),
} as const satisfies Record<Declared<DesiredGroup>, FieldRow>;

export const fieldsOf = { vm: vmFields, volume: volumeFields, group: groupFields } satisfies Record<
  Kind,
  Record<string, FieldRow>
>;

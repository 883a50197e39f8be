/** The fields of each kind by the names they have in a file: what ignore_changes may name. */
import type { Kind } from "../core/model/address";

export const fieldNames = {
  vm: [
    "name",
    "flavor_id",
    "image_id",
    "owner",
    "user_id",
    "project",
    "region",
    "root_size",
    "size",
    "skip_floating_ip",
    "power",
  ],
  volume: ["name", "size", "attach_to"],
  group: ["name", "description", "rules"],
} as const satisfies Record<Kind, readonly string[]>;

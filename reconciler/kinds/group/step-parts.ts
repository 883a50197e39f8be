/** What the planning of a group and the retiring of a replaced group have in common. */

import type { GroupDifference } from "./diff";

/** A group that has another id after this plan than before. */
export type FreshGroup = Extract<GroupDifference, { readonly action: "create" | "replace" }>;

export const getsNewId = (difference: GroupDifference): difference is FreshGroup =>
  difference.action === "create" || difference.action === "replace";

/**
 * A name to set a group aside: readable, of the allowed length, the same in every run, and unchanged when the name is
 * one already.
 */
export function asideName(name: string, id: string): string {
  const mark = `-old-${id
    .replace(/[^a-z0-9]/gi, "")
    .toLowerCase()
    .slice(-6)}`;
  return name.endsWith(mark) ? name : `${name.slice(0, 50 - mark.length)}${mark}`;
}

/** What the planning of a group and the retiring of a replaced group have in common. */

import type { GroupDifference } from "./diff";

/** A group that has another id after this plan than before. */
export type FreshGroup = Extract<GroupDifference, { readonly action: "create" | "replace" }>;

export const getsNewId = (difference: GroupDifference): difference is FreshGroup =>
  difference.action === "create" || difference.action === "replace";

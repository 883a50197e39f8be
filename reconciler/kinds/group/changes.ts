import type { Change } from "../../core/diff/changes";

/** Only a change of a group changes who can reach what. */
export const touchesGroups = (changes: readonly Pick<Change, "kind">[]): boolean =>
  changes.some(({ kind }) => kind === "group");

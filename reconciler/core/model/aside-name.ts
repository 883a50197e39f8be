/** The name of a group that is replaced, until it is deleted. */

const longestName = 50;

/** The end of an id, as a name may have it. */
export const idInName = (id: string): string =>
  id
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "")
    .slice(-6);

const asideMark = (id: string): string => `-old-${idInName(id)}`;

/**
 * A name to set a group aside: readable, of the allowed length, the same in every run, and unchanged when the name is
 * one already.
 */
export function asideName(name: string, id: string): string {
  const mark = asideMark(id);
  return name.endsWith(mark) ? name : `${name.slice(0, longestName - mark.length)}${mark}`;
}

/** The name before the group was set aside, where it was not cut off for it. */
export function nameBeforeAside(name: string, id: string): string {
  const mark = asideMark(id);
  return name.endsWith(mark) && name.length < longestName ? name.slice(0, -mark.length) : name;
}

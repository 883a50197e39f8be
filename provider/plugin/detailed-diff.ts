import { isObject } from "../../reconciler/for-provider";

/** Which properties differ, at every depth (`rules[1].dstPort`), and whether each was added, removed or changed. */
export type DiffKind = "add" | "delete" | "update";

export function pathsBetween(path: string, before: unknown, after: unknown): [string, DiffKind][] {
  if (before === undefined || before === null) return after === undefined || after === null ? [] : [[path, "add"]];
  if (after === undefined || after === null) return [[path, "delete"]];
  if (Array.isArray(before) && Array.isArray(after))
    return Array.from({ length: Math.max(before.length, after.length) }, (_, index) =>
      pathsBetween(`${path}[${index}]`, before[index], after[index]),
    ).flat();
  if (isObject(before) && isObject(after))
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) =>
      pathsBetween(`${path}.${key}`, before[key], after[key]),
    );
  return before === after ? [] : [[path, "update"]];
}

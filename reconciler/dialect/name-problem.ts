/** Names that one deployment does not take. A pattern is tried within a limit, for a file brings it. */
import { endlessDetail, fitOf } from "../config/patterns";
import type { Kind } from "../core/model/address";
import type { NameProblem, NameRules } from "../core/model/name-rule";

export function nameProblemBy(rules: NameRules): NameProblem {
  /** Kinds whose pattern did not end once: no other name waits for it as well. */
  const endless = new Set<Kind>();
  return (kind, name) => {
    const { shortest, longest, pattern, says } = rules[kind] ?? {};
    if (longest !== undefined && name.length > longest)
      return `has ${name.length} characters, and at most ${longest} fit`;
    if (shortest !== undefined && name.length < shortest)
      return `has ${name.length} characters, and at least ${shortest} are needed`;
    if (pattern === undefined) return undefined;
    const fit = endless.has(kind) ? "endless" : fitOf(new RegExp(`^(?:${pattern})$`, "u"), name);
    if (fit === "fits") return undefined;
    if (fit === "differs") return says === undefined ? `does not fit ${pattern}` : `does not fit: a name ${says}`;
    endless.add(kind);
    return `cannot be compared with ${pattern}: ${endlessDetail}`;
  };
}

/** Rules for names that one deployment has beyond the contract's; a dialect says them. */
import type { Kind } from "./address";

export interface NameRule {
  readonly shortest?: number;
  readonly longest?: number;
  /** A regular expression that the whole name fits. */
  readonly pattern?: string;
  /** The pattern in words. */
  readonly says?: string;
}

export type NameRules = Readonly<Partial<Record<Kind, NameRule>>>;

/** Why this service does not take the name; `undefined`: it does. */
export function narrowedNameProblem(name: string, rule: NameRule | undefined): string | undefined {
  if (rule === undefined) return undefined;
  const { shortest, longest, pattern, says } = rule;
  if (longest !== undefined && name.length > longest)
    return `has ${name.length} characters, and at most ${longest} fit`;
  if (shortest !== undefined && name.length < shortest)
    return `has ${name.length} characters, and at least ${shortest} are needed`;
  if (pattern !== undefined && !new RegExp(`^(?:${pattern})$`, "u").test(name))
    return says === undefined ? `does not fit ${pattern}` : `does not fit: a name ${says}`;
  return undefined;
}

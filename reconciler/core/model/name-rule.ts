/** Rules for names that one deployment has beyond the contract's; a dialect says them. */
import type { Kind } from "./address";

export interface NameRule {
  readonly shortest?: number;
  readonly longest?: number;
  /** A regular expression that the whole name fits. */
  readonly pattern?: string;
  /** The pattern in words. */
  readonly says?: string;
  /** False: the service takes a second VM or group of the same name. */
  readonly unique?: boolean;
}

export type NameRules = Readonly<Partial<Record<Kind, NameRule>>>;

/** Whether the service refuses a second one of the name. Of volumes the contract does not say so. */
export const isUniqueName = (kind: Kind, rules: NameRules | undefined): boolean =>
  rules?.[kind]?.unique ?? kind !== "volume";

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

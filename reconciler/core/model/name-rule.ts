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
export type NameProblem = (kind: Kind, name: string) => string | undefined;

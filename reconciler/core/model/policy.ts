/** What a file demands of plans beside reachability: built-in checks, and a program of the user's own. */
import type { SourcePosition } from "./diagnostic";
import type { Kind } from "./kinds";

/** So many, or that share of all that the state has. */
export type Amount = { readonly count: number } | { readonly percent: number };

export interface Hours {
  /** 0 is Sunday. None: every day. */
  readonly days: readonly number[];
  /** Minutes after midnight in UTC. */
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

export interface Checks {
  readonly flavors?: readonly string[];
  readonly images?: readonly string[];
  readonly regions?: readonly string[];
  /** By kind, a regular expression that the whole name fits. */
  readonly names?: Readonly<Partial<Record<Kind, string>>>;
  readonly preventDestroy?: readonly Kind[];
  readonly snapshotBefore?: readonly ("rebuild" | "resize" | "delete")[];
  readonly atMost?: {
    readonly remove?: Amount;
    readonly stop?: Amount;
    /** What a month may cost, and by how much one plan may raise it: texts of exact decimal numbers. */
    readonly monthlyCost?: string;
    readonly monthlyIncrease?: string;
  };
  readonly hours?: Hours;
  readonly source: SourcePosition;
}

export interface Policy {
  readonly command: readonly string[];
  /** The variables of this machine that it may see beside the usual ones. */
  readonly env?: readonly string[];
  readonly timeoutMs: number;
  readonly source: SourcePosition;
}

/** What an amount comes to, of so many. */
export const limitOf = (amount: Amount, of: number): number =>
  "count" in amount ? amount.count : Math.floor((of * amount.percent) / 100);

/** What things cost, as a file or a price list says. Every amount is the text of an exact decimal number. */
import type { SourcePosition } from "./diagnostic";

export interface Prices {
  readonly currency: string;
  readonly per: "month" | "hour";
  /** By the name or the id of a flavor: a VM without its disks and its floating address. */
  readonly vm: Readonly<Record<string, string>>;
  /** A GB of a volume, and of the root disk and the data volume of a VM. */
  readonly volumeGb?: string;
  readonly floatingIp?: string;
  /** A GB of an image, as a snapshot leaves one. */
  readonly imageGb?: string;
  readonly source: SourcePosition;
}

/** What a plan does to the costs of a month. Amounts are the texts of exact decimal numbers. */
export interface PlannedCost {
  readonly currency: string;
  readonly before: string;
  readonly after: string;
  /** Resources of which something has no price, before or after: their amounts lack it. */
  readonly unknown: readonly string[];
  /** What each change adds, by address; a change that costs nothing more or less is left out. */
  readonly parts: Readonly<Record<string, string>>;
}

/** So a price by the hour becomes one by the month: 365 days of 24 hours, in twelve parts. */
export const hoursOfMonth = 730;

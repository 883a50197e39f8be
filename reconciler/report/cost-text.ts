/** What a plan costs, in words: a line for the whole, a few words for each change. */

import type { PlannedCost } from "../core/model/prices";
import type { CostOfOrphans } from "../core/plan/cost";
import { decimalText, knownDecimal, minus, plus, signedText, zeroDecimal } from "../core/text/decimal";
import { listed } from "../core/text/list-text";
import { countOf } from "./style";

/** So many addresses without a price are named; the JSON has them all. */
const mostNamesInCost = 5;

/** `Cost: +24.90 EUR a month (144.90 after)`. */
export function costText({ currency, before, after, unknown }: PlannedCost): string {
  const difference = signedText(minus(knownDecimal(after), knownDecimal(before)));
  const without = unknown.length === 0 ? "" : `, without what has no price: ${listed(unknown, mostNamesInCost)}`;
  return `Cost: ${difference} ${currency} a month (${after} after)${without}`;
}

/** What these changes add together; `undefined` where they cost nothing more or less. */
export function partText(cost: PlannedCost | undefined, addresses: readonly string[]): string | undefined {
  if (cost === undefined) return undefined;
  const known = addresses.flatMap((address) => cost.parts[address] ?? []);
  const isPartial = addresses.some((address) => cost.unknown.includes(address));
  const open = isPartial ? "something of it has no price" : undefined;
  if (known.length === 0) return open;
  const sum = known.reduce((total, part) => plus(total, knownDecimal(part)), zeroDecimal);
  const text = `${signedText(sum)} ${cost.currency} a month`;
  return open === undefined ? text : `${text}, and ${open}`;
}

export function orphanCostText({ currency, amount, unknown }: CostOfOrphans): string {
  const without =
    unknown.length === 0
      ? ""
      : `, without ${countOf(unknown.length, "thing")} that ${unknown.length === 1 ? "has" : "have"} no price or no known size`;
  return `Cost of what is left behind: ${decimalText(knownDecimal(amount))} ${currency} a month${without}`;
}

/** For programs: the amounts are texts of exact decimal numbers. */
export const costForPrograms = ({ currency, before, after, unknown }: PlannedCost): object => ({
  currency,
  before,
  after,
  unknown,
});

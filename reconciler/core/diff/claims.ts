/**
 * Which live things belong to an address that has no record of them yet: what an interrupted run made, and what is taken
 * over by name. Known before anything is compared, so that no other address takes one for a stranger, or for its own.
 */
import type { Address } from "../model/address";
import type { DiffContext } from "./context";
import { find } from "./find";
import { findVm } from "./find-vm";
import type { Pair } from "./pair";

export function withClaims(pairs: readonly Pair[], context: DiffContext): DiffContext {
  const claims: [string, Address][] = [];
  for (const pair of pairs) {
    if (!maySettle(pair, context)) continue;
    const found = findPair(pair, context);
    if (found.how === "known" && found.adopted !== undefined) claims.push([found.id, pair.address]);
  }
  return claims.length === 0 ? context : { ...context, addressOfId: new Map([...context.addressOfId, ...claims]) };
}

const maySettle = ({ intent, recorded, import: wanted, kind }: Pair, { options }: DiffContext): boolean =>
  intent !== undefined ||
  (recorded !== undefined && recorded.id === undefined) ||
  wanted?.name !== undefined ||
  (kind === "vm" && recorded === undefined && options.adopt === true);

function findPair(pair: Pair, context: DiffContext) {
  return pair.kind === "vm" ? findVm(pair, context) : find(pair, pair.kind, context);
}

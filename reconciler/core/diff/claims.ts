/**
 * Which live things belong to an address that has no record of them yet: what an interrupted run made, and what is taken
 * over by name. Known before anything is compared, so that no other address takes one for a stranger, or for its own.
 */

import { findVm } from "../../kinds/vm/find";
import type { Address, Kind } from "../model/address";
import { addressesByIdentity, lookUpIn } from "../model/identity";
import { definitionOf, ofKind } from "../model/kinds";
import type { DiffContext } from "./context";
import { find } from "./find";
import type { Pair } from "./pair";

export function withClaims(pairs: readonly Pair[], context: DiffContext): DiffContext {
  const claims: { readonly kind: Kind; readonly id: string; readonly address: Address }[] = [];
  for (const pair of pairs) {
    if (!maySettle(pair, context)) continue;
    const found = findPair(pair, context);
    if (found.how === "known" && found.adopted !== undefined)
      claims.push({ kind: pair.kind, id: found.id, address: pair.address });
  }
  if (claims.length === 0) return context;
  const claimed = lookUpIn(addressesByIdentity(claims));
  return { ...context, addressOf: (one) => claimed(one) ?? context.addressOf(one) };
}

const maySettle = ({ intent, recorded, import: wanted, kind }: Pair, { options }: DiffContext): boolean =>
  intent !== undefined ||
  (recorded !== undefined && recorded.id === undefined) ||
  wanted?.name !== undefined ||
  (definitionOf(kind).takenByName === true && recorded === undefined && options.adopt === true);

function findPair(pair: Pair, context: DiffContext) {
  const vm = ofKind(pair, "vm");
  return vm === undefined ? find(pair, pair.kind, context) : findVm(vm, context);
}

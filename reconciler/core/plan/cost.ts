/**
 * What a plan costs: what the state holds before it, and what its changes add and take away. What has no price is named,
 * and never counted as nothing.
 */
import { catalogueId, type Index, indexCatalogue } from "../canonical/catalogue";
import type { Change } from "../diff/changes";
import type { Address } from "../model/address";
import type { DesiredByKind, DesiredResource } from "../model/desired";
import type { Kind } from "../model/kinds";
import { findSeen, type Live } from "../model/live";
import { hoursOfMonth, type PlannedCost, type Prices } from "../model/prices";
import type { Orphan, RecordedByKind, RecordedResource } from "../model/recorded";
import { asRecord } from "../model/usual";
import {
  type Decimal,
  decimalText,
  isZero,
  knownDecimal,
  minus,
  plus,
  timesDecimal,
  zeroDecimal,
} from "../text/decimal";
import { groupedBy } from "../text/objects";

/** `isPartial`: something of it has no price, and the amount lacks it. */
interface PartialAmount {
  readonly amount: Decimal;
  readonly isPartial: boolean;
}

/** What is paid for: the facts that a record and a declaration share. An unknown fact is `undefined`. */
interface Billed {
  readonly flavor?: string | undefined;
  readonly hasFloatingIp?: boolean | undefined;
  /** GB of its disks. */
  readonly disks: readonly (number | undefined)[];
  readonly isPartial?: boolean;
}

const noAmount: PartialAmount = { amount: zeroDecimal, isPartial: false };
const unpriced: PartialAmount = { amount: zeroDecimal, isPartial: true };

const added = (a: PartialAmount, b: PartialAmount): PartialAmount => ({
  amount: plus(a.amount, b.amount),
  isPartial: a.isPartial || b.isPartial,
});

interface PriceTable {
  readonly prices: Prices;
  readonly priceOfFlavor: (flavor: string) => string | undefined;
}

function priceList(prices: Prices, flavors: Index | undefined): PriceTable {
  const byId = groupedBy(Object.entries(prices.vm), ([flavor]) => catalogueId(flavor, flavors));
  const priceOfFlavor = (flavor: string): string | undefined => {
    const [[, price], ...others] = byId.get(catalogueId(flavor, flavors)) ?? [[flavor, undefined]];
    // The list may have it by its name and by its id. Where these differ, nobody knows the price.
    const isOne =
      price !== undefined && others.every(([, other]) => isZero(minus(knownDecimal(price), knownDecimal(other))));
    return isOne ? price : undefined;
  };
  return { prices, priceOfFlavor };
}

/** The price of so many of one thing for a month. */
function priced(price: string | undefined, count: number | undefined, { per }: Prices): PartialAmount {
  if (count === 0) return noAmount;
  if (price === undefined || count === undefined || !Number.isInteger(count)) return unpriced;
  const hours = per === "hour" ? BigInt(hoursOfMonth) : 1n;
  return { amount: timesDecimal(knownDecimal(price), { units: BigInt(count) * hours, scale: 0 }), isPartial: false };
}

function costOf(one: Billed | undefined, { prices, priceOfFlavor }: PriceTable): PartialAmount {
  if (one === undefined) return noAmount;
  const { flavor, hasFloatingIp, disks, isPartial = false } = one;
  return [
    ...disks.map((gb) => priced(prices.volumeGb, gb, prices)),
    ...(flavor === undefined ? [] : [priced(priceOfFlavor(flavor), 1, prices)]),
    ...(hasFloatingIp === true ? [priced(prices.floatingIp, 1, prices)] : []),
  ].reduce(added, { ...noAmount, isPartial });
}

interface Billing<K extends Kind> {
  recorded(record: RecordedByKind[K]): Billed;
  /** `leaves`: whether the file leaves this field as it is recorded. */
  desired(desired: DesiredByKind[K], leaves: (field: string) => boolean, now: Billed | undefined): Billed;
}

/** What is paid for of a kind. Nothing is paid for one that is not named here. */
const billed: { readonly [K in Kind]?: Billing<K> } = {
  vm: {
    recorded({ flavor, skipFloatingIp, floatingIp, rootSizeGb, sizeGb }) {
      const hasFloatingIp = skipFloatingIp === undefined ? floatingIp !== undefined : !skipFloatingIp;
      return { flavor, hasFloatingIp, disks: [rootSizeGb, sizeGb], isPartial: flavor === undefined };
    },
    desired({ flavor, skipFloatingIp, rootSizeGb, sizeGb }, leaves, now) {
      const [root, data] = now?.disks ?? [];
      return {
        flavor: leaves("flavor_id") ? now?.flavor : flavor,
        hasFloatingIp: leaves("skip_floating_ip") ? now?.hasFloatingIp : !skipFloatingIp,
        disks: [leaves("root_size") ? root : rootSizeGb, leaves("size") ? data : sizeGb],
        isPartial: leaves("flavor_id") && now?.flavor === undefined,
      };
    },
  },
  volume: {
    recorded: ({ sizeGb }) => ({ disks: [sizeGb] }),
    desired: ({ sizeGb }, leaves, now) => ({ disks: leaves("size") ? (now?.disks ?? [undefined]) : [sizeGb] }),
  },
};

/** It is asked of resources of that kind alone. */
const billingOf = (kind: Kind): Billing<Kind> | undefined => billed[kind];

/** Without a record nothing is paid for. */
const ofRecord = (record: RecordedResource | undefined, list: PriceTable): PartialAmount =>
  costOf(record && billingOf(record.kind)?.recorded(record), list);

/**
 * `stays`: it is changed in its place, or taken over; what is made anew is as the file says. `now`: what is known of it
 * before that.
 */
function ofDesired(
  desired: DesiredResource,
  stays: boolean,
  now: RecordedResource | undefined,
  list: PriceTable,
): PartialAmount {
  const leaves = (field: string): boolean => stays && desired.lifecycle.ignoreChanges.includes(field);
  const billedNow = now && billingOf(now.kind)?.recorded(now);
  return costOf(billingOf(desired.kind)?.desired(desired, leaves, billedNow), list);
}

export interface CostInput {
  readonly prices: Prices;
  readonly changes: readonly Change[];
  readonly records: ReadonlyMap<Address, RecordedResource>;
  readonly desiredOf: (address: Address) => DesiredResource | undefined;
  readonly live: Live;
}

export function costOfPlan({ prices, changes, records, desiredOf, live }: CostInput): PlannedCost {
  const list = priceList(prices, indexCatalogue(live.catalogue.flavors));
  const unknown = new Set<Address>();
  let before = zeroDecimal;
  for (const record of records.values()) {
    const { amount, isPartial } = ofRecord(record, list);
    before = plus(before, amount);
    if (isPartial) unknown.add(record.address);
  }
  let after = before;
  const parts: Record<Address, string> = {};
  for (const change of changes) {
    const { address, movedFrom } = change;
    const record = records.get(address) ?? records.get(movedFrom ?? address);
    const now = ofRecord(record, list);
    const then = costAfter(change, desiredOf(address), record, live, list);
    const difference = minus(then.amount, now.amount);
    after = plus(after, difference);
    if (then.isPartial) unknown.add(address);
    if (!isZero(difference)) parts[address] = decimalText(difference);
  }
  return {
    currency: prices.currency,
    before: decimalText(before),
    after: decimalText(after),
    unknown: [...unknown].sort(),
    parts,
  };
}

/** What is deleted, or left behind, is none of the project's any more. */
function costAfter(
  { action, kind, id }: Change,
  desired: DesiredResource | undefined,
  record: RecordedResource | undefined,
  live: Live,
  list: PriceTable,
): PartialAmount {
  if (action === "delete" || action === "forget") return noAmount;
  if (desired === undefined) return ofRecord(record, list);
  if (action !== "import") return ofDesired(desired, action === "update", record, list);
  const shown = findSeen(live, kind, id);
  // What shows is under the keys that a record has.
  return ofDesired(desired, true, shown === undefined ? undefined : asRecord({ ...shown }), list);
}

export interface CostOfOrphans {
  readonly currency: string;
  /** A month's. */
  readonly amount: string;
  /** Ids of what has no price, or whose size nobody knows. */
  readonly unknown: readonly string[];
}

/** What is left behind goes on being paid for. One that the service does not have any more costs nothing. */
export function costOfOrphans(prices: Prices, orphans: readonly Orphan[]): CostOfOrphans {
  const list = priceList(prices, undefined);
  let sum = noAmount;
  const unknown: string[] = [];
  for (const orphan of orphans) {
    if (orphan.missingSince !== undefined) continue;
    const own = ofOrphan(orphan, list);
    if (own.isPartial) unknown.push(orphan.id);
    sum = added(sum, own);
  }
  return { currency: prices.currency, amount: decimalText(sum.amount), unknown };
}

function ofOrphan({ kind, sizeGb, record }: Orphan, list: PriceTable): PartialAmount {
  const { prices } = list;
  if (kind === "image") return priced(prices.imageGb, sizeGb, prices);
  if (billingOf(kind) === undefined) return noAmount;
  if (sizeGb !== undefined) return costOf({ disks: [sizeGb] }, list);
  return record === undefined ? unpriced : ofRecord(record, list);
}

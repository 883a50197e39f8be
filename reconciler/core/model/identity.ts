/**
 * Which resource of the service is meant: a kind and an id. Many services number each kind by itself, so the id alone
 * means a VM as well as a volume; whatever is looked up by an id is looked up by its identity.
 */
import type { Address, Kind } from "./address";

declare const branded: unique symbol;

export interface Identity {
  readonly kind: Kind;
  readonly id: string;
  readonly [branded]: true;
}

/** The only maker. */
export const identity = (kind: Kind, id: string): Identity =>
  // The brand is a mark of the type alone.
  ({ kind, id }) as Identity;

/** As a key: `vm:106`, which is how states and messages write it. */
export const identityKey = ({ kind, id }: Identity): string => `${kind}:${id}`;

/** Of a record; `undefined`: there is none, or nobody knows its id. */
export const identityKeyOf = (
  record: { readonly kind: Kind; readonly id?: string } | null | undefined,
): string | undefined => (record?.id === undefined ? undefined : identityKey(identity(record.kind, record.id)));

/** Which address manages a resource. */
export type AddressOf = (identity: Identity) => Address | undefined;

/** What has an id, by identity; later ones win. */
export function addressesByIdentity(
  records: Iterable<{ readonly kind: Kind; readonly id?: string; readonly address: Address }>,
): Map<string, Address> {
  const addresses = new Map<string, Address>();
  for (const record of records) {
    const key = identityKeyOf(record);
    if (key !== undefined) addresses.set(key, record.address);
  }
  return addresses;
}

export function lookUpIn(addresses: ReadonlyMap<string, Address>): AddressOf {
  return (one) => addresses.get(identityKey(one));
}

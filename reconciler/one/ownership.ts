/**
 * Which resource of a program something in the service belongs to. Two resources can name one thing by the same id: a
 * resource whose name changed without an alias is created under the new name, which takes over what exists, and then
 * deleted under the old one. So each create gives itself an owner, which the state keeps. The owner that made
 * something, or has shown that it manages it, claims it for the rest of the process; what another owner has claimed is
 * never deleted.
 */
import type { Kind } from "../core/model/address";
import type { HandlerService } from "./handler";

interface Claim {
  /** `undefined` in a state that an older version wrote. */
  readonly owner: string | undefined;
  readonly by: "made" | "seen" | "contested";
}

const claims = new WeakMap<HandlerService["client"], Map<string, Claim>>();

function claimsOf({ client }: HandlerService): Map<string, Claim> {
  let known = claims.get(client);
  if (known === undefined) {
    known = new Map();
    claims.set(client, known);
  }
  return known;
}

export const thingOf = (kind: Kind, id: string): string => `${kind}:${id}`;

/** Claimed by the resource that named the id of what an open create made. */
export const takenOver = (kind: Kind, name: unknown): string => thingOf(kind, `taken over as ${String(name)}`);

export const newOwner = (): string => crypto.randomUUID();

/** Claims what this owner has just made or taken over. */
export const claimMade = (service: HandlerService, thing: string, owner: string | undefined): void =>
  void claimsOf(service).set(thing, { owner, by: "made" });

/** Claims for the owner of a resource that the program still declares. */
export function claimSeen(service: HandlerService, thing: string, owner: string | undefined): void {
  const known = claimsOf(service);
  const claim = known.get(thing);
  if (claim === undefined) known.set(thing, { owner, by: "seen" });
  else if (claim.owner !== owner && claim.by === "seen") known.set(thing, { owner, by: "contested" });
}

/** Whether some resource of the program has claimed it. */
export const isClaimed = (service: HandlerService, thing: string): boolean => claimsOf(service).has(thing);

export function belongsToAnother(service: HandlerService, thing: string, owner: string | undefined): boolean {
  const claim = claimsOf(service).get(thing);
  return claim !== undefined && (claim.by === "contested" || claim.owner !== owner);
}

export const releaseClaim = (service: HandlerService, thing: string): void => void claimsOf(service).delete(thing);

export const staysWithAnother = (what: string): string =>
  `${what} stays: another resource of this program manages it by now. Where a resource only changed its name, aliases: [{ name: "<its former name>" }] keeps it the same one`;

/**
 * Which resource of a program something in the service belongs to. Two resources can name one thing by the same id: a
 * resource whose name changed without an alias is created under the new name, which takes over what exists, and then
 * deleted under the old one, maybe by another process. So each create gives itself an owner, which the state keeps. The
 * owner that made something, or has shown that it manages it, claims it for the rest of the process; one that took
 * something over claims it in the program's notes, which every process reads. What another owner has claimed is never
 * deleted.
 */
import type { Kind } from "../core/model/address";
import type { RecordedResource } from "../core/model/recorded";
import type { HandlerService } from "./handler";
import { perClient } from "./per-client";
import type { ProgramNotes } from "./program-notes";

interface Claim {
  /** `undefined` in a state that an older version wrote. */
  readonly owner: string | undefined;
  readonly by: "made" | "seen" | "contested";
}

type Notes = ProgramNotes | undefined;

const claimsOf = perClient(() => new Map<string, Claim>());

export const thingOf = (kind: Kind, id: string): string => `${kind}:${id}`;

/** As the program's notes name it: things of two services may have the same ids. */
export const thingAt = ({ client }: HandlerService, thing: string): string => `${client.origin} ${thing}`;

/** Claimed by the resource that said what became of an open create. */
export const takenOver = (kind: Kind, name: unknown): string => thingOf(kind, `taken over as ${String(name)}`);

interface Settling {
  readonly pending: string;
  /** What the open create was seen to have made. */
  readonly made?: RecordedResource | undefined;
}

const settling = perClient(() => new Map<string, Settling>());

/** A difference has said that the create of this name settles what the state keeps as open under this id. */
export const noteSettling = (service: HandlerService, kind: Kind, name: unknown, by: Settling): void =>
  void settling(service).set(takenOver(kind, name), by);

/** What the create of this name takes over, because an open create has made it already. */
export const madeOpenly = (service: HandlerService, kind: Kind, name: unknown): RecordedResource | undefined =>
  settling(service).get(takenOver(kind, name))?.made;

/** Whether what the open create made is about to be taken over, and so stays. */
export const isAwaited = (service: HandlerService, pending: string): boolean =>
  [...settling(service).values()].some((one) => one.pending === pending && one.made !== undefined);

/**
 * Claims the open create that the one of this name has settled, in the program's notes: the engine may be killed, or
 * end for another resource's error, before it deletes what its state keeps of it.
 */
export async function claimSettled(
  service: HandlerService,
  kind: Kind,
  name: unknown,
  owner: string,
  notes: Notes,
): Promise<void> {
  const pending = settling(service).get(takenOver(kind, name))?.pending;
  if (pending === undefined) return;
  settling(service).delete(takenOver(kind, name));
  await claimTaken(service, thingOf(kind, pending), owner, notes);
}

export const newOwner = (): string => crypto.randomUUID();

/** Claims what this owner has just made. */
export const claimMade = (service: HandlerService, thing: string, owner: string | undefined): void =>
  void claimsOf(service).set(thing, { owner, by: "made" });

/**
 * Claims what may be another resource's, of this process or of another one: before anything is done to it, so that it is
 * safe from the other resource's delete whenever this run ends.
 */
export async function claimTaken(service: HandlerService, thing: string, owner: string, notes: Notes): Promise<Taken> {
  const at = thingAt(service, thing);
  const before = { memory: claimsOf(service).get(thing), noted: notes?.claimOf(at) };
  claimMade(service, thing, owner);
  await notes?.claim(at, owner);
  return {
    async unlessFailed(call) {
      try {
        return await call();
      } catch (error) {
        if (before.memory === undefined) claimsOf(service).delete(thing);
        else claimsOf(service).set(thing, before.memory);
        if (before.noted === undefined) notes?.unclaim(at);
        else await notes?.claim(at, before.noted.owner, before.noted.by);
        throw error;
      }
    },
  };
}

/** Claims these for as long as the call does not fail. */
export async function taking<T>(
  service: HandlerService,
  things: readonly string[],
  owner: string,
  notes: Notes,
  call: () => Promise<T>,
): Promise<T> {
  let doIt = call;
  for (const thing of things) {
    const taken = await claimTaken(service, thing, owner, notes);
    const inner = doIt;
    doIt = () => taken.unlessFailed(inner);
  }
  return doIt();
}

/** A claim that is given back where the call fails that it was made for. */
interface Taken {
  unlessFailed<T>(call: () => Promise<T>): Promise<T>;
}

/** Claims for the owner of a resource that the program still declares. An import takes over what it names. */
export async function claimSeen(
  service: HandlerService,
  thing: string,
  { owner, imported }: { readonly owner?: string; readonly imported?: true },
  notes: Notes,
): Promise<void> {
  const known = claimsOf(service);
  const claim = known.get(thing);
  if (claim === undefined) known.set(thing, { owner, by: "seen" });
  else if (claim.owner !== owner && claim.by === "seen") known.set(thing, { owner, by: "contested" });
  if (imported !== true || owner === undefined || notes === undefined) return;
  const at = thingAt(service, thing);
  if (notes.claimOf(at)?.owner !== owner) await notes.claim(at, owner);
}

/** Whether some resource of the program has claimed it. */
export const isClaimed = (service: HandlerService, thing: string): boolean => claimsOf(service).has(thing);

/** The same by this process or another one. */
export const isClaimedBySome = (service: HandlerService, thing: string, notes: Notes): boolean =>
  isClaimed(service, thing) || notes?.claimOf(thingAt(service, thing)) !== undefined;

/** Why what this owner would delete stays; `undefined`: it is the owner's own. `what`: for the message. */
export function staysWithAnother(
  service: HandlerService,
  thing: string,
  owner: string | undefined,
  notes: Notes,
  what: string,
): string | undefined {
  const claim = claimsOf(service).get(thing);
  const at = thingAt(service, thing);
  const noted = notes?.claimOf(at);
  const isNoted = noted !== undefined && noted.owner !== owner;
  if (!isNoted && (claim === undefined || (claim.by !== "contested" && claim.owner === owner))) return undefined;
  const by = isNoted ? ` (${noted.by})` : "";
  const orElse =
    isNoted && notes !== undefined
      ? `; where the program has no other resource for it any more, remove the file ${notes.claimAt(at)} and delete this one again`
      : "";
  return `${what} stays: another resource of this program manages it by now${by}. Where a resource only changed its name, aliases: [{ name: "<its former name>" }] keeps it the same one${orElse}`;
}

export function releaseClaim(service: HandlerService, thing: string, notes: Notes): void {
  claimsOf(service).delete(thing);
  notes?.unclaim(thingAt(service, thing));
}

/** A fingerprint of a declaration, to tell whether it changed since. The places in the files are not part of it. */
import { canonicalJson } from "../text/canonical-json";
import { fingerprint } from "../text/hash";
import { isObject } from "../text/objects";
import type { DesiredResource } from "./desired";

export const declarationMark = (declared: DesiredResource): string =>
  fingerprint(canonicalJson(withoutPlaces(declared)));

/** The keys under which a declaration says where something of it is written. */
const keysOfPlaces: ReadonlySet<string> = new Set([
  ...(["source", "inherited", "protectedAt"] satisfies (keyof DesiredResource)[]),
  ...["rulePlaces", "commandFile", "commandFiles"],
]);

function withoutPlaces(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPlaces);
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([key]) => !keysOfPlaces.has(key));
  return Object.fromEntries(kept.map(([key, one]) => [key, withoutPlaces(one)]));
}

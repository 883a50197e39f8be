/** A fingerprint of a declaration, to tell whether it changed since. The place in the file is not part of it. */
import { canonicalJson } from "../text/canonical-json";
import { fingerprint } from "../text/hash";
import type { DesiredResource } from "./desired";

export const declarationMark = ({ source: _, ...declared }: DesiredResource): string =>
  fingerprint(canonicalJson(declared));

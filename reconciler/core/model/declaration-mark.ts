/** What was declared, told apart from what is declared now. Where it stands in the file says nothing. */
import { canonicalJson } from "../text/canonical-json";
import { fingerprint } from "../text/hash";
import type { DesiredResource } from "./desired";

export const declarationMark = ({ source: _, ...declared }: DesiredResource): string =>
  fingerprint(canonicalJson(declared));

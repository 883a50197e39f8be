/** What a file reads of elsewhere: outputs of other projects, and things of the service that nobody manages here. */
import { keysOf } from "../text/objects";
import type { SourcePosition } from "./diagnostic";
import type { Json } from "./output";

export const lookupAttributes = {
  vm: ["id", "name", "private_ip", "floating_ip"],
  volume: ["id", "name", "size"],
  group: ["id", "name"],
  image: ["id", "name"],
  flavor: ["id", "name"],
} as const;
export type LookupKind = keyof typeof lookupAttributes;
export const lookupKinds = keysOf(lookupAttributes);

export interface Read {
  readonly name: string;
  /** Where the state of the other project lies. */
  readonly state: string;
  readonly source: SourcePosition;
}

export interface Lookup {
  readonly name: string;
  readonly kind: LookupKind;
  readonly by: "id" | "name";
  readonly wanted: string;
  readonly source: SourcePosition;
}

/** What was found, as far as the file makes use of it: a saved plan holds only while this is so. */
export interface ExternalValues {
  readonly reads: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  readonly lookups: Readonly<Record<string, Readonly<Record<string, Json>>>>;
}

export interface External {
  readonly reads: readonly Read[];
  readonly lookups: readonly Lookup[];
  /** Absent: nobody has looked yet, and what stands on it is missing from the desired state. It cannot be planned. */
  readonly values?: ExternalValues;
}

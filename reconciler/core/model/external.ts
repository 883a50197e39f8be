/**
 * What a file reads from elsewhere: outputs of other projects, and resources of the service that nobody manages here.
 */
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

export interface LookupRequest {
  readonly name: string;
  readonly kind: LookupKind;
  readonly by: "id" | "name";
  readonly wanted: string;
  readonly source: SourcePosition;
}

/** The values that the file uses of what was found: a saved plan holds only while they are the same. */
export interface ExternalValues {
  readonly reads: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  readonly lookups: Readonly<Record<string, Readonly<Record<string, Json>>>>;
}

export interface External {
  readonly reads: readonly Read[];
  readonly lookups: readonly LookupRequest[];
  /**
   * Absent: nobody has looked yet. Resources that need such a value are then missing from the desired state, and it
   * cannot be planned.
   */
  readonly values?: ExternalValues;
}

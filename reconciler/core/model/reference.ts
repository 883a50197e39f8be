import type { Address } from "./address";
import type { Text } from "./computed";

/** Another resource: declared here (by address) or living outside this file (by id). */
export type Reference = { readonly address: Address } | { readonly id: string };

/** What may stand behind the statement that a volume was flushed before it is detached. */
export type FlushPolicy =
  | { readonly via: "ask" }
  | { readonly via: "command"; readonly argv: readonly Text[] }
  | { readonly via: "stop" };

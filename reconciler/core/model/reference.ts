import type { Address } from "./address";
import type { Text } from "./computed";

/** Another resource: declared here (by address) or living outside this file (by id). */
export type Reference = { readonly address: Address } | { readonly id: string };

/** A program that a file names, with the variables of this machine that it may see beside the usual ones. */
export interface Command<T extends Text = Text> {
  readonly argv: readonly T[];
  readonly env?: readonly string[];
}

/** What may stand behind the statement that a volume was flushed before it is detached. */
export type FlushPolicy =
  | { readonly via: "ask" }
  | ({ readonly via: "command" } & FlushCommand)
  | { readonly via: "stop" };

/** A record keeps it when no file names it any more. */
export interface FlushCommand<T extends Text = Text> extends Command<T> {
  /** The folder in which it runs, as seen from that of the project. Absent: that of the file that names it, or the project's. */
  readonly folder?: string;
}

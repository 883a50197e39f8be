/** Commands that are owed to guests, for people and for programs. */

import { printable } from "../core/text/printable";
import type { Owed } from "../kinds/vm/guest-steps";

/** `owed: after_attach of volume.db-data, since 2026-11-23T22:00:00.000Z (grown)`. */
export const owedText = ({ address, command, reason, since, waits }: Owed): string =>
  printable(
    `owed: ${command} of ${address}${since === undefined ? "" : `, since ${since}`} (${reason})${waits === undefined ? "" : `; it is run later: ${waits}`}`,
  );

export const owedForPrograms = (owed: readonly Owed[]): object[] =>
  owed.map(({ address, command, reason, since, waits }) => ({
    address,
    command,
    reason,
    since: since ?? null,
    waits: waits ?? null,
  }));

/** Commands that are owed to guests, for people and for programs. */

import { printable } from "../core/text/printable";
import type { Owed } from "../kinds/vm/guest-steps";
import { type Remount, remountDiagnostic } from "../kinds/volume/mount-again";

/** `owed: after_attach of volume.db-data, since 2026-11-23T22:00:00.000Z (grown)`. */
export const owedText = ({ address, command, reason, since, waits }: Owed): string =>
  printable(
    `owed: ${command} of ${address}${since === undefined ? "" : `, since ${since}`} (${reason})${waits === undefined ? "" : `; it is run later: ${waits}`}`,
  );

/** What nobody has done yet inside the guests, in a line. */
export function leftInGuests({
  owed = [],
  remounts = [],
}: {
  readonly owed?: readonly Owed[] | undefined;
  readonly remounts?: readonly Remount[];
}): string | undefined {
  const left = [...owed.map(owedText), ...remounts.map((one) => remountDiagnostic(one).summary)];
  return left.length === 0 ? undefined : left.join("; ");
}

export const owedForPrograms = (owed: readonly Owed[]): object[] =>
  owed.map(({ address, command, reason, since, waits }) => ({
    address,
    command,
    reason,
    since: since ?? null,
    waits: waits ?? null,
  }));

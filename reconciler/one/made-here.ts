/**
 * What this process has made and noted. The engine writes a resource into its state before it lets another one name
 * its id, so that the note about its create may go then.
 */
import type { HandlerService } from "./handler";
import type { NamedId } from "./named-ids";
import type { ProgramNotes } from "./program-notes";

const madeHere = new WeakMap<HandlerService["client"], Map<string, ProgramNotes>>();

export function noteMade({ client }: HandlerService, { kind, id }: NamedId, notes: ProgramNotes | undefined): void {
  if (notes === undefined) return;
  const made = madeHere.get(client) ?? new Map<string, ProgramNotes>();
  madeHere.set(client, made.set(`${kind}:${id}`, notes));
}

export function noteNamed({ client }: HandlerService, named: readonly NamedId[]): void {
  const made = madeHere.get(client);
  for (const { kind, id } of named) {
    const key = `${kind}:${id}`;
    made?.get(key)?.isKnownToEngine();
    made?.delete(key);
  }
}

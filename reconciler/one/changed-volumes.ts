/**
 * The volumes that the program changes in this process. A volume that grows comes off its VM and is attached again; an
 * engine that was killed in between has kept nothing of that, and the attachment is a resource of its own, which has not
 * changed. So the attachment of a volume that changes is looked at, and no other.
 */
import type { HandlerService } from "./handler";

/** What changes of each. */
const changed = new WeakMap<HandlerService["client"], Map<string, readonly string[]>>();

export function noteChange({ client }: HandlerService, volumeId: string, properties: readonly string[]): void {
  const known = changed.get(client) ?? new Map<string, readonly string[]>();
  changed.set(client, known.set(volumeId, [...(known.get(volumeId) ?? []), ...properties]));
}

export const isChanged = ({ client }: HandlerService, volumeId: string): boolean =>
  changed.get(client)?.has(volumeId) === true;

export const isGrown = ({ client }: HandlerService, volumeId: string): boolean =>
  changed.get(client)?.get(volumeId)?.includes("size") === true;

/** The guest was told of the volume's new size, or owes it by its record. */
export const noteCaughtUp = ({ client }: HandlerService, volumeId: string): void =>
  void changed.get(client)?.set(volumeId, []);

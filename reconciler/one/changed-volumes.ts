/**
 * The volumes that the program changes in this process. A volume that grows comes off its VM and is attached again; an
 * engine that was killed in between has kept nothing of that, and the attachment is a resource of its own, which has not
 * changed. So the attachment of a volume that changes is looked at, and no other.
 */
import type { HandlerService } from "./handler";

const changed = new WeakMap<HandlerService["client"], Set<string>>();

export function noteChange({ client }: HandlerService, volumeId: string): void {
  const known = changed.get(client) ?? new Set();
  changed.set(client, known.add(volumeId));
}

export const isChanged = ({ client }: HandlerService, volumeId: string): boolean =>
  changed.get(client)?.has(volumeId) === true;

/**
 * One operation at a time on a VM and on a volume, as the scheduler keeps it within a plan: a program's resources are
 * handled side by side, and a VM that is being resized gives up no volume. Always the volume before its VM, so that two
 * never wait for each other.
 */
import type { HandlerService } from "./handler";

const queues = new WeakMap<HandlerService["client"], Map<string, Promise<unknown>>>();

export async function holding<T>({ client }: HandlerService, key: string, call: () => Promise<T>): Promise<T> {
  let held = queues.get(client);
  if (held === undefined) {
    held = new Map();
    queues.set(client, held);
  }
  const before = held.get(key) ?? Promise.resolve();
  const mine = before.then(call);
  const ended = mine.catch(() => undefined);
  held.set(key, ended);
  try {
    return await mine;
  } finally {
    if (held.get(key) === ended) held.delete(key);
  }
}

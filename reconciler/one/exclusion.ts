/**
 * Runs one operation at a time on each VM and each volume, as the scheduler does within a plan: a program's resources
 * are handled at the same time, and a VM that is being resized detaches no volume. The volume is always taken before
 * its VM, so that two operations never wait for each other.
 */
import type { HandlerService } from "./handler";
import { perClient } from "./per-client";

const queues = perClient(() => new Map<string, Promise<unknown>>());

export async function holding<T>(service: HandlerService, key: string, call: () => Promise<T>): Promise<T> {
  const held = queues(service);
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

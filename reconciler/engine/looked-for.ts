/**
 * For how long this process has looked for what earlier runs created, by the client that looks. When something was created
 * is a date that another process wrote, perhaps by a clock that was wrong, so that date begins no window: each begins with
 * the first look from here, and once it was served it is not served again.
 */
import type { RecordedVm } from "../core/model/recorded";
import { calendarLeft, type Instant } from "../core/model/time";
import { isWindowOver, type Window } from "../core/schedule/window";
import type { ServiceReader } from "../service/client";

const lookedFor = new WeakMap<ServiceReader, Map<string, Window>>();

export function windowsOf(client: ServiceReader): Map<string, Window> {
  const known = lookedFor.get(client) ?? new Map<string, Window>();
  lookedFor.set(client, known);
  return known;
}

/**
 * Whether a list may be without a recorded VM because it was created only now. Where the run that created it was cut off
 * that is decided by how long this process has looked; beside that the date is believed, which at most makes a run wait.
 */
export function mayShowLater(
  { id, createdAt, building }: RecordedVm,
  { client, windowMs, now }: { readonly client: ServiceReader; readonly windowMs: number; readonly now: Instant },
): boolean {
  if (createdAt === undefined || windowMs === 0) return false;
  const window = id === undefined ? undefined : lookedFor.get(client)?.get(id);
  if (window !== undefined && isWindowOver(window)) return false;
  return building === true || calendarLeft(createdAt, windowMs, now) > 0;
}

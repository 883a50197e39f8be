/** Says while a service asks for a pause what a command waits for: it may be minutes, and nothing else is printed then. */
import type { RequestEvent } from "../service/caller";
import type { Clock } from "../service/clock";

/** A shorter wait is no matter for a person. */
const worthTellingMs = 5000;

/** One line for all requests that wait; the next one when that time is over. */
export function tellAskedToWait(note: (text: string) => void, { now }: Pick<Clock, "now">) {
  let saidUntil: number | undefined;
  return ({ status, retryAfterMs = 0 }: Pick<RequestEvent, "status" | "retryAfterMs">): void => {
    const at = now();
    if (retryAfterMs < worthTellingMs || (saidUntil !== undefined && at < saidUntil)) return;
    saidUntil = at + retryAfterMs;
    note(`The service asks to come back in ${Math.round(retryAfterMs / 1000)} s (HTTP ${status}).`);
  };
}

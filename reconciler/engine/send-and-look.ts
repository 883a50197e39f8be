/** A request whose answer may be lost, and the look that tells whether it was done. */
import type { Failure, Outcome } from "../core/model/outcome";
import type { Run } from "./run";

export type SeenAfterwards = "done" | "not-done" | "cannot-tell";

/** How often a request is sent whose answer gets lost each time. */
const attempts = 3;

/**
 * Sends a request, and when its answer is lost, looks before sending again. `look` says whether the effect is there. A
 * refusal that means "already so" counts as done when the look agrees.
 */
export async function sendAndLook<T>(
  send: () => Promise<Outcome<T>>,
  look: () => Promise<SeenAfterwards>,
  run: Run,
  isAlready: (failure: Failure) => boolean = () => false,
): Promise<Outcome<T | undefined>> {
  let outcome = await send();
  for (let attempt = 1; attempt < attempts && outcome.status === "unknown"; attempt++) {
    await run.ports.clock.sleep(run.ports.timing.pollIntervalMs, run.signal);
    const seen = await look();
    if (seen === "done") return { status: "accepted", value: undefined };
    if (seen === "cannot-tell") return outcome;
    if (outcome.refusal !== undefined) return outcome.refusal;
    outcome = await send();
  }
  if (outcome.status === "accepted") return outcome;
  if ((outcome.status === "unknown" || isAlready(outcome)) && (await look()) === "done")
    return { status: "accepted", value: undefined };
  return outcome;
}

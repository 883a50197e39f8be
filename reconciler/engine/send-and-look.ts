/**
 * A request whose answer may be lost, and the looks that tell whether it was done. While what it is about is changing, it
 * is never sent again: what it becomes shows when it has arrived.
 *
 *   the answer            a look shows                       then
 *   lost                  the effect                         done
 *   lost                  changing                           looked at again, for as long as a create may take
 *   lost                  no effect, for the whole window    sent again; refused, where the answer had words of a refusal
 *   lost                  nothing that tells                 unknown
 *   "already so"          the effect                         done
 *   refused meanwhile     changing, and then no effect       sent again, once
 *   "not ready yet"       no effect                          sent again, once
 *   refused otherwise                                        refused
 */
import type { Failure, Outcome, Rejection } from "../core/model/outcome";
import type { Elapsed } from "../core/model/time";
import { isWindowOver, lookedAgain, openWindow } from "../core/schedule/window";
import { lookWithin, soonAtFirst } from "./look-again";
import type { Run } from "./run";

export type SeenAfterwards =
  | "done"
  | "not-done"
  | "changing"
  | "cannot-tell"
  /** Sending it once more does no harm, so nothing is looked at. */
  | "harmless";

type LookAfterwards = () => Promise<SeenAfterwards>;

/** How often a request is sent whose answer gets lost each time. */
const sendAttempts = 3;

/**
 * Sends a request, and when its answer is lost, looks before sending again. `look` says whether the effect is there. A
 * refusal that means "already so" counts as done when a look agrees.
 */
export async function sendAndLook<T>(
  send: () => Promise<Outcome<T>>,
  look: LookAfterwards,
  run: Run,
  isAlready: (failure: Failure) => boolean = () => false,
): Promise<Outcome<T | undefined>> {
  let lost = false;
  let refusedBefore = false;
  for (let attempt = 1; ; ) {
    const outcome = await send();
    if (outcome.status === "accepted") return outcome;
    if (outcome.status === "unknown") {
      lost = true;
      const seen = await lookForWindow(look, run);
      if (seen === "done") return isThere;
      if (seen === "not-done" && outcome.refusal !== undefined) return outcome.refusal;
      if (seen === "cannot-tell" || seen === "changing") return outcome;
      if (attempt++ >= sendAttempts) return outcome.refusal ?? outcome;
      continue;
    }
    if (outcome.status === "unavailable" || !isAlready(outcome)) return outcome;
    const seen = await lookAfterRefusal(outcome, lost, look, run);
    if (seen === "done") return isThere;
    if (seen !== "may be asked again" || refusedBefore || run.signal.aborted) return outcome;
    refusedBefore = true;
  }
}

const isThere: Outcome<undefined> = { status: "accepted", value: undefined };

/** What a refusal that may mean "already so" was about. */
async function lookAfterRefusal(
  refusal: Rejection,
  lost: boolean,
  look: LookAfterwards,
  run: Run,
): Promise<"done" | "may be asked again" | "refused"> {
  const first = await look();
  if (first === "done") return "done";
  if (first === "changing") {
    const arrived = await onceArrived(look, run);
    return arrived === "done" ? "done" : arrived === "not-done" ? "may be asked again" : "refused";
  }
  if (first !== "not-done") return "refused";
  // The service knows of an effect that it does not show yet.
  if (lost || saysAlready(refusal)) return (await lookForWindow(look, run)) === "done" ? "done" : "refused";
  if (!saysNotYet(refusal)) return "refused";
  await run.ports.clock.sleep(run.ports.timing.pollIntervalMs, run.signal);
  return "may be asked again";
}

const saysAlready = ({ message }: Rejection): boolean => /\balready\b/i.test(message);

const saysNotYet = ({ message }: Rejection): boolean =>
  /\bnot[\s_-]?(yet[\s_-]?)?(ready|available)|notready|\b(creating|building|busy|pending|in progress|being \w+)\b/i.test(
    message,
  );

/** Looks until the effect shows, or a whole window has passed in which it did not and nothing was changing. */
const lookForWindow = (look: LookAfterwards, run: Run): Promise<SeenAfterwards> => lookUntil(look, run, "shown");

/** Looks until it is not changing any more, for as long as a create may take. The first look is at once. */
export const onceArrived = (look: LookAfterwards, run: Run): Promise<SeenAfterwards> => lookUntil(look, run, "arrived");

async function lookUntil(look: LookAfterwards, run: Run, until: "shown" | "arrived"): Promise<SeenAfterwards> {
  const { clock, timing } = run.ports;
  let still = openWindow(timing.discoveryWindowMs, clock.now());
  const lookOnce = async (isOver: boolean, askedAt: Elapsed): Promise<SeenAfterwards | undefined> => {
    const seen = await look();
    if (seen === "changing") {
      still = openWindow(timing.discoveryWindowMs, askedAt);
      return isOver ? seen : undefined;
    }
    still = lookedAgain(still, askedAt);
    return seen !== "not-done" || until === "arrived" || isWindowOver(still) ? seen : undefined;
  };
  const options = { pauseFirst: until === "shown", pauseMs: soonAtFirst(timing) };
  return (await lookWithin(run, timing.vmCreateTimeoutMs, lookOnce, options)) ?? "cannot-tell";
}

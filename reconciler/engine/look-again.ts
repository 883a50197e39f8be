/**
 * Looks again and again, with a pause between two looks, until a look says how the wait ends or the run is stopped. A look
 * counts from when it was asked: an answer that was long under way does not tell what has come meanwhile, so what no look
 * has shown by the end of a window was not shown by one that was asked after it.
 */
import type { Elapsed } from "../core/model/time";
import { untilNextLook } from "../core/schedule/pace";
import { isWindowOver, lookedAgain, openWindow, type Window } from "../core/schedule/window";
import type { Ports } from "./ports";

/** Some services are done at once. */
export const soonAtFirst =
  ({ pollIntervalMs }: Pick<Ports["timing"], "pollIntervalMs">) =>
  (waitedMs: number): number =>
    untilNextLook({ waitedMs, mayBeSoon: true }, pollIntervalMs);

interface LookingRun {
  readonly ports: Pick<Ports, "clock" | "timing">;
  readonly signal: AbortSignal;
}

interface LookingOptions {
  /** Whether nothing can show at once. */
  readonly pauseFirst?: boolean;
  /** How long the next pause is. Left out: one interval. */
  readonly pauseMs?: (waitedMs: number) => number;
}

/** `look`: how the wait ends; `undefined`: not yet. Ends with `undefined` where the run was stopped first. */
export async function lookRepeatedly<T>(
  { ports: { clock, timing }, signal }: LookingRun,
  look: (askedAt: Elapsed) => Promise<T | undefined>,
  { pauseFirst = false, pauseMs = () => timing.pollIntervalMs }: LookingOptions = {},
): Promise<T | undefined> {
  const started = clock.now();
  for (let pauses = pauseFirst; ; pauses = true) {
    if (pauses) {
      await clock.sleep(pauseMs(clock.now() - started), signal);
      if (signal.aborted) return undefined;
    }
    const ended = await look(clock.now());
    if (ended !== undefined) return ended;
  }
}

/** `isOver`: the look is the last one, and has to say how the wait ends. */
export function lookWithin<T>(
  looking: LookingRun,
  windowMs: number,
  look: (isOver: boolean, askedAt: Elapsed) => Promise<T | undefined>,
  options?: LookingOptions,
): Promise<T | undefined> {
  let window: Window = openWindow(windowMs, looking.ports.clock.now());
  return lookRepeatedly(
    looking,
    (askedAt) => {
      window = lookedAgain(window, askedAt);
      return look(isWindowOver(window), askedAt);
    },
    options,
  );
}

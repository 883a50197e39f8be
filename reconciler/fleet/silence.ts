/**
 * Which services do not answer, as one worker sees it. A round that only waits for such a service lends its place to
 * the rounds of other services, and meanwhile no further round of that service begins on this worker.
 */
import type { StackSpec } from "./model";
import { steadyNow } from "./steady";

export interface Silences {
  /** A round of the service begins. */
  begin(service: string | undefined): Ear;
  /** How long another round of the service should wait; absent: it may begin. */
  pauseMs(service: string): number | undefined;
}

/**
 * The service of a stack. One whose service only its own files name shares it, as far as the fleet knows, with no other
 * stack. No name of a service has a space.
 */
export const serviceOf = ({ name, service }: Pick<StackSpec, "name" | "service">): string => service ?? `of ${name}`;

/** Takes note of what one round sends to its service and what the service answers. */
export interface Ear {
  /** A request is sent. */
  asked(): void;
  /** A request was answered, whatever the answer says. */
  heard(): void;
  /** The round sent a request some time ago, and no answer has come. */
  readonly waits: boolean;
  end(isReached: boolean): void;
}

/** A request without an answer for this long means that the service is silent, until an answer comes. */
const silentForMs = 2000;
/** After this many rounds in a row without any answer, one round at a time tries the service. */
const silentAfter = 2;
/** The other rounds wait this long, and twice as long after each further round that failed this way. */
const firstPauseMs = 10_000;
const longestPauseMs = 60_000;

export function createSilences(now: () => number = steadyNow): Silences {
  const unreached = new Map<string, number>();
  const running = new Map<string, Set<Ear>>();
  return {
    begin(service = "") {
      const others = running.get(service) ?? new Set<Ear>();
      running.set(service, others);
      let unanswered = 0;
      let since: number | undefined;
      const ear: Ear = {
        asked() {
          unanswered += 1;
          since ??= now();
        },
        heard() {
          unanswered = Math.max(0, unanswered - 1);
          since = unanswered > 0 ? now() : undefined;
          unreached.delete(service);
        },
        get waits() {
          return since !== undefined && now() - since > silentForMs;
        },
        end(isReached) {
          others.delete(ear);
          if (isReached) unreached.delete(service);
          else unreached.set(service, (unreached.get(service) ?? 0) + 1);
        },
      };
      others.add(ear);
      return ear;
    },
    pauseMs(service) {
      const failed = unreached.get(service) ?? 0;
      const others = [...(running.get(service) ?? [])];
      const isSilent = others.some(({ waits }) => waits) || (failed >= silentAfter && others.length > 0);
      if (!isSilent) return undefined;
      return Math.min(longestPauseMs, firstPauseMs * 2 ** Math.max(0, failed - silentAfter));
    },
  };
}

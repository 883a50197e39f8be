/**
 * Which services do not answer, as one worker hears them. A round that only waits for such a service lends its place to
 * the others', and while it waits no further round of that service begins here.
 */
export interface Silences {
  /** A round of the service begins. */
  begin(service: string | undefined): Ear;
  /** So long another round of the service had better wait; absent: it may begin. */
  pauseMs(service: string | undefined): number | undefined;
}

/** What one round hears of its service. */
export interface Ear {
  /** A request is sent. */
  asked(): void;
  /** One was answered, whatever the answer says. */
  heard(): void;
  /** It asked some time ago and nothing has come back. */
  readonly waits: boolean;
  end(isReached: boolean): void;
}

/** Whoever waits so long for an answer waits for a service that is silent, as long as nothing shows otherwise. */
const silentForMs = 2000;
/** So many rounds in a row could not reach their service: one at a time tries it. */
const silentAfter = 2;
/** The others wait so long, and twice as long with each further round that failed so. */
const firstPauseMs = 10_000;
const longestPauseMs = 60_000;

export function createSilences(now: () => number = Date.now): Silences {
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
    pauseMs(service = "") {
      const failed = unreached.get(service) ?? 0;
      const others = [...(running.get(service) ?? [])];
      const isSilent = others.some(({ waits }) => waits) || (failed >= silentAfter && others.length > 0);
      if (!isSilent) return undefined;
      return Math.min(longestPauseMs, firstPauseMs * 2 ** Math.max(0, failed - silentAfter));
    },
  };
}

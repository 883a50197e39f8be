/**
 * Repositories and servers of artifacts that give this worker no files, although they answer: its disk is full, a key
 * is not mounted, its network is another one. Where others get the files, this worker leaves them the rounds.
 */
import { withoutItsUser } from "./model";
import { steadyNow } from "./steady";

export interface Trouble {
  /** The address that the files come from, without a credential. */
  readonly origin: string;
  /** So many rounds in a row failed. */
  readonly failures: number;
  readonly why: string;
}

export interface Troubles {
  failed(origin: string, why: string): void;
  worked(origin: string): void;
  /** Whether this worker leaves a round to the others, of whom these have the same trouble. */
  rests(origin: string, others: Others): boolean;
  readonly told: readonly Trouble[];
}

/** The other workers that live. */
export interface Others {
  readonly count: number;
  /** The origins of their troubles, one for each worker that has it. */
  readonly troubled: readonly string[];
}

/** After so many failures in a row it is the worker's trouble, not that of one round. */
const troubledAfter = 3;
const firstRestMs = 10_000;
const longestRestMs = 60_000;

export function createTroubles(now: () => number = steadyNow): Troubles {
  const known = new Map<string, Trouble & { readonly until: number }>();
  return {
    failed(origin, why) {
      const failures = (known.get(origin)?.failures ?? 0) + 1;
      const restMs = Math.min(longestRestMs, firstRestMs * 2 ** Math.max(0, failures - troubledAfter));
      known.set(origin, { origin: withoutItsUser(origin), failures, why, until: now() + restMs });
    },
    worked: (origin) => void known.delete(origin),
    rests(origin, { count, troubled }) {
      const trouble = known.get(origin);
      if (trouble === undefined || trouble.failures < troubledAfter || now() >= trouble.until) return false;
      return count > troubled.filter((other) => other === trouble.origin).length;
    },
    get told() {
      return [...known.values()]
        .filter(({ failures }) => failures >= troubledAfter)
        .map(({ origin, failures, why }) => ({ origin, failures, why }));
    },
  };
}

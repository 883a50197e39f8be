/**
 * Spreads a look at everything over the pause between two rounds, so that each thing is seen once in it and the service is
 * never asked much at a time. It ends early when something is not as it was seen last: then the round is due.
 */
import type { Desired } from "../core/model/desired";
import type { Look } from "../core/model/evidence";
import { type IdsOfKinds, kinds, perKind } from "../core/model/kinds";
import { usualListCost } from "../core/model/list-cost";
import { type Live, notSeen, type Sighting, withSightings } from "../core/model/live";
import type { State } from "../core/model/recorded";
import { nextSlice, requestsLeft, type Sight, type Swept, sweptWith } from "../core/plan/sweep";
import { deepEqual } from "../core/text/deep-equal";
import type { ServiceReader } from "../service/client";
import type { Clock } from "../service/clock";
import { isNobody, lookAtKinds, looksOf, type SeenByKind } from "./look";

export interface SweepSetting {
  /** The client is opened for the first slice. */
  readonly client: () => Promise<ServiceReader>;
  readonly desired: Desired;
  readonly state: State;
  /** What was seen so far. */
  readonly swept: Swept;
  readonly clock: Clock;
  readonly pauseMs: number;
  readonly signal: AbortSignal;
}

/** The shortest time between two slices, and the largest number of slices. */
const shortestSliceMs = 1000;
const mostSlices = 60;

/** Rounds this close together leave nothing to spread. */
export const isWorthSpreading = (pauseMs: number): boolean => pauseMs >= 2 * shortestSliceMs;

export async function sweepDuring({ swept, ...setting }: SweepSetting): Promise<Swept> {
  const { desired, clock, pauseMs, signal } = setting;
  const from = clock.now();
  // Open creates, missing resources and imports are left to the round.
  const state: State = { ...setting.state, intents: new Map(), orphans: new Map() };
  const sleepUntil = (ms: number): Promise<void> => clock.sleep(Math.max(0, from + ms - clock.now()), signal);
  let known = swept;
  if (isWorthSpreading(pauseMs)) {
    const client = await setting.client();
    const sight: Sight = { can: client.can, pageItems: (kind) => (client.listCost?.(kind) ?? usualListCost).pageItems };
    const requests = requestsLeft(state, known, sight, from);
    const most = Math.min(mostSlices, Math.floor(pauseMs / shortestSliceMs) - 1);
    const slices = Math.ceil(requests / Math.max(1, Math.ceil(requests / most)));
    for (let left = slices; left > 0; left--) {
      await sleepUntil((pauseMs * (slices - left + 1)) / (slices + 1));
      if (signal.aborted) return known;
      const ids = nextSlice(state, known, sight, from, left);
      if (isNobody(ids)) break;
      const seen = await lookAtKinds(
        { client, desired, state, known: allIds(state), young: new Set(), findings: [], signal },
        ids,
        () => false,
      );
      if (signal.aborted) return known;
      const isSame = isAsBefore(known, seen, ids);
      known = sweptWith(known, liveSwept(seen), state, clock.now());
      if (!isSame) return known;
    }
  }
  await sleepUntil(pauseMs);
  return known;
}

function allIds({ resources }: State): IdsOfKinds {
  const ids = perKind(() => new Set<string>());
  for (const { kind, id } of resources.values()) if (id !== undefined) ids[kind].add(id);
  return ids;
}

const isAsBefore = ({ live }: Swept, seen: SeenByKind, ids: IdsOfKinds): boolean =>
  kinds.every((kind) =>
    [...ids[kind]].every((id) => {
      const look = seen[kind].looks.get(id);
      const then = live.of[kind].byId.get(id);
      return then?.seen !== "yes" || (look?.seen === "yes" && deepEqual(look.value, then.value));
    }),
  );

/** A resource that does not show is left for the round to prove: here it counts as not seen. */
function liveSwept(seen: SeenByKind): Live {
  const looks = looksOf(seen);
  return withSightings(notSeen, (kind) => sightings(looks[kind]));
}

const sightings = <T>(looks: ReadonlyMap<string, Look<T>>): ReadonlyMap<string, Sighting<T>> =>
  new Map(
    [...looks].map(([id, look]): [string, Sighting<T>] => [
      id,
      look.seen === "absent" ? { seen: "unobserved", reason: look.because } : look,
    ]),
  );

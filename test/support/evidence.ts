/** Sightings as a look at the service would make them, for tests that make up what it saw. */
import { isDoubt, judgeScope, notInList, weigh } from "../../reconciler/core/model/evidence";
import type { SeenOfKind, Sighting } from "../../reconciler/core/model/live";

const accepted = judgeScope({
  remembered: undefined,
  now: { origin: "test" },
  accepted: true,
  recorded: [],
  seen: new Set(),
  absent: [],
  forbidden: [],
  creates: false,
  lost: [],
});
if (isDoubt(accepted)) throw new Error("what was accepted is not doubted");

export const gone: Sighting<never> = weigh<never>(notInList("the list"), accepted);
const notLookedAt: Sighting<never> = { seen: "unobserved", reason: "it was not looked at" };

/** A look of which everything else is gone where there is a list. */
export const seenOfKind = <T>(listed: boolean, byId: ReadonlyMap<string, Sighting<T>>): SeenOfKind<T> => ({
  listed,
  byId,
  unlisted: listed ? gone : notLookedAt,
});

/** Sightings as a look at the service would make them, for tests that make up what it saw. */
import { isDoubt, judgeScope, notInList, weigh } from "../../reconciler/core/model/evidence";
import { perKind } from "../../reconciler/core/model/kinds";
import { isListed, type Live, notSeen, type Sighting } from "../../reconciler/core/model/live";

const accepted = judgeScope({
  remembered: undefined,
  now: { origin: "test" },
  accepted: true,
  recorded: [],
  seen: new Set(),
  absent: [],
  forbidden: [],
});
if (isDoubt(accepted)) throw new Error("what was accepted is not doubted");

export const gone: Sighting<never> = weigh<never>(notInList("the list"), accepted);
const notLookedAt: Sighting<never> = { seen: "unobserved", reason: "it was not looked at" };

/** What a look says of an id that it has no sighting of: gone where there is a list. */
export const unlistedOf = (live: Pick<Live, "vms" | "volumesListed" | "groupsListed">): Live["unlisted"] =>
  perKind((kind) => (isListed[kind]({ ...notSeen, ...live }) ? gone : notLookedAt));

/** What a look that is cut short by the end of the run says of a volume that is waited for (kinds/volume/watch.ts). */
import { expect, it } from "vitest";
import type { LiveVolume } from "../../reconciler/core/model/live";
import type { Outcome } from "../../reconciler/core/model/outcome";
import { defaultTiming } from "../../reconciler/engine/ports";
import { waitForVolume } from "../../reconciler/kinds/volume/watch";
import { virtualClock } from "../../reconciler/rehearse/virtual-clock";
import type { ServiceClient } from "../../reconciler/service/client";

const volume: LiveVolume = { kind: "volume", id: "d-1", name: "data", sizeGb: 5, attachedTo: "v-1", failed: false };
const refused: Outcome<never> = { status: "rejected", condition: "forbidden", message: "not permitted" };
const shown: Outcome<LiveVolume> = { status: "accepted", value: volume };
const broken: Outcome<never> = { status: "unavailable", reason: "cancelled" };

it.each<readonly [what: string, outcome: Outcome<LiveVolume>, isCut: boolean, end: string]>([
  ["shows what was asked for", shown, false, "done"],
  ["is refused: the acknowledgement has to do", refused, false, "done"],
  ["is refused, and the run is cut meanwhile", refused, true, "unknown"],
  ["shows what was asked for to a run that is cut meanwhile", shown, true, "unknown"],
  ["breaks off with the run", broken, true, "unknown"],
])("a look that %s", async (_, outcome, isCut, end) => {
  const cut = new AbortController();
  let looks = 0;
  const client = {
    async getVolume() {
      looks++;
      if (isCut) cut.abort();
      return outcome;
    },
  } as unknown as ServiceClient;
  const watch = {
    ...{ client, clock: virtualClock(() => undefined), timing: defaultTiming, signal: cut.signal },
    ...{ progress: () => undefined, waited: () => undefined },
  };
  const result = await waitForVolume(watch, "d-1", { for: "attached", vmId: "v-1" });
  expect([result.end, looks]).toEqual([end, 1]);
});

it("a look counts from when it was asked, however long its answer took", async () => {
  const clock = virtualClock(() => undefined);
  const from = clock.now();
  const windowMs = defaultTiming.discoveryWindowMs;
  const client = {
    async getVolume() {
      const isLate = clock.now() - from > 0.9 * windowMs;
      await clock.sleep(0.35 * windowMs);
      return isLate ? shown : { status: "accepted", value: { ...volume, attachedTo: null } };
    },
  } as unknown as ServiceClient;
  const watch = {
    ...{ client, clock, timing: defaultTiming, signal: new AbortController().signal },
    ...{ progress: () => undefined, waited: () => undefined },
  };
  expect(await waitForVolume(watch, "d-1", { for: "attached", vmId: "v-1" })).toMatchObject({ end: "done" });
});

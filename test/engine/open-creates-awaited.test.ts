/** How long an open create is looked for in a list before a plan that takes it for not done is carried out. */
import { describe, expect, it } from "vitest";
import { abilitiesOf } from "../../reconciler/core/model/abilities";
import { notSeen } from "../../reconciler/core/model/live";
import { accepted } from "../../reconciler/core/model/outcome";
import type { Intent } from "../../reconciler/core/model/recorded";
import { emptyState } from "../../reconciler/core/state/fold";
import { whyMayBeCreated } from "../../reconciler/engine/await-interrupted";
import { defaultTiming } from "../../reconciler/engine/ports";
import { virtualClock } from "../../reconciler/rehearse/virtual-clock";
import type { ServiceReader } from "../../reconciler/service/client";
import { desiredOf } from "../support/desired-file";
import { carryOutOn } from "../support/engine-on";
import { virtualWorld } from "../support/virtual-world";

const { vmCreateTimeoutMs, discoveryWindowMs } = defaultTiming;

async function waitedFor(operation: Intent["operation"], isAccepted: boolean): Promise<number> {
  const clock = virtualClock(() => undefined);
  const address = `${operation.replace(".create", "")}.web` as Intent["address"];
  const sent = { step: `${address}/create`, address, operation, name: "web", sentAt: clock.instant(), idsBefore: [] };
  const intent: Intent = isAccepted ? { ...sent, accepted: true } : sent;
  const none = async () => accepted([]);
  // Whatever else is asked of the service is a mistake of the test.
  const client = { can: abilitiesOf(() => true), listVms: none, listGroups: none } as Partial<ServiceReader>;
  const before = clock.now();
  const why = await whyMayBeCreated(
    [{ type: "intent", address, intent: null }],
    { ...emptyState("0123456789abcdef"), intents: new Map([[address, intent]]) },
    notSeen,
    client as ServiceReader,
    { timing: defaultTiming, clock },
    new AbortController().signal,
  );
  expect(why).toBeUndefined();
  return clock.now() - before;
}

describe("an open create that no list shows is looked for", () => {
  it.each<[what: string, operation: Intent["operation"], isAccepted: boolean, ms: number]>([
    ["as long as a VM may take to be made, where its create was accepted", "vm.create", true, vmCreateTimeoutMs],
    ["as long as a list may be behind, where the answer was lost", "vm.create", false, discoveryWindowMs],
    [
      "as long as a list may be behind, for a group, which is there when it is accepted",
      "group.create",
      true,
      discoveryWindowMs,
    ],
  ])("%s", async (_, operation, isAccepted, ms) => {
    const waited = await waitedFor(operation, isAccepted);
    expect(waited).toBeGreaterThanOrEqual(ms);
    expect(waited).toBeLessThan(ms + 30_000);
  });
});

it("stays open where the run is stopped while it is looked for", async () => {
  const world = virtualWorld({ with: ["volume.list"] });
  const address = "volume.data";
  const sentAt = world.clock.instant();
  const step = `${address}/create`;
  const open: Intent = { step, address, operation: "volume.create", name: "data", sentAt, idsBefore: [] };
  await world.record([{ type: "intent", address, intent: open }]);
  const prepared = await world.plan(desiredOf("volumes: { data: { size: 5 } }\n"));
  expect(prepared.plan.changes.map(({ action }) => action)).toEqual(["create"]);
  const stop = new AbortController();
  const list = world.client.listVolumes.bind(world.client);
  world.client.listVolumes = async (options) => {
    stop.abort();
    return list(options);
  };
  const run = carryOutOn(world, prepared, { soft: stop.signal, hard: new AbortController().signal });
  await expect(run).rejects.toThrow(/stopped/);
  expect([...(await world.state()).intents.values()]).toEqual([open]);
  expect(world.takeSent().filter(({ operation }) => operation === "volume.create")).toEqual([]);
});

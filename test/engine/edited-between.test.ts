/** Runs that are cut off right after a request, each followed by an edit of the file: nothing is made twice or forgotten. */
import { describe, expect, it } from "vitest";
import type { Desired } from "../../reconciler/core/model/desired";
import { desiredOf } from "../support/desired-file";
import { type VirtualWorld, virtualWorld } from "../support/virtual-world";

const vm = (more = "") => `vms: { a: { name: web, image_id: 00000000-0000-4000-8003-000000000001${more} } }\n`;
const volume = (name: string) => `volumes: { a: { name: ${name}, size: 5 } }\n`;
const nothing = desiredOf("");

/** Ends the run at the first write after the `nth` request of an operation: its effect is there, and nobody knows. */
async function cutAfter(stage: VirtualWorld, operation: string, desired: Desired): Promise<void> {
  const { client } = stage;
  const cut = new Proxy(client, {
    get: (target, key) => {
      const call = Reflect.get(target, key);
      if (key !== operation) return call;
      return async (...given: unknown[]) => {
        const outcome = await call.apply(target, given);
        stage.cutAfterWrites(0);
        return outcome;
      };
    },
  });
  const prepared = await stage.plan(desired);
  expect(prepared.plan.diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  await stage.applyWith(cut, prepared).catch(() => undefined);
  stage.cutAfterWrites(undefined);
}

async function applied(stage: VirtualWorld, desired: Desired): Promise<void> {
  const report = await stage.apply(await stage.plan(desired));
  expect(report!.steps.filter(({ result }) => result.end !== "done")).toEqual([]);
}

const live = (stage: VirtualWorld) => {
  const { vm: vms, volume: volumes } = stage.emulated.world.tables;
  return {
    vms: [...vms.values()].map(({ name }) => name),
    volumes: [...volumes.values()].filter(({ root }) => !root).map(({ name }) => name),
  };
};

describe("a file that is edited between two runs that were cut off", () => {
  it("finds the VM that was made in place of one that was gone, wanted or not", async () => {
    for (const wanted of [desiredOf(vm()), nothing]) {
      const stage = virtualWorld();
      await applied(stage, desiredOf(vm()));
      await cutAfter(stage, "deleteVm", desiredOf(vm(", root_size: 80")));
      await cutAfter(stage, "createVm", desiredOf(vm()));
      expect(live(stage).vms).toEqual(["web"]);
      await applied(stage, wanted);
      expect(live(stage).vms).toEqual(wanted === nothing ? [] : ["web"]);
      const state = await stage.state();
      for (const { id } of stage.emulated.dump().volumes)
        expect(state.orphans.has(`volume:${id}`) || live(stage).vms.length === 1).toBe(true);
    }
  });

  it("remembers the data volume of a VM that goes while the volume is off it to be grown", async () => {
    const stage = virtualWorld();
    await applied(stage, desiredOf(vm()));
    await cutAfter(stage, "detachVolume", desiredOf(vm(", size: 20")));
    await applied(stage, nothing);
    expect(live(stage)).toEqual({ vms: [], volumes: ["web-data"] });
    expect([...(await stage.state()).orphans.values()].map(({ kind, sizeGb }) => [kind, sizeGb])).toEqual([
      ["volume", 10],
    ]);
  });

  it("deletes the old volume and the new one by their own ids when their block goes before the replacement was finished", async () => {
    const stage = virtualWorld({ with: ["volume.list"] });
    await applied(stage, desiredOf(volume("old")));
    await cutAfter(stage, "createVolume", desiredOf(volume("new")));
    const { plan } = await stage.plan(nothing);
    const idNamed = (wanted: string) =>
      [...stage.emulated.world.tables.volume.values()].find(({ name }) => name === wanted)?.id;
    expect(plan.steps.flatMap(({ action }) => (action.operation === "volume.delete" ? [action.volume] : []))).toEqual([
      { id: idNamed("old") },
      { id: idNamed("new") },
    ]);
    await applied(stage, nothing);
    expect(live(stage).volumes).toEqual([]);
    expect((await stage.state()).orphans.size).toBe(0);
  });
});

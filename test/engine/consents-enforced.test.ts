/** Whoever calls the engine: what is protected or was not listed stays, and a refusal says everything that is missing. */
import { afterEach, describe, expect, it } from "vitest";
import { type Consent, everyGrant, type Grants, noGrants } from "../../reconciler/core/plan/consent";
import { ConsentMissing } from "../../reconciler/core/plan/permitted";
import { applyPlan } from "../../reconciler/engine/apply";
import type { Prepared } from "../../reconciler/engine/plan";
import { type BenchWorld, desiredOf, startBenchWorld } from "../support/bench-world";
import { holder, prepareOn } from "../support/engine-on";

const head = {
  version: 1,
  project: "acme",
  region: "in-west-1",
  defaults: {
    vm: { owner: "ops@acme.example", user_id: "1042", image_id: "ubuntu-24.04", flavor_id: "m1.small", size: 10 },
  },
};
const file = (blocks: object) => desiredOf(JSON.stringify({ ...head, ...blocks }));
const groups = { web: {} };
const guarded = { lifecycle: { prevent_destroy: true } };

let world: BenchWorld | undefined;
afterEach(() => world?.close());

async function stand(vm: object): Promise<BenchWorld> {
  world = await startBenchWorld({});
  const { report } = await world.apply(
    file({ vms: { db: { name: "db-1", ...vm } }, volumes: { data: { size: 5 } }, groups }),
  );
  expect(report?.counts).toMatchObject({ failed: 0, waiting: 0 });
  return world;
}

/** As a program does it that knows only the public functions. */
async function embed(present: BenchWorld, wish: object, alter: (prepared: Prepared) => Prepared, grants?: Grants) {
  const { store, ports } = present;
  const prepared = await prepareOn({ store, ports, lineage: "embedded" }, file(wish));
  const quiet = new AbortController().signal;
  const stop = { soft: quiet, hard: quiet };
  return applyPlan({ prepared: alter(prepared), store, ports, holder, stop, planId: "program", grants });
}

const refusal = async (applied: Promise<unknown>): Promise<readonly Consent[]> => {
  const error = await applied.then(
    () => undefined,
    (failure: unknown) => failure,
  );
  if (!(error instanceof ConsentMissing)) throw new Error(`not refused: ${String(error)}`);
  return error.missing;
};
const asIs = (prepared: Prepared): Prepared => prepared;
const withoutConsents = (prepared: Prepared): Prepared => ({ ...prepared, plan: { ...prepared.plan, consents: [] } });
const keptVolume = { volumes: { data: { size: 5 } }, groups };

describe("a program that embeds the engine", () => {
  it("cannot delete what is protected, whatever it grants, and nothing is written or sent", async () => {
    const present = await stand(guarded);
    const before = JSON.stringify(present.store.stored);
    for (const grants of [undefined, noGrants, everyGrant]) {
      const missing = await refusal(embed(present, keptVolume, asIs, grants));
      expect(missing).toContainEqual(expect.objectContaining({ kind: "prevent_destroy", address: "vm.db" }));
    }
    expect(JSON.stringify(present.store.stored)).toBe(before);
    expect(present.emulator.dump().vms).toHaveLength(1);
  });

  it("is told everything that is missing at once, each loss with its id and size", async () => {
    const present = await stand({});
    const missing = await refusal(embed(present, { groups }, asIs));
    const { vms, volumes } = present.emulator.dump();
    const data = volumes.find(({ name, size }) => name === "data" && size === 5);
    expect(missing.map(({ kind, loss }) => [kind, loss])).toEqual([
      ["data_loss", { disk: "root", id: vms[0]?.id, sizeGb: 50 }],
      ["data_loss", { disk: "volume", id: data?.id, sizeGb: 5 }],
    ]);
  });

  it("loses only what it allowed by name", async () => {
    const present = await stand({});
    const missing = await refusal(embed(present, { groups }, asIs, { ...noGrants, allowLoss: ["vm.db"] }));
    expect(missing.map(({ address }) => address)).toEqual(["volume.data"]);
    const report = await embed(present, keptVolume, asIs, { ...noGrants, allowLoss: ["vm.db"] });
    expect(report.counts).toMatchObject({ failed: 0 });
    expect(present.emulator.dump().vms).toHaveLength(0);
  });

  it.each([
    ["protects", guarded, "consent/prevent-destroy"],
    ["knows", {}, "consent/unlisted"],
  ])("that takes the consents out of a plan deletes nothing that the state %s", async (_, vm, code) => {
    const present = await stand(vm);
    const report = await embed(present, keptVolume, withoutConsents, everyGrant);
    expect(report.steps.map(({ result }) => "code" in result && result.code)).toContain(code);
    expect(present.emulator.dump().vms).toHaveLength(1);
  });
});

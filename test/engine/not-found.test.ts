/** "Not found" for an id the state knows, once or for good, and lists that are behind: nothing is made twice or forgotten. */
import { afterEach, describe, expect, it } from "vitest";
import type { EmulatorOptions } from "../../emulator";
import { accepted, isGone } from "../../reconciler/core/model/outcome";
import { mergeDialect } from "../../reconciler/dialect/merge-dialect";
import { openStoredState } from "../../reconciler/engine/plan";
import { pullWorld } from "../../reconciler/engine/pull";
import { observeOrphans } from "../../reconciler/engine/refresh";
import type { ServiceClient } from "../../reconciler/service/client";
import { type BenchWorld, dialectFor, projectOf, startBenchWorld } from "../support/bench-world";
import { clientAt } from "../support/deployments/doctor-here";
import { prepareOn } from "../support/engine-on";
import { everything } from "../support/stories";
import { createMemoryStore } from "../support/virtual-world";

const standing = projectOf({
  vms: { web: {} },
  volumes: { data: { size: 5, flush: { via: "ask" } } },
  groups: { front: { rules: [{ protocol: "tcp", dst_port: 80, remote_ip: "0.0.0.0/0" }] } },
});

let world: BenchWorld | undefined;
afterEach(() => world?.close());

async function stand(options: EmulatorOptions = {}): Promise<BenchWorld> {
  world = await startBenchWorld({ ...options, dialect: dialectFor(options) });
  const { report } = await world.apply(standing);
  expect(report?.counts).toMatchObject({ failed: 0, waiting: 0 });
  return world;
}
const notFound = (operation: string, count?: number) => ({
  kind: "status",
  code: 404,
  when: "before",
  operation,
  ...(count === undefined ? {} : { count }),
});

describe("a read that finds nothing at a known id", () => {
  it.each(["volume.get", "group.rule.list"])("once, at %s: it is asked again, and nothing is planned", async (at) => {
    const present = await stand();
    await present.control("POST", "/faults", notFound(at, 1));
    const plan = await present.plan(standing);
    expect([plan.changes, plan.steps, plan.diagnostics.filter(({ severity }) => severity === "error")]).toEqual([
      [],
      [],
      [],
    ]);
  });

  it("for good, while the list shows the group: no plan, and no second group", async () => {
    const present = await stand({ with: everything });
    await present.control("POST", "/faults", notFound("group.rule.list"));
    const { plan, report } = await present.apply(standing);
    expect(report).toBeUndefined();
    expect(plan.diagnostics).toEqual([
      expect.objectContaining({
        severity: "error",
        code: "service/not_found",
        summary: expect.stringMatching(/^security group \S+, which its list shows, could not be read \(HTTP 404\)/),
      }),
    ]);
  });

  it("for good, where there is no list: it is said before the volume is made anew", async () => {
    const present = await stand();
    await present.control("POST", "/faults", notFound("volume.get"));
    const plan = await present.plan(standing);
    expect(plan.diagnostics).toContainEqual(expect.objectContaining({ severity: "warning", code: "plan/gone" }));
    expect(plan.changes).toEqual([expect.objectContaining({ address: "volume.data", action: "create" })]);
  });
});

describe("a delete that finds nothing", () => {
  it.each(["vm.delete", "volume.delete", "group.delete"])(
    "does not make %s forget what a look still shows",
    async (at) => {
      const present = await stand();
      await present.control("POST", "/faults", notFound(at));
      const { report } = await present.apply(standing, { destroy: true });
      expect(report?.steps.map(({ result }) => result).filter(({ end }) => end === "failed")).toEqual([
        expect.objectContaining({
          code: "service/not_found",
          message: "refused (HTTP 404): injected fault, and yet the service shows it",
        }),
      ]);
      await present.control("DELETE", "/faults");
      await present.apply(standing, { destroy: true });
      const { vms, groups } = present.emulator.dump();
      expect([vms, groups.filter(({ platform }) => !platform)]).toEqual([[], []]);
    },
  );

  it("is done when the look finds nothing either", async () => {
    const present = await stand();
    const [volume] = present.emulator.dump().volumes.filter(({ name }) => name === "data");
    const plan = await present.plan(standing, { destroy: true });
    expect(plan.steps.map(({ id }) => id)).toContain("volume.data/delete");
    await present.control("POST", "/faults", { ...notFound("volume.delete", 1), when: "after" });
    const destroyed = await present.apply(standing, { destroy: true });
    expect(present.emulator.requests().counts["volume.delete"]).toBe(1);
    expect(destroyed.report?.counts.failed).toBe(0);
    const state = openStoredState(present.store.stored, "memory", "l").state;
    expect([...state.resources.values(), ...state.orphans.values()].map(({ id }) => id)).not.toContain(volume!.id);
  });
});

describe("a VM that two lists in a row lack", () => {
  it.each([
    ["within its discovery window is not taken for gone", 60_000, false, []],
    ["after its discovery window is not gone either, while a volume says that it hangs on it", 0, false, []],
    ["after its discovery window is gone where nothing speaks against it", 0, true, ["create"]],
  ])("%s", async (_, discoveryWindowMs, isGone, actions) => {
    const present = await stand();
    if (isGone) await present.control("DELETE", `/vm/${present.emulator.dump().vms[0]?.id}`);
    await present.control("POST", "/faults", { kind: "stale-list", ms: 60_000, operation: "vm.list" });
    const { plan } = await prepareOn({ ...present, lineage: "unborn" }, standing, { discoveryWindowMs });
    expect(plan.changes.map(({ action }) => action)).toEqual(actions);
  });
});

describe("the rules of a group that is taken over, and that no record knows", () => {
  const groups = { front: { rules: [{ protocol: "tcp", dst_port: 80, remote_ip: "0.0.0.0/0" }] } };
  /** The n-th of its answers shows none. */
  async function takenOver(lacking: number) {
    const present = await stand({ with: everything });
    const { client } = present;
    const id = present.emulator.dump().groups.find(({ name }) => name === "front")?.id ?? "";
    let asked = 0;
    const listRules: typeof client.listRules = async (group, options) =>
      asked++ === lacking ? accepted([]) : client.listRules(group, options);
    const doubtful = new Proxy(client, {
      get: (target, method) => Reflect.get({ listRules }, method) ?? Reflect.get(target, method),
    });
    const file = projectOf({ groups, imports: [{ to: "group.front", id }] });
    const world = { store: createMemoryStore(), ports: { ...present.ports, client: doubtful } };
    return { plan: await prepareOn(world, file).then(({ plan }) => plan), asked };
  }
  it.each([0, 1])("are not believed where two answers differ, the one with the number %i empty", async (lacking) => {
    const { plan } = await takenOver(lacking);
    expect(plan.steps).toEqual([]);
    expect(plan.diagnostics).toContainEqual(
      expect.objectContaining({ severity: "error", summary: expect.stringContaining("showed different rules") }),
    );
  });
  it("are asked for twice, and no more", async () => {
    const { plan, asked } = await takenOver(-1);
    expect([plan.changes.map(({ action }) => action), plan.diagnostics, asked]).toEqual([["import"], [], 2]);
  });
});

describe("a service that shows an empty list of rules for a group that it does not have", () => {
  async function deleted(ways: readonly string[]) {
    const present = await stand({ with: ways });
    const { client } = present;
    const id = present.emulator.dump().groups.find(({ name }) => name === "front")?.id ?? "";
    const listRules: typeof client.listRules = async (group, options) => {
      const rules = await client.listRules(group, options);
      return isGone(rules) ? accepted([]) : rules;
    };
    const forgiving = (own: Partial<ServiceClient> = {}): ServiceClient =>
      new Proxy(client, {
        get: (target, method) => Reflect.get({ ...own, listRules }, method) ?? Reflect.get(target, method),
      });
    return { present, client, id, forgiving };
  }

  it.each([
    ["by its list", ["group.list"], "the list of security groups, read to its end, does not show it"],
    ["by a read of its id", ["group.list", "group.get"], "the service answered twice that it has no such id"],
  ])("shows %s that the group is gone", async (_, ways, because) => {
    const { present, client, id, forgiving } = await deleted(ways);
    await client.deleteGroup(id);
    const ports = { ...present.ports, client: forgiving() };
    const { plan } = await prepareOn({ ...present, ports, lineage: "unborn" }, standing);
    expect(plan.changes).toEqual([
      expect.objectContaining({ address: "group.front", action: "create", because: expect.stringContaining(because) }),
    ]);
    const pulled = await pullWorld(forgiving(), { groups: [id] });
    expect([pulled.groups, pulled.diagnostics.map(({ code }) => code)]).toEqual([[], ["pull/not-found"]]);
  });

  const without = { ...standing, resources: standing.resources.filter(({ kind }) => kind !== "group") };
  it("and has no list: a person says that it is gone", async () => {
    const { present, client, id, forgiving } = await deleted([]);
    await client.deleteGroup(id);
    const { report } = await present.apply(without, {}, { client: forgiving() });
    expect(report?.steps.map(({ result }) => result)).toMatchObject([
      {
        message: expect.stringMatching(/not found in this project, and looking could not confirm it$/),
        fix: "if somebody has deleted the group: reconcile state rm group.front",
      },
    ]);
  });

  it("and has no list: what an earlier run has sent the delete of is gone by the service's word", async () => {
    const { present, client, id, forgiving } = await deleted([]);
    const deleteGroup: typeof client.deleteGroup = async () => {
      await client.deleteGroup(id);
      return { status: "unknown", reason: "the answer was lost" };
    };
    const lost = await present.apply(without, {}, { client: forgiving({ deleteGroup }) });
    expect(lost.report?.steps.map(({ result }) => result.end)).toEqual(["unknown"]);
    const { report } = await present.apply(without, {}, { client: forgiving() });
    expect(report?.steps.map(({ result }) => result.end)).toEqual(["done"]);
    expect([...openStoredState(present.store.stored, "memory", "l").state.resources.keys()]).not.toContain(
      "group.front",
    );
  });
});

it("a delete that finds no VM deletes none, while a volume says that it hangs on it", async () => {
  const present = await stand();
  await present.control("POST", "/faults", { kind: "stale-list", ms: 60_000, operation: "vm.list" });
  for (const at of ["vm.get", "vm.delete"]) await present.control("POST", "/faults", notFound(at));
  const { report } = await present.apply(standing, { destroy: true });
  expect(report?.steps.find(({ step }) => step.id === "vm.web/delete")?.result).toMatchObject({
    end: "failed",
    code: "service/not_found",
    message: expect.stringMatching(/, and volume \S+ says that it hangs on it$/),
  });
  expect(present.emulator.dump().vms).toHaveLength(1);
  const state = openStoredState(present.store.stored, "memory", "l").state;
  expect([...state.resources.keys()]).toContain("vm.web");
});

it("what is gone because the user says whose service it is, is told with that word, and with no sight of another", async () => {
  world = await startBenchWorld();
  const one = projectOf({ volumes: { data: { size: 5 } } });
  await world.apply(one);
  await world.control("DELETE", `/volume/${world.emulator.dump().volumes[0]?.id}`);
  const { diagnostics } = await world.plan(one, { acceptService: true });
  const [gone] = diagnostics.filter(({ code }) => code === "plan/gone");
  expect(gone?.detail).toContain("and you say that this is the service, the project and the credential of the state.");
});

it("a snapshot that finds no VM, before a delete, says what to do where nothing of its kind shows", async () => {
  const volumes = { data: { size: 5 } };
  world = await startBenchWorld();
  await world.apply(projectOf({ vms: { web: { lifecycle: { snapshot_before: ["delete"] } } }, volumes }));
  await world.control("DELETE", `/vm/${world.emulator.dump().vms[0]?.id}`);
  const { report } = await world.apply(projectOf({ volumes }));
  expect(report?.steps.find(({ step }) => step.action.operation === "vm.snapshot")?.result).toMatchObject({
    end: "failed",
    code: "service/not_found",
    fix: expect.stringContaining("--accept-service"),
  });
});

it("an orphan that a list shows is there, though a read of its id finds nothing", async () => {
  const present = await stand({ with: everything });
  const [volume] = present.emulator.dump().volumes.filter(({ root, name }) => !root && name !== "data");
  await present.control("POST", "/faults", notFound("volume.get"));
  const { state } = openStoredState(present.store.stored, "memory", "l");
  const orphan = { kind: "volume", id: volume!.id, name: volume!.name, reason: "left" } as const;
  const { sight } = await observeOrphans(present.client, standing, state, [orphan]);
  expect(sight(orphan)).toMatchObject({ seen: "yes" });
});

describe("a volume that is not found, while a VM's record names it", () => {
  const inUse = projectOf({
    vms: { web: { lifecycle: { preserved_volumes: "delete" } } },
    volumes: { data: { size: 5, attach_to: "web", flush: { via: "stop" } }, other: { size: 6 } },
  });
  it.each([
    ["data", "volume.data"],
    ["web-data", "vm.web"],
  ])("is not deleted by being not found: %s", async (name, address) => {
    world = await startBenchWorld();
    const { client } = world;
    await world.apply(inUse);
    const lost = world.emulator.dump().volumes.find((volume) => volume.name === name)!.id;
    const gone = { status: "rejected", condition: "not_found", httpStatus: 404, message: "not found" } as const;
    const blind = new Proxy(client, {
      get(target, method) {
        const value: unknown = Reflect.get(target, method);
        if (method !== "getVolume" && method !== "deleteVolume") return value;
        return async (id: string, ...more: []) => (id === lost ? gone : target[method](id, ...more));
      },
    });
    const { plan, report } = await world.apply(inUse, { destroy: true }, { client: blind });
    if (name === "data")
      expect(plan.diagnostics).toContainEqual(expect.objectContaining({ code: "plan/not-listed-yet", address }));
    expect(report?.steps.find(({ step }) => step.id === `${address}/delete`)?.result).toMatchObject({
      end: "failed",
      message: expect.stringMatching(/not found, and the record of VM web names it$/),
    });
    const state = openStoredState(world.store.stored, "memory", "l").state;
    expect([...state.resources.values(), ...state.orphans.values()].map(({ id }) => id)).toContain(lost);
  });
});

describe("a VM whose id is shown in other letters", () => {
  it.each([
    ["by its list alone", "lower", "in the dialect: records.vm.id: { value: /id, case: lower }"],
    ["from now on", "upper", "reconcile state rm vm.web, then reconcile import vm.web"],
  ] as const)("%s is neither gone nor made anew", async (_, letters, fix) => {
    const plain = dialectFor({});
    const upper = mergeDialect({
      operations: plain.operations,
      records: { vm: { id: { value: "/id", case: "upper" } } },
    });
    const only = projectOf({ vms: { web: {} } });
    const present = await startBenchWorld({ dialect: letters === "lower" ? plain : upper });
    world = present;
    await present.apply(only);
    const client = clientAt(present.baseUrl, letters === "lower" ? upper : plain);
    const { plan } = await prepareOn({ ...present, ports: { ...present.ports, client }, lineage: "unborn" }, only, {
      discoveryWindowMs: 0,
    });
    expect(plan.changes).toEqual([]);
    // Nor is it deleted because the delete finds nothing.
    const { report } = await present.apply(only, { destroy: true }, { client });
    await client.close();
    const end = report?.steps.at(-1)?.result.end;
    expect([end, present.emulator.dump().vms.length]).toEqual(letters === "lower" ? ["done", 0] : ["failed", 1]);
    expect(plan.diagnostics).toContainEqual(
      expect.objectContaining({ code: "plan/not-listed-yet", address: "vm.web", fix: expect.stringContaining(fix) }),
    );
  });
});

describe("a rule of a group that nobody could look at when it was planned", () => {
  it("is looked up when it is removed, and is gone afterwards", async () => {
    const present = await stand({ with: everything });
    await present.control("POST", "/faults", { ...notFound("group.rule.list", 1), code: 403 });
    const { report } = await present.apply(projectOf({ groups: { front: { rules: [] } } }), {
      targets: ["group.front"],
    });
    expect(report?.steps.map(({ step, result }) => [step.id, result.end])).toEqual([
      ["group.front/remove-rule-0", "done"],
    ]);
    expect(present.emulator.dump().rules.filter(({ direction }) => direction === "ingress")).toEqual([]);
  });
});

describe("a VM that failed", () => {
  it("cannot be stopped for a flush, so taking its volumes off is for a person to allow", async () => {
    const present = await startBenchWorld();
    world = present;
    const flushed = projectOf({
      vms: { web: {} },
      volumes: { data: { size: 5, attach_to: "web", flush: { via: "stop" } } },
    });
    await present.apply(flushed);
    const [vm] = present.emulator.dump().vms;
    await present.control("PATCH", `/vm/${vm!.id}`, { status: "ERROR" });
    const plan = await present.plan(flushed, { replace: ["vm.web"] });
    expect(plan.steps.map(({ action }) => action.operation)).not.toContain("vm.stop");
    expect(plan.consents).toContainEqual(expect.objectContaining({ kind: "flush", address: "volume.data" }));
    const { report } = await present.apply(flushed, { replace: ["vm.web"] });
    expect(report?.counts).toMatchObject({ failed: 0, skipped: 0 });
  });
});

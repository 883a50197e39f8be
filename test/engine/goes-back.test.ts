/**
 * A volume that comes off its VM only to be grown, where the file does not say where it hangs: somebody attached it by
 * hand, or `ignore_changes` leaves the place to others. It goes back, whatever ends the run, and stays somebody's.
 */
import { describe, expect, it } from "vitest";
import { hasNothingToDo } from "../../reconciler/engine/apply";
import { dialectFor, projectOf, startBenchWorld } from "../support/bench-world";
import { createMortal, type Moment } from "../support/mortal";
import { virtualWorld } from "../support/virtual-world";
import { readDump } from "../support/world-shape";

const vms = { db: { name: "db-1" } };
const places = {
  "by hand": {},
  "left to others": { attach_to: "db", lifecycle: { ignore_changes: ["attach_to"] } },
};
/** Before and after the detach, and after the growth. */
const moments: Readonly<Record<string, Moment | undefined>> = {
  undisturbed: undefined,
  "killed before the detach": { of: "request", nth: 1, when: "before" },
  "killed after the detach": { of: "request", nth: 1, when: "after" },
  "killed after the growth": { of: "request", nth: 2, when: "after" },
};

describe.each(Object.entries(places))("a volume that was attached: %s", (_, place) => {
  it.each(Object.entries(moments))("%s", async (__, moment) => {
    const options = { with: ["volume.list"] };
    const world = await startBenchWorld({ ...options, dialect: dialectFor(options), reach: "here" });
    try {
      const wish = (size: number) => projectOf({ vms, volumes: { data: { size, ...place } } });
      await world.apply(wish(5));
      const { vm, volume } = readDump(world.emulator.dump());
      const [host, { id } = { id: "" }] = [vm[0]?.id, volume.find(({ name }) => name === "data")];
      await world.control("PATCH", `/volume/${id}`, { attached_to: host, status: "in-use" });
      const mortal = createMortal({ ...world, clock: world.ports.clock }, moment);
      await Promise.race([world.apply(wish(6), {}, mortal), mortal.death]);
      if (mortal.isDead()) await world.store.breakLock();
      await world.apply(wish(6));
      const now = readDump(world.emulator.dump()).volume.find((one) => one.id === id);
      expect(now).toMatchObject({ size: 6, attached_to: host });
      expect((await world.plan(wish(6))).changes).toEqual([]);
    } finally {
      await world.close();
    }
  });
});

it("a VM that was stopped for a flush is let go only once it was started again", async () => {
  const world = await startBenchWorld({ dialect: dialectFor({}), reach: "here" });
  try {
    const data = { size: 5, flush: { via: "stop" } };
    const then = projectOf({ volumes: { data }, removed: [{ from: "vm.db", destroy: false }] });
    const status = () => readDump(world.emulator.dump()).vm[0]?.status;
    await world.apply(projectOf({ vms, volumes: { data: { ...data, attach_to: "db" } } }));
    const { client } = world.ports;
    const no = { status: "rejected", condition: "bad_request", message: "not today" } as const;
    await world.apply(then, {}, { client: { ...client, startVm: async () => no } });
    expect(status()).toBe("SHUTOFF");
    await world.apply(then);
    expect(status()).toBe("ACTIVE");
    expect((await world.plan(then)).changes).toEqual([]);
  } finally {
    await world.close();
  }
});

describe("a volume whose detach the service did and goes on showing as it was", () => {
  const vm = (size: number) => projectOf({ vms: { db: { name: "db-1", size } } });
  const byHand = (size: number) => projectOf({ vms, volumes: { data: { size } } });
  it.each([
    ["of a VM", "db-1-data", vm],
    ["that was attached by hand", "data", byHand],
  ])("goes back once that is over: %s", async (_, name, wish) => {
    const options = { with: ["volume.list"] };
    const world = await startBenchWorld({ ...options, dialect: dialectFor(options), reach: "here" });
    try {
      await world.apply(wish(5));
      const { vm: hosts, volume } = readDump(world.emulator.dump());
      const [host, { id } = { id: "" }] = [hosts[0]?.id, volume.find((one) => one.name === name)];
      await world.control("PATCH", `/volume/${id}`, { attached_to: host, status: "in-use" });
      // Its looks are all answered with what was true before.
      const { client } = world.ports;
      const [vms_, volumes_, one] = [await client.listVms(), await client.listVolumes(), await client.getVolume(id)];
      const late = {
        ...client,
        listVms: async () => vms_,
        listVolumes: async () => volumes_,
        getVolume: async () => one,
      };
      for (const _run of ["sent", "refused"]) await world.apply(wish(6), {}, { client: late });
      expect(readDump(world.emulator.dump()).volume.find((one_) => one_.id === id)?.attached_to).toBe(null);
      // The service shows it as it is, and its user wants it as it was.
      await world.apply(wish(5));
      expect(readDump(world.emulator.dump()).volume.find((one_) => one_.id === id)).toMatchObject({
        attached_to: host,
      });
      expect((await world.plan(wish(5))).changes).toEqual([]);
    } finally {
      await world.close();
    }
  });
});

describe("what ignore_changes leaves to others once the create has set it", () => {
  const lifecycle = (field: string) => ({ lifecycle: { ignore_changes: [field] } });
  const wish = projectOf({
    vms: { db: { name: "db-1", power: "stopped", ...lifecycle("power") } },
    volumes: { data: { size: 5, attach_to: "db", ...lifecycle("attach_to") } },
  });
  // The creates, the stop and the attach, and what is written down between them.
  const moments = (["request", "write"] as const).flatMap((of) =>
    Array.from({ length: of === "request" ? 4 : 9 }, (_, index): Moment => ({ of, nth: index + 1, when: "after" })),
  );
  it.each(moments)("is set by the run after one that was cut off: $of $nth", async (moment) => {
    const options = { with: ["volume.list"] };
    const world = await startBenchWorld({ ...options, dialect: dialectFor(options), reach: "here" });
    try {
      const mortal = createMortal({ ...world, clock: world.ports.clock }, moment);
      await Promise.race([world.apply(wish, {}, mortal), mortal.death]);
      if (mortal.isDead()) await world.store.breakLock();
      await world.apply(wish);
      const seen = () => {
        const { vm, volume } = readDump(world.emulator.dump());
        const data = volume.find(({ name }) => name === "data");
        return { id: data?.id, vms: vm.map(({ id, status }) => ({ id, status })), on: data?.attached_to };
      };
      const { id, vms, on } = seen();
      expect({ vms, on }).toEqual({ vms: [{ id: on, status: "SHUTOFF" }], on: expect.any(String) });
      // From now on it is theirs.
      await world.control("PATCH", `/vm/${on}`, { status: "ACTIVE" });
      await world.control("PATCH", `/volume/${id}`, { attached_to: null, status: "available" });
      const { changes, bookkeeping } = await world.plan(wish);
      expect({ changes, bookkeeping }).toEqual({ changes: [], bookkeeping: [] });
    } finally {
      await world.close();
    }
  });

  it.each([0, 1, 2, 3, 4, 5])("rules that name their own group too, cut off after %i writes", async (writes) => {
    const stage = virtualWorld({ with: ["group.list", "group.get", "group.rule.delete"] });
    const rule = (dst_port: number, more: object = {}) => ({ protocol: "tcp", dst_port, ...more });
    const itself = { remote_group: "mesh" };
    const rules = [rule(22), rule(5432, itself), rule(5433, itself)];
    const wish = projectOf({ groups: { mesh: { rules, ...lifecycle("rules") } } });
    const shown = () => readDump(stage.emulated.dump()).rule.flatMap(({ port_range_min: port }) => port ?? []);
    const first = await stage.plan(wish);
    stage.cutAfterWrites(writes);
    await stage.apply(first).catch(() => undefined);
    stage.cutAfterWrites(undefined);
    await stage.store.breakLock();
    const mesh = (await stage.state()).resources.get("group.mesh");
    const theirs = { protocol: "tcp", dst_port: "80", direction: "ingress", ethertype: "IPv4" };
    if (mesh !== undefined) stage.emulated.call("group.rule.create", theirs, { id: mesh.id });
    await stage.apply(await stage.plan(wish));
    expect(shown().toSorted((a, b) => a - b)).toEqual([22, ...(mesh === undefined ? [] : [80]), 5432, 5433]);
    const { changes, bookkeeping } = (await stage.plan(wish)).plan;
    expect({ changes, bookkeeping }).toEqual({ changes: [], bookkeeping: [] });
  });
});

describe("a group that is replaced has its name back where its successor cannot be made", () => {
  const tcp = (dst_port: number, remote: object = { remote_ip: "10.0.0.0/8" }) => ({
    protocol: "tcp",
    dst_port,
    ...remote,
  });
  const vms = {
    box: { owner: "ops@acme.example", user_id: "1042", image_id: "ubuntu-24.04", flavor_id: "m1.small", size: 10 },
  };
  const wide = [tcp(80), tcp(22)];
  it.each<readonly [what: string, refused: string, before: object, after: object]>([
    [
      "the one that its rules name is refused",
      "back",
      { groups: { front: { rules: [...wide, tcp(1, { remote_group: "back" })] }, back: { rules: wide } } },
      { groups: { front: { rules: [tcp(80), tcp(1, { remote_group: "back" })] }, back: { rules: [tcp(80)] } } },
    ],
    [
      "a VM that its rules name is refused",
      "box",
      { groups: { front: { rules: wide } } },
      { vms, groups: { front: { rules: [tcp(80), tcp(1, { remote_ip: "${vm.box.private_ip}" })] } } },
    ],
  ])("%s", async (_, refused, before, after) => {
    const stage = virtualWorld({ with: ["group.list"] });
    const { client } = stage;
    await stage.apply(await stage.plan(projectOf(before)));
    const [makesGroup, makesVm] = [client.createGroup.bind(client), client.createVm.bind(client)];
    const no = { status: "rejected", condition: "bad_request", message: "not today" } as const;
    client.createGroup = async (group, ...more) => (group.name === refused ? no : makesGroup(group, ...more));
    client.createVm = async (vm, ...more) => (vm.name === refused ? no : makesVm(vm, ...more));
    const report = await stage.apply(await stage.plan(projectOf(after)));
    expect(report?.counts.failed).toBe(1);
    const listed = await client.listGroups();
    const names = listed.status === "accepted" ? listed.value.map(({ name }) => name) : [];
    expect(names.filter((name) => name?.includes("-old-"))).toEqual([]);
    Object.assign(client, { createGroup: makesGroup, createVm: makesVm });
    await stage.apply(await stage.plan(projectOf(after)));
    expect(hasNothingToDo((await stage.plan(projectOf(after))).plan)).toBe(true);
  });

  it.each([
    ["of another one that is replaced", ["back", "spare"]],
    ["of each other", ["back", "front"]],
  ])("or takes a name: that %s", async (_, [front, back]) => {
    const stage = virtualWorld({ with: ["group.list"] });
    const named = (one: string | undefined, two: string | undefined, rules: readonly object[]) =>
      projectOf({ groups: { front: { name: one, rules }, back: { name: two, rules } } });
    await stage.apply(await stage.plan(named("front", "back", wide)));
    const report = await stage.apply(await stage.plan(named(front, back, [tcp(80)])));
    expect(report?.counts).toMatchObject({ failed: 0, skipped: 0 });
    expect(hasNothingToDo((await stage.plan(named(front, back, [tcp(80)]))).plan)).toBe(true);
  });
});

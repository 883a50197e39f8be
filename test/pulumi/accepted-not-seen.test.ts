/**
 * A service that says yes and does nothing, under a program: the resource fails with what does not show, keeps what is
 * true of it, and the next update of the same inputs repairs it.
 */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { noSamples } from "../../reconciler/engine/ports";
import { type HandlerContext, PartialFailure, type Props } from "../../reconciler/one/handler";
import { shareLooks } from "../../reconciler/one/shared-looks";
import { type HandlerType, handlers } from "../../reconciler/one/table";
import { systemClock } from "../../reconciler/service/system-clock";
import { type BenchWorld, dialectFor, startBenchWorld } from "../support/bench-world";
import { json, type MeddlingProxy, startMeddlingProxy } from "../support/own-place";

const everything = ["vm.get", "volume.list", "group.list", "group.get", "group.rule.delete"];
let world: BenchWorld;
let proxy: MeddlingProxy;
let context: HandlerContext;
beforeEach(async () => {
  world = await startBenchWorld({
    dialect: dialectFor({ with: everything }),
    with: everything,
    front: async (emulator) => {
      proxy = await startMeddlingProxy(emulator);
      return proxy;
    },
  });
  const { emit: _emit, client, ...ports } = world.ports;
  const looks = shareLooks(client, systemClock);
  context = {
    service: async () => ({ ...ports, client: looks.fresh, looks }),
    signal: new AbortController().signal,
    log: () => undefined,
  };
});
afterEach(() => world.close());

const swallow = (method: string, path: RegExp): void =>
  proxy.meddle((exchange, forward) =>
    exchange.method === method && path.test(exchange.path) ? Promise.resolve(json({ data: "ok" })) : forward(),
  );
const honest = (): void => proxy.meddle((_, forward) => forward());

/** What the program's state holds after a call that failed. */
async function failing(call: Promise<unknown>): Promise<PartialFailure> {
  const failure = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(PartialFailure);
  // `toBeInstanceOf` has just said so.
  return failure as PartialFailure;
}

const vm = {
  ...{ name: "web-a", flavorId: "m1.small", imageId: "ubuntu-24.04", owner: "ops@acme.example", userId: "1042" },
  ...{ project: "acme", region: "in-west-1", size: 10 },
};

describe("a write that was accepted and does not show", () => {
  it.each<[HandlerType, Props, Props, string, RegExp, string]>([
    ["Vm", vm, { ...vm, name: "web-b" }, "POST", /\/vm\/rename/, "name: web-b"],
    [
      "SecurityGroup",
      { name: "front", description: "one" },
      { name: "front", description: "two" },
      ...(["PATCH", /security-group/, "description: two"] as const),
    ],
  ])("fails the update of a %s, which the next one repairs", async (type, before, after, method, path, said) => {
    const handler = handlers[type];
    const { id, outputs } = await handler.create(context, before);
    swallow(method, path);
    const failure = await failing(handler.update(context, id, outputs, after));
    expect(failure.message).toContain(said);
    honest();
    const kept = failure.kept.outputs;
    expect((await handler.diff(context, id, kept, after)).changes.length).toBe(1);
    const repaired = await handler.update(context, id, kept, after);
    expect((await handler.diff(context, id, repaired.outputs, after)).changes).toEqual([]);
  });

  it("fails the create of a group, which a refresh and the next update make", async () => {
    const handler = handlers.SecurityGroup;
    await handler.create(context, { name: "kept" });
    const id = "57a17000-0000-4000-8000-000000000005";
    proxy.meddle((exchange, forward) =>
      exchange.method === "POST" && exchange.path.endsWith("/security-group")
        ? Promise.resolve(json({ data: { id, name: "front", rules: [] } }))
        : forward(),
    );
    const failure = await failing(handler.create(context, { name: "front" }));
    expect(failure.message).toContain("does not show it");
    expect(failure.message).toContain("after pulumi refresh");
    honest();
    expect(failure.kept.id).toBe(id);
    const read = await handler.read(context, id, failure.kept.outputs);
    expect(read).toBeUndefined();
    await handler.create(context, { name: "front" });
    expect(world.emulator.dump().groups.filter(({ name }) => name === "front").length).toBe(1);
  });

  it("where nothing lists volumes, five of a process are read, and all once one of them was not there", async () => {
    const plain = await startBenchWorld();
    const processOf = (): HandlerContext => {
      const { emit: _emit, client: _client, ...ports } = plain.ports;
      const looks = shareLooks(plain.client, systemClock);
      const shared = { ...ports, client: looks.fresh, looks, samples: noSamples() };
      return { service: async () => shared, signal: new AbortController().signal, log: () => undefined };
    };
    const reads = (): number => plain.emulator.requests().counts["volume.get"] ?? 0;
    const make = async (one: HandlerContext, from: number, to: number): Promise<number> => {
      const before = reads();
      for (let i = from; i < to; i++) await handlers.Volume.create(one, { name: `vol-${i}`, size: 5 });
      return reads() - before;
    };
    try {
      expect(await make(processOf(), 0, 8)).toBe(5);
      const doubting = processOf();
      plain.emulator.setFaults([{ operation: "volume.get", kind: "status", code: 404, count: 1 }]);
      await make(doubting, 10, 11);
      expect(await make(doubting, 11, 18)).toBe(7);
    } finally {
      await plain.close();
    }
  });
});

/**
 * What an up and a destroy by single resources send, beside `reconcile apply` and `destroy` of the same, in virtual time:
 * a VM takes a minute to build and twenty seconds to stop, as long each or some longer than others. PULUMI_SIZES=100,300
 * tries more.
 */
import { describe, expect, it } from "vitest";
import { readDesired } from "../../reconciler/config/read/desired";
import { sourceOfValues } from "../../reconciler/config/values";
import { createPoller } from "../../reconciler/engine/poller";
import { noSamples } from "../../reconciler/engine/ports";
import type { HandlerContext, Props } from "../../reconciler/one/handler";
import { shareLooks } from "../../reconciler/one/shared-looks";
import { type HandlerType, handlers } from "../../reconciler/one/table";
import type { ServiceClient } from "../../reconciler/service/client";
import { type Capabilities, type VirtualWorld, virtualWorld } from "../support/virtual-world";

const sizes = (process.env["PULUMI_SIZES"] ?? "20,60").split(",").map(Number);
/** As many as Pulumi has under way on two cores. */
const parallel = 8;
const requestsAtOnce = 10;
const requestMs = 30;
/** Pulumi writes its whole state before and after each step, one write after the other. */
const checkpointMs = (resources: number): number => 5 + resources / 30;

const vmOf = (name: string) => ({
  ...{ name, flavorId: "m1.small", imageId: "ubuntu-24.04", owner: "ops@acme.example", userId: "1042" },
  ...{ project: "acme", region: "in-west-1", size: 10 },
});

interface Made {
  readonly type: HandlerType;
  readonly id: string;
  readonly outputs: Props;
}

/** The service's client with the time that each request takes. */
function slow({ client, clock }: VirtualWorld): ServiceClient {
  const waiting: (() => void)[] = [];
  let under = 0;
  return new Proxy(client, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== "function" || key === "close") return value;
      return async (...args: unknown[]) => {
        if (under === requestsAtOnce) await new Promise<void>((resolve) => waiting.push(resolve));
        else under++;
        await clock.sleep(requestMs);
        try {
          return await value.apply(target, args);
        } finally {
          const next = waiting.shift();
          if (next === undefined) under--;
          else next();
        }
      };
    },
  });
}

const sentIn = (world: VirtualWorld): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { operation } of world.takeSent()) counts[operation] = (counts[operation] ?? 0) + 1;
  return counts;
};
const total = (counts: Record<string, number>): number => Object.values(counts).reduce((sum, one) => sum + one, 0);
const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

/** An up and a destroy as Pulumi does them: a few at a time, what depends on others last or first, each in a process of its own. */
async function byPulumi(count: number, world: VirtualWorld) {
  const { clock } = world;
  let resources = 0;
  let written = Promise.resolve();
  const write = (): Promise<void> => (written = written.then(() => clock.sleep(checkpointMs(resources))));
  const openProcess = () => {
    const { emit: _emit, client: _client, ...ports } = world.ports;
    const looks = shareLooks(slow(world), clock);
    const poller = createPoller(looks.fresh, clock, ports.timing.pollIntervalMs, undefined, looks);
    const service = { ...ports, client: looks.fresh, looks, poller, samples: noSamples() };
    const context: HandlerContext = {
      service: async () => service,
      signal: new AbortController().signal,
      log: () => undefined,
    };
    const step = async <T>(call: () => Promise<T>): Promise<T> => {
      await write();
      const result = await call();
      await write();
      return result;
    };
    return {
      create: (type: HandlerType, inputs: Props): Promise<Made> =>
        step(async () => {
          const made = { type, ...(await handlers[type].create(context, inputs)) };
          resources++;
          return made;
        }),
      remove: ({ type, id, outputs }: Made): Promise<void> =>
        step(async () => {
          await handlers[type].delete(context, id, outputs);
          resources--;
        }),
    };
  };
  const work = async (queue: (() => Promise<void>)[], steps: number): Promise<void> => {
    let left = steps;
    const worker = async (): Promise<void> => {
      while (left > 0) {
        const next = queue.shift();
        if (next === undefined) {
          await clock.sleep(20);
          continue;
        }
        await next();
        left--;
      }
    };
    await Promise.all(Array.from({ length: parallel }, worker));
  };
  const { create } = openProcess();
  const made: Made[] = [];
  const attachments: Made[] = [];
  const queue: (() => Promise<void>)[] = [];
  for (const index of numbers(count)) {
    const pair: { vmId?: string; volumeId?: string } = {};
    const make = (type: HandlerType, inputs: Props, property: keyof typeof pair) => async () => {
      const one = await create(type, inputs);
      made.push(one);
      pair[property] = one.id;
      if (pair.vmId === undefined || pair.volumeId === undefined) return;
      queue.push(async () => {
        attachments.push(await create("VolumeAttachment", { ...pair, flushConfirmed: true }));
      });
    };
    queue.push(make("Vm", vmOf(`web-${index}`), "vmId"));
    queue.push(make("Volume", { name: `vol-${index}`, size: 5 }, "volumeId"));
  }
  await work(queue, 3 * count);
  const up = sentIn(world);
  const { remove } = openProcess();
  for (const some of [attachments, made])
    await work(
      some.map((one) => () => remove(one)),
      some.length,
    );
  const { vms, volumes } = world.emulated.dump();
  expect([vms, volumes.filter(({ name }) => name.startsWith("vol-"))]).toEqual([[], []]);
  return { up, destroy: sentIn(world) };
}

async function byReconcile(count: number, world: VirtualWorld) {
  const vms = numbers(count).map((index) => {
    const { name, flavorId, imageId, userId, ...rest } = vmOf(`web-${index}`);
    return [name, { ...rest, name, flavor_id: flavorId, image_id: imageId, user_id: userId }];
  });
  const volumes = numbers(count).map((index) => [
    `vol-${index}`,
    { name: `vol-${index}`, size: 5, attach_to: `vm.web-${index}` },
  ]);
  const { desired, diagnostics } = readDesired([
    sourceOfValues("reconcile.yaml", {
      version: 1,
      vms: Object.fromEntries(vms),
      volumes: Object.fromEntries(volumes),
    }),
  ]);
  if (desired === undefined) throw new Error(JSON.stringify(diagnostics));
  const client = slow(world);
  await world.applyWith(client, await world.plan(desired));
  const up = sentIn(world);
  await world.applyWith(client, await world.plan(desired, { destroy: true }));
  expect(world.emulated.dump().vms).toEqual([]);
  return { up, destroy: sentIn(world) };
}

const lists = ["volume.list", "group.list", "group.get", "group.rule.delete"];

describe.each([
  // How much more may be sent than `reconcile` sends. A destroy detaches each volume and looks whether it came off, which
  // `reconcile destroy` need not.
  ["the built-in dialect", {}, 0, { up: 1.2, destroy: 1.3 }],
  ["the built-in dialect, some VMs slower than others", {}, 0.25, { up: 1.3, destroy: 1.35 }],
  ["every list", { with: lists }, 0, { up: 1.25, destroy: 1.55 }],
  ["every list and a read of one VM", { with: [...lists, "vm.get"] }, 0, { up: 1.25, destroy: 1.55 }],
] satisfies [string, Capabilities, number, { up: number; destroy: number }][])(
  "VMs, volumes and attachments, %s",
  (_, has, spread, limits) => {
    const openWorld = (): VirtualWorld => {
      let asked = 0;
      const settings = {
        get secondMs() {
          return 1000 * (1 + spread * (((asked++ * 7919) % 101) / 50 - 1));
        },
      };
      return virtualWorld(has, undefined, settings);
    };
    it(`an up and a destroy send little more than reconcile does, and grow as they do: ${sizes.join(", ")}`, async () => {
      const sent: { up: number; destroy: number }[] = [];
      for (const size of sizes) {
        const [own, other] = [await byPulumi(size, openWorld()), await byReconcile(size, openWorld())];
        for (const phase of ["up", "destroy"] as const) {
          const told = `${phase} of ${size}: ${total(own[phase])} ${JSON.stringify(own[phase])}; reconcile: ${total(other[phase])} ${JSON.stringify(other[phase])}`;
          if (process.env["PULUMI_SIZES"] !== undefined) console.log(told);
          expect(total(own[phase]), told).toBeLessThanOrEqual(limits[phase] * total(other[phase]));
        }
        sent.push({ up: total(own.up) / size, destroy: total(own.destroy) / size });
      }
      // For each VM, volume and attachment as many in a large program as in a small one.
      expect(sent.at(-1)!.up / sent[0]!.up).toBeLessThan(1.1);
      expect(sent.at(-1)!.destroy / sent[0]!.destroy).toBeLessThan(1.1);
    });
  },
);

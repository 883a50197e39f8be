/**
 * What an up and a destroy by single resources send, beside `reconcile apply` and `destroy` of the same: at most 1.2 and
 * 1.3 times as much, and in proportion to what there is. PULUMI_SIZES=100,300 tries more.
 */
import { describe, expect, it } from "vitest";
import { readDesired } from "../../reconciler/config/read-desired";
import { sourceOfValues } from "../../reconciler/config/values";
import { createPoller } from "../../reconciler/engine/poller";
import { noSamples } from "../../reconciler/engine/ports";
import type { HandlerContext, Props } from "../../reconciler/one/handler";
import { shareLooks } from "../../reconciler/one/shared-looks";
import { type HandlerType, handlers } from "../../reconciler/one/table";
import { type BenchWorld, dialectFor, startBenchWorld } from "../support/bench-world";

const sizes = (process.env["PULUMI_SIZES"] ?? "20,60").split(",").map(Number);
/** Short as against a real service, and yet long as against what this one takes. */
const pollIntervalMs = 100;
/** As many as Pulumi deletes at a time. */
const parallel = 16;
/** Pulumi writes its state after each step, one write after the other, so that its calls come out of step. */
const checkpointMs = 12;
/** What a step of a destroy takes by the clock that answers grow old by: what the first deletes saw is old to the last. */
const stepMs = 300;

const lists = ["volume.list", "group.list", "group.get", "group.rule.delete"];
const abilities = {
  "every list": lists,
  "every list and a read of one VM": [...lists, "vm.get"],
  "the built-in dialect": [],
};

const vmOf = (name: string) => ({
  ...{ name, flavorId: "m1.small", imageId: "ubuntu-24.04", owner: "ops@acme.example", userId: "1042" },
  ...{ project: "acme", region: "in-west-1", size: 10 },
});

interface Made {
  readonly type: HandlerType;
  readonly id: string;
  readonly outputs: Props;
}

const countsOf = ({ emulator }: BenchWorld, from: number): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { operation } of emulator.requests().log.slice(from))
    counts[String(operation)] = (counts[String(operation)] ?? 0) + 1;
  return counts;
};
const total = (counts: Record<string, number>): number => Object.values(counts).reduce((sum, one) => sum + one, 0);

async function inParallel<T>(
  items: readonly T[],
  call: (item: T) => Promise<unknown>,
  ended: () => void = () => undefined,
): Promise<void> {
  const queue = [...items];
  let written = Promise.resolve();
  const checkpoint = (): Promise<void> =>
    (written = written.then(() => new Promise((resolve) => setTimeout(resolve, checkpointMs))));
  const worker = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      await call(next);
      ended();
      await checkpoint();
    }
  };
  await Promise.all(Array.from({ length: parallel }, worker));
}

function processOf(world: BenchWorld, now: () => number = world.ports.clock.now) {
  const { emit: _emit, client: _client, ...ports } = world.ports;
  const looks = shareLooks(world.client, now);
  const poller = createPoller(looks.fresh, ports.clock, pollIntervalMs, undefined, looks);
  const samples = noSamples();
  const context: HandlerContext = {
    service: async () => ({ ...ports, client: looks.fresh, looks, poller, samples }),
    signal: new AbortController().signal,
    log: () => undefined,
  };
  return {
    create: async (type: HandlerType, inputs: Props): Promise<Made> => ({
      type,
      ...(await handlers[type].create(context, inputs)),
    }),
    remove: ({ type, id, outputs }: Made) => handlers[type].delete(context, id, outputs),
  };
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

/** An up and a destroy as Pulumi does them: what depends on others last or first, many at a time, each in a process of its own. */
async function byPulumi(count: number, with_: readonly string[]) {
  const world = await startBenchWorld({ with: with_, dialect: dialectFor({ with: with_ }) });
  try {
    const { create } = processOf(world);
    const begun = world.emulator.requests().log.length;
    const made: { vm: Made; volume: Made; attachment: Made }[] = [];
    await inParallel(numbers(count), async (index) => {
      const vm = await create("Vm", vmOf(`web-${index}`));
      const volume = await create("Volume", { name: `vol-${index}`, size: 5 });
      const inputs = { vmId: vm.id, volumeId: volume.id, flushConfirmed: true };
      made.push({ vm, volume, attachment: await create("VolumeAttachment", inputs) });
    });
    const up = countsOf(world, begun);
    let ms = 0;
    const tick = (): void => {
      ms += stepMs;
    };
    const { remove } = processOf(world, () => ms);
    const from = world.emulator.requests().log.length;
    await inParallel(made, ({ attachment }) => remove(attachment), tick);
    await inParallel(
      made.flatMap(({ vm, volume }) => [vm, volume]),
      remove,
      tick,
    );
    const { vms, volumes } = world.emulator.dump();
    expect([vms, volumes.filter(({ name }) => name.startsWith("vol-"))]).toEqual([[], []]);
    return { up, destroy: countsOf(world, from) };
  } finally {
    await world.close();
  }
}

async function byReconcile(count: number, with_: readonly string[]) {
  const world = await startBenchWorld({ with: with_, dialect: dialectFor({ with: with_ }) });
  try {
    const vms = numbers(count).map((index) => {
      const { name, flavorId, imageId, userId, ...rest } = vmOf(`web-${index}`);
      return [name, { ...rest, name, flavor_id: flavorId, image_id: imageId, user_id: userId }];
    });
    const volumes = numbers(count).map((index) => [
      `vol-${index}`,
      { name: `vol-${index}`, size: 5, attach_to: `vm.web-${index}` },
    ]);
    const source = sourceOfValues("reconcile.yaml", {
      version: 1,
      vms: Object.fromEntries(vms),
      volumes: Object.fromEntries(volumes),
    });
    const { desired, diagnostics } = readDesired([source]);
    if (desired === undefined) throw new Error(JSON.stringify(diagnostics));
    const begun = world.emulator.requests().log.length;
    await world.apply(desired);
    const up = countsOf(world, begun);
    const from = world.emulator.requests().log.length;
    await world.apply(desired, { destroy: true });
    expect(world.emulator.dump().vms).toEqual([]);
    return { up, destroy: countsOf(world, from) };
  } finally {
    await world.close();
  }
}

/** How much more may be sent than `reconcile` sends. A destroy detaches each volume, which `reconcile destroy` need not. */
const limits = { up: 1.2, destroy: 1.3 };

describe.each(Object.entries(abilities))("VMs, volumes and attachments, %s", (_, with_) => {
  it(`an up and a destroy send little more than reconcile does, and grow as they do: ${sizes.join(", ")}`, async () => {
    const sent: number[] = [];
    for (const size of sizes) {
      const [own, other] = [await byPulumi(size, with_), await byReconcile(size, with_)];
      for (const phase of ["up", "destroy"] as const) {
        const told = `${phase} of ${size}: ${total(own[phase])} ${JSON.stringify(own[phase])}; reconcile: ${total(other[phase])} ${JSON.stringify(other[phase])}`;
        if (process.env["PULUMI_SIZES"] !== undefined) console.log(told);
        expect(total(own[phase]), told).toBeLessThanOrEqual(limits[phase] * total(other[phase]) + 10);
      }
      sent.push(total(own.destroy) / size);
    }
    // For each VM, volume and attachment as many in a large program as in a small one, where all go at once and what was
    // seen of a volume is not yet old to its delete.
    expect(sent.at(-1)! / sent[0]!).toBeLessThan(1.3);
  });
});

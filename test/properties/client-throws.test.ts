/**
 * A client that throws: one that a user of the library wrote, or a bug. Whatever it throws, at whichever of its methods,
 * the run ends with an error, and the next run goes on from what the state holds, without a twin.
 */
import { afterEach, expect, test } from "vitest";
import type { ServiceClient } from "../../reconciler/service/client";
import { type BenchWorld, dialectFor, projectOf, startBenchWorld } from "../support/bench-world";
import { inVirtualTime } from "../support/in-memory";

let world: BenchWorld | undefined;
afterEach(() => world?.close());

const tcp = (port: number) => ({ protocol: "tcp", dst_port: port, remote_ip: "0.0.0.0/0" });
const ask = { flush: { via: "ask" } };
const first = projectOf({
  vms: { web: {}, base: { name: "db-1" } },
  volumes: { data: { size: 20, attach_to: "base", ...ask }, spare: { size: 5, ...ask } },
  groups: { front: { description: "first", rules: [tcp(443), tcp(80)] }, back: {} },
});
const second = projectOf({
  vms: { web: { flavor_id: "m1.medium" }, base: { name: "base", image_id: "debian-12", power: "stopped" } },
  volumes: { data: { size: 30, attach_to: "web", ...ask } },
  groups: { front: { name: "edge", rules: [tcp(443), tcp(8443)] } },
});
const third = projectOf({ vms: { base: { name: "base", power: "running" } } });
const chapters = [first, second, third];

/** What is thrown: bugs, cut-off requests, and what is no error at all. */
const thrown: readonly (() => unknown)[] = [
  () => new TypeError("Cannot read properties of undefined (reading 'id')"),
  () => new DOMException("This operation was aborted", "AbortError"),
  () => Object.assign(new Error("something odd"), { code: "EODD", errno: -999 }),
  () => "a text",
  () => undefined,
];

/** Where one VM is read by itself, and where it is looked for in the list: then many wait for one look. */
const lists = ["volume.list", "group.list", "group.get", "group.rule.delete"];
const deployments = [
  { options: { with: [...lists, "vm.get"] }, which: /./ },
  { options: { with: lists, without: ["vm.get"] }, which: /^list/ },
];

type Method = keyof ServiceClient;

interface Throwing {
  readonly name?: Method;
  /** Only once the run has sent a write: what looks then waits for what others do. */
  readonly isLate?: boolean;
  /** After it has had its effect. */
  readonly sends?: boolean;
}

const isRead = (name: string): boolean => /^(list|get)/.test(name);

/** Throws at each call of a method from a moment on. `thrown`: how often it did. */
function throwing(client: ServiceClient, { name, isLate = false, sends = false }: Throwing) {
  const calls = new Set<Method>();
  const counts = { thrown: 0 };
  const proxy = new Proxy(client, {
    get(target, key: Method) {
      const member = target[key];
      if (typeof member !== "function" || key === "close" || key === "subject" || key === "listCost") return member;
      return (...given: unknown[]) => {
        const isThrown = key === name && (!isLate || [...calls].some((one) => !isRead(one)));
        calls.add(key);
        if (!isThrown) return Reflect.apply(member, target, given);
        const error = thrown[counts.thrown++ % thrown.length]!();
        if (!sends) throw error;
        return Promise.resolve(Reflect.apply(member, target, given)).then(() => {
          throw error;
        });
      };
    },
  });
  return { client: proxy, calls, counts };
}

async function within<T>(what: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} hangs`)), 20_000);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

const isHang = (error: unknown): boolean => error instanceof Error && error.message.endsWith("hangs");

async function lives(options: object, how: Throwing): Promise<ReadonlySet<Method>> {
  world = await startBenchWorld({ ...options, reach: "here", dialect: dialectFor(options) });
  const { client, calls, counts } = throwing(world.client, how);
  for (const [index, desired] of chapters.entries()) {
    const title = `${JSON.stringify(how)} in chapter ${index}`;
    const before = counts.thrown;
    const ended = await within(title, world.apply(desired, {}, { client })).catch((error: unknown) => {
      if (isHang(error)) throw error;
      return undefined;
    });
    if (counts.thrown === before) expect([title, ended?.report?.counts.failed ?? 0]).toEqual([title, 0]);
    // Whatever was thrown, it is told: by the run, or in the place of it.
    else if (ended?.report !== undefined && ended.report.bug === undefined)
      expect([title, ended.report.counts]).toEqual([title, "a run without an error"]);
    const healed = await within(`after ${title}`, world.apply(desired));
    expect([title, healed.report?.counts.failed ?? 0]).toEqual([title, 0]);
    expect([title, (await world.plan(desired)).changes]).toEqual([title, []]);
    const { vms, volumes, groups } = world.emulator.dump();
    const own = groups.filter(({ platform }) => platform !== true);
    const names = [...vms, ...volumes, ...own].map((one) => one.name);
    expect([title, names]).toEqual([title, [...new Set(names)]]);
  }
  await world.close();
  world = undefined;
  return calls;
}

test.each(deployments)("whatever a client throws at $options, the run ends", async ({ options, which }) => {
  const calls = await inVirtualTime(() => lives(options, {}));
  const wrong: unknown[] = [];
  for (const name of [...calls].filter((one) => which.test(one)))
    for (const how of isRead(name) ? [{}, { isLate: true }] : [{}, { sends: true }])
      await inVirtualTime(() => lives(options, { name, ...how })).catch((error) => wrong.push([error.actual ?? error]));
  expect(wrong).toEqual([]);
});

/**
 * Services in this process, reached without a socket, and time that passes at once when nothing else is left to do: what
 * a test over HTTP shows of a client and a service, without what HTTP and waiting cost.
 */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { vi } from "vitest";
import { connectionsTo, type Heard, type Told } from "../../reconciler/service/connections-here";
import type { Connections } from "../../reconciler/service/transport";

/** What a service of a test does: it may answer at once. */
export type Hear = (heard: Heard) => Promise<Told | undefined> | Told | undefined;
export type { Heard, Told };

const services = new Map<string, Hear>();
let served = 0;
let underWay = 0;

/** An address at which nothing listens. */
function nextAddress(): string {
  served = (served % 1000) + 1;
  return `http://127.0.0.1:${served}`;
}

/** `url`: where it listens as well, for other processes. */
export function serveHere(hear: Hear, url = nextAddress()): { readonly url: string; close(): Promise<void> } {
  services.set(url, hear);
  return {
    url,
    close: async () => {
      services.delete(url);
    },
  };
}

/** Others have had their turn by then, as while a request is on its way. */
const turn = (): Promise<void> => new Promise((done) => setImmediate(done));

export async function askHere(url: string, heard: Heard): Promise<Told | undefined> {
  underWay++;
  await turn();
  // A service that sleeps before it answers has to be woken.
  underWay--;
  return await services.get(url)?.(heard);
}

/** For a service of this process; `undefined`: the address is another one's. */
export const connectionsHere = (url: string): Connections | undefined =>
  services.has(url) ? connectionsTo(new URL(url).host, (heard) => askHere(url, heard)) : undefined;

/** While it runs, every sleep of this process is over as soon as nothing else is left to do. */
export async function inVirtualTime<T>(run: () => Promise<T>): Promise<T> {
  const uptime = process.uptime();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date"] });
  // As in Node no sleep is over at once, or whoever sleeps for less than a millisecond would do so for ever.
  const { setTimeout: sleep } = globalThis;
  const asInNode = (act: () => void, ms = 0, ...more: []): unknown => sleep(act, Math.max(1, ms), ...more);
  globalThis.setTimeout = asInNode as typeof setTimeout;
  const began = Date.now();
  const steady = vi.spyOn(process, "uptime").mockImplementation(() => uptime + (Date.now() - began) / 1000);
  try {
    let isOver = false;
    const running = run().finally(() => {
      isOver = true;
    });
    // It is awaited below: until then nobody else may count it as forgotten.
    running.catch(() => undefined);
    while (!isOver) {
      for (let turns = 0; turns < 3; turns++) await turn();
      if (!isOver && underWay === 0) await vi.advanceTimersToNextTimerAsync();
    }
    return await running;
  } finally {
    steady.mockRestore();
    globalThis.setTimeout = sleep;
    vi.useRealTimers();
  }
}

/** What is built reaches services of this process so as well, whoever opens the connections. */
const built = resolve(__dirname, "../../dist/reconciler/service/transport.js");
if (existsSync(built)) {
  const transport = createRequire(__filename)(built) as typeof import("../../reconciler/service/transport");
  const { createConnections } = transport;
  const orHere: typeof createConnections = (url, most) => connectionsHere(url) ?? createConnections(url, most);
  Object.assign(transport, { createConnections: orHere });
}

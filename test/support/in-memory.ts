/**
 * Services in this process, reached without a socket, and time that passes at once when nothing else is left to do: what
 * a test over HTTP shows of a client and a service, without what HTTP and waiting cost.
 */
import { vi } from "vitest";
import type { Connections } from "../../reconciler/service/transport";

export interface Heard {
  readonly method: string;
  /** With its query. */
  readonly url: string;
  /** Their names in small letters. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

export interface Told {
  readonly status: number;
  /** Their names in small letters. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** `undefined`: the connection ends without an answer. */
export type Hear = (heard: Heard) => Promise<Told | undefined> | Told | undefined;

const services = new Map<string, Hear>();
let served = 0;
let underWay = 0;

/** Its address is none at which anything listens. */
export function serveHere(hear: Hear): { readonly url: string; close(): Promise<void> } {
  served = (served % 1000) + 1;
  const url = `http://127.0.0.1:${served}`;
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

type Pool = ReturnType<Connections["open"]>;

/** For a service of this process; `undefined`: the address is another one's. */
export function connectionsHere(url: string): Connections | undefined {
  if (!services.has(url)) return undefined;
  const dispatch: Pool["dispatch"] = ({ method, path, headers, body }, handler) => {
    let aborted: Error | undefined;
    const controller = {
      ...{ aborted: false, paused: false, reason: null, resume: () => undefined, pause: () => undefined },
      abort(error: Error) {
        aborted = error;
        handler.onResponseError?.(controller, error);
      },
    };
    handler.onRequestStart?.(controller, {});
    if (aborted !== undefined) return true;
    const heard = {
      method,
      url: path,
      headers: headers as Heard["headers"],
      text: typeof body === "string" ? body : "",
    };
    askHere(url, heard).then(
      (told) => {
        if (aborted !== undefined) return;
        if (told === undefined) {
          handler.onResponseError?.(
            controller,
            Object.assign(new Error("other side closed"), { code: "UND_ERR_SOCKET" }),
          );
          return;
        }
        handler.onResponseStart?.(controller, told.status, { ...told.headers }, "");
        if (told.text !== "") handler.onResponseData?.(controller, Buffer.from(told.text));
        handler.onResponseEnd?.(controller, {});
      },
      (error: Error) => handler.onResponseError?.(controller, error),
    );
    return true;
  };
  // Of a pool, a transport calls nothing else.
  const pool = { dispatch, destroy: async () => undefined } as unknown as Pool;
  return { open: () => pool, close: async () => undefined };
}

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

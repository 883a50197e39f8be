/** Connections to a service of this process: without a socket, and without loading what speaks HTTP. */
import { asError } from "../core/text/errors";
import type { Connections, Dispatching } from "./transport";

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
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** `undefined`: the connection ends without an answer. */
export type Hear = (heard: Heard) => Promise<Told | undefined>;

const cutOff = (): Error => Object.assign(new Error("other side closed"), { code: "UND_ERR_SOCKET" });

const inSmallLetters = (headers: Told["headers"]): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

/** `host`: by which the service is asked. */
export function connectionsTo(host: string, hear: Hear): Connections {
  const dispatch: Dispatching["dispatch"] = ({ method, path, headers, body }, handler) => {
    let isOver = false;
    const controller = {
      aborted: false,
      paused: false,
      reason: null,
      rawHeaders: [],
      resume: () => undefined,
      pause: () => undefined,
      abort: (error: Error): void => fail(error),
    };
    const fail = (error: unknown): void => {
      if (isOver) return;
      isOver = true;
      handler.onResponseError?.(controller, asError(error));
    };
    handler.onRequestStart?.(controller, {});
    if (isOver) return true;
    const tell = (told: Told | undefined): void => {
      if (isOver) return;
      if (told === undefined) throw cutOff();
      handler.onResponseStart?.(controller, told.status, inSmallLetters(told.headers), "");
      if (told.text !== "") handler.onResponseData?.(controller, Buffer.from(told.text));
      // Whoever reads it may have had enough.
      if (!isOver) handler.onResponseEnd?.(controller, {});
      isOver = true;
    };
    // What goes wrong while the answer is read ends the request too.
    hear({ method, url: path, headers: { host, ...headers }, text: body ?? "" })
      .then(tell)
      .catch(fail);
    return true;
  };
  return { open: () => ({ dispatch }), close: async () => undefined };
}

/** For a client of a service that nobody else can reach. */
export const serviceHere = (hear: Hear) => ({
  baseUrl: "http://127.0.0.1",
  connections: connectionsTo("127.0.0.1", hear),
});

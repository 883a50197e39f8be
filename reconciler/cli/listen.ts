/** A small HTTP server for a command with `--listen`. It answers reads only. */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { portOf } from "../outside/port-of";
import { fail } from "./compose";

export interface Listening {
  readonly url: string;
  close(): Promise<void>;
}

/** Reads `--listen`: a port of this machine, or `HOST:PORT`. `another` is the value that a message suggests. */
export function readListen(listen: string, another: string): { readonly host: string; readonly port: number } {
  const match = /^(?:(.+):)?(\d{1,5})$/.exec(listen);
  const port = Number(match?.[2]);
  if (match === null || port > 65_535) throw fail("cli/bad-flag", `--listen ${listen} is no address`, another);
  return { host: (match[1] ?? "127.0.0.1").replace(/^\[(.*)\]$/, "$1"), port };
}

export async function listenAt(
  listen: string,
  another: string,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Listening> {
  const { host, port: wanted } = readListen(listen, another);
  const server = createServer((request, response) => {
    if (request.method === "GET" || request.method === "HEAD") answer(request, response);
    else response.writeHead(405, { "content-type": "text/plain" }).end("GET only\n");
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(fail("cli/cannot-listen", `--listen ${listen}: ${error.message}`, another)));
    server.listen(wanted, host, resolve);
  });
  const port = portOf(server);
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

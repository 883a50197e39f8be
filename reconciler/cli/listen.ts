/** A small HTTP server for a command with `--listen`. It answers reads only. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Http2SecureServer, Http2Server } from "node:http2";
import { isLoopbackHost, withoutPassword } from "../core/text/outside-policy";
import { portOf } from "../outside/port-of";
import { fail } from "./compose";

export interface Listening {
  readonly url: string;
  close(): Promise<void>;
}

/** Reads `--listen`: a port of this machine, or `HOST:PORT`. `another` is the value that a message suggests. */
export function readListen(listen: string, another: string): { readonly host: string; readonly port: number } {
  const match = /^(?:([^@/]+):)?(\d{1,5})$/.exec(listen);
  const port = Number(match?.[2]);
  if (match === null || port > 65_535)
    throw fail("cli/bad-flag", `--listen ${withoutPassword(listen)} is no address`, another);
  return { host: (match[1] ?? "127.0.0.1").replace(/^\[(.*)\]$/, "$1"), port };
}

/**
 * Which names a request may call the server by. One that only this machine reaches is called as such: a page of
 * somewhere else that has its own name point here would read what this machine shows.
 */
function hostsOf(bound: string): (named: string | undefined) => boolean {
  if (!isLoopbackHost(bound)) return () => true;
  return (named) =>
    named !== undefined && URL.canParse(`http://${named}`) && isLoopbackHost(new URL(`http://${named}`).hostname);
}

export async function listenAt(
  listen: string,
  another: string,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Listening> {
  const { host, port: wanted } = readListen(listen, another);
  const isOpenTo = hostsOf(host);
  const server = createServer((request, response) => {
    if (!isOpenTo(request.headers.host))
      response.writeHead(421, { "content-type": "text/plain" }).end("this is not the server of that name\n");
    else if (request.method === "GET" || request.method === "HEAD") answer(request, response);
    else response.writeHead(405, { "content-type": "text/plain" }).end("GET only\n");
  });
  server.listen(wanted, host);
  return onceListening(server, host, listen, another);
}

/** Waits for a server that was told to listen. */
export async function onceListening(
  server: Server | Http2Server | Http2SecureServer,
  host: string,
  listen: string,
  another: string,
): Promise<Listening> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: Error) =>
      reject(fail("cli/cannot-listen", `--listen ${listen}: ${error.message}`, another)),
    );
    if (server.listening) resolve();
    else server.once("listening", () => resolve());
  });
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${portOf(server)}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        if ("closeAllConnections" in server) server.closeAllConnections();
      }),
  };
}

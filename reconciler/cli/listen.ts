/** A small HTTP server for a command with `--listen`. It answers reads only. */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
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

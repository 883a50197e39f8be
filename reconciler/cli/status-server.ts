/** `/healthz` and `/metrics` of a watcher. Reads only; nothing in them is a secret. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { healthOf, metricsText, type WatchStatus } from "../report/watch-status";
import { fail } from "./compose";

export interface StatusServer {
  readonly url: string;
  close(): Promise<void>;
}

export async function startStatusServer(listen: string, status: () => WatchStatus): Promise<StatusServer> {
  const match = /^(?:(.+):)?(\d{1,5})$/.exec(listen);
  if (match === null || Number(match[2]) > 65535)
    throw fail("cli/bad-flag", `--listen ${listen} is no address`, "--listen 127.0.0.1:9464, or --listen none");
  const host = (match[1] ?? "127.0.0.1").replace(/^\[(.*)\]$/, "$1");
  const server = createServer((request, response) => {
    const answer = (code: number, type: string, text: string): void => {
      response.writeHead(code, { "content-type": type, "cache-control": "no-store" }).end(text);
    };
    if (request.method !== "GET" && request.method !== "HEAD") return answer(405, "text/plain", "GET only\n");
    switch (request.url?.split("?")[0]) {
      case "/metrics":
        return answer(200, "text/plain; version=0.0.4; charset=utf-8", metricsText(status()));
      case "/healthz": {
        const { healthy, body } = healthOf(status(), Date.now());
        return answer(healthy ? 200 : 503, "application/json", `${JSON.stringify(body)}\n`);
      }
      default:
        return answer(404, "text/plain", "/healthz or /metrics\n");
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) =>
      reject(fail("cli/cannot-listen", `--listen ${listen}: ${error.message}`, "another --listen, or --listen none")),
    );
    server.listen(Number(match[2]), host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A server on loopback that answers each request as a script says, and remembers what it was sent. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { closeHere, listenHere } from "../support/loopback";

export interface Received {
  readonly method: string;
  readonly url: string;
  readonly authorization: string | undefined;
  readonly body: string;
}

export type Script = (request: Received, response: ServerResponse, raw: IncomingMessage) => void;

export interface ScriptedServer {
  readonly baseUrl: string;
  readonly port: number;
  readonly received: Received[];
  close(): Promise<void>;
}

/** The n-th request gets the n-th script; the last one stays for all that follow. */
export async function startServer(...scripts: Script[]): Promise<ScriptedServer> {
  const received: Received[] = [];
  const server = createServer((raw, response) => {
    const chunks: Buffer[] = [];
    raw.on("data", (chunk: Buffer) => chunks.push(chunk));
    raw.on("end", () => {
      const request: Received = {
        method: raw.method ?? "",
        url: raw.url ?? "",
        authorization: raw.headers.authorization,
        body: Buffer.concat(chunks).toString("utf8"),
      };
      received.push(request);
      scripts[Math.min(received.length, scripts.length) - 1]!(request, response, raw);
    });
  });
  const baseUrl = await listenHere(server);
  return {
    baseUrl,
    port: Number(new URL(baseUrl).port),
    received,
    close: () => closeHere(server),
  };
}

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Script =>
  (_request, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
  };

export const text =
  (status: number, body: string, type = "text/html"): Script =>
  (_request, response) => {
    response.writeHead(status, { "content-type": type }).end(body);
  };

export const fault = (status: number, message: string, headers: Record<string, string> = {}): Script =>
  json(status, { error: { code: status, message } }, headers);

/** The request arrived and was perhaps done; its answer never comes. */
export const drop: Script = (_request, _response, raw) => {
  raw.socket.destroy();
};

/** Half of an answer, then silence for good. */
export const truncate: Script = (_request, response, raw) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
  response.write('{"data":');
  setTimeout(() => raw.socket.destroy(), 10);
};

export const silence: Script = () => {};

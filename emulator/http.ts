/** HTTP, thinly: what comes over a connection becomes a request, and an answer is sent. */
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { readBody } from "./body";
import { errorBody } from "./decision";
import { type Answer, exchange, type Service } from "./server";

export function createHttpServer(service: Service): Server {
  const server = createServer((request, response) => {
    const { method = "", url = "", headers } = request;
    exchange(service, { method, url, headers, body: (limit) => readBody(request, limit) }).then(
      (answer) => (answer === undefined ? request.socket.destroy() : send(response, answer)),
      (error: unknown) => {
        service.log(`internal error: ${error instanceof Error ? error.stack : String(error)}`);
        send(response, refused(500, "internal server error"));
      },
    );
  });
  server.keepAliveTimeout = 60_000;
  server.on("checkExpectation", (_request, response) => send(response, refused(417, "this expectation cannot be met")));
  const refuseRaw = (socket: Duplex, status: number, message: string) => {
    if (!socket.writable) return void socket.destroy();
    const { text } = refused(status, message);
    const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\nConnection: close\r\n`;
    socket.end(`${head}Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  };
  server.on("connect", (_request: IncomingMessage, socket: Duplex) => refuseRaw(socket, 405, "method not allowed"));
  // A request that is not valid HTTP gets an answer in the envelope too.
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === "ECONNRESET") return void socket.destroy();
    if (error.code === "HPE_HEADER_OVERFLOW") return refuseRaw(socket, 431, "the header is too large");
    if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") return refuseRaw(socket, 408, "the request took too long");
    refuseRaw(socket, 400, "this is not a valid HTTP request");
  });
  return server;
}

const taken = (host: string, port: number): string =>
  `${host}:${port} is taken by another program (EADDRINUSE); give another --port, or --port 0 for any that is free`;

function portListened(address: AddressInfo | string | null): number {
  if (typeof address === "object" && address !== null) return address.port;
  throw new Error("the server does not listen on a port");
}

export const listen = (server: Server, host: string, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    const refused = (error: NodeJS.ErrnoException) =>
      reject(error.code === "EADDRINUSE" ? new Error(taken(host, port), { cause: error }) : error);
    server.once("error", refused);
    server.listen(port, host, () => {
      server.off("error", refused);
      resolve(portListened(server.address()));
    });
  });

const refused = (status: number, message: string): Answer => ({
  status,
  headers: { "Content-Type": "application/json" },
  text: JSON.stringify(errorBody(status, message)),
});

function send(response: ServerResponse, { status, headers, text }: Answer): void {
  if (response.destroyed || response.headersSent) return;
  response.writeHead(status, { ...headers, "Content-Length": Buffer.byteLength(text) });
  response.end(text);
}

/** Servers of tests: at a free port of this machine, and closed together with what is still connected to them. */
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo, Server as SocketServer } from "node:net";
import type { Hear } from "./in-memory";

export async function listenHere(server: SocketServer): Promise<string> {
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  // A server that listens on TCP has a port.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export const closeHere = (server: Server): Promise<void> =>
  new Promise((done) => {
    server.close(() => done());
    server.closeAllConnections();
  });

/** A server of what a test answers; where that is nothing, the connection is cut. */
export const serverThat = (hear: Hear): Server =>
  createServer((incoming: IncomingMessage, outgoing) => {
    const pieces: Buffer[] = [];
    incoming.on("data", (piece: Buffer) => pieces.push(piece));
    incoming.on("end", async () => {
      const { method = "GET", url = "/" } = incoming;
      const headers = Object.fromEntries(
        Object.entries(incoming.headers).map(([name, value]) => [
          name,
          Array.isArray(value) ? value.join(", ") : (value ?? ""),
        ]),
      );
      const told = await hear({ method, url, headers, text: Buffer.concat(pieces).toString("utf8") });
      if (told === undefined) incoming.socket.destroy();
      else outgoing.writeHead(told.status, told.headers).end(told.text);
    });
  });

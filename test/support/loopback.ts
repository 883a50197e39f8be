/** Servers of tests: at a free port of this machine, and closed together with what is still connected to them. */
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

export async function listenHere(server: Server): Promise<string> {
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  // A server that listens on TCP has a port.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export const closeHere = (server: Server): Promise<void> =>
  new Promise((done) => {
    server.close(() => done());
    server.closeAllConnections();
  });

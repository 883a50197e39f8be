/** Stands between the command and the service, and at the n-th request that changes something ends the command. */
import { createServer, type Server, request as send } from "node:http";
import type { AddressInfo } from "node:net";

export interface DeadlyProxy {
  readonly url: string;
  /** Requests that change something, so far. */
  readonly seen: () => number;
  /** `before`: it never reaches the service. `after`: it has its effect, and its answer is never given. */
  arm(nth: number, when: "before" | "after", kill: () => void): void;
  close(): Promise<void>;
}

export async function startDeadlyProxy(target: string): Promise<DeadlyProxy> {
  const { hostname, port } = new URL(target);
  let seen = 0;
  let armed: { nth: number; when: "before" | "after"; kill: () => void } | undefined;
  const server: Server = createServer((incoming, outgoing) => {
    const isIt = incoming.method !== "GET" && ++seen === armed?.nth;
    if (isIt && armed?.when === "before") {
      armed.kill();
      incoming.socket.destroy();
      return;
    }
    const { method, url: path, headers } = incoming;
    const forwarded = send({ hostname, port, method, path, headers }, (answer) => {
      const pieces: Buffer[] = [];
      answer.on("data", (piece: Buffer) => pieces.push(piece));
      answer.on("end", () => {
        if (isIt) {
          armed?.kill();
          incoming.socket.destroy();
          return;
        }
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        outgoing.end(Buffer.concat(pieces));
      });
    });
    forwarded.on("error", () => incoming.socket.destroy());
    incoming.on("error", () => forwarded.destroy());
    incoming.pipe(forwarded);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen: () => seen,
    arm(nth, when, kill) {
      seen = 0;
      armed = { nth, when, kill };
    },
    close: () =>
      new Promise((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  };
}

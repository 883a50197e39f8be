/** A way to a server that can swallow what is sent, or what is answered, or be closed for a while. */

import type { AddressInfo } from "node:net";
import { connect, createServer, type Socket } from "node:net";

export type Mood = "open" | "swallows requests" | "swallows answers" | "closed";

export interface MoodyProxy {
  readonly port: number;
  /** For what is connected and for what will be. A closed one cuts everybody off. */
  set(mood: Mood): void;
  /** Whether somebody is there. */
  isUsed(): boolean;
  stop(): Promise<void>;
}

export async function startMoodyProxy(to: URL): Promise<MoodyProxy> {
  let mood: Mood = "open";
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    if (mood === "closed") {
      near.destroy();
      return;
    }
    const far = connect(Number(to.port), to.hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.on("data", (bytes) => mood !== "swallows requests" && far.write(bytes));
    far.on("data", (bytes) => mood === "open" && near.write(bytes));
  });
  const listen = (port: number) => new Promise<void>((done) => server.listen(port, "127.0.0.1", done));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const cutAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port,
    set(next) {
      // Closed means that nobody listens, so that who comes is refused.
      if (next === "closed" && mood !== "closed") server.close();
      if (next !== "closed" && mood === "closed") void listen(port);
      mood = next;
      if (next === "closed") cutAll();
    },
    isUsed: () => sockets.size > 0,
    stop: () =>
      new Promise((done) => {
        if (mood === "closed") done();
        else server.close(() => done());
        cutAll();
      }),
  };
}

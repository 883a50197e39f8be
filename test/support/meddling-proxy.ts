/**
 * What stands between the command and a service or a store: somebody who changes things, or the answers, at a request,
 * and a way that swallows what is sent, or what is answered, or is closed for a while.
 */
import { createServer, type IncomingHttpHeaders, request as send } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";

export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
}

export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Forwards by itself, perhaps with another body, or answers in the service's place. */
export type Meddle = (exchange: Exchange, forward: (changed?: string) => Promise<Answer>) => Promise<Answer>;

export interface MeddlingProxy {
  readonly url: string;
  /** What was sent to it that changes something, as `METHOD path`, in order. */
  readonly writes: string[];
  meddle(next: Meddle): void;
  close(): Promise<void>;
}

export const json = (body: unknown, status = 200): Answer => ({ status, body: JSON.stringify(body) });

export async function startMeddlingProxy(target: string): Promise<MeddlingProxy> {
  const { hostname, port } = new URL(target);
  const writes: string[] = [];
  let meddle: Meddle = (_, forward) => forward();
  const server = createServer((incoming, outgoing) => {
    const pieces: Buffer[] = [];
    incoming.on("data", (piece: Buffer) => pieces.push(piece));
    incoming.on("end", async () => {
      const { method = "GET", url: path = "/", headers } = incoming;
      const body = Buffer.concat(pieces);
      if (method !== "GET") writes.push(`${method} ${path}`);
      const forward = (changed?: string): Promise<Answer> =>
        new Promise((resolve, reject) => {
          const sent = changed === undefined ? body : Buffer.from(changed);
          const length = changed === undefined ? {} : { "content-length": String(sent.length) };
          const forwarded = send({ hostname, port, method, path, headers: { ...headers, ...length } }, (answer) => {
            const received: Buffer[] = [];
            answer.on("data", (piece: Buffer) => received.push(piece));
            answer.on("end", () =>
              resolve({ status: answer.statusCode ?? 500, body: Buffer.concat(received).toString() }),
            );
          });
          forwarded.on("error", reject);
          forwarded.end(sent);
        });
      try {
        const answer = await meddle({ method, path, body: body.toString(), headers }, forward);
        outgoing.writeHead(answer.status, { "content-type": "application/json" });
        outgoing.end(answer.body);
      } catch {
        incoming.socket.destroy();
      }
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    writes,
    meddle(next) {
      meddle = next;
    },
    close: () =>
      new Promise((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  };
}

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
  const server = createTcpServer((near) => {
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

/** Stands between the command and the service as somebody else would who changes things, or the answers, at a request. */
import { createServer, type IncomingHttpHeaders, request as send } from "node:http";
import type { AddressInfo } from "node:net";

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

/** A small server of the Terraform HTTP state protocol on loopback, as GitLab has it or as most others do. */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

export interface StateServerOptions {
  readonly kind: "gitlab" | "plain" | "careless";
  readonly username?: string;
  readonly password?: string;
}

export interface StateServer {
  readonly url: string;
  readonly requests: string[];
  /** The next this many requests of the method take effect, and their answers are lost. */
  loseAnswers(method: string, times: number): void;
  documentOf(name: string): string | undefined;
  stop(): Promise<void>;
}

interface Kept {
  text?: string;
  lock?: Record<string, string>;
  serials: Set<number>;
}

/** `careless`: never looks at the lock's id when something is written, as some servers do. */
export async function startStateServer({ kind, username, password }: StateServerOptions): Promise<StateServer> {
  const states = new Map<string, Kept>();
  const requests: string[] = [];
  const lost = new Map<string, number>();
  const base = kind === "gitlab" ? "/api/v4/projects/7/terraform/state" : "/states";
  const expected =
    username === undefined ? undefined : `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;

  const server = createServer(async (request, response) => {
    const body = await readBody(request);
    const url = new URL(request.url!, "http://localhost");
    const method = request.method!;
    requests.push(`${method} ${url.pathname}${url.search}`);
    const [status, text] = decide(method, url, request, body);
    const toLose = lost.get(method) ?? 0;
    if (toLose > 0) {
      lost.set(method, toLose - 1);
      response.destroy();
      return;
    }
    response.writeHead(status, { "content-type": "application/json" });
    response.end(text);
  });

  function decide(method: string, url: URL, request: IncomingMessage, body: string): [number, string] {
    if (expected !== undefined && request.headers.authorization !== expected) return [401, ""];
    const [name, tail] = url.pathname.slice(base.length + 1).split("/");
    const kept = states.get(name!) ?? { serials: new Set() };
    const id = url.searchParams.get("ID") ?? undefined;
    if (kind === "gitlab" && tail === "lock") {
      states.set(name!, kept);
      return method === "POST" ? lock(kept, body) : unlock(kept, id);
    }
    if (method === "LOCK" || method === "UNLOCK") {
      states.set(name!, kept);
      return method === "LOCK" ? lock(kept, body) : unlock(kept, (JSON.parse(body) as { ID?: string }).ID);
    }
    if (method === "GET") return kept.text === undefined ? [kind === "gitlab" ? 404 : 204, ""] : [200, kept.text];
    if (method !== "POST") return [405, ""];
    if (kind !== "careless" && (kept.lock?.["ID"] ?? "") !== (id ?? "")) return [409, "{}"];
    const { serial } = JSON.parse(body) as { serial?: number };
    if (kind === "gitlab" && (typeof serial !== "number" || kept.serials.has(serial))) return [422, ""];
    if (typeof serial === "number") kept.serials.add(serial);
    kept.text = body;
    states.set(name!, kept);
    return [200, ""];
  }

  function lock(kept: Kept, body: string): [number, string] {
    const wanted = JSON.parse(body) as Record<string, string>;
    for (const field of ["ID", "Operation", "Info", "Who", "Version", "Created", "Path"])
      if (typeof wanted[field] !== "string") return [400, `{"error":"${field} is missing"}`];
    if (kept.lock !== undefined) {
      // GitLab remembers id, user and time, and takes the rest from whoever asks.
      const { ID, Who, Created } = kept.lock;
      return kind === "gitlab"
        ? [409, JSON.stringify({ ...wanted, ID, Who, Created })]
        : [423, JSON.stringify(kept.lock)];
    }
    kept.lock = wanted;
    return [200, JSON.stringify(wanted)];
  }

  function unlock(kept: Kept, id: string | undefined): [number, string] {
    if (id !== undefined && id !== (kept.lock?.["ID"] ?? "")) return [409, "{}"];
    delete kept.lock;
    return [200, "{}"];
  }

  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${base}`,
    requests,
    loseAnswers: (method, times) => void lost.set(method, times),
    documentOf: (name) => states.get(name)?.text,
    stop: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

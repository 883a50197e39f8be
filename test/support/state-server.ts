/** A small server of the Terraform HTTP state protocol on loopback, as GitLab has it or as most others do. */

import { createHash } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import { closeHere, listenHere } from "./loopback";

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
  /** The next this many requests of the method are answered so, and have no effect. */
  answerInstead(method: string, status: number, text: string, times: number): void;
  documentOf(name: string): string | undefined;
  stop(): Promise<void>;
}

interface Kept {
  text?: string;
  lock?: Record<string, string>;
  serials: Set<number>;
}

/** `careless`: never looks at the lock's id when something is written or let go of, as some servers do. */
export async function startStateServer({ kind, username, password }: StateServerOptions): Promise<StateServer> {
  const states = new Map<string, Kept>();
  const requests: string[] = [];
  const lost = new Map<string, number>();
  const instead = new Map<string, { readonly answer: [number, string]; left: number }>();
  const base = kind === "gitlab" ? "/api/v4/projects/7/terraform/state" : "/states";
  const expected =
    username === undefined ? undefined : `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;

  const server = createServer(async (request, response) => {
    const body = await readBody(request);
    const url = new URL(request.url!, "http://localhost");
    const method = request.method!;
    requests.push(`${method} ${url.pathname}${url.search}`);
    const other = instead.get(method);
    const isOther = other !== undefined && other.left-- > 0;
    const [status, text] = isOther ? other.answer : decide(method, url, request, body);
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
    if (kind !== "careless" && id !== undefined && id !== (kept.lock?.["ID"] ?? "")) return [409, "{}"];
    delete kept.lock;
    return [200, "{}"];
  }

  const url = await listenHere(server);
  return {
    url: `${url}${base}`,
    requests,
    loseAnswers: (method, times) => void lost.set(method, times),
    answerInstead: (method, status, text, times) => void instead.set(method, { answer: [status, text], left: times }),
    documentOf: (name) => states.get(name)?.text,
    stop: () => closeHere(server),
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

/*
 * A bucket on loopback with the documented meaning of conditional writes: If-None-Match: * creates, If-Match replaces,
 * 412 when the condition does not hold, 404 when there is nothing to replace. Lists page by page, small ones on purpose.
 */

export interface S3Server {
  readonly url: string;
  readonly objects: Map<string, { readonly body: Buffer; readonly etag: string; readonly at: Date }>;
  /** What is odd about the server, changed as a test goes on. */
  readonly odd: {
    /** The `Date` of answers; `null`: none. */
    date?: (now: Date) => string | null;
    ignoresConditions?: boolean;
    /** Lists say that they are cut off, and not how to go on. */
    losesTokens?: boolean;
    /** Lists show the whole bucket, whatever they are asked for. */
    ignoresPrefix?: boolean;
    /** Status and text of the answer to every read. */
    reads?: [number, string];
  };
  /** The next this many requests of the method take effect, and their answers are lost. */
  loseAnswers(method: string, times: number): void;
  stop(): Promise<void>;
}

export async function startS3Server(pageSize = 7): Promise<S3Server> {
  const objects: S3Server["objects"] = new Map();
  const lost = new Map<string, number>();
  const odd: S3Server["odd"] = {};

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const url = new URL(request.url!, "http://localhost");
    const path = decodeURIComponent(url.pathname.slice(1));
    const method = request.method!;
    const ifMatch = odd.ignoresConditions === true ? undefined : request.headers["if-match"];
    const isNew = odd.ignoresConditions !== true && request.headers["if-none-match"] === "*";
    const present = objects.get(path);
    const [status, body, headers] = ((): [number, string | Buffer, Record<string, string>?] => {
      if (method === "GET" && odd.reads !== undefined) return odd.reads;
      if (method === "GET" && url.searchParams.get("list-type") === "2") return [200, list(path, url.searchParams)];
      if (method === "GET")
        return present === undefined
          ? [404, failure("NoSuchKey")]
          : [200, present.body, { etag: present.etag, "last-modified": present.at.toUTCString() }];
      if (method === "DELETE") {
        objects.delete(path);
        return [204, ""];
      }
      if (method !== "PUT") return [501, failure("NotImplemented")];
      if (isNew && present !== undefined) return [412, failure("PreconditionFailed")];
      if (ifMatch !== undefined && present === undefined) return [404, failure("NoSuchKey")];
      if (ifMatch !== undefined && present?.etag !== ifMatch) return [412, failure("PreconditionFailed")];
      const content = Buffer.concat(chunks);
      const etag = `"${createHash("md5").update(content).digest("hex")}"`;
      objects.set(path, { body: content, etag, at: serverTime() });
      return [200, "", { etag }];
    })();
    const toLose = lost.get(method) ?? 0;
    if (toLose > 0) {
      lost.set(method, toLose - 1);
      response.destroy();
      return;
    }
    response.sendDate = false;
    const date = odd.date === undefined ? serverTime().toUTCString() : odd.date(serverTime());
    response.writeHead(status, { "content-type": "application/xml", ...(date === null ? {} : { date }), ...headers });
    response.end(body);
  });

  function list(path: string, query: URLSearchParams): string {
    const bucket = path.replace(/\/$/, "");
    const after = query.get("continuation-token") ?? "";
    const keys = [...objects.keys()]
      .filter(
        (key) =>
          key.startsWith(`${bucket}/${odd.ignoresPrefix === true ? "" : (query.get("prefix") ?? "")}`) && key > after,
      )
      .sort();
    const page = keys.slice(0, pageSize);
    const contents = page.map((key) => `<Contents><Key>${key.slice(bucket.length + 1)}</Key></Contents>`).join("");
    const more = keys.length > page.length;
    return `<?xml version="1.0"?><ListBucketResult><IsTruncated>${more}</IsTruncated>${contents}${more && odd.losesTokens !== true ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : ""}</ListBucketResult>`;
  }

  const url = await listenHere(server);
  return {
    url,
    objects,
    odd,
    loseAnswers: (method, times) => void lost.set(method, times),
    stop: () => closeHere(server),
  };
}

/** Its own clock, whatever a test does to the one of its clients. */
const serverTime = (): Date => new Date(performance.timeOrigin + performance.now());

const failure = (code: string): string =>
  `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`;

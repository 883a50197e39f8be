/**
 * A bucket on loopback with the documented meaning of conditional writes: If-None-Match: * creates, If-Match replaces,
 * 412 when the condition does not hold, 404 when there is nothing to replace. Lists page by page, small ones on purpose.
 */
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

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
      .filter((key) => key.startsWith(`${bucket}/${query.get("prefix") ?? ""}`) && key > after)
      .sort();
    const page = keys.slice(0, pageSize);
    const contents = page.map((key) => `<Contents><Key>${key.slice(bucket.length + 1)}</Key></Contents>`).join("");
    const more = keys.length > page.length;
    return `<?xml version="1.0"?><ListBucketResult><IsTruncated>${more}</IsTruncated>${contents}${more && odd.losesTokens !== true ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : ""}</ListBucketResult>`;
  }

  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    odd,
    loseAnswers: (method, times) => void lost.set(method, times),
    stop: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

/** Its own clock, whatever a test does to the one of its clients. */
const serverTime = (): Date => new Date(performance.timeOrigin + performance.now());

const failure = (code: string): string =>
  `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`;

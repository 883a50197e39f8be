/** A state server of the Terraform HTTP protocol that answers wrongly when a test says so. */
import { createServer } from "node:http";
import { closeHere, listenHere } from "../support/loopback";

export type Oddity = "empty 200" | "204" | "404" | "older" | "foreign";

export interface OddStateServer {
  readonly url: string;
  /** Does this to so many reads from now on, after so many right ones. */
  answer(oddity: Oddity, times?: number, after?: number): void;
  /** So many more writes are kept; those behind them are answered and forgotten. */
  keep(writes: number): void;
  /** Answers nothing any more. */
  fallSilent(): void;
  document(name: string): string | undefined;
  /** What an older read is answered with from now on. */
  keepAsOlder(name: string): void;
  readonly requests: string[];
  stop(): Promise<void>;
}

const foreign = (text: string): string =>
  text.replaceAll(/\\"lineage\\":\\"[^"\\]+\\"/g, '\\"lineage\\":\\"another\\"');

/**
 * A state server that answers wrongly now and then, as a proxy, a lagging replica or a cache does: what a test says of
 * the next reads is done to them, and all else is answered rightly.
 */
export async function startOddStateServer(): Promise<OddStateServer> {
  const documents = new Map<string, string>();
  const locks = new Map<string, string>();
  const older = new Map<string, string>();
  const requests: string[] = [];
  let isSilent = false;
  let kept = Number.POSITIVE_INFINITY;
  let odd: { readonly oddity: Oddity; left: number; after: number } | undefined;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString("utf8");
      const name = new URL(request.url ?? "/", "http://localhost").pathname.slice(1);
      requests.push(`${request.method} ${name}`);
      if (isSilent) return;
      const [status, text] = answerTo(request.method ?? "", name, body);
      response.writeHead(status, { "content-type": "application/json" });
      response.end(text);
    });
  });
  const answerTo = (method: string, name: string, body: string): [number, string] => {
    if (method === "LOCK") {
      if (locks.has(name)) return [423, locks.get(name) ?? ""];
      locks.set(name, body);
      return [200, body];
    }
    if (method === "UNLOCK") {
      locks.delete(name);
      return [200, ""];
    }
    if (method === "POST") {
      if (kept-- > 0) documents.set(name, body);
      return [200, ""];
    }
    const text = documents.get(name);
    const isOdd = odd !== undefined && odd.after-- <= 0 && odd.left-- > 0;
    if (isOdd && odd !== undefined)
      switch (odd.oddity) {
        case "empty 200":
          return [200, ""];
        case "204":
          return [204, ""];
        case "404":
          return [404, ""];
        case "older":
          return [200, older.get(name) ?? ""];
        default:
          return [200, foreign(text ?? "")];
      }
    return text === undefined ? [404, ""] : [200, text];
  };
  const url = await listenHere(server);
  return {
    url,
    requests,
    answer(oddity, times = Number.POSITIVE_INFINITY, after = 0) {
      odd = { oddity, left: times, after };
    },
    keep(writes) {
      kept = writes;
    },
    fallSilent() {
      isSilent = true;
    },
    document: (name) => documents.get(name),
    keepAsOlder: (name) => void older.set(name, documents.get(name) ?? ""),
    stop: () => closeHere(server),
  };
}

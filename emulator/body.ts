/**
 * Reads and checks a request body: bounded, valid UTF-8, JSON that is not nested without end. A problem is a refusal
 * with its status; nothing a client sends makes this throw.
 */
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { type Reply, refuseWith } from "./decision";

export type ReadBody = { readonly text: string } | { readonly refusal: Reply };

const maxDepth = 64;
/** A body that is too large is read to its end up to here: a client that is cut off while it sends never sees the answer. */
const drainedBytes = 64 * 1024 * 1024;
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function hasBody(headers: IncomingHttpHeaders): boolean {
  const length = headers["content-length"];
  return (length !== undefined && length !== "0") || headers["transfer-encoding"] !== undefined;
}

/** `undefined`: the client went away before it had sent it all. */
export function readBody(request: IncomingMessage, limit: number): Promise<ReadBody | undefined> {
  if (!hasBody(request.headers)) return Promise.resolve({ text: "" });
  const tooLarge: ReadBody = { refusal: refuseWith(413, `the body must be at most ${limit >> 20} MiB`) };
  if (Number(request.headers["content-length"] ?? 0) > drainedBytes) return Promise.resolve(tooLarge);
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      else if (size > drainedBytes) resolve(tooLarge);
    });
    request.on("end", () => {
      if (size > limit) return resolve(tooLarge);
      try {
        resolve({ text: decoder.decode(Buffer.concat(chunks)) });
      } catch {
        resolve({ refusal: refuseWith(400, "the body is not valid UTF-8") });
      }
    });
    request.on("error", () => resolve(undefined));
    request.on("close", () => resolve(undefined));
  });
}

export function parseBody(text: string): { readonly value: unknown } | { readonly refusal: Reply } {
  if (text === "") return { value: undefined };
  if (isTooDeep(text)) return { refusal: refuseWith(400, `the body is nested more than ${maxDepth} levels deep`) };
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { refusal: refuseWith(400, "the body is not valid JSON") };
  }
}

/** Counts brackets outside of strings, before anything recursive sees the text. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === 0x5c) at += 1;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x5b || code === 0x7b) {
      depth += 1;
      if (depth > maxDepth) return true;
    } else if (code === 0x5d || code === 0x7d) depth -= 1;
  }
  return false;
}

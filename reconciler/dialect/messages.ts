/**
 * The service's words made safe to show and to compare: no control characters or direction marks (a terminal would obey
 * them), one line, bounded.
 */
import { fieldsIn, ownValue } from "../core/text/objects";

const longestMessage = 500;

export function cleanMessage(text: string): string {
  // The text is cut before it is cleaned too, so that a body of megabytes is not walked for one line.
  const oneLine = text
    .slice(0, longestMessage * 4)
    .replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]+/g, " ")
    .replace(/ {2,}/g, " ")
    .trim();
  return oneLine.length <= longestMessage ? oneLine : `${oneLine.slice(0, longestMessage - 1)}…`;
}

/** What an error body says: the contract's envelope first, then the shapes that proxies and frameworks use. */
export function messageInBody(body: unknown, scrub: (text: string) => string, said?: string | null): string {
  // The credential is taken out before the text is cut: half a credential is a secret too.
  return cleanMessage(scrub(said || rawMessageOf(body)));
}

function rawMessageOf(body: unknown): string {
  if (typeof body === "string") return body;
  for (const holder of [own(body, "error"), body]) {
    if (typeof holder === "string" && holder !== "") return holder;
    for (const key of ["message", "detail", "title", "data"]) {
      const text = own(holder, key);
      if (typeof text === "string" && text !== "") return text;
    }
  }
  return "";
}

export const own = (value: unknown, key: string): unknown => ownValue(fieldsIn(value), key);

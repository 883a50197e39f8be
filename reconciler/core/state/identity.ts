/**
 * Which state a text is and how far it goes, read from the first lines of a snapshot and the beginning of each journal
 * line: enough to tell an older, an empty or a foreign state from the one that was seen before, at the cost of no record.
 */
import { fingerprint } from "../text/hash";
import { newerVersion } from "./newer";
import type { StoredText } from "./text";

export interface StateIdentity {
  readonly lineage: string;
  readonly serial: number;
}

/** What was seen of a state last. */
export interface SeenState extends StateIdentity {
  /** ISO time, for people. */
  readonly at?: string;
}

export type Identified = StateIdentity | "empty" | "unreadable" | "newer";

/** Far enough for format, version, lineage, serial and epoch, which come first. */
const headLength = 2000;

const linePattern = /^([0-9a-f]{16}) (\{"n":(\d+),"e":(\d+),(?:"more":(\d+),)?.*)$/s;

/** Follows `foldEntries` and the groups of `readState`, so that it never runs ahead of what they count. */
export function identify({ snapshot = "", journal }: StoredText): Identified {
  const lines = journal.filter((line) => line !== "");
  if (snapshot.trim() === "") return lines.length === 0 ? "empty" : "unreadable";
  const head = snapshot.slice(0, headLength);
  const text = (name: string, value: string): string | undefined =>
    new RegExp(`"${name}"\\s*:\\s*${value}`, "u").exec(head)?.[1];
  if (
    text("format", '"(reconcile-cloud/state)"') !== undefined &&
    newerVersion(Number(text("version", "(\\d+)"))) !== undefined
  )
    return "newer";
  // A part of a text keeps the whole of it in memory; what JSON reads is a text of its own.
  const quoted = text("lineage", '("[^"\\\\\\p{Cc}]*")');
  const lineage: string | undefined = quoted === undefined ? undefined : JSON.parse(quoted);
  const first = Number(text("serial", "(\\d+)"));
  if (lineage === undefined || !Number.isSafeInteger(first)) return "unreadable";
  let serial = first;
  let epoch = Number(text("epoch", "(\\d+)") ?? 0);
  for (const line of lines) {
    const [, sum, body = "", n, e, more] = linePattern.exec(line) ?? [];
    if (sum === undefined || fingerprint(body) !== sum) continue;
    const [number, of, left] = [Number(n), Number(e), Number(more ?? 0)];
    if (number <= first || of < epoch) continue;
    epoch = of;
    // A group counts once its last line is there.
    if (left === 0) serial = Math.max(serial, number);
  }
  return { lineage, serial };
}

/** One record of the state for people: every field in the words of its kind (words.ts), then the open intent. */

import type { AddressOf } from "../core/model/identity";
import type { Intent, RecordedResource } from "../core/model/recorded";
import { printable } from "../core/text/printable";
import { toldOfRecord } from "./kind-words";
import { displayColumns, hang, layoutOf, padTo, type TextOptions, valueText } from "./style";
import { type LabelledRow, rowsToldBy, type ToldRow, yes } from "./told-rows";

const intentRows: Readonly<Record<Exclude<keyof Intent, "address" | "record">, LabelledRow<Intent>>> = {
  step: ["step", ({ step }) => step],
  operation: ["operation", ({ operation }) => operation],
  name: ["name", ({ name }) => name],
  sentAt: ["sent at", ({ sentAt }) => sentAt],
  idsBefore: ["not one of", ({ idsBefore }) => idsBefore],
  accepted: ["accepted", ({ accepted }) => yes(accepted, "yes: it is looked for, and not sent again")],
  image: ["image", ({ image }) => image],
  unknown: ["outcome", ({ unknown }) => yes(unknown, "unknown: the answer was lost, and looking did not settle it")],
};

export function recordText(
  address: string,
  record: RecordedResource | undefined,
  intent: Intent | undefined,
  options: TextOptions & { readonly addressOf?: AddressOf } = {},
): string {
  const { width } = layoutOf(options);
  const addressOf = options.addressOf ?? (() => undefined);
  const lines = [printable(address)];
  if (record !== undefined) lines.push(...toldLines(toldOfRecord(record, addressOf), "  ", width));
  if (intent !== undefined)
    lines.push("  begun and not settled:", ...toldLines(rowsToldBy(intentRows, intent), "    ", width));
  return `${lines.join("\n")}\n`;
}

function toldLines(rows: readonly ToldRow[], indent: string, width: number): string[] {
  const told = rows.flatMap(([label, words]) => {
    if (words === undefined) return [];
    return typeof words === "object"
      ? words.map((word, index) => [index === 0 ? label : "", word] as const)
      : [[label, valueText(label, words)] as const];
  });
  let label = 0;
  for (const [name] of told) label = Math.max(label, displayColumns(name));
  return told.flatMap(([name, text]) => hang(`${indent}${padTo(name, label)}  `, printable(text), width));
}

/** The state for people: a table of its resources, and the orphans. record-text.ts shows one record in full. */

import { compareAddresses } from "../core/model/address";
import { type Kind, ofKind } from "../core/model/kinds";
import type { LiveOf, Sighting } from "../core/model/live";
import type { Intent, Orphan, RecordedResource, State } from "../core/model/recorded";
import { itemAt } from "../core/text/invariant";
import { printable } from "../core/text/printable";
import { remarksOn } from "./kind-words";
import { countOf, displayColumns, padTo } from "./style";

export function stateListText(state: State): string {
  const rows: (readonly string[])[] = [];
  const addresses = new Set([...state.resources.keys(), ...state.intents.keys()]);
  for (const address of [...addresses].sort(compareAddresses)) {
    const record = state.resources.get(address);
    const intent = state.intents.get(address);
    rows.push([address, record?.id ?? "(not known)", record?.name ?? intent?.name ?? "", recordRemark(record, intent)]);
  }
  for (const piece of state.quarantined) rows.push([piece.address, "(damaged)", "", piece.problem]);
  if (rows.length === 0) return "The state holds nothing.\n";
  const orphans = state.orphans.size === 0 ? "" : `; ${countOf(state.orphans.size, "orphan")} (reconcile orphans list)`;
  return `${columnsTable([["ADDRESS", "ID", "NAME", ""], ...rows])}\n${countOf(state.resources.size, "resource")}${orphans}.\n`;
}

function recordRemark(record: RecordedResource | undefined, intent: Intent | undefined): string {
  const open =
    intent === undefined ? "" : `${intent.unknown === true ? "outcome unknown" : "begun"}: ${intent.operation}`;
  const remarks = [open, ...(record === undefined ? [] : remarksOn(record))];
  return remarks.filter((remark) => remark !== "").join(", ");
}

/** Since when an orphan has been missing, and why it is one. */
const sinceText = ({ missingSince, reason }: Orphan): string =>
  missingSince === undefined ? reason : `missing since ${missingSince}: ${reason}`;

/** `seen`: what the service shows of an orphan, where the service was asked. */
export function orphansText(orphans: readonly Orphan[], seen?: (orphan: Orphan) => Sighting<LiveOf[Kind]>): string {
  if (orphans.length === 0) return "No orphans: no delete left anything alive.\n";
  const rows = sortOrphans(orphans).map((orphan) => [
    orphan.kind,
    orphan.id,
    orphan.name,
    orphan.sizeGb === undefined ? "" : `${orphan.sizeGb} GB`,
    ...(seen === undefined ? [] : [sightingText(seen(orphan))]),
    sinceText(orphan),
  ]);
  const head = ["KIND", "ID", "NAME", "SIZE", ...(seen === undefined ? [] : ["NOW"]), "WHY"];
  const gone = orphans.some((orphan) => seen?.(orphan).seen === "gone")
    ? "Not found: deleted since, or no longer shown to this credential. None is forgotten by itself.\n"
    : "";
  return `${columnsTable([head, ...rows])}\n${gone}End one with: reconcile orphans delete ID\n`;
}

function sightingText(sighting: Sighting<LiveOf[Kind]>): string {
  if (sighting.seen === "gone") return "not found";
  if (sighting.seen !== "yes") return "not read";
  const attachedTo = ofKind(sighting.value, "volume")?.attachedTo;
  return attachedTo === undefined || attachedTo === null ? "there" : `attached to ${attachedTo}`;
}

export const orphanLine = (orphan: Orphan): string =>
  [
    `${orphan.kind} ${orphan.name} (${orphan.id})`,
    ...(orphan.sizeGb === undefined ? [] : [`${orphan.sizeGb} GB`]),
    sinceText(orphan),
  ].join(", ");

/** By name: the state has orphans in the order in which the service happened to answer. */
export const sortOrphans = (orphans: readonly Orphan[]): Orphan[] =>
  [...orphans].sort((a, b) => (a.kind + a.name + a.id < b.kind + b.name + b.id ? -1 : 1));

/** A table with columns as wide as their widest cell; the last column is not padded. */
export function columnsTable(rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => row.map(printable));
  const widths: number[] = [];
  for (const row of cells)
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, displayColumns(cell));
  return cells
    .map((row) =>
      row
        .map((cell, index) => padTo(cell, itemAt(widths, index)))
        .join("  ")
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join("");
}

/** The state for people: a table of what it holds, and the orphans. One record in full is record-text's. */
import { compareAddresses } from "../core/model/address";
import type { Intent, Orphan, RecordedResource, State } from "../core/model/recorded";
import { printable } from "../core/text/printable";
import { columnsOf, countOf, padTo } from "./style";

export function stateListText(state: State): string {
  const rows: (readonly string[])[] = [];
  const addresses = new Set([...state.resources.keys(), ...state.intents.keys()]);
  for (const address of [...addresses].sort(compareAddresses)) {
    const record = state.resources.get(address);
    const intent = state.intents.get(address);
    rows.push([address, record?.id ?? "(not known)", record?.name ?? intent?.name ?? "", remarkOf(record, intent)]);
  }
  for (const piece of state.quarantined) rows.push([piece.address, "(damaged)", "", piece.problem]);
  if (rows.length === 0) return "The state holds nothing.\n";
  const orphans = state.orphans.size === 0 ? "" : `; ${countOf(state.orphans.size, "orphan")} (reconcile orphans list)`;
  return `${table([["ADDRESS", "ID", "NAME", ""], ...rows])}\n${countOf(state.resources.size, "resource")}${orphans}.\n`;
}

function remarkOf(record: RecordedResource | undefined, intent: Intent | undefined): string {
  const remarks: string[] = [];
  if (intent !== undefined)
    remarks.push(`${intent.unknown === true ? "outcome unknown" : "begun"}: ${intent.operation}`);
  if (record?.preventDestroy === true) remarks.push("prevent_destroy");
  if (record?.kind === "vm" && record.building === true) remarks.push("being built");
  if (record?.kind === "vm" && record.resizing !== undefined) remarks.push("resize not decided");
  if (record?.kind === "vm" && record.stoppedForFlush === true) remarks.push("stopped for a flush");
  if (record?.kind === "vm" && record.dataVolumeDetached === true) remarks.push("data volume detached");
  if (record?.kind === "volume" && record.attaching !== undefined) remarks.push("being attached");
  if (record?.kind === "group" && record.retired !== undefined && record.retired.length > 0)
    remarks.push(`${countOf(record.retired.length, "replaced group")} to delete`);
  return remarks.join(", ");
}

export function orphansText(orphans: readonly Orphan[]): string {
  if (orphans.length === 0)
    return "No orphans: everything in the service that was managed here still is, or is gone.\n";
  const rows = sortOrphans(orphans).map(({ kind, id, name, sizeGb, reason }) => [
    kind,
    id,
    name,
    sizeGb === undefined ? "" : `${sizeGb} GB`,
    reason,
  ]);
  return `${table([["KIND", "ID", "NAME", "SIZE", "WHY"], ...rows])}\nEnd one with: reconcile orphans delete ID\n`;
}

/** By name: they became orphans in the order in which the service answered. */
export const sortOrphans = (orphans: readonly Orphan[]): Orphan[] =>
  [...orphans].sort((a, b) => (a.kind + a.name + a.id < b.kind + b.name + b.id ? -1 : 1));

/** Columns as wide as their widest cell; the last runs on. */
function table(rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => row.map(printable));
  const widths: number[] = [];
  for (const row of cells)
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, columnsOf(cell));
  return cells
    .map((row) =>
      row
        .map((cell, index) => padTo(cell, widths[index]!))
        .join("  ")
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join("");
}

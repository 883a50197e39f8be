/**
 * The two answers whose shape the contract gives in full: what a deleted VM leaves behind, and the report of a bulk
 * import.
 */
import { accepted } from "../core/model/outcome";
import { own } from "./messages";
import { itself } from "./places";
import { compilePointers, findId, numberInUnit } from "./pointers";
import type { Reading } from "./reading";
import { unreadable } from "./unreadable";

/** "Delete VM response". Without the list it is not known what was left, which is not the same as nothing. */
export function readDeletedVm(payload: unknown): { readonly preservedVolumes: readonly string[] | undefined } {
  const listed = own(payload, "preserved_volumes");
  if (listed === null) return { preservedVolumes: [] };
  if (!Array.isArray(listed)) return { preservedVolumes: undefined };
  const ids = listed.map((entry) => findId(entry, itself));
  // A volume without a readable id was left too, so the whole list of what was left is not known.
  const known = ids.flatMap((found) => (found !== undefined && "id" in found ? [found.id] : []));
  return { preservedVolumes: known.length === ids.length ? known : undefined };
}

const importedId = compilePointers(["/id"]);

export interface ImportReport {
  readonly imported: number;
  readonly failed: number;
  readonly groups: readonly ImportedGroup[];
}

interface ImportedGroup {
  readonly name: string;
  readonly id?: string;
  readonly status: string;
  readonly rulesCreated: number;
  readonly skipped: readonly string[];
  readonly error?: string;
}

/** "Security group import report". */
export function readImportReport(payload: unknown): Reading<ImportReport> {
  const listed = own(payload, "groups") ?? [];
  const imported = numberInUnit(own(payload, "imported"));
  const failed = numberInUnit(own(payload, "failed"));
  if (!Array.isArray(listed) || imported === undefined || failed === undefined)
    return unreadable(
      "the import report",
      "imported, failed and groups",
      undefined,
      ["/imported", "/failed", "/groups"],
      payload,
    );
  return accepted({ imported, failed, groups: listed.map(readImportedGroup) });
}

function readImportedGroup(entry: unknown): ImportedGroup {
  const text = (key: string): string | undefined => {
    const found = own(entry, key);
    return typeof found === "string" && found !== "" ? found : undefined;
  };
  const skipped = own(entry, "skipped");
  const id = findId(entry, importedId);
  const error = text("error");
  return {
    name: text("name") ?? "",
    status: text("status") ?? "",
    rulesCreated: numberInUnit(own(entry, "rules_created")) ?? 0,
    skipped: Array.isArray(skipped) ? texts(skipped) : [],
    id: id !== undefined && "id" in id ? id.id : undefined,
    error,
  };
}

const texts = (values: readonly unknown[]): string[] =>
  values.filter((value): value is string => typeof value === "string" && value !== "");

/**
 * Compares records that a service gave with the dialect's pointers: which fields were found and where, which were not,
 * and which of the record's own keys might be meant.
 */
import type { Dialect, Pointers, Records } from "../dialect/dialect";
import { likelyKey, pointerTo } from "../dialect/likely-key";
import { compilePointers, findAt, findText } from "../dialect/pointers";

export type ReadKind = "vm" | "volume" | "group" | "flavor" | "image" | "region";

export interface FieldFinding {
  readonly field: string;
  /** The first pointer that finds something in any of the records. */
  readonly pointer?: string;
  /** A pointer to a key of the record that looks as if it were meant. */
  readonly suggestion?: string;
}

export interface RecordFinding {
  readonly record: ReadKind;
  readonly looked: number;
  readonly keys: readonly string[];
  readonly fields: readonly FieldFinding[];
}

const mostLooked = 200;

export function describeRecords(
  dialect: Dialect,
  samples: ReadonlyMap<string, readonly unknown[]>,
): { readonly records: RecordFinding[]; readonly fitting: Records } {
  const records: RecordFinding[] = [];
  const fitting: Record<string, object> = {};
  for (const [record, fields] of Object.entries(dialect.records) as [string, Readonly<Record<string, Pointers>>][]) {
    fitting[record] = fields;
    const looked = samples.get(record)?.slice(0, mostLooked) ?? [];
    if (looked.length === 0) continue;
    const finding = describeRecord(record as ReadKind, fields, looked);
    records.push(finding);
    const added = finding.fields.flatMap(({ field, suggestion }) =>
      suggestion === undefined ? [] : [[field, [suggestion, ...(fields[field] ?? [])]] as const],
    );
    fitting[record] = { ...fields, ...Object.fromEntries(added) };
  }
  return { records, fitting: fitting as unknown as Records };
}

function describeRecord(record: ReadKind, pointers: object, looked: readonly unknown[]): RecordFinding {
  const keys = [...new Set(looked.flatMap((item) => (isObject(item) ? Object.keys(item) : [])))].sort();
  const fields = Object.entries(pointers)
    .filter((entry): entry is [string, Pointers] => Array.isArray(entry[1]))
    .map(([field, tried]): FieldFinding => {
      const found = compilePointers(tried).find(({ tokens }) =>
        looked.some((item) => findAt(item, tokens) !== undefined && !(tokens.length === 0 && isObject(item))),
      );
      if (found !== undefined) return { field, pointer: found.pointer };
      const key = likelyKey(field, keys);
      return { field, ...(key !== undefined && { suggestion: pointerTo(key) }) };
    });
  return { record, looked: looked.length, keys, fields };
}

/** Words for a VM's state that the dialect gives no meaning to: such a VM counts as in transition. */
export function unknownVmStates(dialect: Dialect, vms: readonly unknown[]): string[] {
  const known = new Set(Object.values(dialect.states.vm).flat());
  const paths = compilePointers(dialect.records.vm.status);
  const seen = vms.map((vm) => findText(vm, paths)).filter((word): word is string => typeof word === "string");
  return [...new Set(seen)].filter((word) => !known.has(word)).sort();
}

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

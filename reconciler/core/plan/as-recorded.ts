/**
 * The state read as a desired state: what differs from it in the service is drift, and the diff that plans finds it. A
 * field that the record does not know is not compared.
 */

import {
  type Desired,
  type DesiredGroup,
  type DesiredResource,
  type DesiredVm,
  type DesiredVolume,
  nothingDesired,
} from "../model/desired";
import {
  type DesiredFields,
  type FieldRow,
  groupFields,
  type RecordedFields,
  type Rows,
  vmFields,
  volumeFields,
} from "../model/fields";
import type { RecordedGroup, RecordedResource, RecordedVm, RecordedVolume, State } from "../model/recorded";
import { fieldsIn, isOneOf, keysOf } from "../text/objects";

const source = { file: "state", line: 1 };

export function desiredAsRecorded(state: State): Desired {
  return { ...nothingDesired, resources: [...state.resources.values()].map(recordAsDesired) };
}

/** A field that the record does not know is in `ignoreChanges`. */
export function recordAsDesired(record: RecordedResource): DesiredResource {
  switch (record.kind) {
    case "vm":
      return vmAsRecorded(record);
    case "volume":
      return volumeAsRecorded(record);
    case "group":
      return groupAsRecorded(record);
    default:
      return record satisfies never;
  }
}

/** A stand-in for a field that the record does not know, and that is therefore not compared. */
const blank = { text: "", remark: "", name: "", size: 0, flag: false };
const blankOf = ({ type, absent }: FieldRow): unknown =>
  absent !== "unset" && isOneOf(type, keysOf(blank)) ? blank[type] : undefined;

interface Known<F extends Rows> {
  readonly fields: Pick<DesiredFields<F>, keyof DesiredFields<F> & keyof RecordedFields<F>>;
  /** Fields of the file that the record does not know. */
  readonly unknown: readonly string[];
}

function fieldsOfRecord<F extends Rows>(rows: F, record: RecordedFields<F>): Known<F> {
  const fields: Record<string, unknown> = {};
  const unknown: string[] = [];
  const known = fieldsIn(record);
  for (const [key, row] of Object.entries(rows)) {
    if (row.recorded === "never") continue;
    const value = known[key] ?? blankOf(row);
    if (known[key] === undefined) unknown.push(row.field);
    if (value !== undefined) fields[key] = value;
  }
  // Every row that a record may hold has a value of its type here, but for those that may be unset.
  return { fields: fields as Known<F>["fields"], unknown };
}

function vmAsRecorded(record: RecordedVm): DesiredVm {
  const { fields, unknown } = fieldsOfRecord(vmFields, record);
  const { snapshot, ...onDelete } = record.onDelete;
  return {
    kind: "vm",
    address: record.address,
    ...fields,
    lifecycle: {
      preventDestroy: record.preventDestroy,
      ignoreChanges: unknown,
      onImageChange: "rebuild",
      snapshotBefore: snapshot ? ["delete"] : [],
      ...onDelete,
      verifyResize: { confirm: "auto", timeoutMs: 0, onFailure: "leave" },
    },
    source,
  };
}

function volumeAsRecorded(record: RecordedVolume): DesiredVolume {
  const { fields, unknown } = fieldsOfRecord(volumeFields, record);
  return {
    kind: "volume",
    address: record.address,
    ...fields,
    ...(record.attachedTo === undefined ? {} : { attachTo: { id: record.attachedTo } }),
    lifecycle: { preventDestroy: record.preventDestroy, ignoreChanges: unknown },
    source,
  };
}

function groupAsRecorded(record: RecordedGroup): DesiredGroup {
  const { fields, unknown } = fieldsOfRecord(groupFields, record);
  return {
    kind: "group",
    address: record.address,
    ...fields,
    rulesMode: "authoritative",
    lifecycle: { preventDestroy: record.preventDestroy, ignoreChanges: unknown, onRuleRemoval: "replace" },
    source,
  };
}

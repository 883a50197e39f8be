/** A block of a kind that is its rows and its relations alone. */
import type { DesiredResource } from "../core/model/desired";
import { type FieldRow, fieldsOf } from "../core/model/fields";
import { isKind, type Kind } from "../core/model/kinds";
import { hostOf } from "../core/model/relations";
import { fieldsIn } from "../core/text/objects";
import { type Instance, placeOfBlock } from "./blocks";
import { fieldOf, type Subject } from "./fields";
import { readPlainLifecycle } from "./read-lifecycle";
import { readRows } from "./read-rows";
import { type Declared, readReference } from "./references";
import { positionOf } from "./yaml-file";

export function readUsual(kind: Kind, subject: Subject, instance: Instance, declared: Declared): DesiredResource {
  const resource = {
    kind,
    address: instance.address,
    ...readRows(kind, subject, instance),
    ...readHost(kind, subject, instance, declared),
    lifecycle: readPlainLifecycle(subject, instance.values, kind),
    source: positionOf(placeOfBlock(instance.block)),
  };
  // The rows of the kind, each read by the reader of its type, and where it hangs.
  return resource as unknown as DesiredResource;
}

function readHost(kind: Kind, subject: Subject, { values }: Instance, declared: Declared) {
  const host = hostOf[kind];
  if (host === undefined || !isKind(host.kind)) return {};
  // The row that the relation names.
  const { field } = fieldsIn(fieldsOf[kind])[host.field] as FieldRow;
  const target = fieldOf(values, field);
  return target === undefined ? {} : { [host.field]: readReference(subject, target, host.kind, [field], declared) };
}

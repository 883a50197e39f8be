/** A block of a kind that is its rows and its relations alone. */

import type { DesiredResource } from "../../core/model/desired";
import { fieldsOf, type Rows } from "../../core/model/fields";
import type { Kind } from "../../core/model/kinds";
import { hostOf } from "../../core/model/relations";
import { asDesired } from "../../core/model/usual";
import { type Instance, placeOfBlock } from "../blocks";
import { fieldOf, type Subject } from "../fields";
import { type Declared, readReference } from "../references";
import { positionOf } from "../yaml/file";
import { readPlainLifecycle } from "./lifecycle";
import { readRows } from "./rows";

export const readUsual = (kind: Kind, subject: Subject, instance: Instance, declared: Declared): DesiredResource =>
  asDesired({
    kind,
    address: instance.address,
    ...readRows(kind, subject, instance),
    ...readHost(kind, subject, instance, declared),
    lifecycle: readPlainLifecycle(subject, instance.values, kind),
    source: positionOf(placeOfBlock(instance.block)),
  });

function readHost(kind: Kind, subject: Subject, { values }: Instance, declared: Declared) {
  const host = hostOf[kind];
  if (host === undefined) return {};
  const rows: Rows = fieldsOf[kind];
  const field = rows[host.field]?.field ?? host.field;
  const target = fieldOf(values, field);
  return target === undefined ? {} : { [host.field]: readReference(subject, target, host.kind, [field], declared) };
}

/** The resource of a program for a kind that is its rows and its relations alone. */

import { fieldsOf, type Rows } from "../core/model/fields";
import { definitionOf, type Kind } from "../core/model/kinds";
import type { LiveOf } from "../core/model/live";
import { hostOf } from "../core/model/relations";
import { asRecord } from "../core/model/usual";
import { holdBack } from "../core/plan/records";
import { fieldsIn } from "../core/text/objects";
import type { Handler, Props } from "./handler";
import { asProperty, type Line } from "./one-desired";
import { createHandler } from "./resource";
import { optionalNames, propertyNames, propertyValues, rowProperties } from "./row-properties";
import type { Of } from "./shape";
import { adopt, linesFor } from "./shared-properties";

export function usualHandler(kind: Kind): Handler {
  const rows: Rows = fieldsOf[kind];
  const { one = { type: kind, description: "" } } = definitionOf(kind);
  const host = hostOf[kind];
  const onHost = host === undefined ? undefined : asProperty(rows[host.field]?.field ?? host.field);
  /** A program gives the id of the host, and a file may give a key. */
  const lineOf = (inputs: Props, line: Line): Line =>
    line.property !== onHost || line.value === undefined ? line : { ...line, value: { id: inputs[line.property] } };
  const shown = (live: LiveOf[Kind]) => ({
    ...Object.fromEntries(Object.keys(rows).map((key) => [key, fieldsIn(live)[key] || undefined])),
    ...(host === undefined ? {} : { [host.recorded]: fieldsIn(live)[host.recorded] ?? undefined }),
  });
  const values = (record: Of<Kind>) =>
    host === undefined ? fieldsIn(record) : { ...record, [host.field]: fieldsIn(record)[host.recorded] };
  return createHandler<Kind>({
    ...one,
    kind,
    inputs: { ...rowProperties(rows, {}), adopt },
    outputs: {},
    optional: optionalNames(rows),
    deleteBeforeReplace: true,
    write: (inputs) => ({ kind, lines: linesFor(inputs, propertyNames(rows)).map((line) => lineOf(inputs, line)) }),
    recordOfLive: (address, live) =>
      // The rows that the service shows, under the keys of a record.
      asRecord({ kind, address, id: live.id, ...shown(live), preventDestroy: false }),
    drifted: (record, live, change) =>
      holdBack(
        record,
        asRecord({ ...record, ...shown(live) }),
        change.fields.map(({ field }) => field),
      ),
    inputsOf: (record) => propertyValues(rows, values(record)),
    outputsOf: () => ({}),
    isUnsettled: () => false,
  });
}

/**
 * The state read as if it were the wish: what differs from it in the service is drift, found by the same diff that
 * plans. A field the record does not know is not compared.
 */
import {
  type Desired,
  type DesiredGroup,
  type DesiredResource,
  type DesiredVm,
  type DesiredVolume,
  nothingDesired,
} from "../model/desired";
import { vmFields } from "../model/fields";
import type { RecordedGroup, RecordedVm, RecordedVolume, State } from "../model/recorded";

const source = { file: "state", line: 1 };

export function desiredAsRecorded(state: State): Desired {
  const resources: DesiredResource[] = [];
  for (const record of state.resources.values()) {
    if (record.kind === "vm") resources.push(vmAsRecorded(record));
    else if (record.kind === "volume") resources.push(volumeAsRecorded(record));
    else resources.push(groupAsRecorded(record));
  }
  return { ...nothingDesired, resources };
}

function vmAsRecorded(record: RecordedVm): DesiredVm {
  const unknown = (Object.keys(vmFields) as (keyof typeof vmFields)[])
    .filter((key) => record[key] === undefined)
    .map((key) => vmFields[key].field);
  return {
    kind: "vm",
    address: record.address,
    name: record.name,
    flavor: record.flavor ?? "",
    image: record.image ?? "",
    owner: record.owner ?? "",
    userId: record.userId ?? "",
    project: record.project ?? "",
    region: record.region ?? "",
    rootSizeGb: record.rootSizeGb ?? 0,
    sizeGb: record.sizeGb ?? 0,
    skipFloatingIp: record.skipFloatingIp ?? false,
    ...(record.power === undefined ? {} : { power: record.power }),
    lifecycle: {
      preventDestroy: record.preventDestroy,
      ignoreChanges: unknown,
      onImageChange: "rebuild",
      snapshotBefore: record.onDelete.snapshot ? ["delete"] : [],
      ...(record.onDelete.deleteFloatingIp === undefined ? {} : { deleteFloatingIp: record.onDelete.deleteFloatingIp }),
      preservedVolumes: record.onDelete.preservedVolumes,
      verifyResize: { confirm: "auto", timeoutMs: 0, onFailure: "leave" },
    },
    source,
  };
}

function volumeAsRecorded(record: RecordedVolume): DesiredVolume {
  const unknown = [...(record.name === undefined ? ["name"] : []), ...(record.sizeGb === undefined ? ["size"] : [])];
  return {
    kind: "volume",
    address: record.address,
    name: record.name ?? "",
    sizeGb: record.sizeGb ?? 0,
    ...(record.attachedTo === undefined ? {} : { attachTo: { id: record.attachedTo } }),
    flush: record.flush,
    lifecycle: { preventDestroy: record.preventDestroy, ignoreChanges: unknown },
    source,
  };
}

const groupAsRecorded = (record: RecordedGroup): DesiredGroup => ({
  kind: "group",
  address: record.address,
  name: record.name ?? "",
  ...(record.description === undefined ? {} : { description: record.description }),
  rulesMode: "authoritative",
  rules: record.rules,
  lifecycle: {
    preventDestroy: record.preventDestroy,
    ignoreChanges: record.name === undefined ? ["name"] : [],
    onRuleRemoval: "replace",
  },
  source,
});

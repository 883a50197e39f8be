/**
 * One record of the state for people: every field under its name in the file, then what only the state knows, in words.
 * The compiler refuses a new field of a record until this file shows it or leaves it out.
 */
import { describeRule } from "../core/canonical/rules";
import { groupFields, vmFields, volumeFields } from "../core/model/fields";
import type { Intent, RecordedGroup, RecordedResource, RecordedVm, RecordedVolume } from "../core/model/recorded";
import { printable } from "../core/text/printable";
import { displayColumns, hang, padTo, type TextOptions, valueText } from "./style";

/** The address in the state of the resource with this id. */
export type NameOfId = (id: string) => string | undefined;

/** The words for a value. A list is shown as lines of its own; `undefined` leaves the field out. */
type Told = string | number | boolean | readonly string[] | undefined;
type Row<T> = readonly [label: string, tell: (record: T) => Told];
type Rows<T> = Readonly<Record<Exclude<keyof T, "kind" | "address">, Row<T>>>;

const yes = (value: boolean | undefined, words = "yes"): string | undefined => (value === true ? words : undefined);

const deletingRow: Row<{ readonly deleting?: boolean }> = ["delete sent", ({ deleting }) => yes(deleting)];

const vmRows: Rows<RecordedVm> = {
  id: ["id", ({ id }) => id ?? "(not known yet)"],
  name: [vmFields.name.field, ({ name }) => name],
  flavor: [vmFields.flavor.field, ({ flavor }) => flavor],
  image: [vmFields.image.field, ({ image }) => image],
  imageId: ["which meant", ({ image, imageId }) => (imageId === image ? undefined : imageId)],
  owner: [vmFields.owner.field, ({ owner }) => owner],
  userId: [vmFields.userId.field, ({ userId }) => userId],
  project: [vmFields.project.field, ({ project }) => project],
  region: [vmFields.region.field, ({ region }) => region],
  rootSizeGb: [vmFields.rootSizeGb.field, ({ rootSizeGb }) => rootSizeGb],
  sizeGb: [vmFields.sizeGb.field, ({ sizeGb }) => sizeGb],
  skipFloatingIp: [vmFields.skipFloatingIp.field, ({ skipFloatingIp }) => skipFloatingIp],
  power: [vmFields.power.field, ({ power }) => power],
  preventDestroy: ["prevent_destroy", ({ preventDestroy }) => preventDestroy],
  onDelete: [
    "on delete",
    ({ onDelete }) => [
      ...(onDelete.snapshot ? ["snapshot_before: [delete]"] : []),
      ...(onDelete.deleteFloatingIp === undefined ? [] : [`delete_floating_ip: ${onDelete.deleteFloatingIp}`]),
      `preserved_volumes: ${onDelete.preservedVolumes}`,
    ],
  ],
  dataVolumeId: ["data volume", ({ dataVolumeId }) => dataVolumeId],
  disks: [
    "other disks",
    ({ disks }) => disks?.map(({ id, maybeRoot }) => `${id}${maybeRoot ? ", perhaps its root disk" : ""}`),
  ],
  privateIp: ["private_ip", ({ privateIp }) => privateIp],
  floatingIp: ["floating_ip", ({ floatingIp }) => floatingIp],
  createdAt: ["first seen", ({ createdAt }) => createdAt],
  building: ["being built", ({ building }) => yes(building)],
  resizing: [
    "resize open",
    ({ resizing }) => resizing && `${resizing.from === undefined ? "" : `${resizing.from} → `}${resizing.to}`,
  ],
  stoppedForFlush: ["stopped", ({ stoppedForFlush }) => yes(stoppedForFlush, "for a flush, and not started again yet")],
  deleting: deletingRow,
  dataVolumeDetached: ["data volume", ({ dataVolumeDetached }) => yes(dataVolumeDetached, "detached to be grown")],
  dataVolumeMoving: [
    "data volume",
    ({ dataVolumeMoving }) => dataVolumeMoving && `${dataVolumeMoving}, without an answer`,
  ],
};

const volumeRows = (nameOfId: NameOfId): Rows<RecordedVolume> => ({
  id: ["id", ({ id }) => id],
  name: [volumeFields.name.field, ({ name }) => name],
  sizeGb: [volumeFields.sizeGb.field, ({ sizeGb }) => sizeGb],
  attachedTo: [
    volumeFields.attachTo.field,
    ({ attachedTo }) => attachedTo && `${nameOfId(attachedTo) ?? "a VM"} (${attachedTo})`,
  ],
  attaching: ["being attached to", ({ attaching }) => attaching && `${nameOfId(attaching) ?? "a VM"} (${attaching})`],
  detaching: ["being taken off", ({ detaching }) => detaching && `${nameOfId(detaching) ?? "a VM"} (${detaching})`],
  flush: [
    volumeFields.flush.field,
    ({ flush }) => `via ${flush.via}${flush.via === "command" ? `: ${flush.argv.join(" ")}` : ""}`,
  ],
  preventDestroy: ["prevent_destroy", ({ preventDestroy }) => preventDestroy],
  deleting: deletingRow,
});

const groupRows = (nameOfId: NameOfId): Rows<RecordedGroup> => ({
  id: ["id", ({ id }) => id],
  name: [groupFields.name.field, ({ name }) => name],
  description: [groupFields.description.field, ({ description }) => description],
  rules: [
    groupFields.rules.field,
    ({ rules }) =>
      rules.map((rule) => {
        const said = describeRule(rule, (group) => ("id" in group ? (nameOfId(group.id) ?? group.id) : group.address));
        return rule.description === undefined ? said : `${said} (${rule.description})`;
      }),
  ],
  platformRules: ["by itself", ({ platformRules }) => platformRules.map((key) => `${key} (the service's own)`)],
  preventDestroy: ["prevent_destroy", ({ preventDestroy }) => preventDestroy],
  updating: [
    "told to be",
    ({ updating }) => updating && `${Object.values(updating).join(", ")} (no answer came, and nobody can look)`,
  ],
  deleting: deletingRow,
  retired: ["replaced", ({ retired }) => retired?.map(({ name, id }) => `${name} (${id}), still to delete`)],
});

const intentRows: Readonly<Record<Exclude<keyof Intent, "address" | "record">, Row<Intent>>> = {
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
  options: TextOptions & { readonly nameOfId?: NameOfId } = {},
): string {
  const width = Math.max(40, options.width ?? 80);
  const nameOfId = options.nameOfId ?? (() => undefined);
  const lines = [printable(address)];
  switch (record?.kind) {
    case "vm":
      lines.push(...rowLines(vmRows, record, "  ", width));
      break;
    case "volume":
      lines.push(...rowLines(volumeRows(nameOfId), record, "  ", width));
      break;
    case "group":
      lines.push(...rowLines(groupRows(nameOfId), record, "  ", width));
      break;
    case undefined:
      break;
    default:
      record satisfies never;
  }
  if (intent !== undefined) lines.push("  begun and not settled:", ...rowLines(intentRows, intent, "    ", width));
  return `${lines.join("\n")}\n`;
}

function rowLines<T>(rows: Readonly<Record<string, Row<T>>>, record: T, indent: string, width: number): string[] {
  const told = Object.values(rows).flatMap(([label, tell]) => {
    const words = tell(record);
    if (words === undefined) return [];
    return typeof words === "object"
      ? words.map((word, index) => [index === 0 ? label : "", word] as const)
      : [[label, valueText(label, words)] as const];
  });
  let label = 0;
  for (const [name] of told) label = Math.max(label, displayColumns(name));
  return told.flatMap(([name, text]) => hang(`${indent}${padTo(name, label)}  `, printable(text), width));
}

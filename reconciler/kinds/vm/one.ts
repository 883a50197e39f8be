/** Virtual machines. */

import { disksOf, inOrder } from "../../core/model/disks";
import { vmFields } from "../../core/model/fields";
import { addressesShown, powerShown } from "../../core/model/live";
import type { RecordedVm, RecordedVolume } from "../../core/model/recorded";
import { holdBack, observedRecord, patchFor, vmRecord } from "../../core/plan/records";
import { onlyDefined } from "../../core/text/objects";
import { thingOf } from "../../one/ownership";
import { createHandler } from "../../one/resource";
import { optionalNames, propertyNames, propertyValues, rowProperties } from "../../one/row-properties";
import { adopt, flush, flushConfirmed, linesFor, owedCommand, variables } from "../../one/shared-properties";

const behaviour = { behaviour: true } as const;

const lifecycle = ["onImageChange", "snapshotBefore", "deleteFloatingIp", "preservedVolumes", "verifyResize"] as const;

export const vmHandler = createHandler<"vm">({
  type: "Vm",
  kind: "vm",
  description:
    "A virtual machine. Renamed, resized (with the decision about VERIFY_RESIZE), rebuilt, started and stopped in place; what the service cannot change replaces it.",
  inputs: {
    ...rowProperties(vmFields, {
      name: "3 to 50 characters of a-z, 0-9 and hyphen; upper case is lower-cased. Left out, the resource's own name.",
      flavorId: "Flavor name or id; both are the same flavor. A change resizes in place.",
      imageId:
        "Image id, or a name that the service's list resolves. A change rebuilds the VM and wipes its root disk; see onImageChange.",
      owner: "Username or e-mail address; the service stores the e-mail, so a username is never a difference.",
      userId: "Your user id in the service.",
      rootSize: "Root disk in GB; 50 when left out. Cannot be changed.",
      size: "Data volume in GB, at least 1. Grows in place, which detaches it for a moment and so needs flushConfirmed.",
      skipFloatingIp: "true: no public address. Left out, it has one.",
      power: "Keep it running or stopped. Left out: not managed.",
    }),
    flush,
    afterReady: owedCommand(
      "A command that is owed after the VM was made, replaced or rebuilt, until it ended with 0; an update that follows runs what is still owed.",
    ),
    afterAttach: owedCommand(
      "A command that is owed after the VM's own data volume was attached or grew, until it ended with 0; an update that follows runs what is still owed.",
    ),
    onImageChange: {
      type: "string",
      ...behaviour,
      values: ["rebuild", "replace", "ignore"],
      default: "rebuild",
      description: "What another imageId leads to.",
    },
    snapshotBefore: {
      type: "array",
      ...behaviour,
      items: { type: "string", values: ["rebuild", "resize", "delete"], description: "rebuild, resize or delete." },
      description: "Take a snapshot before these.",
    },
    deleteFloatingIp: { type: "boolean", ...behaviour, description: "Delete the public address with the VM." },
    preservedVolumes: {
      type: "string",
      ...behaviour,
      values: ["retain", "delete"],
      default: "retain",
      description:
        "What becomes of the data volume that outlives the VM. Volumes managed as resources of their own are never touched, and what hangs on a VM that was imported or adopted always stays.",
    },
    verifyResize: {
      type: "object",
      ...behaviour,
      description:
        "How a resize is decided that waits in VERIFY_RESIZE: confirmed once the check passes, reverted when it does not.",
      properties: {
        confirm: {
          type: "string",
          values: ["auto", "manual"],
          description: "auto (the default), or manual: somebody decides it outside.",
        },
        check: {
          type: "object",
          description: "One of tcp, http and command.",
          properties: {
            tcp: { type: "integer", description: "A port that must accept a connection." },
            http: { type: "string", description: "A URL that must answer with success; {ip} is the VM's address." },
            command: {
              type: "array",
              items: { type: "string", description: "The program, or an argument." },
              description: "A program that must end with 0; {ip} is the VM's address.",
            },
            env: variables,
          },
        },
        timeout: { type: "string", description: "How long the check may take, such as 2m, which is the default." },
        onFailure: {
          type: "string",
          values: ["revert", "leave"],
          description: "What a failed check leads to: revert (the default) or leave.",
        },
      },
    },
    flushConfirmed,
    adopt,
  },
  outputs: {
    status: { type: "string", description: "Its state when it was last looked at, in the service's own word." },
    floatingIp: { type: "string", description: "The public address, where it has one and the service shows it." },
    privateIp: { type: "string", description: "The address in the private network, where the service shows it." },
    dataVolumeId: {
      type: "string",
      description: "The data volume created with it, where the service shows which it is.",
    },
  },
  optional: optionalNames(vmFields),
  deleteBeforeReplace: true,
  write: (inputs) => ({
    kind: "vm",
    lines: [...linesFor(inputs, propertyNames(vmFields)), ...linesFor(inputs, lifecycle, "lifecycle")],
  }),
  recordOfLive: (address, live): RecordedVm => ({
    kind: "vm",
    address,
    id: live.id,
    name: live.name,
    ...observedRecord(live),
    preventDestroy: false,
    onDelete: { snapshot: false, preservedVolumes: "retain" },
  }),
  drifted: (record, live, change) =>
    holdBack<RecordedVm>(
      record,
      {
        ...record,
        name: live.name,
        ...observedRecord(live),
        ...onlyDefined({ power: powerShown(live) }),
      },
      change.fields.map(({ field }) => field),
    ),
  asSaid(record, said, fields) {
    if (said.kind !== "vm") return record;
    const next = vmRecord(said, undefined);
    return { ...record, ...patchFor(next, fields), onDelete: next.onDelete };
  },
  /** Nobody has seen what was made with a VM that was taken over: what hangs on it may be another resource's. */
  going: (record) =>
    record.createdAt === undefined
      ? { ...record, onDelete: { ...record.onDelete, preservedVolumes: "retain" } }
      : record,
  leaving: (record, left) => ({
    ...record,
    deleting: true,
    disks: inOrder([...new Map([...left, ...disksOf(record)].map((disk) => [disk.id, disk])).values()]),
  }),
  stopped: (record, vm) => (record.id === vm ? { ...record, stoppedForFlush: true } : record),
  inputsOf: (record) => propertyValues(vmFields, record),
  outputsOf: (record, live) => {
    // The addresses are those of the last look that showed them, or showed that there are none.
    const { floatingIp, privateIp } = { ...record, ...addressesShown(live) };
    return { status: live?.status, floatingIp, privateIp, dataVolumeId: record.dataVolumeId };
  },
  /**
   * Disks that came from elsewhere belong to other resources; only the data volume created with the VM is deleted with
   * it.
   */
  neighbours({ dataVolumeId: own }, live, isOthers) {
    const disks = (live?.volumes ?? []).filter(({ root }) => root !== true).map(({ id }) => id);
    return [...new Set([...(own === undefined ? [] : [own]), ...disks])]
      .filter((id) => (own !== undefined && id !== own) || isOthers(thingOf("volume", id)))
      .map(
        (id, index): RecordedVolume => ({
          kind: "volume",
          address: `volume.other_${index}`,
          id,
          flush: { via: "ask" },
          preventDestroy: false,
        }),
      );
  },
  noticed: ({ image, imageId = image }, steps = []) =>
    steps.flatMap(({ action }) => (action.operation === "vm.rebuild" ? action.image : []))[0] ?? imageId,
  lossOfReplacing: ({ name, preservedVolumes }) =>
    `the root disk of the VM ${String(name)} that is there is deleted with it${preservedVolumes === "delete" ? ", and so is the data volume that was made with it, with everything on it" : ""}`,
  isSettled: (live) => powerShown(live) !== undefined,
  lostWith: ({ dataVolumeId }) =>
    `, with an empty root disk${dataVolumeId === undefined ? "" : ` and an empty data volume; whether the data volume ${dataVolumeId} still exists is not looked at`}`,
  isUnsettled: (record) =>
    (record.owes ?? []).length > 0 ||
    record.building === true ||
    record.stoppedForFlush === true ||
    record.resizing !== undefined ||
    record.dataVolumeDetached === true ||
    record.dataVolumeMoving !== undefined,
});

/** What is to know of one VM alone. */
import { flag, ipText, list, number, object, optional, shape, text } from "../../core/model/checks";
import type { DesiredByKind } from "../../core/model/desired";
import { vmFields } from "../../core/model/fields";
import { behavingAs, fieldsOfRecord, isUnseenList, type KindFacts, owes, source } from "../../core/model/kind-facts";
import { onlyDefined } from "../../core/text/objects";

/** What the file wants to run, with the places where it says so. */
const commandsOf = ({ commandFile, commandFiles, afterReady, afterAttach }: DesiredByKind["vm"]) => ({
  commandFile,
  commandFiles,
  afterReady,
  afterAttach,
});

export const vmFacts: KindFacts<"vm"> = {
  references: () => [],
  renamed: (desired) => desired,
  names: () => [],
  keeps({ dataVolumeId, disks = [], deleting }) {
    // The other disks count only for a VM that is being deleted: while the VM exists, a look at it shows them again.
    const left = deleting === true ? disks.map(({ id }) => id) : [];
    return [...(dataVolumeId === undefined ? [] : [dataVolumeId]), ...left].map((id) => `volume:${id}`);
  },
  // A data volume on its VM is the VM's. One that a run took off hangs on nothing.
  leaves: ({ name, dataVolumeId, dataVolumeDetached, sizeGb }) =>
    dataVolumeId !== undefined && dataVolumeDetached === true
      ? [
          {
            kind: "volume",
            id: dataVolumeId,
            name: dataVolumeId,
            reason: `was taken off VM ${name} to be grown`,
            sizeGb,
          },
        ]
      : [],
  memory: () => ({
    id: optional(text),
    imageId: optional(text),
    preventDestroy: flag,
    onDelete: object,
    dataVolumeId: optional(text),
    disks: optional(
      list(shape({ id: text, name: optional(text), sizeGb: optional(number), maybeRoot: optional(flag) })),
    ),
    privateIp: optional(ipText),
    floatingIp: optional(ipText),
    createdAt: optional(text),
    building: optional(flag),
    resizing: optional(shape({ from: optional(text), to: text })),
    dataVolumeDetached: optional(flag),
    dataVolumeMoving: optional((value) => value === "attaching" || value === "detaching"),
    deleting: optional(flag),
    stillToSet: optional(text),
    stoppedForFlush: optional(flag),
    owes,
    unseen: isUnseenList,
  }),
  wish(record) {
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
  },
  behaving(wish, now) {
    const verifyResize = { confirm: "auto", timeoutMs: 120_000, onFailure: "revert" } as const;
    return now === undefined
      ? { ...wish, lifecycle: { ...wish.lifecycle, verifyResize } }
      : { ...wish, ...commandsOf(now), lifecycle: behavingAs(now.lifecycle, wish), source: now.source };
  },
  guarded(recorded, { lifecycle }) {
    const { snapshot, deleteFloatingIp, preservedVolumes } = recorded.onDelete;
    const onDelete = {
      snapshot: snapshot || lifecycle.snapshotBefore.includes("delete"),
      ...onlyDefined({ deleteFloatingIp: lifecycle.deleteFloatingIp === false ? false : deleteFloatingIp }),
      preservedVolumes: lifecycle.preservedVolumes === "retain" ? ("retain" as const) : preservedVolumes,
    };
    return { ...recorded, onDelete };
  },
};

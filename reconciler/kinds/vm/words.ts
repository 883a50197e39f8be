/** What is said of a VM. The compiler refuses a new field of its record until it is shown here. */
import { vmFields, vmServiceFields } from "../../core/model/fields";
import { commandOf, type Duty } from "../../core/model/guest";
import type { CatalogueEntry } from "../../core/model/live";
import type { RecordedVm } from "../../core/model/recorded";
import {
  deletingRow,
  type LabelledRow,
  owesRow,
  remarkIf,
  rowOfSides,
  type SideValue,
  shownCommand,
  stillToSetRow,
  toldAsTheyAre,
  unseenRow,
  type WordRows,
  type WordsOfKind,
  yes,
} from "../../report/told-rows";

const commandRow = (duty: Duty): LabelledRow<RecordedVm> => [duty, (record) => shownCommand(commandOf(record, duty))];

const { name, flavor, image, ...otherVmRows } = toldAsTheyAre(vmFields);

const vmWordRows: WordRows<RecordedVm> = {
  id: ["id", ({ id }) => id ?? "(not known yet)"],
  name,
  flavor,
  image,
  imageId: ["image, by id", ({ image, imageId }) => (imageId === image ? undefined : imageId)],
  ...otherVmRows,
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
  stillToSet: stillToSetRow,
  dataVolumeDetached: ["data volume", ({ dataVolumeDetached }) => yes(dataVolumeDetached, "detached to be grown")],
  dataVolumeMoving: [
    "data volume",
    ({ dataVolumeMoving }) => dataVolumeMoving && `${dataVolumeMoving}, without an answer`,
  ],
  afterReady: commandRow("after_ready"),
  afterAttach: commandRow("after_attach"),
  owes: owesRow,
  unseen: unseenRow,
};

export const vmWords: WordsOfKind<"vm"> = {
  rows: () => vmWordRows,
  remarks: (record) => [
    remarkIf(record.building, "being built"),
    remarkIf(record.resizing !== undefined, "resize not decided"),
    remarkIf(record.stoppedForFlush, "stopped for a flush"),
    remarkIf(record.dataVolumeDetached, "data volume detached"),
    remarkIf(record.dataVolumeMoving !== undefined, `data volume ${record.dataVolumeMoving}`),
  ],
  described: ({ name, flavor }) => `VM ${name}, ${flavor}`,
  sides({ want, record, shown: live, catalogue }) {
    const shown: Partial<Record<keyof typeof vmFields, SideValue>> =
      live === undefined
        ? {}
        : {
            name: live.name,
            flavor: nameInCatalogue(live.flavor, catalogue.flavors),
            image: nameInCatalogue(live.image, catalogue.images),
            owner: live.owner,
            power: live.status ?? live.phase,
          };
    return vmServiceFields.flatMap((key) => rowOfSides(vmFields[key].field, want?.[key], shown[key], record?.[key]));
  },
};

/** The name of what the service refers to by its id. */
const nameInCatalogue = (id: string | undefined, entries: readonly CatalogueEntry[] | undefined): string | undefined =>
  entries?.find((entry) => entry.id === id)?.name ?? id;

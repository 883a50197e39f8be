/** What is said of a volume. The compiler refuses a new field of its record until it is shown here. */
import { volumeFields } from "../../core/model/fields";
import { type AddressOf, identity } from "../../core/model/identity";
import type { RecordedVolume } from "../../core/model/recorded";
import {
  deletingRow,
  owesRow,
  remarkIf,
  rowOfSides,
  type SideValue,
  shownCommand,
  stillToSetRow,
  unseenRow,
  type WordRows,
  type WordsOfKind,
} from "../../report/told-rows";

const volumeRows = (addressOf: AddressOf): WordRows<RecordedVolume> => {
  const vm = (id: string | undefined) => id && `${addressOf(identity("vm", id)) ?? "a VM"} (${id})`;
  return {
    id: ["id", ({ id }) => id],
    name: [volumeFields.name.field, ({ name }) => name],
    sizeGb: [volumeFields.sizeGb.field, ({ sizeGb }) => sizeGb],
    attachedTo: [volumeFields.attachTo.field, ({ attachedTo }) => vm(attachedTo)],
    attaching: ["being attached to", ({ attaching }) => vm(attaching)],
    detaching: ["being taken off", ({ detaching }) => vm(detaching)],
    goesBackTo: ["to go back on", ({ goesBackTo }) => vm(goesBackTo)],
    stoppedVm: ["stopped for its flush", ({ stoppedVm }) => stoppedVm && `VM ${stoppedVm}, not started again yet`],
    flush: [
      volumeFields.flush.field,
      ({ flush }) => `via ${flush.via}${flush.via === "command" ? `: ${shownCommand(flush)}` : ""}`,
    ],
    preventDestroy: ["prevent_destroy", ({ preventDestroy }) => preventDestroy],
    afterAttach: [volumeFields.afterAttach.field, ({ afterAttach }) => shownCommand(afterAttach)],
    owes: owesRow,
    deleting: deletingRow,
    stillToSet: stillToSetRow,
    unseen: unseenRow,
  };
};

export const volumeWords: WordsOfKind<"volume"> = {
  rows: volumeRows,
  remarks: (record) => [
    remarkIf(record.attaching !== undefined, "being attached"),
    remarkIf(record.detaching !== undefined, "being detached"),
    remarkIf(record.stoppedVm !== undefined, "its VM was stopped for a flush"),
  ],
  described: ({ name, sizeGb }) => `volume ${name}, ${sizeGb} GB`,
  sides({ want, record, shown, addressOf }) {
    const place = (on: string | null | undefined): SideValue =>
      on == null ? on : (addressOf(identity("vm", on)) ?? on);
    return [
      ...rowOfSides(volumeFields.name.field, want?.name, shown?.name, record?.name),
      ...rowOfSides(volumeFields.sizeGb.field, want?.sizeGb, shown?.sizeGb, record?.sizeGb),
      ...rowOfSides(volumeFields.attachTo.field, want?.attachTo, place(shown?.attachedTo), place(record?.attachedTo)),
    ];
  },
};

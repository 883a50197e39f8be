/** A block volume, which hangs on a VM or on none. */
import { defineKind } from "../definition";
import { volumeCalls } from "./calls";
import { volumeFields } from "./fields";

export const volume = defineKind({
  words: {
    section: "volumes",
    noun: "volume",
    fullNoun: "volume",
    attributes: { id: "id", name: "name", size: "sizeGb" },
    whenReplaced: ["an empty one takes its place"],
    whenDeleted: ["with its data"],
    whenMadeAnew: "an empty volume would take its place",
    tone: { colour: "#9a6700", onDark: "#d29922" },
  },
  fields: volumeFields,
  calls: volumeCalls,
  relations: [
    {
      is: "hangs-on",
      kind: "vm",
      field: "attachTo",
      recorded: "attachedTo",
      attach: "volume.attach",
      detach: "volume.detach",
    },
    { is: "reads", fields: ["flush", "afterAttach"] },
  ],
  keyIsLabel: true,
  atRest: "ready",
  orphansDeletable: true,
});

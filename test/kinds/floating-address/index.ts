/** An address that hangs on a VM, is free to leave it and survives it. The product has no such kind. */
import { defineKind } from "../../../reconciler/kinds/definition";
import { floatingAddressCalls } from "./calls";
import { floatingAddressFields } from "./fields";

export const floatingAddress = defineKind({
  words: {
    section: "addresses",
    noun: "address",
    fullNoun: "floating address",
    attributes: { id: "id", name: "name" },
    whenReplaced: ["new id"],
    whenDeleted: ["others may get it"],
    tone: { colour: "#bf3989", onDark: "#f778ba" },
  },
  fields: floatingAddressFields,
  calls: floatingAddressCalls,
  relations: [
    {
      is: "hangs-on",
      kind: "vm",
      field: "assignTo",
      recorded: "assignedTo",
      attach: "address.assign",
      detach: "address.release",
    },
  ],
  record: { id: ["/id"], name: ["/name"], pool: ["/pool"], assignedTo: ["/vm_id"] },
  one: { type: "FloatingAddress", description: "A public address, on a VM or on none." },
});

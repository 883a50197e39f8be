/** A virtual machine. */
import { defineKind } from "../definition";
import { vmCalls } from "./calls";
import { vmFields } from "./fields";

export const vm = defineKind({
  words: {
    section: "vms",
    noun: "VM",
    fullNoun: "VM",
    attributes: { id: "id", name: "name", private_ip: "privateIp", floating_ip: "floatingIp" },
    whenReplaced: ["new id, new address"],
    whenDeleted: ["with its root disk"],
    tone: { colour: "#0969da", onDark: "#58a6ff" },
  },
  fields: vmFields,
  calls: vmCalls,
  relations: [{ is: "named" }, { is: "reads", fields: ["lifecycle", "flush", "afterReady", "afterAttach"] }],
  takenByName: true,
  createTellsNoId: true,
  runsGuest: true,
  atRest: "stopped",
});

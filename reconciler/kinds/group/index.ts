/** A security group with its rules. */
import { defineKind } from "../definition";
import { groupCalls } from "./calls";
import { groupFields } from "./fields";

export const group = defineKind({
  words: {
    section: "groups",
    noun: "group",
    fullNoun: "security group",
    attributes: { id: "id", name: "name" },
    whenReplaced: ["new id, without a gap in what it admits"],
    whenDeleted: [],
    tone: { colour: "#8250df", onDark: "#bc8cff" },
  },
  fields: groupFields,
  calls: groupCalls,
  relations: [
    { is: "named" },
    { is: "names", kind: "group", field: "rules", itself: "self" },
    { is: "reads", fields: ["description", "rules"] },
  ],
  reservedNames: ["default"],
  keyIsLabel: true,
  readBeside: "group.rule.list",
  orphansDeletable: true,
});

/** The fields of a floating address: one row each. */
import type { Rows } from "../../../reconciler/core/model/field-row";

export const floatingAddressFields = {
  name: {
    field: "name",
    type: "text",
    about: "The name in the service.",
    absent: "key",
    effect: "in_place",
    verb: "rename",
    costs: "renamed in place",
    compare: "plain",
    recorded: "known",
    observed: true,
    sentAs: "name",
  },
  pool: {
    field: "pool",
    type: ["public", "partner"],
    about: "Where the address is taken from.",
    absent: { value: "public" },
    effect: "replace",
    verb: "replace",
    costs: "replaced by another address",
    compare: "plain",
    recorded: "known",
    observed: true,
    sentAs: "pool",
  },
  assignTo: {
    field: "assign_to",
    type: "reference",
    about: "The VM that it leads to.",
    absent: "unset",
    effect: "in_place",
    verb: "assign",
    costs: "assigned, moved or released",
    compare: "own",
    recorded: "never",
    recordKeys: ["assignedTo"],
  },
} as const satisfies Rows;

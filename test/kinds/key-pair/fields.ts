/** The fields of a key pair: one row each. */
import type { Rows } from "../../../reconciler/core/model/field-row";

export const keyPairFields = {
  name: {
    field: "name",
    type: "name",
    about: "The name in the service.",
    absent: "key",
    effect: "replace",
    verb: "replace",
    costs: "replaced: new id",
    compare: "plain",
    recorded: "known",
    observed: true,
    sentAs: "name",
  },
  publicKey: {
    field: "public_key",
    type: "text",
    about: "The public key in one line.",
    absent: "missing",
    effect: "replace",
    verb: "replace",
    costs: "replaced: new id",
    compare: "plain",
    recorded: "known",
    observed: true,
    sentAs: "public_key",
  },
  comment: {
    field: "comment",
    type: "text",
    about: "A remark.",
    absent: "unset",
    effect: "in_place",
    verb: "update",
    costs: "updated in place",
    compare: "plain",
    recorded: "known",
    observed: true,
    sentAs: "comment",
  },
} as const satisfies Rows;

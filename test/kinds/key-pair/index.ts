/** A key pair: a name and a public key. The product has no such kind; it shows what one costs. */
import { defineKind } from "../../../reconciler/kinds/definition";
import { keyPairCalls } from "./calls";
import { keyPairFields } from "./fields";

export const keyPair = defineKind({
  words: {
    section: "key_pairs",
    noun: "key pair",
    fullNoun: "key pair",
    attributes: { id: "id", name: "name" },
    whenReplaced: ["new id"],
    whenDeleted: [],
    tone: { colour: "#1a7f37", onDark: "#3fb950" },
  },
  fields: keyPairFields,
  calls: keyPairCalls,
  relations: [{ is: "named" }],
  record: { id: ["/id"], name: ["/name"], publicKey: ["/public_key"], comment: ["/comment"] },
  one: { type: "KeyPair", description: "A public key by which the VMs of a project are reached." },
});

/** The operations on a key pair: one row each. */
import type { OperationRow } from "../../../reconciler/core/model/operation-row";

const one = "/api/v1/key-pair/{id}";
const none = { builtIn: true, about: "Of key pairs.", cost: "None.", instead: "Nothing." };

export const keyPairCalls = {
  "key_pair.create": { method: "POST", path: "/api/v1/key-pair", kind: "write", call: "createKeyPair" },
  "key_pair.update": { method: "PATCH", path: one, kind: "write", call: "updateKeyPair" },
  "key_pair.delete": { method: "DELETE", path: one, kind: "delete", call: "deleteKeyPair", removes: true },
  "key_pair.get": { method: "GET", path: one, kind: "read", call: "getKeyPair" },
  "key_pair.list": {
    method: "GET",
    path: "/api/v1/key-pair/list",
    kind: "read",
    call: "listKeyPairs",
    assumed: none,
    items: ["", "/items", "/key_pairs"],
  },
} as const satisfies Readonly<Record<string, OperationRow>>;

/** The operations on a floating address: one row each. */
import type { OperationRow } from "../../../reconciler/core/model/operation-row";

const one = "/api/v1/address/{id}";
const listed = { builtIn: true, about: "Lists the addresses.", cost: "None is found.", instead: "They are read." };

export const floatingAddressCalls = {
  "address.create": { method: "POST", path: "/api/v1/address", kind: "write", call: "createAddress" },
  "address.update": { method: "PATCH", path: one, kind: "write", call: "updateAddress" },
  "address.assign": { method: "POST", path: `${one}/assign`, kind: "write", call: "assignAddress" },
  "address.release": { method: "POST", path: `${one}/release`, kind: "write", call: "releaseAddress", removes: true },
  "address.delete": { method: "DELETE", path: one, kind: "delete", call: "deleteAddress", removes: true },
  "address.get": { method: "GET", path: one, kind: "read", call: "getAddress" },
  "address.list": {
    method: "GET",
    path: "/api/v1/address/list",
    kind: "read",
    call: "listAddresses",
    assumed: listed,
    items: ["", "/items", "/addresses"],
  },
} as const satisfies Readonly<Record<string, OperationRow>>;

/** The operations on a volume: one row each. core/model/operation.ts says what a row says. */
import type { OperationRow } from "../../core/model/operation-row";

export const volumeCalls = {
  "volume.create": { method: "POST", path: "/api/v1/volume/create", kind: "write", call: "createVolume" },
  "volume.get": { method: "GET", path: "/api/v1/volume/{id}", kind: "read", call: "getVolume" },
  "volume.attach": { method: "POST", path: "/api/v1/volume/attach", kind: "write", call: "attachVolume" },
  "volume.detach": {
    method: "POST",
    path: "/api/v1/volume/detach",
    kind: "write",
    call: "detachVolume",
    removes: true,
  },
  "volume.resize": { method: "POST", path: "/api/v1/volume/resize/{id}", kind: "write", call: "resizeVolume" },
  "volume.list": {
    method: "GET",
    path: "/api/v1/volume/list",
    kind: "read",
    call: "listVolumes",
    assumed: {
      builtIn: false,
      about: "Lists the volumes of the project.",
      cost: "A volume whose create was not answered cannot be looked for.",
      instead:
        "Volumes are read one by one by the ids in the state. A create without an answer is reported as `outcome unknown` and never repeated silently.",
    },
    items: ["", "/items", "/volumes", "/results"],
    alsoAt: ["/api/v1/volume", "/api/v1/volumes", "/api/v1/volume/all"],
  },
  "volume.delete": {
    method: "DELETE",
    path: "/api/v1/volume/{id}",
    kind: "delete",
    call: "deleteVolume",
    sends: "id",
    removes: true,
    assumed: {
      builtIn: true,
      ability: "deletesVolumes",
      about: "Deletes a volume; {id} is the volume's id.",
      cost: "A volume cannot be deleted.",
      instead: "It is detached and listed among the orphans.",
    },
  },
} as const satisfies Readonly<Record<string, OperationRow>>;

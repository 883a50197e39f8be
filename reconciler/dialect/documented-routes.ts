/**
 * Method and path of the operations the contract documents (its section "Endpoints"). They are facts, so no dialect
 * changes them.
 */
import type { DocumentedOperation } from "../core/model/operation";
import type { Route } from "./dialect";

export const documentedRoutes: Readonly<Record<DocumentedOperation, Route>> = {
  "vm.create": { method: "POST", path: "/api/v1/vm/create" },
  "vm.rename": { method: "POST", path: "/api/v1/vm/rename/{id}" },
  "vm.rebuild": { method: "POST", path: "/api/v1/vm/rebuild/{id}" },
  "vm.resize": { method: "POST", path: "/api/v1/vm/resize/{id}" },
  "vm.snapshot": { method: "POST", path: "/api/v1/vm/snapshot/{id}" },
  "vm.stop": { method: "POST", path: "/api/v1/vm/stop/{id}" },
  "vm.start": { method: "POST", path: "/api/v1/vm/start/{id}" },
  "vm.reboot": { method: "POST", path: "/api/v1/vm/reboot/{id}" },
  "vm.delete": { method: "DELETE", path: "/api/v1/vm/delete/{id}" },
  "volume.create": { method: "POST", path: "/api/v1/volume/create" },
  "volume.get": { method: "GET", path: "/api/v1/volume/{id}" },
  "volume.attach": { method: "POST", path: "/api/v1/volume/attach" },
  "volume.detach": { method: "POST", path: "/api/v1/volume/detach" },
  "volume.resize": { method: "POST", path: "/api/v1/volume/resize/{id}" },
  "group.create": { method: "POST", path: "/api/v1/security-group" },
  "group.update": { method: "PATCH", path: "/api/v1/security-group/{id}" },
  "group.delete": { method: "DELETE", path: "/api/v1/security-group/{id}" },
  "group.rule.create": { method: "POST", path: "/api/v1/security-group/{id}/rule" },
  "group.rule.list": { method: "GET", path: "/api/v1/security-group/{id}/rule" },
  "group.import": { method: "POST", path: "/api/v1/security-group/import" },
};

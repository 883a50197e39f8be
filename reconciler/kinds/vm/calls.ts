/** The operations on a VM: one row each. core/model/operation.ts says what a row says. */
import type { OperationRow } from "../../core/model/operation-row";

const second = 1000;

export const vmCalls = {
  "vm.create": {
    method: "POST",
    path: "/api/v1/vm/create",
    kind: "write",
    call: "createVm",
    estimateMs: 60 * second,
  },
  "vm.rename": { method: "POST", path: "/api/v1/vm/rename/{id}", kind: "write", call: "renameVm", removes: true },
  "vm.rebuild": {
    method: "POST",
    path: "/api/v1/vm/rebuild/{id}",
    kind: "write",
    call: "rebuildVm",
    estimateMs: 60 * second,
  },
  "vm.resize": {
    method: "POST",
    path: "/api/v1/vm/resize/{id}",
    kind: "write",
    call: "resizeVm",
    estimateMs: 30 * second,
  },
  "vm.snapshot": {
    method: "POST",
    path: "/api/v1/vm/snapshot/{id}",
    kind: "write",
    call: "snapshotVm",
    estimateMs: 10 * second,
  },
  "vm.stop": {
    method: "POST",
    path: "/api/v1/vm/stop/{id}",
    kind: "write",
    call: "stopVm",
    sends: "id",
    estimateMs: 20 * second,
  },
  "vm.start": {
    method: "POST",
    path: "/api/v1/vm/start/{id}",
    kind: "write",
    call: "startVm",
    sends: "id",
    estimateMs: 10 * second,
  },
  "vm.reboot": {
    method: "POST",
    path: "/api/v1/vm/reboot/{id}",
    kind: "write",
    call: "rebootVm",
    sends: "id",
    estimateMs: 15 * second,
  },
  "vm.delete": {
    method: "DELETE",
    path: "/api/v1/vm/delete/{id}",
    kind: "delete",
    call: "deleteVm",
    removes: true,
    estimateMs: 5 * second,
  },
  "vm.list": {
    method: "GET",
    path: "/api/v1/vm/list",
    kind: "read",
    call: "listVms",
    assumed: {
      builtIn: true,
      about: "Lists the VMs of the project. Without it the id of a created VM cannot be learnt.",
      cost: "The id of a created VM cannot be learnt, and the VMs that exist are known from the state alone.",
      instead:
        "A create waits as `id unknown` (exit 4) until `reconcile import ADDR ID` gives the id. Plans mark the VMs as unobserved.",
    },
    items: ["", "/items", "/vms", "/instances", "/servers", "/results"],
    alsoAt: ["/api/v1/vm", "/api/v1/vms", "/api/v1/vm/all"],
  },
  "vm.get": {
    method: "GET",
    path: "/api/v1/vm/{id}",
    kind: "read",
    call: "getVm",
    assumed: {
      builtIn: false,
      ability: "readsOneVm",
      about: "Reads one VM; {id} in the path is the VM's id.",
      cost: "One VM cannot be read by itself.",
      instead: "VMs are read from the list, once for all of them.",
    },
    alsoAt: ["/api/v1/vm/get/{id}", "/api/v1/vm/details/{id}"],
  },
  "vm.resize.confirm": {
    method: "POST",
    path: "/api/v1/vm/resize/{id}/confirm",
    kind: "write",
    call: "confirmResize",
    sends: "id",
    estimateMs: 5 * second,
    assumed: {
      builtIn: true,
      ability: "confirmsResize",
      about: "Confirms a resize that waits in the verify state; {id} is the VM's id.",
      cost: "A resize cannot be made final from here.",
      instead:
        "It waits in the verify state and the run ends with exit 4. The next run goes on from there; a service that confirms by itself is success.",
    },
  },
  "vm.resize.revert": {
    method: "POST",
    path: "/api/v1/vm/resize/{id}/revert",
    kind: "write",
    call: "revertResize",
    sends: "id",
    estimateMs: 30 * second,
    assumed: {
      builtIn: true,
      ability: "revertsResize",
      about: "Takes a resize back that waits in the verify state; {id} is the VM's id.",
      cost: "A resize whose check failed cannot be reverted from here.",
      instead: "It waits in the verify state and the run ends with exit 4, for someone to revert or confirm it.",
    },
  },
} as const satisfies Readonly<Record<string, OperationRow>>;

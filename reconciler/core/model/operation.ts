/**
 * The operations of the service: one row each, with everything that is known of it. Documented ones are in the contract,
 * so their method and path are facts; assumed ones exist where the dialect says so, and their method and path are what
 * is usual. The names are those that the dialect, the plan, the events and the emulator use.
 */
import { keysOf } from "../text/objects";
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * What happens when a request is sent twice: a read changes nothing, a delete ends the same, a write may do its work
 * twice.
 */
export type RequestKind = "read" | "delete" | "write";

/** What is done when a deployment lacks an operation. Every fallback is complete in itself; none of them guesses. */
export interface Fallback {
  /** What cannot be known or done without the operation. */
  readonly cost: string;
  /** What is done in place of the operation. */
  readonly instead: string;
}

interface Row {
  readonly method: Method;
  /** Below the base URL, with a placeholder for each id. */
  readonly path: string;
  /** The kind belongs to the operation and not to the method, which a dialect may choose freely. */
  readonly kind: RequestKind;
  /** The method of the service's client. */
  readonly call: string;
  /** The request names one resource, has no body, and its answer says nothing but that it was accepted. */
  readonly sends?: "id";
  /** No earlier list tells the truth after it: it takes something away, or gives a name. */
  readonly removes?: true;
  /** How long it is expected to take with its wait; half a second where nothing is said. */
  readonly estimateMs?: number;
  /** The operation is beyond the contract. `builtIn`: it is taken to exist until a dialect says otherwise. */
  readonly assumed?: {
    readonly builtIn: boolean;
    readonly about: string;
    /** The name under which decisions ask whether a deployment has it (abilities.ts). */
    readonly ability?: string;
  } & Fallback;
  /** For a list: where its array is looked for. */
  readonly items?: readonly string[];
  /** Other paths at which services commonly have this read. */
  readonly alsoAt?: readonly string[];
}

const second = 1000;

const uncheckedNames = "Nothing is checked before a create, and the name is compared with the one applied last.";

export const operations = {
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
  "group.create": { method: "POST", path: "/api/v1/security-group", kind: "write", call: "createGroup" },
  "group.update": {
    method: "PATCH",
    path: "/api/v1/security-group/{id}",
    kind: "write",
    call: "updateGroup",
    removes: true,
  },
  "group.delete": {
    method: "DELETE",
    path: "/api/v1/security-group/{id}",
    kind: "delete",
    call: "deleteGroup",
    sends: "id",
    removes: true,
  },
  "group.rule.create": { method: "POST", path: "/api/v1/security-group/{id}/rule", kind: "write", call: "createRule" },
  "group.rule.list": { method: "GET", path: "/api/v1/security-group/{id}/rule", kind: "read", call: "listRules" },
  "group.import": { method: "POST", path: "/api/v1/security-group/import", kind: "write", call: "importGroups" },
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
      cost: "A resize whose check failed cannot be taken back from here.",
      instead: "It waits in the verify state and the run ends with exit 4, for someone to revert or confirm it.",
    },
  },
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
  "group.list": {
    method: "GET",
    path: "/api/v1/security-group",
    kind: "read",
    call: "listGroups",
    assumed: {
      builtIn: false,
      about: "Lists the security groups of the project.",
      cost: "A group whose create was not answered cannot be looked for, nor a group by its name.",
      instead:
        "Groups are known by the ids in the state. A create without an answer is reported as `outcome unknown` and never repeated silently.",
    },
    items: ["", "/items", "/security_groups", "/groups", "/results"],
    alsoAt: ["/api/v1/security-group/list", "/api/v1/security-groups"],
  },
  "group.get": {
    method: "GET",
    path: "/api/v1/security-group/{id}",
    kind: "read",
    call: "getGroup",
    assumed: {
      builtIn: false,
      ability: "readsOneGroup",
      about: "Reads one security group; {id} is the group's id.",
      cost: "Without group.list as well, a name or description changed by others is not seen.",
      instead: "Rules are read by the group's id, and the plan says once that names and descriptions are not observed.",
    },
    alsoAt: ["/api/v1/security-group/get/{id}"],
  },
  "group.rule.delete": {
    method: "DELETE",
    path: "/api/v1/security-group/{id}/rule/{rule_id}",
    kind: "delete",
    call: "deleteRule",
    assumed: {
      builtIn: false,
      ability: "deletesRules",
      about: "Deletes one rule; {id} is the group's id, {rule_id} the rule's.",
      cost: "A rule cannot be taken out of a group.",
      instead:
        "The group is replaced without a gap: the old one is renamed aside, a new one is created with its rules under the name, rules that named the old one are pointed at the new one, and the old one is deleted. While VMs still use it the replacement waits (exit 4). `lifecycle.on_rule_removal: keep` leaves the rules and lists them as exposure instead.",
    },
  },
  "flavor.list": {
    method: "GET",
    path: "/api/v1/flavor/list",
    kind: "read",
    call: "listFlavors",
    assumed: {
      builtIn: true,
      ability: "listsFlavors",
      about: "Lists the flavors (instance sizes).",
      cost: "A flavor's name cannot be resolved to its id.",
      instead: uncheckedNames,
    },
    items: ["", "/items", "/flavors", "/results"],
    alsoAt: ["/api/v1/flavor", "/api/v1/flavors"],
  },
  "image.list": {
    method: "GET",
    path: "/api/v1/image/list",
    kind: "read",
    call: "listImages",
    assumed: {
      builtIn: true,
      ability: "listsImages",
      about: "Lists the base images.",
      cost: "An image's name cannot be resolved to its id.",
      instead: uncheckedNames,
    },
    items: ["", "/items", "/images", "/results"],
    alsoAt: ["/api/v1/image", "/api/v1/images"],
  },
  "region.list": {
    method: "GET",
    path: "/api/v1/region/list",
    kind: "read",
    call: "listRegions",
    assumed: {
      builtIn: true,
      ability: "listsRegions",
      about: "Lists the regions.",
      cost: "A region's name cannot be checked.",
      instead: uncheckedNames,
    },
    items: ["", "/items", "/regions", "/results"],
    alsoAt: ["/api/v1/region", "/api/v1/regions"],
  },
} as const satisfies Readonly<Record<string, Row>>;

type Rows = typeof operations;

export type Operation = keyof Rows;
export type AssumedOperation = { [O in Operation]: Rows[O] extends { assumed: object } ? O : never }[Operation];
export type DocumentedOperation = Exclude<Operation, AssumedOperation>;
export type ListOperation = { [O in Operation]: Rows[O] extends { items: object } ? O : never }[Operation];

/** The names under which decisions ask for an operation, each with it. */
export type AbilityOperations = {
  readonly [O in Operation as Rows[O] extends { assumed: { ability: infer A extends string } } ? A : never]: O;
};
export type Ability = keyof AbilityOperations;

/** The operations of which a request is an id alone, by the methods that send them. */
export type CallsById = {
  readonly [O in Operation as Rows[O] extends { sends: "id" } ? Rows[O]["call"] : never]: O;
};

export const operationNames = keysOf(operations);

export const rowOf = (operation: Operation): Row => operations[operation];

export const isAssumed = (operation: Operation): operation is AssumedOperation =>
  rowOf(operation).assumed !== undefined;

export const isList = (operation: Operation): operation is ListOperation => rowOf(operation).items !== undefined;

export const assumedOperations = operationNames.filter(isAssumed);
export const documentedOperations = operationNames.filter(
  (operation): operation is DocumentedOperation => !isAssumed(operation),
);
export const listOperations = operationNames.filter(isList);

export const abilityOperations: ReadonlyMap<Ability, Operation> = new Map(
  operationNames.flatMap((operation) => {
    // The type has the same names from the same rows.
    const ability = rowOf(operation).assumed?.ability as Ability | undefined;
    return ability === undefined ? [] : [[ability, operation] as const];
  }),
);

/** The ids that a request of it has to carry. */
export const idsOf = (operation: Operation): readonly string[] =>
  [...rowOf(operation).path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? "");

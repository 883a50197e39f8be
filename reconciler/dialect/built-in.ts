/**
 * Everything assumed beyond the contract, and with the table of operations the only place for it: what a deployment is
 * taken to have until its dialect says otherwise. Pointers are generous, because a pointer that finds nothing costs
 * nothing.
 */

import { assumedOperations, rowOf } from "../core/model/operation";
import { onlyDefined } from "../core/text/objects";
import type { AssumedRoutes, Dialect, ErrorRule } from "./dialect";

function builtInRoutes(): AssumedRoutes {
  const routes = assumedOperations.map((operation) => {
    const { method, path, items, assumed } = rowOf(operation);
    return [operation, assumed?.builtIn === true ? onlyDefined({ method, path, items }) : null];
  });
  // One route for each assumed operation of the table.
  return Object.fromEntries(routes) as AssumedRoutes;
}

const inEitherCase = (...words: string[]): string[] => words.flatMap((word) => [word, word.toUpperCase()]);

export const builtInDialect: Dialect = {
  operations: builtInRoutes(),
  records: {
    vm: {
      id: ["/id", "/vm_id", "/instance_id", "/uuid", "/vm/id"],
      name: ["/name", "/vm_name", "/instance_name", "/hostname", "/vm/name"],
      status: ["/status", "/state", "/vm_state", "/vm/status"],
      flavor: ["/flavor_id", "/flavor/id", "/flavor/name", "/flavor", "/flavor_name"],
      image: ["/image_id", "/image/id", "/image/name", "/image", "/image_name"],
      owner: ["/owner", "/owner_email", "/owner/email", "/email"],
      floating_ip: ["/floating_ip", "/floating_ip/address", "/public_ip", "/floating_ip_address"],
      private_ip: ["/private_ip", "/private_ip_address", "/fixed_ip", "/ip_address", "/ip"],
      volumes: ["/volumes", "/attached_volumes", "/volumes_attached", "/volume_ids"],
      volume_entry: {
        id: ["", "/id", "/volume_id"],
        root: ["/root", "/bootable", "/is_root", "/boot"],
      },
    },
    volume: {
      id: ["/id", "/volume_id", "/uuid", "/volume/id"],
      name: ["/name", "/volume_name", "/volume/name"],
      size: ["/size", "/size_gb", "/volume/size"],
      status: ["/status", "/state", "/volume/status"],
      attached_to: [
        "/attached_to",
        "/vm_id",
        "/instance_id",
        "/attached_to/id",
        "/attachments/0/vm_id",
        "/attachments/0/server_id",
        "/attachments/0/instance_id",
      ],
    },
    group: {
      id: ["/id", "/security_group_id", "/group_id", "/security_group/id", "/group/id"],
      name: ["/name", "/security_group/name", "/group/name"],
      description: ["/description", "/security_group/description", "/group/description"],
      rules: ["/rules", "/security_group_rules", "/security_group/rules", "/group/rules"],
    },
    flavor: { id: ["/id", "/flavor_id", ""], name: ["/name", "/flavor_name"] },
    image: {
      id: ["/id", "/image_id", ""],
      name: ["/name", "/image_name"],
      status: ["/status", "/state", "/image_status"],
    },
    region: { id: ["/id", "/region_id", "/name", ""], name: ["/name", "/region_name"] },
    snapshot: { image: ["/image_id", "/image", "/id", "/snapshot_id", "/image/id"] },
  },
  states: {
    vm: {
      running: ["ACTIVE", "RUNNING", "active", "running"],
      stopped: ["SHUTOFF", "STOPPED", "shutoff", "stopped"],
      verify_resize: ["VERIFY_RESIZE"],
      ready: [],
      changing: [],
      failed: ["ERROR", "FAILED", "error", "failed"],
      // No word means gone by itself: on one service TERMINATED is deleted, on another one stopped.
      gone: [],
    },
    volume: {
      ready: [],
      changing: inEitherCase(
        "creating",
        "attaching",
        "detaching",
        "extending",
        "resizing",
        "deleting",
        "downloading",
        "uploading",
        "retyping",
        "migrating",
      ),
      failed: ["error", "ERROR", "failed", "FAILED"],
      gone: [],
    },
    image: {
      ready: ["active", "ACTIVE", "available", "AVAILABLE", "ready", "READY"],
      failed: ["error", "ERROR", "failed", "FAILED", "killed", "KILLED", "deleted", "DELETED"],
    },
  },
  pagination: { next: ["/page/next"], param: "page", next_header: null, ignore: [] },
  rules: { port_range: null },
  authorization: { name: "Authorization", header: "Bearer {token}", command: null },
  answers: {},
  envelope: { data: [], error: { code: [], message: [] } },
  names: {},
  // The contract says it of groups alone.
  limits: { unique: ["group"] },
  values: {},
  headers: {},
  retry_after: null,
  errors: [],
};

/**
 * Words with which some services mean "deleted" and others "stopped". While a dialect gives such a word no meaning, a
 * resource that shows it holds the plan up; it never counts as gone.
 */
export const mayMeanGone: ReadonlySet<string> = new Set([
  "deleted",
  "destroyed",
  "expunged",
  "soft-deleted",
  "soft_deleted",
  "terminated",
]);

/** An error rule that holds only for operations whose name starts with `of`. */
export interface BuiltInErrorRule extends ErrorRule {
  readonly of: string;
}

/**
 * The conditions the contract names without a number, told by the words a service is likely to use. Only answers with
 * a 4xx status are read this way; conditions.ts says why. Each is bound to operations, since the words of a message
 * may be part of a name that the user chose.
 */
export const builtInErrors: readonly BuiltInErrorRule[] = [
  { of: "volume.", is: "volume_attached", message: "attached and cannot be extended" },
  { of: "volume.delete", is: "volume_attached", message: "attached" },
  { of: "volume.delete", is: "volume_attached", message: "in use" },
  { of: "volume.detach", is: "flush_not_confirmed", message: "flush*confirm" },
  { of: "volume.", is: "root_disk", message: "root disk" },
  { of: "volume.", is: "root_disk", message: "root volume" },
  { of: "group.delete", is: "group_attached", message: "attached to" },
  { of: "group.delete", is: "group_attached", message: "in use" },
  { of: "group.rule.create", is: "conflict", status: 409, message: "quota" },
  { of: "group.rule.create", is: "conflict", status: 409, message: "exceed" },
  { of: "group.rule.create", is: "rule_exists", status: 409 },
  { of: "group.create", is: "rule_exists", status: 409, message: "rule already exists" },
  { of: "group.create", is: "name_taken", status: 409, message: "name*already" },
  { of: "group.update", is: "name_taken", status: 409 },
  { of: "group.delete", is: "group_attached", status: 409 },
  { of: "vm.create", is: "name_taken", status: 409, message: "name*already" },
  { of: "vm.rename", is: "name_taken", status: 409, message: "name*already" },
  { of: "vm.create", is: "conflict", status: 409 },
  { of: "vm.rename", is: "conflict", status: 409 },
  { of: "vm.", is: "invalid_state", status: 409 },
  { of: "vm.", is: "invalid_state", message: "invalid state" },
  { of: "vm.", is: "invalid_state", message: "state transition" },
  { of: "vm.", is: "invalid_state", message: "vm_state" },
  { of: "", is: "invalid_id", status: 400, message: "invalid*id" },
];

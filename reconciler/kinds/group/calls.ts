/** The operations on a security group: one row each. core/model/operation.ts says what a row says. */
import type { OperationRow } from "../../core/model/operation-row";

export const groupCalls = {
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
} as const satisfies Readonly<Record<string, OperationRow>>;

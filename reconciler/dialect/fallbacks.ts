/**
 * What is done when a deployment lacks an operation: the one table that the planner's notes and the doctor's report
 * are written from. Every fallback is complete in itself; none of them guesses.
 */
import type { AssumedOperation } from "../core/model/operation";

export interface Fallback {
  /** What cannot be known or done without the operation. */
  readonly cost: string;
  /** What happens in its place. */
  readonly instead: string;
}

export const fallbacks: Readonly<Record<AssumedOperation, Fallback>> = {
  "vm.list": {
    cost: "The id of a created VM cannot be learnt, and the VMs that exist are known from the state alone.",
    instead:
      "A create waits as `id unknown` (exit 4) until `reconcile import ADDR ID` gives the id. Plans mark the VMs as unobserved.",
  },
  "vm.get": {
    cost: "One VM cannot be read by itself.",
    instead: "VMs are read from the list, once for all of them.",
  },
  "vm.resize.confirm": {
    cost: "A resize cannot be made final from here.",
    instead:
      "It waits in the verify state and the run ends with exit 4. The next run goes on from there; a service that confirms by itself is success.",
  },
  "vm.resize.revert": {
    cost: "A resize whose check failed cannot be taken back from here.",
    instead: "It waits in the verify state and the run ends with exit 4, for someone to revert or confirm it.",
  },
  "volume.list": {
    cost: "A volume whose create was not answered cannot be looked for.",
    instead:
      "Volumes are read one by one by the ids in the state. A create without an answer is reported as `outcome unknown` and never repeated silently.",
  },
  "volume.delete": {
    cost: "A volume cannot be deleted.",
    instead: "It is detached and listed among the orphans.",
  },
  "group.list": {
    cost: "A group whose create was not answered cannot be looked for, nor a group by its name.",
    instead:
      "Groups are known by the ids in the state. A create without an answer is reported as `outcome unknown` and never repeated silently.",
  },
  "group.get": {
    cost: "Without group.list as well, a name or description changed by others is not seen.",
    instead: "Rules are read by the group's id, and the plan says once that names and descriptions are not observed.",
  },
  "group.rule.delete": {
    cost: "A rule cannot be taken out of a group.",
    instead:
      "The group is replaced without a gap: the old one is renamed aside, a new one is created with its rules under the name, rules that named the old one are pointed at the new one, and the old one is deleted. While VMs still use it the replacement waits (exit 4). `lifecycle.on_rule_removal: keep` leaves the rules and lists them as exposure instead.",
  },
  "flavor.list": {
    cost: "A flavor's name cannot be resolved to its id.",
    instead: "Nothing is checked before a create, and the name is compared with the one applied last.",
  },
  "image.list": {
    cost: "An image's name cannot be resolved to its id.",
    instead: "Nothing is checked before a create, and the name is compared with the one applied last.",
  },
  "region.list": {
    cost: "A region's name cannot be checked.",
    instead: "Nothing is checked before a create, and the name is compared with the one applied last.",
  },
};

/**
 * The rules that go, as differences have told: those that an update of their group removes, for a SecurityGroupRule that
 * names one of them comes after that update, and nothing can hand the rule over; and those that are made anew where the
 * service can delete none by itself.
 */
import type { HandlerService } from "../../one/handler";
import { perClient } from "../../one/per-client";

const going = perClient(() => new Map<string, ReadonlySet<string>>());

export const noteGoing = (service: HandlerService, groupId: string, keys: readonly string[]): void =>
  void going(service).set(groupId, new Set(keys));

/** What to do for a rule that is to stay open; `undefined`: its group leaves it alone. */
export const goesFirst = (service: HandlerService, groupId: string, key: string): string | undefined =>
  going(service).get(groupId)?.has(key) === true
    ? `the update of group ${groupId} removes this rule, and only then is it added again as a resource of its own: what it admits is refused for a moment. Without that moment: leave it among the rules of the group for one update beside this resource, which takes it over, and take it out there in the next`
    : undefined;

/** What becomes of the former rule. */
type RuleEnd = "keep" | "with a group";

const rulesLeaving = perClient(() => new Map<string, RuleEnd>());

export const noteRuleEnd = (service: HandlerService, id: string, end: RuleEnd): void =>
  void rulesLeaving(service).set(id, end);

export const leavingOf = (service: HandlerService, id: string): RuleEnd | undefined => rulesLeaving(service).get(id);

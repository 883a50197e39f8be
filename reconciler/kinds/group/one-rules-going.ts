/**
 * The rules that go, as differences have told. First the rules that an update of their group removes, as its difference has told: a SecurityGroupRule that names one of
 * them comes after that update, so that nothing can hand the rule over. And those that are made anew where the service can delete none by itself.
 */
import type { HandlerService } from "../../one/handler";

const going = new WeakMap<HandlerService["client"], Map<string, ReadonlySet<string>>>();

export function noteGoing({ client }: HandlerService, groupId: string, keys: readonly string[]): void {
  const byGroup = going.get(client) ?? new Map<string, ReadonlySet<string>>();
  going.set(client, byGroup.set(groupId, new Set(keys)));
}

/** What to do for a rule that is to stay open; `undefined`: its group leaves it alone. */
export const goesFirst = ({ client }: HandlerService, groupId: string, key: string): string | undefined =>
  going.get(client)?.get(groupId)?.has(key) === true
    ? `the update of group ${groupId} removes this rule, and only then is it added again as a resource of its own: what it admits is refused for a moment. Without that moment: leave it among the rules of the group for one update beside this resource, which takes it over, and take it out there in the next`
    : undefined;

/** What becomes of the former rule. */
type RuleEnd = "keep" | "with a group";

const rulesLeaving = new WeakMap<HandlerService["client"], Map<string, RuleEnd>>();

export function noteRuleEnd({ client }: HandlerService, id: string, end: RuleEnd): void {
  const known = rulesLeaving.get(client) ?? new Map<string, RuleEnd>();
  rulesLeaving.set(client, known.set(id, end));
}

export const leavingOf = ({ client }: HandlerService, id: string): RuleEnd | undefined =>
  rulesLeaving.get(client)?.get(id);

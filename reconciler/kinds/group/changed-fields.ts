/** What changes about a group, field by field and rule by rule, as a plan shows it. */

import { describeRule, type GroupIdentity } from "../../core/canonical/rules";
import { type FieldChange, fieldChange } from "../../core/diff/changes";
import type { DiffContext } from "../../core/diff/context";
import { shownText } from "../../core/model/computed";
import type { DesiredGroup } from "../../core/model/desired";
import { groupFields } from "../../core/model/fields";
import type { LiveGroup } from "../../core/model/live";
import type { RecordedGroup } from "../../core/model/recorded";
import type { Rule } from "../../core/model/rule";
import { canonicalText } from "../../core/text/canonical-text";
import { byAddress, type RulesComparison } from "./compare-rules";

export const follows = "point at the new group";
export const falls = "falls with the group it names";

export const labelGroup =
  (identify: GroupIdentity): GroupIdentity =>
  (group) =>
    "address" in group ? group.address : identify(group);

export function groupFieldChanges(
  desired: DesiredGroup,
  recorded: RecordedGroup | undefined,
  live: LiveGroup | undefined,
  compared: RulesComparison,
  context: DiffContext,
): FieldChange[] {
  const ignored = new Set(desired.lifecycle.ignoreChanges);
  return [
    ...(ignored.has("name") ? [] : nameChange(desired, recorded, live)),
    ...(ignored.has("description") ? [] : descriptionChange(desired, recorded, live)),
    ...ruleChanges(compared, byAddress(context)),
  ];
}

/**
 * Nobody has sent or written what the group is called in the service, and nobody had seen it when it was taken over: the
 * key stays a label, also once the service shows the name.
 */
export const isNameUnknown = (
  { nameUnsaid }: DesiredGroup,
  recorded: Pick<RecordedGroup, "name"> | undefined,
  live: Pick<LiveGroup, "name"> | undefined,
): boolean =>
  nameUnsaid === true && recorded?.name === undefined && (recorded !== undefined || live?.name === undefined);

/**
 * Where nobody can look, a group may have the name that was recorded or the one of an update whose answer was lost
 * (`updating`). The name is then sent again unless both are the desired one; `descriptionChange` does the same.
 */
function nameChange(
  desired: DesiredGroup,
  recorded: RecordedGroup | undefined,
  live: LiveGroup | undefined,
): FieldChange[] {
  if (recorded !== undefined && isNameUnknown(desired, recorded, live)) return [];
  const names = live?.name === undefined ? [recorded?.name, recorded?.updating?.name] : [live.name];
  const other = names.find((name) => name !== undefined && name.toLowerCase() !== desired.name);
  return other === undefined ? [] : [fieldChange(groupFields.name, other, desired.name)];
}

function descriptionChange(
  desired: DesiredGroup,
  recorded: RecordedGroup | undefined,
  live: LiveGroup | undefined,
): FieldChange[] {
  const { description } = desired;
  if (description === undefined || (live?.description === undefined && recorded === undefined)) return [];
  const before = canonicalText(recorded?.description ?? "");
  const descriptions =
    live?.description === undefined ? [before, recorded?.updating?.description ?? before] : [live.description];
  const other = descriptions.find((one) => one !== description);
  return other === undefined ? [] : [fieldChange(groupFields.description, other || undefined, shownText(description))];
}

function ruleChanges(compared: RulesComparison, label: GroupIdentity): FieldChange[] {
  const fields: FieldChange[] = [];
  // A rule may fall together with the group that it names, or have outlived it, and be wanted again towards the group
  // that takes its place. Such a rule is neither new nor gone.
  const falling = new Set(compared.falling.map(({ rule }) => describeRule(rule, label)));
  const removed = compared.removed.map(({ rule }) => describeRule(rule, label));
  // What follows a group that an earlier run replaced is not new either.
  const followed = compared.following.length === 0 ? [] : compared.cascaded;
  const former = new Set([...falling, ...removed, ...followed.map(({ rule }) => describeRule(rule, label))]);
  const added = compared.added.map((rule) => describeRule(rule, label));
  for (const text of added) {
    if (former.has(text)) fields.push(fieldChange(groupFields.rules, text, text, follows));
    else fields.push(fieldChange(groupFields.rules, undefined, text, "add rule"));
    falling.delete(text);
  }
  for (const text of removed)
    if (!added.includes(text)) fields.push(fieldChange(groupFields.rules, text, undefined, "remove rule"));
  for (const text of falling) fields.push(fieldChange(groupFields.rules, text, undefined, falls));
  return fields;
}

/** Rules that nobody declares, and that the group which takes this one's place does not have. */
export const rulesLeftBehind = (
  left: readonly Rule[],
  taken: readonly Rule[],
  context: DiffContext,
): readonly FieldChange[] =>
  left
    .filter((rule) => !taken.includes(rule))
    .map((rule) => fieldChange(groupFields.rules, describeRule(rule, byAddress(context)), undefined, "remove rule"));

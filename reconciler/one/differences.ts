/** What differs between two versions of a resource's properties, and which differences replace the resource. */

import type { FieldChange } from "../core/diff/changes";
import type { Abilities } from "../core/model/abilities";
import type { Kind } from "../core/model/address";
import { type Closed, closedWith, type DesiredResource } from "../core/model/desired";
import { deepEqual } from "../core/text/deep-equal";
import { fieldsIn } from "../core/text/objects";
import { sameBehaviour } from "./guards";
import { type Difference, holdsUnknown, type PropertyChange, type Props } from "./handler";
import { asProperty, isKnownInPart } from "./one-desired";
import type { changeOf, Remembered } from "./one-run";
import { recordedKey, type Shape } from "./shape";

/** Both values are known, and the program gave another value before. */
const isOtherwise = (before: unknown, now: unknown): boolean =>
  before !== undefined && now !== undefined && !holdsUnknown(now) && String(before) !== String(now);

export const isOtherwiseNow =
  (before: Props, inputs: Props) =>
  ({ property, replaces }: PropertyChange): boolean =>
    replaces && isOtherwise(before[property], inputs[property]);

/**
 * Changes that the inputs show by themselves: a value that is unknown, given for the first time, emptied, or another
 * behaviour. One line for each such sort of change.
 */
export function changedInputs<K extends Kind>(
  shape: Shape<K>,
  can: Abilities,
  remembered: Remembered,
  before: Props,
  inputs: Props,
) {
  const changes: PropertyChange[] = [];
  const known: Record<string, unknown> = { ...inputs };
  for (const [name, property] of Object.entries(shape.inputs)) {
    if (holdsUnknown(inputs[name])) {
      changes.push({ property: name, replaces: property.replaces === true });
      known[name] = isKnownInPart(property, inputs[name])
        ? inputs[name]
        : { ...before, ...shape.whileUnknown?.(can) }[name];
      continue;
    }
    const isStatedNow = shape.optional.includes(name) && before[name] === undefined && inputs[name] !== undefined;
    // The service does not show behaviours, so a resource that was just imported differs in none of them.
    const isComparable = remembered.imported !== true || before[name] !== undefined;
    const behavesOtherwise = property.behaviour === true && !sameBehaviour(property, before[name], inputs[name]);
    if (isStatedNow || (behavesOtherwise && isComparable)) changes.push({ property: name, replaces: false });
  }
  for (const name of shape.emptied ?? [])
    if (isEmptied(remembered, name, before, inputs)) changes.push({ property: name, replaces: false });
  return { changes, known };
}

/** The changes of the inputs with those that the plan shows; it also knows which of them replace the resource. */
export function withPlanned<K extends Kind>(
  { replacedAsAWhole }: Shape<K>,
  change: ReturnType<typeof changeOf>,
  stated: readonly PropertyChange[],
): PropertyChange[] {
  const replaced = change !== undefined && change.action !== "update" && change.action !== "import";
  const changes = [...stated];
  for (const field of change?.fields ?? []) {
    const property = asProperty(field.field);
    const replaces = replaced && (field.forces === "replace" || replacedAsAWhole === true);
    const at = changes.findIndex((one) => one.property === property);
    if (at < 0) changes.push({ property, replaces });
    else if (replaces) changes[at] = { property, replaces };
  }
  if (replaced && !changes.some(({ replaces }) => replaces)) changes.push({ property: recordedKey, replaces: true });
  return changes;
}

type Changed = ReturnType<typeof changeOf>;

/**
 * What the service alone shows as different of what the program says as before: no preview has shown it, and the program
 * may want it left alone (`ignoreChanges`, of which the engine tells no provider). `shown`: what the records show.
 */
export function unseenFields<K extends Kind>(
  shape: Shape<K>,
  change: Changed,
  shown: Changed,
  before: Props,
  inputs: Props,
): readonly FieldChange[] {
  // What is lost, or replaced, is refused.
  if (change?.action !== "update" || change.losses.length > 0) return [];
  const behavesAsBefore = Object.entries(shape.inputs).every(
    ([name, property]) => property.behaviour !== true || sameBehaviour(property, before[name], inputs[name]),
  );
  return change.fields.filter(({ field }) => {
    const wished = inputs[asProperty(field)];
    // Whose a rule is that the group does not name follows from its mode.
    const isComparable = wished !== undefined && (typeof wished !== "object" || behavesAsBefore);
    const isSaidAsBefore = isComparable && deepEqual(before[asProperty(field)], wished);
    return isSaidAsBefore && shown?.fields.some((one) => one.field === field) !== true;
  });
}

export const saysOfUnseen = (name: unknown, fields: readonly FieldChange[]): string =>
  `${String(name)} was changed elsewhere, and stays so until a refresh: ${fields
    .map((change) => `${asProperty(change.field)} ${changedTo(change)}`)
    .join("; ")}`;

/** Of a list, only one of the two is there. */
function changedTo({ before, after }: FieldChange): string {
  if (before === null || before === undefined) return `lacks ${after ?? "what is here"}`;
  return after === null || after === undefined ? `has ${before} as well` : `is ${before}, and not ${after}`;
}

/** The wish that leaves these alone. */
export const leaving = (wish: Closed, fields: readonly FieldChange[]): Closed =>
  closedWith(wish, { resources: wish.resources.map((one) => withIgnored(one, fields)) });

function withIgnored<R extends DesiredResource>(desired: R, fields: readonly FieldChange[]): R {
  const ignoreChanges = [...desired.lifecycle.ignoreChanges, ...fields.map(({ field }) => field)];
  return { ...desired, lifecycle: { ...desired.lifecycle, ignoreChanges } };
}

function isEmptied(remembered: Remembered, name: string, before: Props, inputs: Props): boolean {
  const { imported, emptying: left, record } = remembered;
  const had = left?.includes(name) === true ? fieldsIn(record)[name] : before[name];
  return imported !== true && inputs[name] === undefined && typeof had === "string" && had !== "";
}

export function emptied<K extends Kind>(shape: Shape<K>, remembered: Remembered, before: Props, inputs: Props): Props {
  const texts = (shape.emptied ?? []).filter((name) => isEmptied(remembered, name, before, inputs));
  return texts.length === 0 ? inputs : { ...inputs, ...Object.fromEntries(texts.map((name) => [name, ""])) };
}

/** What an update is to empty: when it fails, nothing but this tells the next one. */
export function emptying<K extends Kind>({ emptied: texts = [] }: Shape<K>, { resources }: Closed, inputs: Props) {
  const names = texts.filter((name) => inputs[name] === undefined && fieldsIn(resources[0])[name] === "");
  return names.length === 0 ? undefined : names;
}

export function difference<K extends Kind>(
  { deleteBeforeReplace }: Shape<K>,
  changes: readonly PropertyChange[],
  warnings: readonly string[],
): Difference {
  const replaces = changes.filter((change) => change.replaces).map(({ property }) => property);
  return { changes, replaces, deleteBeforeReplace: deleteBeforeReplace && changes.length > 0, warnings };
}

/** The requests of a change of a kind that is its rows and its relations alone, in their order. */

import type { Address } from "../../core/model/address";
import type { DesiredResource, Reference } from "../../core/model/desired";
import { identity } from "../../core/model/identity";
import { kindRows } from "../../core/model/kinds";
import type { RecordedResource } from "../../core/model/recorded";
import { hostOf, isNamed } from "../../core/model/relations";
import { asRecord } from "../../core/model/usual";
import {
  type Draft,
  holdOf,
  nameKey,
  noteFound,
  planRecord,
  planStep,
  settledRecord,
  vmHold,
} from "../../core/plan/draft";
import { holdBack, keptAsShown, patchFor, plainRecord } from "../../core/plan/records";
import { type Need, need, type OwnStep, type StepId, type UsualAction } from "../../core/plan/step";
import { fieldsIn } from "../../core/text/objects";
import type { Target } from "../placement";
import { rowsOf, type UsualDifference } from "./diff";

type To<A extends UsualDifference["action"]> = Extract<UsualDifference, { readonly action: A }>;

export function stepsForUsual(difference: UsualDifference, draft: Draft): void {
  const { address } = difference;
  switch (difference.action) {
    case "none":
      return;
    case "create":
      create(difference.desired, draft, []);
      attach({ address }, difference.attachTo, difference.desired, draft, []);
      return;
    case "delete":
    case "forget":
      remove(difference, draft);
      return;
    case "replace":
      replace(difference, draft);
      return;
    case "import":
    case "update":
      update(difference, draft);
      return;
    default:
      difference satisfies never;
  }
}

type UsualStep = Omit<OwnStep, "action" | "record"> & { readonly action: UsualAction; readonly record?: unknown };

function add(draft: Draft, address: Address, name: string, step: UsualStep): StepId {
  const made: object = step;
  // The compiler knows the requests of the kinds that have code of their own; a row says what this one sends.
  return planStep(draft, address, name, made as OwnStep<"record">);
}

/** What the create sends, under the names of the service. */
const sentBy = (desired: DesiredResource) =>
  Object.fromEntries(
    Object.entries(rowsOf(desired.kind)).flatMap(([key, { sentAs }]) => {
      const value = fieldsIn(desired)[key];
      return sentAs === undefined || value === undefined ? [] : [[sentAs, value] as const];
    }),
  );

function create(desired: DesiredResource, draft: Draft, needs: readonly Need[]): StepId {
  const { kind, address, name } = desired;
  const step = add(draft, address, "create", {
    action: { operation: `${kind}.create`, name, fields: sentBy(desired) },
    title: `create ${kindRows[kind].fullNoun} ${name}`,
    needs,
    record: plainRecord(desired),
  });
  draft.makes(address, step);
  if (isNamed[kind]) draft.takesName(nameKey(kind, name), step);
  return step;
}

function attach(
  of: Reference,
  target: Target | undefined,
  { kind, address, name }: DesiredResource,
  draft: Draft,
  needs: readonly Need[],
): void {
  const relation = hostOf[kind];
  if (relation === undefined || target === undefined) return;
  const host: Reference = target.id === undefined ? { address: target.address } : { id: target.id };
  add(draft, address, "attach", {
    action: { operation: relation.attach, of, host },
    title: `attach ${kindRows[kind].fullNoun} ${name} to ${target.address ?? target.id}`,
    needs: [...draft.onceMade(address), ...needs],
    holds: [holdOf(kind, address), vmHold(draft, host)],
  });
}

function detach(
  difference: UsualDifference & { readonly id: string },
  draft: Draft,
  needs: readonly Need[],
): readonly Need[] {
  const { kind, address, id, detachFrom } = difference;
  const relation = hostOf[kind];
  if (relation === undefined || detachFrom === undefined) return needs;
  const host = { id: detachFrom };
  const hostLabel = draft.context.addressOf(identity(relation.kind, detachFrom)) ?? detachFrom;
  const step = add(draft, address, "detach", {
    action: { operation: relation.detach, of: { id }, host },
    title: `detach ${kindRows[kind].fullNoun} ${difference.change?.name ?? id} from ${hostLabel}`,
    needs,
    holds: [holdOf(kind, address), vmHold(draft, host)],
    record: { [relation.recorded]: undefined },
  });
  draft.comesOff(detachFrom, step);
  return [...needs, need(step)];
}

function remove(difference: To<"delete" | "forget">, draft: Draft): void {
  const { address, kind, change, recorded } = difference;
  if (difference.action === "forget") {
    const title = `forget ${kindRows[kind].fullNoun} ${change.name}`;
    planRecord(draft, address, "forget", title, settledRecord(address, null));
    return;
  }
  // What was found by the intent of a lost create is recorded first, so that a run that is cut off does not forget it.
  const noted =
    difference.adopts === true ? [need(noteFound(draft, recorded, change.name, kindRows[kind].fullNoun))] : [];
  deleteStep(difference, "delete", draft, detach(difference, draft, noted));
}

function deleteStep(
  { address, kind, id, change }: To<"delete" | "replace">,
  name: "delete" | "delete-old",
  draft: Draft,
  needs: readonly Need[],
): StepId {
  const step = add(draft, address, name, {
    action: { operation: `${kind}.delete`, of: { id } },
    title: `delete ${kindRows[kind].fullNoun} ${change.name}`,
    needs,
    forgets: true,
  });
  if (isNamed[kind]) draft.freesName(nameKey(kind, change.name), step);
  return step;
}

/** The old one goes first: its name is the new one's. */
function replace(difference: To<"replace">, draft: Draft): void {
  const { address, desired, attachTo } = difference;
  const deleted = deleteStep(difference, "delete-old", draft, detach(difference, draft, []));
  create(desired, draft, [need(deleted)]);
  attach({ address }, attachTo, desired, draft, []);
}

function update(difference: To<"update" | "import">, draft: Draft): void {
  const { address, kind, id, desired, change } = difference;
  const needs: Need[] = difference.adopts === true ? [need(adopt(difference, draft))] : [];
  const row = hostOf[kind]?.field;
  const changed = Object.entries(rowsOf(kind)).filter(
    ([key, { field }]) => key !== row && change.fields.some((one) => one.field === field),
  );
  if (changed.length > 0) {
    const fields = Object.fromEntries(
      changed.map(([key, { field, sentAs = field }]) => [sentAs, fieldsIn(desired)[key]]),
    );
    add(draft, address, "update", {
      action: { operation: `${kind}.update`, of: { id }, fields },
      title: `update ${kindRows[kind].fullNoun} ${change.name}: ${changed.map(([, { field }]) => field).join(", ")}`,
      needs,
      record: patchFor(
        plainRecord(desired),
        changed.map(([, { field }]) => field),
      ),
    });
  }
  attach({ id }, difference.attachTo, desired, draft, detach(difference, draft, needs));
}

function adopt(difference: To<"update" | "import">, draft: Draft): StepId {
  const { address, kind, id, desired, live, hangsOn } = difference;
  const relation = hostOf[kind];
  const next = asRecord({ ...plainRecord(desired), id });
  const on = relation === undefined ? {} : { [relation.recorded]: hangsOn };
  // What shows is under the keys of the rows, as a record has it.
  const shown: Partial<RecordedResource> = asRecord({ ...live });
  const record = holdBack({ ...next, ...on }, { ...shown, ...on }, keptAsShown(difference, next, shown));
  const title = `take over ${kindRows[kind].fullNoun} ${live?.name ?? id} (${id})`;
  const step = planRecord(draft, address, "import", title, settledRecord(address, record));
  draft.makes(address, step);
  draft.adopts(address, id);
  return step;
}

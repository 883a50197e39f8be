/** What a step writes down: what became true when it succeeded, and before a delete, that it is being sent. */
import { type Kind, kindOf } from "../core/model/address";
import type { EffectField } from "../core/model/effect";
import { sight } from "../core/model/live";
import type { Outcome } from "../core/model/outcome";
import { type Orphan, orphanKey, type RecordedResource } from "../core/model/recorded";
import { missingOrphan } from "../core/plan/missing";
import { type FieldsOf, type NewRecord, type StepChange, stepChangesOf } from "../core/plan/record-patch";
import type { RecordPatch, Step, StepOperation } from "../core/plan/step";
import { fieldsIn, onlyDefined } from "../core/text/objects";
import { type DoneStep, doneAndSeen, doneUnseen, isoNow, type Run, type StepResult, type StepWrite } from "./run";

/** The changes of the state after a successful step, with whatever else the step found out. */
export function recordOf<O extends ExistingOperation>(step: Step<O>, run: Run, extra?: RecordPatch<O>): StepChange[] {
  const { address } = step;
  // The change for which a snapshot was taken is done now.
  const taken =
    run.recorder.state.intents.get(address)?.operation === "vm.snapshot" && followsSnapshot.has(step.action.operation);
  const settled: StepChange[] = taken ? [{ type: "intent", address, intent: null }] : [];
  if (step.forgets === true) return [{ type: "forgotten", address }, ...settled];
  if (step.record === undefined && (extra === undefined || Object.keys(extra).length === 0)) return [];
  if (!run.recorder.state.resources.has(address)) return [];
  return [{ type: "patch", address, fields: { ...step.record, ...extra } }, ...settled];
}

/** What acts on a resource that exists already. A create writes the record of what it made (create-once.ts). */
export type ExistingOperation = Exclude<StepOperation, `${Kind}.create`>;

const followsSnapshot: ReadonlySet<string> = new Set([
  "vm.rebuild",
  "vm.resize.confirm",
  "vm.resize.revert",
  "vm.delete",
]);

/**
 * The request was refused, and what the step had written down before it sent it is taken back: those fields alone, for
 * others may have become true meanwhile.
 */
export async function recordAsBefore<O extends ExistingOperation>(
  step: Step<O>,
  before: RecordedResource,
  run: Run,
): Promise<void> {
  const former: Record<string, unknown> = {};
  for (const key of Object.keys(step.record ?? {})) former[key] = fieldsIn(before)[key];
  // The keys are those of the step's own patch, with values of the same record.
  const fields = former as FieldsOf<"vm">;
  await run.recorder.record([{ type: "patch", address: step.address, fields }]);
}

/**
 * Notes in the record, before a delete is sent, that it will be sent: if the run is cut off after the request, the
 * resource that is gone then was meant to go. A refusal removes the note. `beside`: other fields for the record at that
 * time. Returns whether an earlier run had sent a delete.
 */
export async function noteDeleting(
  step: Step,
  id: string,
  run: Run,
  deleting: true | undefined,
  beside: FieldsOf<"vm"> = {},
): Promise<boolean> {
  const { resources, orphans } = run.recorder.state;
  const { address } = step;
  const kind = kindDeleted(step);
  const record = resources.get(address);
  const changes: StepChange[] = [];
  let sentBefore = false;
  if (record?.kind === kind && record.id === id) {
    sentBefore = record.deleting === true;
    changes.push({ type: "patch", address, of: id, fields: { ...beside, deleting } });
  }
  const orphan = orphans.get(orphanKey({ kind, id }));
  if (orphan !== undefined) {
    sentBefore ||= orphan.deleting === true;
    changes.push(orphanDeleting(orphan, deleting));
  }
  await run.recorder.record(changes);
  return sentBefore;
}

/** The address may be that of a VM whose volume goes with it. */
export const kindDeleted = ({ action, address }: Step): Kind =>
  action.operation === "volume.delete" ? "volume" : kindOf(address);

/** The same note about what a step has just left behind and deletes itself. */
export const orphanDeleting = ({ deleting: _, ...orphan }: Orphan, deleting: true | undefined): StepChange => ({
  type: "orphan",
  key: orphanKey(orphan),
  orphan: { ...orphan, ...onlyDefined({ deleting }) },
});

/**
 * A delete of what nobody saw before, answered with not-found, or not at all and nothing finds it: somebody else deleted
 * it, or it is not shown. Nothing says that this run did, so its record is kept as missing and not forgotten.
 */
export function missingInstead(
  step: Step,
  id: string,
  run: Run,
  deleted: Outcome<unknown>,
  sentBefore: boolean,
): StepChange[] {
  const kind = kindDeleted(step);
  const record = run.recorder.state.resources.get(step.address);
  if (deleted.status === "accepted" || sentBefore || record?.kind !== kind || record.id !== id) return [];
  const sighting = sight(run.live, kind, id);
  if (sighting.seen === "yes") return [];
  const answer = deleted.status === "unknown" ? "not answered, nothing finds it" : "answered with not-found";
  const orphan = missingOrphan(record, id, `its delete was ${answer}, and no look had shown it before`);
  return stepChangesOf([{ type: "missing", orphan }], isoNow(run));
}

/** What a create has made, and that its intent is over: one write says both. */
export const recordCreated = ({ address }: Step, id: string | undefined, record: NewRecord, run: Run): Promise<void> =>
  run.recorder.record([
    { type: "made", address, record, ...onlyDefined({ id }) },
    { type: "intent", address, intent: null },
  ]);

/**
 * Records what a look has shown, or what the service has accepted: the run looks for that at its end, and where it does
 * not show, the field has its former value again.
 */
export async function recordEnd<O extends ExistingOperation>(
  step: Step<O>,
  run: Run,
  { effect }: DoneStep = doneAndSeen,
  extra?: RecordPatch<O>,
): Promise<StepResult> {
  const before = run.recorder.state.resources.get(step.address);
  await run.recorder.record(recordOf(step, run, extra));
  if (effect.seen) return doneAndSeen;
  return doneUnseen(...effect.writes.map((write) => ({ ...write, ifNot: effectTakenBack(write, before) })));
}

/** The key under which a record keeps what a write changes. */
const recordKeyOf: Readonly<Partial<Record<EffectField, string>>> = {
  name: "name",
  description: "description",
  power: "power",
  flavor_id: "flavor",
  image_id: "image",
  size: "sizeGb",
  attach_to: "attachedTo",
};

function effectTakenBack(
  { field, id, ifNot = [] }: StepWrite,
  before: RecordedResource | undefined,
): readonly StepChange[] {
  const key = recordKeyOf[field];
  if (key === undefined || before?.id !== id) return ifNot;
  // The key is one of the record's own, with a value of the same record.
  const fields = { [key]: fieldsIn(before)[key] } as FieldsOf<"vm">;
  return [...ifNot, { type: "patch", address: before.address, of: id, fields }];
}

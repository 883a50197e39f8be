/** The requests that make one VM as desired, in their order. */

import { canonicalName } from "../../core/canonical/names";
import type { FieldValue } from "../../core/diff/changes";
import type { DesiredVm, NewVm, Reference } from "../../core/model/desired";
import { orphansAdded } from "../../core/model/disks";
import { fixText, toRun } from "../../core/model/fix";
import { addressesShown, powerShown } from "../../core/model/live";
import { type RecordedVm, stillToSetAt } from "../../core/model/recorded";
import {
  type Draft,
  isLeftOnceSet,
  nameKey,
  noteFound,
  owedByIntent,
  planRecord,
  planStep,
  settledRecord,
  wasSet,
} from "../../core/plan/draft";
import type { FieldsOf } from "../../core/plan/record-patch";
import { holdBack, keptAsShown, newVm, observedRecord, patchFor, vmRecord } from "../../core/plan/records";
import { type Need, need, type StepId } from "../../core/plan/step";
import { onlyDefined } from "../../core/text/objects";
import { mayBeStopped } from "../volume/open-moves";
import { deleteNoted } from "../volume/steps";
import { powerWanted, revertVerb } from "./compare";
import type { VmDifference } from "./diff";
import { flushWords, planFlush } from "./flush";
import { noteStopped } from "./flush-stop";
import { planVmDelete } from "./removal-steps";
import { decideResize, onceDecided, type Resizing, revertPending, type Then } from "./resize-steps";
import { planVmSnapshot, type To, waitUntilSettled } from "./step-parts";

export function stepsForVm(difference: VmDifference, draft: Draft): void {
  switch (difference.action) {
    case "none":
      if (difference.idUnknown === true) waitForId(difference, draft);
      return;
    case "create":
      stepsToCreateVm(difference.desired, difference.imageId, draft, [
        ...noteStranded(difference, draft),
        ...deleteLeft(difference, draft),
      ]);
      return;
    case "delete": {
      const { adopts, live, recorded } = difference;
      const found: RecordedVm = live?.phase === "changing" ? { ...recorded, building: true } : recorded;
      const noted = adopts === true ? [need(noteFound(draft, found))] : [];
      planVmDelete(difference, recorded, draft, noted);
      return;
    }
    case "forget":
      forgetVm(difference, draft);
      return;
    case "replace": {
      const { desired, imageId, recorded, made } = difference;
      const adopted = difference.adopts === true ? [need(adoptVm(difference, draft))] : [];
      const gone = planVmDelete(difference, recorded ?? made ?? vmRecord(desired, imageId), draft, adopted);
      stepsToCreateVm(desired, imageId, draft, [need(gone)]);
      return;
    }
    case "import":
    case "update":
      stepsToUpdateVm(difference, draft);
      return;
    default:
      difference satisfies never;
  }
}

function stepsToCreateVm(desired: DesiredVm, imageId: string | undefined, draft: Draft, needs: readonly Need[]): void {
  const { address } = desired;
  const isStopped = desired.power === "stopped";
  const isLeft = isStopped && isLeftOnceSet(desired, "power", draft);
  const vm: NewVm = { ...newVm(desired), image: imageId ?? desired.image };
  const created = planStep(draft, address, "create", {
    action: { operation: "vm.create", vm },
    title: `create VM ${desired.name} (${desired.flavor})`,
    needs,
    // A new VM runs. Where the file wants it stopped, the stop step records that.
    record: {
      ...vmRecord(desired, imageId),
      ...onlyDefined({
        power: desired.power === undefined ? undefined : ("running" as const),
        stillToSet: isLeft ? "power" : undefined,
      }),
    },
    downtimeOf: needs.length > 0 ? address : undefined,
  });
  draft.makes(address, created);
  draft.takesName(nameKey("vm", desired.name), created);
  if (isStopped)
    planStep(draft, address, "stop", {
      action: { operation: "vm.stop", vm: { address } },
      title: `stop VM ${desired.name}`,
      needs: [need(created)],
      record: { power: "stopped", ...(isLeft ? wasSet : {}) },
    });
}

/** From the create on, the record is the new VM's: what the old VM left is written down before. */
function noteStranded({ address, strands }: VmDifference, draft: Draft): Need[] {
  if (strands === undefined) return [];
  const noted = planRecord(
    draft,
    address,
    "orphan",
    strands.map(({ name, reason }) => `note volume ${name}, which ${reason}`).join("; "),
    orphansAdded(strands),
  );
  return [need(noted)];
}

function forgetVm(difference: VmDifference, draft: Draft): void {
  const { address, departure, recorded, strands = [] } = difference;
  const { context } = draft;
  const id = recorded?.id;
  if (id !== undefined && recorded?.stoppedForFlush === true && mayBeStopped(id, context.live)) noteStopped(id, draft);
  const off = difference.dataVolumeOff === true ? difference.dataVolumeId : undefined;
  const whole = id === undefined || off === undefined ? [] : [need(attachDataAgain(difference, { id, off }, draft))];
  // Until its volume is gone as well, the record is what says that the volume is to go.
  const deleted =
    departure?.deletes === undefined ? [] : [...noteStranded(difference, draft), ...deleteLeft(difference, draft)];
  planRecord(
    draft,
    address,
    "forget",
    `forget VM ${recorded?.name ?? address}`,
    [...(deleted.length === 0 ? orphansAdded(strands) : []), ...settledRecord(address, null)],
    [...whole, ...deleted],
  );
}

/** An interrupted run took the data volume off, and nothing but the record knows of it. */
function attachDataAgain(
  { address, live, recorded }: VmDifference,
  { id, off }: { readonly id: string; readonly off: string },
  draft: Draft,
): StepId {
  const attached = planStep(draft, address, "data-attach", {
    action: { operation: "volume.attach", volume: { id: off }, vm: { id } },
    title: `attach the data volume of VM ${live?.name ?? recorded?.name ?? id} again`,
    record: { dataVolumeDetached: undefined },
  });
  draft.flushStopOf(id)?.users.push(attached);
  return attached;
}

/** The VM is gone, and the volume that was to go with it is there: it is noted as an orphan by now. */
function deleteLeft({ address, departure, strands = [] }: VmDifference, draft: Draft): Need[] {
  const going = strands.find(({ id }) => id === departure?.deletes?.id);
  if (going === undefined) return [];
  const how = `, which ${going.reason} and was to go with it`;
  return [need(deleteNoted(address, going, "-volume", "volume", how, draft, [need(`${address}/orphan`)]))];
}

function waitForId(difference: VmDifference, draft: Draft): void {
  const { address } = difference;
  planStep(draft, address, "id", {
    holds: [],
    action: {
      operation: "outside",
      waitsFor: `the id of VM ${difference.recorded?.name ?? difference.desired?.name ?? address}, which this service gives no way to look up`,
      command: fixText(toRun(["import", address, "ID"])),
    },
    title: `learn the id of ${address}`,
  });
  draft.makes(address, `${address}/id`);
}

function adoptVm(difference: To<"update" | "import" | "replace">, draft: Draft): StepId {
  const { address, id, desired, live } = difference;
  const next: RecordedVm = {
    ...vmRecord(desired, difference.imageId),
    id,
    ...addressesShown(live),
    ...onlyDefined({ dataVolumeId: difference.dataVolumeId, disks: difference.disks }),
  };
  const { made, change } = difference;
  const isToPower = change.fields.some(({ field }) => field === "power");
  const owes = owedByIntent(address, draft);
  const before: Partial<RecordedVm> = {
    ...made,
    ...(live === undefined ? {} : observedRecord(live)),
    name: canonicalName(live?.name ?? desired.name),
    // Where no list tells names from ids, the word of the create alone can be compared with that of a file.
    ...onlyDefined({
      flavor: made?.flavor,
      power: powerShown(live),
    }),
  };
  const shown = keptAsShown(difference, next, before).filter((field) => difference.alike?.includes(field) !== true);
  const record = holdBack(next, before, shown);
  return planRecord(
    draft,
    address,
    "import",
    `take over VM ${live?.name ?? id} (${id})`,
    settledRecord(address, {
      ...record,
      ...onlyDefined({
        building: difference.unsettled === true ? true : undefined,
        owes,
        stillToSet: difference.unsettled === true || isToPower ? made?.stillToSet : undefined,
      }),
    }),
  );
}

/** A VM that is changed. Its steps follow each other; a failed one does not stop what has nothing to do with it. */
interface Updating extends Resizing {
  readonly difference: To<"update" | "import">;
  readonly patch: (...fields: string[]) => FieldsOf<"vm">;
  /** What the VM's next step waits for. */
  last: readonly Need[];
}

/** Before anything else is asked of it, the VM is the state's, at rest, and no resize of it is undecided. */
function makeSteady(updating: Updating, desired: DesiredVm): void {
  const { difference, vm, draft } = updating;
  const { address } = difference;
  if (difference.adopts === true) {
    const adopted = adoptVm(difference, draft);
    updating.last = [need(adopted)];
    draft.makes(address, adopted);
  }
  if (difference.unsettled === true) {
    const settled = waitUntilSettled(difference, vm, draft, updating.last);
    updating.last = [need(settled)];
    draft.makes(address, settled);
  }
  if (difference.verify === "revert") revertPending(difference, updating);
  if (difference.verify === "confirm") updating.last = decideResize(desired, updating);
  if (difference.verify === "wait")
    updating.last = [...updating.last, ...onceDecided({ id: difference.id }, draft, updating.last)];
}

function stepsToUpdateVm(difference: To<"update" | "import">, draft: Draft): void {
  const { address, id, desired, change, live } = difference;
  const vm: Reference = { id };
  const label = live?.name ?? change.name;
  const next = vmRecord(desired, difference.imageId);
  const fields = new Map(change.fields.map((field) => [field.field, field]));
  const then: Then = (name, step) => {
    const stepId = planStep(draft, address, name, { ...step, needs: [...updating.last, ...(step.needs ?? [])] });
    updating.last = [need(stepId, "end")];
    return stepId;
  };
  const patch = (...names: string[]) => patchFor<RecordedVm>(next, names);
  const updating: Updating = { difference, vm, label, draft, then, patch, last: [] };

  makeSteady(updating, desired);
  if (mayRestart(difference, fields)) draft.leavesPowerOpen(id);
  const { dataVolumeId } = difference;
  const dataChanges = dataVolumeId !== undefined && (fields.has("size") || difference.dataVolumeOff === true);
  const stopsFirst = powerWanted(desired, difference.recorded) === "stopped";
  // What a person has flushed comes off before anything starts the guest anew.
  const isAsked = dataChanges && !stopsFirst && (desired.flush?.via ?? "ask") === "ask";
  if (isAsked) growDataVolume(updating, dataVolumeId);
  const rename = fields.get("name");
  if (rename !== undefined) stepsToRenameVm(updating, String(rename.before));
  const resize = fields.get("flavor_id");
  if (resize !== undefined && resize.verb !== revertVerb) stepsToResizeVm(updating, resize.before);
  if (fields.has("image_id") && difference.imageId !== undefined) stepsToRebuildVm(updating, difference.imageId);
  // A VM that is stopped anyway is stopped first: that flushes its data volume.
  if (stopsFirst) setPower(updating, fields);
  if (dataChanges && !isAsked) growDataVolume(updating, dataVolumeId);
  if (!stopsFirst) setPower(updating, fields);
}

function stepsToRenameVm({ difference, vm, draft, then, patch }: Updating, before: string): void {
  const { desired } = difference;
  const step = then("rename", {
    action: { operation: "vm.rename", vm, name: desired.name },
    title: `rename VM ${before} to ${desired.name}`,
    record: patch("name"),
  });
  draft.freesName(nameKey("vm", before), step);
  draft.takesName(nameKey("vm", desired.name), step);
}

function stepsToResizeVm(updating: Updating, before: FieldValue): void {
  const { difference, vm, label, then } = updating;
  const { address, desired } = difference;
  const resized = then("resize", {
    action: { operation: "vm.resize", vm, flavor: desired.flavor },
    title: `resize VM ${label} from ${before} to ${desired.flavor}`,
    needs: snapshotBefore(updating, "resize"),
    record: {
      resizing: { ...onlyDefined({ from: before === null ? undefined : String(before) }), to: desired.flavor },
    },
    downtimeOf: address,
  });
  updating.last = decideResize(desired, updating, resized);
}

function stepsToRebuildVm(updating: Updating, image: string): void {
  const { difference, vm, label, draft, then, patch } = updating;
  const { address, id, desired } = difference;
  updating.last = [...updating.last, ...onceDecided({ id }, draft, updating.last)];
  then("rebuild", {
    action: { operation: "vm.rebuild", vm, image },
    title: `rebuild VM ${label} from image ${desired.image} (wipes the root disk)`,
    needs: snapshotBefore(updating, "rebuild"),
    record: patch("image_id"),
    downtimeOf: address,
  });
}

const snapshotBefore = ({ difference, vm, draft, last }: Updating, reason: "resize" | "rebuild"): Need[] =>
  difference.desired.lifecycle.snapshotBefore.includes(reason)
    ? [need(planVmSnapshot(difference, reason, vm, draft, last))]
    : [];

/**
 * A rebuild or a resize may leave a stopped VM running, or a running one stopped, and a VM that was on its way to another
 * state may arrive in either.
 */
const mayRestart = ({ verify, unsettled }: VmDifference, fields: ReadonlyMap<string, unknown>): boolean =>
  fields.has("flavor_id") || fields.has("image_id") || verify !== undefined || unsettled === true;

/** Where nobody knows by then whether the VM runs, its start or stop looks first. */
function setPower({ difference, label, draft, then, patch }: Updating, fields: ReadonlyMap<string, unknown>): void {
  const { address, id, desired, recorded } = difference;
  const wanted = powerWanted(desired, recorded);
  const looksFirst = draft.isPowerOpen(id);
  if (!fields.has("power") && !(looksFirst && wanted !== undefined)) return;
  const operation = wanted === "stopped" ? "vm.stop" : "vm.start";
  const isOpen = stillToSetAt(address, draft.state) === "power";
  const record = desired.lifecycle.ignoreChanges.includes("power")
    ? undefined
    : { ...patch("power"), ...(isOpen ? wasSet : {}) };
  const [verb, unless] = wanted === "stopped" ? ["stop", "it is stopped"] : ["start", "it runs"];
  const step = then(verb, {
    action: { operation, vm: { id }, looksFirst: looksFirst ? true : undefined },
    title: `${verb} VM ${label}${looksFirst ? ` unless ${unless}` : ""}`,
    record,
  });
  draft.setsPower(id, { operation, step });
}

/** An interrupted run may have left the data volume detached, grown or not: then only the rest is done. */
function growDataVolume({ difference, label, then, draft, last }: Updating, dataVolumeId: string): void {
  const { address, id, desired, change } = difference;
  const vm: Reference = { id };
  const volume: Reference = { id: dataVolumeId };
  const size = change.fields.find((field) => field.field === "size");
  const detached: Need[] = [];
  if (difference.dataVolumeOff !== true) {
    const policy = desired.flush ?? { via: "ask" };
    const flushed = planFlush({ address, label: `${label}'s data volume`, policy, vm: { id }, needs: last, draft });
    const step = then("data-detach", {
      action: { operation: "volume.detach", volume, vm, flush: flushed.reason },
      title: `detach the data volume of VM ${label} (${flushWords[flushed.reason]})`,
      needs: flushed.before,
      record: { dataVolumeId, dataVolumeDetached: true },
    });
    flushed.follow(step);
    detached.push(need(step));
  }
  const steps: StepId[] = [];
  if (size !== undefined)
    steps.push(
      then("data-resize", {
        action: { operation: "volume.resize", volume, sizeGb: desired.sizeGb },
        title: `grow the data volume of VM ${label} from ${size.before} to ${desired.sizeGb} GB`,
        needs: detached,
        record: { sizeGb: desired.sizeGb },
      }),
    );
  const attached = then("data-attach", {
    action: { operation: "volume.attach", volume, vm },
    title: `attach the data volume of VM ${label} again${size === undefined ? "" : " (grow the filesystem inside the guest)"}`,
    needs: [...detached, ...steps.map((step) => need(step, "end"))],
    record: { dataVolumeDetached: undefined },
  });
  // A VM that was stopped for the flush starts again when its volume is back.
  draft.flushStopOf(id)?.users.push(...steps, attached);
}

/**
 * What differs about one VM. Before is what the service shows, or what was recorded where it shows nothing; a field
 * known from neither is not compared. Deciding the order of requests is left to steps.ts.
 */

import { type Change, type FieldChange, fieldChange, movedField, type Reason } from "../../core/diff/changes";
import type { DiffContext } from "../../core/diff/context";
import {
  type Acted,
  creation,
  creationReason,
  type DiffOutcome,
  type Facts,
  forgettingReason,
  forgotten,
  kept,
  madeByIntent,
  type Replaced,
  removalReason,
  type Unchanged,
  type Updated,
  unchanged,
  updateReason,
} from "../../core/diff/difference";
import { explain, type LeftOpen } from "../../core/diff/explain";
import type { Known } from "../../core/diff/find";
import { goneNote, letGo, unsaidState, type Vanished } from "../../core/diff/findings";
import { type DesiredVm, type Inherited, leftToOthers, powerDeclared } from "../../core/model/desired";
import type { Diagnostic } from "../../core/model/diagnostic";
import { disksOf, orphanedDisk, tellDisks } from "../../core/model/disks";
import { valueSeen } from "../../core/model/evidence";
import { vmFields, vmServiceFields } from "../../core/model/fields";
import { identity } from "../../core/model/identity";
import { type LiveVm, shownOf, sight } from "../../core/model/live";
import { type Loss, rootDiskLoss } from "../../core/model/loss";
import type { Disk, Orphan, RecordedVm } from "../../core/model/recorded";
import { onlyDefined } from "../../core/text/objects";
import { isCarriedBy, moveUnknown } from "../volume/open-moves";
import { compareVm, findDataVolume, shownAlike, type VerifyDecision, type VmComparison } from "./compare";
import { type Departure, lossesOfRemoval, ownVolumeLoss, stillToDelete } from "./departure";
import { findVm, openCreate, type VmPair } from "./find";
import {
  checkCatalogue,
  checkSize,
  dataVolumeAway,
  failedNote,
  idWillBeUnknown,
  undecidedWhenLetGo,
  volumesUnseenNote,
} from "./findings";

interface VmFacts extends Facts<"vm"> {
  /** What the interrupted create that made this VM had asked for. */
  readonly made?: RecordedVm;
  /** Nothing tells the VM's id: `reconcile import` has to. */
  readonly idUnknown?: boolean;
  /** The VM is being built or otherwise in transition: wait before changing it. */
  readonly unsettled?: boolean;
  /** The id of the desired image, where its name could be resolved. */
  readonly imageId?: string;
  /** Of a VM of which fields are left to others: which the service shows as the file says them. */
  readonly alike?: readonly string[];
  /** The volume that grows when `size` does. */
  readonly dataVolumeId?: string;
  /** An interrupted run took the data volume off to grow it, and did not put it back. */
  readonly dataVolumeOff?: boolean;
  /** Other disks that may be the data volume, while nothing shows which is. Absent: nobody looked. */
  readonly disks?: readonly Disk[];
  /** The VM vanished, and these volumes outlived it. */
  readonly strands?: readonly Orphan[];
  /** For a VM that goes, or whose delete was sent: what it takes along and what it leaves. */
  readonly departure?: Departure;
  /** The VM waits in VERIFY_RESIZE: what is to be decided. */
  readonly verify?: VerifyDecision;
}

export type VmDifference = VmFacts & DiffOutcome<"vm">;
type ActedVm<A extends VmDifference["action"]> = Acted<VmFacts, "vm", A>;

export function diffVm(pair: VmPair, context: DiffContext): VmDifference {
  const { address, desired, recorded } = pair;
  const base: VmFacts = { kind: "vm", address, desired, recorded, diagnostics: [] };
  const found = findVm(pair, context);
  switch (found.how) {
    case "error":
      return { ...base, ...unchanged, diagnostics: [found.diagnostic] };
    case "id-unknown":
      return recorded !== undefined && pair.forget
        ? { ...base, action: "forget", recorded, change: forgotten(recorded, { reason: "let_go", because: letGo }) }
        : { ...base, ...unchanged, idUnknown: true };
    case "absent":
      return diffAbsent(pair, base, found.gone, context);
    case "known":
      // The wait for a delete that was sent ends by itself or says what the word keeps from ending.
      if (found.live?.unsaid === true && !pair.forget && recorded?.deleting !== true)
        return { ...base, ...unchanged, live: found.live, diagnostics: [unsaidState(pair, found.live)] };
      return diffKnown(pair, base, found, context);
  }
}

function diffAbsent(pair: VmPair, base: VmFacts, gone: Vanished | undefined, context: DiffContext): VmDifference {
  const { desired, recorded } = pair;
  const strands = volumesLeftBy(recorded, context);
  const deletes = recorded === undefined ? undefined : stillToDelete(recorded, desired, context);
  const losses =
    recorded === undefined || deletes === undefined ? [] : [ownVolumeLoss(deletes, recorded.name, context)];
  const left = {
    ...strands,
    ...onlyDefined({ departure: deletes === undefined ? undefined : { deletes, leaves: [] } }),
  };
  const told = recorded !== undefined && areVolumesUnseen(recorded, context) ? [volumesUnseenNote(pair, recorded)] : [];
  if (desired !== undefined) {
    const created = creationOfVm(desired, recorded, gone, pair, context);
    const change = { ...created.change, losses };
    return {
      ...base,
      recorded: undefined,
      ...created,
      ...left,
      change,
      diagnostics: [...created.diagnostics, ...told],
    };
  }
  if (recorded === undefined) return { ...base, ...unchanged };
  const change = { ...forgotten(recorded, forgettingReason(pair, gone)), losses };
  return { ...base, action: "forget", recorded, change, ...left, diagnostics: told };
}

function diffKnown(pair: VmPair, base: VmFacts, found: Known<LiveVm>, context: DiffContext): VmDifference {
  const { address, desired, recorded } = pair;
  const made = found.adopted === "interrupted" ? madeVm(pair, found) : undefined;
  if (desired !== undefined) {
    // An interrupted run made this VM in the place of one that was gone. The record is still that of the former VM.
    const own = made !== undefined && recorded?.id !== undefined ? undefined : recorded;
    const changed = updateOfVm(pair, desired, made ?? recorded, found, context);
    return { kind: "vm", address, desired, recorded: own, made, ...changed };
  }
  // The block is gone from the file, and an interrupted run may have created the VM.
  const own = made ?? recorded;
  return own === undefined
    ? { ...base, ...unchanged }
    : { ...base, adopts: made !== undefined, ...removalOfVm(pair, own, found, context) };
}

/**
 * The record of a VM that an open create made: from the create's intent or, where the create was accepted before there
 * was a list, from its record.
 */
const madeVm = (pair: VmPair, found: Known<LiveVm>): RecordedVm =>
  openCreate(pair) === undefined && pair.recorded !== undefined
    ? { ...pair.recorded, id: found.id }
    : madeByIntent(pair, found, { onDelete: { snapshot: false, preservedVolumes: "retain" } });

/** Deleting a VM never deletes its volumes, whoever deleted it and whether or not the answer arrived. */
function volumesLeftBy(recorded: RecordedVm | undefined, context: DiffContext): Pick<VmDifference, "strands"> {
  if (recorded?.id === undefined) return {};
  const strands = disksOf(recorded).flatMap((disk): Orphan[] => {
    const sighting = sight(context.live, "volume", disk.id);
    if (sighting.seen === "gone" || context.addressOf(identity("volume", disk.id)) !== undefined) return [];
    const seen = valueSeen(sighting);
    // A volume's own record may go on naming the VM that is gone. Of what hangs on another VM only the data volume is
    // known to have been this one's.
    const isElsewhere = seen?.attachedTo != null && seen.attachedTo !== recorded.id;
    if (isElsewhere && disk.id !== recorded.dataVolumeId) return [];
    const told = { ...disk, ...onlyDefined({ sizeGb: seen?.sizeGb }) };
    return [orphanedDisk(told, recorded.name, seen?.name ?? disk.name ?? disk.id)];
  });
  return strands.length === 0 ? {} : { strands };
}

/** Nothing ever showed what hung on the VM. */
const areVolumesUnseen = (recorded: RecordedVm, context: DiffContext): boolean =>
  recorded.id !== undefined &&
  recorded.sizeGb !== undefined &&
  disksOf(recorded).length === 0 &&
  !(context.live.of.vm.listed && shownOf(context.live, "vm").some((vm) => vm.volumes !== undefined));

function creationOfVm(
  desired: DesiredVm,
  recorded: RecordedVm | undefined,
  gone: Vanished | undefined,
  pair: VmPair,
  context: DiffContext,
): ActedVm<"create"> {
  const { imageId, diagnostics } = checkCatalogue(desired, context);
  if (gone !== undefined && recorded !== undefined) diagnostics.push(goneNote(pair, gone, "this plan makes it anew"));
  if (!context.live.of.vm.listed && pair.intent === undefined && context.can.seesVms !== "list")
    diagnostics.push(idWillBeUnknown(pair));
  const fields = vmServiceFields
    .filter((key) => desired[key] !== undefined)
    .map((key) => fieldChange({ ...vmFields[key], effect: "in_place" }, undefined, desired[key], "create"));
  const why: Pick<Change, "reason" | "because"> =
    gone === undefined && pair.intent !== undefined
      ? { reason: "interrupted", because: "an interrupted run did not get to create it" }
      : creationReason(desired, gone);
  return {
    action: "create",
    desired,
    change: creation(desired, fields, why),
    imageId,
    diagnostics,
  };
}

function removalOfVm(
  pair: VmPair,
  recorded: RecordedVm,
  found: Known<LiveVm>,
  context: DiffContext,
): ActedVm<"delete" | "forget"> {
  const { live, id } = found;
  if (pair.forget) {
    const change = forgotten(recorded, { reason: "let_go", because: letGo });
    const { dataVolumeId } = recorded;
    const isOff = dataVolumeAt({ recorded, found, isGrown: false, dataVolumeId, context }) === "off";
    const waits = live?.phase === "verify_resize" && recorded.resizing !== undefined;
    const diagnostics = waits ? [undecidedWhenLetGo(pair, live.name, recorded.resizing.to)] : [];
    return { recorded, live, action: "forget", change, dataVolumeId, dataVolumeOff: isOff, diagnostics };
  }
  const name = live?.name ?? recorded.name;
  const said = lossesOfRemoval(
    {
      ...{ id, name, live, recorded, desired: undefined },
      dataVolumeId: findDataVolume(recorded, live, context),
      young: isYoung(live, recorded.building === true || pair.intent?.operation === "vm.create"),
    },
    pair,
    context,
  );
  return {
    recorded,
    live,
    action: "delete",
    id,
    change: {
      address: pair.address,
      kind: "vm",
      action: "delete",
      name,
      id,
      fields: [],
      ...removalReason(context.options.destroy === true),
      losses: said.losses,
      leaves: said.leaves,
    },
    departure: said.departure,
    diagnostics: said.notes,
  };
}

/** A half-built VM does not show its disks yet, and nothing was ever in use on them. */
const isYoung = (live: LiveVm | undefined, building: boolean): boolean =>
  building && live?.phase === "changing" && (live.volumes ?? []).length === 0;

/** A VM that is desired and exists, and what differs about it. */
interface PresentVm {
  readonly pair: VmPair;
  readonly desired: DesiredVm;
  readonly recorded: RecordedVm | undefined;
  readonly found: Known<LiveVm>;
  /** The VM's name in the service. */
  readonly name: string;
  /** Without the fields of `ignore_changes`. */
  readonly comparison: VmComparison;
  readonly dataVolumeId: string | undefined;
  /** The VM has not settled since its create. */
  readonly isNew: boolean;
  readonly context: DiffContext;
}

function updateOfVm(
  pair: VmPair,
  desired: DesiredVm,
  recorded: RecordedVm | undefined,
  found: Known<LiveVm>,
  context: DiffContext,
): ActedVm<"none" | "update" | "import" | "replace"> {
  const diagnostics: Diagnostic[] = [];
  const vm: PresentVm = {
    pair,
    desired,
    recorded,
    found,
    name: found.live?.name ?? recorded?.name ?? desired.name,
    comparison: compareVm(desired, recorded, found.live, context, diagnostics),
    dataVolumeId: findDataVolume(recorded, found.live, context),
    isNew: recorded?.building === true || found.adopted === "interrupted",
    context,
  };
  const isRequested = context.replace.has(desired.address);
  const hasFailed = found.live?.phase === "failed";
  if (hasFailed && !vm.isNew && !isRequested) diagnostics.push(failedNote(pair, found.live));
  const isReplaced =
    isRequested || (hasFailed && vm.isNew) || vm.comparison.fields.some((field) => field.forces === "replace");
  const facts = factsOf(vm);
  const outcome = isReplaced
    ? replaceVm(vm, hasFailed && vm.isNew && !isRequested ? "failed" : reasonFor(vm, isRequested))
    : keepVm(vm, facts);
  return { ...facts, ...outcome, diagnostics: [...diagnostics, ...outcome.diagnostics] };
}

const reasonFor = ({ pair, found, comparison, desired, context }: PresentVm, isRequested: boolean): Reason =>
  updateReason({
    isRequested,
    adopted: found.adopted,
    hasFields: comparison.reasons.length > 0,
    isDrift: comparison.drifted,
    left: context.leftOpen(desired),
    otherwise: pair.movedFrom === undefined ? "interrupted" : "moved",
  });

function factsOf(vm: PresentVm) {
  const { desired, recorded, found, comparison, dataVolumeId, isNew } = vm;
  const { live, adopted } = found;
  const { fields, imageId, verify } = comparison;
  const hasWork = fields.length > 0 || verify !== undefined;
  return {
    live,
    imageId,
    alike: leftToOthers(desired).length === 0 ? undefined : shownAlike(desired, live, vm.context),
    dataVolumeId,
    disks: disksAt(vm),
    dataVolumeOff: dataVolumeOf(vm) === "off",
    adopts: adopted !== undefined,
    unsettled: isChanging(live) && (isNew || hasWork || isPowerOpen(desired, recorded)),
    verify,
  };
}

/** Not recorded once the data volume is known: it alone belongs to the VM. */
function disksAt({ recorded, dataVolumeId, found: { live }, context }: PresentVm): readonly Disk[] | undefined {
  if (dataVolumeId !== undefined) return undefined;
  if (live?.volumes === undefined) return recorded?.disks;
  return tellDisks(live.volumes, (id) => context.addressOf(identity("volume", id)) !== undefined).disks;
}

/** What every change of an existing VM says. */
const changeOf = ({ pair, desired, found, name, comparison, context }: PresentVm, reason: Reason) => ({
  address: desired.address,
  kind: "vm" as const,
  name,
  reason,
  because: why(
    reason,
    name,
    comparison.reasons,
    found.live,
    comparison.verify,
    context.leftOpen(desired),
    desired.inherited,
  ),
  movedFrom: pair.movedFrom,
  source: desired.source,
});

function replaceVm(vm: PresentVm, reason: Reason): Replaced<"vm"> & Pick<VmFacts, "departure" | "diagnostics"> {
  const { pair, desired, recorded, found, name, comparison, dataVolumeId, isNew, context } = vm;
  const { live, id } = found;
  const young = isYoung(live, isNew);
  const said = lossesOfRemoval({ id, name, live, recorded, desired, dataVolumeId, young }, pair, context);
  return {
    action: "replace",
    id,
    desired,
    change: {
      ...changeOf(vm, reason),
      action: "replace",
      id,
      // The new VM is created with the new values: each field's verb is `replace`, even where the service could change
      // the field in place.
      fields: [...movedField(pair), ...comparison.fields.map((field) => ({ ...field, verb: "replace" }))],
      losses: said.losses,
      leaves: said.leaves,
    },
    departure: said.departure,
    diagnostics: [...checkCatalogue(desired, context).diagnostics, ...said.notes],
  };
}

function keepVm(
  vm: PresentVm,
  { unsettled, dataVolumeOff }: Pick<VmFacts, "unsettled" | "dataVolumeOff">,
): (Unchanged | Updated<"vm"> | Replaced<"vm">) & Pick<VmFacts, "diagnostics"> {
  const { pair, desired, recorded, found, name, comparison, dataVolumeId, context } = vm;
  const { live, id, adopted } = found;
  const { fields, verify } = comparison;
  const diagnostics: Diagnostic[] = [];
  const isUnknown = dataVolumeOf(vm) === "unknown";
  if (isUnknown) {
    const how = recorded?.dataVolumeMoving === "attaching" ? "attached to" : "detached from";
    diagnostics.push(moveUnknown(pair, `its data volume ${dataVolumeId}`, how, id));
  }
  checkSize(fields, desired, dataVolumeId, live, diagnostics);
  if (!isUnknown) diagnostics.push(...dataVolumeElsewhere(vm, dataVolumeOff === true));
  const isSent = (field: string): boolean => fields.some((one) => one.field === field);
  if (fields.length > 0) diagnostics.push(...checkCatalogue(desired, context, isSent).diagnostics);
  const acts =
    fields.length > 0 ||
    verify !== undefined ||
    unsettled === true ||
    dataVolumeOff === true ||
    pair.movedFrom !== undefined;
  return {
    ...kept<"vm">(adopted !== undefined ? "import" : acts ? "update" : undefined, id, desired, () => ({
      ...changeOf(vm, reasonFor(vm, false)),
      fields: [...movedField(pair), ...fields],
      losses: lossesOfUpdate(fields, { id, name, sizeGb: recorded?.rootSizeGb }),
    })),
    diagnostics,
  };
}

const isChanging = (live: LiveVm | undefined): boolean => live?.phase === "changing" && live.status !== undefined;

function dataVolumeElsewhere(vm: PresentVm, isOff: boolean): Diagnostic[] {
  const { desired, found, comparison, dataVolumeId: id, context } = vm;
  if (id === undefined || isCarriedBy(found.id, id, undefined, context) === true) return [];
  const becomes = isGrown(comparison) ? "grown" : isOff ? "attached to it again" : undefined;
  // A volume that has an address by now is told of there.
  if (becomes === undefined && context.addressOf(identity("volume", id)) !== undefined) return [];
  return dataVolumeAway(desired, found.id, id, sight(context.live, "volume", id), becomes);
}

const dataVolumeOf = (vm: PresentVm) => dataVolumeAt({ ...vm, isGrown: isGrown(vm.comparison) });

const isGrown = ({ fields }: VmComparison): boolean => fields.some(({ field }) => field === "size");

/**
 * `off`: an interrupted run took the data volume off to grow it, and nothing shows it on the VM again, or it is to be
 * grown and hangs on no VM. One that is gone is put nowhere. `unknown`: the answer to what moved it last was lost, and
 * nothing shows where it is.
 */
function dataVolumeAt({
  recorded,
  found,
  isGrown,
  dataVolumeId: id,
  context,
}: Pick<PresentVm, "recorded" | "found" | "dataVolumeId" | "context"> & { readonly isGrown: boolean }):
  | "on"
  | "off"
  | "unknown" {
  if (recorded === undefined || id === undefined) return "on";
  const carried = isCarriedBy(found.id, id, undefined, context);
  const volume = sight(context.live, "volume", id);
  if (recorded.dataVolumeMoving === undefined) {
    if (volume.seen === "gone") return "on";
    const isFree = volume.seen === "yes" && volume.value.attachedTo === null && isGrown;
    return (recorded.dataVolumeDetached === true || isFree) && carried !== true ? "off" : "on";
  }
  const known = carried ?? isCarriedBy(found.id, id, valueSeen(volume), context);
  return known === undefined ? "unknown" : known ? "on" : "off";
}

/**
 * Whether a VM in transition runs is compared when it has arrived; that it is not known to be as wanted is reason enough
 * to wait. A VM that is to be stopped may have been started by a rebuild that nobody saw the end of.
 */
function isPowerOpen(desired: DesiredVm, recorded: RecordedVm | undefined): boolean {
  const power = powerDeclared(desired);
  return power !== undefined && (recorded?.power !== power || power === "stopped");
}

const lossesOfUpdate = (
  fields: readonly FieldChange[],
  root: { readonly id: string; readonly name: string; readonly sizeGb?: number },
): readonly Loss[] =>
  fields.some((field) => field.verb === "rebuild") ? [rootDiskLoss(root, "is wiped by the rebuild")] : [];

function why(
  reason: Reason,
  name: string,
  fields: readonly FieldChange[],
  live: LiveVm | undefined,
  verify: VerifyDecision | undefined,
  left: LeftOpen | undefined,
  inherited: Inherited | undefined,
): string {
  if (reason === "failed") return `VM ${name} never finished building (${live?.status ?? "failed"})`;
  if (reason === "adopted") return `--adopt takes over the VM named ${name}`;
  if (reason === "interrupted" && verify === "wait")
    return "a resize waits in VERIFY_RESIZE, and nothing shows whether it leads to the flavor that is declared";
  if (reason === "interrupted" && verify !== undefined) return `its resize waits in VERIFY_RESIZE to be ${verify}ed`;
  return explain(reason, fields, left, inherited);
}

/**
 * What differs about one volume, where it hangs included. Needs to know which VMs the same plan deletes or replaces,
 * because a volume on such a VM comes off first and goes onto the new one.
 */

import { canonicalName, isOtherName } from "../../core/canonical/names";
import { type FieldChange, fieldChange, type Reason } from "../../core/diff/changes";
import type { DiffContext } from "../../core/diff/context";
import {
  type Acted,
  type ChangeTo,
  creation,
  creationReason,
  type DiffOutcome,
  type Facts,
  forgettingReason,
  forgotten,
  kept,
  madeByIntent,
  removalReason,
  unchanged,
} from "../../core/diff/difference";
import { explain, type LeftOpen } from "../../core/diff/explain";
import { find, type Known } from "../../core/diff/find";
import { goneNote, letGo, unsaidState, type Vanished } from "../../core/diff/findings";
import type { DesiredVolume, Inherited, Reference } from "../../core/model/desired";
import type { Diagnostic } from "../../core/model/diagnostic";
import { shownNameOf } from "../../core/model/disks";
import { volumeFields } from "../../core/model/fields";
import { identity } from "../../core/model/identity";
import { findSeen, type LiveVolume, sight } from "../../core/model/live";
import { type Loss, volumeLabel, volumeLoss } from "../../core/model/loss";
import type { Orphan, RecordedVolume, State } from "../../core/model/recorded";
import { deepEqual } from "../../core/text/deep-equal";
import { type HostFates, placeOnHost, updateOf, wantedHost } from "../hosts";
import { type Becomes, consequences, type Target, type Whereabouts } from "../placement";
import { hostByName, hostThatIsNone, shrinkRefused, type VolumePair, volumeNotes } from "./findings";
import { isCarriedBy, mayBeStopped, openMoves } from "./open-moves";

interface VolumeFacts extends Facts<"volume"> {
  /** The id of the VM that the volume hangs on now; `undefined`: on none, or nobody knows. */
  readonly attachedTo?: string;
  /** The VM that the volume shall hang on; `undefined`: on none. */
  readonly wantedOn?: Target;
  /** The id of the VM that the volume must come off. */
  readonly detachFrom?: string;
  /** The VM that the volume must be attached to. */
  readonly attachTo?: Target;
  /** The file does not say where the volume hangs, or leaves that to others. */
  readonly placeUnsaid?: boolean;
  /** A VM that no record managed when an interrupted run stopped it for this volume and did not start it again. */
  readonly stoppedVm?: string;
  /** Volumes that it replaced, and that an interrupted run left alive. */
  readonly replaced?: readonly ReplacedVolume[];
}

export interface ReplacedVolume {
  readonly orphan: Orphan;
  /** The VM that it still hangs on. */
  readonly on?: { readonly id: string; readonly goes: boolean };
}

export type VolumeDifference = VolumeFacts & DiffOutcome<"volume">;

export function diffVolume(pair: VolumePair, context: DiffContext, state: State, fates: HostFates): VolumeDifference {
  const { address, desired, recorded } = pair;
  const stoppedVm = stillStopped(recorded, context, fates);
  const base: VolumeFacts = { kind: "volume", address, desired, recorded, stoppedVm, diagnostics: [] };
  const found = find(pair, "volume", context);
  if (found.how === "error") return { ...base, ...unchanged, diagnostics: [found.diagnostic] };
  if (found.how === "known" && found.live?.unsaid === true && !pair.forget && recorded?.deleting !== true)
    return { ...base, ...unchanged, diagnostics: [unsaidState(pair, found.live)] };
  if (desired === undefined) {
    // The block is gone from the file, and an interrupted run may have created the volume. One that it was to replace was
    // written down as an orphan before.
    const made = found.how === "known" && found.adopted === "interrupted" ? found : undefined;
    const own = made === undefined ? recorded : madeByIntent(pair, made, { flush: { via: "ask" } });
    if (own === undefined) return { ...base, ...unchanged };
    if (found.how === "known") {
      const removal = removalOfVolume(pair, own, found.live, context, fates, state);
      return { ...base, adopts: made !== undefined, ...removal };
    }
    return {
      ...base,
      action: "forget",
      recorded: own,
      change: forgotten(own, forgettingReason(pair, found.gone)),
    };
  }
  const target = wantedHost(desired.attachTo, state, fates);
  if (found.how === "absent") {
    const replaced = stillToDelete(pair, undefined, target, state, context, fates);
    return {
      ...base,
      recorded: undefined,
      wantedOn: target,
      attachTo: target,
      replaced,
      action: "create",
      desired,
      change: { ...createChange(desired, found.gone), losses: lossesOfReplaced(replaced) },
      diagnostics:
        found.gone === undefined ? [] : [goneNote(pair, found.gone, "this plan makes an empty one in its place")],
    };
  }
  // An interrupted replacement: the new volume is found, and the old one was written down as an orphan before.
  const own = found.adopted === "interrupted" ? undefined : recorded;
  return {
    kind: "volume",
    address,
    desired,
    recorded: own,
    stoppedVm,
    ...updateOfVolume(pair, desired, own, found, target, context, fates, state),
  };
}

function createChange(desired: DesiredVolume, gone: Vanished | undefined): ChangeTo<"create"> {
  const fields: FieldChange[] = [
    fieldChange({ ...volumeFields.name, effect: "in_place" }, undefined, desired.name, "create"),
    fieldChange(volumeFields.sizeGb, undefined, desired.sizeGb, "create"),
  ];
  if (desired.attachTo !== undefined)
    fields.push(fieldChange(volumeFields.attachTo, undefined, referenceLabel(desired.attachTo)));
  return creation(desired, fields, creationReason(desired, gone));
}

function removalOfVolume(
  pair: VolumePair,
  recorded: RecordedVolume,
  live: LiveVolume | undefined,
  context: DiffContext,
  fates: HostFates,
  state: State,
): Acted<VolumeFacts, "volume", "delete" | "forget"> {
  const attachedTo = hangsOn(recorded, live, context);
  const diagnostics = pair.forget
    ? []
    : [
        ...openMoves(pair, recorded, live, context),
        ...hostByName(pair, live, context),
        ...hostThatIsNone(pair, live, context),
      ];
  const seen = { recorded, live, attachedTo, diagnostics };
  if (pair.forget) {
    const attachTo = attachedTo === undefined ? goesBack(recorded, context, fates) : undefined;
    return { ...seen, attachTo, action: "forget", change: forgotten(recorded, { reason: "let_go", because: letGo }) };
  }
  const { id } = recorded;
  const name = live?.name ?? recorded.name ?? id;
  const sizeGb = live?.sizeGb ?? recorded.sizeGb;
  const { reason, because } = removalReason(context.options.destroy === true);
  const change = { address: pair.address, kind: "volume" as const, name, id, fields: [], reason };
  // The VM's delete takes the volume off without a flush to confirm: the data of this volume is not wanted any more.
  const detachFrom = attachedTo === undefined || fates.deleted.has(attachedTo) ? undefined : attachedTo;
  if (context.can.deletesVolumes) {
    const lost = { id, name, sizeGb };
    const on = attachedTo === undefined ? undefined : { id: attachedTo };
    const replaced = stillToDelete(pair, id, on, state, context, fates);
    const own = volumeLoss(lost, `volume ${volumeLabel(lost)} is deleted with its data`);
    const losses = [own, ...lossesOfReplaced(replaced)];
    return {
      ...{ ...seen, detachFrom, replaced, id, action: "delete" },
      change: { ...change, action: "delete", because, losses },
    };
  }
  return {
    ...seen,
    detachFrom,
    action: "forget",
    change: {
      ...change,
      action: "forget",
      because: `${because}; this service cannot delete volumes, so it is left as an orphan`,
      leaves: [`volume ${name}${sizeGb === undefined ? "" : ` of ${sizeGb} GB`} stays behind as an orphan`],
      losses: [],
    },
  };
}

/** A VM that is known to be gone carries nothing, whatever the record says. */
export function hangsOn(
  recorded: RecordedVolume | undefined,
  live: LiveVolume | undefined,
  context: DiffContext,
): string | undefined {
  if (live?.attachedTo !== undefined) return live.attachedTo ?? undefined;
  if (recorded === undefined) return undefined;
  // After an attach or a detach whose answer was lost, the VM's own record tells where the volume is.
  const { id, attachedTo, attaching, detaching } = recorded;
  if (attaching !== undefined && isCarriedBy(attaching, id, live, context) === true) return attaching;
  if (attachedTo === undefined || sight(context.live, "vm", attachedTo).seen === "gone") return undefined;
  return detaching === attachedTo && isCarriedBy(attachedTo, id, live, context) === false ? undefined : attachedTo;
}

/** A run took the volume off to grow it, and ended before it was back on its VM. */
function goesBack(
  recorded: RecordedVolume | undefined,
  { live, addressOf }: DiffContext,
  { deleted }: HostFates,
): Target | undefined {
  const id = recorded?.goesBackTo;
  if (id === undefined || deleted.has(id) || sight(live, "vm", id).seen === "gone") return undefined;
  const address = addressOf(identity("vm", id));
  return address === undefined ? { id } : { address, id };
}

/** A VM that was taken over since is started as well, unless the file says itself whether it runs. */
function stillStopped(
  recorded: RecordedVolume | undefined,
  { live, addressOf, powerSaid }: DiffContext,
  { deleted }: HostFates,
): string | undefined {
  const id = recorded?.stoppedVm;
  if (id === undefined || deleted.has(id)) return undefined;
  const managed = addressOf(identity("vm", id));
  if (managed !== undefined && powerSaid.has(managed)) return undefined;
  return mayBeStopped(id, live) ? id : undefined;
}

/** What changes about a volume, one row for each part of the answer; placementOf has decided where the volume goes. */
function updateOfVolume(
  pair: VolumePair,
  desired: DesiredVolume,
  recorded: RecordedVolume | undefined,
  found: Known<LiveVolume>,
  wished: Target | undefined,
  context: DiffContext,
  fates: HostFates,
  state: State,
): Acted<VolumeFacts, "volume", "none" | "update" | "import" | "replace"> {
  const { live, id, adopted } = found;
  const stoppedVm = stillStopped(recorded, context, fates);
  const values = compareValues(desired, recorded, live);
  const attachedTo = hangsOn(recorded, live, context);
  const isIgnored = desired.lifecycle.ignoreChanges.includes("attach_to");
  const placeUnsaid = wished === undefined || isIgnored;
  const back = placeUnsaid && attachedTo === undefined ? goesBack(recorded, context, fates) : undefined;
  const hanging = {
    hostKind: "vm",
    on: attachedTo,
    recordedOn: recorded?.attachedTo,
    isOurs: attachedTo !== undefined && [recorded?.attachedTo, recorded?.attaching].includes(attachedTo),
    target: back ?? wished,
    isIgnored: isIgnored && back === undefined,
  } as const;
  const place = placeOnHost(volumeFields.attachTo, hanging, recorded, context, fates);
  const { whereabouts, becomes, target, verb } = place;
  const { host } = whereabouts;
  const fields = place.field === undefined ? values.fields : [...values.fields, place.field];
  const isDrift = !values.isIntended && !place.isIntended;
  const replaced = stillToDelete(pair, id, target, state, context, fates);
  const { replaces, left, reason, action, changed } = updateOf(
    pair,
    desired,
    fields,
    { adopted, isDrift, isLeft: replaced.length > 0 || stoppedVm !== undefined },
    context,
  );
  const detachFrom = (replaces ? host?.goes !== true : verb !== undefined) ? host?.id : undefined;
  return {
    live,
    attachedTo: host?.id,
    wantedOn: target,
    adopts: adopted !== undefined,
    detachFrom,
    attachTo: replaces || verb !== undefined ? target : undefined,
    placeUnsaid,
    replaced,
    ...kept<"volume">(action, id, desired, () => ({
      address: pair.address,
      kind: "volume",
      name: values.name ?? desired.name,
      fields: changed,
      reason,
      because:
        reason === "interrupted" && fields.length === 0 && replaced.length > 0
          ? `the volume it replaced (${replaced.map(({ orphan }) => orphan.name).join(", ")}) is still to delete`
          : reason === "interrupted" && fields.length === 0 && stoppedVm !== undefined
            ? `VM ${context.addressOf(identity("vm", stoppedVm)) ?? stoppedVm} was stopped for its flush, and is still to start`
            : why(reason, fields, becomes, whereabouts, left, desired.inherited),
      losses: [
        ...(replaces ? [replacementLoss({ id, name: values.name, sizeGb: values.sizeGb }, context)] : []),
        ...lossesOfReplaced(replaced),
      ],
      movedFrom: pair.movedFrom,
      source: desired.source,
    })),
    diagnostics: [
      ...values.diagnostics,
      ...volumeNotes(pair, recorded, found, context),
      ...(detachFrom !== undefined || values.fields.length > 0 ? hostThatIsNone(pair, live, context) : []),
    ],
  };
}

/**
 * Volumes that a run replaced and was cut off before it deleted them. One that somebody has attached elsewhere since
 * stays an orphan, and so does one of which nobody sees where it hangs, whose id shows another name or size by now, or
 * whose address is protected.
 */
function stillToDelete(
  { address, movedFrom, desired, recorded }: VolumePair,
  id: string | undefined,
  target: Target | undefined,
  { orphans }: State,
  { can, live }: DiffContext,
  { deleted }: HostFates,
): ReplacedVolume[] {
  const isProtected = desired?.lifecycle.preventDestroy === true || recorded?.preventDestroy === true;
  if (isProtected || !can.deletesVolumes) return [];
  return [...orphans.values()].flatMap((orphan): ReplacedVolume[] => {
    const { kind, replacedBy } = orphan;
    if (kind !== "volume" || orphan.id === id) return [];
    if (replacedBy === undefined || ![address, movedFrom].includes(replacedBy)) return [];
    const seen = findSeen(live, "volume", orphan.id);
    const on = seen?.attachedTo;
    if (on === undefined || isOtherName(seen?.name, shownNameOf(orphan))) return [];
    if ((seen?.sizeGb ?? orphan.sizeGb) !== (orphan.sizeGb ?? seen?.sizeGb)) return [];
    if (on === null) return [{ orphan }];
    const goes = deleted.has(on);
    return goes || on === target?.id ? [{ orphan, on: { id: on, goes } }] : [];
  });
}

const lossesOfReplaced = (replaced: readonly ReplacedVolume[]): Loss[] =>
  replaced.map(({ orphan }) =>
    volumeLoss(orphan, `volume ${volumeLabel(orphan)}, which it replaced, is deleted with its data`),
  );

/** It was taken over when nothing showed its name, and nobody has written it: the key says what it is called here. */
export const isLabel = ({ nameUnsaid }: DesiredVolume, recorded: Pick<RecordedVolume, "name"> | undefined): boolean =>
  nameUnsaid === true && recorded !== undefined && recorded.name === undefined;

/** The record keeps the command of the VM that the volume leaves until it is off, however often that fails. */
export const isFlushHeld = ({ action, detachFrom, recorded, desired }: VolumeDifference): boolean =>
  action === "update" &&
  detachFrom !== undefined &&
  recorded?.flush.via === "command" &&
  !deepEqual(recorded.flush, desired?.flush);

interface ComparedValues {
  /** Both as the service shows them, or else as the record remembers them. */
  readonly name?: string;
  readonly sizeGb?: number;
  readonly fields: readonly FieldChange[];
  /** True: the file changed. False: the service did. */
  readonly isIntended: boolean;
  readonly diagnostics: readonly Diagnostic[];
}

/** Some services write names in letters of their own. Only a file that changed means other letters. */
const isSameName = (
  name: string,
  desired: DesiredVolume,
  recorded: Pick<RecordedVolume, "name"> | undefined,
): boolean =>
  name === desired.name ||
  (canonicalName(name) === canonicalName(desired.name) && (recorded?.name ?? desired.name) === desired.name);

/** The name and the size. */
function compareValues(
  desired: DesiredVolume,
  recorded: RecordedVolume | undefined,
  live: LiveVolume | undefined,
): ComparedValues {
  const ignored = new Set(desired.lifecycle.ignoreChanges);
  const fields: FieldChange[] = [];
  const diagnostics: Diagnostic[] = [];
  let isIntended = false;
  const name = live?.name ?? recorded?.name;
  if (
    name !== undefined &&
    !isSameName(name, desired, recorded) &&
    !ignored.has("name") &&
    !isLabel(desired, recorded)
  ) {
    fields.push(fieldChange(volumeFields.name, name, desired.name));
    if (recorded?.name !== desired.name) isIntended = true;
  }
  const sizeGb = live?.sizeGb ?? recorded?.sizeGb;
  if (sizeGb !== undefined && sizeGb !== desired.sizeGb && !ignored.has("size")) {
    fields.push(fieldChange(volumeFields.sizeGb, sizeGb, desired.sizeGb));
    if (recorded?.sizeGb !== desired.sizeGb) isIntended = true;
    if (sizeGb > desired.sizeGb)
      diagnostics.push(shrinkRefused(desired, sizeGb, "; for a smaller one declare a new volume and copy the data"));
  }
  return { name, sizeGb, fields, isIntended, diagnostics };
}

/** Where only the attachment changes, the reason is what happens to the VM. */
function why(
  reason: Reason,
  fields: readonly FieldChange[],
  becomes: Becomes,
  { host, target }: Whereabouts,
  left: LeftOpen | undefined,
  inherited: Inherited | undefined,
): string {
  const { cause, verb, isAsked } = consequences[becomes];
  if (cause !== undefined && fields.length === 1)
    return cause === "vm_renewed"
      ? `${target?.address} gets a new VM`
      : `the VM it is attached to, ${host?.address ?? host?.id}, is deleted`;
  const isUnasked = verb !== undefined && !isAsked;
  return explain(reason, isUnasked ? fields.filter(({ field }) => field !== "attach_to") : fields, left, inherited);
}

const replacementLoss = (
  lost: { readonly id: string; readonly name?: string; readonly sizeGb?: number },
  context: DiffContext,
): Loss =>
  volumeLoss(
    lost,
    `volume ${volumeLabel(lost)} is replaced by an empty one; its data is ${context.can.deletesVolumes ? "deleted" : "left on the old volume"}`,
  );

const referenceLabel = (reference: Reference): string => ("address" in reference ? reference.address : reference.id);

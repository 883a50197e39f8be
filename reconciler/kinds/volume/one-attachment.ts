/** The attachment of a volume as a resource of its own: the engine's volume, of which only the place is managed. */

import { closedWith, type DesiredVolume, nothingDesired } from "../../core/model/desired";
import { type Debt, debtsIn, isSameCommand, withDebt } from "../../core/model/guest";
import { allOfKind, ofKind } from "../../core/model/kinds";
import { findSeen, type Live, type LiveVolume, notSeen, sight } from "../../core/model/live";
import { valueIn } from "../../core/model/outcome";
import type { RecordedVolume, Scope } from "../../core/model/recorded";
import { deepEqual } from "../../core/text/deep-equal";
import { itemAt } from "../../core/text/invariant";
import { fieldsIn } from "../../core/text/objects";
import { holding } from "../../one/exclusion";
import { createFieldHandler, type FieldResource, fieldThing, keptField } from "../../one/field-of";
import { cannotBeLookedAt, keptUnseen, notFound, notProvenGone } from "../../one/guards";
import {
  failure,
  type Handler,
  type HandlerContext,
  HandlerFailure,
  type HandlerService,
  holdsUnknown,
  isUnknown,
  type Kept,
  PartialFailure,
  type Property,
  type PropertyChange,
  type Props,
} from "../../one/handler";
import { notePutOn, noteTakenOff, saidOf } from "../../one/made-here";
import { type NamedId, refuseUnknownIds } from "../../one/named-ids";
import { checkInputs, desiredOf, type Written } from "../../one/one-desired";
import {
  carryOut,
  changeOf,
  forgetStopOver,
  type HowFresh,
  type PlannedOne,
  plain,
  planAgain,
  planAsObserved,
  type RanOne,
  stateOf,
} from "../../one/one-run";
import { claimTaken, newOwner } from "../../one/ownership";
import { recordedKey, rememberedIn } from "../../one/shape";
import { flush, flushConfirmed, hostOf, linesFor, owedCommand } from "../../one/shared-properties";
import { isVolumeChanged, type Told, toldOf, untold } from "../../one/stands-on";
import { noteRecorded, noteShown } from "../../one/witnesses";
import { isCarriedBy } from "./open-moves";

const address = "volume.attachment";

const inputs: Readonly<Record<string, Property>> = {
  vmId: { type: "string", required: true, replaces: true, description: "The id of the VM." },
  volumeId: { type: "string", required: true, replaces: true, description: "The id of the volume." },
  flush,
  flushConfirmed,
  afterAttach: owedCommand(
    "A command that is owed after the volume was attached or grew, or the VM was rebuilt, until it ended with 0; an update that follows runs what is still owed.",
  ),
};

const write = (props: Props): Written => ({
  kind: "volume",
  lines: [
    { property: "", field: "name", value: "attachment" },
    { property: "", field: "size", value: 1 },
    ...linesFor(props, ["flush", "afterAttach"]),
  ],
});

// `write` writes one volume and nothing else.
const wishOf = (props: Props): DesiredVolume =>
  itemAt(allOfKind(desiredOf(write(props)).desired.resources, "volume"), 0);

/** What the program wanted before, and the commands that are owed since. */
type Before = Partial<Pick<DesiredVolume, "afterAttach">> & {
  readonly owes?: readonly Debt[];
  readonly scope?: Scope;
  readonly told?: Told;
};

const beforeOf = (props: Props): Before => {
  const remembered = rememberedIn(props);
  const afterAttach = props["afterAttach"] === undefined ? undefined : wishOf(props).afterAttach;
  return { ...remembered, afterAttach, owes: debtsIn(remembered.record) };
};

const idOf = (props: Props): string => `${String(props["vmId"])}/${String(props["volumeId"])}`;

interface AttachmentIds {
  readonly vmId: string;
  readonly volumeId: string;
}

const attachmentIds = (props: Props): AttachmentIds => ({
  vmId: String(props["vmId"]),
  volumeId: String(props["volumeId"]),
});

const namedIn = ({ vmId, volumeId }: AttachmentIds): readonly NamedId[] => [
  { kind: "vm", id: vmId },
  { kind: "volume", id: volumeId },
];

async function plan(
  context: HandlerContext,
  service: Awaited<ReturnType<HandlerContext["service"]>>,
  ids: AttachmentIds,
  { flush: policy, afterAttach }: Pick<DesiredVolume, "flush" | "afterAttach">,
  attach: boolean,
  { scope, afterAttach: formerCommand, owes }: Before = {},
  look: HowFresh = "fresh",
): Promise<PlannedOne> {
  const stoppedVm = context.notes?.findStopped();
  const record: RecordedVolume = {
    kind: "volume",
    address,
    id: ids.volumeId,
    attachedTo: attach ? undefined : ids.vmId,
    stoppedVm,
    flush: policy,
    afterAttach: formerCommand,
    owes,
    preventDestroy: false,
  };
  const volume: DesiredVolume = {
    kind: "volume",
    address,
    name: ids.volumeId,
    sizeGb: 0,
    attachTo: attach ? { id: ids.vmId } : undefined,
    flush: policy,
    afterAttach: attach ? afterAttach : undefined,
    lifecycle: { preventDestroy: false, ignoreChanges: ["name", "size"] },
    source: { file: "properties", line: 1 },
  };
  // What the record names itself is no other's to remember.
  const hosts = stoppedVm === ids.vmId ? [] : [hostOf(ids.vmId)];
  const desired = closedWith(nothingDesired, { resources: [volume] });
  const state = stateOf(address, { record, scope }, hosts);
  const shown = look === "forRemoval" ? await shownByHost(service, ids, context.signal) : undefined;
  if (shown !== undefined) {
    noteRecorded(service, state);
    noteShown(service, shown);
    return planAgain(service, { live: shown, findings: [], state }, desired);
  }
  const planned = await planAsObserved({ service, signal: context.signal }, desired, state, look);
  const seen = findSeen(planned.live, "volume", ids.volumeId);
  if (volume.afterAttach === undefined || seen === undefined) return planned;
  // The command gets the size that the volume has by now.
  const sized = { ...record, sizeGb: seen.sizeGb };
  return planAgain(service, { ...planned, state: stateOf(address, { record: sized, scope }, hosts) }, desired);
}

/**
 * What a list of VMs shows, where it shows that the volume hangs on the VM, and is as new as what is looked at directly
 * before a delete: one list tells of many attachments that go, so that not each volume has to be read.
 */
async function shownByHost(
  { client }: HandlerService,
  { vmId, volumeId }: AttachmentIds,
  signal: AbortSignal,
): Promise<Live | undefined> {
  if (client.can.seesVms !== "list") return undefined;
  const listed = await client.listVms({ signal, makesSure: true });
  const vm = valueIn(listed)?.find(({ id }) => id === vmId);
  if (vm?.volumes?.some(({ id }) => id === volumeId) !== true) return undefined;
  const volume: LiveVolume = { kind: "volume", id: volumeId, failed: false, attachedTo: vmId };
  const { of } = notSeen;
  return {
    ...notSeen,
    of: {
      ...of,
      vm: { ...of.vm, byId: new Map([[vmId, { seen: "yes", value: vm }]]) },
      volume: { ...of.volume, byId: new Map([[volumeId, { seen: "yes", value: volume }]]) },
    },
  };
}

/** The VM that a volume hangs on; null: none; `undefined`: the service does not say. */
const hostIn = (live: Live, volumeId: string): string | null | undefined =>
  findSeen(live, "volume", volumeId)?.attachedTo;

/** Whether the volume hangs on the VM, as the volume's own record or else the VM's shows; `undefined`: neither does. */
const isAttached = (live: Live, { vmId, volumeId }: AttachmentIds): boolean | undefined =>
  isCarriedBy(vmId, volumeId, findSeen(live, "volume", volumeId), { live });

/** Messages name the volume by its id: its name belongs to another resource, for which it may be a secret. */
function byId({ live }: PlannedOne, volumeId: string): (text: string) => string {
  const name = findSeen(live, "volume", volumeId)?.name;
  return (text) => (name === undefined ? text : text.replaceAll(`volume ${name}`, `volume ${volumeId}`));
}

/** Throws where the volume is not attached in the end; a command that is still owed is among the problems. */
async function planAndCarryOut(
  context: HandlerContext,
  service: HandlerService,
  planned: PlannedOne,
  ids: AttachmentIds,
  flushConfirmed: boolean,
): Promise<RanOne> {
  const named = byId(planned, ids.volumeId);
  const log: HandlerContext["log"] = (severity, message) => context.log(severity, named(message));
  try {
    const ran = await carryOut({ ...context, log }, service, planned, flushConfirmed);
    const problems = ran.problems.map((problem) => ({ ...problem, summary: named(problem.summary) }));
    if (problems.length > 0 && (ran.record === undefined || debtsIn(ran.record).length === 0 || !isOnVm(ran, ids.vmId)))
      throw new HandlerFailure(problems);
    return { ...ran, problems };
  } catch (error) {
    if (error instanceof HandlerFailure) error.message = named(error.message);
    throw error;
  }
}

const isOnVm = ({ record }: RanOne, vmId: string): boolean => ofKind(record, "volume")?.attachedTo === vmId;

/** What is kept; a command that failed is a problem of an attachment that is there. */
function keep(
  service: HandlerService,
  id: string,
  props: Props,
  owner: string,
  { record, problems, told }: Pick<RanOne, "record" | "problems" | "told">,
): Kept {
  const kept = keptField(service, id, props, owner, {
    record: debtsIn(record).length === 0 ? undefined : record,
    told: wishOf(props).afterAttach === undefined ? undefined : told,
  });
  if (problems.length > 0) throw new PartialFailure(kept, problems);
  return kept;
}

const hasStopped = ({ notes }: HandlerContext): boolean => notes?.findStopped() !== undefined;

const isAskedAgain = ({ afterAttach: former }: Before, { afterAttach: wanted }: DesiredVolume): boolean =>
  wanted?.again === "when_changed" && former !== undefined && !isSameCommand(former, wanted);

const owed = (service: HandlerService, reason: Debt["reason"]): Debt => ({
  command: "after_attach",
  reason,
  since: service.clock.instant(),
});

const exclusively = <T>(service: HandlerService, ids: AttachmentIds, call: () => Promise<T>) =>
  holding(service, `volume:${ids.volumeId}`, () => holding(service, `vm:${ids.vmId}`, call));

const flushMissing = ({ volumeId }: AttachmentIds): HandlerFailure =>
  failure("consent/flush", `volume ${volumeId} has to be detached, and nothing confirms that it is flushed`);

const attachmentTakenOver = ({ vmId, volumeId }: AttachmentIds): string =>
  `volume ${volumeId} is attached to ${vmId} already: nothing is attached, and it is managed here from now on. Where another resource of this program goes that named the same two, the two are one attachment, which stays; aliases: [{ name: "<its former name>" }] keeps it the same resource`;

const attachmentReplaced = ({ vmId, volumeId }: AttachmentIds): string =>
  `volume ${volumeId} is attached to ${vmId} already: where that is this attachment, which is being replaced, it is taken off first and attached again (by the option deleteBeforeReplace, which the classes of reconcile-cloud/pulumi give by themselves); otherwise it stays as it is, and is managed here from now on`;

/** What is said of its flush is said of this VM's guest: it is not taken off another VM, nor is its volume to grow there. */
function refuseOtherHost(live: Live, { vmId, volumeId }: AttachmentIds): void {
  const host = hostIn(live, volumeId);
  if (typeof host === "string" && host !== vmId)
    throw failure(
      "plan/attached-elsewhere",
      `volume ${volumeId} is attached to ${host}`,
      "remove that attachment first",
    );
}

const asksForFlush = (props: Props): boolean =>
  props["flushConfirmed"] !== true && (fieldsIn(props["flush"])["via"] ?? "ask") === "ask";

const attachment: FieldResource<AttachmentIds> = {
  noun: "attachment",
  written: "VM-ID/VOLUME-ID",
  type: "VolumeAttachment",
  description: "A volume attached to a VM. Detaching it needs a confirmed flush.",
  inputs,
  outputs: {},
  stables: ["vmId", "volumeId"],

  ids: (vmId, volumeId) => ({ vmId, volumeId }),
  said: (ids) => ({ ...ids }),
  names: { vmId: "vm", volumeId: "volume" },
  exclusively,
  check: (raw) => checkInputs(inputs, raw, write),

  changes(before, wanted, { imported }) {
    const changes: PropertyChange[] = [];
    for (const [property, { replaces, behaviour }] of Object.entries(inputs)) {
      if (behaviour === true && imported === true && before[property] === undefined) continue;
      if (holdsUnknown(wanted[property]) || !deepEqual(before[property], wanted[property]))
        changes.push({ property, replaces: replaces === true });
    }
    return changes;
  },

  async diff({ context, service, ids }, before, changes, replaces) {
    if (replaces.length > 0 && asksForFlush(before)) throw flushMissing(ids);
    const deleteBeforeReplace = changes.length > 0;
    const former = beforeOf(before);
    const owes = former.owes ?? [];
    const isOwed =
      owes.length > 0 || (former.afterAttach !== undefined && untold(service, ids, former.told).length > 0);
    if (changes.length > 0 || !(isOwed || hasStopped(context) || isVolumeChanged(service, ids)))
      return { deleteBeforeReplace, warnings: [] };
    const { live } = await exclusively(service, ids, () =>
      plan(context, service, ids, wishOf(before), false, former, "recent"),
    );
    refuseOtherHost(live, ids);
    forgetStopOver(context, { live });
    const isOn = isAttached(live, ids) ?? true;
    const again = `volume ${ids.volumeId} is off VM ${ids.vmId}: a change of it was cut off, and it is attached again`;
    const starts = `VM ${ids.vmId} was stopped for a flush by a change that was cut off, and is started again`;
    if (!isOn || isOwed || hasStopped(context)) changes.push({ property: recordedKey, replaces: false });
    return { deleteBeforeReplace, warnings: [...(isOn ? [] : [again]), ...(hasStopped(context) ? [starts] : [])] };
  },

  async preview(context, service, props, mayBeItself) {
    if (isUnknown(props["vmId"]) || isUnknown(props["volumeId"])) return [];
    const ids = attachmentIds(props);
    await refuseUnknownIds(service, namedIn(ids));
    const planned = await plan(context, service, ids, wishOf({}), true, {}, "recent");
    const host = hostIn(planned.live, ids.volumeId);
    if (host === ids.vmId) return [mayBeItself(idOf(props)) ? attachmentReplaced(ids) : attachmentTakenOver(ids)];
    // The attachment that has it there is this one, which is replaced: it is taken off first.
    const moved = saidOf(service, fieldThing(attachment, `${host}/${ids.volumeId}`));
    return typeof host === "string" && (moved === undefined || idOf(moved) !== idOf(props))
      ? [`volume ${ids.volumeId} is attached to ${host}, and has to be taken off it before`]
      : [];
  },

  create: (context, service, props) =>
    exclusively(service, attachmentIds(props), async () => {
      const ids = attachmentIds(props);
      const wish = wishOf(props);
      const look = (how: HowFresh, before?: Before) => plan(context, service, ids, wish, true, before, how);
      let planned = await look("forCreate");
      // Only "it hangs on nothing" is taken from a look of some seconds ago: the service refuses where that is not so.
      if (hostIn(planned.live, ids.volumeId) !== null) planned = await look("fresh");
      const sighting = sight(planned.live, "volume", ids.volumeId);
      if (sighting.seen === "gone") throw notFound(`volume ${ids.volumeId}`);
      const host = hostIn(planned.live, ids.volumeId);
      refuseOtherHost(planned.live, ids);
      const id = idOf(props);
      const owner = newOwner();
      // The id names a place: whoever named it before may be deleted after this.
      const claim = await claimTaken(service, fieldThing(attachment, id), owner, context.notes);
      if (host === ids.vmId) context.log("warning", attachmentTakenOver(ids));
      // A create that was cut off after its attach has run no command.
      if (host === ids.vmId && wish.afterAttach !== undefined)
        planned = await look("recent", { afterAttach: wish.afterAttach, owes: [owed(service, "attached")] });
      const ran = await claim.unlessFailed(() =>
        planAndCarryOut(context, service, planned, ids, props["flushConfirmed"] === true),
      );
      notePutOn(service, ids.volumeId);
      return keep(service, id, props, owner, {
        ...ran,
        told: toldOf(service, ids, findSeen(planned.live, "volume", ids.volumeId)?.sizeGb),
      });
    }),

  async read({ context, service, id, ids, remembered }, before, known) {
    const policy = wishOf(before ?? {});
    const planned = await plan(context, service, ids, policy, false, remembered, "recent");
    const volume = sight(planned.live, "volume", ids.volumeId);
    if (volume.seen === "gone") return undefined;
    // What is imported or looked up has to be seen: nothing remembers it.
    if (before === undefined && volume.seen === "unobserved") {
      if (volume.vanished !== undefined || planned.live.doubt !== undefined) return undefined;
      throw cannotBeLookedAt(`attachment ${id}`, volume, true);
    }
    const isOn = isAttached(planned.live, ids);
    if (isOn === false) return undefined;
    if (isOn === undefined && volume.seen === "unobserved")
      context.log("warning", keptUnseen(`attachment ${id}`, volume));
    const { [recordedKey]: _recorded, ...declared } = before ?? {};
    const props = plain({ ...declared, ...ids });
    return { id, inputs: props, outputs: { ...props, [recordedKey]: plain(known) } };
  },

  async update({ context, service, id, ids }, before, props, owner) {
    const wish = wishOf(props);
    const former = beforeOf(before);
    const reasons = wish.afterAttach === undefined ? [] : untold(service, ids, former.told);
    const owes = reasons.reduce((debts, reason) => withDebt(debts, owed(service, reason)), former.owes ?? []);
    const mayRun = wish.afterAttach !== undefined && (owes.length > 0 || isAskedAgain(former, wish));
    let ran: Pick<RanOne, "record" | "problems"> = { problems: [] };
    let sizeGb: number | undefined;
    if (mayRun || hasStopped(context) || isVolumeChanged(service, ids))
      ran = await exclusively(service, ids, async () => {
        const planned = await plan(context, service, ids, wish, true, { ...former, owes }, "fresh");
        sizeGb = findSeen(planned.live, "volume", ids.volumeId)?.sizeGb;
        refuseOtherHost(planned.live, ids);
        return mayRun || hasStopped(context) || isAttached(planned.live, ids) === false
          ? planAndCarryOut(context, service, planned, ids, false)
          : ran;
      });
    return keep(service, id, props, owner, { ...ran, told: toldOf(service, ids, sizeGb, former.told) });
  },

  async remove({ context, service, id, ids, remembered }, before) {
    const planned = await plan(context, service, ids, wishOf(before), false, remembered, "forRemoval");
    const { live } = planned;
    const sighting = sight(live, "volume", ids.volumeId);
    if (sighting.seen === "unobserved" && (live.doubt !== undefined || sighting.vanished !== undefined))
      throw notProvenGone(`attachment ${id}`, `of its volume, ${sighting.reason}`);
    if (changeOf(planned)?.action !== "create")
      await planAndCarryOut(context, service, planned, ids, before["flushConfirmed"] === true);
    noteTakenOff(service, ids.volumeId, ids.vmId);
    return true;
  },
};

export const attachmentHandler: Handler = createFieldHandler(attachment);

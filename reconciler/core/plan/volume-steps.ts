/**
 * The requests that make one volume as desired: off its VM for a reason the user gave, grown, and on again. A volume
 * on a VM that is stopped for its flush shares the stop and the start with every other such volume of that VM.
 */
import type { VolumeDifference } from "../diff/volume";
import type { DesiredVolume, FlushPolicy, Reference } from "../model/desired";
import { orphanKey, type RecordedVolume } from "../model/recorded";
import { addStep, type Draft, vmHold, vmLabel } from "./draft";
import { stopForFlush } from "./flush-stop";
import { holdBack, type Unidentified, volumeRecord } from "./records";
import { type FlushReason, type Need, need } from "./step";

export function stepsForVolume(difference: VolumeDifference, draft: Draft): void {
  const { change, desired, recorded } = difference;
  if (change === undefined) return;
  switch (change.action) {
    case "create":
      createVolume(desired!, draft, []);
      if (difference.attaches) attach(difference, desired!, { address: difference.address }, draft, []);
      return;
    case "delete":
    case "forget":
      removeVolume(difference, draft);
      return;
    case "replace":
      replaceVolume(difference, desired!, recorded, draft);
      return;
    case "import":
    case "update":
      updateVolume(difference, desired!, draft);
  }
}

const hold = (address: string): string => `volume:${address}`;

function createVolume(desired: DesiredVolume, draft: Draft, needs: readonly Need[]): string {
  const step = addStep(draft, {
    id: `${desired.address}/create`,
    address: desired.address,
    action: { operation: "volume.create", name: desired.name, sizeGb: desired.sizeGb },
    title: `create volume ${desired.name} of ${desired.sizeGb} GB`,
    needs,
    holds: [hold(desired.address)],
    record: volumeRecord(desired),
  });
  draft.ready.set(desired.address, step);
  return step;
}

/** Attaching needs both to exist; which step makes the VM exist is known only when all are made, so edges.ts adds it. */
function attach(
  difference: VolumeDifference,
  desired: DesiredVolume,
  volume: Reference,
  draft: Draft,
  needs: readonly Need[],
): string {
  const target = difference.wantedOn!;
  const vm: Reference = target.id === undefined ? { address: target.address! } : { id: target.id };
  const ready = draft.ready.get(difference.address);
  return addStep(draft, {
    id: `${difference.address}/attach`,
    address: difference.address,
    action: { operation: "volume.attach", volume, vm },
    title: `attach volume ${desired.name} to ${target.address ?? vmLabel(draft, vm)}`,
    needs: [...(ready === undefined ? [] : [need(ready)]), ...needs],
    holds: [hold(difference.address), vmHold(draft, vm)],
  });
}

/** Takes a volume off its VM; the flush, whatever it is, comes first. */
function detach(difference: VolumeDifference, policy: FlushPolicy, draft: Draft, needs: readonly Need[]): string {
  const { address } = difference;
  const id = difference.id!;
  const vm: Reference = { id: difference.attachedTo! };
  const before: Need[] = [...needs];
  const label = difference.live?.name ?? difference.change!.name;
  // A failed VM can be stopped by nobody, so whether its volumes are flushed is for a person to say.
  const flush: FlushPolicy = policy.via === "stop" && hasFailed(vm, draft) ? { via: "ask" } : policy;
  const reason: FlushReason = flush.via;
  if (flush.via === "command") before.push(need(flushBy(flush.argv, address, label, vm.id, draft, needs)));
  const stop = flush.via === "stop" ? stopForFlush(vm, draft) : undefined;
  if (stop?.stop !== undefined) before.push(need(stop.stop));
  const step = addStep(draft, {
    id: `${address}/detach`,
    address,
    action: { operation: "volume.detach", volume: { id }, vm, flush: reason },
    title: `detach volume ${label} from ${vmLabel(draft, vm)} (${flush.via === "ask" ? "needs a flush" : flush.via === "stop" ? "while it is stopped" : "flushed by its command"})`,
    needs: before,
    holds: [hold(address), vmHold(draft, vm)],
    record: { attachedTo: undefined, attaching: undefined },
  });
  stop?.users.push(step);
  if (stop === undefined) noteWhileRunning(vm.id, step, draft);
  const detaches = draft.detachesOf.get(vm.id);
  if (detaches === undefined) draft.detachesOf.set(vm.id, [step]);
  else detaches.push(step);
  return step;
}

function flushBy(
  argv: readonly string[],
  address: string,
  label: string,
  vm: string,
  draft: Draft,
  needs: readonly Need[],
): string {
  const step = addStep(draft, {
    id: `${address}/flush`,
    address,
    action: { operation: "flush", argv },
    title: `flush volume ${label}: ${argv.join(" ")}`,
    needs,
    holds: [hold(address)],
  });
  noteWhileRunning(vm, step, draft);
  return step;
}

function noteWhileRunning(vm: string, step: string, draft: Draft): void {
  const steps = draft.whileRunning.get(vm);
  if (steps === undefined) draft.whileRunning.set(vm, [step]);
  else steps.push(step);
}

function hasFailed(vm: { readonly id: string }, draft: Draft): boolean {
  const live = draft.context.live.vmById.get(vm.id);
  return live?.seen === "yes" && live.value.phase === "failed";
}

function removeVolume(difference: VolumeDifference, draft: Draft): void {
  const { address } = difference;
  const change = difference.change!;
  const recorded = difference.recorded!;
  // Found by the intent of a lost create: recorded first, so that a run cut off here does not forget it.
  const noted = difference.adopts === true ? [need(recordFound(difference, draft))] : [];
  const needs = difference.detaches ? [need(detach(difference, recorded.flush, draft, noted))] : noted;
  // It stays on a VM that goes and lives on: what the user has for flushing it runs while the VM still does.
  if (
    !difference.detaches &&
    change.action === "forget" &&
    change.reason !== "gone" &&
    recorded.flush.via === "command"
  ) {
    const { attachedTo } = difference;
    if (attachedTo !== undefined && draft.vmDeletes.has(attachedTo))
      flushBy(recorded.flush.argv, address, change.name, attachedTo, draft, noted);
  }
  if (change.action === "delete") {
    addStep(draft, {
      id: `${address}/delete`,
      address,
      action: { operation: "volume.delete", volume: { id: recorded.id } },
      title: `delete volume ${change.name} with its data`,
      needs,
      holds: [hold(address)],
      forgets: true,
    });
    return;
  }
  const orphan =
    change.reason === "gone" || change.reason === "let_go"
      ? undefined
      : orphanOf(recorded, "this service cannot delete volumes");
  addStep(draft, {
    id: `${address}/forget`,
    address,
    action: {
      operation: "record",
      changes: [
        ...(orphan === undefined ? [] : [{ type: "orphan" as const, key: orphanKey(orphan), orphan }]),
        { type: "resource", address, record: null },
        { type: "intent", address, intent: null },
      ],
    },
    title: orphan === undefined ? `forget volume ${change.name}` : `leave volume ${change.name} as an orphan`,
    needs,
  });
}

function recordFound(difference: VolumeDifference, draft: Draft): string {
  const { address, recorded } = difference;
  return addStep(draft, {
    id: `${address}/import`,
    address,
    action: {
      operation: "record",
      changes: [
        { type: "resource", address, record: recorded! },
        { type: "intent", address, intent: null },
      ],
    },
    title: `note volume ${difference.change!.name} (${recorded!.id}), which an interrupted run created`,
  });
}

const orphanOf = (recorded: RecordedVolume, reason: string) => ({
  kind: "volume" as const,
  id: recorded.id,
  name: recorded.name ?? recorded.id,
  reason,
  ...(recorded.sizeGb === undefined ? {} : { sizeGb: recorded.sizeGb }),
});

function replaceVolume(
  difference: VolumeDifference,
  desired: DesiredVolume,
  recorded: RecordedVolume | undefined,
  draft: Draft,
): void {
  const { address } = difference;
  const id = difference.id!;
  const old = recorded ?? { ...volumeRecord(desired), id };
  const oldName = difference.live?.name ?? old.name ?? id;
  const orphan = orphanOf({ ...old, name: oldName }, "replaced by another volume");
  // From its create on, the new volume has the record: the old one is written down before, so that nothing forgets it.
  const noted = addStep(draft, {
    id: `${address}/orphan-old`,
    address,
    action: { operation: "record", changes: [{ type: "orphan", key: orphanKey(orphan), orphan }] },
    title: `note the old volume ${oldName} as an orphan`,
  });
  const created = createVolume(desired, draft, [need(noted)]);
  const detached = difference.detaches ? detach(difference, old.flush, draft, [need(created)]) : undefined;
  const after = [need(created), ...(detached === undefined ? [] : [need(detached)])];
  if (difference.attaches) {
    const attached = attach(difference, desired, { address }, draft, detached === undefined ? [] : [need(detached)]);
    shareStop(difference, [attached], draft);
  }
  if (!draft.context.has("volume.delete")) return;
  const deleted = addStep(draft, {
    id: `${address}/delete-old`,
    address,
    action: { operation: "volume.delete", volume: { id } },
    title: `delete the old volume ${oldName} with its data`,
    needs: after,
    holds: [`volume:${id}`],
  });
  addStep(draft, {
    id: `${address}/forget-old`,
    address,
    action: { operation: "record", changes: [{ type: "orphan", key: orphanKey(orphan), orphan: null }] },
    title: `forget the old volume ${oldName}`,
    needs: [need(deleted)],
  });
}

/** The VM that was stopped for this volume starts again only after these, when they concern it. */
function shareStop(difference: VolumeDifference, steps: readonly string[], draft: Draft): void {
  const { attachedTo, wantedOn } = difference;
  if (attachedTo !== undefined && wantedOn?.id === attachedTo) draft.stops.get(attachedTo)?.users.push(...steps);
}

function updateVolume(difference: VolumeDifference, desired: DesiredVolume, draft: Draft): void {
  const { address } = difference;
  const change = difference.change!;
  const id = difference.id!;
  const volume: Reference = { id };
  const needs: Need[] = [];
  if (difference.adopts === true) needs.push(need(adoptVolume(difference, desired, draft)));
  const grow = change.fields.find((field) => field.field === "size");
  const comesOff = difference.detaches || (grow !== undefined && difference.attachedTo !== undefined);
  const detached = comesOff ? detach(difference, desired.flush, draft, needs) : undefined;
  const afterDetach = detached === undefined ? needs : [need(detached)];
  let resized: string | undefined;
  if (grow !== undefined)
    resized = addStep(draft, {
      id: `${address}/resize`,
      address,
      action: { operation: "volume.resize", volume, sizeGb: desired.sizeGb },
      title: `grow volume ${change.name} from ${grow.before} to ${desired.sizeGb} GB`,
      needs: afterDetach,
      holds: [hold(address)],
      record: { sizeGb: desired.sizeGb },
    });
  // A grow that failed after its detach must not leave the volume off: attaching waits for its end, not its success.
  const beforeAttach = [...afterDetach, ...(resized === undefined ? [] : [need(resized, "end")])];
  // Taken off only to be grown, it goes back where it was, unless that VM goes.
  const goesBack = comesOff && !difference.detaches && !draft.vmDeletes.has(difference.attachedTo!);
  if (!difference.attaches && !goesBack) return;
  const target = difference.attaches ? difference.wantedOn! : { id: difference.attachedTo! };
  const settled: VolumeDifference = { ...difference, wantedOn: target };
  shareStop(settled, [attach(settled, desired, volume, draft, beforeAttach)], draft);
}

function adoptVolume(difference: VolumeDifference, desired: DesiredVolume, draft: Draft): string {
  const { address, live } = difference;
  const id = difference.id!;
  const next: RecordedVolume = {
    ...(volumeRecord(desired) as Unidentified<RecordedVolume>),
    id,
    ...(difference.attachedTo === undefined ? {} : { attachedTo: difference.attachedTo }),
  };
  const before: Partial<RecordedVolume> = { name: live?.name, sizeGb: live?.sizeGb, attachedTo: difference.attachedTo };
  const step = addStep(draft, {
    id: `${address}/import`,
    address,
    action: {
      operation: "record",
      changes: [
        {
          type: "resource",
          address,
          record: holdBack(
            next,
            before,
            difference.change!.fields.map((field) => field.field),
          ),
        },
        { type: "intent", address, intent: null },
        ...(draft.state.orphans.has(orphanKey({ kind: "volume", id }))
          ? [{ type: "orphan" as const, key: orphanKey({ kind: "volume", id }), orphan: null }]
          : []),
      ],
    },
    title: `take over volume ${live?.name ?? id} (${id})`,
  });
  draft.ready.set(address, step);
  return step;
}

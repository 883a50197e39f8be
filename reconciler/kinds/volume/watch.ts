/**
 * Waiting for a volume, which some services make, attach, detach, resize and delete only after they have answered. One
 * look tells a service that is done when it answers; how long the others take is theirs.
 */
import { isOtherName } from "../../core/canonical/names";
import { showsEffect } from "../../core/diff/effect";
import type { LiveVolume } from "../../core/model/live";
import { isGone, isShut, type Outcome, type Rejection, valueIn } from "../../core/model/outcome";
import type { Elapsed } from "../../core/model/time";
import type { Step } from "../../core/plan/step";
import { type SettleVerdict, settleVolume, type VolumeWait } from "../../core/schedule/settle";
import { isWindowOver, lookedAgain, openWindow } from "../../core/schedule/window";
import { onlyDefined } from "../../core/text/objects";
import { lookWithin, soonAtFirst } from "../../engine/look-again";
import type { Ports } from "../../engine/ports";
import {
  deletedUnseen,
  doneAndSeen,
  doneUnseen,
  failedBy,
  type Run,
  type StepResult,
  type StepWrite,
  stoppedWhile,
} from "../../engine/run";
import type { SeenAfterwards } from "../../engine/send-and-look";
import { failedAs, fetchVm, isConflict, unsaidVerdict } from "../vm/watch";

const asked: Readonly<Record<VolumeWait["for"], string>> = {
  steady: "it settled",
  attached: "it was attached",
  detached: "it was detached",
  grown: "it was resized",
  gone: "it was deleted",
};

function writeOf(id: string, wait: VolumeWait): StepWrite {
  const volume = { kind: "volume", id } as const;
  switch (wait.for) {
    case "steady":
      return { ...volume, field: "existence", value: id, said: "that it exists" };
    case "attached":
      return { ...volume, field: "attach_to", value: wait.vmId, said: `attach_to: VM ${wait.vmId}` };
    case "detached":
      return { ...volume, field: "detached", value: wait.vmId, said: `that it is off VM ${wait.vmId}` };
    case "grown":
      return { ...volume, field: "size", value: String(wait.sizeGb), said: `size: ${wait.sizeGb}` };
    case "gone":
      return { ...volume, field: "absence", value: id, said: "that it is gone" };
  }
}

/** What a wait needs, and how it reports its progress. */
export interface Watch extends Pick<Ports, "client" | "clock" | "timing"> {
  readonly signal: AbortSignal;
  progress(message: string): void;
  waited(ms: number): void;
  /** The volume as it showed what it was waited for. */
  seen?(volume: LiveVolume): void;
}

export const watchOf = (step: Step, { ports, signal, ...run }: Run): Watch => ({
  client: ports.client,
  clock: ports.clock,
  timing: ports.timing,
  signal,
  progress: (message) => run.progress(step, message),
  waited: (ms) => run.waited(step, ms),
  seen: (volume) => run.shown.set(`volume:${volume.id}`, volume),
});

/** A look that failed says nothing about the volume. */
const verdictOn = (outcome: Outcome<unknown>, wait: VolumeWait, live: LiveVolume | undefined): SettleVerdict =>
  outcome.status === "accepted" || outcome.status === "rejected" ? settleVolume(wait, live) : { status: "pending" };

/** Looks until the service shows what was asked for. Where nobody may look, the acknowledgement has to do. */
export async function waitForVolume(watch: Watch, id: string, wait: VolumeWait): Promise<StepResult> {
  const { client, clock, timing, signal } = watch;
  const write = writeOf(id, wait);
  // The dialect says that a request is done when it is answered. What is deleted is forgotten, so it is looked for.
  if (client.volumesChange === false && wait.for !== "gone") return doneUnseen({ ...write, answered: true });
  const started = clock.now();
  let first = openWindow(timing.discoveryWindowMs, started);
  let still = first;
  let shown: string | undefined;
  const look = async (isOver: boolean, askedAt: Elapsed): Promise<StepResult | undefined> => {
    const outcome = await client.getVolume(id, { signal });
    if (signal.aborted) return interrupted;
    if (outcome.status === "rejected" && !isGone(outcome)) return endUnread(outcome, write);
    const live = valueIn(outcome);
    first = lookedAgain(first, askedAt);
    still = live?.changing === true ? openWindow(timing.discoveryWindowMs, askedAt) : lookedAgain(still, askedAt);
    const isUnsaid = live?.unsaid === true && isWindowOver(first);
    const verdict = isUnsaid ? unsaidVerdict("volume", live) : verdictOn(outcome, wait, live);
    if (verdict.status === "settled") {
      if (live !== undefined) watch.seen?.(live);
      // A record without the field, or with a larger size, has not shown what was asked for.
      return showsEffect<"volume">(write, live) === "shown" ? doneAndSeen : doneUnseen(write);
    }
    if (verdict.status === "failed") return { end: "failed", code: "apply/volume-failed", ...failedAs(verdict) };
    if (live?.status !== undefined && live.status !== shown) {
      shown = live.status;
      watch.progress(shown);
    }
    const limit = isOver ? "vm_create_timeout" : isWindowOver(still) ? "discovery_window" : undefined;
    return limit === undefined ? undefined : notShown(wait, outcome, clock.now() - started, limit, shown);
  };
  const looking = { ports: watch, signal };
  const ended = await lookWithin(looking, timing.vmCreateTimeoutMs, look, { pauseMs: soonAtFirst(timing) });
  watch.waited(clock.now() - started);
  return ended ?? interrupted;
}

const interrupted = stoppedWhile("waiting for the volume");

/** It may not be looked at. The look at the end of the run tries once more, perhaps by the list. */
function endUnread(failure: Rejection, write: StepWrite): StepResult {
  if (write.field === "absence") return deletedUnseen(`volume ${write.id}`, failure);
  const blind = isShut(failure) ? `volume ${write.id} cannot be looked at: ${failedBy(failure).message}` : undefined;
  return doneUnseen({ ...write, ...onlyDefined({ blind }) });
}

/** `limit`: the setting by which it is not waited for any longer. */
function notShown(
  wait: VolumeWait,
  outcome: Outcome<LiveVolume>,
  waitedMs: number,
  limit: "vm_create_timeout" | "discovery_window",
  shown?: string,
): StepResult {
  const seen =
    outcome.status === "accepted"
      ? `the service does not show that ${asked[wait.for]}${shown === undefined ? "" : `; its state is ${shown}`}`
      : outcome.status === "rejected"
        ? "the service does not show the volume any more"
        : `the volume cannot be looked at: ${outcome.reason}`;
  return {
    end: outcome.status === "accepted" || outcome.status === "rejected" ? "failed" : "unknown",
    code: "apply/volume-not-settled",
    message: `the service accepted it, and ${Math.round(waitedMs / 1000)} s later ${seen}`,
    fix: `run the same command again: it looks first; service.timing.${limit} allows more. If the state means something else, say so in the dialect: states.volume`,
  };
}

/** A volume in transition takes no other request. It settles by itself, so it is waited for and asked once more. */
export async function onceVolumeSteady<T>(
  watch: Watch,
  id: string,
  ask: () => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  const { client, signal } = watch;
  const outcome = await ask();
  const isBusy = outcome.status === "rejected" && (isConflict(outcome) || outcome.condition === "volume_attached");
  if (!isBusy || client.volumesChange === false) return outcome;
  const seen = await client.getVolume(id, { signal });
  if (seen.status !== "accepted" || seen.value.changing !== true) return outcome;
  const waited = await waitForVolume(watch, id, { for: "steady" });
  return waited.end === "done" ? ask() : outcome;
}

export const lookAtVolume =
  (run: Run, id: string, isDone: (volume: LiveVolume) => boolean | undefined) => async (): Promise<SeenAfterwards> => {
    const outcome = await run.ports.client.getVolume(id, { signal: run.signal });
    if (outcome.status !== "accepted") return "cannot-tell";
    const verdict = isDone(outcome.value);
    if (verdict === true) return "done";
    if (outcome.value.changing === true) return "changing";
    return verdict === undefined ? "cannot-tell" : "not-done";
  };

/** The volume's record where it shows where the volume hangs, else the VM's list of disks. */
export const lookForAttachment =
  (run: Run, id: string, vmId: string, attached: boolean) => async (): Promise<SeenAfterwards> => {
    const seen = await lookAtVolume(run, id, (volume) =>
      volume.attachedTo === undefined ? undefined : (volume.attachedTo === vmId) === attached,
    )();
    if (seen !== "cannot-tell") return seen;
    const read = await fetchVm(run, vmId);
    if (!read.seen || read.vm?.volumes === undefined) return "cannot-tell";
    return read.vm.volumes.some((disk) => disk.id === id) === attached ? "done" : "not-done";
  };

/** A volume as it was when its delete was planned. */
interface VolumeThen extends Pick<LiveVolume, "name" | "sizeGb"> {
  /** The VMs that it may hang on. */
  readonly hosts: readonly unknown[];
}

/** What tells a volume from the one that a delete was planned for; `undefined`: nothing does. */
export function changedSincePlan({ name, sizeGb, attachedTo }: LiveVolume, then: VolumeThen): string | undefined {
  if (isOtherName(name, then.name)) return `it is called ${name} now, and was called ${then.name}`;
  if (sizeGb !== undefined && then.sizeGb !== undefined && sizeGb !== then.sizeGb)
    return `it has ${sizeGb} GB now, and had ${then.sizeGb}`;
  const isElsewhere = typeof attachedTo === "string" && !then.hosts.includes(attachedTo);
  return isElsewhere ? `it hangs on VM ${attachedTo} now` : undefined;
}

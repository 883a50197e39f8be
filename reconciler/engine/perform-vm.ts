/** The steps of a VM: asynchronous all of them, so each knows what to wait for and how to find out after a lost answer. */
import { catalogueId, isEntry, resolveEntry } from "../core/canonical/catalogue";
import type { LiveVm } from "../core/model/live";
import { accepted, type Failure, isGone, type Outcome } from "../core/model/outcome";
import { type Orphan, orphanKey, type RecordedVm, type StateChange } from "../core/model/recorded";
import type { Step, StepAction } from "../core/plan/step";
import { settleVm, type Wait } from "../core/schedule/settle";
import { confirmGone, confirmVolumeGone } from "./confirm-gone";
import { createVm } from "./create-vm";
import {
  done,
  failedBy,
  idOf,
  noId,
  optionsFor,
  type Run,
  recordDone,
  recordOf,
  type Seen,
  type StepResult,
  sendAndLook,
} from "./perform";
import { patchRecord } from "./recorder";
import { snapshotVm } from "./snapshot-vm";

type VmAction = Extract<StepAction, { operation: `vm.${string}` }>;

export async function performVmStep(step: Step, action: VmAction, run: Run): Promise<StepResult> {
  if (action.operation === "vm.create") return createVm(step, action, run);
  const id = idOf(action.vm, run);
  if (id === undefined) return noId(action.vm);
  const { client } = run.ports;
  const options = optionsFor(step, run);
  switch (action.operation) {
    case "vm.settle":
      return waitThenRecord(step, run, id, { for: isResizing(step, run) ? "arrived" : "built" });
    case "vm.rename": {
      const outcome = await sendAndLook(
        () => client.renameVm(id, action.name, options),
        lookAt(run, id, (vm) => vm.name.toLowerCase() === action.name),
        run,
      );
      return outcome.status === "accepted" ? recordDone(step, run) : failedBy(outcome);
    }
    case "vm.rebuild": {
      const hasImage = ({ image }: LiveVm): boolean =>
        image !== undefined && isEntry(image, action.image, run.images) === true;
      // It was on its way somewhere when the plan was made: a run before this one may have sent the very same.
      const seen = run.live.vmById.get(id);
      if (seen?.seen === "yes" && seen.value.phase === "changing" && (await lookAt(run, id, hasImage)()) === "done")
        return recordDone(step, run);
      const outcome = await sendAndLook(
        () => client.rebuildVm(id, action.image, options),
        lookAt(run, id, (vm) => vm.phase === "changing" || hasImage(vm)),
        run,
      );
      return outcome.status === "accepted"
        ? waitThenRecord(step, run, id, {
            for: "rebuilt",
            isOther: (image) => isEntry(image, action.image, run.images) === false,
          })
        : failedBy(outcome);
    }
    case "vm.resize":
      return resize(step, action, id, run);
    case "vm.check":
      return check(step, action, id, run);
    case "vm.resize.confirm":
      return confirm(step, action, id, run);
    case "vm.resize.revert": {
      const read = action.looksFirst === true ? await readVm(run, id) : undefined;
      if (read?.seen === true && (read.vm?.phase === "running" || read.vm?.phase === "stopped")) {
        // A service that confirms by itself has left nothing to revert.
        const before = run.recorder.state.resources.get(step.address) as RecordedVm | undefined;
        return recordDone(step, run, { flavor: read.vm.flavor ?? before?.flavor });
      }
      if (!client.has("vm.resize.revert")) return waitsInVerify(step, "reverted");
      const outcome = await sendAndLook(
        () => client.revertResize(id, options),
        lookAt(run, id, (vm) => vm.phase !== "verify_resize"),
        run,
      );
      return outcome.status === "accepted" ? waitThenRecord(step, run, id, { for: "decided" }) : failedBy(outcome);
    }
    case "vm.snapshot":
      return snapshotVm(step, action, id, run);
    case "vm.stop": {
      if (action.looksFirst === true && (await lookAt(run, id, (vm) => vm.phase === "stopped")()) === "done")
        return recordDone(step, run);
      // Written down first: whatever stops this run, the next one starts the VM again.
      const before = run.recorder.state.resources.get(step.address) as RecordedVm | undefined;
      const forFlush = before !== undefined && (step.record as Partial<RecordedVm> | undefined)?.stoppedForFlush;
      if (forFlush === true) await run.recorder.record(recordOf(step, run));
      const outcome = await onceSteady(step, run, id, () =>
        sendAndLook(
          () => client.stopVm(id, options),
          lookAt(run, id, (vm) => vm.phase === "stopped"),
          run,
          (failure) => failure.status === "rejected" && failure.condition === "invalid_state",
        ),
      );
      if (outcome.status !== "accepted") {
        if (forFlush === true && outcome.status !== "unknown")
          await run.recorder.record([{ type: "resource", address: step.address, record: before! }]);
        return failedBy(outcome);
      }
      // The call has blocked until the VM was stopped: there is nothing to wait for.
      return forFlush === true ? done : recordDone(step, run);
    }
    case "vm.start":
    case "vm.reboot": {
      const looksFirst = action.operation === "vm.start" && action.looksFirst === true;
      // However it came to run again: nothing has to start it any more.
      const started = isStoppedForFlush(step, run) ? { stoppedForFlush: undefined } : {};
      if (looksFirst && (await lookAt(run, id, (vm) => vm.phase === "running")()) === "done")
        return recordDone(step, run, started);
      const send =
        action.operation === "vm.start" ? () => client.startVm(id, options) : () => client.rebootVm(id, options);
      const outcome = await sendAndLook(
        send,
        lookAt(run, id, (vm) => vm.phase === "running"),
        run,
        (failure) =>
          action.operation === "vm.start" && failure.status === "rejected" && failure.condition === "invalid_state",
      );
      return outcome.status === "accepted"
        ? waitThenRecord(step, run, id, { for: "running" }, started)
        : failedBy(outcome);
    }
    case "vm.delete":
      return deleteVm(step, action, id, run);
    default:
      return action satisfies never;
  }
}

const isStoppedForFlush = (step: Step, run: Run): boolean => {
  const record = run.recorder.state.resources.get(step.address);
  return record?.kind === "vm" && record.stoppedForFlush === true;
};

const isResizing = (step: Step, run: Run): boolean => {
  const record = run.recorder.state.resources.get(step.address);
  return record?.kind === "vm" && record.resizing !== undefined;
};

/** Reads one VM the cheapest way there is. */
async function findVm(run: Run, id: string): Promise<Outcome<LiveVm>> {
  const { client } = run.ports;
  if (!client.has("vm.list")) return client.getVm(id, { signal: run.signal });
  const listed = await client.listVms({ signal: run.signal });
  if (listed.status !== "accepted") return listed;
  const found = listed.value.find((vm) => vm.id === id);
  return found === undefined
    ? { status: "rejected", condition: "not_found", message: "the list of VMs does not show it" }
    : accepted(found);
}

/** `vm: undefined`: it is not there. `seen: false`: nobody can tell. */
export async function readVm(
  run: Run,
  id: string,
): Promise<{ readonly seen: true; readonly vm: LiveVm | undefined } | { readonly seen: false }> {
  const outcome = await findVm(run, id);
  if (outcome.status === "accepted") return { seen: true, vm: outcome.value };
  return isGone(outcome) ? { seen: true, vm: undefined } : { seen: false };
}

const lookAt = (run: Run, id: string, isDone: (vm: LiveVm) => boolean) => async (): Promise<Seen> => {
  const read = await readVm(run, id);
  if (!read.seen) return "cannot-tell";
  return read.vm !== undefined && isDone(read.vm) ? "done" : "not-done";
};

const canSee = (run: Run): boolean => run.ports.client.has("vm.list") || run.ports.client.has("vm.get");

/** Waits until the service shows what the step is for. Where VMs cannot be seen, the acknowledgement has to do. */
export async function waitForVm(
  step: Step,
  run: Run,
  id: string,
  wait: Wait,
): Promise<StepResult & { readonly vm?: LiveVm }> {
  if (!canSee(run)) return done;
  const started = run.ports.clock.now();
  let shown: string | undefined;
  let moved = false;
  const waited = await run.poller.watch(
    ({ byId }) => {
      const vm = byId.get(id);
      moved ||= vm?.phase === "changing" || run.ports.clock.now() - started >= run.ports.timing.discoveryWindowMs;
      const verdict = settleVm(wait, vm, moved);
      if (verdict.status !== "pending") return { verdict, vm };
      if (vm?.status !== undefined && vm.status !== shown) {
        shown = vm.status;
        run.progress(step, vm.status);
      }
      return undefined;
    },
    run.ports.timing.vmCreateTimeoutMs,
    [id],
    run.signal,
  );
  run.waited(step, run.ports.clock.now() - started);
  switch (waited.ended) {
    case "found":
      return waited.value.verdict.status === "failed"
        ? { end: "failed", code: "apply/vm-failed", message: waited.value.verdict.because, vm: waited.value.vm }
        : { end: "done", vm: waited.value.vm };
    case "timeout":
      return {
        end: "failed",
        code: "apply/timeout",
        message: `it is still not ${wait.for} after ${Math.round(run.ports.timing.vmCreateTimeoutMs / 1000)} s${shown === undefined ? "" : ` (${shown})`}`,
        fix: "run the same command again: it goes on waiting; service.timing.vm_create_timeout allows more",
      };
    case "aborted":
      return {
        end: "unknown",
        code: "apply/interrupted",
        message: "stopped while waiting for it",
        fix: "run the same command again: it goes on from here",
      };
    case "blind":
      return failedBy(waited.failure);
    default:
      return waited satisfies never;
  }
}

/** A VM on its way takes no volume, gives none back, and may not let itself be stopped or deleted. It arrives by itself, so it is waited for and asked once more. */
export async function onceSteady<T>(
  step: Step,
  run: Run,
  vmId: string,
  ask: () => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  const outcome = await ask();
  if (outcome.status === "accepted" || !isConflict(outcome)) return outcome;
  const read = await readVm(run, vmId);
  if (!read.seen || read.vm?.phase !== "changing") return outcome;
  const waited = await waitForVm(step, run, vmId, { for: "arrived" });
  return waited.end === "done" ? ask() : outcome;
}

/** Refusals that may mean "it is so already"; the look decides. */
export const isConflict = (failure: Failure): boolean =>
  failure.status === "rejected" &&
  (failure.condition === "conflict" || failure.condition === "bad_request" || failure.condition === "invalid_state");

async function waitThenRecord(
  step: Step,
  run: Run,
  id: string,
  wait: Wait,
  extra: Partial<RecordedVm> = {},
): Promise<StepResult> {
  const result = await waitForVm(step, run, id, wait);
  if (result.end === "done") return recordDone(step, run, { ...learnt(step, run, result.vm), ...extra });
  return result;
}

/** The data volume shows in the VM's record from some moment on; it is worth keeping. */
export function learnt(step: Step, run: Run, vm: LiveVm | undefined): Partial<RecordedVm> {
  const record = run.recorder.state.resources.get(step.address);
  if (record?.kind !== "vm" || record.dataVolumeId !== undefined || vm?.volumes === undefined) return {};
  if (vm.volumes.every((disk) => disk.root === undefined)) return {};
  const data = vm.volumes.filter((disk) => disk.root !== true && run.recorder.addressOf(disk.id) === undefined);
  return data.length === 1 ? { dataVolumeId: data[0]!.id } : {};
}

async function resize(
  step: Step,
  action: Extract<VmAction, { operation: "vm.resize" }>,
  id: string,
  run: Run,
): Promise<StepResult> {
  const target = catalogueId(action.flavor, run.flavors);
  const sighting = run.live.vmById.get(id);
  const shownBefore = sighting?.seen === "yes" ? sighting.value.flavor : undefined;
  // Where no list says what is shown, that it is another one than before is all that can be told.
  const isTarget = (flavor: string): boolean =>
    isEntry(flavor, target, run.flavors) === true ||
    (resolveEntry(flavor, run.flavors).found !== "one" && shownBefore !== undefined && flavor !== shownBefore);
  // Written down first: from the moment it is sent, the VM may wait in VERIFY_RESIZE for a decision.
  const before = run.recorder.state.resources.get(step.address) as RecordedVm | undefined;
  await run.recorder.record(recordOf(step, run));
  const outcome = await sendAndLook(
    () => run.ports.client.resizeVm(id, action.flavor, optionsFor(step, run)),
    lookAt(
      run,
      id,
      (vm) =>
        vm.phase === "verify_resize" || vm.phase === "changing" || (vm.flavor !== undefined && isTarget(vm.flavor)),
    ),
    run,
  );
  if (outcome.status === "accepted") {
    const { vm: _, ...result } = await waitForVm(step, run, id, { for: "resized", isTarget });
    return result;
  }
  if (outcome.status !== "unknown" && before !== undefined)
    await run.recorder.record([{ type: "resource", address: step.address, record: before }]);
  return failedBy(outcome);
}

async function check(
  { address }: Step,
  action: Extract<VmAction, { operation: "vm.check" }>,
  id: string,
  run: Run,
): Promise<StepResult> {
  const { clock, checkHealth, timing } = run.ports;
  const sighting = await readVm(run, id);
  if (!sighting.seen || sighting.vm === undefined)
    return { end: "failed", code: "apply/check-failed", message: "the VM to check cannot be seen" };
  const deadline = clock.now() + action.timeoutMs;
  for (;;) {
    if (await checkHealth(action.check, sighting.vm, run.signal, address)) return done;
    if (run.signal.aborted)
      return {
        end: "unknown",
        code: "apply/interrupted",
        message: "stopped while checking the VM; its resize is neither confirmed nor reverted",
        fix: "run the same command again: it goes on from here",
      };
    if (clock.now() >= deadline) break;
    await clock.sleep(Math.min(timing.pollIntervalMs, Math.max(1, deadline - clock.now())), run.signal);
  }
  return {
    end: "failed",
    code: "apply/check-failed",
    message: `the check did not pass within ${Math.round(action.timeoutMs / 1000)} s`,
  };
}

const waitsInVerify = (step: Step, decided: "confirmed" | "reverted"): StepResult => ({
  end: "waiting",
  code: "apply/resize-waits",
  message: `it stays in VERIFY_RESIZE until the resize is ${decided} outside`,
  fix: `decide it in the service's console, then run the same command again (${step.address})`,
});

function isResized(step: Step, vm: LiveVm, run: Run): boolean {
  const wanted = (step.record as Partial<RecordedVm> | undefined)?.flavor;
  if (wanted === undefined || vm.flavor === undefined || run.flavors === undefined) return true;
  return isEntry(vm.flavor, catalogueId(wanted, run.flavors), run.flavors) !== false;
}

async function notResized(step: Step, run: Run): Promise<StepResult> {
  const record = run.recorder.state.resources.get(step.address);
  if (record?.kind === "vm")
    await run.recorder.record([
      { type: "resource", address: step.address, record: patchRecord(record, { resizing: undefined }) },
    ]);
  return {
    end: "failed",
    code: "apply/resize-undone",
    message: "the service did not carry the resize out, and left the VM as it was",
    fix: "run the same command again to try once more, or choose another flavor",
  };
}

async function confirm(
  step: Step,
  action: Extract<VmAction, { operation: "vm.resize.confirm" }>,
  id: string,
  run: Run,
): Promise<StepResult> {
  const { client } = run.ports;
  if (canSee(run)) {
    const read = await readVm(run, id);
    // A service that confirms by itself has nothing left to confirm; one that found no room has left it as it was.
    if (read.seen && (read.vm?.phase === "running" || read.vm?.phase === "stopped"))
      return isResized(step, read.vm, run) ? recordDone(step, run) : notResized(step, run);
  }
  if (action.manual || !client.has("vm.resize.confirm")) return waitsInVerify(step, "confirmed");
  const outcome = await sendAndLook(
    () => client.confirmResize(id, optionsFor(step, run)),
    lookAt(run, id, (vm) => vm.phase === "running" || vm.phase === "stopped"),
    run,
    (failure) => failure.status === "rejected" && failure.condition === "invalid_state",
  );
  return outcome.status === "accepted" ? waitThenRecord(step, run, id, { for: "decided" }) : failedBy(outcome);
}

async function deleteVm(
  step: Step,
  action: Extract<VmAction, { operation: "vm.delete" }>,
  id: string,
  run: Run,
): Promise<StepResult> {
  const { client } = run.ports;
  // Written down first: should the answer be lost, nothing else tells which volume outlived it.
  const sighting = run.live.vmById.get(id);
  const seen = learnt(step, run, sighting?.seen === "yes" ? sighting.value : undefined);
  const before = run.recorder.state.resources.get(step.address) as RecordedVm | undefined;
  const record = before === undefined ? undefined : (patchRecord(before, seen) as RecordedVm);
  if (record !== undefined && seen.dataVolumeId !== undefined)
    await run.recorder.record([{ type: "resource", address: step.address, record }]);
  const deleted = await onceSteady(step, run, id, () =>
    client.deleteVm(id, action.deleteFloatingIp, optionsFor(step, run)),
  );
  const outcome = await confirmGone(deleted, canSee(run) ? () => findVm(run, id) : undefined);
  if (outcome.status !== "accepted") return failedBy(outcome);
  const managed = new Set(action.managedVolumes);
  const named = outcome.value?.preservedVolumes;
  const preserved = named ?? lastKnownVolumes(id, record, run);
  // Taken off it by a run that was interrupted, it was not the VM's to preserve; it is ours to remember all the same.
  const own = record?.dataVolumeId;
  const alone = named !== undefined && own !== undefined && !named.includes(own) && (await isThere(own, run));
  const left = [...preserved, ...(alone ? [own] : [])].filter(
    (volume) => !managed.has(volume) && run.recorder.addressOf(volume) === undefined,
  );
  const orphans = left.map(
    (volume): Orphan => ({
      kind: "volume",
      id: volume,
      // The answer tells its id alone; this is what it was to whoever made it.
      name: `data volume of ${record?.name ?? id}`,
      reason: `outlived VM ${record?.name ?? id}`,
      ...(record?.sizeGb !== undefined && left.length === 1 ? { sizeGb: record.sizeGb } : {}),
    }),
  );
  const changes: StateChange[] = orphans.map((orphan) => ({ type: "orphan", key: orphanKey(orphan), orphan }));
  await run.recorder.record([...changes, ...recordOf(step, run)]);
  for (const orphan of orphans) run.ports.emit({ type: "orphan", orphan });
  if (run.hasFollowers(step)) {
    const { vm: _, ...result } = await waitForVm(step, run, id, { for: "gone" });
    if (result.end !== "done") return result;
  }
  if (action.preservedVolumes === "delete" && client.has("volume.delete")) return deleteLeftovers(orphans, run);
  return done;
}

const isThere = async (volume: string, { ports: { client }, signal }: Run): Promise<boolean> =>
  !client.has("volume.get") || !isGone(await client.getVolume(volume, { signal }));

/** When the answer that names them was lost: what the VM was last seen with. */
function lastKnownVolumes(id: string, record: RecordedVm | undefined, run: Run): string[] {
  const sighting = run.live.vmById.get(id);
  const disks = sighting?.seen === "yes" ? (sighting.value.volumes ?? []) : [];
  const seen = disks.filter((disk) => disk.root === false).map((disk) => disk.id);
  return [...new Set([...seen, ...(record?.dataVolumeId === undefined ? [] : [record.dataVolumeId])])];
}

async function deleteLeftovers(orphans: readonly Orphan[], run: Run): Promise<StepResult> {
  for (const orphan of orphans) {
    const { client } = run.ports;
    const deleted = await client.deleteVolume(orphan.id, { signal: run.signal, mayWrite: run.mayWrite });
    const outcome = await confirmVolumeGone(deleted, orphan.id, client);
    if (outcome.status !== "accepted")
      return {
        ...failedBy(outcome),
        message: `the VM is deleted, but its volume ${orphan.id} is not: ${failedBy(outcome).message}`,
        fix: `reconcile orphans delete ${orphan.id}`,
      };
    await run.recorder.record([{ type: "orphan", key: orphanKey(orphan), orphan: null }]);
  }
  return done;
}

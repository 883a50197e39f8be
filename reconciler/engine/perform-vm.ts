/** The steps of a VM: asynchronous all of them, so each knows what to wait for and how to find out after a lost answer. */
import { isEntry } from "../core/canonical/catalogue";
import type { LiveVm } from "../core/model/live";
import type { RecordedVm } from "../core/model/recorded";
import type { Step, StepAction } from "../core/plan/step";
import { createVm } from "./create-vm";
import { deleteVm } from "./delete-vm";
import {
  done,
  failedBy,
  idOf,
  noId,
  optionsFor,
  type Run,
  recordDone,
  recordOf,
  type StepResult,
  sendAndLook,
} from "./perform";
import { showsPower } from "./prove-stopped";
import { check, confirm, resize, waitsInVerify } from "./resize-vm";
import { snapshotVm } from "./snapshot-vm";
import { lookAt, onceSteady, readVm, waitThenRecord } from "./watch-vm";

type VmAction = Extract<StepAction, { operation: `vm.${string}` }>;

export async function performVmStep(step: Step, action: VmAction, run: Run): Promise<StepResult> {
  if (action.operation === "vm.create") return createVm(step, action, run);
  const id = idOf(action.vm, run);
  if (id === undefined) return noId(action.vm);
  const { client } = run.ports;
  const options = optionsFor(step, run);
  if (mayStart.has(action.operation)) run.stopped.delete(id);
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
        if (forFlush !== true || outcome.status !== "rejected" || (await showsPower(run, id))) return failedBy(outcome);
        // It may be stopped already, and nothing tells: then it is the user's to say that its volumes are flushed.
        return run.isFlushConfirmed(step.address)
          ? done
          : { ...failedBy(outcome), fix: `if its volumes are flushed: --confirm-flush ${step.address}` };
      }
      run.stopped.add(id);
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

/** After one of these nobody knows any more that the VM is stopped. */
const mayStart: ReadonlySet<VmAction["operation"]> = new Set([
  "vm.rebuild",
  "vm.resize",
  "vm.resize.confirm",
  "vm.resize.revert",
  "vm.start",
  "vm.reboot",
]);

const isStoppedForFlush = (step: Step, run: Run): boolean => {
  const record = run.recorder.state.resources.get(step.address);
  return record?.kind === "vm" && record.stoppedForFlush === true;
};

const isResizing = (step: Step, run: Run): boolean => {
  const record = run.recorder.state.resources.get(step.address);
  return record?.kind === "vm" && record.resizing !== undefined;
};

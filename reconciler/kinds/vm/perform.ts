/** The steps of a VM, a performer for each operation. All are asynchronous there, so each knows what to wait for and how to find out after a lost answer. */
import { isEntry } from "../../core/canonical/catalogue";
import type { Address } from "../../core/model/address";
import { writeKey } from "../../core/model/effect";
import { ofKind } from "../../core/model/kinds";
import type { LiveVm } from "../../core/model/live";
import { isRefusedAs, type Outcome } from "../../core/model/outcome";
import type { FieldsOf, StepChange } from "../../core/plan/record-patch";
import type { ActOn, OperationOn, Step } from "../../core/plan/step";
import { inShell } from "../../core/text/in-shell";
import { oweNothing } from "../../engine/guest";
import { recordAsBefore, recordEnd, recordOf } from "../../engine/record-step";
import {
  couldNotLook,
  doneAndSeen,
  doneUnseen,
  failedBy,
  isoNow,
  type OnExisting,
  onExisting,
  optionsFor,
  type Performers,
  type Run,
  recordedVm,
  type StepResult,
  withWrites,
} from "../../engine/run";
import { sendAndLook } from "../../engine/send-and-look";
import { madePublic, performCreateVm } from "./perform-create";
import { performVmDelete } from "./perform-delete";
import { check, confirm, resize, revert } from "./perform-resize";
import { performVmSnapshot } from "./perform-snapshot";
import {
  canSee,
  fetchVm,
  isConflict,
  lookAtVm,
  onceSteady,
  shownByVm,
  vmsUnseen,
  waitForVm,
  waitThenRecord,
} from "./watch";
import { showsPower } from "./watch-stopped";

const onVm = <O extends ActOn<"vm">>(perform: OnExisting<O>) => onExisting<O>((action) => action.vm, perform);

/** Operations after which nobody knows any more whether the VM is stopped. */
const mayStart = <O extends ActOn<"vm">>(perform: OnExisting<O>) =>
  onVm<O>((step, action, id, run) => {
    run.stopped.delete(id);
    return perform(step, action, id, run);
  });

const settle: OnExisting<"vm.settle"> = async (step, _, id, run) => {
  const record = recordedVm(step, run);
  const wait = { for: record?.resizing !== undefined ? "arrived" : "built" } as const;
  const { vm, ...result } = await waitForVm(step, run, id, wait);
  if (result.end !== "done") return result;
  const made = record?.building === true ? withWrites(result, madePublic(record, vm)) : result;
  return recordEnd(step, run, made, shownByVm(step, run, vm));
};

const rename: OnExisting<"vm.rename"> = async (step, action, id, run) => {
  const outcome = await sendAndLook(
    () => run.ports.client.renameVm(id, action.name, optionsFor(step, run)),
    lookAtVm(run, id, (vm) => vm.name.toLowerCase() === action.name),
    run,
  );
  if (outcome.status !== "accepted") return failedBy(outcome);
  const write = {
    kind: "vm",
    id,
    field: "name",
    value: action.name.toLowerCase(),
    said: `name: ${action.name}`,
  } as const;
  return recordEnd(step, run, doneUnseen({ ...write, ...blindly(run) }));
};

const rebuild: OnExisting<"vm.rebuild"> = async (step, action, id, run) => {
  const hasImage = ({ image }: LiveVm): boolean | undefined =>
    image === undefined ? undefined : isEntry(image, action.image, run.images);
  // The plan's look may have been of an earlier time, or of a VM on its way: what has the image is not wiped for it.
  const read = await fetchVm(run, id);
  if (!read.seen && read.failure.status !== "rejected") {
    await oweNothing(step, run);
    return couldNotLook(`VM ${id}`, read.failure);
  }
  if (read.seen && read.vm !== undefined && hasImage(read.vm) === true) {
    await oweNothing(step, run);
    const message = "nothing was sent: the VM shows the image by now";
    return noteRebuild(step, id, run, { ...(await recordEnd(step, run)), message });
  }
  const outcome = await sendAndLook(
    () => run.ports.client.rebuildVm(id, action.image, optionsFor(step, run)),
    lookAtVm(run, id, (vm) => vm.phase === "changing" || hasImage(vm)),
    run,
  );
  if (outcome.status === "unknown")
    return noteRebuild(step, id, run, {
      ...failedBy(outcome),
      fix: "look in the service's console; where the VM does not show its new image, the same command wipes the root disk once more",
    });
  if (outcome.status !== "accepted") {
    await oweNothing(step, run);
    return failedBy(outcome);
  }
  const isOther = (image: string): boolean => isEntry(image, action.image, run.images) === false;
  return noteRebuild(step, id, run, await waitThenRecord(step, run, id, { for: "rebuilt", isOther }));
};

/**
 * What was accepted or lost, and did not show, is remembered: no permission of long before sends it again
 * (plan/consent.ts), for the disk would be wiped once more each time.
 */
async function noteRebuild(
  { address, action, record }: Step<"vm.rebuild">,
  id: string,
  run: Run,
  result: StepResult,
): Promise<StepResult> {
  const isOpen = result.end !== "done" && result.code !== "apply/vm-failed";
  const write = { field: "image_id", value: action.image, said: `image_id: ${record?.image ?? action.image}` } as const;
  const looked = `the records of VMs (${run.ports.client.can.seesVms === "list" ? "vm.list" : "vm.get"})`;
  if (isOpen || recordedVm({ address }, run)?.unseen?.some(({ field }) => field === write.field) === true)
    await run.recorder.record([
      {
        ...{ type: "patch", address, of: id },
        unseen: isOpen ? { added: [{ ...write, since: isoNow(run), looked }] } : { settled: [writeKey(write)] },
      },
    ]);
  return result;
}

const stop: OnExisting<"vm.stop"> = async (step, action, id, run) => {
  const forFlush = noteOfStop(step, action.noted, id, run);
  if (action.looksFirst === true && (await lookAtVm(run, id, (vm) => vm.phase === "stopped")()) === "done")
    return forFlush === undefined ? recordEnd(step, run) : doneAndSeen;
  // The stop is written down first: whatever ends this run, the next one starts the VM again.
  await forFlush?.write();
  let isOurs = false;
  const outcome = await onceSteady(step, run, id, () =>
    sendAndLook(
      async () => {
        const answer = await run.ports.client.stopVm(id, optionsFor(step, run));
        isOurs ||= answer.status !== "rejected";
        return answer;
      },
      lookAtVm(run, id, (vm) => vm.phase === "stopped"),
      run,
      isConflict,
    ),
  );
  if (outcome.status !== "accepted") {
    if (outcome.status !== "unknown") await forFlush?.takeBack();
    if (forFlush === undefined || outcome.status !== "rejected" || (await showsPower(run, id)))
      return failedBy(outcome);
    // The VM may be stopped already, and nothing tells: the user has to say that its volumes are flushed.
    return run.isFlushConfirmed(step.address)
      ? doneAndSeen
      : { ...failedBy(outcome), fix: `if its volumes are flushed: --confirm-flush ${inShell(step.address)}` };
  }
  if (isOurs) run.stopped.add(id);
  else await forFlush?.takeBack();
  // The call has blocked until the VM was stopped, so there is nothing to wait for. A volume comes off a VM that was
  // stopped for it only after a look of its own (watch-stopped.ts).
  if (forFlush !== undefined) return doneAndSeen;
  const write = { kind: "vm", id, field: "power", value: "stopped", said: "power: stopped" } as const;
  return recordEnd(step, run, doneUnseen({ ...write, ...blindly(run) }));
};

/** Where it is written down that the VM is stopped for a flush: in its own record, or else in that of a volume. */
function noteOfStop(step: Step<"vm.stop">, noted: Address | undefined, id: string, run: Run) {
  const { recorder } = run;
  if (noted !== undefined)
    return {
      write: () => recorder.record([stoppedAt(noted, id)]),
      takeBack: () => recorder.record([stoppedAt(noted, undefined)]),
    };
  const before = step.record?.stoppedForFlush === true ? recordedVm(step, run) : undefined;
  if (before === undefined) return undefined;
  return {
    write: () => recorder.record(recordOf(step, run)),
    takeBack: () => recordAsBefore(step, before, run),
  };
}

const stoppedAt = (address: Address, stoppedVm: string | undefined): StepChange => ({
  type: "patch",
  address,
  fields: { stoppedVm },
});

const blindly = (run: Run): { readonly blind?: string } => (canSee(run) ? {} : { blind: vmsUnseen });

const start: OnExisting<"vm.start"> = async (step, action, id, run) => {
  const { noted } = action;
  const isNoted = noted !== undefined && ofKind(run.recorder.state.resources.get(noted), "volume")?.stoppedVm === id;
  const isOurs = run.stopped.delete(id) || recordedVm(step, run)?.stoppedForFlush === true || isNoted;
  if (action.again === true && !isOurs) return { ...doneAndSeen, message: "it was stopped before, and stays so" };
  if (action.looksFirst === true && (await lookAtVm(run, id, isRunning)()) === "done")
    return recordEnd(step, run, doneAndSeen, startedOf(step, run));
  const outcome = await sendAndLook(
    () => run.ports.client.startVm(id, optionsFor(step, run)),
    lookAtVm(run, id, isRunning),
    run,
    isInvalidState,
  );
  const result = await onceRunning(step, id, run, outcome);
  // Where no record shows whether it runs, a VM that cannot be started is not sent one start after the other.
  const isOver = result.end === "done" || (isInvalidState(outcome) && !(await showsPower(run, id)));
  if (isNoted && isOver) await run.recorder.record([stoppedAt(noted, undefined)]);
  return result;
};

const reboot: OnExisting<"vm.reboot"> = async (step, _, id, run) => {
  let wasOnItsWay = false;
  const look = lookAtVm(run, id, isRunning);
  const outcome = await sendAndLook(
    () => run.ports.client.rebootVm(id, optionsFor(step, run)),
    async () => {
      const seen = await look();
      wasOnItsWay ||= seen === "changing";
      // That it runs tells nothing of a VM that ran before.
      return seen === "done" && !wasOnItsWay ? "cannot-tell" : seen;
    },
    run,
  );
  if (outcome.status === "unknown")
    return { ...failedBy(outcome), fix: "look in the service's console; the same command reboots the VM again" };
  const result = await onceRunning(step, id, run, outcome);
  // The VM runs, as it did before.
  const blind = "a record of a VM does not show whether it was rebooted";
  return result.end === "done"
    ? doneUnseen({ kind: "vm", id, field: "reboot", value: id, said: "the reboot", blind })
    : result;
};

const isRunning = ({ phase }: LiveVm): boolean => phase === "running";

const isInvalidState = (outcome: Outcome<unknown>): boolean => isRefusedAs(outcome, "invalid_state");

const onceRunning = async (
  step: Step<ActOn<"vm">>,
  id: string,
  run: Run,
  outcome: Outcome<unknown>,
): Promise<StepResult> =>
  outcome.status === "accepted"
    ? waitThenRecord(step, run, id, { for: "running" }, startedOf(step, run))
    : failedBy(outcome);

/** The VM runs again, whoever started it: the note that it must be started is dropped. */
const startedOf = (step: Step<ActOn<"vm">>, run: Run): FieldsOf<"vm"> =>
  recordedVm(step, run)?.stoppedForFlush === true ? { stoppedForFlush: undefined } : {};

export const vmPerformers: Performers<OperationOn<"vm">> = {
  "vm.create": performCreateVm,
  "vm.settle": onVm(settle),
  "vm.rename": onVm(rename),
  "vm.rebuild": mayStart(rebuild),
  "vm.resize": mayStart(resize),
  "vm.check": onVm(check),
  "vm.resize.confirm": mayStart(confirm),
  "vm.resize.revert": mayStart(revert),
  "vm.snapshot": onVm(performVmSnapshot),
  "vm.stop": onVm(stop),
  "vm.start": onVm(start),
  "vm.reboot": mayStart(reboot),
  "vm.delete": onVm(performVmDelete),
};

/** A resize: sent, waited for, checked, and confirmed, or left to whoever decides it outside. */

import { catalogueId, isEntry, resolveEntry } from "../../core/canonical/catalogue";
import type { HealthCheck } from "../../core/model/desired";
import { toSay } from "../../core/model/fix";
import { findSeen, type LiveVm, powerShown } from "../../core/model/live";
import { type Failure, isRefusedAs } from "../../core/model/outcome";
import type { ActionOf, Step } from "../../core/plan/step";
import { plainCheck } from "../../engine/fill-in";
import { lookWithin } from "../../engine/look-again";
import { recordAsBefore, recordEnd, recordOf } from "../../engine/record-step";
import {
  doneAndSeen,
  failedBy,
  type OpenStep,
  optionsFor,
  outcomeUnseen,
  type Run,
  recordedVm,
  type StepResult,
  stoppedWhile,
  whyUnread,
} from "../../engine/run";
import { sendAndLook } from "../../engine/send-and-look";
import { canSee, fetchVm, lookAtVm, shownByVm, waitForVm } from "./watch";

export async function resize(
  step: Step<"vm.resize">,
  action: ActionOf<"vm.resize">,
  id: string,
  run: Run,
): Promise<StepResult> {
  const target = catalogueId(action.flavor, run.flavors);
  const shownBefore = findSeen(run.live, "vm", id)?.flavor;
  // Without a list of flavors, only a change of the flavor can be seen.
  const isTarget = (flavor: string): boolean =>
    isEntry(flavor, target, run.flavors) === true ||
    (resolveEntry(flavor, run.flavors).found !== "one" && shownBefore !== undefined && flavor !== shownBefore);
  // The resize is written down first: from the moment it is sent, the VM may wait in VERIFY_RESIZE for a decision.
  const before = recordedVm(step, run);
  await run.recorder.record(recordOf(step, run));
  const outcome = await sendAndLook(
    () => run.ports.client.resizeVm(id, action.flavor, optionsFor(step, run)),
    lookAtVm(
      run,
      id,
      (vm) =>
        vm.phase === "verify_resize" || vm.phase === "changing" || (vm.flavor !== undefined && isTarget(vm.flavor)),
    ),
    run,
  );
  if (outcome.status === "accepted") {
    const isConfirmed = run.ports.client.can.confirmsResize;
    const { vm: _, ...result } = await waitForVm(step, run, id, { for: "resized", isTarget, isConfirmed });
    return result;
  }
  if (outcome.status !== "unknown" && before !== undefined) await recordAsBefore(step, before, run);
  return failedBy(outcome);
}

export async function check(
  { address }: Step<"vm.check">,
  action: ActionOf<"vm.check">,
  id: string,
  run: Run,
): Promise<StepResult> {
  const { clock, checkHealth, timing } = run.ports;
  const wanted = plainCheck(action.check);
  // The check of a rollout decides no resize.
  const undecided = action.rollout === undefined ? "; its resize is neither confirmed nor reverted" : "";
  const read = await fetchVm(run, id);
  if (!read.seen && canSee(run)) return notChecked(read.failure, undecided);
  if (!read.seen || read.vm === undefined)
    return { end: "failed", code: "apply/check-failed", message: "the VM to check cannot be seen" };
  const { vm } = read;
  if (needsAddress(wanted) && vm.floatingIp === undefined && vm.privateIp === undefined)
    return {
      end: "failed",
      code: "apply/check-failed",
      message: `the check needs the address of VM ${vm.name}, and the service's record shows no IP address`,
      fix: "say in the dialect where the record has it: records.vm.floating_ip or records.vm.private_ip",
    };
  const deadline = clock.now() + action.timeoutMs;
  for (;;) {
    // The last try is a whole one, also after the process was stopped for longer than the check may take.
    const limitMs = Math.max(timing.pollIntervalMs, deadline - clock.now());
    if (await checkHealth(wanted, vm, { signal: run.signal, address, limitMs, rollout: action.rollout }))
      return doneAndSeen;
    if (run.signal.aborted) return stoppedWhile(`checking the VM${undecided}`);
    if (clock.now() >= deadline) break;
    await clock.sleep(Math.min(timing.pollIntervalMs, Math.max(1, deadline - clock.now())), run.signal);
  }
  return {
    end: "failed",
    code: "apply/check-failed",
    message: `the check did not pass within ${action.timeoutMs / 1000} s`,
  };
}

/** A look that failed says nothing about the VM, so nothing is reverted for it. */
const notChecked = (failure: Failure, undecided: string): StepResult => ({
  ...failedBy(failure),
  end: "unknown",
  message: `the VM could not be looked at, and was not checked: ${whyUnread(failure)}${undecided}`,
  fix: "run the same command again: it goes on from here",
});

function needsAddress(check: HealthCheck<string>): boolean {
  switch (check.kind) {
    case "tcp":
      return true;
    case "http":
      return check.url.includes("{ip}");
    case "command":
      return check.argv.some((word) => word.includes("{ip}"));
  }
}

const decideOutside = "decide it in the service's console, then run the same command again";

/** `decided`: the state knows of no resize. */
const waitsInVerify = (step: Step, decided: "confirmed" | "reverted" | "decided"): StepResult => ({
  end: "waiting",
  code: "apply/resize-waits",
  message: `it stays in VERIFY_RESIZE until the resize is ${decided} outside`,
  fix:
    decided === "decided"
      ? decideOutside
      : [
          toSay(
            [
              `${decideOutside}; where the service does not show it, say `,
              ["state resolve", step.address, "--confirmed"],
              ", or --reverted",
            ],
            decideOutside,
          ),
        ],
});

function isResized(step: Step<"vm.resize.confirm">, vm: LiveVm, run: Run): boolean {
  const wanted = step.record?.flavor;
  if (wanted === undefined || vm.flavor === undefined || run.flavors === undefined) return true;
  return isEntry(vm.flavor, catalogueId(wanted, run.flavors), run.flavors) !== false;
}

async function notResized(step: Step, run: Run): Promise<StepResult> {
  await run.recorder.record([{ type: "patch", address: step.address, fields: { resizing: undefined } }]);
  return {
    end: "failed",
    code: "apply/resize-undone",
    message: "the service did not carry the resize out: the VM is not of the flavor that was asked for",
    fix: "run the same command again to try once more, or choose another flavor",
  };
}

export async function confirm(
  step: Step<"vm.resize.confirm">,
  action: ActionOf<"vm.resize.confirm">,
  id: string,
  run: Run,
): Promise<StepResult> {
  const { client } = run.ports;
  if (canSee(run)) {
    const read = await fetchVm(run, id);
    // A service that confirms resizes by itself has nothing left to confirm. A service that found no room has left the
    // VM as it was.
    if (read.seen && read.vm !== undefined && powerShown(read.vm) !== undefined)
      return isResized(step, read.vm, run) ? recordEnd(step, run) : notResized(step, run);
  }
  if (action.manual || !client.can.confirmsResize)
    return waitsInVerify(step, step.record === undefined ? "decided" : "confirmed");
  const outcome = await sendAndLook(
    () => client.confirmResize(id, optionsFor(step, run)),
    lookAtVm(run, id, (vm) => powerShown(vm) !== undefined),
    run,
    (failure) => isRefusedAs(failure, "invalid_state"),
  );
  if (outcome.status !== "accepted") return failedBy(outcome);
  const { vm, ...decided } = await waitForVm(step, run, id, { for: "decided" });
  if (decided.end !== "done") return decided;
  const isSo = await becomesSo((seen) => isResized(step, seen, run), id, vm, run);
  if (typeof isSo === "object") return isSo;
  return isSo ? recordEnd(step, run, decided, shownByVm(step, run, vm)) : notResized(step, run);
}

/**
 * What was confirmed may be another resize than the one that was asked for. A record may be a little behind, and one that
 * cannot be read decides nothing: the step ends with that then.
 */
async function becomesSo(
  isSo: (vm: LiveVm) => boolean,
  id: string,
  vm: LiveVm | undefined,
  run: Run,
): Promise<boolean | OpenStep> {
  if (vm === undefined || isSo(vm)) return true;
  const look = async (isOver: boolean): Promise<boolean | OpenStep | undefined> => {
    const read = await fetchVm(run, id);
    if (read.seen && (read.vm === undefined || isSo(read.vm))) return true;
    if (!isOver) return undefined;
    return read.seen
      ? false
      : outcomeUnseen("the resize is decided, and the flavor that the VM has since", read.failure);
  };
  const ended = await lookWithin(run, run.ports.timing.discoveryWindowMs, look, { pauseFirst: true });
  return ended ?? stoppedWhile("waiting for the VM to show the flavor that was decided");
}

export async function revert(
  step: Step<"vm.resize.revert">,
  action: ActionOf<"vm.resize.revert">,
  id: string,
  run: Run,
): Promise<StepResult> {
  const before = recordedVm(step, run);
  const to = before?.resizing?.to;
  const isReverted = ({ flavor }: LiveVm): boolean =>
    to === undefined || flavor === undefined || isEntry(flavor, catalogueId(to, run.flavors), run.flavors) !== true;
  const read = action.looksFirst === true ? await fetchVm(run, id) : undefined;
  const seen = read?.seen === true ? read.vm : undefined;
  // Somebody has decided it since the plan looked, or the service by itself: nothing is left to revert.
  if (seen !== undefined && powerShown(seen) !== undefined) {
    const isSo = await becomesSo(isReverted, id, seen, run);
    if (typeof isSo === "object") return isSo;
    return isSo
      ? recordEnd(step, run, doneAndSeen, { flavor: (isReverted(seen) ? seen.flavor : undefined) ?? before?.flavor })
      : notReverted(step, id, to, "the resize was confirmed before it could be reverted", run);
  }
  if (!run.ports.client.can.revertsResize) return waitsInVerify(step, "reverted");
  const outcome = await sendAndLook(
    () => run.ports.client.revertResize(id, optionsFor(step, run)),
    lookAtVm(run, id, (vm) => vm.phase !== "verify_resize"),
    run,
  );
  if (outcome.status !== "accepted") return failedBy(outcome);
  const { vm, ...decided } = await waitForVm(step, run, id, { for: "decided" });
  if (decided.end !== "done") return decided;
  const isSo = await becomesSo(isReverted, id, vm, run);
  if (typeof isSo === "object") return isSo;
  return isSo
    ? recordEnd(step, run, decided, shownByVm(step, run, vm))
    : notReverted(step, id, to, "the service accepted the revert of the resize", run);
}

async function notReverted(
  { address }: Step,
  id: string,
  to: string | undefined,
  how: string,
  run: Run,
): Promise<StepResult> {
  await run.recorder.record([{ type: "patch", address, of: id, fields: { resizing: undefined, flavor: to } }]);
  return {
    end: "failed",
    code: "apply/resize-undone",
    message: `${how}, and the VM is of flavor ${to} all the same`,
    fix: "give it the flavor that it is to have, and run the same command again: it resizes it",
  };
}

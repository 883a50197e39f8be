/** Looking at a VM and waiting for it, which the steps of VMs and of the volumes on them do beside their requests. */

import { unsaidFix, wordInDialect } from "../../core/diff/findings";
import { tellDisks } from "../../core/model/disks";
import { identity } from "../../core/model/identity";
import { addressesShown, type LiveVm } from "../../core/model/live";
import { type Failure, findListed, isGone, type Outcome, type Rejection } from "../../core/model/outcome";
import type { FieldsOf } from "../../core/plan/record-patch";
import type { ActOn, Step } from "../../core/plan/step";
import { type SettleVerdict, settleVm, type Wait } from "../../core/schedule/settle";
import { isWindowOver, lookedAgain, openWindow } from "../../core/schedule/window";
import { recordEnd } from "../../engine/record-step";
import {
  type DoneStep,
  deletedUnseen,
  doneAndSeen,
  doneUnseen,
  outcomeUnseen,
  type Run,
  type StepResult,
  type StepWrite,
  stoppedWhile,
} from "../../engine/run";
import type { SeenAfterwards } from "../../engine/send-and-look";

/** Reads one VM the cheapest way there is. */
export async function fetchVmCheaply(run: Run, id: string): Promise<Outcome<LiveVm>> {
  const { client } = run.ports;
  if (client.can.seesVms !== "list") return client.getVm(id, { signal: run.signal });
  return findListed(await run.listVms(), (vm) => vm.id === id, "the list of VMs does not show it");
}

/** `vm: undefined`: the VM does not exist. `seen: false`: nobody can tell, and by a failure that is no refusal not now. */
export async function fetchVm(
  run: Run,
  id: string,
): Promise<
  { readonly seen: true; readonly vm: LiveVm | undefined } | { readonly seen: false; readonly failure: Failure }
> {
  const outcome = await fetchVmCheaply(run, id);
  if (outcome.status === "accepted") return { seen: true, vm: outcome.value };
  return isGone(outcome) ? { seen: true, vm: undefined } : { seen: false, failure: outcome };
}

/** `isDone` is `undefined` where the record does not show it. */
export const lookAtVm =
  (run: Run, id: string, isDone: (vm: LiveVm) => boolean | undefined) => async (): Promise<SeenAfterwards> => {
    const read = await fetchVm(run, id);
    if (!read.seen) return "cannot-tell";
    const verdict = read.vm === undefined ? false : isDone(read.vm);
    if (verdict === true) return "done";
    if (read.vm !== undefined && isOnItsWay(read.vm)) return "changing";
    return verdict === undefined ? "cannot-tell" : "not-done";
  };

/** A record without a state never shows an arrival. */
const isOnItsWay = ({ phase, status, unsaid }: LiveVm): boolean =>
  phase === "changing" && status !== undefined && unsaid !== true;

export const canSee = (run: Run): boolean => run.ports.client.can.seesVms !== "never";

/** Waiting longer does not help: only the dialect can say what the word means. */
export const unsaidVerdict = (
  kind: "vm" | "volume",
  { status = "" }: { readonly status?: string },
): Extract<SettleVerdict, { readonly status: "failed" }> => ({
  status: "failed",
  because: `it shows ${status}, and the dialect does not say what that means`,
  fix: unsaidFix(kind, status),
});

export const failedAs = ({ because, fix }: Extract<SettleVerdict, { readonly status: "failed" }>) => ({
  message: because,
  fix,
});

/** Waits whose end looks like a VM that has not begun to change yet. */
const mayShowBefore: ReadonlySet<Wait["for"]> = new Set(["rebuilt", "resized", "steady"]);

export const vmsUnseen = "this service shows no VMs (operations.vm.list, operations.vm.get)";

/** What a wait would have shown, where no VM can be looked at. */
const awaited: Readonly<Record<Wait["for"], Pick<StepWrite, "field" | "said"> | undefined>> = {
  built: { field: "existence", said: "that it is built" },
  rebuilt: { field: "image_id", said: "its new image_id" },
  resized: { field: "flavor_id", said: "its new flavor_id" },
  decided: { field: "flavor_id", said: "its flavor_id" },
  arrived: undefined,
  running: { field: "power", said: "power: running" },
  stopped: { field: "power", said: "power: stopped" },
  gone: { field: "absence", said: "that it is gone" },
  steady: undefined,
};

function unseenAfter(wait: Wait, id: string): StepWrite[] {
  const write = awaited[wait.for];
  return write === undefined ? [] : [{ kind: "vm", id, value: wait.for, ...write, blind: vmsUnseen }];
}

/** What a record lacks it has not shown: there the acknowledgement has to do. */
function arrivedAs(wait: Wait, id: string, vm: LiveVm | undefined): DoneStep {
  const write = awaited[wait.for];
  if (write === undefined || vm === undefined || showsArrival[wait.for]?.(vm) !== false) return doneAndSeen;
  return doneUnseen({ kind: "vm", id, value: wait.for, ...write, blind: "the records of VMs do not show it" });
}

const showsArrival: Partial<Readonly<Record<Wait["for"], (vm: LiveVm) => boolean>>> = {
  running: ({ status }) => status !== undefined,
  stopped: ({ status }) => status !== undefined,
  rebuilt: ({ image }) => image !== undefined,
  resized: ({ flavor, phase }) => flavor !== undefined || phase === "verify_resize",
};

function unseenSince(wait: Wait, id: string, failure: Failure): StepResult {
  if (wait.for === "gone") return deletedUnseen(`VM ${id}`, failure);
  const write = awaited[wait.for];
  return write === undefined
    ? outcomeUnseen(`whether VM ${id} has settled`, failure)
    : outcomeUnseen(`the service accepted it, and whether it did it (${write.said})`, failure);
}

/** A word that has a meaning keeps it: what runs or is stopped is not gone, here nor elsewhere. */
export const elseGone = ({ status, phase }: Partial<Pick<LiveVm, "status" | "phase">> = {}): string =>
  status !== undefined && phase === "changing"
    ? `; if it is gone in the state ${status}, in the dialect: states: { vm: { gone: [${wordInDialect(status)}] } }`
    : "";

/** What the next run does about a wait that was too short. Of a VM at rest it takes the request for not carried out. */
function runAgain(wait: Wait, shown: LiveVm | undefined): string {
  if (shown?.phase === "changing" || awaited[wait.for]?.field === "existence" || awaited[wait.for] === undefined)
    return "it goes on waiting";
  const again = "it looks first, and sends the request again where the VM still does not show it";
  return wait.for === "rebuilt"
    ? `${again}, which wipes the root disk once more, so look in the service's console before; of a VM that was rebuilt and shows its former image: lifecycle: { on_image_change: ignore }`
    : again;
}

/** Waits until the service shows what the step is for. Where VMs cannot be seen, the acknowledgement has to do. */
export async function waitForVm(
  step: Step,
  run: Run,
  id: string,
  wait: Wait,
  begunAt?: number,
): Promise<StepResult & { readonly vm?: LiveVm }> {
  if (!canSee(run)) return doneUnseen(...unseenAfter(wait, id));
  const started = run.ports.clock.now();
  let shown: LiveVm | undefined;
  let moved = false;
  let still = openWindow(run.ports.timing.discoveryWindowMs, started);
  let same = { status: shown?.status, window: still };
  const waited = await run.poller.watch(
    ({ byId }, askedAt) => {
      const vm = byId.get(id);
      still = lookedAgain(still, askedAt);
      const window =
        vm?.status === same.status ? lookedAgain(same.window, askedAt) : openWindow(still.lengthMs, askedAt);
      same = { status: vm?.status, window };
      moved ||= (vm?.phase === "changing" && vm.status !== undefined) || isWindowOver(still);
      const verdict =
        vm?.unsaid === true && isWindowOver(still)
          ? unsaidVerdict("vm", vm)
          : settleVm(wait, vm, { moved, rested: isWindowOver(window) });
      if (verdict.status !== "pending") return { verdict, vm };
      if (vm?.status !== undefined && vm.status !== shown?.status) {
        shown = vm;
        run.progress(step, vm.status);
      }
      return undefined;
    },
    run.ports.timing.vmCreateTimeoutMs,
    [id],
    { signal: run.signal, soon: mayShowBefore.has(wait.for) ? undefined : wait.for, begunAt },
  );
  run.waited(step, run.ports.clock.now() - started);
  switch (waited.ended) {
    case "found":
      return waited.value.verdict.status === "failed"
        ? { end: "failed", code: "apply/vm-failed", ...failedAs(waited.value.verdict), vm: waited.value.vm }
        : { ...arrivedAs(wait, id, waited.value.vm), vm: waited.value.vm };
    case "timeout":
      return {
        end: "failed",
        code: "apply/timeout",
        message: `it is still not ${wait.for} after ${Math.round(run.ports.timing.vmCreateTimeoutMs / 1000)} s${shown === undefined ? "" : ` (${shown.status})`}`,
        fix: `run the same command again: ${runAgain(wait, shown)}; service.timing.vm_create_timeout allows more${wait.for === "gone" ? elseGone(shown) : ""}`,
      };
    case "aborted":
      return stoppedWhile("waiting for it");
    case "blind":
      return unseenSince(wait, id, waited.failure);
  }
}

/**
 * A VM in transition refuses to attach or detach a volume, and may refuse a stop or a delete. It settles by itself, so
 * it is waited for and asked once more.
 */
export async function onceSteady<T>(
  step: Step,
  run: Run,
  vmId: string,
  ask: () => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  const outcome = await ask();
  if (outcome.status === "accepted" || !isConflict(outcome)) return outcome;
  const read = await fetchVm(run, vmId);
  if (!read.seen || read.vm?.phase !== "changing") return outcome;
  const waited = await waitForVm(step, run, vmId, { for: "arrived" });
  return waited.end === "done" ? ask() : outcome;
}

/** Refusals that may mean "already so": the look decides. What a job or a success says no with has no better word. */
export const isConflict = (failure: Failure): boolean =>
  failure.status === "rejected" && mayMeanAlready.has(failure.condition);

const mayMeanAlready: ReadonlySet<Rejection["condition"]> = new Set([
  "conflict",
  "bad_request",
  "invalid_state",
  "refused",
]);

export async function waitThenRecord(
  step: Step<ActOn<"vm">>,
  run: Run,
  id: string,
  wait: Wait,
  extra: FieldsOf<"vm"> = {},
): Promise<StepResult> {
  const result = await waitForVm(step, run, id, wait);
  return result.end === "done"
    ? recordEnd(step, run, result, { ...shownByVm(step, run, result.vm), ...extra })
    : result;
}

/** The VM's record shows disks and addresses from some moment on: they are recorded then. */
export const shownByVm = (step: Step, run: Run, vm: LiveVm | undefined): FieldsOf<"vm"> => ({
  ...addressesShown(vm),
  ...disksShown(step, run, vm),
});

function disksShown(step: Step, run: Run, vm: LiveVm | undefined): FieldsOf<"vm"> {
  const record = run.recorder.state.resources.get(step.address);
  if (record?.kind !== "vm" || record.dataVolumeId !== undefined || vm?.volumes === undefined) return {};
  const told = tellDisks(vm.volumes, (id) => run.recorder.addressOf(identity("volume", id)) !== undefined);
  return record.disks === undefined ? told : { ...told, disks: told.disks };
}

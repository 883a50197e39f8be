/**
 * Proves that a VM is stopped, right before a volume comes off it or outlives it for that reason. The VM's record says
 * so; where no record shows the power, only a stop that this very run sent, and that the service accepted, proves it.
 */
import type { LiveVm } from "../../core/model/live";
import { isGone } from "../../core/model/outcome";
import type { Step } from "../../core/plan/step";
import { inShell } from "../../core/text/in-shell";
import { lookWithin } from "../../engine/look-again";
import { couldNotLook, type Run, type StepResult, stoppedBefore } from "../../engine/run";
import { canSee, fetchVmCheaply } from "./watch";

export interface StoppedProof {
  /** Why nothing may be sent. Absent: the VM is stopped, or does not exist. */
  readonly result?: StepResult;
  /** The VM as it was just seen. */
  readonly vm?: LiveVm;
}

/** Each branch is one thing that a look at the VM can prove; the rest looks again. */
export async function proveStopped(step: Step, run: Run, id: string): Promise<StoppedProof> {
  const shown = await shownToMany(run, id);
  if (shown?.phase === "stopped") return { vm: shown };
  let shownLast = shown;
  const proof = await lookWithin<StoppedProof>(run, run.ports.timing.discoveryWindowMs, async (isOver) => {
    const read = canSee(run) ? await fetchVmCheaply(run, id) : undefined;
    if (read !== undefined && read.status !== "accepted")
      return isGone(read) ? {} : { result: couldNotLook(`VM ${id}`, read) };
    const vm = read?.value;
    if (vm?.phase === "stopped") return { vm };
    if (vm?.status === undefined)
      return run.stopped.has(id) || run.isFlushConfirmed(step.address) ? { vm } : { result: stopUnproven(step) };
    // A record may be behind the stop for a moment, and a service may answer before the VM has arrived.
    shownLast = vm;
    return vm.phase === "failed" || isOver ? { result: notStopped(vm) } : undefined;
  });
  return proof ?? { result: stoppedBefore(`waiting for VM ${shownLast?.name ?? id} to be stopped`) };
}

/**
 * Where many runs of one VM each follow each other, the list of the last second, or else the next look of all who wait,
 * tells about this one too: a list for each would be as many as there are VMs, and each as long.
 */
async function shownToMany(run: Run, id: string): Promise<LiveVm | undefined> {
  const { vmShownLately, client, timing } = run.ports;
  if (vmShownLately === undefined || client.can.seesVms !== "list") return undefined;
  const lately = vmShownLately(id);
  if (lately?.phase === "stopped") return lately;
  const options = { signal: run.signal, soon: "stopped" };
  const next = await run.poller.watch(({ byId }) => ({ vm: byId.get(id) }), timing.discoveryWindowMs, [id], options);
  return next.ended === "found" ? next.value.vm : undefined;
}

/** Whether a record shows if the VM runs. */
export async function showsPower(run: Run, id: string): Promise<boolean> {
  const read = canSee(run) ? await fetchVmCheaply(run, id) : undefined;
  return read?.status === "accepted" && read.value.status !== undefined;
}

const notStopped = ({ name, status, phase }: LiveVm): StepResult => ({
  end: "failed",
  code: "apply/not-stopped",
  message: `nothing was sent: volumes count as flushed only while VM ${name} is stopped, and it is ${status ?? phase}`,
  fix:
    phase === "changing"
      ? `run the same command again. If ${status} means that it is stopped, say so in the dialect: states: { vm: { stopped: [${status}] } }`
      : `run the same command again: it plans on the VM as it is now; if VM ${name} is stopped, another place of its record shows that: records.vm.status in the dialect`,
});

const stopUnproven = ({ address }: Step): StepResult => ({
  end: "failed",
  code: "apply/not-stopped",
  message:
    "nothing was sent: volumes count as flushed only while their VM is stopped; no record shows whether it is, and this run has not stopped it",
  fix: `flush by hand, and say so with --confirm-flush ${inShell(address)}; or describe the VM's state in the dialect (records.vm.status)`,
});

/**
 * Creating a VM, whose answer carries no id. Written down before it is sent; found again by its name, and only among
 * VMs that were not there before. Found one: it is ours. Found none within the discovery window: it was not done.
 * Found several, or no way to look: stop and say so.
 */
import type { LiveVm } from "../core/model/live";
import type { Intent, RecordedVm } from "../core/model/recorded";
import type { Step, StepAction } from "../core/plan/step";
import { outcomeUnknown } from "./create-once";
import { failedBy, isoNow, optionsFor, type Run, recordDone, type StepResult } from "./perform";
import { learnt, waitForVm } from "./watch-vm";

type Create = Extract<StepAction, { operation: "vm.create" }>;

/** How often a create may prove not to have been done before the run gives up. */
const attempts = 3;

export async function createVm(step: Step, action: Create, run: Run): Promise<StepResult> {
  const { client } = run.ports;
  const { address } = step;
  const record = step.record as RecordedVm;
  const name = action.vm.name;
  const idsBefore = run.idsBefore("vm", name);
  const intent: Intent = {
    step: step.id,
    address,
    operation: "vm.create",
    name,
    sentAt: isoNow(run),
    idsBefore,
    record,
  };
  for (let attempt = 1; ; attempt++) {
    await run.recorder.record([{ type: "intent", address, intent }]);
    const outcome = await client.createVm(action.vm, optionsFor(step, run));
    if (outcome.status === "rejected" || outcome.status === "unavailable") {
      const takenByOurs =
        attempt > 1 &&
        outcome.status === "rejected" &&
        (outcome.condition === "conflict" || outcome.condition === "name_taken");
      if (!takenByOurs) {
        await run.recorder.record([{ type: "intent", address, intent: null }]);
        return failedBy(outcome);
      }
    }
    if (!client.has("vm.list"))
      return outcome.status === "accepted" ? idUnknown(step, record, run) : outcomeUnknown("VM", intent, run);
    const lost = outcome.status !== "accepted";
    const found = await discover(
      step,
      name,
      idsBefore,
      lost ? run.ports.timing.discoveryWindowMs : run.ports.timing.vmCreateTimeoutMs,
      run,
    );
    if (found.status === "one") return settleNew(step, record, found.vm, run);
    if (found.status === "several") return severalFound(step, name, found.vms);
    if (found.status === "aborted")
      return {
        end: "unknown",
        code: "apply/interrupted",
        message: "stopped while looking for the VM",
        fix: "run the same command again: it looks for it first",
      };
    if (!lost)
      return {
        end: "unknown",
        code: "apply/not-listed",
        message: `the create of ${name} was accepted, but the service's list does not show it`,
        fix: "run the same command again: it looks for it first",
      };
    if (attempt >= attempts) return outcomeUnknown("VM", intent, run);
    run.progress(step, "the lost create was not done; sending it again");
  }
}

type Discovered =
  | { readonly status: "one"; readonly vm: LiveVm }
  | { readonly status: "several"; readonly vms: readonly LiveVm[] }
  | { readonly status: "none" }
  | { readonly status: "aborted" };

async function discover(
  step: Step,
  name: string,
  idsBefore: readonly string[],
  windowMs: number,
  run: Run,
): Promise<Discovered> {
  const before = new Set(idsBefore);
  const started = run.ports.clock.now();
  const waited = await run.poller.watch(
    (seen) => {
      const matches = seen
        .named(name)
        .filter(({ id }) => !before.has(id) && (run.recorder.addressOf(id) ?? step.address) === step.address);
      return matches.length === 0 ? undefined : matches;
    },
    windowMs,
    [],
    run.signal,
  );
  run.waited(step, run.ports.clock.now() - started);
  if (waited.ended === "aborted") return { status: "aborted" };
  if (waited.ended !== "found") return { status: "none" };
  return waited.value.length === 1 ? { status: "one", vm: waited.value[0]! } : { status: "several", vms: waited.value };
}

async function settleNew(step: Step, record: RecordedVm, vm: LiveVm, run: Run): Promise<StepResult> {
  const { address } = step;
  await run.recorder.record([
    { type: "resource", address, record: { ...record, id: vm.id, createdAt: isoNow(run), building: true } },
    { type: "intent", address, intent: null },
  ]);
  run.progress(step, vm.id);
  const { vm: built, ...result } = await waitForVm(step, run, vm.id, { for: "built" });
  if (result.end !== "done")
    return result.code === "apply/vm-failed"
      ? { ...result, fix: `the next run offers to replace it; or reconcile apply --replace ${address}` }
      : result;
  return recordDone(step, run, { ...learnt(step, run, built), building: undefined });
}

/** Created once, and waiting for somebody to say which it is. */
async function idUnknown(step: Step, record: RecordedVm, run: Run): Promise<StepResult> {
  const { address } = step;
  await run.recorder.record([
    { type: "resource", address, record },
    { type: "intent", address, intent: null },
  ]);
  return {
    end: "waiting",
    code: "apply/id-unknown",
    message: "it is being created, and this service gives no way to learn its id",
    fix: `reconcile import ${address} ID`,
  };
}

const severalFound = (step: Step, name: string, vms: readonly LiveVm[]): StepResult => ({
  end: "unknown",
  code: "apply/ambiguous",
  message: `${vms.length} new VMs are named ${name}: ${vms.map((vm) => `${vm.id} (${vm.status ?? "?"})`).join(", ")}`,
  fix: `reconcile import ${step.address} ID with the right one, and delete the other`,
});

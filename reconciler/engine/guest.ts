/**
 * Commands that are owed to guests, while a plan is carried out: each is written down before the request that makes it
 * necessary is sent, and taken away when it ended with 0. One that fails, is cut off, or may not be run stays owed.
 */
import type { Address } from "../core/model/address";
import { toRun, toSay } from "../core/model/fix";
import { type Debt, type DueReason, type Duty, debtOf } from "../core/model/guest";
import { identity } from "../core/model/identity";
import { ofKind } from "../core/model/kinds";
import type { LiveVm } from "../core/model/live";
import type { RecordedResource, RecordedVm } from "../core/model/recorded";
import type { StepChange } from "../core/plan/record-patch";
import type { ActionOf, Due, Step } from "../core/plan/step";
import { onlyDefined } from "../core/text/objects";
import { fetchVm, waitForVm } from "../kinds/vm/watch";
import { lookForAttachment } from "../kinds/volume/watch";
import { plainText } from "./fill-in";
import type { CommandResult } from "./ports";
import { recordOf } from "./record-step";
import { doneAndSeen, idOf, isoNow, noId, type Performer, type Run, type StepResult, whyUnread } from "./run";

const debtAt = ({ address, command }: Pick<Due, "address" | "command">, run: Run): Debt | undefined =>
  debtOf(run.recorder.state.resources.get(address), command);

/**
 * Writes down what the step will make necessary, before it is carried out. A create has no record yet: its debts go into
 * the record that its intent brings.
 */
export async function oweFirst(step: Step, run: Run): Promise<Step> {
  if (step.owes === undefined) return step;
  const since = isoNow(run);
  const debtOfDue = ({ command, reason }: Due): Debt => ({ command, reason, since });
  const isMade = step.action.operation === "vm.create" || step.action.operation === "volume.create";
  const own = isMade ? step.owes.filter(({ address }) => address === step.address) : [];
  const others = step.owes.filter((due) => !own.includes(due));
  run.debtsBefore.set(
    step.id,
    others.map((due) => ({ ...due, before: debtAt(due, run) })),
  );
  await run.recorder.record(
    others.map((due): StepChange => ({ type: "patch", address: due.address, owes: { added: [debtOfDue(due)] } })),
  );
  if (own.length === 0) return step;
  // The record of a create is that of its own kind; only what is owed is added.
  return { ...step, record: { ...step.record, owes: own.map(debtOfDue) } } as Step;
}

/** The request was refused, so it has made nothing necessary. */
export async function oweNothing({ id }: Step, run: Run): Promise<void> {
  const changes = (run.debtsBefore.get(id) ?? []).map(
    ({ address, command, before }): StepChange => ({
      type: "patch",
      address,
      owes: { paid: [command], added: before === undefined ? [] : [before] },
    }),
  );
  if (changes.length > 0) await run.recorder.record(changes);
}

export const performDuty: Performer<Duty> = async (step, action, run) => {
  const { address } = step;
  const { operation: duty } = action;
  const debt = debtAt({ address, command: duty }, run);
  // Such as after a create that was refused.
  if (debt === undefined) return { ...doneAndSeen, message: "not run: nothing is owed" };
  const vmId = idOf(action.vm, run);
  if (vmId === undefined) return noId(action.vm);
  const closedBy = run.ports.noPrograms;
  if (closedBy !== undefined) return leftOwed(address, duty, `${closedBy} starts no program that a file names`);
  if (run.flushing.has(address)) return leftOwed(address, duty, "what its flush began in the guest may go on there");
  if (await mayBeOff(step, vmId, run)) return leftOwed(address, duty, `its volume may be off VM ${vmId}`);
  const arrived = await whenRunning(step, vmId, run);
  if (arrived.end !== "done") return arrived;
  const values = valuesFor(step, action, vmId, arrived.vm, debt.reason, run);
  const argv = action.argv.map(plainText);
  const command = { argv, ...onlyDefined({ env: action.env }) };
  const { timeoutMs: limitMs } = action;
  const result = await run.ports.runCommand(command, { signal: run.signal, address, duty, values, limitMs });
  if (result.exitCode !== 0 && run.signal.aborted)
    return stoppedWith(`${duty} of ${address} did not end and is still owed`, result);
  if (result.exitCode !== 0) return notPaid(address, duty, result, argv, values);
  await run.recorder.record([{ type: "patch", address, owes: { paid: [duty] } }, ...recordOf(step, run)]);
  return doneAndSeen;
};

/** The plan takes the volume off and hangs it back: what became of the first shows where the second was not done. */
async function mayBeOff({ address, needs }: Step<Duty>, vmId: string, run: Run): Promise<boolean> {
  const goesBack = [`${address}/attach`, `${address}/data-attach`];
  if (!needs.some(({ step, on }) => on === "end" && goesBack.includes(step))) return false;
  const record = run.recorder.state.resources.get(address);
  const disk = ofKind(record, "volume");
  const vm = ofKind(record, "vm");
  if (disk === undefined ? vm?.dataVolumeDetached === true : disk.attachedTo !== vmId) return true;
  const isOpen = (disk?.attaching ?? disk?.detaching ?? vm?.dataVolumeMoving) !== undefined;
  const id = disk?.id ?? vm?.dataVolumeId;
  return isOpen && id !== undefined && (await lookForAttachment(run, id, vmId, false)()) !== "not-done";
}

/** A VM that an interrupted run left on its way is waited for: on its former disk the command would count for nothing. */
async function whenRunning(
  step: Step<Duty>,
  vmId: string,
  run: Run,
): Promise<StepResult & { readonly vm?: LiveVm | undefined }> {
  const read = await fetchVm(run, vmId);
  if (!read.seen)
    return read.failure.status === "rejected"
      ? doneAndSeen
      : leftOwed(step.address, step.action.operation, `VM ${vmId} could not be looked at: ${whyUnread(read.failure)}`);
  const isChanging = read.vm?.phase === "changing";
  const arrived = isChanging ? await waitForVm(step, run, vmId, { for: "arrived" }) : { ...doneAndSeen, vm: read.vm };
  if (arrived.end !== "done") return arrived;
  if (arrived.vm === undefined) return leftOwed(step.address, step.action.operation, `VM ${vmId} does not show`);
  if (arrived.vm.phase === "stopped") return leftOwed(step.address, step.action.operation, `VM ${vmId} is stopped`);
  return arrived;
}

const leftOwed = (address: Address, duty: Duty, because: string): StepResult => ({
  end: "waiting",
  code: "apply/owed",
  message: `${duty} of ${address} was not run and is still owed: ${because}`,
  fix: [toRun(["apply"])],
});

/** What the command is told of why it runs, and of what. */
function valuesFor(
  { address }: Step,
  { volume }: ActionOf<Duty>,
  vmId: string,
  shown: LiveVm | undefined,
  reason: DueReason,
  run: Run,
): Record<string, string> {
  const ip = addressOfVm(vmId, shown, run);
  const disk = diskOf(run.recorder.state.resources.get(address), volume !== undefined);
  return Object.fromEntries(
    Object.entries({
      RECONCILE_REASON: reason,
      RECONCILE_ADDRESS: address,
      RECONCILE_VM_ID: vmId,
      RECONCILE_VM_IP: ip,
      RECONCILE_VOLUME_ID: disk.id,
      RECONCILE_VOLUME_SIZE: disk.sizeGb === undefined ? undefined : String(disk.sizeGb),
    }).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** The volume that the command is about: a volume itself, or the data volume of a VM. */
const diskOf = (
  record: RecordedResource | undefined,
  isVolume: boolean,
): { readonly id?: string | undefined; readonly sizeGb?: number } => {
  if (isVolume) return ofKind(record, "volume") ?? {};
  if (record === undefined || !("sizeGb" in record)) return {};
  return { id: ofKind(record, "vm")?.dataVolumeId, sizeGb: record.sizeGb };
};

/** As a look shows it, or else as it was recorded. */
function addressOfVm(id: string, shown: LiveVm | undefined, run: Run): string | undefined {
  const at = run.recorder.addressOf(identity("vm", id));
  const record = at === undefined ? undefined : run.recorder.state.resources.get(at);
  const known: Pick<RecordedVm, "floatingIp" | "privateIp"> = ofKind(record, "vm") ?? {};
  return shown?.floatingIp ?? shown?.privateIp ?? known.floatingIp ?? known.privateIp;
}

function notPaid(
  address: Address,
  duty: Duty,
  result: CommandResult,
  argv: readonly string[],
  values: Readonly<Record<string, string>>,
): StepResult {
  const { message, output } = toldBy(`${duty} of ${address} ended with ${result.exitCode} and is still owed`, result);
  const told = Object.entries(values).map(([name, value]) => `${name}=${shellWord(value)}`);
  const words = [...told, ...argv.map(shellWord)].join(" ");
  const byHand = (folder: string) => `try it by hand, in ${folder}: ${words}; the next run runs it first`;
  const ofFile = byHand("the folder of its file");
  return {
    end: "failed",
    code: "apply/owed",
    message,
    ...onlyDefined({ output }),
    fix: [
      toSay(
        [ofFile, "; if you have done it by hand: ", ["state resolve", address, "--paid"]],
        byHand("the folder of the program"),
      ),
    ],
  };
}

/** Whoever stopped the run has stopped its programs as well, so nothing says that the command is to be repaired. */
export const stoppedWith = (message: string, result: CommandResult): StepResult => ({
  end: "unknown",
  code: "apply/interrupted",
  ...toldBy(message, result),
  fix: "run the same command again: it runs the program anew",
});

/** How many lines of what a program printed are shown. */
const shownLines = 40;

/** What a program printed goes into the message where it is one line, and stands below it otherwise. */
export function toldBy(
  message: string,
  { output }: CommandResult,
): { readonly message: string; readonly output?: readonly string[] } {
  const lines = output.split("\n").slice(-shownLines);
  if (lines.length > 1) return { message, output: lines };
  return { message: output === "" ? message : `${message}: ${output}` };
}

/** The word as a shell reads it, on one line. */
const shellWord = (word: string): string =>
  /^[A-Za-z0-9_@%+=:,./-]+$/.test(word)
    ? word
    : /\p{Cc}/u.test(word)
      ? `$'${word.replaceAll("\\", "\\\\").replaceAll("'", "\\'").replaceAll("\n", "\\n")}'`
      : `'${word.replaceAll("'", "'\\''")}'`;

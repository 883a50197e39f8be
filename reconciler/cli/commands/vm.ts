/** `reconcile vm …`: lists VMs, and acts on one in ways that the state does not remember. */

import { canonicalName, mayBeCut } from "../../core/canonical/names";
import { nothingDesired } from "../../core/model/desired";
import { hasErrors } from "../../core/model/diagnostic";
import { told } from "../../core/model/fix";
import { allOfKind, ofKind } from "../../core/model/kinds";
import { type Live, sight } from "../../core/model/live";
import { valueIn } from "../../core/model/outcome";
import { type Intent, isAskedSnapshot, type RecordedVm, type State } from "../../core/model/recorded";
import { noGrants } from "../../core/plan/consent";
import { estimateMs } from "../../core/plan/estimate";
import { PermittedPlan } from "../../core/plan/permitted";
import type { Plan } from "../../core/plan/plan";
import type { StepChange } from "../../core/plan/record-patch";
import type { Step, StepAction } from "../../core/plan/step";
import { inShell } from "../../core/text/in-shell";
import { openForWriting } from "../../engine/apply";
import type { Recorder } from "../../engine/recorder";
import { failedBy } from "../../engine/run";
import { runPlan } from "../../engine/run-plan";
import { assertSameScope, scopeOf } from "../../engine/scope";
import { runText } from "../../report/run-text";
import { vmListText, vmRows } from "../../report/vm-list";
import { type CompletionSources, command, type Example, type Invocation, noArguments, oneArgument } from "../command";
import { commandHolder, createPorts, fail, stateIn } from "../compose";
import { commonFlags } from "../flags";
import { prepare } from "../planning";
import { startProgress } from "../progress";
import { exitCodeOf, runDiagnostics } from "../run-end";
import { unlessStopped } from "../session";
import { withLockedSession, withSession } from "../with-session";
import { readWorkspace } from "../workspace";
import { vmUnknown } from "./ssh";

const vmFlags = ["file", "lock-timeout", ...commonFlags] as const;
const positionals = oneArgument("the address of a VM");
const actingOnVm = "Acting on a VM";
const completeVm = (_: unknown, known: CompletionSources) => known.recorded("vm");

export const vmListCommand = command({
  usage: "vm list",
  summary: "every VM of the project with its id and addresses, managed or not",
  section: "Looking",
  examples: [
    [
      "reconcile vm list",
      "looks at the service; a VM that this state does not manage has no address in the first column",
    ],
  ],
  flags: ["file", ...commonFlags],
  positionals: noArguments,
  run: listRecordedVms,
});

const actingCommand = (verb: Exclude<Verb, "snapshot">, summary: string, example: Example) =>
  command({
    usage: `vm ${verb} ADDR`,
    summary,
    section: actingOnVm,
    examples: [example],
    flags: vmFlags,
    positionals,
    complete: completeVm,
    run: (invocation) => actOnVm(invocation, verb, (vm) => ({ operation: `vm.${verb}`, vm })),
  });

export const vmStartCommand = actingCommand("start", "starts a VM", [
  "reconcile vm start vm.db",
  "and waits until it runs",
]);

export const vmStopCommand = actingCommand("stop", "stops a VM", [
  "reconcile vm stop 'vm.web[a]'",
  "the service answers when it has stopped, after about 20 seconds",
]);

export const vmRebootCommand = actingCommand("reboot", "reboots a VM", [
  "reconcile vm reboot vm.db",
  "a restart; nothing in the state changes",
]);

export const vmSnapshotCommand = command({
  usage: "vm snapshot ADDR --name NAME",
  summary: "makes an image of a VM",
  section: actingOnVm,
  examples: [["reconcile vm snapshot vm.db --name db-before-upgrade", "prints the id of the image made"]],
  flags: ["name", ...vmFlags],
  positionals,
  complete: completeVm,
  run(invocation) {
    const { name } = invocation.flags;
    if (name !== undefined) return actOnVm(invocation, "snapshot", (vm) => ({ operation: "vm.snapshot", vm, name }));
    const [address] = invocation.args;
    throw fail("cli/name-missing", "a snapshot needs a name", `reconcile vm snapshot ${inShell(address)} --name NAME`);
  },
});

type Verb = "start" | "stop" | "reboot" | "snapshot";
type Acting = Extract<StepAction, { readonly operation: `vm.${Verb}` }>;

function actOnVm(
  invocation: Invocation<(typeof vmFlags)[number], readonly [string]>,
  verb: Verb,
  actionOn: (vm: { readonly id: string }) => Acting,
): Promise<number> {
  const { output } = invocation;
  const [address] = invocation.args;
  const workspace = readWorkspace(invocation, { args: [], needed: false });
  // A run that holds the state may be about to act on the same VM, so this takes the lock.
  return withLockedSession(invocation, workspace, async (session, stop) => {
    const state = await stateIn(session.store);
    const record = ofKind(state.resources.get(address), "vm");
    if (record?.id === undefined) {
      if (record !== undefined)
        throw fail(
          "state/unknown-address",
          `the id of ${address} is not known yet`,
          `reconcile apply looks for it; where it cannot: reconcile import ${inShell(address)} ID`,
        );
      const vms = allOfKind(state.resources.values(), "vm");
      throw vmUnknown(
        address,
        vms.map((vm) => vm.address),
        state,
      );
    }
    const action = actionOn({ id: record.id });
    const step: Step = {
      id: `${address}/${verb}`,
      address,
      action,
      title: `${verb} VM ${record.name}`,
      needs: [],
      holds: [`vm:${address}`],
      estimateMs: estimateMs(action.operation),
    };
    assertSameScope(state, scopeOf(session.service.client, workspace.desired));
    const looking = prepare(session, { targets: [address] }, nothingDesired);
    const { plan: empty, live } = await unlessStopped(stop.soft, looking);
    // What could not be looked at is acted on no more than by a plan.
    const unread = empty.diagnostics.filter(
      ({ severity, code }) => severity === "error" && code.startsWith("service/"),
    );
    if (hasErrors(unread)) return { exitCode: 1, diagnostics: unread };
    if (session.service.client.can.seesVms !== "never") assertItself(address, record, live);
    const open = state.intents.get(address);
    if (action.operation === "vm.snapshot" && open !== undefined) assertSettled(open, action.name);
    const plan: Plan = { ...empty, changes: [], steps: [step], bookkeeping: [], consents: [], diagnostics: [] };
    const progress = startProgress(output, plan, session.service.timeScale);
    try {
      const ports = createPorts(session.service, session.workspace, (event) => progress.event(event));
      const { recorder } = await openForWriting(session.store, commandHolder(invocation.command), state.lineage);
      const permitted = PermittedPlan.of(plan, noGrants);
      const report = await runPlan(permitted, live, onlyIntents(recorder), ports, stop, { id: "" });
      // That the image was asked for is remembered until it is there.
      const isOpen = recorder.state.intents.get(address)?.step === step.id;
      const over: readonly StepChange[] = [
        ...(isOpen ? [{ type: "intent" as const, address, intent: null }] : []),
        ...(verb === "stop" || verb === "start" ? stopsOver(record.id, recorder.state) : []),
      ];
      if (over.length > 0 && report.steps[0]?.result.end === "done") await recorder.record(over);
      await recorder.close();
      progress.close();
      output.print(runText(report, plan, output));
      return { exitCode: exitCodeOf(report), run: report, plan, forPrograms: runDiagnostics(report) };
    } finally {
      progress.close();
    }
  });
}

/** Nothing is sent to an id that the service does not show, or shows as another VM. */
function assertItself(address: string, { id = "", name }: RecordedVm, live: Live): void {
  const seen = sight(live, "vm", id);
  if (seen.seen === "gone")
    throw fail(
      "plan/gone",
      `VM ${name} (${id}) is gone: ${seen.because}; nothing was sent`,
      `reconcile plan shows what becomes of ${address}`,
    );
  if (seen.seen === "unobserved")
    throw fail(
      "plan/unobserved",
      `VM ${name} (${id}) could not be looked at: ${seen.reason}; nothing was sent`,
      seen.fix,
    );
  const shown = seen.value.name;
  if (canonicalName(shown) === canonicalName(name) || mayBeCut(shown, name)) return;
  throw fail(
    "plan/other-name",
    `the service shows ${id} as VM ${shown}, and the state knows it as ${name}; nothing was sent`,
    `if it is the same VM, reconcile apply gives it back the name of the file, or reconcile drift --accept ${inShell(address)} and then reconcile apply keep the new one; if it is another one: reconcile state rm ${inShell(address)}`,
  );
}

/** A second request would take the place of what is remembered of the first. */
function assertSettled(open: Intent, name: string): void {
  const { address, operation } = open;
  if (operation === "vm.snapshot" && open.name === name) return;
  throw fail(
    "plan/outcome-unknown",
    `how the ${operation} of ${open.name} ended, sent for ${address} at ${open.sentAt}, is not settled; nothing was sent`,
    isAskedSnapshot(open)
      ? `reconcile vm snapshot ${inShell(address)} --name ${inShell(open.name)} goes on with it; if it was never made: reconcile state resolve ${inShell(address)} --not-created`
      : "reconcile apply goes on with it",
  );
}

/** Whether the VM runs was said by a person since an interrupted run stopped it, to start it again. */
const stopsOver = (vm: string, { resources }: State): StepChange[] =>
  [...resources.values()].flatMap((record): StepChange[] => {
    const { address } = record;
    if (record.id === vm && ofKind(record, "vm")?.stoppedForFlush === true)
      return [{ type: "patch", address, fields: { stoppedForFlush: undefined } }];
    if (ofKind(record, "volume")?.stoppedVm === vm)
      return [{ type: "patch", address, fields: { stoppedVm: undefined } }];
    return [];
  });

/**
 * The state remembers nothing of these actions but that an image was asked for, so that none is made twice, and that a
 * stop for a flush is over.
 */
const onlyIntents = (recorder: Recorder): Recorder => ({
  ...recorder,
  get state() {
    return recorder.state;
  },
  record: (changes) => recorder.record(changes.filter(({ type }) => type === "intent")),
});

/** Lists what the service shows; where the service has no list of VMs, what the state remembers. */
function listRecordedVms(invocation: Invocation): Promise<number> {
  const { output } = invocation;
  const workspace = readWorkspace(invocation, { args: [], needed: false });
  return withSession(invocation, workspace, async ({ store, service }) => {
    const state = await stateIn(store);
    const { client } = service;
    const [listed, flavors] = await Promise.all([
      client.can.seesVms === "list" ? client.listVms({}) : undefined,
      client.can.listsFlavors && !output.json ? client.listFlavors() : undefined,
    ]);
    if (listed !== undefined && listed.status !== "accepted") {
      const { code = "service/unavailable", message = "the VMs could not be listed", fix } = failedBy(listed);
      throw fail(code, `the VMs could not be listed: ${message}`, told(fix).fix);
    }
    const rows = vmRows(state, listed?.value);
    for (const row of rows) output.event({ type: "vm", ...row });
    // Without the list of flavors the table shows the ids of flavors in place of their names.
    const names = valueIn(flavors) ?? [];
    output.print(vmListText(rows, new Map(names.map(({ id, name = id }) => [id, name]))));
    if (listed === undefined) output.note("This service has no list of VMs: these are as the state remembers them.");
    return output.finish({ exitCode: 0, diagnostics: service.diagnostics });
  });
}

/** `reconcile vm start|stop|reboot|snapshot`: actions, which the state does not remember. */

import { nothingDesired } from "../../core/model/desired";
import { noGrants } from "../../core/plan/consent";
import { estimateMs } from "../../core/plan/estimate";
import { PermittedPlan } from "../../core/plan/permitted";
import type { Plan } from "../../core/plan/plan";
import type { StepAction } from "../../core/plan/step";
import { nearestName } from "../../core/text/nearest";
import { openState } from "../../engine/plan";
import { createRecorder } from "../../engine/recorder";
import { runPlan } from "../../engine/run-plan";
import { runText } from "../../report/run-text";
import { createPorts, fail, holderOf, newLineage } from "../compose";
import type { Invocation } from "../invocation";
import { prepare, withLockedSession } from "../planning";
import { startProgress } from "../progress";
import { exitCodeOf, runDiagnostics } from "../run-end";
import { readWorkspace } from "../workspace";

export function run(invocation: Invocation): Promise<number> {
  const { args, flags, output, spec } = invocation;
  const address = args[0]!;
  const verb = spec.name.slice("vm ".length) as "start" | "stop" | "reboot" | "snapshot";
  if (verb === "snapshot" && flags.name === undefined)
    throw fail("cli/name-missing", "a snapshot needs a name", `reconcile vm snapshot ${address} --name NAME`);
  const workspace = readWorkspace(invocation, { args: [], needed: false });
  // A run that holds the state may be about to do something with this very VM.
  return withLockedSession(invocation, workspace, async (session, stop) => {
    const { state } = openState(await session.store.read(), session.store.location, newLineage());
    const record = state.resources.get(address);
    if (record?.kind !== "vm" || record.id === undefined) {
      const near = nearestName(address, state.resources.keys());
      throw fail(
        "state/unknown-address",
        record?.kind === "vm" ? `the id of ${address} is not known yet` : `the state has no VM ${address}`,
        near === undefined ? "reconcile state list" : `did you mean ${near}?`,
      );
    }
    const vm = { id: record.id };
    const action: StepAction =
      verb === "snapshot" ? { operation: "vm.snapshot", vm, name: flags.name! } : { operation: `vm.${verb}`, vm };
    const step = {
      id: `${address}/${verb}`,
      address,
      action,
      title: `${verb} VM ${record.name}`,
      needs: [],
      holds: [`vm:${address}`],
      estimateMs: estimateMs[action.operation],
    };
    const { plan: empty, live } = await prepare(session, { targets: [address] }, nothingDesired);
    const plan: Plan = { ...empty, changes: [], steps: [step], bookkeeping: [], consents: [], diagnostics: [] };
    const progress = startProgress(output, plan, session.service.timeScale);
    try {
      const ports = createPorts(session.service, session.workspace, (event) => progress.event(event));
      // Nothing is remembered, so nothing is written: the recorder keeps what it is told to itself.
      const held = await session.store.lock(holderOf(spec.name));
      const recorder = createRecorder(state, {
        ...held,
        append: async () => undefined,
        replace: async () => undefined,
      });
      const report = await runPlan(PermittedPlan.of(plan, noGrants), live, recorder, ports, stop, "");
      progress.close();
      output.print(runText(report, plan, { colour: output.colour, width: output.width }));
      const diagnostics = output.json ? runDiagnostics(report) : [];
      return output.finish({ exitCode: exitCodeOf(report), run: report, plan, diagnostics });
    } finally {
      progress.close();
    }
  });
}

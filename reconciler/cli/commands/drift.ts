/** `reconcile drift`: exits with 2 when the service is not as the state has it. */

import { findingAsDiagnostic } from "../../core/findings/finding";
import { parseAddress } from "../../core/model/address";
import { hasErrors } from "../../core/model/diagnostic";
import { countChanges } from "../../core/plan/plan";
import { type Drift, findDrift } from "../../engine/drift";
import { assertSameScope, scopeOf } from "../../engine/scope";
import { judgeReachability } from "../../kinds/group/reachability/findings";
import { owedIn } from "../../kinds/vm/guest-steps";
import { todayUtc } from "../../outside/clock";
import { driftText } from "../../report/drift-text";
import { findingEvent } from "../../report/json-lines";
import { owedText } from "../../report/owed-text";
import { acceptDrift } from "../accept/drift";
import { command } from "../command";
import { stateIn } from "../compose";
import { commonFlags } from "../flags";
import { onceAProject } from "../once-a-project";
import { withSession } from "../with-session";
import { readWorkspace } from "../workspace";
import { addressUnknown } from "./state";

export const driftCommand = command({
  usage: "drift [FILE|DIR]… [--accept [ADDR]…]",
  summary: "what differs between state and service; exit 2 if anything does, or a command is owed",
  section: "Looking",
  examples: [
    ["reconcile drift", "exit 0: the service is as the state has it; exit 2: it prints what differs"],
    ["reconcile drift --accept group.web", "writes what was found at group.web into the file, comments kept"],
  ],
  flags: ["file", "accept", ...commonFlags],
  run(invocation) {
    const { output, flags } = invocation;
    const accepts = flags.accept === true;
    const isAddress = (word: string): boolean => accepts && parseAddress(word) !== undefined;
    const workspace = readWorkspace(invocation, {
      args: invocation.args.filter((word) => !isAddress(word)),
      needed: accepts,
    });
    return withSession(invocation, workspace, async ({ store, service }) => {
      const state = await stateIn(store);
      const wanted = invocation.args.filter(isAddress);
      for (const address of wanted) if (!state.resources.has(address)) throw addressUnknown(address, state);
      assertSameScope(state, scopeOf(service.client, workspace.desired));
      const report = await findDrift(service.client, state);
      for (const drift of report.drifts)
        output.event({
          type: "change",
          address: drift.address,
          action: actionOf(drift),
          fields: drift.fields.map(({ field, before, after, opens }) => ({
            field,
            before,
            after,
            forces: null,
            opens: opens === true ? opens : undefined,
          })),
          id: drift.id,
        });
      const extra = { changes: countChanges(report.drifts.map((drift) => ({ action: actionOf(drift) }))) };
      const failed = hasErrors(report.diagnostics);
      const { findings } = judgeReachability(
        { ...report.seen, state, desired: workspace.desired },
        { today: todayUtc(), about: "looked" },
      );
      for (const finding of findings) output.event(findingEvent(finding));
      const broken = findings.some(({ code }) => code === "reachability/violated");
      const owed = owedIn(state.resources.values());
      output.print(driftText({ ...report, incomplete: failed }, { colour: output.colour, width: output.width }));
      for (const one of owed) output.print(owedText(one));
      const left = accepts && !failed ? acceptDrift(report.drifts, wanted, workspace, state, output) : undefined;
      const others = report.drifts.filter(({ address }) => wanted.length > 0 && !wanted.includes(address));
      const differs = (left === undefined ? report.drifts : [...left, ...others]).length > 0;
      const told = [...(left ?? []), ...findings.map(findingAsDiagnostic)];
      return output.finish({
        exitCode: failed ? 1 : differs || broken || owed.length > 0 ? 2 : 0,
        owed,
        diagnostics: [...onceAProject(report.diagnostics, state), ...told],
        forPrograms: [...report.diagnostics, ...told],
        findings,
        extra,
      });
    });
  },
});

/** What happened to the resource, in the words of a plan. */
const actionOf = ({ gone }: Drift) => (gone ? "delete" : "update");

/** `reconcile exposure`: who can reach what through the groups, before and after the plan. Sends only reads. */

import { errorsAmong, hasErrors } from "../../core/model/diagnostic";
import { exposureOf } from "../../kinds/group/exposure/exposure";
import { exposureFindings } from "../../kinds/group/exposure/findings";
import { exposureEvents, exposureText } from "../../report/exposure-text";
import { command } from "../command";
import { commonFlags } from "../flags";
import { planOptions } from "../plan-options";
import { prepareBeside } from "../planning";
import { allDiagnostics } from "../session";
import { withSession } from "../with-session";
import { readWorkspace } from "../workspace";

export const exposureCommand = command({
  usage: "exposure [FILE|DIR]…",
  summary: "who can reach what through the groups, before and after the plan",
  section: "Looking",
  examples: [["reconcile exposure", "who can reach what through the groups, now and after the plan"]],
  flags: ["file", "target", "no-refresh", "refresh", "max-age", "destroy", ...commonFlags],
  run(invocation) {
    const { flags, output } = invocation;
    const workspace = readWorkspace(invocation, { needed: false });
    return withSession(invocation, workspace, async (session) => {
      const prepared = await prepareBeside(session, planOptions(flags));
      const problems = errorsAmong(allDiagnostics(session, prepared.plan));
      // Without a plan there is no "after" to show.
      if (hasErrors(problems)) return output.finish({ exitCode: 1, diagnostics: problems });
      const exposure = exposureOf(prepared);
      if (output.events) for (const event of exposureEvents(exposure)) output.event(event);
      output.print(exposureText(exposure, { colour: output.colour, width: output.width }));
      return output.finish({
        exitCode: 0,
        // The text shows these findings in their places.
        forPrograms: exposureFindings(exposure),
      });
    });
  },
});

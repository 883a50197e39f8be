/** `reconcile graph`: the resources with what they refer to, or the steps of the plan, as a picture. */

import { keyIn, keysOf } from "../../core/text/objects";
import { printable } from "../../core/text/printable";
import { writePrivately } from "../../outside/private-file";
import { type Graph, graphDot, graphMermaid, planGraph, resourceGraph } from "../../report/graph/graph";
import { graphSvg } from "../../report/graph/svg";
import { findingEvent } from "../../report/json-lines";
import { withMaskedTitles } from "../../report/plan-outline";
import { command, type Invocation } from "../command";
import { closedFiles } from "../externals";
import { commonFlags } from "../flags";
import { planOptions } from "../plan-options";
import { prepareBeside } from "../planning";
import { reviewPlan, withoutPlanText } from "../review";
import { withSession } from "../with-session";
import { readWorkspace, type Workspace } from "../workspace";

export const graphCommand = command({
  usage: "graph [FILE|DIR]… [--plan] [--format mermaid|dot|svg]",
  summary: "the resources, or the plan, as a picture",
  section: "Looking",
  examples: [
    ["reconcile graph --format svg --out picture.svg", "the resources, as a picture for any browser"],
    ["reconcile graph --plan", "the steps of the plan, as Mermaid for a Markdown page"],
  ],
  flags: ["file", "format", "plan", "out", ...commonFlags],
  formats: () => keysOf(drawings),
  async run(invocation) {
    const { flags, output } = invocation;
    const format = keyIn(drawings, flags.format) ?? "mermaid";
    const workspace = readWorkspace(invocation);
    if (flags.plan === true) return graphOfPlan(invocation, workspace, format);
    const desired = await closedFiles(invocation, workspace);
    showPicture(invocation, drawings[format](resourceGraph(desired.resources)));
    return output.finish({ exitCode: 0, diagnostics: workspace.diagnostics });
  },
});

const drawings = {
  mermaid: (graph: Graph) => graphMermaid(graph),
  dot: (graph: Graph) => graphDot(graph),
  svg: (graph: Graph) => graphSvg(graph),
};
type Format = keyof typeof drawings;

function graphOfPlan(invocation: Invocation, workspace: Workspace, format: Format): Promise<number> {
  return withSession(invocation, workspace, async (session) => {
    const prepared = await prepareBeside(session, planOptions(invocation.flags));
    const { plan } = prepared;
    const review = await reviewPlan(session, prepared);
    const { findings, exitCode } = review;
    // A refused plan can still be drawn.
    const failed = exitCode === 1;
    if (!failed) showPicture(invocation, drawings[format](planGraph(withMaskedTitles(plan, invocation.output.masked))));
    for (const finding of findings) invocation.output.event(findingEvent(finding));
    return invocation.output.finish({ exitCode: failed ? 1 : 0, diagnostics: withoutPlanText(review), plan, findings });
  });
}

function showPicture({ flags, output }: Invocation, picture: string): void {
  if (flags.out !== undefined) {
    writePrivately(flags.out, output.masked(picture));
    output.print(printable(`Wrote ${flags.out}.`));
  } else if (output.json) output.event({ type: "graph", text: picture });
  else output.print(picture);
}

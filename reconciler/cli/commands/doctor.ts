/** `reconcile doctor`: what this service has and lacks, found out with reads alone. */

import { hasErrors } from "../../core/model/diagnostic";
import { diagnoseService } from "../../engine/doctor";
import { openState } from "../../engine/plan";
import { writePrivately } from "../../outside/private-file";
import { dialectYaml, doctorText } from "../../report/doctor-text";
import { command, type Invocation } from "../command";
import { newLineage } from "../compose";
import { commonFlags } from "../flags";
import { withSession } from "../planning";
import { readWorkspace } from "../workspace";

export const doctorCommand = command({
  usage: "doctor [FILE|DIR]… [--out FILE]",
  summary: "what this service has and lacks, and a dialect that fits",
  section: "Looking",
  examples: [
    [
      "reconcile doctor --base-url https://cloud.example.com",
      "tries what is safe to try, and says what each missing operation costs",
    ],
    ["reconcile doctor --out my.dialect.yaml", "writes the dialect that fits, for service.dialect or --dialect"],
  ],
  flags: ["file", "out", ...commonFlags],
  run,
});

function run(invocation: Invocation): Promise<number> {
  const { flags, output } = invocation;
  return withSession(invocation, readWorkspace(invocation, { needed: false }), async ({ service, store }) => {
    const known: { vm?: string; volume?: string; group?: string } = {};
    const { state } = openState(await store.read(), store.location, newLineage());
    for (const record of state.resources.values()) if (record.id !== undefined) known[record.kind] ??= record.id;
    const report = await diagnoseService(
      {
        probe: (request) => service.client.probe(request),
        baseUrl: service.url,
        withAuthorization(name, header) {
          const { client } = service.inDialect({
            ...service.dialect,
            authorization: { ...service.dialect.authorization, name, header },
          });
          return { probe: (request) => client.probe(request), baseUrl: service.url };
        },
      },
      service.dialect,
      known,
    );
    const origin = { baseUrl: service.baseUrl, date: new Date().toISOString().slice(0, 10) };
    for (const finding of report.operations)
      output.event({
        type: "operation",
        operation: finding.operation,
        verdict: finding.verdict,
        route: finding.route,
        ...(finding.fallback === undefined ? {} : { fallback: finding.fallback }),
      });
    if (report.operations.length > 0) output.event({ type: "dialect", yaml: dialectYaml(report, origin) });
    output.print(doctorText(report, output.width));
    if (flags.out !== undefined && report.operations.length > 0) {
      writePrivately(flags.out, dialectYaml(report, origin));
      output.note(`Wrote ${flags.out}. Use it with service.dialect in the file, or --dialect ${flags.out}`);
    }
    const failed = !report.reachable || report.credential === "refused" || hasErrors(report.diagnostics);
    // The text shows them in their place; JSON readers find them in the summary.
    return output.finish({
      exitCode: failed ? 1 : 0,
      diagnostics: service.diagnostics,
      forPrograms: [...service.diagnostics, ...report.diagnostics],
    });
  });
}

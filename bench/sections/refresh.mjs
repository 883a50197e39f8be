// A plan over the network beside a bare reader of the same things: the same service, latency and connections.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cli, floor, inTurns, runOnce, startService, total } from "../processes.mjs";
import { fleet } from "../shapes.mjs";
import { limit, number } from "../table.mjs";

const latencyMs = 20;

export async function measure({ scratch, full, note }) {
  const [vms, groups] = [1_000, 100];
  const cwd = join(scratch, "refresh");
  mkdirSync(cwd);
  writeFileSync(join(cwd, "reconcile.yaml"), fleet(vms, groups, "50ms"));
  const service = await startService(join(scratch, "refresh-world"), ["--time-scale", "0"]);
  const rows = [];
  try {
    note(`refresh: building ${vms} VMs, ${vms} volumes, ${groups} groups`);
    const apply = {
      argv: [process.execPath, cli, "apply", "-y", "--base-url", service.url, "--log-level", "silent"],
      cwd,
    };
    await runOnce(apply);
    await service.control("POST", "/faults", { operation: "read", kind: "latency", ms: latencyMs });
    let counted;
    for (const connections of [10, 50]) {
      note(`refresh: ${connections} connections`);
      const counts = {};
      const bareReader = async (...file) => {
        const given = [service.url, String(connections), join(cwd, "reconcile.state.json"), ...file];
        await service.requests();
        const run = await runOnce({ argv: [process.execPath, floor("bare-reader.mjs"), ...given] });
        counts.reader = total(await service.requests());
        return run;
      };
      const { reader, parser, plan } = await inTurns(
        {
          reader: () => bareReader(),
          parser: () => bareReader(join(cwd, "reconcile.yaml")),
          plan: async () => {
            const argv = [
              process.execPath,
              cli,
              "plan",
              "--base-url",
              service.url,
              "--parallelism",
              String(connections),
            ];
            const run = await runOnce({ argv, cwd });
            counted = await service.requests();
            counts.plan = total(counted);
            if (!run.stdout.includes("Nothing to do")) throw new Error(`not a no-op: ${run.stdout.slice(0, 800)}`);
            return run;
          },
        },
        full ? 7 : 3,
      );
      const what = `plan of ${vms} VMs, ${vms} volumes, ${groups} groups, ${latencyMs} ms, ${connections} connections`;
      rows.push(limit(what, plan, parser, "bare reader that parses the file", connections === 50 ? 1.1 : 1.15));
      rows.push(limit("  beside one that parses nothing", plan, reader, "bare reader"));
      if (connections === 10)
        rows.push(
          number("  its requests", counts.plan, "requests", {
            most: counts.reader + 3,
            ratio: counts.plan / counts.reader,
            floor: `${counts.reader} (list pages, each volume, each group) + 3 catalogues`,
            spread: Object.entries(counted)
              .map(([operation, count]) => `${operation} ${count}`)
              .join(", "),
          }),
        );
    }
  } finally {
    await service.close();
  }
  return rows;
}

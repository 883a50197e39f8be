// Plans that look at a part of the world, beside the plan of all of it: the same service, the same latency.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cli, inTurns, runOnce, startService, total } from "../processes.mjs";
import { fleet } from "../shapes.mjs";
import { number } from "../table.mjs";

const latencyMs = 20;

export async function measure({ scratch, full, note }) {
  const [vms, groups] = [300, 30];
  const cwd = join(scratch, "looking-less");
  mkdirSync(cwd);
  writeFileSync(join(cwd, "reconcile.yaml"), fleet(vms, groups, "50ms"));
  const service = await startService(join(scratch, "looking-less-world"), ["--time-scale", "0"]);
  try {
    note(`looking less: building ${vms} VMs, ${vms} volumes, ${groups} groups`);
    const run = (...words) =>
      runOnce({ argv: [process.execPath, cli, ...words, "--base-url", service.url, "--log-level", "silent"], cwd });
    await run("apply", "-y");
    // This apply records when each resource was seen.
    await run("apply", "-y", "--refresh=changed");
    await service.control("POST", "/faults", { operation: "read", kind: "latency", ms: latencyMs });
    const counts = {};
    const counted =
      (name, ...words) =>
      async () => {
        await service.requests();
        const ran = await run("plan", ...words);
        counts[name] = total(await service.requests());
        return ran;
      };
    const { whole, target, group, changed } = await inTurns(
      {
        whole: counted("whole"),
        target: counted("target", "--target", "volume.disk[7]"),
        group: counted("group", "--target", "group.sg-7"),
        changed: counted("changed", "--refresh=changed"),
      },
      full ? 7 : 3,
    );
    const beside = (what, narrow, name) =>
      number(what, narrow.ms / whole.ms, "of the whole plan's time", {
        floor: `${counts.whole} requests, ${Math.round(whole.ms)} ms`,
        spread: `${counts[name]} requests, ${Math.round(narrow.ms)} ms`,
        ratio: narrow.ms / whole.ms,
      });
    const besideWhole = (name) => ({ floor: `${counts.whole} (whole plan)`, ratio: counts[name] / counts.whole });
    return [
      beside(`plan --target of one volume of ${2 * vms + groups}, ${latencyMs} ms`, target, "target"),
      number("  its requests", counts.target, "requests", { most: 6, ...besideWhole("target") }),
      beside(`plan --target of one group of ${2 * vms + groups}`, group, "group"),
      number("  its requests", counts.group, "requests", { most: 1, ...besideWhole("group") }),
      beside("plan --refresh=changed, nothing changed", changed, "changed"),
      number("  its requests", counts.changed, "requests", { most: 0, ...besideWhole("changed") }),
    ];
  } finally {
    await service.close();
  }
}

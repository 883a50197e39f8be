// Building a fleet whose VMs take ten seconds each, beside a bare writer of the same requests on as many connections.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cli, floor, inTurns, runOnce, startService, total } from "../processes.mjs";
import { fleet } from "../shapes.mjs";
import { limit, number } from "../table.mjs";

// The service's minute in ten seconds.
const timeScale = 6;
const pollMs = 500;
const connections = 10;

export async function measure({ scratch, full, note }) {
  const [vms, groups] = [100, 10];
  const counts = {};
  let turn = 0;
  /** Gives each run a world of its own. */
  const inNewWorld = (name, run) => async () => {
    note(`apply: ${name}`);
    const folder = join(scratch, `apply-${turn++}`);
    mkdirSync(folder);
    const service = await startService(join(folder, "world"), ["--time-scale", String(timeScale)]);
    try {
      await service.control("POST", "/faults", { operation: "*", kind: "latency", ms: 20 });
      const ran = await run(service.url, folder);
      counts[name] = await service.requests();
      return ran;
    } finally {
      await service.close();
      rmSync(folder, { recursive: true });
    }
  };
  const files = fleet(vms, groups, `${pollMs}ms`);
  const ours = (name, text) =>
    inNewWorld(name, (url, cwd) => {
      writeFileSync(join(cwd, "reconcile.yaml"), text);
      return runOnce({
        argv: [process.execPath, cli, "apply", "-y", "--base-url", url, "--log-level", "silent"],
        cwd,
      });
    });
  const { writer, apply } = await inTurns(
    {
      writer: inNewWorld("bare writer", (url) =>
        runOnce({
          argv: [process.execPath, floor("bare-writer.mjs"), url, ...[connections, vms, groups, pollMs].map(String)],
        }),
      ),
      apply: ours("reconcile apply", files),
    },
    full ? 5 : 2,
  );
  // One line of the dialect says that this service attaches before it answers.
  const spared = "reconcile apply, no look after an attach";
  await ours(spared, files.replace("service: {", "service: { dialect: { states: { volume: { changing: [] } } },"))();
  const bare = total(counts["bare writer"]);
  const requests = (what, name, least) =>
    number(what, total(counts[name]), "requests", {
      most: Math.floor(least * 1.2),
      floor: `${least}`,
      ratio: total(counts[name]) / least,
      spread: Object.entries(counts[name])
        .map(([operation, count]) => `${operation} ${count}`)
        .join(", "),
    });
  return [
    limit(
      `first apply of ${vms} VMs (10 s each), ${vms} attached volumes, ${groups} groups`,
      apply,
      writer,
      "bare writer",
      1.1,
    ),
    requests(
      "  its requests, beside the bare writer and a look at each attached volume",
      "reconcile apply",
      bare + vms,
    ),
    requests("  its requests where the dialect spares that look, beside the bare writer", spared, bare),
  ];
}

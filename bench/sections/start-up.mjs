// What a command costs before it has done any work.
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { cli, inTurns } from "../processes.mjs";
import { limit } from "../table.mjs";
import { preparedFolder } from "./plan-from-memory.mjs";

export async function measure({ scratch, full }) {
  const cwd = join(scratch, "small");
  mkdirSync(cwd);
  execFileSync(process.execPath, [cli, "init"], { cwd });
  const run = (...words) => ({ argv: [process.execPath, ...words], cwd });
  const { floor, version, validate, plan } = await inTurns(
    {
      floor: run("-e", "0"),
      version: run(cli, "version"),
      validate: run(cli, "validate"),
      plan: run(cli, "plan", "--no-refresh", "--base-url", "http://127.0.0.1:9"),
    },
    full ? 41 : 15,
  );
  const first = [];
  for (const n of full ? [10_000, 100_000] : [10_000]) {
    const large = preparedFolder(scratch, "flat", n);
    const words = [process.execPath, cli, "plan", "--no-refresh", "--base-url", "http://127.0.0.1:9"];
    const { node, plan: of } = await inTurns(
      { node: run("-e", "0"), plan: { argv: words, cwd: large } },
      n > 10_000 ? 3 : 9,
    );
    const firstWord = { ms: of.firstMs, min: of.firstMs, max: of.firstMs };
    first.push(limit(`first word of a plan of ${n} resources`, firstWord, node, "node -e 0", 1.5));
  }
  return [
    ...first,
    limit("reconcile version", version, floor, "node -e 0", 1.3),
    limit("reconcile validate, a small file", validate, floor, "node -e 0", 2.5),
    limit("reconcile plan --no-refresh, a small file", plan, floor, "node -e 0"),
  ];
}

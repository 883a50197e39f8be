// Showing a plan in which everything is new, in each of its forms, less what planning itself takes; and the first word.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cli, inTurns } from "../processes.mjs";
import { shapes } from "../shapes.mjs";
import { limit, number } from "../table.mjs";

export async function measure({ scratch, full, note }) {
  const rows = [];
  const times = full ? 5 : 3;
  // The graph of 1,000 resources takes less time than two runs differ by, so sizes begin above that.
  const sizes = [10_000, 50_000];
  const forms = {
    text: ["plan", "--no-refresh"],
    json: ["plan", "--no-refresh", "--json"],
    markdown: ["plan", "--no-refresh", "--markdown"],
    graph: ["graph", "--format", "mermaid"],
  };
  const spreads = {};
  for (const n of sizes) {
    note(`rendering: ${n}`);
    const cwd = join(scratch, `render-${n}`);
    mkdirSync(cwd);
    writeFileSync(join(cwd, "reconcile.yaml"), shapes.flat(n));
    const run = (words) => ({
      argv: [process.execPath, cli, ...words, ...(words[0] === "plan" ? ["--base-url", "http://127.0.0.1:9"] : [])],
      cwd,
      exits: [0, 1],
    });
    spreads[n] = await inTurns(
      {
        validate: run(["validate"]),
        ...Object.fromEntries(Object.entries(forms).map(([form, words]) => [form, run(words)])),
      },
      times,
    );
  }
  const atOnce = (ms) => ({ ms, min: ms, max: ms });
  const [small, large] = sizes.map((n) => spreads[n]);
  for (const form of Object.keys(forms)) {
    const grown = (large[form].ms - large.validate.ms) / Math.max(1, small[form].ms - small.validate.ms);
    rows.push(
      limit(
        `a plan of 10,000 new resources as ${form}, beyond reading the file`,
        atOnce(small[form].ms - small.validate.ms),
        small.validate,
        "reconcile validate",
      ),
      number("  growth, exponent to 50,000", Math.log(Math.max(0.1, grown)) / Math.log(5), "", { most: 1.1 }),
    );
  }
  return rows;
}

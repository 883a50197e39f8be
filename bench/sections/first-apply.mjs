// A first apply against a service that takes no time: what this tool and its state cost, and how that grows.
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cli, exponentOf, inTurns, root, runOnce } from "../processes.mjs";
import { shapes } from "../shapes.mjs";
import { number, remark } from "../table.mjs";

export async function measure({ scratch, full, alchemy: isAlchemyWanted, note }) {
  const rows = [];
  let tenThousand;
  for (const shape of full ? ["flat", "for_each", "mutual"] : ["flat", "for_each"]) {
    const points = [];
    for (const n of [100, 1_000, 10_000]) {
      note(`first apply: ${shape}, ${n}`);
      let turn = 0;
      const text = shapes[shape](n);
      const { apply } = await inTurns(
        {
          apply: () => {
            const cwd = join(scratch, `first-${shape}-${n}-${turn++}`);
            mkdirSync(cwd);
            writeFileSync(join(cwd, "reconcile.yaml"), text);
            const argv = [
              process.execPath,
              cli,
              "apply",
              "-y",
              "--base-url",
              "embedded",
              "--time-scale",
              "0",
              "--log-level",
              "silent",
            ];
            return runWithMemory({ argv, cwd });
          },
        },
        n === 10_000 && !full ? 1 : 3,
      );
      points.push([n, apply.ms]);
      if (n === 10_000) {
        tenThousand ??= apply;
        rows.push(
          number(`first apply of ${n} ${shape}, the service inside`, apply.ms / 1000, "s", {
            spread: `${Math.round(apply.peakMb)} MB with the service`,
            floor: `${(points[1][1] / 100).toFixed(1)} s (ten times 1,000)`,
            ratio: apply.ms / (10 * points[1][1]),
          }),
        );
      }
    }
    rows.push(number(`  growth, ${shape}, exponent`, exponentOf(points, points[0][1]), "", { most: 1.1 }));
  }
  if (isAlchemyWanted) rows.push(await alchemy(scratch, tenThousand, note));
  return rows;
}

const runWithMemory = (options) => runOnce({ ...options, memory: true });

/** Alchemy is installed for this run, and never into this package. */
async function alchemy(scratch, ours, note) {
  const cwd = join(scratch, "alchemy");
  mkdirSync(cwd);
  writeFileSync(join(cwd, "package.json"), '{ "type": "module", "private": true }\n');
  writeFileSync(
    join(cwd, "run.mjs"),
    `import alchemy, { Resource } from "alchemy";
const Thing = Resource("bench::Thing", async function (id, props) { return this.phase === "delete" ? this.destroy() : this.create(props); });
const app = await alchemy("bench", { quiet: true, noTrack: true, phase: "up", stage: "bench", password: "bench" });
await Promise.all(Array.from({ length: 10000 }, (_, n) => Thing("thing-" + n, { value: n })));
await app.finalize();
`,
  );
  note("alchemy: installing");
  try {
    execFileSync("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts", "alchemy@0.94"], {
      cwd,
      stdio: "ignore",
      timeout: 180_000,
    });
    // It takes local files for a mistake where nobody is asked.
    const env = { CI: "1", ALCHEMY_CI_STATE_STORE_CHECK: "false" };
    const { run } = await inTurns({ run: { argv: [process.execPath, "run.mjs"], cwd, env } }, 1);
    return number("Alchemy / ours, first apply of 10,000", run.ms / ours.ms, "times", {
      least: 1,
      floor: `${(run.ms / 1000).toFixed(1)} s / ${(ours.ms / 1000).toFixed(1)} s`,
      ratio: ours.ms / run.ms,
    });
  } catch (error) {
    return remark(
      "Alchemy beside ours",
      `not compared here: ${String(error.message).split("\n")[0].slice(0, 80).replace(root, ".")}`,
    );
  }
}

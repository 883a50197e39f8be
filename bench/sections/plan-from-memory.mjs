// A plan that has nothing to do, from the file and the state alone, beside parsing the file and doing nothing with it.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { prepareState } from "../prepared-state.mjs";
import { cli, exponentOf, floor, inTurns } from "../processes.mjs";
import { shapes } from "../shapes.mjs";
import { limit, number } from "../table.mjs";

export async function measure({ scratch, full, note }) {
  const rows = [];
  const flat = new Map();
  const sizes = full ? [100, 1_000, 10_000, 100_000] : [100, 1_000, 10_000];
  for (const shape of Object.keys(shapes)) {
    const points = [];
    const parsed = [];
    let last;
    for (const n of sizes) {
      note(`plan from memory: ${shape}, ${n}`);
      const cwd = preparedFolder(scratch, shape, n);
      const times = n >= 100_000 ? 3 : n >= 10_000 ? (full ? 7 : 5) : 3;
      const { parse, plan } = await inTurns(
        {
          parse: { argv: [process.execPath, floor("parse-yaml.cjs"), "reconcile.yaml"], cwd },
          plan: { argv: planOf(), cwd },
        },
        times,
        { memory: true },
      );
      if (!plan.last.stdout.includes("Nothing to do"))
        throw new Error(`not a no-op: ${plan.last.stdout.slice(0, 500)}`);
      points.push([n, plan.ms]);
      last = plan;
      parsed.push([n, parse.ms]);
      const name = `no-op plan, ${n} ${shape}`;
      if (shape === "flat") flat.set(n, plan);
      // What for_each makes is not in the file, so that a parser has nothing to do there.
      if (n >= 10_000)
        rows.push(
          shape === "for_each"
            ? limit(name, plan, flat.get(n), "as many written out", 1.5)
            : limit(name, plan, parse, "YAML parse", 1),
        );
      if (n >= 10_000)
        rows.push(
          number(`  its memory`, plan.peakMb, "MB", {
            most: n === 10_000 ? 250 : 350,
            floor: `${Math.round(parse.peakMb)} MB (YAML parse)`,
            ratio: plan.peakMb / parse.peakMb,
          }),
        );
    }
    // A hundred thousand beside ten thousand: what is ten times as much takes ten times as long at most.
    if (shape === "flat" && !full) rows.push(...(await hundredThousand(scratch, last, note)));
    rows.push(
      number(`  growth, ${shape}, exponent to ${sizes.at(-1)}`, exponentOf(points, points[0][1]), "", {
        most: 1.1,
        floor: shape === "for_each" ? "" : exponentOf(parsed, parsed[0][1]).toFixed(2),
      }),
    );
  }
  return rows;
}

async function hundredThousand(scratch, tenThousand, note) {
  note("plan from memory: flat, 100000");
  const cwd = preparedFolder(scratch, "flat", 100_000);
  const { plan } = await inTurns({ plan: { argv: planOf(), cwd } }, 2, { memory: true });
  const ten = { ms: 10 * tenThousand.ms };
  return [
    limit("no-op plan, 100000 flat", plan, ten, "ten times 10,000", 1.25),
    number("  its memory", plan.peakMb, "MB", {
      most: 350,
      floor: `${Math.round(10 * tenThousand.peakMb)} MB (ten times 10,000)`,
      ratio: plan.peakMb / (10 * tenThousand.peakMb),
    }),
  ];
}

const planOf = () => [process.execPath, cli, "plan", "--no-refresh", "--base-url", "http://127.0.0.1:9"];

/** A file of that shape with the state that an apply of it leaves; made once a run. */
export function preparedFolder(scratch, shape, n) {
  const folder = join(scratch, `${shape}-${n}`);
  if (existsSync(folder)) return folder;
  mkdirSync(folder);
  writeFileSync(join(folder, "reconcile.yaml"), shapes[shape](n));
  prepareState(folder);
  return folder;
}

// The whole comparison: what is measured, beside its floor, in one run. `npm run bench -- --help` says how.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { chartSvg } from "./chart.mjs";
import { root } from "./processes.mjs";
import { remark, tableText } from "./table.mjs";

const sections = [
  "start-up",
  "plan-from-memory",
  "terraform",
  "refresh",
  "looking-less",
  "side-by-side",
  "terraform-aws",
  "fleet",
  "composition",
  "apply",
  "first-apply",
  "recording",
  "rendering",
  "emulator",
];

const { values } = parseArgs({
  options: {
    full: { type: "boolean", default: false },
    alchemy: { type: "boolean", default: false },
    only: { type: "string" },
    out: { type: "string", default: join(root, "bench/out") },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  process.stdout.write(`npm run bench -- [flags]    what the program needs, beside its floors and other tools, in one run

  --only NAMES   separated by commas, a beginning is enough:
                 ${sections.join(" ")}
  --full         more sizes and more runs of each
  --alchemy      Alchemy too, which is installed for the occasion
  --out FOLDER   for performance.json and performance.svg; otherwise bench/out

Terraform, OpenTofu and Pulumi are measured where they are on PATH. The exit code is 1 where a section could not be measured.
`);
  process.exit();
}
const wanted =
  values.only === undefined
    ? sections
    : sections.filter((name) => values.only.split(",").some((part) => name.startsWith(part)));
const scratch = mkdtempSync(join(tmpdir(), "reconcile-bench-"));
const note = (text) => process.stderr.write(`${text}\n`);
const rows = [];
try {
  for (const name of wanted) {
    note(`== ${name}`);
    // A section that cannot be measured loses only its own rows.
    try {
      const { measure } = await import(`./sections/${name}.mjs`);
      const wishes = { scratch, full: values.full, alchemy: values.full || values.alchemy, note };
      for (const row of await measure(wishes)) rows.push({ section: name, ...row });
    } catch (error) {
      note(String(error));
      rows.push({
        section: name,
        ...remark(name, `not measured: ${String(error.message).split("\n")[0].slice(0, 100)}`),
      });
      process.exitCode = 1;
    }
    // The results are written after each section, so that a run that is cut off leaves what it has measured.
    write();
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
process.stdout.write(`${tableText(rows)}\n`);

function write() {
  const machine = { cores: cpus().length, node: process.version, platform: `${process.platform} ${process.arch}` };
  mkdirSync(values.out, { recursive: true });
  const figures = `${JSON.stringify({ machine, full: values.full, rows }, undefined, 1)}\n`;
  writeFileSync(join(values.out, "performance.json"), figures);
  writeFileSync(join(values.out, "performance.svg"), chartSvg(rows));
}

const missed = rows.filter(({ met }) => met === false);
note(missed.length === 0 ? "Every goal is met." : `Not met: ${missed.map(({ what }) => what.trim()).join("; ")}`);

// The same shapes in Terraform and OpenTofu with their built-in resource, where they are on PATH: no provider to fetch, no
// network. Its state is written here as its own apply would leave it, because applying 10,000 takes it half an hour.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cli, inTurns } from "../processes.mjs";
import { number, remark } from "../table.mjs";
import { noTerraform, terraformBegins, terraformEnv, terraforms } from "../terraform-command.mjs";
import { preparedFolder } from "./plan-from-memory.mjs";

export async function measure(bench) {
  const rows = [];
  for (const one of terraforms()) rows.push(...(await besideOne(one, bench)));
  return rows.length === 0 ? [noTerraform] : rows;
}

async function besideOne({ command, name }, { scratch, full, note }) {
  const rows = [];
  // Chains cost it the square of their length: 10,000 would take it half an hour.
  const cases = [
    ["flat", 1_000],
    ["for_each", 1_000],
    ["chained", 1_000],
    ["flat", 10_000],
  ];
  for (const [shape, n] of cases) {
    note(`${name}: ${shape}, ${n}`);
    const folder = join(scratch, `${command}-${shape}-${n}`);
    mkdirSync(folder);
    writeFileSync(join(folder, "main.tf.json"), JSON.stringify(configuration[shape](n)));
    writeFileSync(join(folder, "terraform.tfstate"), JSON.stringify(stateOf(shape, n)));
    if (!terraformBegins(folder, command))
      return [...rows, remark(`${name} beside ours`, `${command} init failed without a network`)];
    const cwd = preparedFolder(scratch, shape, n);
    const { ours, theirs } = await inTurns(
      {
        ours: { argv: [process.execPath, cli, "plan", "--no-refresh", "--base-url", "http://127.0.0.1:9"], cwd },
        theirs: { argv: [command, "plan", "-input=false", "-no-color"], cwd: folder, env: terraformEnv },
      },
      full ? 3 : 1,
      { memory: true },
    );
    if (!theirs.last.stdout.includes("No changes")) throw new Error(`not a no-op: ${theirs.last.stdout.slice(-800)}`);
    const isGoal = n === 10_000;
    rows.push(
      number(`${name} / ours, no-op plan, ${n} ${shape}`, theirs.ms / ours.ms, "times", {
        floor: `${(theirs.ms / 1000).toFixed(1)} s / ${(ours.ms / 1000).toFixed(2)} s`,
        ratio: ours.ms / theirs.ms,
        ...(isGoal ? { least: 8 } : {}),
      }),
      number(`  its memory / ours`, theirs.peakMb / ours.peakMb, "times", {
        floor: `${Math.round(theirs.peakMb)} MB / ${Math.round(ours.peakMb)} MB`,
        ratio: ours.peakMb / theirs.peakMb,
        ...(isGoal ? { least: 5 } : {}),
      }),
    );
  }
  return rows;
}

const block = (resources) => ({ resource: { terraform_data: resources } });
const many = (n, make) => Object.fromEntries(Array.from({ length: n }, (_, i) => make(i)));
const configuration = {
  flat: (n) => block(many(n, (i) => [`r${i}`, { input: `value-${i}` }])),
  chained: (n) =>
    block(many(n, (i) => [`r${i}`, { input: i === 0 ? "value-0" : `\${terraform_data.r${i - 1}.id}-${i}` }])),
  for_each: (n) => {
    const half = Math.floor(n / 2);
    const keys = (count) => `\${toset([for i in range(${count}) : tostring(i)])}`;
    return block({
      web: { for_each: keys(n - half), input: "${each.key}" },
      disk: { for_each: keys(half), input: "${terraform_data.web[each.key].id}" },
    });
  },
};

function stateOf(shape, n) {
  const id = (name) => `id-${name}`;
  const instance = (name, input, more = {}) => ({
    schema_version: 0,
    attributes: {
      id: id(name),
      input: { value: input, type: "string" },
      output: { value: input, type: "string" },
      triggers_replace: null,
    },
    sensitive_attributes: [],
    ...more,
  });
  const resource = (name, instances, each) => ({
    mode: "managed",
    type: "terraform_data",
    name,
    provider: 'provider["terraform.io/builtin/terraform"]',
    ...(each === undefined ? {} : { each }),
    instances,
  });
  let resources;
  if (shape === "for_each") {
    const half = Math.floor(n / 2);
    const keyed = (count, make) => Array.from({ length: count }, (_, i) => make(String(i)));
    resources = [
      resource(
        "disk",
        keyed(half, (key) =>
          instance(`disk-${key}`, id(`web-${key}`), { index_key: key, dependencies: ["terraform_data.web"] }),
        ),
      ),
      resource(
        "web",
        keyed(n - half, (key) => instance(`web-${key}`, key, { index_key: key })),
      ),
    ];
  } else {
    const before = [];
    resources = Array.from({ length: n }, (_, i) => {
      const input = shape === "flat" || i === 0 ? `value-${i}` : `${id(`r${i - 1}`)}-${i}`;
      // Terraform keeps the dependencies of dependencies too.
      const dependencies = shape === "chained" && i > 0 ? { dependencies: [...before] } : {};
      before.push(`terraform_data.r${i}`);
      return resource(`r${i}`, [instance(`r${i}`, input, dependencies)]);
    });
  }
  return {
    version: 4,
    terraform_version: "1.0.0",
    serial: 1,
    lineage: "00000000-0000-4000-9000-000000000000",
    outputs: {},
    resources,
    check_results: null,
  };
}

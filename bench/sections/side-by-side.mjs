// Ours, and Terraform's, OpenTofu's and Pulumi's own work for as many things, in one run: M VMs with a volume each, applied and planned
// again. Ours sends every request to the emulated service; Terraform's built-in resource and Pulumi's dynamic one have no
// API at all, since the provider of a cloud cannot be fetched without its registry. So what is compared is what the tools
// themselves cost, with ours at a disadvantage.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cli, inTurns, runOnce, startService } from "../processes.mjs";
import { noPulumi, pulumiEnv, pulumiName, writeProgram } from "../pulumi-command.mjs";
import { fleet } from "../shapes.mjs";
import { number } from "../table.mjs";
import { noTerraform, terraformBegins, terraformEnv, terraforms } from "../terraform-command.mjs";

export async function measure({ scratch, full, note }) {
  const [likes, pulumi] = [terraforms(), pulumiName()];
  const rows = [...(likes.length === 0 ? [noTerraform] : []), ...(pulumi === undefined ? [noPulumi] : [])];
  if (likes.length === 0 && pulumi === undefined) return rows;
  let turn = 0;
  const newFolder = () => {
    const cwd = join(scratch, `side-${turn++}`);
    mkdirSync(cwd);
    return cwd;
  };
  /** The first run with the time of the second in its `firstMs`. */
  const twice = async (first, second) => {
    const applied = await runOnce(first);
    const planned = await runOnce(second);
    return { ...applied, firstMs: planned.ms };
  };
  for (const m of [20, 100, 300]) {
    const ours = async () => {
      const cwd = newFolder();
      writeFileSync(join(cwd, "reconcile.yaml"), fleet(m, 0, "2s").replace("groups:\n", ""));
      const service = await startService(join(cwd, "world"), ["--time-scale", "0"]);
      const argv = (...words) => [process.execPath, cli, ...words, "--base-url", service.url, "--log-level", "silent"];
      try {
        return await twice({ argv: argv("apply", "-y"), cwd }, { argv: argv("plan"), cwd });
      } finally {
        await service.close();
      }
    };
    const runsOf = (command) => async () => {
      const cwd = newFolder();
      const each = `\${toset([for i in range(${m}) : tostring(i)])}`;
      const terraform_data = {
        web: { for_each: each, input: "${each.key}" },
        disk: { for_each: each, input: "${terraform_data.web[each.key].id}" },
      };
      writeFileSync(join(cwd, "main.tf.json"), JSON.stringify({ resource: { terraform_data } }));
      terraformBegins(cwd, command);
      const argv = (...words) => [command, ...words, "-input=false", "-no-color"];
      const at = { cwd, env: terraformEnv };
      return twice({ argv: argv("apply", "-auto-approve"), ...at }, { argv: argv("plan"), ...at });
    };
    const pulumiRuns = async () => {
      const cwd = newFolder();
      const env = pulumiEnv(join(cwd, "pulumi"));
      const program = join(cwd, "program");
      writeProgram(program, m);
      const at = { cwd: program, env };
      const argv = (...words) => ["pulumi", ...words, "--non-interactive"];
      await runOnce({ argv: argv("stack", "init", "bench"), ...at });
      return twice(
        { argv: argv("up", "--yes", "--skip-preview", "--suppress-progress"), ...at },
        { argv: argv("preview", "--suppress-progress"), ...at },
      );
    };
    note(`side by side: ${m} VMs with a volume each`);
    const ran = await inTurns(
      {
        ours,
        ...Object.fromEntries(likes.map(({ command }) => [command, runsOf(command)])),
        ...(pulumi === undefined ? {} : { pulumi: pulumiRuns }),
      },
      full ? 3 : 1,
    );
    const peers = [...likes.map(({ command, name }) => [name, ran[command]]), [pulumi, ran.pulumi]].filter(
      ([, theirs]) => theirs !== undefined,
    );
    // A plan of things without an API looks at nothing at all; only its size says something.
    const beside = (what, of, isPlan) =>
      peers.map(([name, theirs]) =>
        number(`${what}, beside ${name} without an API`, of(ran.ours) / of(theirs), "of its time", {
          floor: `${(of(theirs) / 1000).toFixed(2)} s`,
          spread: `${(of(ran.ours) / 1000).toFixed(2)} s`,
          ratio: of(ran.ours) / of(theirs),
          ...(m >= 100 && !(isPlan && name !== pulumi) ? { most: 1 } : {}),
        }),
      );
    rows.push(
      ...beside(`first apply of ${m} VMs and ${m} attached volumes`, ({ ms }) => ms),
      ...beside(`no-op plan of ${m} VMs and ${m} volumes, everything looked at`, ({ firstMs }) => firstMs, true),
    );
  }
  return rows;
}

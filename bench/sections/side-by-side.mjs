// Ours and Terraform's own work for as many things, in one run: M VMs with a volume each, applied and planned again. Ours
// sends every request to the emulated service; Terraform's built-in resource has no API at all, since the provider of a
// cloud cannot be fetched without its registry. So what is compared is what the tools themselves cost, with ours at a
// disadvantage.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cli, inTurns, runOnce, startService } from "../processes.mjs";
import { fleet } from "../shapes.mjs";
import { number } from "../table.mjs";
import { noTerraform, terraformBegins, terraformEnv, terraformName } from "../terraform-command.mjs";

export async function measure({ scratch, full, note }) {
  const name = terraformName();
  if (name === undefined) return [noTerraform];
  const rows = [];
  let turn = 0;
  for (const m of full ? [20, 100, 300] : [20, 100]) {
    note(`${name} beside ours: ${m} VMs with a volume each`);
    const ours = async () => {
      const cwd = join(scratch, `side-${turn++}`);
      mkdirSync(cwd);
      writeFileSync(join(cwd, "reconcile.yaml"), fleet(m, 0, "2s").replace("groups:\n", ""));
      const service = await startService(join(cwd, "world"), ["--time-scale", "0"]);
      try {
        const words = ["--base-url", service.url, "--log-level", "silent"];
        const applied = await runOnce({ argv: [process.execPath, cli, "apply", "-y", ...words], cwd });
        const planned = await runOnce({ argv: [process.execPath, cli, "plan", ...words], cwd });
        return { ...applied, firstMs: planned.ms };
      } finally {
        await service.close();
      }
    };
    const theirs = async () => {
      const cwd = join(scratch, `side-${turn++}`);
      mkdirSync(cwd);
      const each = `\${toset([for i in range(${m}) : tostring(i)])}`;
      writeFileSync(
        join(cwd, "main.tf.json"),
        JSON.stringify({
          resource: {
            terraform_data: {
              web: { for_each: each, input: "${each.key}" },
              disk: { for_each: each, input: "${terraform_data.web[each.key].id}" },
            },
          },
        }),
      );
      terraformBegins(cwd);
      const argv = (...words) => ["terraform", ...words, "-input=false", "-no-color"];
      const applied = await runOnce({ argv: argv("apply", "-auto-approve"), cwd, env: terraformEnv });
      const planned = await runOnce({ argv: argv("plan"), cwd, env: terraformEnv });
      return { ...applied, firstMs: planned.ms };
    };
    const both = await inTurns({ ours, theirs }, full ? 3 : 1);
    const row = (what, of, most) =>
      number(what, of(both.ours) / of(both.theirs), `of ${name}`, {
        floor: `${(of(both.theirs) / 1000).toFixed(2)} s`,
        spread: `${(of(both.ours) / 1000).toFixed(2)} s`,
        ...(most === undefined ? {} : { most }),
      });
    rows.push(
      row(
        `first apply of ${m} VMs and ${m} attached volumes, every request sent`,
        ({ ms }) => ms,
        m >= 100 ? 1 : undefined,
      ),
      row("  no-op plan, everything looked at", ({ firstMs }) => firstMs),
    );
  }
  return rows;
}

// Ours against the emulated service beside Terraform with its AWS provider against an emulator of AWS: M VMs with an attached
// volume each, applied and planned again, both looking at everything. Most of the provider's time is its own pauses between
// looks, as with the cloud itself; so the requests stand beside the time. 100 and 300 VMs take it half an hour: --full.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { awsEnv, awsFiles, awsPeer, startAwsEmulator } from "../aws-emulator.mjs";
import { cli, runOnce, startService, total } from "../processes.mjs";
import { fleet } from "../shapes.mjs";
import { number, remark } from "../table.mjs";
import { noTerraform, terraformName } from "../terraform-command.mjs";

export async function measure({ scratch, full, note }) {
  const terraform = terraformName();
  if (terraform === undefined) return [noTerraform];
  const { missing, mirror, name } = awsPeer();
  if (missing !== undefined) return [remark("Terraform's AWS provider beside ours", `${missing}: not compared`)];
  const rows = [];
  for (const m of full ? [20, 100, 300] : [20]) {
    note(`Terraform's AWS provider: ${m} VMs with a volume each`);
    const ours = await runOurs(m, newFolder(scratch, `aws-ours-${m}`));
    const theirs = await runTheirs(m, newFolder(scratch, `aws-theirs-${m}`), mirror);
    const peer = `${terraform} with its ${name} against moto`;
    for (const [what, run] of [
      [`first apply of ${m} VMs and ${m} attached volumes`, "apply"],
      [`no-op plan of ${m} VMs and ${m} volumes, everything looked at`, "plan"],
    ]) {
      const seconds = ({ ms }) => `${(ms / 1000).toFixed(2)} s`;
      const [one, other] = [ours[run], theirs[run]];
      rows.push(
        number(`${peer} / ours, ${what}`, other.ms / one.ms, "times", {
          floor: `${seconds(other)} / ${seconds(one)}`,
          ratio: one.ms / other.ms,
          least: 1,
        }),
        number("  its requests / ours", other.requests / one.requests, "times", {
          floor: `${other.requests} / ${one.requests}`,
          ratio: one.requests / other.requests,
          least: 1,
        }),
      );
    }
  }
  return rows;
}

const newFolder = (scratch, name) => {
  const cwd = join(scratch, name);
  mkdirSync(cwd);
  return cwd;
};

async function runOurs(m, cwd) {
  writeFileSync(join(cwd, "reconcile.yaml"), fleet(m, 0, "2s").replace("groups:\n", ""));
  const service = await startService(join(cwd, "world"), ["--time-scale", "0"]);
  const run = async (...words) => {
    const argv = [process.execPath, cli, ...words, "--base-url", service.url, "--log-level", "silent"];
    const { ms } = await runOnce({ argv, cwd });
    return { ms, requests: total(await service.requests()) };
  };
  try {
    return { apply: await run("apply", "-y"), plan: await run("plan") };
  } finally {
    await service.close();
  }
}

async function runTheirs(m, cwd, mirror) {
  const emulator = await startAwsEmulator();
  const env = awsEnv(cwd, mirror);
  const run = async (...words) => {
    const { ms } = await runOnce({ argv: ["terraform", ...words, "-input=false", "-no-color"], cwd, env });
    return { ms, requests: emulator.requests() };
  };
  try {
    writeFileSync(join(cwd, "main.tf.json"), JSON.stringify(awsFiles(m, emulator.url)));
    await run("init");
    return { apply: await run("apply", "-auto-approve"), plan: await run("plan") };
  } finally {
    await emulator.close();
  }
}

// The terraform on PATH, for what is measured beside ours.
import { spawnSync } from "node:child_process";
import { remark } from "./table.mjs";

/** Settings under which Terraform asks nobody for anything. */
export const terraformEnv = { TF_CLI_CONFIG_FILE: "/dev/null", CHECKPOINT_DISABLE: "1", TF_IN_AUTOMATION: "1" };

const run = (args, cwd) => spawnSync("terraform", args, { cwd, env: { ...process.env, ...terraformEnv } });

/** Terraform's name with its version; `undefined`: there is no terraform on PATH. */
export function terraformName() {
  const version = run(["version", "-json"]);
  return version.status === 0 ? `Terraform ${JSON.parse(String(version.stdout)).terraform_version}` : undefined;
}

export const noTerraform = remark("Terraform beside ours", "there is no terraform on PATH: not compared");

/** Whether `terraform init` works in the folder without a network. */
export const terraformBegins = (cwd) => run(["init", "-input=false", "-no-color"], cwd).status === 0;

// The terraform and the tofu (OpenTofu) on PATH, for what is measured beside ours: they take the same words and files.
import { spawnSync } from "node:child_process";
import { remark } from "./table.mjs";

/** Settings under which they ask nobody for anything. */
export const terraformEnv = { TF_CLI_CONFIG_FILE: "/dev/null", CHECKPOINT_DISABLE: "1", TF_IN_AUTOMATION: "1" };

const run = (command, args, cwd) => spawnSync(command, args, { cwd, env: { ...process.env, ...terraformEnv } });

function named(command, called) {
  const version = run(command, ["version", "-json"]);
  return version.status === 0
    ? [{ command, name: `${called} ${JSON.parse(String(version.stdout)).terraform_version}` }]
    : [];
}

/** Those that are on PATH, each with its name and version. */
export const terraforms = () => [...named("terraform", "Terraform"), ...named("tofu", "OpenTofu")];

/** Terraform's name with its version; `undefined`: there is no terraform on PATH. */
export const terraformName = () => named("terraform", "Terraform")[0]?.name;

export const noTerraform = remark(
  "Terraform and OpenTofu beside ours",
  "neither terraform nor tofu is on PATH: not compared",
);

/** Whether its `init` works in the folder without a network. */
export const terraformBegins = (cwd, command = "terraform") =>
  run(command, ["init", "-input=false", "-no-color"], cwd).status === 0;

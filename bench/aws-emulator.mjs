// Terraform's provider for AWS and an emulator of AWS, for what is measured beside ours. The provider comes from a folder
// in the layout of `terraform providers mirror`, named by TERRAFORM_PROVIDERS; the emulator is moto_server on PATH.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { terraformEnv } from "./terraform-command.mjs";

const source = "hashicorp/aws";

/** What is there of both: their names with their versions, or why there is nothing to compare with. */
export function awsPeer() {
  const mirror = process.env.TERRAFORM_PROVIDERS;
  if (mirror === undefined) return { missing: "TERRAFORM_PROVIDERS names no folder with the provider" };
  const folder = join(mirror, "registry.terraform.io", source);
  const [version] = existsSync(folder) ? readdirSync(folder) : [];
  if (version === undefined) return { missing: `there is no ${source} in TERRAFORM_PROVIDERS` };
  const moto = spawnSync("moto_server", ["--help"]);
  return moto.status === 0
    ? { mirror, name: `AWS provider ${version}` }
    : { missing: "there is no moto_server on PATH, which stands in for AWS" };
}

/** Settings under which Terraform takes its providers from the folder and asks nobody. */
export function awsEnv(cwd, mirror) {
  const file = join(cwd, "terraform.rc");
  writeFileSync(file, `provider_installation {\n  filesystem_mirror {\n    path = ${JSON.stringify(mirror)}\n  }\n}\n`);
  return { ...terraformEnv, TF_CLI_CONFIG_FILE: file };
}

/** M instances with an attached volume each. */
export function awsFiles(m, url) {
  const for_each = `\${toset([for i in range(${m}) : tostring(i)])}`;
  const availability_zone = "us-east-1a";
  const unchecked = {
    access_key: "bench",
    secret_key: "bench",
    skip_credentials_validation: true,
    skip_metadata_api_check: true,
    skip_requesting_account_id: true,
  };
  return {
    terraform: { required_providers: { aws: { source } } },
    provider: { aws: { region: "us-east-1", ...unchecked, endpoints: { ec2: url } } },
    resource: {
      aws_instance: {
        // One of the images that the emulator has.
        web: { for_each, ami: "ami-12c6146b", instance_type: "t3.small", availability_zone, tags: nameOf("web") },
      },
      aws_ebs_volume: { disk: { for_each, availability_zone, size: 20, tags: nameOf("disk") } },
      aws_volume_attachment: {
        disk: {
          for_each,
          device_name: "/dev/sdh",
          volume_id: "${aws_ebs_volume.disk[each.key].id}",
          instance_id: "${aws_instance.web[each.key].id}",
        },
      },
    },
  };
}

const nameOf = (name) => ({ Name: `${name}-\${each.key}` });

/** With the number of requests since it was asked last: the emulator writes a line for each. */
export async function startAwsEmulator() {
  const child = spawn("moto_server", ["-H", "127.0.0.1", "-p", "0"], { stdio: ["ignore", "ignore", "pipe"] });
  const lines = createInterface({ input: child.stderr });
  let requests = 0;
  lines.on("line", (line) => {
    if (line.includes('"POST / HTTP')) requests++;
  });
  const url = await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", () => reject(new Error("moto_server did not start")));
    lines.on("line", (line) => {
      const found = /Running on (http:\S+)/.exec(line);
      if (found !== null) resolve(found[1]);
    });
  });
  return {
    url,
    requests() {
      const count = requests;
      requests = 0;
      return count;
    },
    async close() {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await ended;
    },
  };
}

// The pulumi on PATH, for what is measured beside ours: a program of things without any API, with its state in a folder.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { root } from "./processes.mjs";
import { remark } from "./table.mjs";

/** Its name with its version; `undefined`: there is none. */
export function pulumiName() {
  const version = spawnSync("pulumi", ["version"], { env: { ...process.env, PULUMI_SKIP_UPDATE_CHECK: "true" } });
  return version.status === 0 ? `Pulumi ${String(version.stdout).trim().replace(/^v/, "")}` : undefined;
}

export const noPulumi = remark("Pulumi beside ours", "there is no pulumi on PATH: not compared");

/** What it needs to ask nobody for anything; its provider for dynamic resources is the one of its own package. */
export function pulumiEnv(folder) {
  const bin = join(folder, "bin");
  mkdirSync(bin, { recursive: true });
  const provider = join(bin, "pulumi-resource-pulumi-nodejs");
  const entry = join(root, "node_modules/@pulumi/pulumi/cmd/dynamic-provider/index.js");
  writeFileSync(provider, `#!/bin/sh\nexec "${process.execPath}" "${entry}" "$@"\n`);
  chmodSync(provider, 0o755);
  mkdirSync(join(folder, "state"), { recursive: true });
  return {
    PATH: `${bin}${delimiter}${process.env.PATH}`,
    PULUMI_HOME: join(folder, "home"),
    PULUMI_BACKEND_URL: `file://${join(folder, "state")}`,
    PULUMI_CONFIG_PASSPHRASE: "bench",
    PULUMI_SKIP_UPDATE_CHECK: "true",
  };
}

/** A program of `count` things, and as many that each need one of them; created at once. */
export function writeProgram(folder, count) {
  mkdirSync(folder, { recursive: true });
  const files = {
    "Pulumi.yaml": "name: bench\nruntime: { name: nodejs, options: { typescript: false } }\nmain: index.js\n",
    "package.json": '{ "name": "bench", "private": true, "main": "index.js" }\n',
    "index.js": `const pulumi = require("@pulumi/pulumi");
const provider = { create: async (inputs) => ({ id: String(inputs.name), outs: inputs }) };
class Thing extends pulumi.dynamic.Resource {
  constructor(name, props) {
    super(provider, name, { name, ...props });
  }
}
for (let n = 0; n < ${count}; n++) {
  const vm = new Thing("web-" + n, {});
  new Thing("disk-" + n, { on: vm.id });
}
`,
  };
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
}

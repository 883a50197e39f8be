// Makes one executable file of a program of the build, by Node's own means: the program and its packages are put into a
// copy of a Node. The file needs no Node on the machine where it runs; it is for the system and processor of that Node.
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { inject } from "postject";
import { rolldown } from "rolldown";

export const root = join(dirname(fileURLToPath(import.meta.url)), "..");
export const folder = join(root, "dist/executable");

/**
 * `name` is the file to write in dist/executable, `entry` the text of the program there. `node`: another Node than this
 * one, of the same version. `plugins`: for the bundle.
 */
export async function makeExecutable({ name, entry, node = process.execPath, plugins = [] }) {
  mkdirSync(folder, { recursive: true });
  const of = (end) => join(folder, `${name}.${end}`);
  writeFileSync(of("entry.cjs"), entry);
  // Everything goes inside, the optional stores too, because a single executable finds no packages beside it.
  const bundle = await rolldown({
    input: of("entry.cjs"),
    platform: "node",
    external: [/^node:/, "pg-native"],
    treeshake: false,
    plugins,
  });
  // Packages import modules of Node later on, which require does as well.
  const minify = { compress: true, mangle: false, codegen: { removeWhitespace: true } };
  await bundle.write({ file: of("all.cjs"), format: "cjs", codeSplitting: false, dynamicImportInCjs: false, minify });
  await bundle.close();
  const text = readFileSync(of("all.cjs"), "utf8");
  // Where code runs from a cache, import() finds no loader, and says so only when a user comes there.
  const later = /.{0,40}(?<![\w$.])import\(.{0,40}/.exec(text);
  if (later !== null) throw new Error(`an import() is left in ${name}: ${later[0]}`);
  // A text with a single character beyond ASCII takes twice the memory, and longer to read.
  const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  writeFileSync(of("all.cjs"), text.replace(/[^\0-\x7f]/g, escaped));
  const settings = {
    main: of("all.cjs"),
    output: of("blob"),
    disableExperimentalSEAWarning: true,
    // What is compiled holds for the Node that compiled it alone.
    useCodeCache: node === process.execPath,
    assets: { "package.json": join(root, "package.json") },
  };
  writeFileSync(of("sea.json"), JSON.stringify(settings));
  execFileSync(process.execPath, ["--experimental-sea-config", of("sea.json")], { stdio: ["ignore", 2, 2] });

  const target = join(folder, name);
  copyFileSync(node, target);
  chmodSync(target, 0o755);
  const mac = process.platform === "darwin";
  if (mac) execFileSync("codesign", ["--remove-signature", target], { stdio: "inherit" });
  await inject(target, "NODE_SEA_BLOB", readFileSync(of("blob")), {
    sentinelFuse: "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2",
    ...(mac ? { machoSegmentName: "NODE_SEA" } : {}),
  });
  if (mac) execFileSync("codesign", ["--sign", "-", target], { stdio: "inherit" });
  return target;
}

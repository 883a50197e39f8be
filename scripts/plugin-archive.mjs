// Makes the archive of the provider plugin as Pulumi installs it and as a registry names it:
//   dist/executable/pulumi-resource-reconcile-cloud-vX.Y.Z-linux-amd64.tar.gz, with its checksum beside it
// The executable in it needs no Node. It is for this system and processor; with --node FILE --for darwin-arm64 it is made
// of another system's Node, which must be of the version that runs this. On macOS such a file still has to be signed.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { folder, makeExecutable, root } from "./executables.mjs";

const { values } = parseArgs({ options: { node: { type: "string" }, for: { type: "string" } } });
// Pulumi names systems and processors as Go does.
const systems = { linux: "linux", darwin: "darwin", win32: "windows" };
const processors = { x64: "amd64", arm64: "arm64" };
const target = values.for ?? `${systems[process.platform]}-${processors[process.arch]}`;
if (!/^(linux|darwin|windows)-(amd64|arm64)$/.test(target)) throw new Error(`Pulumi has no plugins for ${target}`);

const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const plugin = "pulumi-resource-reconcile-cloud";
const fromSdk = createRequire(createRequire(join(root, "package.json")).resolve("@pulumi/pulumi"));

/** At run time the plugin looks the stubs up from where the SDK is; the executable has them inside. */
const stubsInside = {
  name: "stubs-inside",
  transform(code, id) {
    if (!/provider[\\/]plugin[\\/]sdk\.js$/.test(id)) return null;
    return code
      .replace(/^const fromSdk = .*$/m, "")
      .replace(/fromSdk\("([^"]+)"\)/g, (_, name) => `require(${JSON.stringify(fromSdk.resolve(name))})`);
  },
};

const made = await makeExecutable({
  name: target.startsWith("windows") ? `${plugin}.exe` : plugin,
  // The embedded service runs in a process of its own, which is the same executable.
  entry: `
const [first, ...rest] = process.argv.slice(2);
const { serveShared } = require("../emulator/shared.js");
const { serveWorldWord } = require("../emulator/folder-lock.js");
if (first === serveWorldWord) serveShared(rest);
else require("../provider/plugin.js").main(process.argv.slice(2));
`,
  ...(values.node === undefined ? {} : { node: values.node }),
  plugins: [stubsInside],
});

const archive = join(folder, `${plugin}-v${version}-${target}.tar.gz`);
const inside = join(folder, "archive");
rmSync(inside, { recursive: true, force: true });
mkdirSync(inside, { recursive: true });
copyFileSync(made, join(inside, basename(made)));
copyFileSync(join(root, "LICENSE"), join(inside, "LICENSE"));
execFileSync("tar", ["-czf", archive, "-C", inside, basename(made), "LICENSE"], { stdio: "inherit" });
rmSync(inside, { recursive: true });
const sum = createHash("sha256").update(readFileSync(archive)).digest("hex");
writeFileSync(`${archive}.sha256`, `${sum}  ${basename(archive)}\n`);
process.stdout.write(`${archive}\n`);

// Makes the SDKs of the provider's package as registries take them, all of the package's version, in dist/sdks:
//   reconcile-cloud-pulumi-X.Y.Z.tgz                       npm (@reconcile-cloud/pulumi, compiled)
//   wheels/pulumi_reconcile_cloud-X.Y.Z-py3-none-any.whl   PyPI
//   github.com/reconcile-cloud/…/sdk/go/@v/vX.Y.Z.zip …    Go, as a module proxy serves it; go/ is the folder to tag
//   ReconcileCloud.X.Y.Z.nupkg                             NuGet
// Languages are named as Pulumi names them (`nodejs python go dotnet`); without any, all. Needs the build, `pulumi` on PATH,
// and of each language its own tool: npm, pip, none, dotnet.
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { root } from "./executables.mjs";
import { zipOf } from "./zip.mjs";

const fromRoot = createRequire(join(root, "package.json"));
const { version } = fromRoot("./package.json");
const { packageSchema } = fromRoot("./dist/provider/plugin/schema.js");
const run = (command, args, cwd) => execFileSync(command, args, { cwd, stdio: ["ignore", "pipe", "inherit"] });

const { values, positionals } = parseArgs({ options: { out: { type: "string" } }, allowPositionals: true });
const out = values.out ?? join(root, "dist/sdks");
const work = mkdtempSync(join(tmpdir(), "reconcile-sdks-"));

const readme = `# The SDK of reconcile-cloud's Pulumi provider

Virtual machines, block volumes and security groups, reconciled. The plugin of the same version is downloaded when a program
runs. How to use it: <https://github.com/reconcile-cloud/reconcile-cloud/blob/main/docs/pulumi.md>
`;

const files = (folder) =>
  readdirSync(folder, { recursive: true })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .sort();

/** From the folder with the sources of an SDK: the names of the archives that were written. */
const packs = {
  nodejs(sdk) {
    const typeScript = fromRoot.resolve("typescript/lib/tsc.js");
    symlinkSync(join(root, "node_modules"), join(sdk, "node_modules"), "junction");
    run(process.execPath, [typeScript, "-p", sdk], sdk);
    const bin = join(sdk, "bin");
    const {
      scripts: _scripts,
      devDependencies: _developed,
      ...described
    } = JSON.parse(readFileSync(join(sdk, "package.json"), "utf8"));
    writeFileSync(
      join(bin, "package.json"),
      JSON.stringify({ ...described, main: "index.js", types: "index.d.ts" }, null, 2),
    );
    return [String(run("npm", ["pack", "--silent", "--pack-destination", out], bin)).trim()];
  },
  python(sdk) {
    run("python3", ["-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", join(out, "wheels"), "."], sdk);
    return [join("wheels", `pulumi_reconcile_cloud-${version}-py3-none-any.whl`)];
  },
  go(sdk) {
    const described = readFileSync(join(sdk, "go.mod"), "utf8");
    const [, module] = /^module (\S+)/.exec(described);
    // The oldest one that has what the generated sources use.
    const required = described.replace(/(github.com\/pulumi\/pulumi\/sdk\/v3) v\S+/, "$1 v3.216.0");
    writeFileSync(join(sdk, "go.mod"), required);
    const folder = join(out, module, "@v");
    mkdirSync(folder, { recursive: true });
    const entries = files(sdk).map((path) => [
      `${module}@v${version}/${relative(sdk, path).replaceAll("\\", "/")}`,
      readFileSync(path),
    ]);
    const named = {
      zip: zipOf(entries),
      mod: required,
      info: JSON.stringify({ Version: `v${version}`, Time: "2020-01-01T00:00:00Z" }),
    };
    for (const [end, content] of Object.entries(named)) writeFileSync(join(folder, `v${version}.${end}`), content);
    writeFileSync(join(folder, "list"), `v${version}\n`);
    cpSync(sdk, join(out, "go"), { recursive: true });
    return [join(module, "@v", `v${version}.zip`)];
  },
  dotnet(sdk) {
    writeFileSync(join(sdk, "version.txt"), version);
    run("dotnet", ["pack", "--nologo", "--configuration", "Release", `-p:Version=${version}`, "--output", out], sdk);
    return readdirSync(out).filter((name) => name.endsWith(".nupkg"));
  },
};

try {
  mkdirSync(out, { recursive: true });
  const schema = join(work, "schema.json");
  writeFileSync(schema, JSON.stringify(packageSchema()));
  for (const language of positionals.length > 0 ? positionals : Object.keys(packs)) {
    if (!(language in packs))
      throw new Error(`there is no SDK for ${language}: write ${Object.keys(packs).join(", ")}`);
    run("pulumi", ["package", "gen-sdk", schema, "--language", language, "--out", join(work, "sdk")], root);
    const sdk = join(work, "sdk", language);
    writeFileSync(join(sdk, "README.md"), readme);
    copyFileSync(join(root, "LICENSE"), join(sdk, "LICENSE"));
    for (const name of packs[language](sdk)) process.stdout.write(`${join(out, name)}\n`);
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}

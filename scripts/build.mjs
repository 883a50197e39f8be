// Builds dist/ from the sources: CommonJS with type declarations, and the command line as one file. Incremental, so
// that a second call costs little.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { lazily } from "./lazy.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript-native/package.json")), "bin", "tsc");
try {
  execFileSync(process.execPath, [tsc, "-b", join(root, "tsconfig.json")], { stdio: "inherit", cwd: root });
} catch (error) {
  process.exit(typeof error?.status === "number" ? error.status : 1);
}
/** Compiled files of these folders, without what is made of them. */
const compiled = ["reconciler", "emulator"].flatMap((part) =>
  readdirSync(join(root, "dist", part), { recursive: true, encoding: "utf8" })
    .filter((entry) => entry.endsWith(".js") && !/(^|\/)bundle\b[^/]*$/.test(entry))
    .map((entry) => join(root, "dist", part, entry)),
);
/** The licenses are written last: where nothing that the bundle is made of or by is younger, there is nothing to do. */
function isBundled() {
  const time = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs;
  const bundled = time(join(root, "dist/licenses.txt")) ?? 0;
  const makers = ["build.mjs", "bundle.mjs", "lazy.mjs"].map((name) => join(root, "scripts", name));
  const packages = join(root, "node_modules", ".package-lock.json");
  return [...compiled, ...makers, packages].every((file) => (time(file) ?? 0) < bundled);
}
if (!isBundled()) {
  // What Pulumi captures of the provider is written down as text, so its files stay as they were compiled.
  for (const file of compiled) {
    const code = readFileSync(file, "utf8");
    const lazy = lazily(code);
    if (lazy !== code) writeFileSync(file, lazy);
  }
  await import("./bundle.mjs");
}

// npm links the commands of dependencies, not those of the package itself; with this, `npx reconcile` works here too.
const bins = join(root, "node_modules", ".bin");
if (existsSync(bins)) {
  const link = join(bins, "reconcile");
  rmSync(link, { force: true });
  if (process.platform === "win32") writeFileSync(`${link}.cmd`, '@node "%~dp0\\..\\..\\bin\\reconcile.js" %*\r\n');
  else symlinkSync(join("..", "..", "bin", "reconcile.js"), link);
}

// Builds dist/ from the sources: CommonJS with type declarations, and the command line as one file. Incremental, so
// that a second call costs little.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
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
// What Pulumi captures of the provider is written down as text, so its files stay as they were compiled.
for (const part of ["reconciler", "emulator"])
  for (const entry of readdirSync(join(root, "dist", part), { recursive: true, encoding: "utf8" })) {
    if (!entry.endsWith(".js") || entry.endsWith("bundle.js")) continue;
    const file = join(root, "dist", part, entry);
    const code = readFileSync(file, "utf8");
    const lazy = lazily(code);
    if (lazy !== code) writeFileSync(file, lazy);
  }
await import("./bundle.mjs");

// npm links the commands of dependencies, not those of the package itself; with this, `npx reconcile` works here too.
const bins = join(root, "node_modules", ".bin");
if (existsSync(bins)) {
  const link = join(bins, "reconcile");
  rmSync(link, { force: true });
  if (process.platform === "win32") writeFileSync(`${link}.cmd`, '@node "%~dp0\\..\\..\\bin\\reconcile.js" %*\r\n');
  else symlinkSync(join("..", "..", "bin", "reconcile.js"), link);
}

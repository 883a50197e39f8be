// What is looked at while one works: the types, and then format, lint and the tests below beside each other, for these wait
// and those do not.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const require = createRequire(import.meta.url);
const inFolderOf = (name, path) => join(dirname(require.resolve(`${name}/package.json`)), path);

/** The core, the engine, the plans, the reader of files, the dialect, the client, the state in a file, single resources. */
export const fastTests = [
  "test/core",
  "test/engine",
  "test/golden",
  "test/dialect",
  "test/service",
  "test/store/file",
  "test/store/patience",
  "test/store/vouch",
  "test/properties/pull-names",
  "test/properties/reachability-of-plans",
  "test/unit/company",
  "test/unit/config-diagnostics",
  "test/unit/shared-looks",
  "test/unit/trial-learns",
  "test/pulumi/export",
  "test/pulumi/handlers",
  "test/pulumi/functions",
];

/** Three processes: each more loads everything once more, and two cores do not bear it. `compiled`: by the types. */
export const fastEnvironment = { VITEST_MAX_WORKERS: "3", ROLLING_KILL_STRIDE: "5", SKIP_BUILD: "compiled" };

/**
 * Whether Node ends well with these words. What it prints is shown at its end where it is `quiet`.
 *
 * @param {readonly string[]} words
 * @param {{ readonly env?: Readonly<Record<string, string>>, readonly quiet?: boolean }} [how]
 * @returns {Promise<boolean>}
 */
function ended(words, { env = {}, quiet = false } = {}) {
  return new Promise((resolve) => {
    const stdio = quiet ? "pipe" : "inherit";
    const child = spawn(process.execPath, words, { cwd: root, stdio, env: { ...env, ...process.env } });
    let said = "";
    const hear = (piece) => {
      said += piece;
    };
    child.stdout?.on("data", hear);
    child.stderr?.on("data", hear);
    child.on("close", (code) => {
      process.stdout.write(said);
      resolve(code === 0);
    });
  });
}

async function main() {
  if (!(await ended([inFolderOf("typescript-native", "bin/tsc"), "-b", "test", "scripts"]))) return false;
  const lint = ended(["scripts/lint.mjs"], { quiet: true });
  const tests = ended([inFolderOf("vitest", "vitest.mjs"), "run", ...fastTests], { env: fastEnvironment });
  return (await Promise.all([lint, tests])).every(Boolean);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = (await main()) ? 0 : 1;

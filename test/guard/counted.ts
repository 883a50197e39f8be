/**
 * Counts what a command did that no clock decides: requests by operation, steps, files and bytes of the state, and the
 * modules it loaded. The same on every machine, so a change of it is a change of the program.
 */
import { execFile } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { startEmulator } from "../../emulator";
import { readDialectText } from "../../reconciler/dialect/read-dialect";
import { root, runCli } from "../support/cli-process";
import { makeFolder } from "../support/folder";

const run = promisify(execFile);
/** Nothing of whoever runs the tests, which might change what is loaded or sent. */
const env = { RECONCILE_TOKEN: "ops-token" };

export interface Counted {
  readonly requests: Readonly<Record<string, number>>;
  readonly steps: number;
  readonly state_lines: number;
  readonly state_bytes: number;
}

export interface Story {
  readonly text: string;
  readonly words: readonly string[];
  readonly before?: readonly string[][];
  /** How many a page of a list shows, where that is not a hundred. */
  readonly pageSize?: number;
  /** A part of a dialect: what the service speaks, and what it is spoken to in. */
  readonly dialect?: string;
}

/** Ids, times and the lineage vary from run to run in what they say, never in how long they are. */
export async function countStory({ text, words, before = [], pageSize, dialect }: Story) {
  const folder = makeFolder({ "reconcile.yaml": text, ...(dialect === undefined ? {} : { "dialect.yaml": dialect }) });
  const emulator = await startEmulator({
    dir: join(folder, "world"),
    timeScale: 0,
    ...(pageSize === undefined ? {} : { pageSize }),
    ...(dialect === undefined ? {} : { speaks: readDialectText(dialect, "dialect.yaml").dialect }),
  });
  try {
    const spoken = dialect === undefined ? [] : ["--dialect", "dialect.yaml"];
    for (const earlier of before) await reconcile([...earlier, ...spoken], folder, emulator.url);
    await fetch(`${emulator.url}/_control/requests`, { method: "DELETE" });
    const out = await reconcile([...words, ...spoken], folder, emulator.url);
    const summary = JSON.parse(out.trimEnd().split("\n").at(-1)!) as { steps: { done: number } };
    const counts = emulator.requests().counts as Record<string, number>;
    const state = join(folder, "reconcile.state.json");
    return {
      // How often a wait looks depends on the machine; that it looks at all does not.
      requests: Object.fromEntries(
        Object.entries(counts)
          .filter(([operation]) => operation !== "vm.list" || words[0] === "plan")
          .sort(([a], [b]) => (a < b ? -1 : 1)),
      ),
      steps: summary.steps.done,
      state_lines: existsSync(state) ? readFileSync(state, "utf8").split("\n").length : 0,
      state_bytes: existsSync(state) ? statSync(state).size : 0,
    } satisfies Counted;
  } finally {
    await emulator.close();
  }
}

async function reconcile(words: readonly string[], cwd: string, url: string): Promise<string> {
  const { exitCode, stdout, stderr } = await runCli([...words, "--base-url", url, "--json"], { cwd, env });
  if (exitCode !== 0) throw new Error(`${words.join(" ")}: exit ${exitCode}: ${stderr}${stdout}`);
  return stdout;
}

/** Which modules a command loads, from the unbundled build, where each file is one: ours by path, packages by name. */
export async function modulesLoaded(words: readonly string[], text: string): Promise<string[]> {
  const folder = makeFolder({ "reconcile.yaml": text });
  const seen = join(folder, "modules.json");
  const hook = join(folder, "hook.cjs");
  writeFileSync(
    hook,
    `process.on("exit", () => require("node:fs").writeFileSync(${JSON.stringify(seen)}, JSON.stringify(Object.keys(require.cache))));
require(${JSON.stringify(join(root, "dist/reconciler/cli/main.js"))}).main(process.argv.slice(2));\n`,
  );
  await run(process.execPath, [hook, ...words], { cwd: folder, env });
  const files = JSON.parse(readFileSync(seen, "utf8")) as string[];
  const names = files.filter((file) => file !== hook).map(nameOf);
  return [...new Set(names)].sort();
}

/** The parts of the bundled command that are read before it says its first word about a large file. */
export const partsBeforeFirstWord = (words: readonly string[], text: string): Promise<string[]> =>
  partsRead(words, text, "process.stderr.write = () => process.exit(0);");

/** All parts of the bundled command that it reads. `first` is run before it, by a Node with these options. */
export async function partsRead(
  words: readonly string[],
  text: string,
  first = "",
  options: readonly string[] = [],
): Promise<string[]> {
  const folder = makeFolder({ "reconcile.yaml": text });
  const hook = join(folder, "hook.cjs");
  const read = join(folder, "read.json");
  writeFileSync(
    hook,
    `process.on("exit", () => require("node:fs").writeFileSync(${JSON.stringify(read)}, JSON.stringify(Object.keys(require.cache))));
${first}
process.argv.splice(1, 1);
require(${JSON.stringify(join(root, "bin/reconcile.js"))});\n`,
  );
  await run(process.execPath, [...options, hook, "reconcile", ...words], { cwd: folder, env });
  return (JSON.parse(readFileSync(read, "utf8")) as string[])
    .flatMap((file) => /bundle[\w-]*(?=\.js$)/.exec(file) ?? [])
    .sort();
}

/** The modules of Node itself that are there when a command connects to its service. */
export async function nodeModulesAtFirstRequest(words: readonly string[], text: string): Promise<string[]> {
  const seen = join(makeFolder({}), "seen.json");
  const tell = `require("node:fs").writeFileSync(${JSON.stringify(seen)}, JSON.stringify(process.moduleLoadList))`;
  await partsRead(words, text, `require("node:net").Socket.prototype.connect = () => { ${tell}; process.exit(0); };`);
  return (JSON.parse(readFileSync(seen, "utf8")) as string[]).map((name) => name.replace(/^NativeModule /, ""));
}

/** The modules of Node itself that a command compiles, although Node brings them compiled. */
export async function nodeModulesCompiled(words: readonly string[], text: string): Promise<string[]> {
  const seen = join(makeFolder({}), "seen.json");
  const tell = `process.on("exit", () => {
  const { compiledWithoutCache } = require("internal/test/binding").internalBinding("builtins").getCacheUsage();
  require("node:fs").writeFileSync(${JSON.stringify(seen)}, JSON.stringify([...compiledWithoutCache]));
});`;
  await partsRead(words, text, tell, ["--expose-internals"]);
  const compiled = JSON.parse(readFileSync(seen, "utf8")) as string[];
  return compiled.filter((name) => name !== "internal/test/binding");
}

/** The errors whose stack was asked for: for the first one the engine counts the lines of each file in it. */
export async function errorsWithStack(words: readonly string[], text: string): Promise<string[]> {
  const seen = join(makeFolder({ "seen.txt": "" }), "seen.txt");
  const tell = `Error.prepareStackTrace = (error) => require("node:fs").appendFileSync(${JSON.stringify(seen)}, error.message + "\\n");`;
  await partsRead(words, text, tell);
  return readFileSync(seen, "utf8").split("\n").slice(0, -1);
}

function nameOf(file: string): string {
  const inPackage = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1];
  // The package's own, wherever the checkout lies.
  if (file.endsWith("/package.json") && inPackage === undefined) return "package.json";
  return inPackage ?? file.slice(file.lastIndexOf("/dist/") + "/dist/".length).replace(/\.js$/, "");
}

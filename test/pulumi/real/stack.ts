/**
 * A program of its own in a temporary folder, a backend of files and an emulated service beside it, driven by the real
 * command line. Nothing leaves the machine.
 */
import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { type EmulatorOptions, type RunningEmulator, startEmulator } from "../../../emulator";
import { onlyDefined } from "../../../reconciler/core/text/objects";
import { linkModules } from "../provider-process";
import type { Outcome, ProgramStack } from "../shared-scenarios";

const root = resolve(__dirname, "../../..");

/** Why the suite cannot run; `undefined` when it can. */
export function whyNot(language?: string): string | undefined {
  try {
    execFileSync("pulumi", ["version"], { stdio: "pipe" });
  } catch {
    return "there is no `pulumi` on PATH: nothing was tried with the real engine";
  }
  return language === undefined || hasLanguage(language)
    ? undefined
    : `there is no pulumi-language-${language} on PATH`;
}

/** What keeps the command line on this machine. */
export const engineSettings: NodeJS.ProcessEnv = {
  PULUMI_SKIP_UPDATE_CHECK: "true",
  PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
  PULUMI_DISABLE_REGISTRY_RESOLVE: "true",
  PULUMI_SKIP_CONFIRMATIONS: "true",
};

export const pathWith = (...folders: string[]): string => [...folders, process.env["PATH"]].join(delimiter);

/** The SDK's launcher of dynamic providers; it comes without its executable bit from some registries. */
export function makeLauncherFolder(): { readonly folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), "reconcile-launcher-"));
  const launcher = join(folder, "pulumi-resource-pulumi-nodejs");
  copyFileSync(join(root, "node_modules/@pulumi/pulumi/pulumi-resource-pulumi-nodejs"), launcher);
  chmodSync(launcher, 0o755);
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export const hasLanguage = (language: string): boolean =>
  (process.env["PATH"] ?? "")
    .split(delimiter)
    .some((folder) => existsSync(join(folder, `pulumi-language-${language}`)));

export const secretToken = "ops-token";

export interface Ran {
  readonly code: number;
  readonly text: string;
}

/** Runs the command to its end; whatever it says comes back. */
export const runPulumi = (args: readonly string[], at: { cwd?: string; env?: NodeJS.ProcessEnv } = {}): Promise<Ran> =>
  new Promise((done) => {
    execFile("pulumi", args, { ...at, maxBuffer: 1 << 26 }, (error, stdout, stderr) =>
      done({ code: error === null ? 0 : Number(error.code ?? 1), text: `${stdout}${stderr}` }),
    );
  });

export interface RealStack {
  readonly folder: string;
  readonly emulator: RunningEmulator;
  readonly environment: NodeJS.ProcessEnv;
  write(files: Readonly<Record<string, string>>): void;
  /** Runs the command to its end; whatever it says comes back. */
  pulumi(...args: string[]): Promise<Ran>;
  start(...args: string[]): ChildProcess;
  /** Name of the resource -> what was done to it in the last update, by the engine's own words. */
  changes(...args: string[]): Promise<Record<string, number>>;
  exported(showSecrets?: boolean): Promise<string>;
  close(): Promise<void>;
}

export interface StackOptions {
  readonly with?: readonly string[];
  readonly timeScale?: number;
  readonly seed?: EmulatorOptions["seed"];
  readonly runtime?: string;
  readonly embedded?: boolean;
}

export async function startStack(options: StackOptions = {}): Promise<RealStack> {
  const folder = mkdtempSync(join(tmpdir(), "reconcile-pulumi-"));
  const emulator = await startEmulator({
    timeScale: options.timeScale ?? 0,
    ...onlyDefined({ with: options.with, seed: options.seed }),
  });
  const program = join(folder, "program");
  const launchers = makeLauncherFolder();
  for (const name of ["state", "home", "program"]) mkdirSync(join(folder, name), { recursive: true });
  linkModules(program);
  const { RECONCILE_TOKEN: _token, RECONCILE_BASE_URL: _url, ...inherited } = process.env;
  const environment: NodeJS.ProcessEnv = {
    ...inherited,
    ...engineSettings,
    PATH: pathWith(launchers.folder, join(root, "bin")),
    PULUMI_BACKEND_URL: `file://${join(folder, "state")}`,
    PULUMI_CONFIG_PASSPHRASE: "test",
    PULUMI_HOME: join(folder, "home"),
    RECONCILE_BASE_URL: options.embedded === true ? "embedded" : emulator.url,
    ...(options.embedded === true ? {} : { RECONCILE_TOKEN: secretToken }),
  };
  const pulumi = (...args: string[]): Promise<Ran> => runPulumi(args, { cwd: program, env: environment });
  const stack: RealStack = {
    folder: program,
    emulator,
    environment,
    write(files) {
      for (const [name, text] of Object.entries(files)) writeFileSync(join(program, name), text);
    },
    pulumi,
    start: (...args) => spawn("pulumi", args, { cwd: program, env: environment, stdio: ["ignore", "pipe", "pipe"] }),
    async changes(...args) {
      const ran = await pulumi(...args);
      if (ran.code !== 0) throw new Error(ran.text);
      return countsIn(ran.text);
    },
    async exported(showSecrets = false) {
      return (await pulumi("stack", "export", ...(showSecrets ? ["--show-secrets"] : []))).text;
    },
    async close() {
      await emulator.close();
      launchers.remove();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
  stack.write({
    "Pulumi.yaml": `name: demo\nruntime: ${options.runtime ?? "nodejs"}\n`,
    "package.json": JSON.stringify({ name: "demo", private: true }),
  });
  const created = await pulumi("stack", "init", "dev");
  if (created.code !== 0) throw new Error(created.text);
  return stack;
}

/** Writes the SDK of a language from a plugin or a schema; answers with its folder. */
export async function writeSdk(source: string, language: string, folder: string): Promise<string> {
  const { code, text } = await runPulumi(["package", "gen-sdk", source, "--language", language, "--out", folder]);
  if (code !== 0) throw new Error(text);
  return join(folder, language);
}

/** The SDK for Node, compiled, as a program's `@reconcile-cloud/pulumi`: what `pulumi package add` does with npm. */
export function linkNodeSdk(sdk: string, program: string): void {
  const modules = join(sdk, "node_modules");
  if (!existsSync(modules)) symlinkSync(join(root, "node_modules"), modules);
  execFileSync(process.execPath, [require.resolve("typescript/lib/tsc.js"), "-p", sdk], { stdio: "inherit" });
  const described = JSON.parse(readFileSync(join(sdk, "package.json"), "utf8")) as object;
  writeFileSync(join(sdk, "bin/package.json"), JSON.stringify({ ...described, main: "index.js" }));
  mkdirSync(join(program, "node_modules/@reconcile-cloud"), { recursive: true });
  symlinkSync(join(sdk, "bin"), join(program, "node_modules/@reconcile-cloud/pulumi"));
}

/** What the last summary counts. */
function countsIn(text: string): Record<string, number> {
  const counts: Record<string, number> = {};
  const lines = text.split("\n");
  const from = lines.lastIndexOf("Resources:");
  for (const line of from < 0 ? [] : lines.slice(from + 1)) {
    const match = /^\s+(?:(?:\+-|[-+~=<>])\s*)?(\d+) (?:to )?(\w+)/.exec(line);
    if (match === null) break;
    counts[match[2]!] = Number(match[1]);
  }
  return counts;
}

/** The same stack for the scenarios that also run on the in-process engine. */
export async function startScenarioStack(
  mode: "dynamic" | "plugin",
  options: StackOptions,
): Promise<ProgramStack & { close(): Promise<void> }> {
  const stack = await startStack(options);
  const others: RunningEmulator[] = [];
  const run = async (...args: string[]): Promise<Outcome> => {
    const { code, text } = await stack.pulumi(...args);
    const { unchanged: _unchanged, ...changes } = countsIn(text);
    return { ok: code === 0, text, changes };
  };
  const set = (key: string, value: string) =>
    stack.pulumi("config", "set", ...(key === "token" ? ["--secret"] : []), key, value);
  await set("mode", mode);
  const configure = async (key: string, value: string): Promise<void> => {
    await set(key, value);
    await set(`reconcile-cloud:${key}`, value);
  };
  return {
    emulator: stack.emulator,
    write: stack.write,
    set,
    configure,
    preview: () => run("preview"),
    up: () => run("up", "--yes", "--skip-preview"),
    refresh: () => run("refresh", "--yes", "--skip-preview"),
    destroy: () => run("destroy", "--yes", "--skip-preview"),
    output: async (name) =>
      (JSON.parse((await stack.pulumi("stack", "output", "--json")).text) as Record<string, unknown>)[name],
    state: () => stack.exported(),
    async startOther() {
      const other = await startEmulator({ timeScale: 0, ...(options.with ? { with: options.with } : {}) });
      others.push(other);
      return other;
    },
    async close() {
      for (const one of others) await one.close();
      await stack.close();
    },
  };
}

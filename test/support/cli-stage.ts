/**
 * One story played by the command itself, as a process: a folder with the file and its state, a world behind a proxy
 * that can kill, and what must hold after the next run.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { startEmulator } from "../../emulator";
import type { FoldedState } from "../../reconciler/core/state/fold";
import { readState } from "../../reconciler/core/state/text";
import { dialectOperations, token } from "./bench-world";
import { startDeadlyProxy } from "./deadly-proxy";
import { makeFolder } from "./folder";
import { differences, type Service, withoutOrphans } from "./stage";
import { everything, type Story } from "./stories";
import { type Dump, readDump, type Shape, shapeOf, unnamed } from "./world-shape";

const command = resolve(__dirname, "../../bin/reconcile.js");
const killer = resolve(__dirname, "kill-at-write.cjs");

export interface Ran {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly summary:
    | { readonly ok: boolean; readonly diagnostics: readonly Finding[]; readonly changes: object }
    | undefined;
}
interface Finding {
  readonly severity: string;
  readonly code?: string;
  readonly summary: string;
  readonly fix?: string;
  readonly address?: string;
}

export type Kill =
  | { readonly at: "request"; readonly nth: number; readonly when: "before" | "after" }
  | { readonly at: "write"; readonly nth: number; readonly when: "before" | "after" };

/** Every moment at which a run with so many requests and durable writes may be killed. */
export function killsOf({ requests, writes }: { readonly requests: number; readonly writes: number }): Kill[] {
  const kills: Kill[] = [];
  for (const when of ["after", "before"] as const) {
    for (let nth = 1; nth <= requests; nth++) kills.push({ at: "request", nth, when });
    for (let nth = 1; nth <= writes; nth++) kills.push({ at: "write", nth, when });
  }
  return kills;
}

export interface CliStage {
  readonly folder: string;
  /** Puts everything back to the world before. */
  reset(): Promise<void>;
  run(
    args: readonly string[],
    options?: { readonly env?: NodeJS.ProcessEnv; readonly started?: (child: ChildProcess) => void },
  ): Promise<Ran>;
  /** Applies the file after, or runs `args` instead. */
  edit(options?: {
    readonly args?: readonly string[];
    readonly kill?: Kill;
    readonly env?: NodeJS.ProcessEnv;
    readonly started?: (child: ChildProcess) => void;
  }): Promise<Ran>;
  /** How many of each an undisturbed run of the edit has, and the world it leads to. */
  measure(
    args?: readonly string[],
  ): Promise<{ readonly requests: number; readonly writes: number; readonly expected: Shape }>;
  recover(expected: Shape): Promise<string[]>;
  control(method: string, path: string, body?: unknown): Promise<unknown>;
  close(): Promise<void>;
}

export async function openCliStage(story: Story, service: Service, timeScale = 0): Promise<CliStage> {
  const emulator = await startEmulator({
    timeScale,
    ...story.emulator,
    ...(service === "everything" ? { with: everything } : {}),
  });
  const proxy = await startDeadlyProxy(emulator.url);
  const root = makeFolder();
  const folder = join(root, "now");
  const saved = join(root, "before");
  const timing = { poll_interval: "10ms", discovery_window: "300ms", request_timeout: "5m" };
  const text = (file: object) =>
    JSON.stringify({ ...file, service: { base_url: proxy.url, timing, dialect: "dialect.json" } });

  const run: CliStage["run"] = (args, { env = {}, started } = {}) =>
    new Promise((done, failed) => {
      const child = spawn(process.execPath, [command, ...args, "--json"], {
        cwd: folder,
        env: { PATH: process.env["PATH"], HOME: root, RECONCILE_TOKEN: token, ...env },
        stdio: ["ignore", "pipe", "pipe"],
      });
      let [stdout, stderr] = ["", ""];
      child.stdout.on("data", (piece) => (stdout += piece));
      child.stderr.on("data", (piece) => (stderr += piece));
      child.on("error", failed);
      child.on("close", (exitCode, signal) => {
        const last = stdout.trimEnd().split("\n").at(-1) ?? "";
        const summary = last.startsWith('{"type":"summary"') ? JSON.parse(last) : undefined;
        done({ exitCode, signal, stdout, stderr, summary });
      });
      started?.(child);
    });
  const consents = ["-y", "--allow-data-loss", "--allow-empty", "--confirm-flush", "all"];
  const edit: CliStage["edit"] = ({ args, kill, env = {}, started } = {}) => {
    const hook =
      kill?.at === "write" ? { NODE_OPTIONS: `--require ${killer}`, KILL_AT_WRITE: `${kill.nth}:${kill.when}` } : {};
    return run(
      args ??
        (story.destroy === true
          ? ["destroy", "-y", "--allow-data-loss", "--confirm-flush", "all"]
          : ["apply", ...consents]),
      {
        env: { ...hook, ...env },
        started: (child) => {
          if (kill?.at === "request") proxy.arm(kill.nth, kill.when, () => child.kill("SIGKILL"));
          else proxy.arm(0, "before", () => undefined);
          started?.(child);
        },
      },
    );
  };
  const control: CliStage["control"] = async (method, path, body) => {
    const answer = await fetch(`${emulator.url}/_control${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`);
    return answer.json();
  };
  const dump = async (): Promise<Dump> => readDump(await control("GET", "/world"));
  const state = (): FoldedState => {
    const at = (name: string) => join(folder, name);
    const read = (path: string) => (existsSync(path) ? readFileSync(path, "utf8") : undefined);
    const journal =
      read(at("reconcile.state.json.journal"))
        ?.split("\n")
        .filter((line) => line !== "") ?? [];
    const opened = readState({ snapshot: read(at("reconcile.state.json")), journal }, "none");
    if (!opened.ok) throw new Error(`the state cannot be read: ${opened.problem}`);
    return opened.state;
  };

  mkdirSync(folder);
  const operations = service === "everything" ? dialectOperations({ with: everything }) : {};
  writeFileSync(join(folder, "dialect.json"), JSON.stringify({ operations }));
  writeFileSync(join(folder, "reconcile.yaml"), text(story.before));
  const first = await run(["apply", ...consents]);
  if (first.exitCode !== 0) throw new Error(`the world before does not stand: ${first.stdout}${first.stderr}`);
  await story.between?.(control);
  writeFileSync(join(folder, "reconcile.yaml"), text(story.after));
  cpSync(folder, saved, { recursive: true });
  const world = await control("GET", "/world");

  return {
    folder,
    run,
    edit,
    control,
    async reset() {
      rmSync(folder, { recursive: true, force: true });
      cpSync(saved, folder, { recursive: true });
      await control("POST", "/world", world);
      await control("DELETE", "/faults");
    },
    async measure(args) {
      const counted = join(root, "writes");
      await edit({
        ...(args === undefined ? {} : { args }),
        env: { NODE_OPTIONS: `--require ${killer}`, COUNT_WRITES: counted },
      });
      return {
        requests: proxy.seen(),
        writes: Number(readFileSync(counted, "utf8")),
        expected: shapeOf(withoutOrphans(await dump(), state())),
      };
    },
    async recover(expected) {
      const problems: string[] = [];
      const lost = unnamed(await dump(), state(), story.letsGo);
      if (lost.length > 0) problems.push(`named nowhere after the kill: ${lost.join(", ")}`);
      let next = await edit();
      for (let unknown = unknownOf(next); unknown.length > 0; unknown = unknownOf(next)) {
        for (const finding of unknown) problems.push(...(await settle(finding, await dump(), state(), run)));
        if (problems.length > 0) return problems;
        next = await edit();
      }
      if (story.neverSettles !== true) {
        if (next.exitCode !== 0) problems.push(`next run: exit ${next.exitCode}: ${said(next)}`);
        const again = await edit();
        if (again.exitCode !== 0 || again.stdout.includes('"type":"step"') || again.stdout.includes('"type":"change"'))
          problems.push(`the run after that: exit ${again.exitCode}: ${again.stdout}`);
      }
      const left = unnamed(await dump(), state(), story.letsGo);
      if (left.length > 0) problems.push(`named nowhere in the end: ${left.join(", ")}`);
      problems.push(...differences(shapeOf(withoutOrphans(await dump(), state())), expected));
      return problems;
    },
    async close() {
      await proxy.close();
      await emulator.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

const unknownOf = (ran: Ran): Finding[] =>
  (ran.summary?.diagnostics ?? []).filter(({ code }) => code === "plan/outcome-unknown");

const said = (ran: Ran): string =>
  (ran.summary?.diagnostics ?? []).map(({ summary }) => summary).join("; ") + ran.stderr;

/** Runs one of the two commands that the message gives, whichever is true. */
async function settle(finding: Finding, dump: Dump, state: FoldedState, run: CliStage["run"]): Promise<string[]> {
  const commands = /^reconcile (import (\S+) ID) \(it exists\), or reconcile (state resolve \S+ --not-created)/.exec(
    finding.fix ?? "",
  );
  const address = finding.address ?? "";
  const intent = state.intents.get(address);
  if (commands === null || intent === undefined)
    return [`unknown, and nothing to do about it: ${JSON.stringify(finding)}`];
  if (!finding.summary.includes(intent.name) || !finding.summary.includes(intent.sentAt))
    return [`unknown, without its name and time: ${finding.summary}`];
  const managed = new Set([...state.resources.values()].map(({ id }) => id));
  const kind = intent.operation.split(".")[0] as "vm" | "volume" | "group";
  const made = dump[kind].find(
    ({ name, id }) => name === intent.name && !intent.idsBefore.includes(id) && !managed.has(id),
  );
  const args = made === undefined ? commands[3]!.split(" ") : ["import", commands[2]!, made.id];
  const ran = await run(args);
  return ran.exitCode === 0 ? [] : [`${args.join(" ")}: exit ${ran.exitCode}: ${said(ran)}`];
}

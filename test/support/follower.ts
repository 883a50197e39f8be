/**
 * Runs the command, does what the `fix` of its diagnostic says, to the letter, and runs it again. What is done is taken
 * from the text of the fix: a word that does not stand there is not done.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isMap, parse, parseDocument, type YAMLMap } from "yaml";
import { type EmulatorOptions, type RunningEmulator, startEmulator } from "../../emulator";
import type { DiagnosticCode } from "../../reconciler/core/model/diagnostic-code";
import { run } from "./captured-command";
import { type CliOptions, jsonLines, type Ran } from "./cli-process";
import { makeFolder, writeFiles } from "./folder";
import { type Door, type OtherService, openDoor } from "./other-services/other-service";

/** What the service can do; what of it the command knows is the dialect's. */
const everything = ["volume.list", "group.list", "vm.get", "group.get", "volume.delete"];

/** What a fix tells its reader to do, and where in its text it stands. */
export type Act =
  /** A command of ours, whole. */
  | { readonly run: RegExp }
  /** The same command, with these flags. */
  | { readonly flag: RegExp }
  /** A line for a file (left out: reconcile.yaml), which goes where its keys say. */
  | { readonly write: RegExp; readonly into?: string; readonly below?: readonly string[] }
  /** What is to stand in place of something in the line that the diagnostic names; no `word`: it is taken out. */
  | { readonly word: RegExp; readonly insteadOf: string | RegExp; readonly joins?: string; readonly line?: string }
  /** Another word in the command, in place of a wrong one. */
  | { readonly arg: RegExp; readonly insteadOf: string }
  /** The same command once more. */
  | { readonly again: RegExp }
  /** What a person does outside, in words. */
  | { readonly hand: RegExp; readonly done: (here: Stage) => unknown }
  /** What only a person can answer. Nothing more can be done here. */
  | { readonly question: RegExp };

export interface Stage {
  readonly folder: string;
  readonly door: Door;
  readonly emulator: RunningEmulator;
  /** What the person's shell has set. */
  readonly env: Record<string, string>;
  read(name: string): string;
  write(name: string, text: string): void;
  writeBytes(name: string, bytes: Buffer): void;
  remove(name: string): void;
  edit(name: string, from: string | RegExp, to: string): void;
  /** The id of what the service has under this name; the last one, of several. */
  idOf(name: string): string;
  reconcile(...args: readonly string[]): Promise<Ran>;
  /** The same, which has to end well. */
  ok(...args: readonly string[]): Promise<void>;
  wait(ms: number): Promise<void>;
}

export interface World {
  /** What tells it from other worlds of the same code. */
  readonly name?: string;
  readonly files: Readonly<Record<string, string>>;
  readonly service?: OtherService;
  readonly emulated?: EmulatorOptions;
  /** What has happened before. */
  readonly before?: (here: Stage) => unknown;
  /** Left out: `apply -y`. */
  readonly command?: readonly string[];
  /** One act for each round. Two rounds are the most that the rule allows. */
  readonly follow: readonly [Act] | readonly [Act, Act];
  /** What stands for the words in capitals of a fix, such as ID. */
  readonly knows?: (here: Stage) => Readonly<Record<string, string>>;
  /** What the service has of others, or of what was let go: VMs, volumes, groups. */
  readonly others?: readonly [number, number, number];
  /** What is run once the command has ended well. `[]`: the command is not run again, for the fix says it all. */
  readonly afterwards?: readonly string[];
}

async function openStage({ files, service = {}, emulated = {} }: World): Promise<Stage & { close(): Promise<void> }> {
  const emulator = await startEmulator({ timeScale: 0, with: everything, ...emulated });
  const door = await openDoor(emulator);
  door.open(service);
  const folder = makeFolder(files);
  const env: Record<string, string> = { RECONCILE_TOKEN: "ops-token", RECONCILE_BASE_URL: door.url };
  const read = (name: string): string => readFileSync(join(folder, name), "utf8");
  const write = (name: string, text: string): void => writeFiles(folder, { [name]: text });
  const reconcile = (...args: readonly string[]): Promise<Ran> => runHere(args, { cwd: folder, env });
  return {
    ...{ folder, door, emulator, env, read, write, reconcile },
    writeBytes: (name, bytes) => writeFileSync(join(folder, name), bytes),
    remove: (name) => rmSync(join(folder, name), { recursive: true }),
    edit(name, from, to) {
      const text = read(name);
      const next = text.replace(from, to);
      if (next === text) throw new Error(`${name} has no ${from}: ${text}`);
      write(name, next);
    },
    idOf(name) {
      const { vms, volumes, groups } = emulator.dump();
      const found = [...vms, ...volumes, ...groups].findLast((one) => one.name === name);
      if (found === undefined) throw new Error(`the service has no ${name}`);
      return found.id;
    },
    async ok(...args) {
      const ran = await reconcile(...args);
      if (ran.exitCode !== 0) throw new Error(`${args.join(" ")}: ${ran.stdout}${ran.stderr}`);
    },
    wait: (ms) => new Promise((done) => setTimeout(done, ms)),
    async close() {
      await door.close();
      await emulator.close();
    },
  };
}

/** How much the service has of each kind: root disks and the service's own group apart. */
const sizeOf = ({ emulator }: Stage): readonly number[] => {
  const { projects, ...world } = emulator.dump();
  const own = projects[0]?.id;
  const isOurs = ({ project_id }: { readonly project_id: string }): boolean => project_id === own;
  return [
    world.vms.filter(isOurs).length,
    world.volumes.filter((volume) => isOurs(volume) && !volume.root).length,
    world.groups.filter((group) => isOurs(group) && !group.platform).length,
  ];
};

type Blocks = Readonly<Record<string, { readonly for_each?: number | readonly unknown[] } | null>> | null;

/** How much of each kind the file declares; a VM has a data volume of its own. */
function declaredIn(here: Stage): readonly number[] {
  const count = (blocks: Blocks = {}): number =>
    Object.values(blocks ?? {}).reduce((sum, block) => {
      const each = block?.for_each ?? 1;
      return sum + (typeof each === "number" ? each : each.length);
    }, 0);
  try {
    // A file of desired state, as these tests write them.
    const file = (parse(here.read("reconcile.yaml")) ?? {}) as { vms?: Blocks; volumes?: Blocks; groups?: Blocks };
    return [count(file.vms), count(file.volumes) + count(file.vms), count(file.groups)];
  } catch {
    return [0, 0, 0];
  }
}

interface Told {
  readonly severity: string;
  readonly code: string;
  readonly summary: string;
  readonly fix?: string | null;
  readonly file?: string | null;
  readonly line?: number | null;
}

/** What is wrong with the fix of this code in this world, in words. */
export async function followed(code: DiagnosticCode, world: World): Promise<readonly string[]> {
  const here = await openStage(world);
  try {
    await world.before?.(here);
    return await followIn(here, code, world);
  } finally {
    await here.close();
  }
}

async function followIn(here: Stage, code: DiagnosticCode, world: World): Promise<readonly string[]> {
  const { command = ["apply", "-y"], others = [0, 0, 0], afterwards } = world;
  const before = sizeOf(here);
  const larger = (): readonly string[] => {
    const [now, declared] = [sizeOf(here), declaredIn(here)];
    const isLarger = now.some((count, kind) => count > Math.max(declared[kind]! + others[kind]!, before[kind]!));
    return isLarger ? [`the world has become larger: ${now}, where ${declared} are declared`] : [];
  };
  let args = command;
  let ran = await here.reconcile(...command, "--json");
  let said = theOne(ran, code);
  if (said === undefined) return [`it does not say ${code}: ${textOf(ran)}`];
  for (const act of world.follow) {
    const { fix } = said ?? {};
    if (said === undefined || typeof fix !== "string") return [`there is no fix to follow: ${textOf(ran)}`];
    const pattern = patternOf(act);
    const found = pattern.exec(fix);
    if (found === null) return [`its fix does not say ${pattern}: ${fix}`];
    if ("question" in act) return larger();
    const words = world.knows?.(here) ?? {};
    const text = (found[1] ?? found[0]).replace(/\b[A-Z]{2,}\b|…/g, (word) => words[word] ?? word);
    const done = await carryOut(act, text, said, here, args);
    if (done.args !== undefined) args = done.args;
    const isAll = done.ran !== undefined && (afterwards?.length === 0 || done.ran.exitCode !== 0);
    ran = isAll ? done.ran : await here.reconcile(...args, "--json");
    if (ran.exitCode === 0 && afterwards !== undefined && afterwards.length > 0)
      ran = await here.reconcile(...afterwards, "--json");
    if (larger().length > 0) return larger();
    if (ran.exitCode === 0) break;
    said = diagnosticsOf(ran).find(({ severity, fix }) => severity === "error" && typeof fix === "string");
  }
  if (ran.exitCode !== 0) return [`it does not end: ${textOf(ran)}`];
  return [args[0], afterwards?.[0]].includes("apply") ? [...(await leftToDo(here, args)), ...larger()] : [];
}

const patternOf = (act: Act): RegExp =>
  "run" in act
    ? act.run
    : "flag" in act
      ? act.flag
      : "write" in act
        ? act.write
        : "arg" in act
          ? act.arg
          : "word" in act
            ? act.word
            : "again" in act
              ? act.again
              : "hand" in act
                ? act.hand
                : act.question;

interface Done {
  /** The command from now on. */
  readonly args?: readonly string[];
  /** What the fix said to run. */
  readonly ran?: Ran;
}

async function carryOut(act: Act, text: string, said: Told, here: Stage, args: readonly string[]): Promise<Done> {
  if ("run" in act) {
    const [program, ...words] = wordsOf(text);
    if (program !== "reconcile") throw new Error(`${text} is no command of ours`);
    // Who runs it reads what it asks for, and answers.
    const asks = words[0] === "apply" ? ["-y"] : [];
    const ran = await here.reconcile(...words, ...asks, "--json");
    // A command that asks for something itself is the one that goes on.
    return ran.exitCode === 0 ? { ran } : { ran, args: [...words, ...asks] };
  }
  if ("flag" in act) return { args: [...args, ...wordsOf(text)] };
  if ("arg" in act) return { args: args.map((word) => (word === act.insteadOf ? text : word)) };
  if ("write" in act) {
    const { into = "reconcile.yaml", below = [] } = act;
    here.write(into, merged(here.read(into), text, below));
  }
  if ("word" in act) {
    const { file } = said;
    if (typeof file !== "string") throw new Error(`${said.code} names no place`);
    const lines = here.read(file).split("\n");
    const line = act.line === undefined ? said.line : 1 + lines.findIndex((one) => one.startsWith(`${act.line}:`));
    if (typeof line !== "number") throw new Error(`${said.code} names no line`);
    const written = lines[line - 1]!;
    lines[line - 1] = written.replace(act.insteadOf, `${act.joins ?? ""}${text}`);
    if (lines[line - 1] === written) throw new Error(`line ${line} has no ${act.insteadOf}: ${written}`);
    writeFileSync(join(here.folder, file), lines.join("\n"));
  }
  if ("hand" in act) await act.done(here);
  return {};
}

/** As a shell splits it. */
const wordsOf = (text: string): string[] =>
  [...text.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, single, double, bare]) => single ?? double ?? bare ?? "");

/** The file with the keys of the line in their places; `below`: where the fix says that they belong. */
function merged(file: string, line: string, below: readonly string[]): string {
  const document = parseDocument(file);
  const put = (path: readonly string[], value: unknown): void => {
    if (typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0)
      for (const [key, item] of Object.entries(value)) put([...path, key], item);
    else document.setIn(path, value);
  };
  const written = parseDocument(line);
  if (!isMap(written.contents)) throw new Error(`${line} is no line of a file`);
  put(below, (written.contents as YAMLMap).toJSON());
  return document.toString();
}

/** After a run that is done there is nothing left to do. */
async function leftToDo(here: Stage, args: readonly string[]): Promise<readonly string[]> {
  const where = args.flatMap((arg, at) => (arg === "--env" ? [arg, args[at + 1]!] : []));
  const plan = await here.reconcile("plan", "--detailed-exitcode", ...where);
  return plan.exitCode === 0 ? [] : [`something is left to do: ${plan.stdout}${plan.stderr}`];
}

/** The one whose fix is followed: the code, with a fix if there is one. */
function theOne(ran: Ran, code: string): Told | undefined {
  const all = diagnosticsOf(ran).filter((one) => one.code === code);
  return all.find(({ fix }) => typeof fix === "string") ?? all[0];
}

function diagnosticsOf({ stdout }: Ran): readonly Told[] {
  const last = jsonLines(stdout).at(-1) ?? {};
  const { diagnostics = [], findings = [] } = last as { diagnostics?: Told[]; findings?: Told[] };
  return [...diagnostics, ...(Array.isArray(findings) ? findings : [])];
}

const textOf = (ran: Ran): string =>
  [
    `exit ${ran.exitCode}`,
    ...diagnosticsOf(ran).map(
      ({ severity, code, summary, fix }) => `  ${severity} ${code}: ${summary}\n    fix: ${fix}`,
    ),
    ran.stderr,
  ].join("\n");

/* The built command in this process, with a folder and an environment of its own for as long as it runs: one at a time. */

export async function runHere(args: readonly string[], { cwd, env = {} }: CliOptions): Promise<Ran> {
  const said = { stdout: "", stderr: "" };
  const before = { folder: process.cwd(), environment: { ...process.env } };
  const writes = { stdout: process.stdout.write, stderr: process.stderr.write };
  // The command waits for the last write before it ends.
  for (const name of ["stdout", "stderr"] as const)
    process[name].write = ((piece: unknown, ...more: readonly unknown[]) => {
      said[name] += String(piece);
      const written = more.at(-1);
      if (typeof written === "function") written();
      return true;
    }) as typeof process.stdout.write;
  for (const name of Object.keys(process.env)) if (name.startsWith("RECONCILE_")) delete process.env[name];
  Object.assign(process.env, { NO_COLOR: "1" }, env);
  process.chdir(cwd);
  try {
    return { exitCode: await run(args), ...said };
  } finally {
    process.chdir(before.folder);
    for (const name of Object.keys(process.env)) if (!(name in before.environment)) delete process.env[name];
    Object.assign(process.env, before.environment);
    for (const name of ["stdout", "stderr"] as const) process[name].write = writes[name];
  }
}

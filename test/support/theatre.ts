/**
 * A scene played by the command itself, within this process: a folder with files and a state, a world behind a door that
 * any service may stand in, and everything put back in a moment for the next try. The golden stories and the stories of
 * change are all scenes.
 */

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { parse, stringify } from "yaml";
import { type EmulatorOptions, startEmulator, type WorldDump } from "../../emulator";
import { assumedOperations, rowOf } from "../../reconciler/core/model/operation";
import type { FoldedState } from "../../reconciler/core/state/fold";
import { readState, writeSnapshot } from "../../reconciler/core/state/text";
import { dialectOperations } from "./bench-world";
import { type Captured, captureCommand, hastened, type MortalRun, runMortal } from "./captured-command";
import { startCli } from "./cli-process";
import { makeFolder, writeFiles } from "./folder";
import { readStory, tell, withIds } from "./golden-story";
import type { Moment } from "./mortal";
import { type Door, type Exchange, type OtherService, openDoor, plain } from "./other-services/other-service";
import { everything, type Service, type Story, stories } from "./stories";
import { type Dump, readDump, type Shape, shapeOf, withoutOrphans } from "./world-shape";

export const canary = "canary-5e8a1c-token";

export interface Finding {
  readonly severity: string;
  readonly code?: string;
  readonly summary: string;
  readonly fix?: string;
  readonly address?: string;
}

export interface Ran extends Captured {
  readonly diagnostics: readonly Finding[];
  /** Everything the door heard during this run. */
  readonly heard: readonly Exchange[];
}

export interface Scene {
  readonly title: string;
  /** What is played, as the story's or the folder's name. */
  readonly story: string;
  readonly service: Service | undefined;
  /** `place`: where the next state is to lie, as for `--state`; left out: beside the file. */
  open(place?: () => string): Promise<Theatre>;
}

export interface Theatre {
  readonly title: string;
  readonly folder: string;
  /** What the edit lets go of on purpose. */
  readonly letsGo: readonly string[];
  /** What it does depends on what it sees. */
  readonly looks: boolean;
  /** What it does is asked for by a flag, once. */
  readonly once: boolean;
  readonly door: Door;
  readonly start: WorldDump;
  /** Everything as it was before the edit, behind this service; `dialect` is merged into the scene's. */
  reset(service?: OtherService, dialect?: Readonly<Record<string, object>>): Promise<void>;
  /** The edit. */
  run(credential?: string): Promise<Ran>;
  /** The edit once more: what a flag asked for once is not asked for again. */
  again(credential?: string, more?: readonly string[]): Promise<Ran>;
  /** Another command. */
  command(args: readonly string[]): Promise<Ran>;
  /** The edit in this process, which dies at the moment. */
  mortal(moment?: Moment): Promise<MortalRun>;
  /** The edit, or another command, as a process of its own, which can be killed. */
  launch(options?: {
    readonly args?: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
  }): ReturnType<typeof startCli>;
  state(): Promise<FoldedState>;
  dump(): Dump;
  shape(): Promise<Shape>;
  close(): Promise<void>;
}

interface Set {
  readonly title: string;
  readonly emulator: EmulatorOptions;
  readonly operations: Readonly<Record<string, unknown>>;
  readonly files: Readonly<Record<string, string>>;
  readonly args: readonly string[];
  /** Flags for the first run alone. */
  readonly once?: readonly string[];
  readonly letsGo?: readonly string[];
  readonly looks?: true;
  /** The world and the state as the edit finds them. */
  prepare(theatre: Preparation): Promise<void>;
}

interface Preparation {
  write(files: Readonly<Record<string, string>>): void;
  load(world: WorldDump): Promise<void>;
  apply(): Promise<Captured>;
  control(method: string, path: string, body?: unknown): Promise<unknown>;
}

const destruction = ["destroy", "-y", "--allow-data-loss", "--confirm-flush", "all"];
const consents = ["-y", "--allow-data-loss", "--allow-empty", "--confirm-flush", "all"];
const stateFile = "reconcile.state.json";

/** What a store wants to be told by the environment. */
const storeSettings = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value !== undefined && /^(AWS_|RECONCILE_STATE_)/.test(name) ? [[name, value]] : [],
    ),
  );

async function openTheatre(set: Set, place?: () => string): Promise<Theatre> {
  const emulator = await startEmulator({ timeScale: 0, ...set.emulator });
  const door = await openDoor(emulator);
  const folder = makeFolder();
  const timing = { poll_interval: "2ms", discovery_window: "60ms", request_timeout: "10s", vm_create_timeout: "1s" };
  const service = stringify({ service: { base_url: door.url, timing, dialect: "the.dialect.yaml" } });
  const dialectText = (more: object = {}): string => JSON.stringify({ operations: set.operations, ...more });
  const files: Record<string, string> = { ...set.files, "service.yaml": service, "the.dialect.yaml": dialectText() };
  let spelling = plain;
  let location: string | undefined;
  const at = (): readonly string[] => (location === undefined ? [] : ["--state", location]);

  const capture = (args: readonly string[], credential = canary): Promise<Captured> => {
    process.env["RECONCILE_TOKEN"] = credential;
    return hastened(() => captureCommand(args));
  };
  const play = async (args: readonly string[], credential?: string): Promise<Ran> => {
    const from = door.heard.length;
    const captured = await capture([...args, ...at(), "--json"], credential);
    const last = captured.text.split("\n").findLast((line) => line.startsWith('{"type":"summary"'));
    const { diagnostics = [] } = (last === undefined ? {} : JSON.parse(last)) as { diagnostics?: Finding[] };
    return { ...captured, diagnostics, heard: door.heard.slice(from) };
  };
  const state = async (): Promise<FoldedState> => {
    const pulled = await capture(["state", "pull", "--state", location ?? join(folder, stateFile)]);
    if (pulled.exitCode !== 0) throw new Error(`the state cannot be pulled: ${pulled.text}`);
    const text = pulled.text.slice(pulled.text.indexOf("{\n"), pulled.text.lastIndexOf("}") + 1);
    const read = readState({ snapshot: spelling.in(text), journal: [] }, "none");
    if (!read.ok) throw new Error(`the state cannot be read: ${read.problem}`);
    return read.state;
  };
  const dump = (): Dump => readDump(ownProject(emulator.dump()));

  writeFiles(folder, files);
  await set.prepare({
    write: (more) => writeFiles(folder, more),
    load: (world) => emulator.load(world),
    apply: () => capture(["apply", folder, ...consents, "--json"]),
    control: async (method, path, body) => {
      const answer = await fetch(`${emulator.url}/_control${path}`, {
        method,
        ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
      });
      return answer.json();
    },
  });
  writeFiles(folder, files);
  const start = emulator.dump();
  const saved = Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => {
      const path = join(entry.parentPath, entry.name);
      return entry.isFile() ? [[relative(folder, path), readFileSync(path, "utf8")]] : [];
    }),
  );

  return {
    title: set.title,
    folder,
    letsGo: set.letsGo ?? [],
    looks: set.looks === true,
    once: (set.once ?? []).length > 0,
    door,
    start,
    async reset(other = {}, dialect = {}) {
      spelling = other.spell ?? plain;
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder);
      const spelt = Object.entries(saved).map(([name, text]) => [name, spelling.file(text)] as const);
      writeFiles(folder, { ...Object.fromEntries(spelt), "the.dialect.yaml": dialectText(dialect) });
      await emulator.load(start);
      door.open(other);
      location = place?.();
      if (location === undefined || saved[stateFile] === undefined) return;
      const pulled = await capture(["state", "pull", "--state", join(folder, stateFile)]);
      writeFiles(folder, { "pushed.json": pulled.text });
      const pushed = await capture(["state", "push", join(folder, "pushed.json"), ...at()]);
      if (pushed.exitCode !== 0) throw new Error(`the state cannot be pushed: ${pushed.text}`);
    },
    run: (credential) => play([set.args[0]!, folder, ...set.args.slice(1), ...(set.once ?? [])], credential),
    again: (credential, more = []) => play([set.args[0]!, folder, ...set.args.slice(1), ...more], credential),
    command: (args) => play([...args.map((word) => spelling.file(word)), "-f", folder]),
    mortal(moment) {
      process.env["RECONCILE_TOKEN"] = canary;
      const args = [set.args[0]!, folder, ...set.args.slice(1), ...(set.once ?? []), ...at(), "--json"];
      return hastened(() => runMortal(args, moment));
    },
    launch: ({ args, env = {} } = {}) =>
      startCli(
        [
          ...(args === undefined
            ? [set.args[0]!, folder, ...set.args.slice(1), ...(set.once ?? [])]
            : [...args, "-f", folder]),
          ...at(),
          "--json",
        ],
        { cwd: folder, env: { ...storeSettings(), RECONCILE_TOKEN: canary, ...env } },
      ),
    state,
    dump,
    shape: async () => shapeOf(withoutOrphans(dump(), await state())),
    async close() {
      await door.close();
      await emulator.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function ownProject(world: WorldDump): WorldDump {
  const own = world.projects[0]?.id;
  const mine = <T extends { readonly project_id: string }>(rows: readonly T[]): readonly T[] =>
    rows.filter(({ project_id }) => project_id === own);
  return { ...world, vms: mine(world.vms), volumes: mine(world.volumes), groups: mine(world.groups) };
}

/** A story of change: the file before is applied, then the edit is the one after. */
const sceneOf = (title: string, story: Story, service: Service, destroy = false): Scene => ({
  title: `${title}, with the service's ${service}${destroy ? ", and all destroyed after it" : ""}`,
  story: title,
  service,
  open: (place) =>
    openTheatre(
      {
        title,
        emulator: { ...story.emulator, ...(service === "everything" ? { with: everything } : {}) },
        operations: service === "everything" ? dialectOperations({ with: everything }) : {},
        files: { "reconcile.yaml": JSON.stringify(story.after) },
        args: story.destroy === true || destroy ? destruction : ["apply", ...consents],
        letsGo: story.letsGo ?? [],
        ...(story.looks === true ? { looks: true } : {}),
        async prepare({ write, apply, control }) {
          write({ "reconcile.yaml": JSON.stringify(story.before) });
          const first = await apply();
          if (first.exitCode !== 0) throw new Error(`the world before does not stand: ${first.text}`);
          await story.between?.(control);
          if (!destroy) return;
          write({ "reconcile.yaml": JSON.stringify(story.after) });
          await apply();
        },
      },
      place,
    ),
});

const golden = resolve(__dirname, "../golden");

/** A golden story: what was told of it so far in virtual time, and its file as the edit. */
const sceneOfGolden = (name: string): Scene => ({
  title: name,
  story: name,
  service: undefined,
  async open(place) {
    const folder = join(golden, name);
    const story = readStory(folder);
    const stage = await tell(folder, story);
    const { contract_only, with: more, without } = story.service ?? {};
    const { targets = [], replace = [], destroy, adopt, refresh } = story.options ?? {};
    const healthy = story.healthy ?? true;
    const written = existsSync(join(folder, "reconcile.yaml"))
      ? readFileSync(join(folder, "reconcile.yaml"), "utf8")
      : "";
    const text = stringify(harmless(parse(withIds(written, stage)) as unknown, healthy) ?? {});
    const state = harmless(await stage.state(), healthy) as FoldedState;
    const has = (operation: string): boolean => !(contract_only === true) && !(without ?? []).includes(operation);
    const none = assumedOperations.filter((operation) => rowOf(operation).assumed?.builtIn === true);
    return openTheatre(
      {
        title: name,
        emulator: {
          ...(contract_only === true ? { contractOnly: true } : {}),
          with: more ?? [],
          without: without ?? [],
          portRange: "{min}-{max}",
        },
        operations: {
          ...Object.fromEntries(none.filter((operation) => !has(operation)).map((operation) => [operation, null])),
          ...dialectOperations({ with: more ?? [] }),
        },
        files: {
          "defaults.yaml": readFileSync(join(golden, "defaults.yaml"), "utf8"),
          ...(written.trim() === "" ? {} : { "reconcile.yaml": text }),
        },
        args: [
          ...(destroy === true ? destruction : ["apply", ...consents]),
          ...targets.flatMap((address) => ["--target", address]),
          ...(adopt === true ? ["--adopt"] : []),
          ...(refresh === false ? ["--no-refresh"] : []),
        ],
        // Told that it could not look, it leaves what it cannot compare to the next run.
        ...(name.includes("-import-") ? { looks: true as const } : {}),
        once: replace.flatMap((address) => ["--replace", address]),
        async prepare({ write, load }) {
          await load(stage.emulated.dump());
          write({ [stateFile]: writeSnapshot(state) });
        },
      },
      place,
    );
  },
});

/** No command of a story is run, and no address of its world is called: a check passes or fails by itself. */
function harmless(value: unknown, healthy: boolean): unknown {
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [key, harmless(item, healthy)]));
  if (Array.isArray(value)) return value.map((item) => harmless(item, healthy));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      if (key === "check" && typeof item === "object") return [key, { command: [healthy ? "true" : "false"] }];
      if (key === "verify_resize" && typeof item === "object")
        return [key, harmless({ ...item, timeout: "20ms" }, healthy)];
      if (key === "command" && Array.isArray(item)) return [key, ["true"]];
      return [key, harmless(item, healthy)];
    }),
  );
}

/** Every n-th, as the variable says. */
export function every(variable: string, otherwise: number): (_: unknown, index: number) => boolean {
  const stride = Number(process.env[variable] ?? otherwise);
  return (_, index) => index % stride === 0;
}

export const goldenScenes: readonly Scene[] = readdirSync(golden)
  .filter((name) => /^\d{3}-/.test(name))
  .sort()
  .map(sceneOfGolden);

const scenesOfStories = (destroy: boolean): readonly Scene[] =>
  (["everything", "built-in"] as const).flatMap((service) =>
    Object.entries(stories)
      .filter(([, story]) => story.only === undefined || story.only === service)
      .filter(([, story]) => !(destroy && story.destroy === true))
      .map(([title, story]) => sceneOf(title, story, service, destroy)),
  );

/** The second apply. */
export const changeScenes = scenesOfStories(false);
/** The third: what the second has led to is destroyed. */
export const destroyScenes = scenesOfStories(true);

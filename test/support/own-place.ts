/**
 * A place for a command to run in: a folder, an emulated service of its own, and the command as a process that knows
 * both. Every test of the file that asks for one gets a fresh one.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import { type EmulatorOptions, type RunningEmulator, startEmulator } from "../../emulator";
import { type Ran, runCli } from "./cli-process";
import { makeFolder, writeFiles } from "./folder";
import { type MeddlingProxy, startMeddlingProxy } from "./meddling-proxy";

interface ServiceBlock {
  readonly timing?: object;
  readonly dialect?: object;
}

export interface Place {
  readonly folder: string;
  readonly emulator: RunningEmulator;
  /** Another service in place of the first, with options that one test alone wants. */
  serve(options: EmulatorOptions): Promise<void>;
  /** What a process needs to run the command in the folder; `baseUrl`: another way to the service. */
  surroundings(baseUrl?: string): { readonly cwd: string; readonly env: Readonly<Record<string, string>> };
  /** Runs the command in the folder. */
  reconcile(...args: string[]): Promise<Ran>;
  write(text: string, name?: string): void;
  read(name: string): string;
  /** Writes the file of desired state as `fileOf` makes it. */
  declare(blocks: object, service?: ServiceBlock): void;
  /** The state, as it lies in the folder. */
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of it
  state(): any;
  /** The requests that changed something, or would have, so far. */
  writes(): number;
  /** What somebody else asks of the service, around the proxy if there is one. */
  // biome-ignore lint/suspicious/noExplicitAny: a test knows what the service answers
  ask(method: string, path: string, body?: object): Promise<any>;
}

export interface MeddledPlace extends Place {
  readonly proxy: MeddlingProxy;
}

const token = "ops-token";
const stateFile = "reconcile.state.json";
const shortWaits = { poll_interval: "5ms", discovery_window: "100ms", vm_create_timeout: "3s" };
const vmDefaults = {
  owner: "ops@acme.example",
  user_id: "1042",
  image_id: "ubuntu-24.04",
  flavor_id: "m1.small",
  size: 10,
};

/** The head of a file in YAML, for tests whose files are text. */
export const headOf = (timing: string): string => `version: 1
project: acme
region: in-west-1
service: { timing: { ${timing} } }
defaults: { vm: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 } }
`;

/** A file of desired state: these blocks below a head with short waits and defaults for VMs. */
export const fileOf = (blocks: object, { timing = {}, ...service }: ServiceBlock = {}): string =>
  JSON.stringify({
    ...{ version: 1, project: "acme", region: "in-west-1" },
    service: { timing: { ...shortWaits, ...timing }, ...service },
    defaults: { vm: vmDefaults },
    ...blocks,
  });

/** Both outputs, as if no line had been broken. */
export const said = ({ stdout, stderr }: Pick<Ran, "stdout" | "stderr">): string =>
  (stdout + stderr).replace(/\s+/g, " ");

/** It has to succeed. */
export async function done(running: Promise<Ran>): Promise<Ran> {
  const ran = await running;
  expect(ran.exitCode, ran.stdout + ran.stderr).toBe(0);
  return ran;
}

/** A fresh place for each test of the file. */
export const ownPlace = (options: EmulatorOptions = {}): Place => openPlaces(options, false);

/** With a proxy between the command and the service, which can change what either hears. */
export const ownMeddledPlace = (options: EmulatorOptions = {}): MeddledPlace => openPlaces(options, true);

function openPlaces(options: EmulatorOptions, meddled: boolean): MeddledPlace {
  let folder: string;
  let emulator: RunningEmulator;
  let proxy: MeddlingProxy | undefined;
  const serve = async (more: EmulatorOptions): Promise<void> => {
    emulator = await startEmulator({ timeScale: 0, ...more });
    proxy = meddled ? await startMeddlingProxy(emulator.url) : undefined;
  };
  const close = async (): Promise<void> => {
    await proxy?.close();
    await emulator.close();
  };
  const surroundings: Place["surroundings"] = (baseUrl = proxy?.url ?? emulator.url) => ({
    cwd: folder,
    env: { RECONCILE_TOKEN: token, RECONCILE_BASE_URL: baseUrl },
  });
  beforeEach(async () => {
    folder = makeFolder();
    await serve(options);
  });
  afterEach(close);

  return {
    get folder() {
      return folder;
    },
    get emulator() {
      return emulator;
    },
    get proxy() {
      if (proxy === undefined) throw new Error("this place has no proxy: ownMeddledPlace");
      return proxy;
    },
    async serve(more) {
      await close();
      await serve(more);
    },
    surroundings,
    reconcile: (...args) => runCli(args, surroundings()),
    write: (text, name = "reconcile.yaml") => writeFiles(folder, { [name]: text }),
    read: (name) => readFileSync(join(folder, name), "utf8"),
    declare: (blocks, service) => writeFiles(folder, { "reconcile.yaml": fileOf(blocks, service) }),
    state: () => JSON.parse(readFileSync(join(folder, stateFile), "utf8")),
    writes: () => emulator.requests().log.filter(({ method }) => method !== "GET").length,
    async ask(method, path, body) {
      const answer = await fetch(emulator.url + path, {
        method,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`);
      return answer.json();
    },
  };
}

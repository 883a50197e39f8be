/**
 * A place for a command to run in: a folder, an emulated service of its own, and the command as a process that knows
 * both. Every test of the file that asks for one gets a fresh one.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, request as send } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import { type EmulatorOptions, type RunningEmulator, startEmulator } from "../../emulator";
import { type Ran, runCli, startCli } from "./cli-process";
import { makeFolder, writeFiles } from "./folder";
import { closeHere, listenHere } from "./loopback";
import { type Door, type OtherService, openDoor } from "./other-services/other-service";

interface ServiceBlock {
  readonly base_url?: string;
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

/*
 * What stands between the command and a service or a store: somebody who changes things, or the answers, at a request,
 * and a way that swallows what is sent, or what is answered, or is closed for a while.
 */

export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
}

export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Forwards by itself, perhaps with another body, or answers in the service's place. */
export type Meddle = (exchange: Exchange, forward: (changed?: string) => Promise<Answer>) => Promise<Answer>;

export interface MeddlingProxy {
  readonly url: string;
  /** What was sent to it that changes something, as `METHOD path`, in order. */
  readonly writes: string[];
  meddle(next: Meddle): void;
  close(): Promise<void>;
}

export const json = (body: unknown, status = 200): Answer => ({ status, body: JSON.stringify(body) });

export async function startMeddlingProxy(target: string): Promise<MeddlingProxy> {
  const { hostname, port } = new URL(target);
  const writes: string[] = [];
  let meddle: Meddle = (_, forward) => forward();
  const server = createServer((incoming, outgoing) => {
    const pieces: Buffer[] = [];
    incoming.on("data", (piece: Buffer) => pieces.push(piece));
    incoming.on("end", async () => {
      const { method = "GET", url: path = "/", headers } = incoming;
      const body = Buffer.concat(pieces);
      if (method !== "GET") writes.push(`${method} ${path}`);
      const forward = (changed?: string): Promise<Answer> =>
        new Promise((resolve, reject) => {
          const sent = changed === undefined ? body : Buffer.from(changed);
          const length = changed === undefined ? {} : { "content-length": String(sent.length) };
          const forwarded = send({ hostname, port, method, path, headers: { ...headers, ...length } }, (answer) => {
            const received: Buffer[] = [];
            answer.on("data", (piece: Buffer) => received.push(piece));
            answer.on("end", () =>
              resolve({ status: answer.statusCode ?? 500, body: Buffer.concat(received).toString() }),
            );
          });
          forwarded.on("error", reject);
          forwarded.end(sent);
        });
      try {
        const answer = await meddle({ method, path, body: body.toString(), headers }, forward);
        outgoing.writeHead(answer.status, { "content-type": "application/json" });
        outgoing.end(answer.body);
      } catch {
        incoming.socket.destroy();
      }
    });
  });
  const url = await listenHere(server);
  return {
    url,
    writes,
    meddle(next) {
      meddle = next;
    },
    close: () => closeHere(server),
  };
}

export type Mood = "open" | "swallows requests" | "swallows answers" | "closed";

export interface MoodyProxy {
  readonly port: number;
  /** For what is connected and for what will be. A closed one cuts everybody off. */
  set(mood: Mood): void;
  /** Whether somebody is there. */
  isUsed(): boolean;
  stop(): Promise<void>;
}

export async function startMoodyProxy(to: URL): Promise<MoodyProxy> {
  let mood: Mood = "open";
  const sockets = new Set<Socket>();
  const server = createTcpServer((near) => {
    if (mood === "closed") {
      near.destroy();
      return;
    }
    const far = connect(Number(to.port), to.hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.on("data", (bytes) => mood !== "swallows requests" && far.write(bytes));
    far.on("data", (bytes) => mood === "open" && near.write(bytes));
  });
  const listen = (port: number) => new Promise<void>((done) => server.listen(port, "127.0.0.1", done));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const cutAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port,
    set(next) {
      // Closed means that nobody listens, so that who comes is refused.
      if (next === "closed" && mood !== "closed") server.close();
      if (next !== "closed" && mood === "closed") void listen(port);
      mood = next;
      if (next === "closed") cutAll();
    },
    isUsed: () => sockets.size > 0,
    stop: () =>
      new Promise((done) => {
        if (mood === "closed") done();
        else server.close(() => done());
        cutAll();
      }),
  };
}

/* A project at a service of other making: its folder, the door, and the command as a process. */

export interface AtTheDoor {
  readonly folder: string;
  readonly door: Door;
  readonly emulator: RunningEmulator;
  write(name: string, text: string): void;
  reconcile(...args: readonly string[]): Promise<Ran>;
  /** `watch --apply` as a process. */
  watch(...args: readonly string[]): ReturnType<typeof startCli>;
  /** The first round of `watch --apply`: its line, after which it is stopped. */
  watchOnce(...args: readonly string[]): Promise<string>;
  /** How many writes the service was sent since `open`. */
  writes(): number;
  close(): Promise<void>;
}

export async function standAtTheDoor(
  service: OtherService,
  emulated: Parameters<typeof startEmulator>[0] = {},
): Promise<AtTheDoor> {
  const emulator = await startEmulator({ timeScale: 0, ...emulated });
  const door = await openDoor(emulator);
  door.open(service);
  const folder = makeFolder();
  const env = { RECONCILE_TOKEN: "ops-token", RECONCILE_BASE_URL: door.url };
  const watch = (...args: readonly string[]) =>
    startCli(["watch", "--apply", "--listen", "none", "--json", ...args], { cwd: folder, env });
  return {
    watch,
    folder,
    door,
    emulator,
    write: (name, text) => writeFileSync(join(folder, name), text),
    reconcile: (...args) => runCli([...args], { cwd: folder, env }),
    async watchOnce(...args) {
      const watching = watch("--interval", "1h", ...args);
      const round = await watching.says("the end of a round", ({ stdout }) =>
        stdout.split("\n").find((line) => line.includes('"type":"round"')),
      );
      watching.child.kill("SIGINT");
      await watching.finished;
      return round;
    },
    writes: () => door.heard.filter(({ asked, arrived }) => arrived && asked.method !== "GET").length,
    async close() {
      await door.close();
      await emulator.close();
    },
  };
}

/** Changes each record of the lists and reads of the kinds that `edits` names; `undefined`: it is not shown. */
export const retold =
  (edits: Partial<Record<"vm" | "volume" | "group", (record: Record<string, unknown>) => object | undefined>>) =>
  (asked: { readonly operation: string }, answer: { readonly status: number; readonly body?: unknown }) => {
    const [kind, verb] = asked.operation.split(".");
    const edit = kind === "vm" || kind === "volume" || kind === "group" ? edits[kind] : undefined;
    if (edit === undefined || answer.status >= 300 || (verb !== "list" && verb !== "get")) return undefined;
    const body = answer.body as { data?: unknown };
    const payload = body.data ?? body;
    const tell = (record: unknown) => edit(record as Record<string, unknown>);
    if (Array.isArray(payload))
      return { status: 200, body: { data: payload.map(tell).filter((one) => one !== undefined) } };
    const told = tell(payload);
    return told === undefined
      ? { status: 404, body: { error: { code: 404, message: "not found in this project" } } }
      : { status: 200, body: { data: told } };
  };

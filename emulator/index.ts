/**
 * The embedded service: the whole contract on loopback, for trying, for tests and for rehearsals. It is written from the
 * service's contract alone and shares no code with the engine, or both could be wrong together and no test would notice.
 */
import { randomUUID } from "node:crypto";
import { isLoopbackHost } from "../reconciler/core/text/outside-policy";
import { createClock } from "./clock";
import type { Instruments } from "./control";
import type { EmulatorSettings } from "./decision";
import type { WorldChange } from "./entities";
import type { FaultSpec } from "./faults";
import { lockFolder } from "./folder-lock";
import { createHttpServer, listen } from "./http";
import { type Journal, type Loaded, loadFolder, openJournal } from "./journal";
import { chooseOperations, type EmulatorOperation, emulatorOperations, isOperation } from "./operations";
import { createRequestLog, type LoggedRequest, showLog } from "./request-log";
import { buildRoutes } from "./routes";
import { namedCatalogue, seedChanges, type WorldSeed } from "./seed";
import { type Answer, exchange, type Request, type Service } from "./server";
import { createSpeech, type SpokenDialect } from "./speech";
import { applyChanges, changesOfDump, clockOffset, createWorld, dumpWorld, type World, type WorldDump } from "./world";

export type { FaultSpec } from "./faults";
export { FaultProblem, faultKinds, parseFault } from "./faults";
export {
  announce,
  announced,
  becomeGuest,
  countGuests,
  makeWorldFolder,
  type Served,
  serveWorldWord,
  WorldInUse,
} from "./folder-lock";
export { type EmulatorOperation as Operation, emulatorOperations as operationNames } from "./operations";
export type { UserSeed, WorldSeed } from "./seed";
export type { SpokenDialect } from "./speech";
export type { WorldDump } from "./world";

export interface EmulatorOptions {
  /** The world's folder; left out: in memory only. */
  readonly dir?: string;
  readonly host?: string;
  /** 0 (default): any. */
  readonly port?: number;
  /** How many times faster the emulator's time passes; 0: everything happens at once. */
  readonly timeScale?: number;
  readonly contractOnly?: boolean;
  readonly with?: readonly string[];
  readonly without?: readonly string[];
  readonly faults?: readonly FaultSpec[];
  /** Unknown credentials, projects, images and owners are refused. */
  readonly strict?: boolean;
  readonly pageSize?: number;
  /** The seed of a new world. A folder that holds a world already keeps it. */
  readonly seed?: Partial<WorldSeed> | WorldDump;
  readonly logger?: (line: string) => void;
  readonly autoConfirmResize?: boolean;
  /** Refuses to delete a group that a rule of another group names. */
  readonly keepsNamedGroups?: boolean;
  /** Several groups of a project may have one name; so it is where the spoken dialect's limits.unique leaves groups out. */
  readonly groupNamesTwice?: boolean;
  /** How dst_port may hold a range, for example `{min}-{max}`. */
  readonly portRange?: string;
  /** The dialect that the emulator speaks, with every default filled in and checked by the caller. */
  readonly speaks?: SpokenDialect;
  readonly control?: boolean;
  /** How many bytes a journal may hold before the folder is compacted. */
  readonly compactAfterBytes?: number;
}

/** A request of which everything has come. The names of its headers are in small letters. */
interface WholeRequest extends Omit<Request, "body"> {
  readonly text: string;
}

/** The emulated service, before anybody can reach it. */
export interface OpenEmulator {
  /** As over HTTP; `undefined`: the connection ends without an answer. */
  readonly answer: (request: WholeRequest) => Promise<Answer | undefined>;
  readonly operations: readonly EmulatorOperation[];
  dump(): WorldDump;
  load(world: Partial<WorldSeed> | WorldDump): Promise<void>;
  requests(): { readonly counts: Readonly<Record<string, number>>; readonly log: readonly LoggedRequest[] };
  setFaults(faults: readonly FaultSpec[]): void;
  close(): Promise<void>;
}

export interface RunningEmulator extends OpenEmulator {
  readonly url: string;
  readonly port: number;
}

/** What is wrong with the options, in words; empty when nothing is. */
export function checkOptions(options: EmulatorOptions): string[] {
  const { dir, host, port, timeScale, pageSize, portRange, compactAfterBytes } = options;
  const check = <T>(value: T | undefined, isRight: (value: T) => boolean, problem: string): string[] =>
    value === undefined || isRight(value) ? [] : [problem];
  const isWhole = (from: number, to: number) => (value: number) =>
    Number.isInteger(value) && value >= from && value <= to;
  const problems = [
    ...check(dir, (value) => value !== "", "the world's folder needs a name"),
    ...check(host, isLoopbackHost, `host must be a loopback address, not ${host}: the emulator is not for a network`),
    ...check(port, isWhole(0, 65535), "port must be from 0 to 65535"),
    ...check(timeScale, (value) => Number.isFinite(value) && value >= 0, "the time scale must be a number, 0 or more"),
    ...check(pageSize, isWhole(1, Number.POSITIVE_INFINITY), "the page size must be a whole number, 1 or more"),
    ...check(
      compactAfterBytes,
      isWhole(1, Number.POSITIVE_INFINITY),
      "the journal's size before compaction must be a whole number of bytes, 1 or more",
    ),
    ...check(
      portRange,
      (value) => /^\D*\{min\}\D+\{max\}\D*$/.test(value),
      "the port range must hold {min} and {max} with something between them, such as {min}-{max}",
    ),
  ];
  for (const name of [...(options.with ?? []), ...(options.without ?? [])])
    if (!isOperation(name)) problems.push(`${name} is not an operation; there are ${emulatorOperations.join(", ")}`);
  return problems;
}

const secondMsOf = (timeScale: number): number => (timeScale === 0 ? 0 : 1000 / timeScale);

/** Over HTTP on loopback. */
export async function startEmulator(options: EmulatorOptions = {}): Promise<RunningEmulator> {
  const { service, ...opened } = await openService(options);
  const host = options.host ?? "127.0.0.1";
  const server = createHttpServer(service);
  const port = await listen(server, host, options.port ?? 0).catch(async (error: unknown) => {
    await opened.close();
    throw error;
  });
  return {
    ...opened,
    url: `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
    port,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      service.clock.stop();
      server.closeIdleConnections();
      const patience = setTimeout(() => server.closeAllConnections(), 500);
      await closed;
      clearTimeout(patience);
      await opened.close();
    },
  };
}

/** In this process alone. */
export async function openEmulator(options: EmulatorOptions = {}): Promise<OpenEmulator> {
  const { service: _, ...opened } = await openService(options);
  return opened;
}

async function openService(options: EmulatorOptions) {
  const problems = checkOptions(options);
  if (problems.length > 0) throw new Error(problems.join("; "));
  const unlock = options.dir === undefined ? undefined : lockFolder(options.dir);
  try {
    return await open(options, unlock);
  } catch (error) {
    unlock?.();
    throw error;
  }
}

async function open(options: EmulatorOptions, unlock: (() => void) | undefined) {
  const newId = randomUUID;
  const { world, isNew, replayed, next } = await firstWorld(options, newId);
  const journal: Journal | undefined =
    options.dir === undefined
      ? undefined
      : await openJournal(options.dir, next, () => dumpWorld(service.world, clock.now()), options.compactAfterBytes);
  const clock = createClock(() => clockOffset(service.world));
  const instruments: Instruments = { log: createRequestLog(), faults: [] };
  const { speaks: dialect } = options;
  const chosen = dialect === undefined ? chooseOperations(options) : spokenOperations(dialect, options.without);
  const service: Service = {
    world,
    settings: settingsOf(options),
    // An operation for which the dialect has a route is found by that route alone.
    routes: buildRoutes(dialect === undefined ? chosen : chooseOperations({ contractOnly: true })),
    speech:
      dialect === undefined
        ? undefined
        : createSpeech(
            spokenWithout(dialect, options.without),
            options.pageSize ?? 100,
            (vm) => service.world.tables.vm.get(vm)?.name,
          ),
    clock,
    journal,
    instruments,
    hasControl: options.control ?? true,
    newId,
    async load(changes: readonly WorldChange[]) {
      const next = createWorld();
      applyChanges(next, changes);
      service.world = next;
      clock.moved();
      await journal?.compact();
    },
    log: options.logger ?? (() => {}),
  };
  const setFaults = (faults: readonly FaultSpec[]) => {
    instruments.faults = faults.map((spec) => ({ spec, seen: 0, hit: 0 }));
  };
  setFaults(options.faults ?? []);
  // A world that starts from a seed is written down at once: its ids must be the same after a kill. One that was
  // replayed is folded, or each start would have more to replay.
  if (isNew || replayed) await journal?.compact();

  return {
    service,
    answer: ({ text, ...asked }: WholeRequest) => exchange(service, { ...asked, body: async () => ({ text }) }),
    operations: chosen,
    dump: () => dumpWorld(service.world, clock.now()),
    load: (seed: Partial<WorldSeed> | WorldDump) => service.load(seedChanges(seed, newId, clock.now())),
    requests: () => showLog(instruments.log),
    setFaults,
    async close() {
      clock.stop();
      await journal?.close();
      unlock?.();
    },
  };
}

/** The contract's operations, and those that the dialect names. */
const spokenOperations = (dialect: SpokenDialect, without: readonly string[] = []): readonly EmulatorOperation[] =>
  emulatorOperations.filter(
    (name) =>
      !without.includes(name) &&
      (dialect.operations[name] !== undefined
        ? dialect.operations[name] !== null
        : chooseOperations({ contractOnly: true }).includes(name)),
  );

const spokenWithout = (dialect: SpokenDialect, without: readonly string[] = []): SpokenDialect => ({
  ...dialect,
  operations: Object.fromEntries(
    Object.entries(dialect.operations).map(([name, route]) => [name, without.includes(name) ? null : route]),
  ),
});

const settingsOf = (options: EmulatorOptions): EmulatorSettings => ({
  strict: options.strict ?? false,
  secondMs: secondMsOf(options.timeScale ?? 1),
  pageSize: options.pageSize ?? 100,
  portRange: options.portRange ?? options.speaks?.rules.port_range ?? null,
  autoConfirmResize: options.autoConfirmResize ?? false,
  groupNamesTwice: options.groupNamesTwice ?? options.speaks?.limits.unique?.includes("group") === false,
  keepsNamedGroups: options.keepsNamedGroups ?? options.speaks?.limits.named_groups !== undefined,
});

/** The world of the folder, or the seed where the folder is empty. */
async function firstWorld(options: EmulatorOptions, newId: () => string) {
  const loaded = options.dir === undefined ? { dump: undefined, changes: [], next: 1 } : await loadFolder(options.dir);
  const replayed = loaded.changes.length > 0;
  const isNew = loaded.dump === undefined && !replayed;
  const world = createWorld();
  if (isNew) applyChanges(world, seedChanges({ ...catalogueIn(options.speaks), ...options.seed }, newId, Date.now()));
  else applyLoaded(world, loaded);
  return { world, isNew, replayed, next: loaded.next };
}

/** The changes are believed to be whole, so what another version or a hand wrote shows when they are applied. */
function applyLoaded(world: World, { dump, changes }: Pick<Loaded, "dump" | "changes">): void {
  try {
    if (dump !== undefined) applyChanges(world, changesOfDump(dump));
    for (const one of changes) applyChanges(world, one);
  } catch (cause) {
    throw new Error("the world's folder is of another version or damaged: it is left as it is", { cause });
  }
}

/** A dialect that finds the id and the name at one place knows what VMs are made from by its name alone. */
function catalogueIn(dialect: SpokenDialect | undefined): Partial<WorldSeed> {
  if (dialect === undefined) return {};
  const { records } = dialect;
  return namedCatalogue((kind) => JSON.stringify(records[kind].id[0]) === JSON.stringify(records[kind].name[0]));
}

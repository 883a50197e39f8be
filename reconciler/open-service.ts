/**
 * The composition root: from one settings value to a client of the service and the ports of the engine, for the command
 * line, for programs and for the Pulumi provider alike. Where a setting comes from (flags, the environment, files, a
 * provider's configuration) and how the embedded service is started is the caller's.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import {
  type Closed,
  type CommandFiles,
  closedWith,
  type Desired,
  type DesiredResource,
  type Timing,
} from "./core/model/desired";
import { ofKind } from "./core/model/kinds";
import { nearestText } from "./core/text/nearest";
import { onlyDefined } from "./core/text/objects";
import { withoutPassword } from "./core/text/outside-policy";
import { printable } from "./core/text/printable";
import type { Dialect } from "./dialect/dialect";
import { type ReadDialect, readDialectText } from "./dialect/read-dialect";
import { defaultTiming, embeddedTiming, type Ports } from "./engine/ports";
import { systemClock } from "./outside/clock";
import { checkHealth, runCommand, runHelperIn } from "./outside/commands";
import { mostOfNamed, readPlainFile } from "./outside/files";
import { requestSpans, withinStepSpan } from "./outside/run-spans";
import { tracing } from "./outside/tracing";
import type { Trust } from "./outside/trust";
import { Refused, refuse } from "./refused";
import { findCredential, type RunHelper } from "./service/credential";
import { createServiceClient, type HttpServiceClient, type ServiceClientOptions } from "./service/http-client";
import { type Connections, checkBaseUrl } from "./service/transport";

/** What a client is made from, once it is known. */
export interface ServiceSetup {
  readonly dialect: Dialect;
  /** Where a program that the dialect names runs. */
  readonly dialectFolder: string;
  /** What is not said follows the service. */
  readonly timing: Partial<Timing>;
  readonly insecureHttp: boolean;
  /** Requests at once; at 1, steps as well. */
  readonly parallelism: number;
  /** Holds the credential. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Runs the program that prints the credential. Absent: it runs in the dialect's folder. */
  readonly helper?: RunHelper;
  readonly trust: Trust;
  /** The dialect was given beside the files, by a person; its helper is run in a closed run as well. */
  readonly dialectGiven?: boolean;
  readonly onRequest?: ServiceClientOptions["onRequest"];
  readonly pace?: ServiceClientOptions["pace"];
  /** Shared by all clients of one command. */
  readonly connections?: Connections | undefined;
}

/** Where the service answers. */
export interface Location {
  readonly url: string;
  /** Of the embedded service, how many times faster than a real one it is; 0: it takes no time at all. */
  readonly timeScale?: number;
}

export interface OpenedService {
  readonly client: HttpServiceClient;
  readonly dialect: Dialect;
  readonly timing: Timing;
  /** As it is without the embedded service's compressed time. */
  readonly realTiming: Timing;
  readonly parallelism: number;
  readonly embedded: boolean;
  readonly timeScale: number;
  readonly trust: Trust;
}

export const defaultParallelism = 10;

/** Throws Refused with everything that is missing. */
export function openService(setup: ServiceSetup, { url, timeScale }: Location): OpenedService {
  const { dialect, insecureHttp, parallelism, onRequest, pace, trust } = setup;
  const refused = checkBaseUrl(url, insecureHttp);
  if (refused !== undefined) throw new Refused([refused]);
  const embedded = timeScale !== undefined;
  const found = findCredential(
    embedded ? withOwnToken(setup.environment) : setup.environment,
    dialect.authorization,
    setup.helper ?? runHelperIn(setup.dialectFolder),
  );
  if (found.credential === undefined) throw new Refused(found.diagnostics);
  if (found.command !== undefined && setup.helper === undefined && setup.dialectGiven !== true)
    refuseHelper(trust, found.command);
  const realTiming = { ...defaultTiming, ...setup.timing };
  const timing = embedded ? { ...embeddedTiming(timeScale), ...setup.timing } : realTiming;
  const traced = tracing();
  const client = createServiceClient({
    baseUrl: url,
    origin: embedded ? "embedded" : undefined,
    dialect,
    credential: found.credential,
    timing,
    insecureHttp,
    parallelism,
    onRequest,
    follow: traced === undefined ? undefined : requestSpans(traced, new URL(url).host),
    pace,
    connections: setup.connections,
  });
  return { client, dialect, timing, realTiming, parallelism, embedded, timeScale: timeScale ?? 1, trust };
}

function refuseHelper({ closedBy }: Trust, command: readonly string[]): void {
  if (closedBy === undefined) return;
  throw refuse(
    "trust/program",
    `there is no credential: the dialect's program ${printable(command.join(" "))} would print it, and ${closedBy} starts no program that a file names`,
    "set RECONCILE_TOKEN or RECONCILE_AUTHORIZATION, or give the dialect beside the files, with --dialect or RECONCILE_DIALECT",
  );
}

/** The embedded service knows its own credential, so that trying needs no set-up. */
const withOwnToken = (environment: ServiceSetup["environment"]): ServiceSetup["environment"] => ({
  ...environment,
  RECONCILE_TOKEN: environment["RECONCILE_TOKEN"] || "ops-token",
});

/** The file that names the command: paths in it are relative to that file. */
function fileOfCommand(
  resource: DesiredResource | undefined,
  command: keyof CommandFiles | "check",
): string | undefined {
  // What was read from a saved plan lacks the key where it has no such file.
  if (resource === undefined || !("commandFile" in resource || "commandFiles" in resource)) return undefined;
  const { commandFile, commandFiles } = resource;
  // A plan of an older version has the file of a flush command where that of a check is.
  return command === "check" ? commandFile : (commandFiles?.[command] ?? commandFile);
}

/**
 * A volume's record outlives the file that names its flush command: beside the command it has the folder of that file,
 * where that is not the project's own.
 */
export const withFlushFolders = (desired: Closed, project: string): Closed =>
  closedWith(desired, {
    resources: desired.resources.map((resource) => {
      const volume = ofKind(resource, "volume");
      const file = fileOfCommand(volume, "flush");
      if (volume?.flush.via !== "command" || file === undefined) return resource;
      const folder = relative(project, dirname(resolve(file))).replaceAll(sep, "/");
      return folder === "" ? volume : { ...volume, flush: { ...volume.flush, folder } };
    }),
  });

/** What the engine touches of the outside world. A command runs in the folder of the file that names it, else in `folder`. */
export function portsOf(
  { client, timing, parallelism, trust }: OpenedService,
  folder: string,
  { resources, rollouts = [] }: Pick<Desired, "resources" | "rollouts">,
): Omit<Ports, "emit"> {
  const declared = new Map<string, DesiredResource>(resources.map((resource) => [resource.address, resource]));
  const folderOf = (address = "", command: keyof CommandFiles | "check" = "check"): string => {
    return folderOfFile(fileOfCommand(declared.get(address), command));
  };
  const folderOfFile = (file?: string): string => (file === undefined ? folder : dirname(resolve(file)));
  const ofRollout = (wanted: string): string | undefined => rollouts.find(({ name }) => name === wanted)?.source.file;
  return {
    client,
    clock: systemClock,
    timing,
    oneAtATime: parallelism === 1,
    ...(tracing() === undefined ? {} : { within: withinStepSpan, apart: AsyncLocalStorage.snapshot() }),
    // A plan that needs a program is refused before; what comes here all the same is not started either.
    ...onlyDefined({ noPrograms: trust.closedBy }),
    runCommand: async ({ argv, env = [], folder: own }, { signal, address, duty, values, limitMs } = {}) => {
      const runsIn = own === undefined ? folderOf(address, duty ?? "flush") : resolve(folder, own);
      return trust.closedBy === undefined
        ? runCommand(argv, runsIn, { signal, env, extra: values, limitMs })
        : { exitCode: 127, output: `${trust.closedBy} starts no program that a file names` };
    },
    checkHealth: async (check, vm, options = {}) =>
      (trust.closedBy === undefined || check.kind !== "command") &&
      checkHealth(
        check,
        vm,
        options.rollout === undefined ? folderOf(options.address) : folderOfFile(ofRollout(options.rollout)),
        options,
      ),
  };
}

/**
 * A dialect by its file, or by the name of one that the package brings along. `shown`: the path as the user knows it; a
 * file of that name goes first. `read`: whoever has read the same text before. `written`: what was written for it, which
 * is a name alone where no folder is.
 */
export function readDialectFile(
  path: string,
  shown: string = path,
  read = readDialectText,
  written: string = shown,
): ReadDialect {
  const ready = existsSync(path) ? undefined : readyDialect(written);
  if (ready !== undefined) return read(readFileSync(ready.path, "utf8"), ready.shown);
  const file = readPlainFile(path, mostOfNamed);
  if ("problem" in file) {
    const names = readyDialects();
    throw refuse(
      "cli/file-unreadable",
      `the dialect ${/^[a-z][a-z0-9+.-]+:\//i.test(shown) ? withoutPassword(shown) : shown} cannot be read: ${file.problem}`,
      nearestText(basename(path), names, (near) => `correct the path, or write ${near}`) ??
        `correct the path${names.length === 0 ? "" : `, or name one that is ready: ${names.join(", ")}`}`,
    );
  }
  return read(file.text, shown);
}

/** The package's own folder, from the compiled program or from its source. */
function readyFolder(): string | undefined {
  for (let folder = __dirname, up = 0; up < 5; up++, folder = dirname(folder))
    if (existsSync(join(folder, "package.json")) && existsSync(join(folder, "dialects")))
      return join(folder, "dialects");
  return undefined;
}

function readyDialects(): readonly string[] {
  const folder = readyFolder();
  if (folder === undefined) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith(".yaml") && !name.endsWith(".test.yaml"))
    .map((name) => name.slice(0, -".yaml".length))
    .sort();
}

export const readyDialectPath = (name: string): string | undefined => readyDialect(name)?.path;

function readyDialect(name: string): { readonly path: string; readonly shown: string } | undefined {
  const folder = readyFolder();
  if (folder === undefined || !/^[a-z][a-z0-9-]*$/.test(name)) return undefined;
  const path = join(folder, `${name}.yaml`);
  return existsSync(path) ? { path, shown: `dialects/${name}.yaml` } : undefined;
}

/** The one place that knows every part: from a workspace and flags to a client, a store and the engine's ports. */

import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname, userInfo } from "node:os";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { parseDuration } from "../config/durations";
import type { Timing } from "../core/model/desired";
import { type Diagnostic, hasErrors } from "../core/model/diagnostic";
import type { DiagnosticCode } from "../core/model/diagnostic-code";
import { printable } from "../core/text/printable";
import { builtInDialect } from "../dialect/built-in";
import type { Dialect } from "../dialect/dialect";
import { readDialectText, readInlineDialect } from "../dialect/read-dialect";
import type { EngineEvent } from "../engine/events";
import { defaultTiming, embeddedTimeScale, embeddedTiming, type Ports } from "../engine/ports";
import { systemClock } from "../outside/clock";
import { checkHealth, runCommand, runHelperIn } from "../outside/commands";
import { openWorld } from "../outside/embedded";
import { setting } from "../outside/environment";
import { findCredential } from "../service/credential";
import { createServiceClient, type HttpServiceClient } from "../service/http-client";
import { checkBaseUrl } from "../service/transport";
import { openProtectedStore } from "../store/open";
import { withPatience } from "../store/patience";
import { describeHolder, type Holder, type StateStore } from "../store/store";
import type { Invocation } from "./command";
import { CommandFailed } from "./crash";
import type { Flags } from "./flags";
import type { Workspace } from "./workspace";

export interface Service {
  readonly client: HttpServiceClient;
  readonly dialect: Dialect;
  /** As it was given: `embedded`, or a URL. */
  readonly baseUrl: string;
  readonly timing: Timing;
  /** As it is without the embedded service's compressed time. */
  readonly realTiming: Timing;
  /** Requests at once; at 1, steps as well. */
  readonly parallelism: number;
  readonly embedded: boolean;
  /** How many times faster than a real one it is; 0: it takes no time at all. */
  readonly timeScale: number;
  /** Warnings about the dialect. */
  readonly diagnostics: readonly Diagnostic[];
  close(): Promise<void>;
}

export async function openService(workspace: Workspace, invocation: Invocation): Promise<Service> {
  const { flags, output } = invocation;
  const { dialect, diagnostics, folder } = readDialect(workspace, flags);
  const baseUrl = flags["base-url"] ?? setting("RECONCILE_BASE_URL") ?? workspace.desired.service.baseUrl;
  if (baseUrl === undefined || baseUrl === "")
    throw fail(
      "service/no-base-url",
      workspace.sources.length === 0
        ? "no service is named, and there is no file reconcile.yaml here that could name one"
        : "no service is named",
      "service.base_url: embedded (to try it) or https://…, RECONCILE_BASE_URL, or --base-url",
    );
  const parallelism = readCount(flags.parallelism, "--parallelism") ?? 10;
  const embedded = baseUrl === "embedded" ? await startEmbedded(workspace, flags, dialect) : undefined;
  const closeEmbedded = async (): Promise<void> =>
    embedded?.close((guests) =>
      output.note(`The embedded service of this command stays for ${guests} more that use it.`),
    );
  const url = embedded?.url ?? baseUrl;
  try {
    const refused = checkBaseUrl(url, flags["insecure-http"] === true);
    if (refused !== undefined) throw new CommandFailed([refused]);
    // The embedded service knows its own credential, so that trying needs no set-up.
    const environment =
      embedded === undefined
        ? process.env
        : { ...process.env, RECONCILE_TOKEN: setting("RECONCILE_TOKEN") ?? "ops-token" };
    const found = findCredential(environment, dialect.authorization, (argv) => {
      return runHelperIn(folder)(argv);
    });
    if (found.credential === undefined) throw new CommandFailed(found.diagnostics);
    const timing = readTiming(workspace, embedded?.timeScale);
    const debug = flags["log-level"] === "debug";
    const client = createServiceClient({
      baseUrl: url,
      ...(embedded === undefined ? {} : { origin: "embedded" }),
      dialect,
      credential: found.credential,
      timing,
      insecureHttp: flags["insecure-http"] === true,
      parallelism,
      ...(debug
        ? {
            onRequest: (event) =>
              output.note(
                `${event.method} ${event.path} ${event.status ?? event.outcome} ${Math.round(event.elapsedMs)} ms${event.attempt > 1 ? ` (attempt ${event.attempt})` : ""}`,
              ),
          }
        : {}),
    });
    if (embedded !== undefined)
      output.noteOnce(
        `Embedded service: no cloud; ${embedded.shown}, ${embedded.timeScale === 0 ? "and nothing takes time" : `${embedded.timeScale} times faster than planned`}.`,
      );
    return {
      client,
      dialect,
      baseUrl,
      timing,
      parallelism,
      realTiming: readTiming(workspace, undefined),
      embedded: embedded !== undefined,
      timeScale: embedded?.timeScale ?? 1,
      diagnostics,
      async close() {
        await client.close();
        await closeEmbedded();
      },
    };
  } catch (error) {
    await closeEmbedded();
    throw error;
  }
}

async function startEmbedded(workspace: Workspace, flags: Flags, { rules }: Dialect) {
  const dir = join(workspace.folder, ".reconcile", "world");
  const timeScale =
    readNumber(flags["time-scale"] ?? setting("RECONCILE_TIME_SCALE"), "--time-scale") ?? embeddedTimeScale;
  try {
    // What the file was written for is tried as it is: a service that takes ranges is told by them.
    const ranges = rules.port_range === null ? {} : { portRange: rules.port_range };
    const world = await openWorld(dir, { timeScale, ...ranges });
    return { ...world, shown: join(".reconcile", "world") };
  } catch (error) {
    throw fail(
      "service/embedded",
      `the embedded service cannot start: ${(error as Error).message}`,
      (error as NodeJS.ErrnoException).code === undefined
        ? "another command may be using the same world: wait for it to end"
        : `its world is a folder beside the file: check the rights to ${dir}, and its space`,
    );
  }
}

export function readDialect(
  workspace: Workspace,
  flags: Flags,
): { readonly dialect: Dialect; readonly diagnostics: readonly Diagnostic[]; readonly folder: string } {
  const given = workspace.desired.service.dialect;
  const outside = flags.dialect ?? setting("RECONCILE_DIALECT");
  const folder = folderOfDialect(outside, given, workspace);
  if (outside === undefined && workspace.dialect !== undefined)
    return { dialect: workspace.dialect, diagnostics: [], folder };
  if (outside === undefined && given === undefined) return { dialect: builtInDialect, diagnostics: [], folder };
  let read: { readonly dialect: Dialect; readonly diagnostics: readonly Diagnostic[] };
  if (outside === undefined && given !== undefined && "inline" in given) {
    const source = workspace.sources.find(({ file }) => file === given.source.file);
    read = readInlineDialect(given.inline, given.source, source?.text);
  } else {
    const path = outside ?? besideFile(given as { source: { file: string }; path: string });
    read = readDialectText(readText(path, "the dialect"), path);
  }
  if (hasErrors(read.diagnostics)) throw new CommandFailed(read.diagnostics);
  return { ...read, folder };
}

/** Where a program that the dialect names runs: beside the file that names it. */
function folderOfDialect(
  outside: string | undefined,
  given: Workspace["desired"]["service"]["dialect"],
  workspace: Workspace,
): string {
  if (outside !== undefined) return dirname(resolve(outside));
  if (given === undefined) return workspace.folder;
  // A saved plan may be applied in another checkout than it was made in.
  if (workspace.dialect !== undefined)
    return "path" in given ? dirname(resolve(workspace.folder, given.path)) : workspace.folder;
  return dirname(resolve("path" in given ? besideFile(given) : given.source.file));
}

/** A path in a file is relative to that file; it is shown as seen from here, like the file itself. */
function besideFile({ source, path }: { readonly source: { readonly file: string }; readonly path: string }): string {
  return isAbsolute(path) ? path : relative(process.cwd(), resolve(dirname(source.file), path));
}

function readText(path: string, what: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw fail(
      "cli/file-unreadable",
      `${what} ${path} cannot be read: ${(error as Error).message}`,
      "correct the path",
    );
  }
}

/** What the file leaves open follows the service: the embedded one's minutes are shorter. */
function readTiming(workspace: Workspace, timeScale: number | undefined): Timing {
  const given = workspace.desired.service.timing;
  return { ...(timeScale === undefined ? defaultTiming : embeddedTiming(timeScale)), ...given };
}

export function openStore(workspace: Pick<Workspace, "folder">, flags: Flags): StateStore {
  const location = flags.state ?? setting("RECONCILE_STATE") ?? join(workspace.folder, "reconcile.state.json");
  const store = openProtectedStore(location, {
    environment: process.env,
    insecureHttp: flags["insecure-http"] === true,
  });
  const waitMs = lockTimeoutMs(flags);
  if (waitMs === 0) return store;
  return withPatience(store, { waitMs, onWait: tellHolder });
}

/** 0: a locked state is an error at once. */
export function lockTimeoutMs(flags: Flags): number {
  const text = flags["lock-timeout"];
  if (text === undefined || text === "0") return 0;
  const waitMs = parseDuration(text);
  if (waitMs === undefined)
    throw fail("cli/bad-flag", `--lock-timeout must be a duration, not ${text}`, "--lock-timeout 30s");
  return waitMs;
}

export const tellHolder = (holder: Holder): void =>
  void process.stderr.write(`Waiting: the state is locked by ${printable(describeHolder(holder))}.\n`);

export function createPorts(service: Service, workspace: Workspace, emit: (event: EngineEvent) => void): Ports {
  const files = new Map<string, string>();
  for (const resource of workspace.desired.resources)
    if (resource.kind !== "group" && resource.commandFile !== undefined)
      files.set(resource.address, resource.commandFile);
  const folderOf = (address = ""): string => {
    const file = files.get(address);
    return file === undefined ? workspace.folder : dirname(resolve(file));
  };
  return {
    client: service.client,
    clock: systemClock,
    timing: service.timing,
    oneAtATime: service.parallelism === 1,
    runCommand: (argv, signal, address) => runCommand(argv, folderOf(address), { signal }),
    checkHealth: (check, vm, options = {}) => checkHealth(check, vm, folderOf(options.address), options),
    emit,
  };
}

export const newLineage = (): string => randomUUID();

export function holderOf(command: string): Holder {
  return {
    who: userName(),
    host: hostname(),
    pid: process.pid,
    since: new Date().toISOString(),
    command: `reconcile ${command}`,
  };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return process.env["USER"] ?? "unknown";
  }
}

export function readNumber(text: string | undefined, flag: string): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!Number.isFinite(value) || value < 0)
    throw fail("cli/bad-flag", `${flag} must be a number, not ${text}`, `${flag} 20`);
  return value;
}

export function readCount(text: string | undefined, flag: string): number | undefined {
  const value = readNumber(text, flag);
  if (value !== undefined && (!Number.isInteger(value) || value < 1))
    throw fail("cli/bad-flag", `${flag} must be a whole number of at least 1, not ${text}`, `${flag} 10`);
  return value;
}

export const fail = (code: DiagnosticCode, summary: string, fix?: string): CommandFailed =>
  new CommandFailed([{ severity: "error", code, summary, ...(fix === undefined ? {} : { fix }) }]);

export { systemClock };

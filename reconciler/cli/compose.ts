/** The one place that knows every part: from a workspace and flags to a client, a store and the engine's ports. */

import { randomUUID } from "node:crypto";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { longestDurationMs, parseDuration } from "../config/durations";
import { type Diagnostic, hasErrors } from "../core/model/diagnostic";
import type { FoldedState } from "../core/state/fold";
import { errorCode, errorMessage } from "../core/text/errors";
import { isUrl, unlikelyPlace } from "../core/text/outside-policy";
import { printable } from "../core/text/printable";
import { builtInDialect } from "../dialect/built-in";
import type { Dialect } from "../dialect/dialect";
import { readInlineDialect } from "../dialect/read-dialect";
import type { EngineEvent } from "../engine/events";
import { openStoredState } from "../engine/plan";
import { embeddedTimeScale, type Ports } from "../engine/ports";
import {
  defaultParallelism,
  type OpenedService,
  openService as openSetup,
  portsOf,
  readDialectFile,
  type ServiceSetup,
} from "../open-service";
import { systemClock } from "../outside/clock";
import { openWorld, WorldInUse } from "../outside/embedded";
import { setting } from "../outside/environment";
import { shownPath } from "../outside/files";
import { holderOf as holderCalled } from "../outside/holder";
import {
  refusedAddress,
  refusedFilesOfState,
  refusedKeeping,
  refusedPath,
  refusedState,
  type Trust,
  trustFrom,
} from "../outside/trust";
import type { RequestEvent } from "../service/caller";
import { createConnections } from "../service/transport";
import { openProtectedStore } from "../store/open";
import { withPatience } from "../store/patience";
import { describeHolder, type Holder, type StateStore } from "../store/store";
import { tellAskedToWait } from "./asked-to-wait";
import type { Invocation } from "./command";
import { CommandFailed, fail } from "./crash";
import { type ValueShape, valueProblem } from "./flag-values";
import type { Flags } from "./flags";
import type { Workspace } from "./workspace";

export interface Service extends OpenedService {
  /** The service as the user gave it: `embedded`, or a URL. */
  readonly baseUrl: string;
  /** Warnings about the dialect. */
  readonly diagnostics: readonly Diagnostic[];
  /** The URL at which the service answers. */
  readonly url: string;
  /** The same service spoken to in another dialect; closed together with this one. */
  inDialect(dialect: Dialect): OpenedService;
  close(): Promise<void>;
}

/** The address of the service, where it is said beside the files. */
export const addressGiven = (flags: Flags): string | undefined => flags["base-url"] ?? setting("RECONCILE_BASE_URL");

export async function openWorkspaceService(workspace: Workspace, invocation: Invocation): Promise<Service> {
  const { flags, output } = invocation;
  const { dialect, diagnostics, folder, given } = readDialectWith(workspace, flags);
  const trust = trustOf(flags);
  const outside = addressGiven(flags);
  const baseUrl = outside ?? workspace.desired.service.baseUrl;
  if (baseUrl === undefined || baseUrl === "")
    throw fail(
      "service/no-base-url",
      workspace.sources.length === 0
        ? "no service is named, and there is no file reconcile.yaml here that could name one"
        : "no service is named",
      "service.base_url: embedded (to try it) or https://…, RECONCILE_BASE_URL, or --base-url",
    );
  const refused = outside === undefined ? refusedAddress(trust, baseUrl) : undefined;
  if (refused !== undefined) throw new CommandFailed([refused]);
  const parallelism = readCount(flags.parallelism, "--parallelism") ?? defaultParallelism;
  const embedded = baseUrl === "embedded" ? await startEmbedded(workspace, flags, dialect) : undefined;
  const closeEmbedded = async (): Promise<void> =>
    embedded?.close((guests) =>
      output.note(`The embedded service of this command stays for ${guests} more that use it.`),
    );
  const askedToWait = tellAskedToWait((text) => output.note(text), systemClock);
  const setup: ServiceSetup = {
    dialect,
    dialectFolder: folder,
    timing: workspace.desired.service.timing,
    insecureHttp: flags["insecure-http"] === true,
    parallelism,
    environment: process.env,
    trust,
    dialectGiven: given,
    onRequest(event) {
      if (flags["log-level"] === "debug") output.note(requestLine(event));
      askedToWait(event);
    },
  };
  try {
    const location = embedded ?? { url: baseUrl };
    // A client in another dialect is another reader of the same service, and no more connections to it.
    const most = Math.min(parallelism, dialect.limits.connections ?? parallelism);
    const shared = { ...setup, connections: embedded?.connections ?? createConnections(location.url, most) };
    const opened = openSetup(shared, location);
    if (embedded !== undefined)
      output.noteOnce(
        `Embedded service: no cloud; ${embedded.shown}, ${embedded.timeScale === 0 ? "and nothing takes time" : `${embedded.timeScale} times faster than planned`}.`,
      );
    return {
      ...opened,
      baseUrl,
      diagnostics,
      url: location.url,
      inDialect: (other) => openSetup({ ...shared, dialect: other }, location),
      async close() {
        await opened.client.close();
        await closeEmbedded();
      },
    };
  } catch (error) {
    await closeEmbedded();
    throw error;
  }
}

const requestLine = (event: RequestEvent): string =>
  `${event.method} ${event.path} ${event.status ?? event.outcome} ${Math.round(event.elapsedMs)} ms${event.attempt > 1 ? ` (attempt ${event.attempt})` : ""}`;

async function startEmbedded(workspace: Workspace, flags: Flags, { rules, limits }: Dialect) {
  assertKeptHere(workspace, flags);
  const dir = join(workspace.folder, ".reconcile", "world");
  const timeScale =
    readNumber(flags["time-scale"], "--time-scale") ??
    readNumber(setting("RECONCILE_TIME_SCALE"), "RECONCILE_TIME_SCALE") ??
    embeddedTimeScale;
  try {
    // The embedded service takes the port ranges that the file's dialect names, and keeps named groups where it says so.
    const ranges = rules.port_range === null ? {} : { portRange: rules.port_range };
    const world = await openWorld(dir, { timeScale, ...ranges, keepsNamedGroups: limits.named_groups !== undefined });
    return { ...world, shown: join(".reconcile", "world") };
  } catch (error) {
    throw fail(
      "service/embedded",
      `the embedded service cannot start: ${errorMessage(error)}`,
      embeddedFix(error, dir),
    );
  }
}

function embeddedFix(error: unknown, dir: string): string {
  if (error instanceof WorldInUse) return "another command may be using the same world: wait for it to end";
  return errorCode(error) === undefined
    ? `install the version that wrote ${dir}, or move that folder away: the next run begins with a new world`
    : `its world is a folder beside the file: check the rights to ${dir}, and its space`;
}

interface ReadWith extends ReturnType<typeof readDialectFile> {
  readonly folder: string;
  /** A person gave it beside the files, by a flag or the environment. */
  readonly given: boolean;
}

export const trustOf = (flags: Flags): Trust => trustFrom(flags["no-programs"]);

export function readDialectWith(workspace: Workspace, flags: Flags): ReadWith {
  const given = workspace.desired.service.dialect;
  const outside = flags.dialect ?? setting("RECONCILE_DIALECT");
  const folder = folderOfDialect(outside, given, workspace);
  let read: ReturnType<typeof readDialectFile>;
  if (outside !== undefined) read = readDialectFile(outside);
  else if (workspace.dialect !== undefined)
    return { dialect: workspace.dialect, diagnostics: [], folder, given: false };
  else if (given === undefined) return { dialect: builtInDialect, diagnostics: [], folder, given: false };
  else if ("inline" in given) {
    const source = workspace.sources.find(({ file }) => file === given.source.file);
    read = readInlineDialect(given.inline, given.source, source?.text);
  } else {
    const path = pathBesideFile(given);
    const refused = refusedPath(workspace.trust ?? trustOf(flags), path);
    if (refused !== undefined) throw fail(refused.code, refused.problem, refused.fix);
    read = readDialectFile(path, path, undefined, given.path);
  }
  if (hasErrors(read.diagnostics)) throw new CommandFailed(read.diagnostics);
  return { ...read, folder, given: outside !== undefined };
}

/** The folder in which a program that the dialect names runs: that of the file that names the program. */
function folderOfDialect(
  outside: string | undefined,
  given: Workspace["desired"]["service"]["dialect"],
  workspace: Workspace,
): string {
  if (outside !== undefined) return dirname(resolve(shownPath(outside)));
  if (given === undefined) return workspace.folder;
  // A saved plan may be applied in another checkout than it was made in.
  if (workspace.dialect !== undefined)
    return "path" in given ? dirname(resolve(workspace.folder, given.path)) : workspace.folder;
  return dirname(resolve("path" in given ? pathBesideFile(given) : given.source.file));
}

/** A path in a file is relative to that file, and is shown relative to the working folder. */
export const pathBesideFile = ({
  source,
  path,
}: {
  readonly source: { readonly file: string };
  readonly path: string;
}): string => (isAbsolute(path) ? path : relative(process.cwd(), resolve(dirname(source.file), path)));

/**
 * Where the state lies: as a flag says, else the environment variable, else the file, else beside the file. `given:
 * false`: as the file says, whatever this run was given.
 */
export function stateLocation({ desired, sources, folder }: Workspace, flags: Flags, given = true): string {
  const outside = given ? (flags.state ?? setting("RECONCILE_STATE")) : undefined;
  if (outside !== undefined) return ownPlace(knownPlace(outside), flags);
  const { state, environment } = desired;
  if (state === undefined) return ownPlace(join(folder, stateFile("reconcile", environment)), flags);
  // A saved plan may be applied in another checkout than it was made in.
  const beside = sources.length === 0 ? folder : dirname(resolve(state.source.file));
  const location = isUrl(state.location) || isAbsolute(state.location) ? state.location : join(beside, state.location);
  const refused = refusedState(trustOf(flags), location, undefined, state.source);
  if (refused !== undefined) throw new CommandFailed([refused]);
  return location;
}

/** A link in the place of the state may be anybody's, and in a closed run leads to no state outside of the checkout. */
function ownPlace(location: string, flags: Flags): string {
  const refused = refusedFilesOfState(trustOf(flags), location);
  if (refused !== undefined) throw fail(refused.code, refused.problem, refused.fix);
  return location;
}

/** The name of a state beside the file of which this is the stem. */
export const stateFile = (stem: string, environment: string | undefined): string =>
  environment === undefined ? `${stem}.state.json` : `${stem}.${environment}.state.json`;

/** `s3//bucket` would be a file of that name, and the state that is meant would look empty. */
export function knownPlace(location: string): string {
  const unlikely = unlikelyPlace(location);
  if (unlikely === undefined) return location;
  throw fail("cli/bad-flag", unlikely.summary, unlikely.fix);
}

/** In a closed run nothing is written through a link in the folder in which this program keeps what it needs still. */
function assertKeptHere({ trust, folder }: Workspace, flags: Flags): void {
  const refused = refusedKeeping(trust ?? trustOf(flags), join(folder, ".reconcile"));
  if (refused !== undefined) throw fail(refused.code, refused.problem, refused.fix);
}

export function openStore(workspace: Workspace, flags: Flags): StateStore {
  assertKeptHere(workspace, flags);
  const location = stateLocation(workspace, flags);
  const store = openProtectedStore(location, {
    environment: process.env,
    insecureHttp: flags["insecure-http"] === true,
    acceptsNew: flags["new-state"] === true,
    folder: workspace.folder,
  });
  const waitMs = lockTimeoutMs(flags);
  if (waitMs === 0) return store;
  return withPatience(store, { waitMs, onWait: tellHolder });
}

/** 0: a locked state is an error at once. */
export function lockTimeoutMs(flags: Flags): number {
  const text = flags["lock-timeout"];
  if (text === undefined || text === "0") return 0;
  return readDurationFlag(text, "--lock-timeout");
}

export const tellHolder = (holder: Holder): void =>
  void process.stderr.write(`Waiting: the state is locked by ${printable(describeHolder(holder))}.\n`);

/** What the state holds now, read without a lock. */
export const stateIn = async (store: StateStore): Promise<FoldedState> =>
  openStoredState(await store.read(), store.location, newLineage()).state;

export const createPorts = (service: Service, workspace: Workspace, emit: (event: EngineEvent) => void): Ports => ({
  ...portsOf(service, workspace.folder, workspace.desired),
  emit,
});

export const newLineage = (): string => randomUUID();

export const commandHolder = (command: string): Holder => holderCalled(`reconcile ${command}`);

export const readNumber = (text: string | undefined, flag: string): number | undefined =>
  text === undefined ? undefined : Number(asChecked("number", text, flag));

export const readCount = (text: string | undefined, flag: string): number | undefined =>
  text === undefined ? undefined : Number(asChecked("count", text, flag));

export const readDurationFlag = (text: string, flag: string): number =>
  parseDuration(asChecked("duration", text, flag)) ?? longestDurationMs;

/** Values of flags were held when the command line was read; those of the environment and of callers are held here. */
function asChecked(shape: ValueShape, text: string, flag: string): string {
  const problem = valueProblem(shape, flag, text);
  if (problem !== undefined) throw new CommandFailed([problem]);
  return text;
}

export { fail, systemClock };

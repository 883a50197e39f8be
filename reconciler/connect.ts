/**
 * From the settings of a program or a provider to an open service. Nothing is opened before the first request needs it,
 * and problems are told by the request that runs into them.
 */
import { dirname, join, resolve } from "node:path";
import { readDesired } from "./config/read/desired";
import type { Timing } from "./core/model/desired";
import { hasErrors } from "./core/model/diagnostic";
import { errorMessage } from "./core/text/errors";
import { builtInDialect } from "./dialect/built-in";
import type { Dialect } from "./dialect/dialect";
import { readInlineDialect } from "./dialect/read-dialect";
import { createPoller } from "./engine/poller";
import { embeddedTimeScale, noSamples } from "./engine/ports";
import { HandlerFailure, type HandlerService } from "./one/handler";
import type { ProgramNotes } from "./one/program-notes";
import { shareLooks } from "./one/shared-looks";
import {
  defaultParallelism,
  type Location,
  type OpenedService,
  openService,
  portsOf,
  readDialectFile,
  type ServiceSetup,
} from "./open-service";
import { systemClock } from "./outside/clock";
import { shareWorld } from "./outside/embedded";
import { setting } from "./outside/environment";
import { type Neighbours, programNotes } from "./outside/program-notes";
import { trustFrom } from "./outside/trust";
import { Refused, refuse } from "./refused";
import { originAt } from "./service/origin-at";

export interface Settings {
  /** `embedded`, or http(s)://…; else RECONCILE_BASE_URL. */
  readonly baseUrl?: string | undefined;
  /** A path, or the dialect itself; else RECONCILE_DIALECT. */
  readonly dialect?: string | Readonly<Record<string, unknown>> | undefined;
  /** As in a file: { poll_interval: "2s" }. */
  readonly timing?: Readonly<Record<string, unknown>> | undefined;
  /** Permits plain http to another host than this one. */
  readonly insecureHttp?: boolean | undefined;
  /** Requests at once, 10 when left out; at 1, steps as well. */
  readonly parallelism?: number | undefined;
  /** Of the embedded service; else RECONCILE_TIME_SCALE, else 20 times faster. */
  readonly timeScale?: number | undefined;
  /** Else RECONCILE_TOKEN. Never shown, never stored. */
  readonly token?: string | undefined;
  /** Else RECONCILE_AUTHORIZATION. */
  readonly authorization?: string | undefined;
  /** The service has moved here: what the state says it is of, and what this one does not show, is believed. */
  readonly acceptService?: boolean | undefined;
}

export interface Connection {
  /** The ports of the engine. */
  service(): Promise<HandlerService>;
  /** What was written down about one resource, which its URN names among all the programs of the folder. */
  notesOf(urn: string, neighbours?: Neighbours): ProgramNotes;
  close(): Promise<void>;
}

type SharedConnection = Required<Pick<HandlerService, "client" | "looks" | "poller" | "samples">>;

/** What all resources of a process have in common. */
function shareConnection({ client, timing }: OpenedService): SharedConnection {
  const looks = shareLooks(client, systemClock);
  const poller = createPoller(looks.fresh, systemClock, timing.pollIntervalMs, undefined, looks);
  return { client: looks.fresh, looks, poller, samples: noSamples() };
}

interface OpenConnection extends Connection {
  /** The service itself, for runs, which share nothing with one another. */
  opened(): Promise<OpenedService>;
}

/** `folder`: where relative paths and the embedded world are. */
export function openConnection(settings: Settings, folder: string = process.cwd()): OpenConnection {
  let opened: { readonly url: string; readonly service: OpenedService; readonly shared: SharedConnection } | undefined;
  let opening: Promise<OpenedService> | undefined;
  const open = async (): Promise<OpenedService> => {
    const location = await locate(settings, folder);
    // An embedded service that went away meanwhile comes back at another port.
    if (opened?.url === location.url) return opened.service;
    await opened?.service.client.close();
    const service = openService(setupOf(settings, folder), location);
    opened = { url: location.url, service, shared: shareConnection(service) };
    return service;
  };
  const openOnce = (): Promise<OpenedService> => {
    opening ??= open().finally(() => {
      opening = undefined;
    });
    return opening;
  };
  return {
    opened: openOnce,
    async service() {
      const service = await openOnce().catch(refuseInProgram);
      const ports = portsOf(service, folder, { resources: [] });
      const shared = opened?.service === service ? opened.shared : shareConnection(service);
      return { ...ports, ...shared, acceptService: settings.acceptService === true ? true : undefined };
    },
    notesOf: (urn, neighbours) =>
      programNotes(
        join(folder, ".reconcile"),
        { urn, service: originAt(baseUrlOf(settings) ?? "") },
        undefined,
        neighbours,
      ),
    async close() {
      await opening?.catch(() => undefined); // told to who asked for it
      const closed = opened;
      // Whoever comes afterwards opens it again.
      opened = undefined;
      await closed?.service.client.close();
    },
  };
}

/** What stands in the way of a program's resource is told in the words of a program. */
function refuseInProgram(error: unknown): never {
  throw error instanceof Refused ? new HandlerFailure(error.diagnostics) : error;
}

export const baseUrlOf = ({ baseUrl }: Settings): string | undefined => baseUrl ?? setting("RECONCILE_BASE_URL");

async function locate(settings: Settings, folder: string): Promise<Location> {
  const baseUrl = baseUrlOf(settings);
  if (baseUrl === undefined || baseUrl === "")
    throw refuse(
      "service/no-base-url",
      "no service is named",
      "set baseUrl to embedded (to try it) or to https://…, or RECONCILE_BASE_URL",
    );
  if (baseUrl !== "embedded") return { url: baseUrl };
  const scale = settings.timeScale ?? Number(setting("RECONCILE_TIME_SCALE") ?? embeddedTimeScale);
  const dir = join(folder, ".reconcile", "world");
  return shareWorld(dir, Number.isFinite(scale) && scale >= 0 ? scale : embeddedTimeScale).catch((error: unknown) => {
    throw refuse(
      "service/embedded",
      `the embedded service cannot start: ${errorMessage(error)}`,
      `wait for who uses ${dir}, check the rights to it, or move it away: the next run begins with a new world`,
    );
  });
}

const setupOf = (settings: Settings, folder: string): ServiceSetup => ({
  ...dialectOf(settings, folder),
  environment: environmentOf(settings),
  timing: timingOf(settings),
  insecureHttp: settings.insecureHttp === true,
  parallelism: parallelismOf(settings),
  trust: trustFrom(),
  // A program is no file that somebody else wrote: its settings are a person's.
  dialectGiven: true,
});

function parallelismOf({ parallelism = defaultParallelism }: Settings): number {
  if (Number.isSafeInteger(parallelism) && parallelism >= 1) return parallelism;
  throw refuse(
    "config/invalid-value",
    `parallelism must be a whole number of at least 1, not ${parallelism}`,
    `set parallelism to ${defaultParallelism}, or leave it out`,
  );
}

/** What the settings say goes before the environment. */
function environmentOf({ token, authorization }: Settings): Record<string, string | undefined> {
  if (authorization !== undefined) return { RECONCILE_AUTHORIZATION: authorization };
  if (token !== undefined) return { RECONCILE_TOKEN: token };
  const { RECONCILE_TOKEN, RECONCILE_AUTHORIZATION } = process.env;
  return { RECONCILE_AUTHORIZATION, RECONCILE_TOKEN };
}

function dialectOf(
  { dialect }: Settings,
  folder: string,
): { readonly dialect: Dialect; readonly dialectFolder: string } {
  const given = dialect ?? setting("RECONCILE_DIALECT");
  if (given === undefined || given === "") return { dialect: builtInDialect, dialectFolder: folder };
  const path = typeof given === "string" ? resolve(folder, given) : undefined;
  const read =
    typeof given === "string"
      ? readDialectFile(resolve(folder, given), given)
      : readInlineDialect(given, { file: "dialect", line: 1 });
  if (hasErrors(read.diagnostics)) throw new Refused(read.diagnostics);
  return { dialect: read.dialect, dialectFolder: path === undefined ? folder : dirname(path) };
}

function timingOf({ timing }: Settings): Partial<Timing> {
  if (timing === undefined) return {};
  const { desired, diagnostics } = readDesired([
    { file: "settings", text: JSON.stringify({ version: 1, service: { timing } }) },
  ]);
  if (desired === undefined) throw new Refused(diagnostics);
  return desired.service.timing;
}

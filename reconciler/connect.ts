/**
 * From settings to the ports of the engine, for programs: what `cli/compose.ts` is for the command line. Nothing is
 * opened before the first request needs it, and problems are told by the request that runs into them.
 */

import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { readDesired } from "./config/read-desired";
import type { ServiceSettings, Timing } from "./core/model/desired";
import { type Diagnostic, hasErrors } from "./core/model/diagnostic";
import type { DiagnosticCode } from "./core/model/diagnostic-code";
import { builtInDialect } from "./dialect/built-in";
import type { Dialect } from "./dialect/dialect";
import { readDialectText, readInlineDialect } from "./dialect/read-dialect";
import { defaultTiming, embeddedTimeScale, embeddedTiming } from "./engine/ports";
import { HandlerFailure, type HandlerService } from "./handlers/handler";
import { systemClock } from "./outside/clock";
import { checkHealth, runCommand, runHelperIn } from "./outside/commands";
import { shareWorld } from "./outside/embedded";
import { setting } from "./outside/environment";
import { findCredential } from "./service/credential";
import { createServiceClient, type HttpServiceClient } from "./service/http-client";
import { checkBaseUrl } from "./service/transport";

export interface Settings {
  /** `embedded`, or http(s)://…; else RECONCILE_BASE_URL. */
  readonly baseUrl?: string | undefined;
  /** A path, or the dialect itself; else RECONCILE_DIALECT. */
  readonly dialect?: string | Readonly<Record<string, unknown>> | undefined;
  /** As in a file: { poll_interval: "2s" }. */
  readonly timing?: Readonly<Record<string, unknown>> | undefined;
  readonly insecureHttp?: boolean | undefined;
  readonly parallelism?: number | undefined;
  /** Of the embedded service; else RECONCILE_TIME_SCALE, else 20 times faster. */
  readonly timeScale?: number | undefined;
  /** Else RECONCILE_TOKEN. Never shown, never stored. */
  readonly token?: string | undefined;
  /** Else RECONCILE_AUTHORIZATION. */
  readonly authorization?: string | undefined;
}

export interface Connection {
  service(): Promise<HandlerService>;
  close(): Promise<void>;
}

/** `folder`: where relative paths and the embedded world are. */
export function connect(settings: Settings, folder: string): Connection {
  let opened:
    | { readonly baseUrl: string; readonly service: HandlerService; readonly client: HttpServiceClient }
    | undefined;
  let opening: Promise<HandlerService> | undefined;
  const open = async (): Promise<HandlerService> => {
    const location = await locate(settings, folder);
    // An embedded service that went away meanwhile comes back at another port.
    if (opened?.baseUrl === location.url) return opened.service;
    await opened?.client.close();
    const { service, client } = openService(settings, folder, location);
    opened = { baseUrl: location.url, service, client };
    return service;
  };
  return {
    service() {
      opening ??= open().finally(() => {
        opening = undefined;
      });
      return opening;
    },
    async close() {
      await opened?.client.close();
    },
  };
}

interface Location {
  readonly url: string;
  readonly timeScale?: number;
}

async function locate(settings: Settings, folder: string): Promise<Location> {
  const baseUrl = settings.baseUrl ?? setting("RECONCILE_BASE_URL");
  if (baseUrl === undefined || baseUrl === "")
    throw fail(
      "service/no-base-url",
      "no service is named",
      "set baseUrl to embedded (to try it) or to https://…, or RECONCILE_BASE_URL",
    );
  if (baseUrl !== "embedded") return { url: baseUrl };
  const scale = settings.timeScale ?? Number(setting("RECONCILE_TIME_SCALE") ?? embeddedTimeScale);
  return shareWorld(
    join(folder, ".reconcile", "world"),
    Number.isFinite(scale) && scale >= 0 ? scale : embeddedTimeScale,
  );
}

function openService(
  settings: Settings,
  folder: string,
  { url, timeScale }: Location,
): { readonly service: HandlerService; readonly client: HttpServiceClient } {
  const insecureHttp = settings.insecureHttp === true;
  const refused = checkBaseUrl(url, insecureHttp);
  if (refused !== undefined) throw new HandlerFailure([refused]);
  const dialect = readDialect(settings, folder);
  const { credential, diagnostics } = findCredential(
    environmentOf(settings, timeScale !== undefined),
    dialect.authorization,
    runHelperIn(folderOfDialect(settings, folder)),
  );
  if (credential === undefined) throw new HandlerFailure(diagnostics);
  const timing = {
    ...(timeScale === undefined ? defaultTiming : embeddedTiming(timeScale)),
    ...readTiming(settings),
  };
  const client = createServiceClient({
    baseUrl: url,
    ...(timeScale === undefined ? {} : { origin: "embedded" }),
    dialect,
    credential,
    timing,
    insecureHttp,
    ...(settings.parallelism === undefined ? {} : { parallelism: settings.parallelism }),
  });
  return {
    client,
    service: {
      client,
      clock: systemClock,
      timing,
      runCommand: (argv, signal) => runCommand(argv, folder, { signal }),
      checkHealth: (check, vm, options) => checkHealth(check, vm, folder, options),
    },
  };
}

/** What the settings say goes before the environment; the embedded service knows its own credential. */
function environmentOf({ token, authorization }: Settings, embedded: boolean): Record<string, string | undefined> {
  const { RECONCILE_TOKEN, RECONCILE_AUTHORIZATION } = process.env;
  if (authorization !== undefined) return { RECONCILE_AUTHORIZATION: authorization };
  if (token !== undefined) return { RECONCILE_TOKEN: token };
  return { RECONCILE_AUTHORIZATION, RECONCILE_TOKEN: RECONCILE_TOKEN || (embedded ? "ops-token" : undefined) };
}

/** Where a program that the dialect names runs. */
function folderOfDialect({ dialect }: Settings, folder: string): string {
  const given = dialect ?? setting("RECONCILE_DIALECT");
  return typeof given === "string" && given !== "" ? dirname(resolve(folder, given)) : folder;
}

function readDialect({ dialect }: Settings, folder: string): Dialect {
  const given = dialect ?? setting("RECONCILE_DIALECT");
  if (given === undefined || given === "") return builtInDialect;
  const read =
    typeof given === "string"
      ? readDialectText(readText(resolve(folder, given)), given)
      : readInlineDialect(given, { file: "dialect", line: 1 });
  if (hasErrors(read.diagnostics)) throw new HandlerFailure(read.diagnostics);
  return read.dialect;
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw fail(
      "cli/file-unreadable",
      `the dialect ${path} cannot be read: ${(error as Error).message}`,
      "correct the path",
    );
  }
}

function readTiming({ timing }: Settings): Partial<Timing> {
  if (timing === undefined) return {};
  const { desired, diagnostics } = readDesired([
    { file: "settings", text: JSON.stringify({ version: 1, service: { timing } }) },
  ]);
  if (desired === undefined) throw new HandlerFailure(diagnostics);
  return (desired.service satisfies ServiceSettings).timing;
}

const fail = (code: DiagnosticCode, summary: string, fix: string): HandlerFailure =>
  new HandlerFailure([{ severity: "error", code, summary, fix } satisfies Diagnostic]);

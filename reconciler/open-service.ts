/**
 * The composition root: from one settings value to a client of the service and the ports of the engine, for the command
 * line, for programs and for the Pulumi provider alike. Where a setting comes from (flags, the environment, files, a
 * provider's configuration) and how the embedded service is started is the caller's.
 */
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { DesiredResource, Timing } from "./core/model/desired";
import type { Dialect } from "./dialect/dialect";
import { type ReadDialect, readDialectText } from "./dialect/read-dialect";
import { defaultTiming, embeddedTiming, type Ports } from "./engine/ports";
import { systemClock } from "./outside/clock";
import { checkHealth, runCommand, runHelperIn } from "./outside/commands";
import { Refused, refuse } from "./refused";
import { findCredential } from "./service/credential";
import { createServiceClient, type HttpServiceClient, type ServiceClientOptions } from "./service/http-client";
import { checkBaseUrl } from "./service/transport";

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
  readonly onRequest?: ServiceClientOptions["onRequest"];
  readonly pace?: ServiceClientOptions["pace"];
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
}

export const defaultParallelism = 10;

/** Throws Refused with everything that is missing. */
export function openService(setup: ServiceSetup, { url, timeScale }: Location): OpenedService {
  const { dialect, insecureHttp, parallelism, onRequest, pace } = setup;
  const refused = checkBaseUrl(url, insecureHttp);
  if (refused !== undefined) throw new Refused([refused]);
  const embedded = timeScale !== undefined;
  const found = findCredential(
    embedded ? withOwnToken(setup.environment) : setup.environment,
    dialect.authorization,
    runHelperIn(setup.dialectFolder),
  );
  if (found.credential === undefined) throw new Refused(found.diagnostics);
  const realTiming = { ...defaultTiming, ...setup.timing };
  const timing = embedded ? { ...embeddedTiming(timeScale), ...setup.timing } : realTiming;
  const client = createServiceClient({
    baseUrl: url,
    ...(embedded ? { origin: "embedded" } : {}),
    dialect,
    credential: found.credential,
    timing,
    insecureHttp,
    parallelism,
    ...(onRequest === undefined ? {} : { onRequest }),
    ...(pace === undefined ? {} : { pace }),
  });
  return { client, dialect, timing, realTiming, parallelism, embedded, timeScale: timeScale ?? 1 };
}

/** The embedded service knows its own credential, so that trying needs no set-up. */
const withOwnToken = (environment: ServiceSetup["environment"]): ServiceSetup["environment"] => ({
  ...environment,
  RECONCILE_TOKEN: environment["RECONCILE_TOKEN"] || "ops-token",
});

/** What the engine touches of the outside world. A command runs in the folder of the file that names it, else in `folder`. */
export function portsOf(
  { client, timing, parallelism }: OpenedService,
  folder: string,
  resources: readonly DesiredResource[],
): Omit<Ports, "emit"> {
  const files = new Map<string, string>();
  for (const resource of resources)
    if (resource.kind !== "group" && resource.commandFile !== undefined)
      files.set(resource.address, resource.commandFile);
  const folderOf = (address = ""): string => {
    const file = files.get(address);
    return file === undefined ? folder : dirname(resolve(file));
  };
  return {
    client,
    clock: systemClock,
    timing,
    oneAtATime: parallelism === 1,
    runCommand: (argv, signal, address) => runCommand(argv, folderOf(address), { signal }),
    checkHealth: (check, vm, options = {}) => checkHealth(check, vm, folderOf(options.address), options),
  };
}

/** `shown`: the path as the user knows it. */
export function readDialectFile(path: string, shown: string = path): ReadDialect {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw refuse("cli/file-unreadable", `the dialect ${shown} cannot be read: ${why}`, "correct the path");
  }
  return readDialectText(text, shown);
}

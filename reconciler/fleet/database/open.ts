/** Opens the database that `--database` names. */

import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { hostname } from "node:os";
import { join } from "node:path";
import type { Client, ClientConfig, CustomTypesConfig, Pool } from "pg";
import type { DiagnosticCode } from "../../core/model/diagnostic-code";
import { errorCode, errorMessage } from "../../core/text/errors";
import { waits, withoutPassword } from "../../core/text/outside-policy";
import { percentDecoded } from "../../core/text/parts";
import { driverAddress } from "../../store/driver-address";
import { createFileLock } from "../../store/file-lock";
import { startHeartbeat, unknownHolder } from "../../store/lease";
import { defaultLease, StateLocked } from "../../store/store";
import { type Database, type Row, storable } from "./database";

/** Opening the database failed: one sentence, and what to do. */
export class DatabaseFailed extends Error {
  override readonly name = "DatabaseFailed";
  constructor(
    readonly code: Extract<DiagnosticCode, `fleet/${string}`>,
    message: string,
    readonly fix: string,
    /** Nobody listens there now, or the server is just starting: it may answer in a moment. */
    readonly isAway = false,
  ) {
    super(message);
  }
}

const awayCodes: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ETIMEDOUT",
  "EAI_AGAIN",
  "57P01",
  "57P02",
  "57P03",
  "53300",
]);

/** It is not reached now, or the connection broke: the same statement may work in a moment. */
const isAway = (error: unknown): boolean =>
  awayCodes.has(errorCode(error) ?? "") || /timeout|Connection terminated/i.test(errorMessage(error));

/** Its connection, its rights, its room, or somebody who works on it: nothing that a statement could have said otherwise. */
const serverCodes = /^(08|25006|28|3D|42501|53|57|58)/;

/** What the server says for reasons of its own, also in the middle of a command; absent: it is something else. */
export function faultOfServer(error: unknown, location: string): DatabaseFailed | undefined {
  const isDrivers = error instanceof Error && ["Error", "error"].includes(error.name);
  if (!isDrivers || !(serverCodes.test(errorCode(error) ?? "") || isAway(error))) return undefined;
  const said = messageOf(error, location);
  const shown = withoutUser(location);
  return isAway(error)
    ? new DatabaseFailed("fleet/database", `the fleet's database ${shown} does not answer: ${said}`, whereItIs, true)
    : new DatabaseFailed(
        "fleet/database",
        `the fleet's database ${shown} refuses: ${said}`,
        "it has to belong to the role that logs in, be the server that takes writes, and have room",
      );
}

const whereItIs = "start it, or correct --database and PGPASSWORD";

const pauseMs = 500;

/** Asks again while the database is away, for as long as the answer is wanted. Only for what does no harm when repeated. */
export async function onceReached<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;)
    try {
      return await ask();
    } catch (error) {
      if (signal.aborted || !isAway(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
}

/** `folder`: where an embedded database keeps its files. */
export async function openDatabase(location: string, folder: string): Promise<Database> {
  if (location === "embedded") return openEmbedded(join(folder, ".reconcile", "fleet"));
  if (/^postgres(ql)?:\/\//.test(location) && URL.canParse(location)) return openPostgres(location);
  throw new DatabaseFailed(
    "fleet/database",
    `--database ${withoutPassword(location)} is neither embedded nor a postgres:// address`,
    "--database postgres://USER@HOST/DATABASE, with the password in PGPASSWORD",
  );
}

async function openPostgres(location: string): Promise<Database> {
  const pg = requirePackage<typeof import("pg")>("pg");
  // Nothing waits for ever for an answer that is lost: neither a command, nor a transaction, which keeps others waiting.
  const connection = {
    connectionString: driverAddress(location),
    connectionTimeoutMillis: waits.connect,
    query_timeout: waits.fleetQuery,
    keepAlive: true,
    application_name: "reconcile fleet",
  };
  const options = { ...connection, max: 3 };
  const pool: Pool = new pg.Pool({ ...options, types: numbersFor(pg) });
  pool.on("error", () => undefined);
  const shown = withoutUser(location);
  try {
    await pool.query("SELECT 1");
  } catch (error) {
    await pool.end().catch(() => undefined);
    throw new DatabaseFailed(
      "fleet/database",
      `the fleet's database ${shown} does not answer: ${messageOf(error, location)}`,
      whereItIs,
      isAway(error),
    );
  }
  return {
    location: shown,
    query: async (text, values = []) => (await pool.query<Row>(text, values.map(storable))).rows,
    run: async (text) => void (await pool.query(text)),
    listen: (channels, on) => listenOn(pg, connection, channels, on),
    queueOptions: options,
    close: () => pool.end(),
  };
}

const bigintId = 20;

/** Ids and counts are numbers, as they are in the embedded database: none has so many digits that it would lose some. */
const numbersFor = ({ types }: typeof import("pg")): CustomTypesConfig => ({
  getTypeParser: (id: number, format?: "text" | "binary") =>
    id === bigintId ? Number : types.getTypeParser(id, format),
});

/** Listens on a connection of its own, which is made anew when it breaks. */
async function listenOn(
  pg: typeof import("pg"),
  connection: ClientConfig,
  channels: readonly string[],
  on: (channel: string, payload: string) => void,
): Promise<{ close(): Promise<void> }> {
  let closed = false;
  let client: Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  const again = (): void => {
    if (closed || timer !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      connect().catch(again);
    }, 1000);
    timer.unref();
  };
  const connect = async (): Promise<void> => {
    const mine = new pg.Client(connection);
    mine.on("error", () => {
      mine.end().catch(() => undefined);
      again();
    });
    mine.on("notification", ({ channel, payload }) => on(channel, payload ?? ""));
    try {
      await mine.connect();
      await mine.query(channels.map((channel) => `LISTEN ${channel}`).join("; "));
    } catch (error) {
      // A standby, as there is one during a failover, refuses to listen, and the connection would stay.
      mine.end().catch(() => undefined);
      throw error;
    }
    client = mine;
    if (closed) await mine.end();
    // Notifications that came while the connection was away are lost, so `on` is called once to look again.
    else for (const channel of channels) on(channel, "");
  };
  await connect().catch(again);
  return {
    async close() {
      closed = true;
      clearTimeout(timer);
      await client?.end().catch(() => undefined);
    },
  };
}

async function openEmbedded(folder: string): Promise<Database> {
  const { PGlite } = requirePackage<typeof import("@electric-sql/pglite")>("@electric-sql/pglite");
  const { fromPglite } = await loadQueuePackage();
  mkdirSync(folder, { recursive: true });
  const letGo = takeFolder(folder);
  const lite = await PGlite.create(folder).catch((error: unknown) => {
    letGo();
    throw error;
  });
  return {
    location: `embedded (${folder})`,
    query: async (text, values = []) => (await lite.query<Row>(text, values.map(storable))).rows,
    run: async (text) => void (await lite.exec(text)),
    async listen(channels, on) {
      const stops = await Promise.all(
        channels.map((channel) => lite.listen(channel, (payload) => on(channel, payload))),
      );
      return { close: async () => void (await Promise.all(stops.map((stop) => stop()))) };
    },
    queueOptions: { db: fromPglite(lite), backend: "pglite" },
    close: () => lite.close().finally(letGo),
  };
}

/** Each process has a copy of its own in memory: what a second one wrote would be lost, or spoil the files of the first. */
function takeFolder(folder: string): () => void {
  const file = `${folder}.lock`;
  const lock = createFileLock(file, defaultLease, "with its process");
  const holder = { ...unknownHolder, host: hostname(), pid: process.pid };
  try {
    const { token } = lock.take(holder, (mine) => mine);
    const heartbeat = startHeartbeat(defaultLease, () => lock.beat(token));
    return () => {
      heartbeat.stop();
      if (lock.isHeldBy(token)) lock.remove();
    };
  } catch (error) {
    if (!(error instanceof StateLocked)) throw error;
    const { pid, host } = error.holder;
    throw new DatabaseFailed(
      "fleet/database",
      `the fleet's embedded database ${folder} is in use by process ${pid} on ${host}, and one process at a time can use it`,
      lock.isSilent()
        ? `that process has shown no sign of life for longer than ${defaultLease.leaseMs / 1000} seconds: end it first; if ${pid} is another program by now, delete ${file}`
        : "ask the pages of that process instead (--server with the address that it printed), or end it first",
    );
  }
}

/** The package is an ES module, which Node loads by require since 20.19. */
export const loadQueuePackage = async (): Promise<typeof import("pg-boss")> =>
  requirePackage<typeof import("pg-boss")>("pg-boss");

/** What every fleet needs. The queue's version is the one that its kill tests have passed. */
const ofEveryFleet = ["pg-boss@12.38.0", "cron-parser", "hono", "@hono/node-server"];

export function installOf(missing: string): string {
  const isListed = ofEveryFleet.some((named) => named === missing || named.startsWith(`${missing}@`));
  return `npm install ${[...ofEveryFleet, ...(isListed ? [] : [missing])].join(" ")}`;
}

export function requirePackage<T>(name: string): T {
  try {
    // The caller names the package and its type side by side.
    return createRequire(__filename)(name) as T;
  } catch (error) {
    if (errorCode(error) !== "MODULE_NOT_FOUND") throw error;
    throw new DatabaseFailed(
      "fleet/package-missing",
      `the fleet needs the package ${name}, which is not installed`,
      installOf(name),
    );
  }
}

function withoutUser(location: string): string {
  const url = new URL(location);
  return `postgres://${url.host}${url.pathname}`;
}

/** The message of an error without the address, which a driver may quote and which may hold a credential. */
export function messageOf(error: unknown, location: string): string {
  const text = (error instanceof Error ? error.message || error.name : String(error)).split("\n")[0] ?? "";
  const password = URL.canParse(location) ? new URL(location).password : "";
  const hidden = [password, percentDecoded(password)].filter((secret) => secret !== "");
  return hidden.reduce((shown, secret) => shown.replaceAll(secret, "***"), text.slice(0, 500));
}

/** What every fleet command has: the fleet's database, its records and its queue. */
import { ActionRefused, type Desk } from "../../fleet/actions";
import type { Database } from "../../fleet/database/database";
import { DatabaseFailed, faultOfServer, openDatabase } from "../../fleet/database/open";
import { createRecords, type Records } from "../../fleet/database/records";
import { prepareTables } from "../../fleet/database/tables";
import { openQueue, type Queue } from "../../fleet/queue";
import { setting } from "../../outside/environment";
import { userName } from "../../outside/holder";
import { fail } from "../compose";
import type { CommandFailed } from "../crash";
import type { Flags } from "../flags";

export interface FleetSession extends Desk {
  readonly database: Database;
  readonly records: Records;
  readonly queue: Queue;
}

const databaseOf = (flags: Pick<Flags, "database">): string => {
  const location = flags.database ?? setting("RECONCILE_FLEET_DATABASE");
  if (location === undefined || location === "")
    throw fail(
      "fleet/no-database",
      "the fleet's database is not named",
      "--database postgres://HOST/DATABASE, or RECONCILE_FLEET_DATABASE; to look around: reconcile fleet try",
    );
  return location;
};

export interface FleetUse {
  readonly sendsOnly?: boolean;
  /** For what is to run for long: a database that is away is waited for, and this is told of it once. */
  readonly patient?: (text: string) => void;
}

export async function withFleet<T>(
  flags: Pick<Flags, "database">,
  use: (session: FleetSession) => Promise<T>,
  { sendsOnly = true, patient }: FleetUse = {},
): Promise<T> {
  const location = databaseOf(flags);
  const open = (): Promise<FleetSession> => openFleet(location, { sendsOnly });
  const opened = await (patient === undefined ? open() : onceThere(open, patient));
  try {
    return await askedOfServer(location, () => use(opened));
  } finally {
    await closeFleet(opened);
  }
}

const longestReconnectMs = 10_000;

/** A supervisor that starts it again and again would wait for longer and longer. A signal ends it as it ends any command. */
async function onceThere<T>(open: () => Promise<T>, say: (text: string) => void): Promise<T> {
  for (let pauseMs = 500, isTold = false; ; pauseMs = Math.min(2 * pauseMs, longestReconnectMs)) {
    try {
      return await open();
    } catch (error) {
      const { cause } = error instanceof Error ? error : {};
      if (!(cause instanceof DatabaseFailed && cause.isAway)) throw error;
      if (!isTold) say(`${cause.message}; it is asked again until it does. ${cause.fix}.`);
      isTold = true;
      await new Promise((done) => setTimeout(done, pauseMs));
    }
  }
}

export const openFleet = (location: string, { sendsOnly }: { readonly sendsOnly: boolean }): Promise<FleetSession> =>
  askedOfServer(location, async () => {
    const database = await openDatabase(location, process.cwd());
    try {
      await prepareTables(database);
      const open = (): Promise<Queue> => openQueue({ database, sendsOnly, onError: () => undefined });
      const queue = sendsOnly ? queueWhenNeeded(open) : await open();
      return { database, records: createRecords(database), queue, who: userName() };
    } catch (error) {
      await database.close().catch(() => undefined);
      throw error;
    }
  });

/** Most commands only read, and opening the queue costs more than their answer: it is opened at its first use. */
function queueWhenNeeded(open: () => Promise<Queue>): Queue {
  let opened: Promise<Queue> | undefined;
  const needed = (): Promise<Queue> => {
    // One that could not be opened is opened by the next use.
    opened ??= open().catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
  return {
    enqueue: async (trigger) => (await needed()).enqueue(trigger),
    hasten: async (trigger) => (await needed()).hasten(trigger),
    hastenAll: async (triggers) => (await needed()).hastenAll(triggers),
    tend: async () => (await needed()).tend(),
    maintain: async () => (await needed()).maintain(),
    forget: async (stack) => (await needed()).forget(stack),
    work: async (options) => (await needed()).work(options),
    load: async () => (await needed()).load(),
    behind: async (tenants) => (await needed()).behind(tenants),
    // Only a worker takes rounds.
    take: () => undefined,
    wake: () => undefined,
    unserved: async () => (await needed()).unserved(),
    drain: async () => (await needed()).drain(),
    close: async () => (await opened)?.close(),
  };
}

export async function closeFleet({ queue, database }: Pick<FleetSession, "queue" | "database">): Promise<void> {
  await queue.close().catch(() => undefined);
  await database.close().catch(() => undefined);
}

/** Turns what the fleet refuses into the diagnostics of a command. */
async function askedOfServer<T>(location: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (thrown) {
    const error = location === "embedded" ? thrown : (faultOfServer(thrown, location) ?? thrown);
    if (!(error instanceof ActionRefused || error instanceof DatabaseFailed)) throw error;
    const failed = fail(error.code, error.message, error.fix);
    failed.cause = error;
    throw asConsent(failed, error.code);
  }
}

/** A consent that is not given ends a command with 3, as everywhere. */
export const asConsent = (failed: CommandFailed, code: unknown): CommandFailed =>
  code === "fleet/say-why" ? Object.assign(failed, { exitCode: 3 }) : failed;

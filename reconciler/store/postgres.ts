/**
 * The state in PostgreSQL: a row with the snapshot and the lease, and a row for each journal line. Every write is one
 * statement that first touches the lease's row, so that a holder whose token is not there any more writes nothing, and
 * the server's clock decides when a lease is over.
 */

import { randomUUID } from "node:crypto";
import type { Pool, QueryResult } from "pg";
import { causeOf, errorCode, errorMessage, ifPossible } from "../core/text/errors";
import { fieldsIn, onlyDefined } from "../core/text/objects";
import { waits } from "../core/text/outside-policy";
import { driverAddress } from "./driver-address";
import { bothClocks, type Clocks, lastEpoch, readHolder, startHeartbeat, unknownHolder, vouch } from "./lease";
import { beginMaking, hasSchema } from "./make-once";
import { packageMissing, repeat, withoutSecrets } from "./remote";
import {
  defaultLease,
  type Holder,
  LeaseLost,
  type LeaseTimes,
  StateLocked,
  type StateSession,
  type StateStore,
  type StoredState,
  StoreFailed,
} from "./store";

interface PostgresTarget {
  /** The address for the driver, without this tool's own parameters. */
  readonly connection: string;
  readonly schema: string;
  readonly state: string;
  /** Without user, password and parameters. */
  readonly location: string;
  readonly limits: Partial<PostgresLimits>;
}

function readPostgresUrl(location: string): PostgresTarget {
  if (!URL.canParse(location))
    throw new StoreFailed(
      "--state postgres://… is no address: postgres://USER@HOST/DATABASE?schema=reconcile&state=NAME",
    );
  const url = new URL(location);
  const schema = url.searchParams.get("schema") ?? "reconcile";
  const state = url.searchParams.get("state") ?? "default";
  // The driver reads neither: of `connect_timeout` it knows nothing, and its own limit ends a longer statement.
  const limits = onlyDefined({
    connectMs: limitIn(url.searchParams, "connect_timeout", 1000),
    statementMs: limitIn(url.searchParams, "statement_timeout", 1),
  });
  for (const own of ["schema", "state", "connect_timeout", "statement_timeout"]) url.searchParams.delete(own);
  return {
    connection: driverAddress(url.toString()),
    schema,
    state,
    location: `postgres://${url.host}${url.pathname}?schema=${schema}&state=${state}`,
    limits,
  };
}

/** In the unit that PostgreSQL itself has for it. 0 is no limit there, and leaves ours. */
function limitIn(given: URLSearchParams, name: string, unitMs: number): number | undefined {
  const text = given.get(name) ?? "0";
  if (!/^\d+$/.test(text))
    throw new StoreFailed(
      `--state postgres://…: ${name}=${text} is no number of ${unitMs === 1 ? "milliseconds" : "seconds"}`,
    );
  return Math.min(Number(text) * unitMs, longestLimitMs) || undefined;
}

/** Twelve days: with a longer one, a timer that takes half of another limit as well would end at once. */
const longestLimitMs = 2 ** 30;

/** A server that hangs, or a network that drops packets, must not hang the run: a lease is a minute. */
export interface PostgresLimits {
  readonly connectMs: number;
  /** The limit for one statement: the server cancels it, and a little later this side stops waiting. */
  readonly statementMs: number;
  /** For how long a server that answered before may be away, as it is while it is started anew. */
  readonly restartMs: number;
}

const defaultLimits: PostgresLimits = {
  connectMs: waits.connect,
  statementMs: waits.statement,
  restartMs: waits.restart.database,
};

/** The connections that many states of one process in the same database share. */
const sharedPools = new Map<string, Pool>();

export interface PostgresOptions {
  readonly limits?: PostgresLimits;
  /** Many states of one process are in the same database. */
  readonly shared?: boolean;
}

type Ask = (text: string, values?: readonly unknown[]) => Promise<QueryResult>;

/** Every statement here may be sent twice: the second time it changes nothing. */
function createAsk(
  { connection, location, limits: given }: PostgresTarget,
  usual: PostgresLimits,
  shared: boolean,
): Ask {
  const limits = { ...usual, ...given };
  const poolKey = JSON.stringify([connection, given]);
  let pool: Pool | undefined;
  let hasAnswered = false;
  let hasWritten = false;
  let takesTimeout = true;
  const open = (): Pool => {
    const opened = openPool(connection, limits, takesTimeout, shared);
    if (shared) sharedPools.set(poolKey, opened);
    return opened;
  };
  return (text, values = []) =>
    repeat(
      async () => {
        pool ??= (shared ? sharedPools.get(poolKey) : undefined) ?? open();
        try {
          const result = await pool.query(text, [...values]);
          hasAnswered = true;
          hasWritten ||= result.command !== "SELECT";
          return result;
        } catch (error) {
          if (!takesTimeout || !/startup parameter/.test(errorMessage(error))) throw error;
          // A pooler does not know the parameter, so only this side's limit is left.
          takesTimeout = false;
          pool = open();
          return pool.query(text, [...values]);
        }
      },
      {
        isPassing: (error) =>
          isPassingError(error) || (hasAnswered && isAway(error)) || (hasWritten && takesNoWrites(error)),
        asFailure: (error) => {
          const failed = new StoreFailed(`the state ${location}: ${postgresProblem(error, connection, limits)}`);
          failed.isAway = isPassingError(error) || isAway(error);
          return failed;
        },
        patienceMs: () => (hasAnswered ? limits.restartMs : waits.firstAnswer),
      },
    );
}

/** The columns of the statement by which a state is read. */
interface StoredRow {
  readonly snapshot: string | null;
  readonly lines: string[];
  readonly last: string | null;
  readonly tail: string | null;
  readonly tail_line: string | null;
}

export function createPostgresStore(
  address: string,
  times: LeaseTimes = defaultLease,
  { limits = defaultLimits, shared = false }: PostgresOptions = {},
): StateStore {
  const target = readPostgresUrl(address);
  const { schema, state, location } = target;
  const within = quoteName(schema);
  const states = `${within}.states`;
  const journal = `${within}.journal`;
  let hasTail = true;
  const ask = createAsk(target, limits, shared);

  /** `end`: the number of the last line that was ever written, lost ones included. */
  async function readWhole(): Promise<{ readonly stored: StoredState; readonly end: number }> {
    const readWith = (tail: string): Promise<QueryResult | undefined> =>
      orMissing(
        ask(
          `SELECT snapshot, ${tail}, ARRAY(SELECT body FROM ${journal} j WHERE j.name = s.name ORDER BY line) AS lines,
             (SELECT max(line) FROM ${journal} j WHERE j.name = s.name) AS last
           FROM ${states} s WHERE name = $1`,
          [state],
        ),
      );
    // The number of the line that was acknowledged last, where the present journal's holder noted it.
    const noted = "CASE WHEN tail_epoch = epoch THEN tail_line END AS tail, tail_line";
    const found = await readWith(noted).catch((error: unknown) => {
      if (causeCode(error) !== undefinedColumn) throw error;
      return readWith("NULL AS tail, NULL AS tail_line");
    });
    const row: StoredRow | undefined = found?.rows[0];
    const lines = row?.lines ?? [];
    const stored: StoredState = {
      snapshot: row?.snapshot == null ? undefined : row.snapshot,
      journal: lines,
      // Lines are numbered on from one holder to the next, and not always from one.
      acknowledged: row?.tail == null ? undefined : lines.length + Math.max(0, Number(row.tail) - Number(row.last)),
    };
    return { stored, end: Math.max(Math.abs(Number(row?.tail_line ?? 0)), Number(row?.last ?? 0)) };
  }

  const read = async (): Promise<StoredState> => (await readWhole()).stored;

  async function present(onlyAlive: boolean) {
    const found = await orMissing(
      ask(
        `SELECT holder FROM ${states} WHERE name = $1 AND token IS NOT NULL
         AND (NOT $2 OR alive_at > clock_timestamp() - $3 * interval '1 millisecond')`,
        [state, onlyAlive, times.leaseMs],
      ),
    );
    const row: unknown = found?.rows[0];
    return row === undefined ? undefined : readHolder(fieldsIn(row)["holder"]);
  }

  /** Two processes may create the tables at once; the second one finds them. */
  async function prepare(): Promise<void> {
    const isThere = await ask(
      `SELECT to_regclass($1) IS NOT NULL AND to_regclass($2) IS NOT NULL AS there, ${hasSchema("$3")} AS within`,
      [states, journal, within],
    );
    const found = fieldsIn(isThere.rows[0]);
    if (found["there"] === true) return addTail();
    // One transaction.
    const make = [
      ...beginMaking("reconcile-cloud", within, found["within"] === true),
      `CREATE TABLE IF NOT EXISTS ${states} (name text PRIMARY KEY, snapshot text, epoch bigint NOT NULL,
         token uuid, holder jsonb, alive_at timestamptz, tail_epoch bigint, tail_line bigint)`,
      `CREATE TABLE IF NOT EXISTS ${journal} (name text NOT NULL, line bigint NOT NULL, body text NOT NULL,
         PRIMARY KEY (name, line))`,
    ].join(";\n");
    await ask(make);
  }

  /**
   * Gives the tables of an older version the columns that they lack, where this role may; the tables serve without them
   * as well.
   */
  async function addTail(): Promise<void> {
    try {
      await ask(`SELECT tail_epoch, tail_line FROM ${states} LIMIT 0`);
    } catch (error) {
      if (causeCode(error) !== undefinedColumn) throw error;
      await ask(
        `ALTER TABLE ${states} ADD COLUMN IF NOT EXISTS tail_epoch bigint, ADD COLUMN IF NOT EXISTS tail_line bigint`,
      ).catch((refused: unknown) => {
        if (causeCode(refused) !== "42501") throw refused;
        hasTail = false;
      });
    }
  }

  return {
    location,
    leases: true,
    read,
    holder: () => present(true),
    async breakLock(onlyLapsed = false) {
      const former = await present(false);
      if (former === undefined) return undefined;
      await ask(
        `UPDATE ${states} SET token = NULL, holder = NULL WHERE name = $1
         AND (NOT $2 OR alive_at <= clock_timestamp() - $3 * interval '1 millisecond')`,
        [state, onlyLapsed, times.leaseMs],
      );
      const holder = onlyLapsed ? await present(true) : undefined;
      if (holder !== undefined) throw new StateLocked(holder);
      return former;
    },
    async lock(holder) {
      const token = randomUUID();
      const since = bothClocks();
      const epoch = await take(token, holder);
      try {
        const { stored, end } = await readWhole();
        const written = lastEpoch(stored);
        return openSession({
          epoch: written < epoch ? epoch : await raise(token, written),
          token,
          // The next number counts lost lines too, so that the loss stays visible until somebody replaces the state.
          written: end,
          found: stored,
          since,
        });
      } catch (error) {
        await letGo(token).catch(() => undefined);
        throw error;
      }
    },
  };

  /** Takes the lease, and answers with its epoch. The tables are looked at, and made, only where they do not serve. */
  async function take(token: string, holder: Holder): Promise<number> {
    const tryToTake = (): Promise<QueryResult> =>
      ask(
        `INSERT INTO ${states} AS s (name, epoch, token, holder, alive_at) VALUES ($1, 1, $2, $3, clock_timestamp())
         ON CONFLICT (name) DO UPDATE
           SET epoch = s.epoch + 1, token = $2, holder = $3, alive_at = clock_timestamp()
             ${hasTail ? ", tail_epoch = CASE WHEN s.tail_epoch = s.epoch THEN s.epoch + 1 END" : ""}
           WHERE (s.holder ->> 'released')::uuid IS DISTINCT FROM $2
             AND (s.token IS NULL OR s.token = $2 OR s.alive_at <= clock_timestamp() - $4 * interval '1 millisecond')
         RETURNING epoch`,
        [state, token, JSON.stringify(holder), times.leaseMs],
      );
    const taken = await tryToTake().catch(async (error: unknown) => {
      if (!isMissing(error) && causeCode(error) !== undefinedColumn) throw error;
      await prepare();
      return tryToTake();
    });
    const row: unknown = taken.rows[0];
    if (row === undefined) throw new StateLocked((await present(false)) ?? unknownHolder);
    return Number(fieldsIn(row)["epoch"]);
  }

  /** A state that was put there from elsewhere may have an epoch above those of this table. */
  async function raise(token: string, above: number): Promise<number> {
    const raised = await ask(
      `UPDATE ${states} SET epoch = GREATEST(epoch, $3) + 1
         ${hasTail ? ", tail_epoch = CASE WHEN tail_epoch = epoch THEN GREATEST(epoch, $3) + 1 END" : ""}
       WHERE name = $1 AND token = $2 RETURNING epoch`,
      [state, token, above],
    );
    const row: unknown = raised.rows[0];
    if (row === undefined) throw new LeaseLost(location);
    return Number(fieldsIn(row)["epoch"]);
  }

  /** Whoever asks for the lock under this token once more is a request that was repeated, and arrives after its answer. */
  async function letGo(token: string): Promise<void> {
    await ask(
      `UPDATE ${states} SET token = NULL, holder = jsonb_build_object('released', token) WHERE name = $1 AND token = $2`,
      [state, token],
    );
  }

  function openSession(opened: {
    readonly epoch: number;
    readonly token: string;
    readonly written: number;
    readonly found: StoredState;
    readonly since: Clocks;
  }): StateSession {
    const { epoch, token, found, since } = opened;
    let { written } = opened;
    const held = `UPDATE ${states} SET alive_at = clock_timestamp() WHERE name = $1 AND token = $2 RETURNING name`;
    /**
     * The number is noted in another row than the lines, in the same statement: whatever loses lines does not lose it
     * with them. Below zero: the snapshot has all lines up to it.
     */
    const tail = (line: string): string => (hasTail ? `, tail_epoch = epoch, tail_line = ${line}` : "");
    /**
     * A write was sent again because it was not answered, and the network delivers the first one as well, after what was
     * written later: it does not count.
     */
    const noLater = (least: string, most: string): string =>
      hasTail ? ` AND coalesce(tail_line, 0) BETWEEN ${least} AND ${most}` : "";
    const heartbeat = startHeartbeat(times, async () => void (await ask(held, [state, token])));
    const assertHeld = (result: QueryResult): void => {
      if (fieldsIn(result.rows[0])["held"] !== 1) throw new LeaseLost(location);
    };
    const vouching = vouch({
      trustMs: times.leaseMs / 2,
      since,
      async ask() {
        if ((await ask(held, [state, token])).rowCount !== 1) throw new LeaseLost(location);
      },
    });
    return {
      epoch,
      found,
      read,
      assertHeld: vouching.assertHeld,
      async append(lines) {
        // Lines are numbered by this side: a repeated statement whose first answer was lost finds its lines there.
        const numbers = lines.map((_, index) => written + index + 1);
        const last = written + lines.length;
        // Also where it fails: they may be there all the same, and the next line is another one.
        written = last;
        const add = `WITH held AS (UPDATE ${states} SET alive_at = clock_timestamp()${tail("$5::bigint")}
               WHERE name = $1 AND token = $2${noLater("1 - $5::bigint", "$5::bigint")} RETURNING name),
             added AS (
               INSERT INTO ${journal} (name, line, body)
               SELECT held.name, new.line, new.body FROM held, unnest($3::bigint[], $4::text[]) AS new (line, body)
               ON CONFLICT (name, line) DO NOTHING)
             SELECT count(*)::int AS held FROM held`;
        await vouching.confirm(async () =>
          assertHeld(await ask(add, [state, token, numbers, lines, ...(hasTail ? [last] : [])])),
        );
      },
      async replace(snapshot) {
        assertHeld(
          await ask(
            `WITH held AS (UPDATE ${states} SET snapshot = $3, alive_at = clock_timestamp()${tail("-$4::bigint")}
               WHERE name = $1 AND token = $2${noLater("-$4::bigint", "$4::bigint")} RETURNING name),
             cleared AS (DELETE FROM ${journal} USING held WHERE journal.name = held.name)
             SELECT count(*)::int AS held FROM held`,
            [state, token, snapshot, ...(hasTail ? [written] : [])],
          ),
        );
      },
      async release() {
        heartbeat.stop();
        await letGo(token);
      },
    };
  }
}

function openPool(
  connection: string,
  { connectMs, statementMs }: PostgresLimits,
  takesTimeout: boolean,
  shared: boolean,
): Pool {
  const pg = ifPossible(() => require("pg") as typeof import("pg"));
  if (pg === undefined) throw packageMissing("pg", "postgres://");
  const pool = new pg.Pool({
    connectionString: connection,
    max: shared ? 6 : 2,
    connectionTimeoutMillis: connectMs,
    ...onlyDefined({ statement_timeout: takesTimeout ? statementMs : undefined }),
    // This side's limit is later than the server's, so that the server has cancelled a statement when nobody waits for
    // it any more.
    query_timeout: statementMs + connectMs / 2,
    keepAlive: true,
    // A command ends when its work is done, not when its connections are idle long enough.
    allowExitOnIdle: true,
    application_name: "reconcile",
  });
  // The next statement replaces an idle connection that broke.
  pool.on("error", () => undefined);
  return pool;
}

/** Before the first writer made the tables there is nothing to read. */
async function orMissing(answer: Promise<QueryResult>): Promise<QueryResult | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** There is no such table or schema. */
const isMissing = (error: unknown): boolean => ["42P01", "3F000"].includes(causeCode(error) ?? "");

const causeCode = (error: unknown): string | undefined => errorCode(causeOf(error) ?? error);

/** The connection broke or the server is busy with itself: the same statement may work in a moment. */
const isPassingError = (error: unknown): boolean => {
  const code = errorCode(error);
  if (code !== undefined && /^(08|57P0[123]|57014|40001|40P01|53300|ECONNRESET|EPIPE|ETIMEDOUT)/.test(code))
    return true;
  return (
    isUnanswered(error) || /Connection terminated|Client has encountered a connection error/i.test(errorMessage(error))
  );
};

/** Nobody listens, or its machine is not there: passing for one that was there a moment ago. */
const isAway = (error: unknown): boolean =>
  ["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "ENOTFOUND", "EAI_AGAIN"].includes(errorCode(error) ?? "");

/** It is a standby: passing for one that took writes a moment ago, as where another one is about to take its place. */
const takesNoWrites = (error: unknown): boolean => errorCode(error) === "25006";

const isUnconnected = (error: unknown): boolean =>
  /timeout exceeded when trying to connect|timeout expired|connection timeout/i.test(errorMessage(error));

const isUnanswered = (error: unknown): boolean =>
  isUnconnected(error) || /Query read timeout/i.test(errorMessage(error));

function postgresProblem(error: unknown, connection: string, { connectMs, statementMs }: PostgresLimits): string {
  if (isUnanswered(error) || causeCode(error) === "57014")
    return `the server did not answer within ${(isUnconnected(error) ? connectMs : statementMs) / 1000} seconds`;
  return withoutSecrets(errorMessage(error), connection);
}

const undefinedColumn = "42703";

const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Takes a state away with its journal. For a state that a check has made. */
export async function removePostgresState(address: string): Promise<void> {
  const target = readPostgresUrl(address);
  const ask = createAsk(target, defaultLimits, false);
  const within = quoteName(target.schema);
  // A server that takes no writes has nothing to take away.
  const found = await orMissing(ask(`SELECT FROM ${within}.states WHERE name = $1`, [target.state]));
  if (found === undefined || found.rowCount === 0) return;
  for (const table of ["journal", "states"])
    await ask(`DELETE FROM ${within}.${table} WHERE name = $1`, [target.state]);
}

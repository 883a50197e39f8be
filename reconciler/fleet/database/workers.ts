/**
 * Workers: their signs of life, tasks that one of them does for all, and the budgets that they share. Each function is
 * one statement.
 */

import type { Trouble } from "../troubles";
import { columnsOf, type Database, keptJson, maybeTime, recordOf } from "./database";
import { schema } from "./tables";

export interface WorkerRecord {
  readonly name: string;
  readonly startedAt: Date;
  readonly aliveAt: Date;
  /** Its next sign of life is long overdue, by the database's clock: that of whoever shows it may be wrong. */
  readonly silent: boolean;
  readonly version: string;
  readonly concurrency: number;
  readonly doing: readonly { readonly stack: string; readonly since: string }[];
  readonly draining: boolean;
  /** Only rounds of these services; none: of all. */
  readonly services: readonly string[];
  /** Where it gets no files from. */
  readonly troubles: readonly Trouble[];
}

/** Where a worker stands among those that live and take rounds: what one of them does for all goes round by its place. */
export interface Standing {
  readonly place: number;
  readonly workers: number;
  /** The database's clock, in milliseconds. */
  readonly now: number;
  /** When the fleet's settings were written; absent: never. */
  readonly settledAt?: number | undefined;
  /** Where the others get no files from, once for each worker. */
  readonly troubled: readonly string[];
}

export interface BudgetRecord {
  readonly service: string;
  readonly perSecond: number;
  /** Absent: no pause is left, by the database's clock. */
  readonly pausedUntil?: Date;
  readonly refusals: number;
  readonly used: number;
  /** From 0 to 1: how much of a burst is reserved at this moment. */
  readonly reserved: number;
}

/** What the last look at the fleet's own file found, for people. */
export interface Followed {
  /** The commits of all repositories that were looked at. */
  readonly seen: string;
  readonly at: string;
  /** Stacks that the file does not have any more, and which a person has to let go. */
  readonly leaving: readonly string[];
  /** Stacks that look like new names of those, and would make everything a second time. */
  readonly anew?: readonly string[] | undefined;
  /** Why nothing was carried out. */
  readonly why?: string | undefined;
}

/** What the workers know of a repository. */
export interface SeenRepository {
  /** Absent: nobody has seen a commit of it. */
  readonly revision?: string;
  /** How many looks in a row failed. */
  readonly failures: number;
  /** What the last of them said. */
  readonly why?: string;
}

/** The pause between two looks at a repository that fails doubles so often. */
const mostDoublings = 3;

const neverLookedAt: SeenRepository = { failures: 0 };

const followedBodies = columnsOf<{ readonly body: Followed }>();
const written = columnsOf<Pick<Standing, "troubled">>();

/** One whose sign of life is so late does nothing for all. */
const missedS = 3;
/** One whose sign of life is so late is taken for dead. */
const silentS = 10;

/** A worker of the former version does not say when its next sign of life is due. */
const due = "coalesce(due_at, alive_at + interval '5 seconds')";
export const isAlive = (lateS: number): string => `${due} > now() - interval '${lateS} seconds'`;

export const workerStatements = ({ query }: Database) => ({
  /** A sign of life; the next one comes in so many seconds. */
  async beat(worker: Omit<WorkerRecord, "startedAt" | "aliveAt" | "silent">, nextS = 5): Promise<Standing> {
    const [row] = await query(
      `WITH gone AS (DELETE FROM ${schema}.workers WHERE alive_at < now() - interval '1 hour'),
         mine AS (INSERT INTO ${schema}.workers (name, version, concurrency, doing, draining, services, troubles, due_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, now() + $8 * interval '1 second')
           ON CONFLICT (name) DO UPDATE SET alive_at = now(), doing = $4, draining = $5, troubles = $7, due_at = excluded.due_at)
       SELECT count(*) FILTER (WHERE name < $1)::int AS place, count(*)::int + 1 AS workers,
         extract(epoch FROM clock_timestamp())::double precision * 1000 AS now,
         coalesce(jsonb_path_query_array(jsonb_agg(troubles), '$[*][*].origin'), '[]') AS troubled,
         (SELECT changed_at FROM ${schema}.documents WHERE name = 'settings') AS settled
       FROM ${schema}.workers WHERE name <> $1 AND NOT draining AND ${isAlive(missedS)}`,
      [
        worker.name,
        worker.version,
        worker.concurrency,
        keptJson(worker.doing),
        worker.draining,
        keptJson(worker.services),
        keptJson(worker.troubles),
        nextS,
      ],
    );
    const numberIn = (column: string): number => Number(row?.[column]);
    const settledAt = maybeTime(row?.["settled"])?.getTime();
    const [place, workers, now] = [numberIn("place"), numberIn("workers"), numberIn("now")];
    return { place, workers, now, settledAt, troubled: row === undefined ? [] : written(row, "troubled") };
  },
  async leave(name: string): Promise<void> {
    await query(`DELETE FROM ${schema}.workers WHERE name = $1`, [name]);
  },
  workers: async (): Promise<readonly WorkerRecord[]> =>
    (await query(`SELECT *, NOT ${isAlive(silentS)} AS silent FROM ${schema}.workers ORDER BY name`)).map(
      recordOf<WorkerRecord>,
    ),
  async liveWorkers(): Promise<number> {
    const rows = await query(`SELECT count(*)::int AS n FROM ${schema}.workers WHERE ${isAlive(silentS)}`);
    return Number(rows[0]?.["n"] ?? 0);
  },
  /** True for the worker that does the task now; false for the others for this many seconds. */
  async claimTask(task: string, everyS: number): Promise<boolean> {
    const rows = await query(
      `INSERT INTO ${schema}.documents AS d (name, body) VALUES ($1, '{}')
       ON CONFLICT (name) DO UPDATE SET changed_at = now() WHERE d.changed_at < now() - $2 * interval '1 second' RETURNING name`,
      [`task ${task}`, everyS],
    );
    return rows.length > 0;
  },
  /** The task is due now. */
  async releaseTask(task: string): Promise<void> {
    await query(`DELETE FROM ${schema}.documents WHERE name = $1`, [`task ${task}`]);
  },
  /** What the last look at the fleet's own file found. */
  async followed(): Promise<Followed | undefined> {
    const rows = await query(`SELECT body FROM ${schema}.documents WHERE name = 'followed'`);
    return rows.map((row) => followedBodies(row, "body"))[0];
  },
  async saveFollowed(followed: Followed): Promise<void> {
    await query(
      `INSERT INTO ${schema}.documents (name, body) VALUES ('followed', $1) ON CONFLICT (name) DO UPDATE SET body = $1, changed_at = now()`,
      [keptJson(followed)],
    );
  },
  /** A person wrote the fleet: the next look compares everything. */
  async forgetFollowed(): Promise<void> {
    await query(`DELETE FROM ${schema}.documents WHERE name = 'followed'`);
  },
  /** True for the worker that looks at the repository now. One that failed is looked at after growing pauses. */
  async claimRepository(url: string, ref: string, everyS: number): Promise<boolean> {
    const rows = await query(
      `INSERT INTO ${schema}.repositories AS r (url, ref, looked_at) VALUES ($1, $2, now())
       ON CONFLICT (url, ref) DO UPDATE SET looked_at = now()
         WHERE r.looked_at IS NULL OR r.looked_at < now() - $3 * power(2, least(r.failures, ${mostDoublings})) * interval '1 second' RETURNING url`,
      [url, ref, everyS],
    );
    return rows.length > 0;
  },
  async repositoryFailed(url: string, ref: string, why: string): Promise<void> {
    await query(
      `INSERT INTO ${schema}.repositories AS r (url, ref, looked_at, failures, why) VALUES ($1, $2, now(), 1, $3)
       ON CONFLICT (url, ref) DO UPDATE SET looked_at = now(), failures = r.failures + 1, why = $3`,
      [url, ref, why],
    );
  },
  /** One that failed gave files to somebody: rounds ask it again, and the next look, which wakes what failed, is now. */
  async repositoryAnswered(url: string, ref: string): Promise<void> {
    await query(
      `UPDATE ${schema}.repositories SET looked_at = NULL, failures = 1 WHERE url = $1 AND ref = $2 AND failures > 0`,
      [url, ref],
    );
  },
  /** `having`: only those of which a stack's source says this, such as that pull requests are planned. */
  async repositories(
    having: "url" | "pulls" = "url",
  ): Promise<readonly { readonly url: string; readonly ref: string }[]> {
    const rows = await query(
      `SELECT DISTINCT spec -> 'source' ->> 'url' AS url, spec -> 'source' ->> 'ref' AS ref FROM ${schema}.stacks
       WHERE spec -> 'source' ->> 'kind' = 'git' AND spec -> 'source' ? $1`,
      [having],
    );
    return rows.map((row) => recordOf(row));
  },
  /** Stores the commit of a repository that has answered; tells for which one its stacks were woken last. */
  async sawCommit(url: string, ref: string, commit: string): Promise<SeenRepository> {
    const rows = await query(
      `WITH before AS (SELECT woken AS revision, failures FROM ${schema}.repositories WHERE url = $1 AND ref = $2 FOR UPDATE),
         now AS (INSERT INTO ${schema}.repositories (url, ref, revision, looked_at) VALUES ($1, $2, $3, now())
           ON CONFLICT (url, ref) DO UPDATE SET revision = $3, looked_at = now(), failures = 0, why = NULL)
       SELECT revision, failures FROM before`,
      [url, ref, commit],
    );
    return rows.map(recordOf<SeenRepository>)[0] ?? neverLookedAt;
  },
  /** The rounds of all stacks that the commit touched are queued. */
  async wokeFor(url: string, ref: string, commit: string): Promise<void> {
    await query(`UPDATE ${schema}.repositories SET woken = $3 WHERE url = $1 AND ref = $2`, [url, ref, commit]);
  },
  async repositorySeen(url: string, ref: string): Promise<SeenRepository> {
    const rows = await query(`SELECT revision, failures, why FROM ${schema}.repositories WHERE url = $1 AND ref = $2`, [
      url,
      ref,
    ]);
    return rows.map(recordOf<SeenRepository>)[0] ?? neverLookedAt;
  },
  async budgets(): Promise<readonly BudgetRecord[]> {
    const rows = await query(
      `SELECT *, CASE WHEN paused_until > clock_timestamp() THEN paused_until END AS paused_until, CASE WHEN per_second > 0 AND burst > 0 THEN
         least(1, greatest(0, (tat - extract(epoch FROM clock_timestamp())) * per_second / burst + 1)) ELSE 0 END AS reserved
       FROM ${schema}.budgets ORDER BY service`,
    );
    return rows.map(recordOf<BudgetRecord>);
  },
});

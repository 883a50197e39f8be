/**
 * The queue of rounds, on pg-boss: for each stack at most one that waits and one that runs, however many triggers there
 * are; a round whose worker died runs on another one. Everything the fleet knows of pg-boss is in this file.
 */
import { createHash } from "node:crypto";
import type { PgBoss, WorkWithMetadataHandler } from "pg-boss";
import { onlyDefined } from "../core/text/objects";
import { type Database, keptJson, recordOf } from "./database/database";
import { loadQueuePackage } from "./database/open";
import { schema as tables } from "./database/tables";
import { isAlive } from "./database/workers";
import { clockIsFar, personBand, perUnit, priorityOf, withoutTurn } from "./fairness";
import type { StackSpec, Tenant } from "./model";

export interface Job {
  readonly stack: string;
  readonly cause: Cause;
  /** The person who started the round; absent: the clock did. */
  readonly startedBy?: string;
  /**
   * The turn of the round in the fleet's own time, which moves on when the round is taken. Absent: no other round
   * waited, and its tenant is charged when it begins.
   */
  readonly turn?: number;
  /** A worker had taken it before, and did not come to its end. */
  readonly again?: true;
  /** Only a plan is to be made, of what this pull request changes. It waits beside the stack's own round. */
  readonly pull?: number;
  /** Fires when the round is no longer this worker's. */
  readonly signal: AbortSignal;
  /**
   * Lets another round run in the place of this one until the result is called. `undefined`: so many places are lent that
   * there is none to lend now.
   */
  lend(): (() => void) | undefined;
}

export type Cause =
  | "interval"
  | "push"
  | "dependency"
  | "approval"
  | "person"
  | "retry"
  | "window"
  | "new"
  | "pull request";

export interface Trigger extends Pick<Job, "stack" | "cause" | "startedBy" | "pull" | "again"> {
  readonly tenant: string;
  /** Workers of other services leave the round where it is. */
  readonly service?: string | undefined;
  /** A round that could not begin keeps its turn. */
  readonly turn?: number | undefined;
  /** Absent: now. */
  readonly at?: Date;
}

export const triggerOf = (
  { name, spec: { tenant, service } }: { readonly name: string; readonly spec: Pick<StackSpec, "tenant" | "service"> },
  cause: Cause,
): Trigger => ({ stack: name, tenant, service, cause });

export interface Queue {
  /** Queues a round for its time; a waiting round for a later time comes forward to it. */
  enqueue(trigger: Trigger): Promise<void>;
  /** Queues a round for now; a waiting one comes forward. */
  hasten(trigger: Trigger): Promise<void>;
  /** The same for many stacks in a few statements; they take their turns with those whose time has come. */
  hastenAll(triggers: readonly Trigger[]): Promise<void>;
  /**
   * What one worker does for all, once a second: rounds that are due get their turns and are announced, and what dead
   * workers left is given to others.
   */
  tend(): Promise<void>;
  /** Deletes what ended, and queues stacks whose round was lost; one worker does it for all, once a minute. */
  maintain(): Promise<void>;
  /** Removes the waiting round of a stack, unless it has to end what a dead worker left. */
  forget(stack: string): Promise<void>;
  work(options: WorkOptions): Promise<void>;
  /** What this worker takes from now on. */
  take(taken: TakenRounds): void;
  /** There may be a round: the place that waits for one looks. */
  wake(): void;
  /** Counts of rounds that wait and run, by tenant. */
  load(): Promise<readonly { readonly tenant: string; readonly waiting: number; readonly running: number }[]>;
  /** Stacks of these tenants whose round is due and waits until another round of their tenant ends. */
  behind(tenants: readonly string[]): Promise<readonly { readonly stack: string; readonly tenant: string }[]>;
  /** Stacks whose round is due and of a service that no worker takes. */
  unserved(): Promise<readonly { readonly stack: string; readonly service: string }[]>;
  /** Takes no new round; resolves when the running ones have ended. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

/** Which rounds a worker takes. */
export interface TakenRounds {
  readonly tenants: readonly Tenant[];
  /** The fleet's services, and those of which this worker takes rounds; none: of all. */
  readonly services?: readonly string[];
  readonly only?: readonly string[];
}

export interface WorkOptions extends TakenRounds {
  readonly concurrency: number;
  /** Announcements come through (`roundChannel`), so that nothing has to be looked for. */
  readonly hears?: boolean;
  readonly round: (job: Job) => Promise<void>;
}

/** A place in which one round at a time may run. */
interface Place {
  /** The queue's id of the place. */
  id?: string;
  isOpen: boolean;
}

const rounds = "rounds";
const dayS = 86_400;
/** Where the queue announces rounds that are sent for now; `tend` announces the others there. */
export const roundChannel = `pgboss_${createHash("sha224").update("reconcile_queue").digest("hex").slice(0, 24)}`;
/** So many rounds that wait for what does not answer leave their places to others, also where one round at a time runs. */
const leastLent = 8;
/** A worker that is told of rounds looks for some itself once in so long, should an announcement be lost. */
const quietS = 120;
const lookS = 0.5;
const unlimited = 100_000;

/** Rounds are limited by tenant; where a worker takes only some services, by both. */
const tierOf = (tenant: string, service: string | undefined): string => `${tenant} ${service ?? ""}`;

/** How many rounds of a tenant may run where this worker takes one, by the tier of the round. */
interface RoundLimits {
  /** Of rounds that no tier names. */
  default: number;
  tiers: Readonly<Record<string, number>>;
}

function limitsOf({ tenants, services = [], only = [] }: TakenRounds): RoundLimits {
  const isFree = only.length === 0;
  const all = isFree ? tenants.filter(({ maxRunning }) => maxRunning !== undefined) : [{ name: "default" }, ...tenants];
  const tiers = all.flatMap(({ name, maxRunning = unlimited }: Partial<Tenant> & Pick<Tenant, "name">) =>
    // A round that a worker of the former version sent names its tenant alone.
    [name, ...(isFree ? [undefined, ...services] : only).map((service) => tierOf(name, service))].map(
      (tier) => [tier, maxRunning] as const,
    ),
  );
  return { default: isFree ? unlimited : 0, tiers: Object.fromEntries(tiers) };
}

type RoundData = Omit<Trigger, "at">;

export interface QueueSetting {
  readonly database: Database;
  readonly onError: (error: Error) => void;
  /** Only sends rounds, and leaves the watch over dead workers to the workers. */
  readonly sendsOnly?: boolean;
}

export async function openQueue({ database, onError, sendsOnly = false }: QueueSetting): Promise<Queue> {
  const { PgBoss: Boss } = await loadQueuePackage();
  const boss: PgBoss = new Boss({
    ...database.queueOptions,
    schema: "reconcile_queue",
    // Each worker has one connection that listens to everything (shared.ts).
    useListenNotify: false,
    queueCacheIntervalSeconds: 600,
    bamIntervalSeconds: 600,
    // One worker at a time looks for dead ones with a statement of its own, and asks the queue only when there are some.
    supervise: false,
    schedule: false,
    monitorIntervalSeconds: 1,
    // How often the queue deletes what ended more than ten minutes ago.
    maintenanceIntervalSeconds: 300,
    registerInstance: false,
    persistWarnings: false,
    monitorVacuum: false,
    reindex: false,
  });
  boss.on("error", onError);
  const close = (): Promise<void> => boss.stop({ graceful: false, close: true });
  const setting = {
    notify: true,
    heartbeatSeconds: 10,
    // Longer than the longest apply, because the heartbeat tells whether a worker lives.
    expireInSeconds: dayS - 1,
    retentionSeconds: 30 * dayS,
    deleteAfterSeconds: 600,
    // A worker sends failed rounds again itself; this limit is for lost workers alone. The runs count how many were
    // lost: when the database is away, heartbeats are lost without a death.
    retryLimit: 1_000_000,
    retryDelay: 0,
    deadLetter: null,
  };
  const { deadLetter: _, ...first } = setting;
  try {
    await boss.start();
    await boss.createQueue(rounds, { policy: "stately", ...first });
    // A queue that an older version made is brought up to date.
    if (!sendsOnly) await boss.updateQueue(rounds, setting);
  } catch (error) {
    // What it has begun would keep the process from ending.
    await close().catch(() => undefined);
    throw error;
  }

  let isDraining = false;
  const limits: RoundLimits = { default: unlimited, tiers: {} };
  let free: Place | undefined;

  /** The database adds it to its own clock: that of a worker may be wrong, and its rounds would be due too soon. */
  const msUntil = (at: Date): number => Math.max(0, at.getTime() - Date.now());
  const bandOf = (cause: Cause): "person" | "clock" =>
    cause === "person" || cause === "approval" ? "person" : "clock";
  const keyOf = ({ stack, pull }: Trigger): string => (pull === undefined ? stack : `${stack} pull request ${pull}`);

  /** `turn`: absent, the round has none before it is due. */
  function jobOf(trigger: Trigger, turn: number | undefined) {
    const { at, turn: _, ...data } = trigger;
    const options = {
      singletonKey: keyOf(trigger),
      priority: turn === undefined ? withoutTurn : priorityOf(turn, bandOf(trigger.cause)),
      group: { id: trigger.tenant, tier: tierOf(trigger.tenant, trigger.service) },
      ...onlyDefined({ startAfter: at && msUntil(at) / 1000 }),
    };
    return { data: turn === undefined ? data : { ...data, turn }, options };
  }

  /**
   * A round that waits takes over what asks for it again, and tells what it is for then. `inTurn`: it needs no other, and
   * costs nothing.
   */
  async function joined(
    trigger: Trigger,
  ): Promise<Partial<Pick<Trigger, "cause" | "startedBy" | "again">> & { readonly inTurn?: boolean }> {
    const { cause, startedBy, again } = trigger;
    const [row] = await database.query(
      `UPDATE reconcile_queue.job SET data = data || ${keptCause("data", "$4::text")} || $2::jsonb,
         priority = CASE WHEN $3 AND ${isInTurn} AND priority <= 0 THEN priority + ${personBand} ELSE priority END
       WHERE name = '${rounds}' AND singleton_key = $1 AND state = 'created' RETURNING ${isInTurn} AS in_turn,
         data ->> 'cause' AS cause, data ->> 'startedBy' AS started_by, data -> 'again' AS again`,
      [
        keyOf(trigger),
        keptJson(onlyDefined({ cause: startedBy === undefined ? undefined : cause, startedBy, again })),
        bandOf(cause) === "person",
        cause,
      ],
    );
    return row === undefined ? {} : recordOf(row);
  }

  async function hastenAll(triggers: readonly Trigger[]): Promise<void> {
    if (triggers.length === 0) return;
    await database.query(
      `UPDATE reconcile_queue.job j SET start_after = least(j.start_after, now()), group_id = t.tenant, group_tier = t.tier,
         data = j.data || ${keptCause("j.data", "t.cause")}
       FROM jsonb_to_recordset($1::jsonb) AS t (key text, tenant text, tier text, cause text)
       WHERE j.name = '${rounds}' AND j.singleton_key = t.key AND j.state < 'active'`,
      [keptJson(triggers.map((one) => ({ ...one, key: keyOf(one), tier: tierOf(one.tenant, one.service) })))],
    );
    // What waits already stays as it is.
    await boss.insert(
      rounds,
      triggers.map((one) => {
        const { data, options } = jobOf(one, undefined);
        return { data, ...options };
      }),
    );
  }

  return {
    async enqueue(trigger) {
      const at = trigger.at ?? new Date();
      const afterMs = msUntil(at);
      const isDue = afterMs === 0;
      if (isDue && (await joined(trigger)).inTurn === true) return;
      const turn = trigger.turn ?? (isDue ? await turnOf(database, trigger.tenant) : undefined);
      const { data, options } = jobOf(trigger, turn);
      if ((await boss.send(rounds, data, options)) !== null) return;
      // A round waits already. Where it waits for a later time, such as the stack's next interval, it comes forward.
      await database.query(
        `UPDATE reconcile_queue.job SET start_after = least(start_after, now() + $2 * interval '1 millisecond'), data = data || $4::jsonb
           || CASE WHEN start_after > now() + $2 * interval '1 millisecond' THEN ${keptCause("data", "$3::text")} ELSE '{}' END
         WHERE name = '${rounds}' AND singleton_key = $1 AND state = 'created'`,
        [keyOf(trigger), afterMs, trigger.cause, keptJson(onlyDefined({ again: trigger.again }))],
      );
    },
    async hasten(trigger) {
      const { inTurn = false, ...kept } = await joined(trigger);
      if (inTurn) return;
      const start = await turnOf(database, trigger.tenant);
      const { data, options } = jobOf({ ...trigger, ...kept, at: new Date() }, start);
      await boss.upsert(rounds, data, options);
    },
    hastenAll,
    async tend() {
      const isLost = await tendRounds(database);
      if (isLost) await boss.supervise(rounds);
      // What was lost waits again now.
      if (isLost) await tendRounds(database);
    },
    async maintain() {
      await boss.supervise(rounds);
      await hastenAll(await lostRounds(database));
    },
    async forget(stack) {
      const open = await database.query(`SELECT FROM ${tables}.runs WHERE stack = $1 AND ended_at IS NULL`, [stack]);
      if (open.length > 0) return;
      const waiting = await boss.findJobs(rounds, { key: stack, queued: true });
      if (waiting.length > 0)
        await boss.cancel(
          rounds,
          waiting.map(({ id }) => id),
        );
    },
    take: (taken) => void Object.assign(limits, limitsOf(taken)),
    wake() {
      if (free?.id !== undefined) boss.notifyWorker(free.id);
    },
    async work({ concurrency, hears = false, round, ...taken }) {
      Object.assign(limits, limitsOf(taken));
      /**
       * The queue reads the limits at each look, also of a place that was opened before there were any, and refuses one of
       * none where a place is opened.
       */
      const openAt = (handler: WorkWithMetadataHandler<RoundData>): Promise<string> => {
        const { default: others } = limits;
        limits.default = Math.max(1, others);
        const opened = boss.work(
          rounds,
          {
            batchSize: 1,
            includeMetadata: true,
            pollingIntervalSeconds: hears ? quietS : lookS,
            heartbeatRefreshSeconds: 3,
            groupConcurrency: limits,
          },
          handler,
        );
        limits.default = others;
        return opened;
      };
      // At most one place waits for a round, however many places there may be: each waiting place asks the database,
      // and all of them would at each round that is sent. The place that takes a round opens the next one.
      let places = 0;
      let lent = 0;
      const open = async (): Promise<void> => {
        if (isDraining || free !== undefined || places >= concurrency + lent) return;
        const place: Place = { isOpen: true };
        places += 1;
        free = place;
        place.id = await openAt(async (jobs) => {
          if (free === place) free = undefined;
          open().catch(onError);
          try {
            for (const job of jobs) {
              const { stack, cause, startedBy, pull, turn } = job.data;
              const again = job.retryCount > 0 ? (true as const) : job.data.again;
              await round({ stack, cause, ...onlyDefined({ turn, startedBy, pull, again }), signal: job.signal, lend });
            }
          } finally {
            if (free !== undefined || places > concurrency + lent) close(place);
            else if (place.isOpen) {
              free = place;
              // All places had rounds, so there may be more waiting: the place looks at once.
              if (place.id !== undefined) boss.notifyWorker(place.id);
            }
            open().catch(onError);
          }
        });
      };
      /** Closes a place; a round that runs in it is ended first. */
      const close = (place: Place): void => {
        if (!place.isOpen) return;
        place.isOpen = false;
        places -= 1;
        if (place.id !== undefined) void boss.offWork(rounds, { id: place.id, wait: false }).catch(onError);
      };
      const lend = (): (() => void) | undefined => {
        // Rounds in lent places may come to wait as well, and those that wait may all go on at once.
        if (isDraining || lent >= Math.max(concurrency, leastLent)) return undefined;
        lent += 1;
        open().catch(onError);
        return () => {
          lent -= 1;
          if (free === undefined || places <= concurrency + lent) return;
          close(free);
          free = undefined;
        };
      };
      await open();
    },
    async load() {
      const rows = await database.query(
        `SELECT coalesce(group_id, 'default') AS tenant, count(*) FILTER (WHERE state < 'active' AND start_after <= now())::int AS waiting,
           count(*) FILTER (WHERE state = 'active')::int AS running
         FROM reconcile_queue.job WHERE name = '${rounds}' AND state <= 'active' GROUP BY 1 ORDER BY 1`,
      );
      return rows.map((row) => recordOf(row));
    },
    async behind(tenants) {
      const rows = await database.query(
        `SELECT data ->> 'stack' AS stack, group_id AS tenant FROM reconcile_queue.job
         WHERE name = '${rounds}' AND state < 'active' AND start_after < now() - interval '1 second' AND group_id = ANY($1)
           AND NOT data ? 'pull' LIMIT 2000`,
        [tenants],
      );
      return rows.map((row) => recordOf(row));
    },
    async unserved() {
      const rows = await database.query(
        `SELECT data ->> 'stack' AS stack, ${serviceIn} AS service FROM reconcile_queue.job
         WHERE name = '${rounds}' AND state < 'active' AND start_after < now() - interval '1 second' AND NOT data ? 'pull'
           AND NOT ${isServed} LIMIT 2000`,
      );
      return rows.map((row) => recordOf(row));
    },
    async drain() {
      isDraining = true;
      await boss.offWork(rounds, { wait: true });
    },
    close,
  };
}

/** A waiting round that a person asked for stays theirs, with the newest files, whatever asks for it besides. */
const keptCause = (data: string, cause: string): string =>
  `CASE WHEN ${data} ? 'startedBy' THEN '{}' ELSE jsonb_build_object('cause', ${cause}) END`;

/** Of a waiting round: its time has come, and it has its turn. */
const isInTurn = "(start_after <= now() AND data ? 'turn')";
const serviceIn = "split_part(group_tier, ' ', 2)";
/** A worker that lives takes rounds of that service. */
const isServed = `EXISTS (SELECT FROM ${tables}.workers w WHERE NOT w.draining AND ${isAlive(10)}
  AND (w.services = '[]' OR strpos(group_tier, ' ') = 0 OR w.services ? ${serviceIn}))`;

/** When the turn of a tenant's next round begins; the tenant's clock moves on. */
async function turnOf(database: Database, tenant: string): Promise<number> {
  const [row] = await database.query(
    `WITH before AS (SELECT coalesce(t.finish, 0) AS finish, coalesce(t.weight, 1) AS weight, s.start AS served
         FROM ${tables}.served s LEFT JOIN ${tables}.tenants t ON t.name = $1),
       moved AS (INSERT INTO ${tables}.tenants AS t (name, weight, finish)
         SELECT $1, weight, GREATEST(finish, served) + 1 / weight FROM before
         ON CONFLICT (name) DO UPDATE SET finish = GREATEST(t.finish, (SELECT served FROM before)) + 1 / t.weight
         RETURNING t.finish, t.weight)
     SELECT moved.finish, moved.weight, before.served FROM moved, before`,
    [tenant],
  );
  const numberIn = (column: string): number => Number(row?.[column] ?? 1);
  const [finish, weight, served] = [numberIn("finish"), numberIn("weight"), numberIn("served")];
  if (clockIsFar(served)) await setBack(database, served);
  return finish - 1 / weight;
}

/**
 * Rounds that are due and still wait take their turns in the order of their times; each tenant's clock moves on by as
 * many as it has. A round that is being taken at this moment needs none. Workers are told that there are rounds: at once
 * of new ones, and now and then of those that wait for long. True: rounds of dead workers are among those that run.
 */
async function tendRounds(database: Database): Promise<boolean> {
  const [row] = await database.query(
    `WITH due AS (SELECT id, group_id, start_after FROM reconcile_queue.job
         WHERE name = '${rounds}' AND state = 'created' AND start_after <= now() AND priority = ${withoutTurn} FOR UPDATE SKIP LOCKED),
       clock AS (SELECT t.name, t.weight, GREATEST(t.finish, s.start) AS start FROM ${tables}.tenants t, ${tables}.served s
         WHERE t.name IN (SELECT group_id FROM due) FOR UPDATE OF t),
       turn AS (SELECT due.id, clock.start + (row_number() OVER (PARTITION BY group_id ORDER BY start_after, id) - 1) / clock.weight AS start
         FROM due JOIN clock ON clock.name = due.group_id),
       moved AS (UPDATE ${tables}.tenants t SET finish = clock.start + mine.n / clock.weight
         FROM clock, (SELECT group_id, count(*) AS n FROM due GROUP BY 1) mine WHERE t.name = clock.name AND mine.group_id = t.name),
       given AS (UPDATE reconcile_queue.job j SET priority = GREATEST(${withoutTurn + 1}, -floor(turn.start * ${perUnit})),
         data = j.data || jsonb_build_object('turn', turn.start)
         FROM turn WHERE j.name = '${rounds}' AND j.id = turn.id)
     SELECT EXISTS (SELECT FROM reconcile_queue.job WHERE name = '${rounds}' AND state = 'active'
         AND heartbeat_on < now() - heartbeat_seconds * interval '1 second') AS lost,
       (SELECT pg_notify('${roundChannel}', '${rounds}')
         FROM (SELECT FROM reconcile_queue.job WHERE name = '${rounds}' AND state < 'active' AND start_after <= now()
           AND (start_after > now() - interval '3 seconds' OR extract(epoch FROM now())::bigint % 5 = 0) AND ${isServed} LIMIT 1) waiting)`,
  );
  return row?.["lost"] === true;
}

/**
 * Stacks that nothing would look at again: the queue was lost, or it deleted rounds that nobody took for a month. One
 * that was given up has no next round.
 */
async function lostRounds(database: Database): Promise<readonly Trigger[]> {
  const rows = await database.query(
    `SELECT s.name AS stack, s.spec ->> 'tenant' AS tenant, s.spec ->> 'service' AS service FROM ${tables}.stacks s
     WHERE NOT s.paused AND coalesce(s.next_at < now() - interval '1 minute', s.status -> 'stalled' <> 'true')
       AND NOT EXISTS (SELECT FROM reconcile_queue.job WHERE name = '${rounds}' AND singleton_key = s.name AND state <= 'active')`,
  );
  return rows.map((row) => ({ ...recordOf<Trigger>(row), cause: "interval" }));
}

/** Sets back all clocks and all waiting rounds, so that their order stays. */
async function setBack(database: Database, by: number): Promise<void> {
  await database.query(
    `WITH clock AS (UPDATE ${tables}.served SET start = start - $1 WHERE start >= $1 RETURNING start),
       tenant AS (UPDATE ${tables}.tenants SET finish = finish - $1 WHERE EXISTS (SELECT FROM clock))
     UPDATE reconcile_queue.job SET priority = priority + $2,
       data = data || jsonb_build_object('turn', (data ->> 'turn')::double precision - $1)
     WHERE name = '${rounds}' AND state < 'active' AND data ? 'turn' AND EXISTS (SELECT FROM clock)`,
    [by, Math.floor(by * perUnit)],
  );
}

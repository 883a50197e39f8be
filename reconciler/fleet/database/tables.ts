/**
 * The fleet's tables, made and brought up to date by the first worker that comes. Changes only add, so that a worker of
 * the former version goes on with the same tables and workers are replaced one by one.
 */
import { beginMaking, hasSchema } from "../../store/make-once";
import type { Database } from "./database";

export const schema = "reconcile_fleet";

/** The condition for runs that a history shows; an index has the same condition. */
export const telling = "(result IS NULL OR result IN ('applied', 'failed', 'taken_over'))";

/** The stack $1, of which whoever releases it deletes what is kept; it is not released before the statement has ended. */
export const ifStackStays = `FROM ${schema}.stacks WHERE name = $1 FOR NO KEY UPDATE`;

/** The reason of a run whose worker died; a run that its worker handed over has another reason. */
const noSign = "its worker gave no sign of life any more";
/** One that did not hear that the run had begun, or could not say that it had ended. */
const cutOff = "its worker lives, and was cut off from the database";

/**
 * Begins a run, or says why not now. Between looking and writing nobody else begins one that would change the answer:
 * runs of a service with a limit come one after the other here, and so do suspects of one worker. A suspect is a stack
 * whose last workers were lost. When two were, either it kills its workers or it ran beside the one that does: it runs
 * beside no other suspect then, so that the next death is its own, and one that is innocent is cleared by ending once.
 * Each statement of a function sees what was committed before it, which one statement with a lock in it does not.
 */
const beginRun = (
  create: "CREATE" | "CREATE OR REPLACE",
  isNoDeath: string,
  less: string,
  blame: { readonly column: string; readonly count: string; readonly counted: string } = byNumber,
  taken: { readonly isOther: string; readonly reason: string } = asDead,
): string => `${create} FUNCTION ${schema}.begin_run(of_stack text, why text, person text, by_worker text, standing jsonb,
     of_service text, most int, most_lost int)
   RETURNS TABLE (run bigint, open_runs int, lost_before int, held text${blame.column}) LANGUAGE plpgsql AS $body$
   DECLARE last_known bigint; lost_now int;
   BEGIN
     IF most IS NOT NULL THEN PERFORM pg_advisory_xact_lock(hashtext('reconcile-fleet service'), hashtext(of_service)); END IF;
     PERFORM pg_advisory_xact_lock(hashtext('reconcile-fleet worker'), hashtext(by_worker));
     SELECT count(*) INTO open_runs FROM ${schema}.runs r WHERE r.stack = of_stack AND r.ended_at IS NULL;
     SELECT coalesce(max(r.id), 0) INTO last_known FROM ${schema}.runs r WHERE r.stack = of_stack AND r.ended_at IS NOT NULL
       AND (r.result <> 'taken_over' OR ${taken.isOther});
     -- One that gave a sign of life since was only cut off for a while.
     SELECT count(*) INTO lost_before FROM ${schema}.runs r WHERE r.stack = of_stack AND r.id > last_known AND r.ended_at IS NOT NULL
       AND NOT EXISTS (SELECT FROM ${schema}.workers w WHERE w.name = r.worker AND ${isNoDeath});${less}
     lost_now := open_runs + lost_before;${blame.count}
     IF most IS NOT NULL AND most <= (SELECT count(*) FROM ${schema}.runs r JOIN ${schema}.stacks s ON s.name = r.stack
         WHERE r.ended_at IS NULL AND s.spec ->> 'service' = of_service AND r.stack <> of_stack) THEN
       held := 'service';
     ELSIF ${blame.counted} AND EXISTS (SELECT FROM ${schema}.runs r
         WHERE r.worker = by_worker AND r.ended_at IS NULL AND r.stack <> of_stack AND r.lost > 0 AND greatest(r.lost, lost_now) > 1) THEN
       held := 'suspect';
     ELSE
       UPDATE ${schema}.runs r SET ended_at = now(), result = 'taken_over', reason = ${taken.reason} || by_worker || ' went on'
         WHERE r.stack = of_stack AND r.ended_at IS NULL;
       UPDATE ${schema}.stacks s SET status = standing, changed_at = now() WHERE s.name = of_stack;
       INSERT INTO ${schema}.runs AS r (stack, cause, started_by, worker, lost)
         VALUES (of_stack, CASE WHEN open_runs > 0 THEN 'taken over' ELSE why END, person, by_worker, lost_now) RETURNING r.id INTO run;
     END IF;
     RETURN NEXT;
   END $body$;`;

/** The queue gives the round of a dead worker to another one seven seconds after its death at the earliest. */
const livesS = "interval '6 seconds'";
const diesUntold = "(w.alive_at > r.ended_at OR w.draining)";
const lessOpen = (isNoDeath: string): string => `
     lost_before := lost_before - (SELECT count(*) FROM ${schema}.runs r JOIN ${schema}.workers w ON w.name = r.worker
       WHERE r.stack = of_stack AND r.ended_at IS NULL AND ${isNoDeath});`;
const lessUntold = lessOpen("w.draining");
const livesOrEnds = (at: string): string => `(w.alive_at > ${at} - ${livesS} OR w.draining OR w.name = by_worker)`;
const lessLiving = `${lessOpen(livesOrEnds("now()"))}
     UPDATE ${schema}.workers SET alive_at = now() WHERE name = by_worker;`;

const asDead = { isOther: `r.reason NOT LIKE '${noSign}%'`, reason: `'${noSign}; '` };
/** How a run begins to tell why another worker went on with it. */
export const whyTakenOver = `CASE WHEN EXISTS (SELECT FROM ${schema}.workers w WHERE w.name = r.worker AND w.alive_at > now() - ${livesS})
     THEN '${cutOff}; ' ELSE '${noSign}; ' END`;
const storedAsIs = {
  isOther: `r.reason NOT LIKE '${noSign}%' AND r.reason NOT LIKE '${cutOff}%'`,
  reason: whyTakenOver,
};

/** Each death counts. */
const byNumber = { column: "", count: "", counted: "lost_now BETWEEN 1 AND most_lost - 1" };
/**
 * Where nothing of its host was seen since, the machine went away with the worker, mostly because somebody took it: such
 * a death counts half. Where another worker of that host lives or was started since, the worker alone died.
 */
const byHost = {
  column: ", blamed int",
  count: `
     SELECT lost_now - (count(*) + 1) / 2 INTO blamed FROM ${schema}.runs r LEFT JOIN ${schema}.workers d ON d.name = r.worker
       WHERE r.stack = of_stack AND (r.ended_at IS NULL OR r.id > last_known) AND NOT coalesce(d.draining, false)
         AND split_part(r.worker, ':', 1) <> split_part(by_worker, ':', 1)
         AND NOT EXISTS (SELECT FROM ${schema}.workers w WHERE w.name = r.worker AND w.alive_at > r.ended_at)
         AND NOT EXISTS (SELECT FROM ${schema}.workers w WHERE split_part(w.name, ':', 1) = split_part(r.worker, ':', 1) AND w.name <> r.worker
           AND (w.started_at > coalesce(d.alive_at, r.started_at) OR w.alive_at > coalesce(d.alive_at, r.started_at) + interval '8 seconds'));`,
  counted: "lost_now > 0 AND blamed < most_lost",
};

/** A released migration never changes; a new version adds one. */
const migrations: readonly string[] = [
  `CREATE TABLE ${schema}.documents (name text PRIMARY KEY, body jsonb NOT NULL, changed_at timestamptz NOT NULL DEFAULT now());
   CREATE TABLE ${schema}.stacks (
     name text PRIMARY KEY,
     spec jsonb NOT NULL,
     status jsonb NOT NULL,
     paused boolean NOT NULL DEFAULT false,
     jitter double precision NOT NULL DEFAULT random(),
     outputs jsonb NOT NULL DEFAULT '{}',
     outputs_used jsonb NOT NULL DEFAULT '{}',
     files jsonb NOT NULL DEFAULT '[]',
     approval jsonb,
     leaving text,
     next_at timestamptz,
     changed_at timestamptz NOT NULL DEFAULT now());
   CREATE TABLE ${schema}.plans (
     stack text PRIMARY KEY,
     digest text NOT NULL,
     revision text NOT NULL,
     body jsonb NOT NULL,
     made_at timestamptz NOT NULL DEFAULT now());
   CREATE TABLE ${schema}.runs (
     id bigserial PRIMARY KEY,
     stack text NOT NULL,
     cause text NOT NULL,
     started_by text,
     worker text NOT NULL,
     started_at timestamptz NOT NULL DEFAULT now(),
     ended_at timestamptz,
     result text,
     reason text,
     revision text,
     plan text,
     approval jsonb,
     counts jsonb NOT NULL DEFAULT '{}',
     report jsonb);
   CREATE INDEX runs_of_stack ON ${schema}.runs (stack, id DESC);
   CREATE INDEX runs_open ON ${schema}.runs (id) WHERE ended_at IS NULL;
   CREATE TABLE ${schema}.run_lines (run bigint NOT NULL, line bigserial, at timestamptz NOT NULL DEFAULT now(), body jsonb NOT NULL,
     PRIMARY KEY (run, line));
   CREATE TABLE ${schema}.decisions (
     id bigserial PRIMARY KEY, at timestamptz NOT NULL DEFAULT now(), who text NOT NULL, what text NOT NULL,
     stack text, detail text);
   CREATE INDEX decisions_of_stack ON ${schema}.decisions (stack, id DESC);
   CREATE TABLE ${schema}.budgets (
     service text PRIMARY KEY, per_second double precision NOT NULL, burst double precision NOT NULL,
     tat double precision NOT NULL DEFAULT 0, paused_until timestamptz, refusals bigint NOT NULL DEFAULT 0, used bigint NOT NULL DEFAULT 0);
   CREATE TABLE ${schema}.tenants (name text PRIMARY KEY, weight double precision NOT NULL DEFAULT 1, finish double precision NOT NULL DEFAULT 0);
   CREATE TABLE ${schema}.served (one boolean PRIMARY KEY DEFAULT true CHECK (one), start double precision NOT NULL DEFAULT 0);
   INSERT INTO ${schema}.served DEFAULT VALUES;
   CREATE TABLE ${schema}.workers (
     name text PRIMARY KEY, started_at timestamptz NOT NULL DEFAULT now(), alive_at timestamptz NOT NULL DEFAULT now(),
     version text NOT NULL, concurrency int NOT NULL, doing jsonb NOT NULL DEFAULT '[]', draining boolean NOT NULL DEFAULT false);
   CREATE TABLE ${schema}.repositories (url text NOT NULL, ref text NOT NULL, revision text, looked_at timestamptz, PRIMARY KEY (url, ref));
   CREATE TABLE ${schema}.tokens (
     hash text PRIMARY KEY, name text NOT NULL, role text NOT NULL, stacks jsonb NOT NULL DEFAULT '[]', made_at timestamptz NOT NULL DEFAULT now(), until timestamptz);
   CREATE TABLE ${schema}.sessions (
     hash text PRIMARY KEY, name text NOT NULL, role text NOT NULL, stacks jsonb NOT NULL DEFAULT '[]', until timestamptz NOT NULL);`,
  `ALTER TABLE ${schema}.sessions ADD COLUMN grants jsonb;
   CREATE TABLE ${schema}.sign_ins (state text PRIMARY KEY, until timestamptz NOT NULL);
   CREATE TABLE ${schema}.pictures (stack text PRIMARY KEY, body jsonb NOT NULL, seen_at timestamptz NOT NULL DEFAULT now());
   ALTER TABLE ${schema}.stacks ADD COLUMN picture text;`,
  `CREATE INDEX runs_ended ON ${schema}.runs (ended_at) WHERE ended_at IS NOT NULL;
   CREATE INDEX decisions_at ON ${schema}.decisions (at);`,
  `CREATE INDEX runs_telling ON ${schema}.runs (id) WHERE (result IS NULL OR result IN ('applied', 'failed', 'taken_over'));`,
  `ALTER TABLE ${schema}.runs ADD COLUMN lost int NOT NULL DEFAULT 0;
   CREATE INDEX runs_open_of_worker ON ${schema}.runs (worker) WHERE ended_at IS NULL;
   ${beginRun("CREATE", "w.alive_at > r.ended_at", "")}`,
  `CREATE INDEX stacks_depend_on ON ${schema}.stacks USING gin ((spec -> 'dependsOn'));`,
  `ALTER TABLE ${schema}.stacks ADD COLUMN rejection jsonb;`,
  `ALTER TABLE ${schema}.repositories ADD COLUMN failures int NOT NULL DEFAULT 0, ADD COLUMN why text;
   CREATE TABLE ${schema}.letters (
     id bigserial PRIMARY KEY, place text NOT NULL, receiver jsonb NOT NULL, body jsonb NOT NULL,
     made_at timestamptz NOT NULL DEFAULT now(), next_at timestamptz NOT NULL DEFAULT now(), tries int NOT NULL DEFAULT 0, why text);
   CREATE INDEX letters_due ON ${schema}.letters (next_at);
   CREATE INDEX letters_of_place ON ${schema}.letters (place);`,
  `ALTER TABLE ${schema}.stacks ADD COLUMN stopping jsonb;`,
  `ALTER TABLE ${schema}.stacks ADD COLUMN undoing jsonb;`,
  `CREATE TABLE ${schema}.pulls (
     url text NOT NULL, number int NOT NULL, ref text NOT NULL, base text NOT NULL, head text NOT NULL, author text NOT NULL,
     outside boolean NOT NULL, link text NOT NULL, updated_at text NOT NULL, why text, said text, last_comment text, comment text,
     mark text NOT NULL, version bigint NOT NULL DEFAULT 1, told_version bigint NOT NULL DEFAULT 0, telling_until timestamptz,
     closed_at timestamptz, PRIMARY KEY (url, number));
   CREATE TABLE ${schema}.pull_plans (
     url text NOT NULL, number int NOT NULL, stack text NOT NULL, head text NOT NULL, content text NOT NULL, result text NOT NULL,
     digest text, body jsonb, why text, approval jsonb, told text, made_at timestamptz, PRIMARY KEY (url, number, stack));
   CREATE INDEX pull_plans_of_stack ON ${schema}.pull_plans (stack);`,
  `ALTER TABLE ${schema}.workers ADD COLUMN services jsonb NOT NULL DEFAULT '[]';`,
  // A worker that was told to end and did not get to it, because its machine was taken away, was not killed by a stack.
  beginRun("CREATE OR REPLACE", diesUntold, lessUntold),
  `ALTER TABLE ${schema}.workers ADD COLUMN due_at timestamptz;`,
  // A machine that was taken away without a word was not killed by the stack that ran there.
  `DROP FUNCTION ${schema}.begin_run(text, text, text, text, jsonb, text, int, int);
   ${beginRun("CREATE", diesUntold, lessUntold, byHost)}`,
  `ALTER TABLE ${schema}.workers ADD COLUMN troubles jsonb NOT NULL DEFAULT '[]';`,
  `ALTER TABLE ${schema}.repositories ADD COLUMN woken text;
   UPDATE ${schema}.repositories SET woken = revision;`,
  `ALTER TABLE ${schema}.stacks ADD COLUMN resumed_at timestamptz;`,
  // A worker that lives, and did not hear that its run had begun or could not say that it had ended, was not killed. One
  // that had nothing to do may have given no sign of life for a minute: that it begins a run is one.
  beginRun("CREATE OR REPLACE", livesOrEnds("r.ended_at"), lessLiving, byHost),
  // Of a worker that lives nobody is told that it gave no sign of life.
  beginRun("CREATE OR REPLACE", livesOrEnds("r.ended_at"), lessLiving, byHost, storedAsIs),
  `ALTER TABLE ${schema}.letters ADD COLUMN held_until timestamptz;`,
];

/**
 * Each step is a transaction of its own, as all that is sent at once is: it holds the table that it changes and no other
 * one, so that it and a worker of an earlier version that is at work meanwhile cannot wait for each other. `upTo`: the
 * tables as an earlier version left them.
 */
export async function prepareTables(database: Database, upTo = migrations.length): Promise<void> {
  const [found] = await database.query(`SELECT to_regclass($1) IS NOT NULL AS there, ${hasSchema("$2")} AS within`, [
    `${schema}.version`,
    schema,
  ]);
  const version = found?.["there"] === true ? await versionOf(database) : 0;
  for (const [index, migration] of migrations.slice(0, upTo).entries()) {
    const own = index + 1;
    if (own <= version) continue;
    // The later one of two workers finds it done.
    await database.run(
      [
        ...beginMaking("reconcile-fleet", schema, found?.["within"] === true),
        `CREATE TABLE IF NOT EXISTS ${schema}.version (version int PRIMARY KEY)`,
        `DO $step$ BEGIN
           IF (SELECT coalesce(max(version), 0) FROM ${schema}.version) < ${own} THEN
             ${migration}
             INSERT INTO ${schema}.version VALUES (${own});
           END IF;
         END $step$`,
      ].join(";\n"),
    );
  }
}

async function versionOf(database: Database): Promise<number> {
  const rows = await database.query(`SELECT coalesce(max(version), 0) AS version FROM ${schema}.version`);
  return Number(rows[0]?.["version"] ?? 0);
}

/** What the fleet keeps, by name: stacks, plans that wait, runs, decisions, workers. Each function is one statement. */

import type { Graph } from "../../report/graph";
import { type Grant, isRole, type Visitor } from "../access";
import type { Approval } from "../decide";
import type { History, Settings, StackSpec } from "../model";
import { noSettings } from "../model";
import type { Picture } from "../picture";
import { newStatus, type Status } from "../status";
import { type Database, maybeText, maybeTime, type Row, textOf, timeOf } from "./database";
import { schema } from "./tables";

export interface StackRecord {
  readonly name: string;
  readonly spec: StackSpec;
  readonly status: Status;
  readonly paused: boolean;
  readonly jitter: number;
  readonly outputs: Readonly<Record<string, unknown>>;
  /** The outputs of others that its last apply used. */
  readonly outputsUsed: Readonly<Record<string, unknown>>;
  /** What its files read outside of its own folder, from the root of the repository. */
  readonly files: readonly string[];
  readonly approval?: Approval;
  /** It is gone from the file: what it made is to be deleted once that is approved. */
  readonly leaving: boolean;
  /** The digest of its picture; absent: there is none yet. */
  readonly picture?: string;
  readonly nextAt?: Date;
  readonly lastRun?: RunRecord;
}

/** What finding and counting thousands of stacks takes, and no more. */
export interface StackOutline extends Pick<StackRecord, "name" | "status" | "paused"> {
  readonly tenant: string;
  readonly service?: string;
  /** Absent: it has not run yet. */
  readonly lastRun?: true;
}

export interface RunRecord {
  readonly id: number;
  readonly stack: string;
  readonly cause: string;
  readonly startedBy?: string;
  readonly worker: string;
  readonly startedAt: Date;
  readonly endedAt?: Date;
  readonly result?: RunResult;
  readonly reason?: string;
  readonly revision?: string;
  readonly plan?: string;
  readonly approval?: Approval;
  readonly counts: Readonly<Record<string, number>>;
  readonly report?: RunReport;
}

/** Of a run that changed the world: the plan that it carried out, and what was permitted for it. */
export interface RunReport {
  readonly plan: string;
  readonly consents: readonly string[];
  readonly opens: readonly string[];
}

export type RunResult = "in_sync" | "applied" | "failed" | "taken_over" | "observed" | "awaiting_approval" | "blocked";

export interface WaitingPlan {
  readonly stack: string;
  readonly digest: string;
  readonly revision: string;
  readonly madeAt: Date;
  readonly body: PlanBody;
}

/** What a person reads before approving. */
export interface PlanBody {
  /** As in the terminal, without colours. */
  readonly text: string;
  readonly consents: readonly { readonly detail: string; readonly grant: string }[];
  readonly opens: readonly string[];
  readonly why: string;
  readonly exposure?: string;
  /** Its steps and their order; absent: there are too many. */
  readonly graph?: Graph;
}

export interface WorkerRecord {
  readonly name: string;
  readonly startedAt: Date;
  readonly aliveAt: Date;
  readonly version: string;
  readonly concurrency: number;
  readonly doing: readonly { readonly stack: string; readonly since: string }[];
  readonly draining: boolean;
}

export interface BudgetRecord {
  readonly service: string;
  readonly perSecond: number;
  readonly pausedUntil?: Date;
  readonly refusals: number;
  readonly used: number;
  /** From 0 to 1: how much of what may be sent at once is reserved at this moment. */
  readonly reserved: number;
}

export interface DecisionRecord {
  readonly id: number;
  readonly at: Date;
  readonly who: string;
  readonly what: string;
  readonly stack?: string;
  readonly detail?: string;
}

export const createRecords = (database: Database) => ({
  ...stackStatements(database),
  ...runStatements(database),
  ...decisionStatements(database),
  ...workerStatements(database),
});
export type Records = ReturnType<typeof createRecords>;

/** What this program alone writes into columns that hold more than a word, by table and column. */
interface Columns {
  readonly "documents.body": Settings;
  readonly "pictures.body": Picture;
  readonly "plans.body": PlanBody;
  readonly "stacks.approval": Approval | null;
  readonly "stacks.spec": StackSpec;
  readonly "stacks.status": Partial<Status>;
  readonly "stacks.outputs": Record<string, unknown>;
  readonly "stacks.outputs_used": Record<string, unknown>;
  readonly "stacks.files": string[];
  readonly "run_lines.body": Row;
  readonly "runs.counts": Record<string, number> | null;
  readonly "runs.result": RunResult | null;
  readonly "runs.approval": Approval | null;
  readonly "sessions.grants": readonly Grant[] | null;
  readonly "runs.report": RunReport | null;
  readonly "tokens.stacks": string[];
  readonly "workers.doing": WorkerRecord["doing"];
}

// The database gives back what was written, and nothing else writes there.
const written = <C extends keyof Columns>(row: Row, column: C): Columns[C] =>
  row[column.slice(column.indexOf(".") + 1)] as Columns[C];

const stackStatements = ({ query }: Database) => ({
  async settings(): Promise<Settings> {
    const rows = await query(`SELECT body FROM ${schema}.documents WHERE name = 'settings'`);
    return rows[0] === undefined ? noSettings : written(rows[0], "documents.body");
  },
  async saveSettings(settings: Settings): Promise<void> {
    await query(
      `INSERT INTO ${schema}.documents (name, body) VALUES ('settings', $1)
       ON CONFLICT (name) DO UPDATE SET body = $1, changed_at = now()`,
      [JSON.stringify(settings)],
    );
    await query(
      `INSERT INTO ${schema}.budgets (service, per_second, burst)
       SELECT s.name, s.rate, s.burst FROM jsonb_to_recordset($1::jsonb) AS s (name text, rate double precision, burst double precision)
       ON CONFLICT (service) DO UPDATE SET per_second = excluded.per_second, burst = excluded.burst`,
      [
        JSON.stringify(
          settings.services.map(({ name, budget }) => ({
            name,
            rate: budget?.perSecond ?? 0,
            burst: budget?.burst ?? 0,
          })),
        ),
      ],
    );
    await query(
      `INSERT INTO ${schema}.tenants (name, weight)
       SELECT t.name, t.weight FROM jsonb_to_recordset($1::jsonb) AS t (name text, weight double precision)
       ON CONFLICT (name) DO UPDATE SET weight = excluded.weight`,
      [JSON.stringify([{ name: "default", weight: 1 }, ...settings.tenants])],
    );
  },
  async stacks(): Promise<readonly StackRecord[]> {
    return (await query(`${selectStacks} ORDER BY s.name`)).map(stackOf);
  },
  async outlines(): Promise<readonly StackOutline[]> {
    const rows = await query(
      `SELECT name, status, paused, spec ->> 'tenant' AS tenant, spec ->> 'service' AS service,
         CASE WHEN status ->> 'ready' = 'true' THEN true ELSE EXISTS (SELECT FROM ${schema}.runs WHERE stack = s.name) END AS ran
       FROM ${schema}.stacks s ORDER BY name`,
    );
    return rows.map((row) => {
      const service = maybeText(row["service"]);
      return {
        name: textOf(row["name"]),
        status: { ...newStatus, ...written(row, "stacks.status") },
        paused: row["paused"] === true,
        tenant: textOf(row["tenant"]),
        ...(service === undefined ? {} : { service }),
        ...(row["ran"] === true ? { lastRun: true } : {}),
      };
    });
  },
  async stacksNamed(names: readonly string[]): Promise<ReadonlyMap<string, StackRecord>> {
    const found = (await query(`${selectStacks} WHERE s.name = ANY($1)`, [names])).map(stackOf);
    return new Map(found.map((stack) => [stack.name, stack]));
  },
  async stack(name: string): Promise<StackRecord | undefined> {
    return (await query(`${selectStacks} WHERE s.name = $1`, [name])).map(stackOf)[0];
  },
  /** Who depends on it. */
  async dependents(name: string): Promise<readonly string[]> {
    const rows = await query(
      `SELECT name FROM ${schema}.stacks WHERE spec -> 'dependsOn' @> to_jsonb($1::text) ORDER BY name LIMIT 200`,
      [name],
    );
    return rows.map((row) => textOf(row["name"]));
  },
  async saveStack(spec: StackSpec): Promise<void> {
    await query(
      `INSERT INTO ${schema}.stacks (name, spec, status, paused) VALUES ($1, $2, $3, $4)
       ON CONFLICT (name) DO UPDATE SET spec = $2, leaving = NULL, changed_at = now(),
         paused = CASE WHEN ($2::jsonb -> 'paused') IS DISTINCT FROM (${schema}.stacks.spec -> 'paused') THEN $4 ELSE ${schema}.stacks.paused END`,
      [spec.name, JSON.stringify(spec), JSON.stringify(newStatus), spec.paused],
    );
  },
  async releaseStack(name: string): Promise<void> {
    await query(`DELETE FROM ${schema}.stacks WHERE name = $1`, [name]);
    await query(
      `WITH pictures AS (DELETE FROM ${schema}.pictures WHERE stack = $1) DELETE FROM ${schema}.plans WHERE stack = $1`,
      [name],
    );
  },
  async leaveStack(name: string): Promise<void> {
    await query(`UPDATE ${schema}.stacks SET leaving = 'destroy', approval = NULL WHERE name = $1`, [name]);
  },
  async pauseStack(name: string, paused: boolean): Promise<boolean> {
    return (
      (await query(`UPDATE ${schema}.stacks SET paused = $2 WHERE name = $1 RETURNING name`, [name, paused])).length > 0
    );
  },
  async saveStatus(name: string, status: Status): Promise<void> {
    await query(`UPDATE ${schema}.stacks SET status = $2, changed_at = now() WHERE name = $1`, [
      name,
      JSON.stringify(status),
    ]);
  },
  async saveOutputs(name: string, outputs: object, used: object): Promise<void> {
    await query(`UPDATE ${schema}.stacks SET outputs = $2, outputs_used = $3 WHERE name = $1`, [
      name,
      JSON.stringify(outputs),
      JSON.stringify(used),
    ]);
  },
  async saveFiles(name: string, files: readonly string[]): Promise<void> {
    await query(`UPDATE ${schema}.stacks SET files = $2 WHERE name = $1`, [name, JSON.stringify(files)]);
  },
  async savePicture(name: string, digest: string, picture: Picture): Promise<void> {
    await query(
      `WITH marked AS (UPDATE ${schema}.stacks SET picture = $2, changed_at = now() WHERE name = $1)
       INSERT INTO ${schema}.pictures (stack, body) VALUES ($1, $3)
       ON CONFLICT (stack) DO UPDATE SET body = $3, seen_at = now()`,
      [name, digest, JSON.stringify(picture)],
    );
  },
  async picture(name: string): Promise<{ readonly seenAt: Date; readonly picture: Picture } | undefined> {
    const rows = await query(`SELECT body, seen_at FROM ${schema}.pictures WHERE stack = $1`, [name]);
    return rows.map((row) => ({ seenAt: timeOf(row["seen_at"]), picture: written(row, "pictures.body") }))[0];
  },
  /** The plan that waits now; an approval of another one is void with it, and with `voids` one of this as well. */
  async savePlan(
    stack: string,
    plan: { digest: string; revision: string; body: PlanBody },
    { voids = false }: { readonly voids?: boolean } = {},
  ): Promise<void> {
    await query(
      `WITH voided AS (UPDATE ${schema}.stacks SET approval = NULL WHERE name = $1 AND ($5 OR approval ->> 'digest' <> $2))
       INSERT INTO ${schema}.plans (stack, digest, revision, body) VALUES ($1, $2, $3, $4)
       ON CONFLICT (stack) DO UPDATE SET revision = $3, body = $4,
         made_at = CASE WHEN ${schema}.plans.digest = $2 THEN ${schema}.plans.made_at ELSE now() END, digest = $2`,
      [stack, plan.digest, plan.revision, JSON.stringify(plan.body), voids],
    );
  },
  async dropPlan(stack: string): Promise<void> {
    await query(
      `WITH gone AS (DELETE FROM ${schema}.plans WHERE stack = $1)
       UPDATE ${schema}.stacks SET approval = NULL WHERE name = $1 AND approval IS NOT NULL`,
      [stack],
    );
  },
  async waitingPlan(stack: string): Promise<WaitingPlan | undefined> {
    const rows = await query(`SELECT stack, digest, revision, body, made_at FROM ${schema}.plans WHERE stack = $1`, [
      stack,
    ]);
    return rows.map((row) => ({
      stack: textOf(row["stack"]),
      digest: textOf(row["digest"]),
      revision: textOf(row["revision"]),
      body: written(row, "plans.body"),
      madeAt: timeOf(row["made_at"]),
    }))[0];
  },
  /** False: another plan waits by now, or none. */
  async approve(stack: string, approval: Approval): Promise<boolean> {
    const rows = await query(
      `UPDATE ${schema}.stacks s SET approval = $2 FROM ${schema}.plans p
       WHERE s.name = $1 AND p.stack = s.name AND p.digest = $3 RETURNING s.name`,
      [stack, JSON.stringify(approval), approval.digest],
    );
    return rows.length > 0;
  },
});

const selectStacks = `SELECT s.*, r.id AS run_id, r.stack AS run_stack, r.cause, r.started_by, r.worker, r.started_at, r.ended_at,
  r.result, r.reason, r.revision, r.plan, r.approval AS run_approval, r.counts
  FROM ${schema}.stacks s LEFT JOIN LATERAL (SELECT * FROM ${schema}.runs WHERE stack = s.name ORDER BY id DESC LIMIT 1) r ON true`;

function stackOf(row: Row): StackRecord {
  const approval = written(row, "stacks.approval") ?? undefined;
  const nextAt = maybeTime(row["next_at"]);
  const picture = maybeText(row["picture"]);
  return {
    name: textOf(row["name"]),
    spec: written(row, "stacks.spec"),
    status: { ...newStatus, ...written(row, "stacks.status") },
    paused: row["paused"] === true,
    jitter: Number(row["jitter"]),
    outputs: written(row, "stacks.outputs"),
    outputsUsed: written(row, "stacks.outputs_used"),
    files: written(row, "stacks.files"),
    leaving: row["leaving"] != null,
    ...(picture === undefined ? {} : { picture }),
    ...(approval === undefined ? {} : { approval }),
    ...(nextAt === undefined ? {} : { nextAt }),
    ...(row["run_id"] == null
      ? {}
      : { lastRun: runOf({ ...row, id: row["run_id"], stack: row["run_stack"], approval: row["run_approval"] }) }),
  };
}

/** So many in one statement: it is over soon, and holds nobody up. */
const mostForgotten = 2000;

export interface StartedRun {
  readonly id: number;
  /** Another worker had begun and not ended. */
  readonly tookOver: boolean;
  /** Workers that were lost in its rounds, one after the other. */
  readonly lost: number;
}

/** Why such a run ended; one that its worker handed over when it was stopped has another reason. */
const noSign = "its worker gave no sign of life any more";

/** Of the stack $1. */
const endLost = (worker: "$2" | "$4"): string => `UPDATE ${schema}.runs SET ended_at = now(), result = 'taken_over',
  reason = '${noSign}; ' || ${worker}::text || ' went on' WHERE stack = $1 AND ended_at IS NULL`;

const runStatements = ({ query }: Database) => ({
  /**
   * Begins a run, and shows its stack at work. A run of the same stack that nobody ended was its worker's last; `lost`
   * counts the workers that were lost in a row. One that gave a sign of life since was only cut off for a while.
   */
  async startRun(run: {
    stack: string;
    cause: string;
    startedBy?: string;
    worker: string;
    status: Status;
  }): Promise<StartedRun> {
    const rows = await query(
      `WITH lost AS (${endLost("$4")} RETURNING id),
         working AS (UPDATE ${schema}.stacks SET status = $5, changed_at = now() WHERE name = $1),
         last AS (SELECT coalesce(max(id), 0) AS id FROM ${schema}.runs WHERE stack = $1 AND ended_at IS NOT NULL
           AND (result <> 'taken_over' OR reason NOT LIKE '${noSign}%')),
         before AS (SELECT r.id FROM ${schema}.runs r, last WHERE r.stack = $1 AND r.id > last.id AND r.ended_at IS NOT NULL
           AND NOT EXISTS (SELECT FROM ${schema}.workers w WHERE w.name = r.worker AND w.alive_at > r.ended_at))
       INSERT INTO ${schema}.runs (stack, cause, started_by, worker)
         SELECT $1, CASE WHEN EXISTS (SELECT FROM lost) THEN 'taken over' ELSE $2 END, $3, $4
       RETURNING id, (SELECT count(*)::int FROM lost) AS open, (SELECT count(*)::int FROM before) AS before`,
      [run.stack, run.cause, run.startedBy ?? null, run.worker, JSON.stringify(run.status)],
    );
    const [open, before] = [Number(rows[0]?.["open"] ?? 0), Number(rows[0]?.["before"] ?? 0)];
    return { id: Number(rows[0]?.["id"]), tookOver: open > 0, lost: open + before };
  },
  /** Of a stack that is not run any more: what its dead worker left open holds no place. */
  async endLostRuns(stack: string, worker: string): Promise<void> {
    await query(endLost("$2"), [stack, worker]);
  },
  /** How the run ended and how its stack stands since, at once; false when another worker has taken it over. */
  async finishRun(
    id: number,
    end: {
      result: RunResult;
      reason: string | null;
      revision?: string;
      plan?: string;
      approval?: Approval;
      counts: Readonly<Record<string, number>>;
      report?: RunReport;
    },
    status: Status,
    nextAt: Date | null,
  ): Promise<boolean> {
    const rows = await query(
      `WITH mine AS (UPDATE ${schema}.runs SET ended_at = now(), result = $2, reason = $3, revision = $4, plan = $5,
           approval = $6, counts = $7, report = $10 WHERE id = $1 AND ended_at IS NULL RETURNING stack)
       UPDATE ${schema}.stacks s SET status = $8, next_at = $9, changed_at = now() FROM mine WHERE s.name = mine.stack RETURNING s.name`,
      [
        id,
        end.result,
        end.reason,
        end.revision ?? null,
        end.plan ?? null,
        end.approval === undefined ? null : JSON.stringify(end.approval),
        JSON.stringify(end.counts),
        JSON.stringify(status),
        nextAt,
        end.report === undefined ? null : JSON.stringify(end.report),
      ],
    );
    return rows.length > 0;
  },
  /** How many rounds of other stacks run against a service. */
  async runningIn(service: string, stack: string): Promise<number> {
    const rows = await query(
      `SELECT count(*)::int AS n FROM ${schema}.runs r JOIN ${schema}.stacks s ON s.name = r.stack
       WHERE r.ended_at IS NULL AND s.spec ->> 'service' = $1 AND r.stack <> $2`,
      [service, stack],
    );
    return Number(rows[0]?.["n"] ?? 0);
  },
  /** Each with the time at which it was said: they are written in batches. */
  async addLines(run: number, lines: readonly { readonly at: Date; readonly body: object }[]): Promise<void> {
    await query(
      `INSERT INTO ${schema}.run_lines (run, at, body)
       SELECT $1, (line ->> 'at')::timestamptz, line -> 'body' FROM jsonb_array_elements($2::jsonb) AS line`,
      [run, JSON.stringify(lines)],
    );
  },
  async lines(run: number, after = 0): Promise<readonly { line: number; at: Date; body: Row }[]> {
    const rows = await query(
      `SELECT line, at, body FROM ${schema}.run_lines WHERE run = $1 AND line > $2 ORDER BY line LIMIT 5000`,
      [run, after],
    );
    return rows.map((row) => ({
      line: Number(row["line"]),
      at: timeOf(row["at"]),
      body: written(row, "run_lines.body"),
    }));
  },
  /** The last ones, in their order. */
  async latestLines(run: number, most: number): Promise<readonly { at: Date; body: Row }[]> {
    const rows = await query(
      `SELECT at, body FROM (SELECT * FROM ${schema}.run_lines WHERE run = $1 ORDER BY line DESC LIMIT $2) last ORDER BY line`,
      [run, most],
    );
    return rows.map((row) => ({ at: timeOf(row["at"]), body: written(row, "run_lines.body") }));
  },
  async runs(stacks: string | readonly string[] | undefined, most: number): Promise<readonly RunRecord[]> {
    const rows = await query(
      `SELECT * FROM ${schema}.runs WHERE $1::text[] IS NULL OR stack = ANY($1) ORDER BY id DESC LIMIT $2`,
      [namesIn(stacks), most],
    );
    return rows.map(runOf);
  },
  async run(id: number): Promise<RunRecord | undefined> {
    return (await query(`SELECT * FROM ${schema}.runs WHERE id = $1`, [id])).map(runOf)[0];
  },
  /**
   * What is older than it is kept, some at a time: runs that changed nothing go sooner than those that did and than what
   * was decided. How a stack's last run ended stays for as long as the stack. True: there may be more.
   */
  async forget({ quietMs, changesMs }: History): Promise<boolean> {
    const rows = await query(
      `WITH old AS (SELECT r.id FROM ${schema}.runs r WHERE r.ended_at < now() - $1 * interval '1 millisecond'
           AND (r.result = ANY ('{in_sync,blocked,awaiting_approval,observed}') OR r.ended_at < now() - $2 * interval '1 millisecond')
           AND (EXISTS (SELECT FROM ${schema}.runs later WHERE later.stack = r.stack AND later.id > r.id)
             OR NOT EXISTS (SELECT FROM ${schema}.stacks s WHERE s.name = r.stack))
           ORDER BY r.ended_at LIMIT ${mostForgotten}),
         gone AS (DELETE FROM ${schema}.runs USING old WHERE runs.id = old.id RETURNING runs.id),
         lines AS (DELETE FROM ${schema}.run_lines USING gone WHERE run = gone.id),
         decisions AS (DELETE FROM ${schema}.decisions WHERE at < now() - $2 * interval '1 millisecond'),
         sessions AS (DELETE FROM ${schema}.sessions WHERE until < now())
       SELECT count(*)::int AS n FROM gone`,
      [quietMs, changesMs],
    );
    return Number(rows[0]?.["n"] ?? 0) === mostForgotten;
  },
});

function runOf(row: Row): RunRecord {
  const result = written(row, "runs.result");
  const approval = written(row, "runs.approval");
  const report = written(row, "runs.report");
  const endedAt = maybeTime(row["ended_at"]);
  const [startedBy, reason, revision, plan] = ["started_by", "reason", "revision", "plan"].map((key) =>
    maybeText(row[key]),
  );
  return {
    id: Number(row["id"]),
    stack: textOf(row["stack"]),
    cause: textOf(row["cause"]),
    worker: textOf(row["worker"]),
    startedAt: timeOf(row["started_at"]),
    counts: written(row, "runs.counts") ?? {},
    ...(startedBy === undefined ? {} : { startedBy }),
    ...(endedAt === undefined ? {} : { endedAt }),
    ...(result == null ? {} : { result }),
    ...(reason === undefined ? {} : { reason }),
    ...(revision === undefined ? {} : { revision }),
    ...(plan === undefined ? {} : { plan }),
    ...(approval == null ? {} : { approval }),
    ...(report == null ? {} : { report }),
  };
}

/** Null: all of them. */
const namesIn = (stacks: string | readonly string[] | undefined): readonly string[] | null =>
  stacks === undefined ? null : typeof stacks === "string" ? [stacks] : stacks;

const decisionStatements = ({ query }: Database) => ({
  async note(decision: { who: string; what: string; stack?: string; detail?: string }): Promise<void> {
    await query(`INSERT INTO ${schema}.decisions (who, what, stack, detail) VALUES ($1, $2, $3, $4)`, [
      decision.who,
      decision.what,
      decision.stack ?? null,
      decision.detail ?? null,
    ]);
  },
  async decisions(stacks: string | readonly string[] | undefined, most: number): Promise<readonly DecisionRecord[]> {
    const rows = await query(
      `SELECT * FROM ${schema}.decisions WHERE $1::text[] IS NULL OR stack = ANY($1) ORDER BY id DESC LIMIT $2`,
      [namesIn(stacks), most],
    );
    return rows.map((row) => {
      const [about, detail] = [maybeText(row["stack"]), maybeText(row["detail"])];
      return {
        id: Number(row["id"]),
        at: timeOf(row["at"]),
        who: textOf(row["who"]),
        what: textOf(row["what"]),
        ...(about === undefined ? {} : { stack: about }),
        ...(detail === undefined ? {} : { detail }),
      };
    });
  },
});

function visitorOf(row: Row): Visitor {
  const role = textOf(row["role"]);
  const single = isRole(role) ? [{ role, stacks: written(row, "tokens.stacks") }] : [];
  return { name: textOf(row["name"]), grants: written(row, "sessions.grants") ?? single };
}

const workerStatements = ({ query }: Database) => ({
  /** The commit that was seen before; absent: none. */
  async sawCommit(url: string, ref: string, commit: string): Promise<string | undefined> {
    const rows = await query(
      `WITH before AS (SELECT revision FROM ${schema}.repositories WHERE url = $1 AND ref = $2 FOR UPDATE),
         now AS (INSERT INTO ${schema}.repositories (url, ref, revision, looked_at) VALUES ($1, $2, $3, now())
           ON CONFLICT (url, ref) DO UPDATE SET revision = $3, looked_at = now())
       SELECT revision FROM before`,
      [url, ref, commit],
    );
    return maybeText(rows[0]?.["revision"]);
  },
  async commitSeen(url: string, ref: string): Promise<string | undefined> {
    const rows = await query(`SELECT revision FROM ${schema}.repositories WHERE url = $1 AND ref = $2`, [url, ref]);
    return maybeText(rows[0]?.["revision"]);
  },
  async repositories(): Promise<readonly { readonly url: string; readonly ref: string }[]> {
    const rows = await query(
      `SELECT DISTINCT spec -> 'source' ->> 'url' AS url, spec -> 'source' ->> 'ref' AS ref FROM ${schema}.stacks
       WHERE spec -> 'source' ->> 'kind' = 'git'`,
    );
    return rows.map((row) => ({ url: textOf(row["url"]), ref: textOf(row["ref"]) }));
  },
  /** True for the one that does it now; the others leave it to that one for so long. */
  async claimTask(task: string, everyS: number): Promise<boolean> {
    const rows = await query(
      `INSERT INTO ${schema}.documents AS d (name, body) VALUES ($1, '{}')
       ON CONFLICT (name) DO UPDATE SET changed_at = now() WHERE d.changed_at < now() - $2 * interval '1 second' RETURNING name`,
      [`task ${task}`, everyS],
    );
    return rows.length > 0;
  },
  /** True for the one that looks now. */
  async claimRepository(url: string, ref: string, everyS: number): Promise<boolean> {
    const rows = await query(
      `INSERT INTO ${schema}.repositories AS r (url, ref, looked_at) VALUES ($1, $2, now())
       ON CONFLICT (url, ref) DO UPDATE SET looked_at = now() WHERE r.looked_at < now() - $3 * interval '1 second' RETURNING url`,
      [url, ref, everyS],
    );
    return rows.length > 0;
  },
  async addToken(token: { hash: string; name: string; role: string; stacks: readonly string[] }): Promise<void> {
    await query(`INSERT INTO ${schema}.tokens (hash, name, role, stacks) VALUES ($1, $2, $3, $4)`, [
      token.hash,
      token.name,
      token.role,
      JSON.stringify(token.stacks),
    ]);
  },
  async dropTokens(name: string): Promise<number> {
    // Whoever is signed in under this name is out as well.
    const rows = await query(
      `WITH closed AS (DELETE FROM ${schema}.sessions WHERE name = $1) DELETE FROM ${schema}.tokens WHERE name = $1 RETURNING hash`,
      [name],
    );
    return rows.length;
  },
  async visitorWithToken(hash: string): Promise<Visitor | undefined> {
    const rows = await query(
      `SELECT name, role, stacks FROM ${schema}.tokens WHERE hash = $1 AND (until IS NULL OR until > now())`,
      [hash],
    );
    return rows.map(visitorOf)[0];
  },
  async visitorWithSession(hash: string): Promise<Visitor | undefined> {
    const rows = await query(
      `SELECT name, role, stacks, grants FROM ${schema}.sessions WHERE hash = $1 AND until > now()`,
      [hash],
    );
    return rows.map(visitorOf)[0];
  },
  async anyToken(): Promise<boolean> {
    return (await query(`SELECT 1 FROM ${schema}.tokens LIMIT 1`)).length > 0;
  },
  async openSession({ hash, name, grants, hours }: Visitor & { hash: string; hours: number }): Promise<void> {
    // A server of the version before reads one role: the first of them.
    const { role = "viewer", stacks = [] } = grants[0] ?? {};
    await query(
      `WITH old AS (DELETE FROM ${schema}.sessions WHERE until < now())
       INSERT INTO ${schema}.sessions (hash, name, role, stacks, grants, until)
       VALUES ($1, $2, $3, $4, $5, now() + $6 * interval '1 hour')`,
      [hash, name, role, JSON.stringify(stacks), JSON.stringify(grants), hours],
    );
  },
  /** A sign-in that was begun with the provider, by the hash of its state. */
  async beginSignIn(state: string, minutes: number): Promise<void> {
    await query(
      `WITH old AS (DELETE FROM ${schema}.sign_ins WHERE until < now())
       INSERT INTO ${schema}.sign_ins (state, until) VALUES ($1, now() + $2 * interval '1 minute')`,
      [state, minutes],
    );
  },
  /** True once: whoever comes with the same state again is refused. */
  async endSignIn(state: string): Promise<boolean> {
    const rows = await query(`DELETE FROM ${schema}.sign_ins WHERE state = $1 RETURNING until > now() AS fresh`, [
      state,
    ]);
    return rows[0]?.["fresh"] === true;
  },
  async closeSession(hash: string): Promise<void> {
    await query(`DELETE FROM ${schema}.sessions WHERE hash = $1`, [hash]);
  },
  /** Another text when anything that a list shows became another. */
  async moment(): Promise<string> {
    const rows = await query(
      `SELECT (SELECT max(changed_at) FROM ${schema}.stacks) AS stacks, (SELECT count(*) FROM ${schema}.stacks) AS count,
         (SELECT last_value FROM ${schema}.runs_id_seq) AS runs, (SELECT last_value FROM ${schema}.decisions_id_seq) AS decisions,
         (SELECT string_agg(name || doing::text || draining::text, ' ' ORDER BY name) FROM ${schema}.workers) AS workers,
         (SELECT string_agg(used || ' ' || refusals, ' ' ORDER BY service) FROM ${schema}.budgets) AS budgets`,
    );
    return JSON.stringify(rows[0] ?? {});
  },
  /** The same of single stacks: their conditions, plans, runs and the lines of those. */
  async moments(stacks: readonly string[]): Promise<Map<string, string>> {
    const rows = await query(
      `SELECT s.name, s.changed_at, s.next_at, s.paused, s.approval, p.digest, r.id AS run, r.ended_at,
         (SELECT max(line) FROM ${schema}.run_lines WHERE run = r.id) AS line,
         (SELECT max(id) FROM ${schema}.decisions WHERE stack = s.name) AS decision
       FROM ${schema}.stacks s LEFT JOIN ${schema}.plans p ON p.stack = s.name
         LEFT JOIN LATERAL (SELECT id, ended_at FROM ${schema}.runs WHERE stack = s.name ORDER BY id DESC LIMIT 1) r ON true
       WHERE s.name = ANY($1)`,
      [stacks],
    );
    return new Map(rows.map((row) => [textOf(row["name"]), JSON.stringify(row)]));
  },
  async beat(worker: Omit<WorkerRecord, "startedAt" | "aliveAt">): Promise<void> {
    await query(
      `WITH gone AS (DELETE FROM ${schema}.workers WHERE alive_at < now() - interval '1 hour')
       INSERT INTO ${schema}.workers (name, version, concurrency, doing, draining) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (name) DO UPDATE SET alive_at = now(), doing = $4, draining = $5`,
      [worker.name, worker.version, worker.concurrency, JSON.stringify(worker.doing), worker.draining],
    );
  },
  async leave(name: string): Promise<void> {
    await query(`DELETE FROM ${schema}.workers WHERE name = $1`, [name]);
  },
  async workers(): Promise<readonly WorkerRecord[]> {
    return (await query(`SELECT * FROM ${schema}.workers ORDER BY name`)).map((row) => ({
      name: textOf(row["name"]),
      startedAt: timeOf(row["started_at"]),
      aliveAt: timeOf(row["alive_at"]),
      version: textOf(row["version"]),
      concurrency: Number(row["concurrency"]),
      doing: written(row, "workers.doing"),
      draining: row["draining"] === true,
    }));
  },
  async budgets(): Promise<readonly BudgetRecord[]> {
    const rows = await query(
      `SELECT *, CASE WHEN per_second > 0 AND burst > 0 THEN
         least(1, greatest(0, (tat - extract(epoch FROM clock_timestamp())) * per_second / burst + 1)) ELSE 0 END AS reserved
       FROM ${schema}.budgets ORDER BY service`,
    );
    return rows.map((row) => {
      const pausedUntil = maybeTime(row["paused_until"]);
      return {
        service: textOf(row["service"]),
        perSecond: Number(row["per_second"]),
        refusals: Number(row["refusals"]),
        used: Number(row["used"]),
        reserved: Number(row["reserved"]),
        ...(pausedUntil === undefined ? {} : { pausedUntil }),
      };
    });
  },
  async liveWorkers(): Promise<number> {
    const rows = await query(
      `SELECT count(*)::int AS n FROM ${schema}.workers WHERE alive_at > now() - interval '15 seconds'`,
    );
    return Number(rows[0]?.["n"] ?? 0);
  },
});

/** Runs and their lines. Each function is one statement. */
import type { Approval, UndoRequest } from "../decide";
import type { History, StackSpec } from "../model";
import type { Letter } from "../notify";
import { afterRejection, type Status } from "../status";
import { type Database, keptJson, namesIn, type Row, recordOf } from "./database";
import { schema, telling, whyTakenOver } from "./tables";

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
  readonly report?: StoredReport;
}

/** What a run that changed the world carried out: the plan, and what was permitted for it. */
export interface StoredReport {
  readonly plan: string;
  readonly consents: readonly string[];
  readonly opens: readonly string[];
  /** Who can reach what, before and after; absent: it did not change. */
  readonly exposure?: string;
}

/** Results of runs that changed nothing. Most runs are such, and a history tells little by them. */
const quiet: readonly RunResult[] = ["in_sync", "blocked", "awaiting_approval", "observed"];

export type RunResult = "in_sync" | "applied" | "failed" | "taken_over" | "observed" | "awaiting_approval" | "blocked";

export interface StartedRun {
  readonly id: number;
  /** Another worker had begun the run and not ended it. */
  readonly tookOver: boolean;
  /** How many workers in a row were lost in rounds of this stack. */
  readonly lost: number;
  /** The same, where one whose machine was lost with it counts half. */
  readonly blamed: number;
}

/** How many rounds may use a service at the same time. */
export interface ServiceLimit {
  readonly service: string;
  readonly most: number;
}

/**
 * The run did not begin: its service has no place for it now, or it must not run beside another stack that lost its
 * workers.
 */
export interface Held {
  readonly held: "service" | "suspect";
}

/** After this many lost workers a stack is not run any more; after twice as many whose machines were lost as well. */
export const mostLost = 3;

/** At most this many rows in one statement, so that it ends soon and holds nothing up. */
const mostForgotten = 2000;

const newestRuns =
  (query: Database["query"], only: string) =>
  async (stacks: string | readonly string[] | undefined, most: number): Promise<readonly RunRecord[]> => {
    const rows = await query(
      `SELECT * FROM ${schema}.runs WHERE ($1::text[] IS NULL OR stack = ANY($1))${only} ORDER BY id DESC LIMIT $2`,
      [namesIn(stacks), most],
    );
    return rows.map(recordOf<RunRecord>);
  };

export const runStatements = ({ query }: Database) => ({
  /**
   * Begins a run and shows its stack as running; or tells why the run has to wait. A run of the same stack that nobody
   * ended was the last of its worker; `lost` counts the workers that were lost in a row.
   */
  async startRun(
    run: Pick<RunRecord, "stack" | "cause" | "startedBy" | "worker"> & {
      readonly status: Status;
      readonly limit?: ServiceLimit | undefined;
    },
  ): Promise<StartedRun | Held> {
    const rows = await query(`SELECT * FROM ${schema}.begin_run($1, $2, $3, $4, $5, $6, $7, ${mostLost})`, [
      run.stack,
      run.cause,
      run.startedBy ?? null,
      run.worker,
      keptJson(run.status),
      run.limit?.service ?? null,
      run.limit?.most ?? null,
    ]);
    const { held, run: id, open_runs: open, lost_before: before, blamed } = rows[0] ?? {};
    if (held === "service" || held === "suspect") return { held };
    return { id: Number(id), tookOver: Number(open) > 0, lost: Number(open) + Number(before), blamed: Number(blamed) };
  },
  /** Ends the runs that a dead worker left open on a stack that is not run any more, so that they hold no place. */
  async endLostRuns(stack: string, worker: string): Promise<void> {
    await query(
      `WITH ended AS (UPDATE ${schema}.runs r SET ended_at = now(), result = 'taken_over', reason = ${whyTakenOver} || $2::text || ' went on'
         WHERE stack = $1 AND ended_at IS NULL RETURNING stack)
       UPDATE ${schema}.stacks SET status = status || '{"reconciling": false}', changed_at = now() WHERE name IN (SELECT stack FROM ended)`,
      [stack, worker],
    );
  },
  /**
   * The run begins to carry its plan out. If its worker dies then, this is what tells what it was about, and what there is
   * to undo. False: it is not to begin, for the run was taken over, the stack was stopped, the plan was rejected, or the
   * stack is not what the run read (`seen`): what the file says of it, whether it leaves, the approval of this plan, or a run that is to be undone.
   */
  async carryRun(
    id: number,
    { plan, revision, report }: { readonly plan: string; readonly revision: string; readonly report: StoredReport },
    seen: {
      readonly spec: StackSpec;
      readonly leaving: boolean;
      readonly approval?: Approval;
      readonly undoing?: UndoRequest;
    },
  ): Promise<boolean> {
    const { spec, leaving, approval, undoing } = seen;
    const rows = await query(
      `UPDATE ${schema}.runs r SET plan = $2, revision = $3, report = $4 FROM ${schema}.stacks s
       WHERE r.id = $1 AND r.ended_at IS NULL AND s.name = r.stack AND s.stopping IS NULL AND s.spec = $5::jsonb
         AND (s.leaving IS NOT NULL) = $6 AND ($7::jsonb IS NULL OR s.approval @> $7::jsonb)
         AND s.undoing IS NOT DISTINCT FROM $8::jsonb AND s.rejection ->> 'digest' IS DISTINCT FROM $2 RETURNING r.id`,
      [
        id,
        plan,
        revision,
        keptJson(report),
        keptJson(spec),
        leaving,
        approval?.digest === plan ? keptJson(approval) : null,
        undoing === undefined ? null : keptJson(undoing),
      ],
    );
    return rows.length > 0;
  },
  /**
   * Records how the run ended, the stack's status and what receivers are to be told of it in one statement; false when
   * another worker has taken the stack over. What a person said while it ran stands: a plan that was rejected does not
   * wait, and where the stack was resumed after `since`, by the database's clock, its status is `resumed`.
   */
  async finishRun(
    id: number,
    end: Pick<RunRecord, "revision" | "plan" | "approval" | "counts" | "report"> & {
      readonly result: RunResult;
      readonly reason: string | null;
    },
    status: Status,
    nextAt: Date | null,
    letters: readonly Letter[] = [],
    meanwhile: { readonly since?: Date | undefined; readonly resumed?: Status } = {},
  ): Promise<boolean> {
    const { since, resumed = status } = meanwhile;
    const rows = await query(
      `WITH mine AS (UPDATE ${schema}.runs SET ended_at = now(), result = $2, reason = $3,
           revision = coalesce($4, revision), plan = coalesce($5, plan), approval = $6, counts = $7, report = coalesce($10, report) WHERE id = $1 AND ended_at IS NULL RETURNING stack),
         told AS (INSERT INTO ${schema}.letters (place, receiver, body)
           SELECT letter ->> 'place', letter -> 'receiver', letter -> 'body' FROM mine, jsonb_array_elements($11::jsonb) AS letter)
       UPDATE ${schema}.stacks s SET next_at = $9, changed_at = now(), status = CASE WHEN s.resumed_at > $12 THEN $13::jsonb ELSE $8::jsonb END
           || CASE WHEN s.rejection ->> 'digest' = $8::jsonb ->> 'plan' THEN $14::jsonb || jsonb_build_object('reason', s.status -> 'reason') ELSE '{}' END
         FROM mine WHERE s.name = mine.stack RETURNING s.name`,
      [
        id,
        end.result,
        end.reason,
        end.revision ?? null,
        end.plan ?? null,
        end.approval === undefined ? null : keptJson(end.approval),
        keptJson(end.counts),
        keptJson(status),
        nextAt,
        end.report === undefined ? null : keptJson(end.report),
        keptJson(letters),
        since ?? null,
        keptJson(resumed),
        keptJson(afterRejection("")),
      ],
    );
    return rows.length > 0;
  },
  /** Adds lines, each with the time at which it was said, because they are written in batches. */
  async addLines(run: number, lines: readonly { readonly at: Date; readonly body: object }[]): Promise<void> {
    await query(
      `INSERT INTO ${schema}.run_lines (run, at, body)
       SELECT $1, (line ->> 'at')::timestamptz, line -> 'body' FROM jsonb_array_elements($2::jsonb) AS line`,
      [run, keptJson(lines)],
    );
  },
  async lines(run: number): Promise<readonly { line: number; at: Date; body: Row }[]> {
    const rows = await query(`SELECT line, at, body FROM ${schema}.run_lines WHERE run = $1 ORDER BY line LIMIT 5000`, [
      run,
    ]);
    return rows.map((row) => recordOf(row));
  },
  /** The last lines, in their order. */
  async latestLines(run: number, most: number): Promise<readonly { at: Date; body: Row }[]> {
    const rows = await query(
      `SELECT at, body FROM (SELECT * FROM ${schema}.run_lines WHERE run = $1 ORDER BY line DESC LIMIT $2) last ORDER BY line`,
      [run, most],
    );
    return rows.map((row) => recordOf(row));
  },
  runs: newestRuns(query, ""),
  /** Runs that carried something out, tried to, or still do. */
  tellingRuns: newestRuns(query, ` AND ${telling}`),
  run: async (id: number): Promise<RunRecord | undefined> =>
    (await query(`SELECT * FROM ${schema}.runs WHERE id = $1`, [id])).map(recordOf<RunRecord>)[0],
  /**
   * Deletes history that is older than the fleet keeps it, some rows at a time. Runs that changed nothing are kept for
   * a shorter time than other runs and decisions. How a stack's last run ended stays as long as the stack. True: there
   * may be more to delete.
   */
  async forget({ quietMs, changesMs }: History): Promise<boolean> {
    const rows = await query(
      `WITH old AS (SELECT r.id FROM ${schema}.runs r WHERE r.ended_at < now() - $1 * interval '1 millisecond'
           AND (r.result = ANY ('{${quiet.join(",")}}') OR r.ended_at < now() - $2 * interval '1 millisecond')
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

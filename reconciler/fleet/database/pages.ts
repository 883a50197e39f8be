/** What lists and pages of thousands of stacks need, and no more. Each function is one statement. */
import type { Picture } from "../picture";
import { pausedReason, type Status } from "../status";
import { columnsOf, type Database, keptJson, recordOf, textOf, timeOf } from "./database";
import type { StackRecord } from "./stacks";
import { ifStackStays, schema } from "./tables";
import type { Followed } from "./workers";

/** What tells a stack's condition; the reason for it is left out. */
export type StackStanding = Pick<
  Status,
  "ready" | "reconciling" | "stalled" | "drifted" | "awaitingApproval" | "blocked" | "failures"
>;

/** The columns that finding and counting stacks needs. */
export interface StackOutline extends Pick<StackRecord, "name" | "paused"> {
  readonly status: StackStanding;
  readonly tenant: string;
  readonly service?: string;
  /** Absent: the stack has not run yet. */
  readonly lastRun?: true;
  /** True where the name or the reason contains the text of the search. */
  readonly isFound: boolean;
}

/** Stacks with the same status, counted. */
export interface StackTally extends Pick<StackOutline, "status" | "paused" | "lastRun"> {
  readonly count: number;
  /** The names of the stacks; none for statuses in which nothing has to be done. */
  readonly names: readonly string[];
  /** How late the latest round of these stacks is. */
  readonly lateS: number;
}

const followedIn = columnsOf<{ readonly followed: Followed | null }>();

/** One condition of a status as a column. */
const isSo = (name: keyof Status): string => `coalesce(status ->> '${name}' = 'true', false)`;

/** The columns from which the condition of a stack is told. */
const standing = `jsonb_build_object('ready', ${isSo("ready")}, 'reconciling', ${isSo("reconciling")}, 'stalled', ${isSo("stalled")},
  'drifted', ${isSo("drifted")}, 'awaitingApproval', ${isSo("awaitingApproval")}, 'blocked', ${isSo("blocked")},
  'failures', least(1, coalesce((status ->> 'failures')::int, 0))) AS status,
  CASE WHEN ${isSo("ready")} THEN true WHEN EXISTS (SELECT FROM ${schema}.runs WHERE stack = s.name) THEN true END AS last_run`;

export const pageStatements = ({ query }: Database) => ({
  /** By the database's clock, as every time that is shown: that of whoever shows it may be wrong. */
  now: async (): Promise<Date> => timeOf((await query("SELECT clock_timestamp() AS now"))[0]?.["now"]),
  /** Stacks with the same condition, tenant and service come in one row of the answer, which holds their names. */
  async outlines(search = ""): Promise<readonly StackOutline[]> {
    const rows = await query(
      `SELECT paused, status, last_run, tenant, service, is_found, array_agg(name) AS names
       FROM (SELECT name, paused, spec ->> 'tenant' AS tenant, spec ->> 'service' AS service, ${standing},
           $1 = '' OR position(lower($1) IN lower(name || ' ' ||
             CASE WHEN paused THEN '${pausedReason("")}' || name ELSE coalesce(status ->> 'reason', '') END)) > 0 AS is_found
         FROM ${schema}.stacks s) one
       GROUP BY paused, status, last_run, tenant, service, is_found`,
      [search],
    );
    return rows.flatMap((row) => {
      const { names, ...alike } = recordOf<Omit<StackOutline, "name"> & Pick<StackTally, "names">>(row);
      return names.map((name) => ({ name, ...alike }));
    });
  },
  /** Counts all stacks by status: one row for each status that occurs. */
  async tallies(): Promise<readonly StackTally[]> {
    const rows = await query(
      `SELECT paused, status, last_run, count(*)::int AS count, coalesce(max(late), 0)::double precision AS late_s,
         coalesce(array_agg(name ORDER BY name) FILTER (WHERE paused OR troubled), '{}') AS names
       FROM (SELECT name, paused, greatest(0, extract(epoch FROM now() - next_at)) * (NOT paused)::int AS late, ${standing},
           ${isSo("stalled")} OR ${isSo("drifted")} OR ${isSo("awaitingApproval")} OR ${isSo("blocked")}
             OR coalesce((status ->> 'failures')::int, 0) > 0 AS troubled
         FROM ${schema}.stacks s) one
       GROUP BY paused, status, last_run`,
    );
    return rows.map(recordOf<StackTally>);
  },
  async savePicture(name: string, digest: string, picture: Picture): Promise<void> {
    await query(
      `WITH marked AS (UPDATE ${schema}.stacks SET picture = $2, changed_at = now() WHERE name = $1)
       INSERT INTO ${schema}.pictures (stack, body) SELECT name, $3::jsonb ${ifStackStays}
       ON CONFLICT (stack) DO UPDATE SET body = $3, seen_at = now()`,
      [name, digest, keptJson(picture)],
    );
  },
  async picture(name: string): Promise<{ readonly seenAt: Date; readonly picture: Picture } | undefined> {
    const rows = await query(`SELECT body AS picture, seen_at FROM ${schema}.pictures WHERE stack = $1`, [name]);
    return rows.map((row) => recordOf<{ readonly seenAt: Date; readonly picture: Picture }>(row))[0];
  },
  /**
   * A text that changes when anything changes that a list shows, what the last look at the fleet's own file found, and the
   * time that it is.
   */
  async overview(): Promise<{ readonly moment: string; readonly followed: Followed | undefined; readonly now: Date }> {
    const [{ now, ...row } = {}] = await query(
      `SELECT now() AS now, (SELECT body FROM ${schema}.documents WHERE name = 'followed') AS followed, (SELECT max(changed_at) FROM ${schema}.stacks) AS stacks, (SELECT count(*) FROM ${schema}.stacks) AS count,
         (SELECT max(made_at) FROM ${schema}.plans) AS plans, (SELECT last_value FROM ${schema}.runs_id_seq) AS runs, (SELECT last_value FROM ${schema}.decisions_id_seq) AS decisions,
         (SELECT string_agg(name || doing::text || draining::text, ' ' ORDER BY name) FROM ${schema}.workers) AS workers,
         (SELECT string_agg(used || ' ' || refusals, ' ' ORDER BY service) FROM ${schema}.budgets) AS budgets`,
    );
    return { moment: JSON.stringify(row), followed: followedIn(row, "followed") ?? undefined, now: timeOf(now) };
  },
  /** The same for single stacks: it changes with their conditions, plans, runs and the lines of runs. */
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
});

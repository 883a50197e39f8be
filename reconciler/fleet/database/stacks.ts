/** Stacks, and what all stacks share. Each function is one statement. */

import type { Graph } from "../../report/graph/graph";
import type { Approval, Rejection, UndoRequest } from "../decide";
import type { StackState } from "../may-read";
import { type FleetSettings, noSettings, type SignIn, type StackSpec } from "../model";
import type { FileChange } from "../sources/change";
import { newStatus, type Status, type StopRequest, type WaitingFor } from "../status";
import { pauseChannel } from "./budget";
import { columnsOf, type Database, keptJson, type Row, recordOf, textOf } from "./database";
import { type Decided, noteAll, notedOf, noteValue } from "./people";
import type { RunRecord } from "./runs";
import { schema } from "./tables";

export interface StackRecord {
  readonly name: string;
  readonly spec: StackSpec;
  readonly status: Status;
  readonly paused: boolean;
  readonly jitter: number;
  readonly outputs: Readonly<Record<string, unknown>>;
  /** The outputs of other stacks that the last apply used. */
  readonly outputsUsed: Readonly<Record<string, unknown>>;
  /** Files outside of its folder that the stack reads, from the root of the repository. */
  readonly files: readonly string[];
  readonly approval?: Approval;
  /** The plan that a person rejected last. */
  readonly rejection?: Rejection;
  /** The run that a person wants undone, or had undone last. */
  readonly undoing?: UndoRequest;
  /** Who stopped it; until it is resumed. */
  readonly stopping?: StopRequest;
  /** The stack has left the fleet's file: what it made is to be deleted once that is approved. */
  readonly leaving: boolean;
  /** The digest of the stack's picture; absent: there is none yet. */
  readonly picture?: string;
  readonly nextAt?: Date;
  readonly lastRun?: RunRecord;
  /** When it was read, by the database's clock: that of a worker or of a person's machine may be wrong. */
  readonly readAt?: Date;
}

export interface WaitingPlan {
  readonly stack: string;
  readonly digest: string;
  readonly revision: string;
  readonly madeAt: Date;
  readonly body: PlanBody;
}

/** A plan that waits, in a list of them. */
export interface WaitingOutline extends Pick<WaitingPlan, "stack" | "digest" | "madeAt"> {
  readonly tenant: string;
  readonly sum: string;
  /** So many people have to approve it. */
  readonly approvers: number;
  readonly approval?: Approval;
}

/** What a person reads before approving. */
export interface PlanBody {
  /** The plan as in the terminal, without colours. */
  readonly text: string;
  readonly consents: readonly { readonly detail: string; readonly grant: string }[];
  readonly opens: readonly string[];
  readonly why: string;
  /** The plan in one line; absent: a worker of an earlier version made it. */
  readonly sum?: string;
  /** What a month costs, as in the summary of `plan --json`; absent: no prices are given. */
  readonly cost?: object;
  /** What was changed in the files since the last apply; absent: their source does not tell. */
  readonly change?: FileChange;
  readonly exposure?: string;
  /** Files outside of its folder that the plan of a pull request has read. */
  readonly read?: readonly string[];
  /** The steps and their order; absent: there are too many. */
  readonly graph?: Graph;
}

const stoppingIn = columnsOf<{ readonly stopping: StopRequest | null }>();
const settingsIn = columnsOf<{ readonly body: FleetSettings }>();

/** What of the sign-in may change without changing who may do what. */
const noMatterOfRoles: readonly (keyof SignIn)[] = ["clientId", "clientSecret", "url", "scopes"];

/** What all stacks share. */
const settingStatements = ({ query }: Database) => ({
  async settings(): Promise<FleetSettings> {
    const rows = await query(`SELECT body FROM ${schema}.documents WHERE name = 'settings'`);
    return rows[0] === undefined ? noSettings : settingsIn(rows[0], "body");
  },
  /**
   * Who signed in with the provider has the roles of that time: where the file says others now, their sessions end. One
   * with the rights of a token of the same person stays.
   */
  async saveSettings(settings: FleetSettings): Promise<void> {
    await query(
      `WITH before AS (SELECT body -> 'signIn' AS sign_in FROM ${schema}.documents WHERE name = 'settings'),
         ended AS (DELETE FROM ${schema}.sessions s USING before
           WHERE (before.sign_in - $2::text[]) IS DISTINCT FROM (($1::jsonb -> 'signIn') - $2::text[])
             AND NOT EXISTS (SELECT FROM ${schema}.tokens t WHERE t.name = s.name AND t.role = s.role AND t.stacks = s.stacks
               AND coalesce(jsonb_array_length(s.grants), 1) = 1))
       INSERT INTO ${schema}.documents (name, body) VALUES ('settings', $1)
       ON CONFLICT (name) DO UPDATE SET body = $1, changed_at = now()`,
      [keptJson(settings), noMatterOfRoles],
    );
    await query(
      `INSERT INTO ${schema}.budgets (service, per_second, burst)
       SELECT s.name, coalesce((s.budget ->> 'perSecond')::double precision, 0), coalesce((s.budget ->> 'burst')::double precision, 0)
       FROM jsonb_to_recordset($1::jsonb) AS s (name text, budget jsonb)
       ON CONFLICT (service) DO UPDATE SET per_second = excluded.per_second, burst = excluded.burst`,
      [keptJson(settings.services)],
    );
    await query(
      `INSERT INTO ${schema}.tenants (name, weight)
       SELECT t.name, t.weight FROM jsonb_to_recordset($1::jsonb) AS t (name text, weight double precision)
       ON CONFLICT (name) DO UPDATE SET weight = excluded.weight`,
      [keptJson([{ name: "default", weight: 1 }, ...settings.tenants])],
    );
  },
});

/** Finding stacks. */
const findStatements = ({ query }: Database) => ({
  stacks: async (): Promise<readonly StackRecord[]> => (await query(`${selectStacks} ORDER BY s.name`)).map(stackOf),
  async stacksNamed(names: readonly string[]): Promise<ReadonlyMap<string, StackRecord>> {
    const found = (await query(`${selectStacks} WHERE s.name = ANY($1)`, [names])).map(stackOf);
    return new Map(found.map((stack) => [stack.name, stack]));
  },
  stack: async (name: string): Promise<StackRecord | undefined> =>
    (await query(`${selectStacks} WHERE s.name = $1`, [name])).map(stackOf)[0],
  /** The names of the stacks that depend on this one, for people. */
  async namesOfDependents(name: string): Promise<readonly string[]> {
    const rows = await query(`SELECT s.name FROM ${schema}.stacks s WHERE ${dependsOnIt} ORDER BY s.name LIMIT 200`, [
      name,
    ]);
    return rows.map((row) => textOf(row["name"]));
  },
  /** The stacks whose state's place holds this text, of all tenants. */
  async statesWith(text: string): Promise<readonly StackState[]> {
    const rows = await query(`${selectStates} WHERE strpos(spec ->> 'state', $1) > 0 ORDER BY name`, [text]);
    return rows.map(recordOf<StackState>);
  },
  /** The other stacks whose files are in the same place, at whatever commit. */
  async siblings({ name, source }: StackSpec): Promise<readonly StackState[]> {
    const rows = await query(
      `${selectStates} WHERE (spec -> 'source') - $2::text[] = $1::jsonb - $2::text[] AND name <> $3 ORDER BY name`,
      [keptJson(source), ["ref", "digest", "pulls"], name],
    );
    return rows.map(recordOf<StackState>);
  },
  dependents: async (name: string): Promise<readonly StackRecord[]> =>
    (await query(`${selectStacks} WHERE ${dependsOnIt} ORDER BY s.name`, [name])).map(stackOf),
  /** The stacks whose files come from this repository. */
  stacksFrom: async (url: string, ref: string): Promise<readonly StackRecord[]> =>
    (
      await query(
        `${selectStacks} WHERE s.spec -> 'source' ->> 'url' = $1 AND s.spec -> 'source' ->> 'ref' = $2 ORDER BY s.name`,
        [url, ref],
      )
    ).map(stackOf),
});

/** What a round asks and writes of its stack. */
const roundStatements = ({ query }: Database) => ({
  /**
   * Takes a stack in order to run it. The fleet's own time moves to the turn that is served, so that a new tenant
   * begins there.
   */
  async takeStack(name: string, turn: number | undefined): Promise<StackRecord | undefined> {
    const rows = await query(
      `WITH served AS (UPDATE ${schema}.served SET start = $2 WHERE start < $2) ${selectStacks} WHERE s.name = $1`,
      [name, turn ?? null],
    );
    return rows.map(stackOf)[0];
  },
  /** A round begins that nobody had to wait for: it is served now, and its tenant's clock moves on. */
  async chargeTenant(tenant: string): Promise<void> {
    await query(
      `WITH clock AS (SELECT t.name, t.weight, GREATEST(t.finish, s.start) AS start FROM ${schema}.tenants t, ${schema}.served s
           WHERE t.name = $1 FOR UPDATE OF t),
         served AS (UPDATE ${schema}.served s SET start = clock.start FROM clock WHERE s.start < clock.start)
       UPDATE ${schema}.tenants t SET finish = clock.start + 1 / clock.weight FROM clock WHERE t.name = clock.name`,
      [tenant],
    );
  },
  /** What else the status says stays as somebody may have written it meanwhile. */
  async saveStatus(name: string, status: Partial<Status>): Promise<void> {
    await query(`UPDATE ${schema}.stacks SET status = status || $2::jsonb, changed_at = now() WHERE name = $1`, [
      name,
      keptJson(status),
    ]);
  },
  /**
   * Writes what the rounds of this worker wait for; null: nothing. A stack whose round has ended meanwhile is left
   * alone.
   */
  async sayWaiting(worker: string, stacks: readonly string[], waitingFor: WaitingFor | null): Promise<void> {
    await query(
      `WITH mine AS (SELECT stack FROM ${schema}.runs WHERE worker = $1 AND stack = ANY($2) AND ended_at IS NULL FOR UPDATE)
       UPDATE ${schema}.stacks s SET status = s.status || jsonb_build_object('waitingFor', $3::jsonb), changed_at = now()
       FROM mine WHERE s.name = mine.stack`,
      [worker, stacks, keptJson(waitingFor)],
    );
  },
  /** Writes why stacks wait for a place. A stack whose round has begun meanwhile is left alone. */
  async sayWaitingForPlace(stacks: readonly string[], waitingFor: WaitingFor): Promise<void> {
    if (stacks.length === 0) return;
    await query(
      `UPDATE ${schema}.stacks s SET status = s.status || jsonb_build_object('waitingFor', $2::jsonb), changed_at = now()
       FROM ${schema}.stacks seen WHERE s.name = ANY($1) AND seen.name = s.name AND seen.changed_at = s.changed_at
         AND s.status -> 'waitingFor' IS DISTINCT FROM $2::jsonb
         AND NOT EXISTS (SELECT FROM ${schema}.runs WHERE stack = s.name AND ended_at IS NULL)`,
      [stacks, keptJson(waitingFor)],
    );
  },
  async saveOutputs(name: string, outputs: object, used: object): Promise<void> {
    await query(`UPDATE ${schema}.stacks SET outputs = $2, outputs_used = $3 WHERE name = $1`, [
      name,
      keptJson(outputs),
      keptJson(used),
    ]);
  },
  async saveFiles(name: string, files: readonly string[]): Promise<void> {
    await query(`UPDATE ${schema}.stacks SET files = $2 WHERE name = $1`, [name, keptJson(files)]);
  },
});

/** The comments of pull requests that touch the stack tell whether it is paused. */
const untoldPulls = `WITH untold AS (UPDATE ${schema}.pulls p SET version = p.version + 1 FROM ${schema}.pull_plans q
  WHERE q.stack = $1 AND p.url = q.url AND p.number = q.number)`;

/** Which stacks there are, and which of them rest. */
const membershipStatements = ({ query }: Database) => ({
  /** An approval is for what the file says of the stack, also one of before the merge, and so is a pull request's plan. */
  async saveStacks(specs: readonly StackSpec[], decisions: readonly Decided[] = []): Promise<void> {
    await query(
      `WITH others AS (SELECT n.value ->> 'name' AS name FROM jsonb_array_elements($1::jsonb) n
           WHERE NOT EXISTS (SELECT FROM ${schema}.stacks s WHERE s.name = n.value ->> 'name' AND s.spec = n.value)),
         before AS (UPDATE ${schema}.pull_plans p SET approval = NULL, result = 'waits', told = NULL FROM others
           WHERE p.stack = others.name RETURNING p.url, p.number),
         untold AS (UPDATE ${schema}.pulls p SET version = p.version + 1 FROM before WHERE p.url = before.url AND p.number = before.number),
         noted AS (${noteAll("$3")})
       INSERT INTO ${schema}.stacks AS s (name, spec, status, paused)
       SELECT spec ->> 'name', spec, $2::jsonb, (spec ->> 'paused')::boolean FROM jsonb_array_elements($1::jsonb) AS spec
       ON CONFLICT (name) DO UPDATE SET spec = excluded.spec, leaving = NULL, changed_at = now(),
         rejection = CASE WHEN s.spec IS DISTINCT FROM excluded.spec THEN NULL ELSE s.rejection END,
         approval = CASE WHEN s.spec IS DISTINCT FROM excluded.spec THEN NULL ELSE s.approval END,
         paused = CASE WHEN (excluded.spec -> 'paused') IS DISTINCT FROM (s.spec -> 'paused') THEN excluded.paused ELSE s.paused END,
         stopping = CASE WHEN excluded.paused OR (excluded.spec -> 'paused') = (s.spec -> 'paused') THEN s.stopping END`,
      [keptJson(specs), keptJson(newStatus), keptJson(decisions)],
    );
  },
  /** A round of it that runs is ended as by a stop. `left`: only where the file has not got it again; true: it is out. */
  async releaseStack(
    name: string,
    { left = false, decision }: { readonly left?: boolean; readonly decision?: Decided } = {},
  ): Promise<boolean> {
    const rows = await query(
      `WITH mine AS (DELETE FROM ${schema}.stacks WHERE name = $1 AND (NOT $2 OR leaving IS NOT NULL) RETURNING name),
         ${notedOf("mine", "$3")} SELECT pg_notify('${pauseChannel}', '${stopWord}' || name) FROM mine`,
      [name, left, noteValue(decision)],
    );
    await query(
      `WITH pictures AS (DELETE FROM ${schema}.pictures WHERE stack = $1) DELETE FROM ${schema}.plans WHERE stack = $1`,
      [name],
    );
    return rows.length > 0;
  },
  async leaveStack(name: string, decision?: Decided): Promise<void> {
    await query(
      `WITH mine AS (UPDATE ${schema}.stacks SET leaving = 'destroy', approval = NULL, rejection = NULL, undoing = NULL
         WHERE name = $1 RETURNING name), ${notedOf("mine", "$2")} SELECT name FROM mine`,
      [name, noteValue(decision)],
    );
  },
  /** Whoever pauses it in the moment in which it is being stopped takes nothing back. */
  async pauseStack(name: string, paused: boolean, decision?: Decided): Promise<boolean> {
    const rows = await query(
      `${untoldPulls}, mine AS (UPDATE ${schema}.stacks s SET paused = $2, stopping = CASE WHEN $2
           AND EXISTS (SELECT FROM ${schema}.runs WHERE stack = s.name AND ended_at IS NULL) THEN stopping END
         WHERE name = $1 RETURNING name), ${notedOf("mine", "$3")} SELECT name FROM mine`,
      [name, paused, noteValue(decision)],
    );
    return rows.length > 0;
  },
  /** `change`: what of its status is another from now on. A round that runs now takes none of it back (`finishRun`). */
  async resumeStack(name: string, change: Partial<Status>, forgetsState: boolean, decision?: Decided): Promise<void> {
    await query(
      `${untoldPulls}, mine AS (UPDATE ${schema}.stacks SET paused = false, stopping = NULL, resumed_at = clock_timestamp(), changed_at = now(),
           status = (CASE WHEN $3 THEN status - 'stateSeen' ELSE status END) || $2::jsonb WHERE name = $1 RETURNING name),
         ${notedOf("mine", "$4")} SELECT name FROM mine`,
      [name, keptJson(change), forgetsState, noteValue(decision)],
    );
  },
  /** Pauses the stack and tells its worker to end its round. */
  async stopStack(name: string, stop: StopRequest, decision?: Decided): Promise<void> {
    await query(
      `${untoldPulls}, mine AS (UPDATE ${schema}.stacks SET paused = true, stopping = $2, changed_at = now() WHERE name = $1 RETURNING name),
         ${notedOf("mine", "$3")} SELECT pg_notify('${pauseChannel}', '${stopWord}' || name) FROM mine`,
      [name, keptJson(stop), noteValue(decision)],
    );
  },
  /** Which of these stacks are to stop: those that somebody stopped, and those that left the fleet. */
  async stopsOf(names: readonly string[]): Promise<ReadonlyMap<string, StopRequest | "left">> {
    const rows = await query(
      `SELECT n AS name, s.stopping FROM unnest($1::text[]) n LEFT JOIN ${schema}.stacks s ON s.name = n
       WHERE s.name IS NULL OR s.stopping IS NOT NULL`,
      [names],
    );
    return new Map(rows.map((row) => [textOf(row["name"]), stoppingIn(row, "stopping") ?? "left"] as const));
  },
});

export const stackStatements = (database: Database) => ({
  ...settingStatements(database),
  ...findStatements(database),
  ...roundStatements(database),
  ...membershipStatements(database),
});

/** What is heard on the channel of pauses and begins so is the name of a stack that is to stop; no service has a space. */
export const stopWord = "stop ";

/** A condition that an index serves, so that a stack is found among thousands. */
const dependsOnIt = "s.spec -> 'dependsOn' @> to_jsonb($1::text)";

/** The columns of a stack's last run, apart from those of the stack. */
const ofRun = "id stack cause started_by worker started_at ended_at result reason revision plan approval counts"
  .split(" ")
  .map((column) => `r.${column} AS run_${column}`);

const selectStates = `SELECT name, spec ->> 'tenant' AS tenant, spec ->> 'state' AS state FROM ${schema}.stacks`;

const selectStacks = `SELECT s.*, clock_timestamp() AS read_at, ${ofRun.join(", ")}
  FROM ${schema}.stacks s LEFT JOIN LATERAL (SELECT * FROM ${schema}.runs WHERE stack = s.name ORDER BY id DESC LIMIT 1) r ON true`;

function stackOf(row: Row): StackRecord {
  const columns = Object.entries(row);
  const own = recordOf<StackRecord>(Object.fromEntries(columns.filter(([name]) => !name.startsWith("run_"))));
  const run = columns.flatMap(([name, value]) => (name.startsWith("run_") ? [[name.slice("run_".length), value]] : []));
  return {
    ...own,
    status: { ...newStatus, ...own.status },
    leaving: row["leaving"] != null,
    ...(row["run_id"] == null ? {} : { lastRun: recordOf<RunRecord>(Object.fromEntries(run)) }),
  };
}

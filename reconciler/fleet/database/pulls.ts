/** Pull requests: what is known of each, the plans of the stacks that it touches, and approvals. Each function is one statement. */

import { onlyDefined } from "../../core/text/objects";
import type { Approval, Voice } from "../decide";
import type { StackSpec } from "../model";
import type { Pull } from "../pulls/host";
import { type Database, keptJson, maybeText, type Row, recordOf, textOf } from "./database";
import { type Decided, notedOf, noteValue } from "./people";
import type { PlanBody } from "./stacks";
import { schema } from "./tables";

export interface PullRecord extends Pull {
  readonly url: string;
  /** The branch that it is to be merged into, and the commit of it that the plans were made on. */
  readonly ref: string;
  readonly base: string;
  /** Why it was not planned: it conflicts, or could not be fetched. */
  readonly why?: string;
  /** The last comments that were not carried out, and why. */
  readonly said?: string;
  /** The id of the comment that tells of the plans, once it is written. */
  readonly comment?: string;
  /** Tells our comment from those of others. */
  readonly mark: string;
  /** Grows with everything that the comment tells. */
  readonly version: number;
}

export interface PullPlan {
  readonly stack: string;
  readonly head: string;
  /** What is in the stack's folder once it is merged. */
  readonly content: string;
  readonly result: PullResult;
  /** Absent: it cannot be approved before the merge. */
  readonly digest?: string;
  readonly body?: PlanBody;
  readonly why?: string;
  readonly approval?: Approval;
  /** The result that the status of the commit tells. */
  readonly told?: string;
}

/** `waits`: a worker has still to plan it; `asks`: it would wait for a person once it is merged. */
export type PullResult = "waits" | "nothing" | "applies" | "asks" | "observes" | "failed";

const pullOf = (row: Row): PullRecord => recordOf(row);
const planOf = (row: Row): PullPlan => recordOf(row);

/** An approval that is too old counts for nothing, and whoever gave it may give it anew. */
const stands = "(approval ->> 'until')::timestamptz > now()";
const selectPlans = `SELECT *, CASE WHEN ${stands} THEN approval END AS approval FROM ${schema}.pull_plans`;

/** A comment that tells of the pull request is written by one worker at a time, which has this long for it. */
const tellingS = 60;

export const pullStatements = ({ query }: Database) => ({
  /** The open ones into one branch, by their numbers. */
  async pulls(url: string, ref: string): Promise<ReadonlyMap<number, PullRecord>> {
    const rows = await query(`SELECT * FROM ${schema}.pulls WHERE url = $1 AND ref = $2 AND closed_at IS NULL`, [
      url,
      ref,
    ]);
    return new Map(rows.map(pullOf).map((pull) => [pull.number, pull]));
  },
  pull: async (url: string, number: number): Promise<PullRecord | undefined> =>
    (await query(`SELECT * FROM ${schema}.pulls WHERE url = $1 AND number = $2`, [url, number])).map(pullOf)[0],
  async pullPlans(url: string, number: number): Promise<readonly PullPlan[]> {
    const rows = await query(`${selectPlans} WHERE url = $1 AND number = $2 ORDER BY stack`, [url, number]);
    return rows.map(planOf);
  },
  /**
   * Keeps what was seen of a pull request, with the stacks that it touches by now, and tells which of them are to be
   * planned. One whose files are what they were keeps its plan and its approval. `version` grows, so that its comment is
   * written anew.
   */
  async savePull(
    pull: Omit<PullRecord, "comment" | "version" | "said" | "updatedAt">,
    stacks: readonly { readonly stack: string; readonly content: string }[],
  ): Promise<readonly string[]> {
    const rows = await query(
      `WITH pull AS (INSERT INTO ${schema}.pulls AS p (url, number, head, ref, base, author, outside, link, why, mark, updated_at)
           VALUES ($1, $2, $3, $5, $6, $7, $8, $9, $10, $11, '')
           ON CONFLICT (url, number) DO UPDATE SET head = $3, ref = $5, base = $6, outside = $8, why = $10,
             said = CASE WHEN p.head = $3 AND p.base = '' THEN p.said END, closed_at = NULL, version = p.version + 1),
         gone AS (DELETE FROM ${schema}.pull_plans WHERE url = $1 AND number = $2
           AND stack NOT IN (SELECT s ->> 'stack' FROM jsonb_array_elements($4::jsonb) AS s)),
         now AS (INSERT INTO ${schema}.pull_plans AS p (url, number, stack, head, content, result)
           SELECT $1, $2, s ->> 'stack', $3, s ->> 'content', 'waits' FROM jsonb_array_elements($4::jsonb) AS s
           ON CONFLICT (url, number, stack) DO UPDATE SET head = $3, told = NULL, content = excluded.content,
             result = CASE WHEN p.content = excluded.content AND p.result <> 'failed' THEN p.result ELSE 'waits' END,
             digest = CASE WHEN p.content = excluded.content THEN p.digest END,
             body = CASE WHEN p.content = excluded.content THEN p.body END,
             approval = CASE WHEN p.content = excluded.content THEN p.approval END
           RETURNING stack, result)
       SELECT stack FROM now WHERE result = 'waits'`,
      [
        pull.url,
        pull.number,
        pull.head,
        keptJson(stacks),
        pull.ref,
        pull.base,
        pull.author,
        pull.outside,
        pull.link,
        pull.why ?? null,
        pull.mark,
      ],
    );
    return rows.map((row) => textOf(row["stack"]));
  },
  /** What is still to be planned of the open ones into one branch. */
  async pullsToPlan(url: string, ref: string): Promise<readonly { readonly number: number; readonly stack: string }[]> {
    const rows = await query(
      `SELECT number, stack FROM ${schema}.pull_plans JOIN ${schema}.pulls p USING (url, number)
       WHERE url = $1 AND p.ref = $2 AND p.closed_at IS NULL AND result = 'waits'`,
      [url, ref],
    );
    return rows.map((row) => recordOf(row));
  },
  async pullPlan(url: string, number: number, stack: string): Promise<PullPlan | undefined> {
    const rows = await query(`${selectPlans} WHERE url = $1 AND number = $2 AND stack = $3`, [url, number, stack]);
    return rows.map(planOf)[0];
  },
  /** A plan of files that are not the newest any more counts for nothing, and so does one for what `spec` said before. */
  async savePullPlan(
    url: string,
    number: number,
    { stack, content, result, digest, body, why }: Omit<PullPlan, "head" | "approval" | "told">,
    spec?: StackSpec,
  ): Promise<void> {
    await query(
      `WITH mine AS (UPDATE ${schema}.pull_plans SET result = $5, digest = $6, body = $7, why = $8, told = NULL, made_at = now(),
           approval = CASE WHEN approval ->> 'digest' = $6 THEN approval END
         WHERE url = $1 AND number = $2 AND stack = $3 AND content = $4
           AND ($9::jsonb IS NULL OR EXISTS (SELECT FROM ${schema}.stacks s WHERE s.name = $3 AND s.spec = $9::jsonb)) RETURNING url, number)
       UPDATE ${schema}.pulls p SET version = p.version + 1 FROM mine WHERE p.url = mine.url AND p.number = mine.number`,
      [
        url,
        number,
        stack,
        content,
        result,
        digest ?? null,
        body === undefined ? null : keptJson(body),
        why ?? null,
        spec === undefined ? null : keptJson(spec),
      ],
    );
  },
  /** Plans everything of it anew: it has no base until then, and what is said meanwhile stays. */
  async planPullAnew(url: string, number: number): Promise<void> {
    await query(
      `WITH all_of_it AS (UPDATE ${schema}.pull_plans SET result = 'waits', told = NULL WHERE url = $1 AND number = $2)
       UPDATE ${schema}.pulls SET base = '', said = NULL, version = version + 1 WHERE url = $1 AND number = $2`,
      [url, number],
    );
  },
  /** Everything that was said so far was heard; `said`: what was not carried out, and why. */
  async heardPull(url: string, number: number, updatedAt: string, lastComment: string, said?: string): Promise<void> {
    await query(
      `UPDATE ${schema}.pulls SET updated_at = $3, last_comment = $4, said = coalesce($5, said),
         version = version + CASE WHEN $5::text IS NULL THEN 0 ELSE 1 END WHERE url = $1 AND number = $2`,
      [url, number, updatedAt, lastComment, said ?? null],
    );
  },
  async lastHeard(url: string, number: number): Promise<string> {
    const rows = await query(`SELECT last_comment FROM ${schema}.pulls WHERE url = $1 AND number = $2`, [url, number]);
    return maybeText(rows[0]?.["last_comment"]) ?? "";
  },
  /** Adds a person's approval of a plan; false: it is not the plan any more. */
  async approvePull(
    url: string,
    number: number,
    stack: string,
    { by, at, why, ...approval }: Approval,
    decision?: Decided,
  ): Promise<boolean> {
    const voice: Voice = { by, at, ...onlyDefined({ why }) };
    const rows = await query(
      `WITH mine AS (UPDATE ${schema}.pull_plans SET approval =
           CASE WHEN approval ->> 'digest' = $4 AND ${stands} THEN approval || jsonb_build_object('also', coalesce(approval -> 'also', '[]') || $5::jsonb)
             ELSE $6 || $5::jsonb END
         WHERE url = $1 AND number = $2 AND stack = $3 AND digest = $4 RETURNING url, number),
         ${notedOf("mine", "$7")}
       UPDATE ${schema}.pulls p SET version = p.version + 1 FROM mine WHERE p.url = mine.url AND p.number = mine.number RETURNING p.number`,
      [url, number, stack, approval.digest, keptJson(voice), keptJson(approval), noteValue(decision)],
    );
    return rows.length > 0;
  },
  /** What was approved in a pull request before it was merged, and not too long ago. */
  async approvalBeforeMerge(stack: string, digest: string): Promise<Approval | undefined> {
    const rows = await query(
      `SELECT approval FROM ${schema}.pull_plans WHERE stack = $1 AND digest = $2 AND approval ->> 'digest' = $2
         AND ${stands} LIMIT 1`,
      [stack, digest],
    );
    return rows.map((row) => recordOf<Pick<PullPlan, "approval">>(row).approval)[0];
  },
  /** An approval of what was not merged counts for nothing; one of what was stays as long as it stands. */
  async closePull(url: string, number: number, merged: boolean): Promise<void> {
    await query(
      `WITH plans AS (DELETE FROM ${schema}.pull_plans WHERE url = $1 AND number = $2 AND (NOT $3 OR approval IS NULL)),
         old AS (DELETE FROM ${schema}.pulls WHERE closed_at < now() - interval '30 days'),
         rest AS (DELETE FROM ${schema}.pull_plans q WHERE NOT ${stands} AND NOT EXISTS (SELECT FROM ${schema}.pulls p
           WHERE p.url = q.url AND p.number = q.number AND p.closed_at IS NULL))
       UPDATE ${schema}.pulls SET closed_at = now() WHERE url = $1 AND number = $2`,
      [url, number, merged],
    );
  },
  /**
   * A pull request whose comment or statuses are to be written: one worker has it for a minute. Those that could not be
   * written before come last.
   */
  async takeUntold(): Promise<PullRecord | undefined> {
    const rows = await query(
      `UPDATE ${schema}.pulls SET telling_until = now() + interval '${tellingS} seconds'
       WHERE (url, number) IN (SELECT url, number FROM ${schema}.pulls WHERE closed_at IS NULL AND told_version < version
         AND (telling_until IS NULL OR telling_until < now()) ORDER BY telling_until NULLS FIRST, url, number LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING *`,
    );
    return rows.map(pullOf)[0];
  },
  /** `version`: absent where it could not be told; it is tried again after a while. */
  async toldPull(
    url: string,
    number: number,
    { version, comment, told }: { version?: number; comment?: string; told: Readonly<Record<string, string>> },
  ): Promise<void> {
    await query(
      `WITH plans AS (UPDATE ${schema}.pull_plans p SET told = t.value FROM jsonb_each_text($5::jsonb) t
         WHERE p.url = $1 AND p.number = $2 AND p.stack = t.key)
       UPDATE ${schema}.pulls SET told_version = coalesce($3, told_version), comment = coalesce($4, comment),
         telling_until = CASE WHEN $3::bigint IS NULL THEN now() + interval '${tellingS} seconds' END WHERE url = $1 AND number = $2`,
      [url, number, version ?? null, comment ?? null, keptJson(told)],
    );
  },
});

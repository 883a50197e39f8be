/** Plans that wait, and what people say to them. Each function is one statement. */
import { type Approval, joined, type Rejection, type UndoRequest } from "../decide";
import type { Letter } from "../notify";
import type { Status } from "../status";
import { type Database, keptJson, recordOf } from "./database";
import { type Decided, notedOf, noteValue } from "./people";
import type { PlanBody, StackRecord, WaitingOutline, WaitingPlan } from "./stacks";
import { ifStackStays, schema } from "./tables";

interface EarlierApproval {
  /** What people approved before the merge. */
  readonly before?: Approval;
  readonly now: Date;
}

export const planStatements = ({ query }: Database) => ({
  /**
   * Saves the plan that waits now. That voids the approval of another plan, and with `voids` the approval of this one
   * as well, also one of before the merge: what a round read (`seen`), and not what somebody said while it ended. A stack that left meanwhile has no plan.
   */
  async savePlan(
    stack: string,
    plan: { digest: string; revision: string; body: PlanBody },
    { voids = false, seen }: { readonly voids?: boolean; readonly seen?: Approval | undefined } = {},
  ): Promise<void> {
    await query(
      `WITH voided AS (UPDATE ${schema}.stacks SET approval = NULL
           WHERE name = $1 AND ($5 AND approval = $6::jsonb OR approval ->> 'digest' <> $2)),
         before AS (UPDATE ${schema}.pull_plans SET approval = NULL WHERE $5 AND stack = $1 AND digest = $2)
       INSERT INTO ${schema}.plans (stack, digest, revision, body) SELECT name, $2, $3, $4::jsonb ${ifStackStays}
       ON CONFLICT (stack) DO UPDATE SET revision = $3, body = $4,
         made_at = CASE WHEN ${schema}.plans.digest = $2 THEN ${schema}.plans.made_at ELSE now() END, digest = $2`,
      [stack, plan.digest, plan.revision, keptJson(plan.body), voids, seen === undefined ? null : keptJson(seen)],
    );
  },
  async dropPlan(stack: string): Promise<void> {
    await query(
      `WITH gone AS (DELETE FROM ${schema}.plans WHERE stack = $1)
       UPDATE ${schema}.stacks SET approval = NULL WHERE name = $1 AND approval IS NOT NULL`,
      [stack],
    );
  },
  /**
   * Keeps that the plan was rejected, so that it is not offered again; it does not wait any more. False: another plan
   * waits by now, or none.
   */
  async reject(
    stack: string,
    rejection: Rejection,
    change: Partial<Status>,
    letters: readonly Letter[] = [],
    decision?: Decided,
  ): Promise<boolean> {
    const rows = await query(
      `WITH gone AS (DELETE FROM ${schema}.plans WHERE stack = $1 AND digest = $4 RETURNING stack),
         before AS (UPDATE ${schema}.pull_plans p SET approval = NULL FROM gone WHERE p.stack = gone.stack AND p.digest = $4),
         told AS (INSERT INTO ${schema}.letters (place, receiver, body)
           SELECT letter ->> 'place', letter -> 'receiver', letter -> 'body' FROM gone, jsonb_array_elements($5::jsonb) AS letter),
         ${notedOf("gone", "$6")}
       UPDATE ${schema}.stacks s SET approval = NULL, rejection = $2, status = status || $3::jsonb, changed_at = now()
       FROM gone WHERE s.name = gone.stack RETURNING s.name`,
      [stack, keptJson(rejection), keptJson(change), rejection.digest, keptJson(letters), noteValue(decision)],
    );
    return rows.length > 0;
  },
  async rejectionOf(stack: string): Promise<Rejection | undefined> {
    const rows = await query(`SELECT rejection FROM ${schema}.stacks WHERE name = $1`, [stack]);
    return rows.map((row) => recordOf<Pick<StackRecord, "rejection">>(row).rejection)[0];
  },
  /** A person asks again: what was rejected may be offered again, and what was undone may be done again. */
  async forgetRejection(stack: string): Promise<void> {
    await query(
      `UPDATE ${schema}.stacks SET rejection = NULL, undoing = CASE WHEN undoing ? 'held' THEN NULL ELSE undoing - 'before' END
       WHERE name = $1 AND (rejection IS NOT NULL OR undoing IS NOT NULL)`,
      [stack],
    );
  },
  /**
   * A stack that was stopped is taken up again for it: nothing of it is sent before somebody approves it. What was
   * undone before stays so where this one comes to nothing.
   */
  async undo(stack: string, request: UndoRequest, decision?: Decided): Promise<void> {
    await query(
      `WITH asked AS (UPDATE ${schema}.stacks SET undoing = $2::jsonb || CASE WHEN undoing ? 'held' THEN jsonb_build_object('before', undoing)
           WHEN undoing ? 'before' THEN jsonb_build_object('before', undoing -> 'before') ELSE '{}' END,
         paused = paused AND stopping IS NULL, stopping = NULL, rejection = NULL, changed_at = now()
         WHERE name = $1 RETURNING name),
       ${notedOf("asked", "$3")} SELECT name FROM asked`,
      [stack, keptJson(request), noteValue(decision)],
    );
  },
  /**
   * What became of this request: undone while the files asked for `held`, or nothing, and what was undone before it
   * stays so. Another request stays.
   */
  async endUndo(stack: string, { at }: UndoRequest, held?: string): Promise<void> {
    await query(
      `UPDATE ${schema}.stacks SET undoing =
           CASE WHEN $3::text IS NULL THEN undoing -> 'before' ELSE (undoing - 'before') || jsonb_build_object('held', $3::text) END,
         changed_at = now() WHERE name = $1 AND undoing ->> 'at' = $2`,
      [stack, at, held ?? null],
    );
  },
  /** All plans that wait, the oldest first. */
  async waitingPlans(): Promise<readonly WaitingOutline[]> {
    const rows = await query(
      `SELECT p.stack, p.digest, p.made_at, coalesce(p.body ->> 'sum', '') AS sum, s.approval, coalesce((s.spec ->> 'approvers')::int, 1) AS approvers,
         s.spec ->> 'tenant' AS tenant, clock_timestamp() AS now, (SELECT q.approval FROM ${schema}.pull_plans q
           WHERE q.stack = p.stack AND q.digest = p.digest AND q.approval ->> 'digest' = p.digest AND (q.approval ->> 'until')::timestamptz > now()
           LIMIT 1) AS before FROM ${schema}.plans p JOIN ${schema}.stacks s ON s.name = p.stack
       WHERE s.status ->> 'plan' = p.digest ORDER BY p.made_at, p.stack`,
    );
    return rows.map((row) => {
      const { before, now, approval: since, ...plan } = recordOf<WaitingOutline & EarlierApproval>(row);
      return { ...plan, approval: before === undefined ? since : joined(before, since, now) };
    });
  },
  /** A round that ends while a person rejects its plan may have written the plan once more. */
  async waitingPlan(stack: string): Promise<WaitingPlan | undefined> {
    const rows = await query(
      `SELECT stack, digest, revision, body, made_at FROM ${schema}.plans p WHERE stack = $1
         AND NOT EXISTS (SELECT FROM ${schema}.stacks s WHERE s.name = p.stack AND s.rejection ->> 'digest' = p.digest)`,
      [stack],
    );
    return rows.map(recordOf<WaitingPlan>)[0];
  },
  /**
   * Adds one person's approval to those of the same plan, and gives all of them; absent: another plan waits by now, or
   * none. Two people who approve at the same time both count, and who approves while another one rejects is refused.
   * Where several have to approve it stands as long as each of them said, and else as long as one of them did.
   */
  async approve(
    stack: string,
    approval: Approval,
    letters: readonly Letter[] = [],
    decision?: Decided,
  ): Promise<Approval | undefined> {
    const { by, why, at, throughWindow, digest } = approval;
    const rows = await query(
      `WITH given AS (UPDATE ${schema}.stacks s SET rejection = NULL, changed_at = now(), approval =
           CASE WHEN s.approval ->> 'digest' = $3 AND (s.approval ->> 'until')::timestamptz > $6::timestamptz
             THEN s.approval || jsonb_build_object('also', coalesce(s.approval -> 'also', '[]') || $4::jsonb) || $5::jsonb
               || CASE WHEN ((s.approval ->> 'until')::timestamptz > ($2::jsonb ->> 'until')::timestamptz) = (s.spec ? 'approvers')
                    THEN jsonb_build_object('until', $2::jsonb -> 'until') ELSE '{}' END
             ELSE $2 END
         FROM ${schema}.plans p WHERE s.name = $1 AND p.stack = s.name AND p.digest = $3
           AND s.rejection ->> 'digest' IS DISTINCT FROM $3 RETURNING s.approval),
       told AS (INSERT INTO ${schema}.letters (place, receiver, body)
         SELECT letter ->> 'place', letter -> 'receiver', letter -> 'body' FROM given, jsonb_array_elements($7::jsonb) AS letter),
       ${notedOf("given", "$8")}
       SELECT approval FROM given`,
      [
        stack,
        keptJson(approval),
        digest,
        keptJson({ by, why, at }),
        keptJson(throughWindow === undefined ? {} : { throughWindow }),
        at,
        keptJson(letters),
        noteValue(decision),
      ],
    );
    return rows.map((row) => recordOf<Pick<StackRecord, "approval">>(row).approval)[0];
  },
});

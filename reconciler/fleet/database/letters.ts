/** What receivers are still to be told. Each function is one statement. */

import type { Letter } from "../notify";
import { type Database, recordOf } from "./database";
import { schema } from "./tables";

export interface WaitingLetter extends Letter {
  readonly id: number;
}

/** A receiver that has not got everything yet. */
export interface ReceiverBehind {
  readonly place: string;
  readonly waiting: number;
  /** Why it did not take one; absent: none was refused. */
  readonly why?: string;
  /** The oldest message that waits is of this time. */
  readonly since: Date;
}

/** At most so many letters for one receiver at a time, so that one with many does not keep the others waiting. */
const mostOfPlace = 8;
/** A worker that took letters and died holds them back for so long. */
const heldS = 120;
const keptDays = 1;

export const letterStatements = ({ query }: Database) => ({
  /**
   * Takes letters that are due: no other worker takes them meanwhile. One behind an older one of its stack that is on its
   * way, or waits for a receiver to come back, waits as well: what a receiver is told last is how the stack is.
   */
  async takeLetters(busy: readonly string[]): Promise<readonly WaitingLetter[]> {
    const rows = await query(
      `WITH due AS (SELECT id, row_number() OVER (PARTITION BY place ORDER BY id) AS nth FROM ${schema}.letters l
           WHERE next_at <= now() AND NOT place = ANY($1) AND NOT EXISTS (SELECT FROM ${schema}.letters older
             WHERE older.place = l.place AND older.body -> 'stack' = l.body -> 'stack' AND older.id < l.id AND older.next_at > now())),
         mine AS (SELECT id FROM ${schema}.letters WHERE id IN (SELECT id FROM due WHERE nth <= ${mostOfPlace}) AND next_at <= now()
           FOR UPDATE SKIP LOCKED)
       UPDATE ${schema}.letters l SET next_at = now() + interval '${heldS} seconds', held_until = now() + interval '${heldS} seconds',
         tries = tries + 1 FROM mine WHERE l.id = mine.id RETURNING l.id, l.place, l.receiver, l.body`,
      [busy],
    );
    return rows.map(recordOf<WaitingLetter>).sort((a, b) => a.id - b.id);
  },
  async sentLetters(ids: readonly number[]): Promise<void> {
    await query(`DELETE FROM ${schema}.letters WHERE id = ANY($1)`, [ids]);
  },
  /**
   * What was not sent of these letters stays. `why` null: they are due at once. Else they wait for a pause that grows to
   * ten minutes, and with them all others of the receiver, but for those that another worker is sending.
   */
  async keepLetters(place: string, mine: readonly number[], why: string | null): Promise<void> {
    await query(
      `UPDATE ${schema}.letters SET why = coalesce($3, why), next_at = now() + CASE WHEN $3::text IS NULL THEN interval '0'
         ELSE least(600, power(2, least((SELECT max(tries) FROM ${schema}.letters WHERE place = $1), 10))) * interval '1 second' END
       WHERE place = $1 AND (id = ANY($2) OR $3::text IS NOT NULL AND held_until IS DISTINCT FROM next_at)`,
      [place, mine, why],
    );
  },
  /** Deletes what this receiver did not take for a day, and tells how much. */
  async giveUpLetters(place: string): Promise<number> {
    const rows = await query(
      `DELETE FROM ${schema}.letters WHERE place = $1 AND made_at < now() - interval '${keptDays} day' RETURNING id`,
      [place],
    );
    return rows.length;
  },
  /** Those that wait for the longest first. */
  async receiversBehind(): Promise<readonly ReceiverBehind[]> {
    const rows = await query(
      `SELECT place, count(*)::int AS waiting, max(why) AS why, min(made_at) AS since FROM ${schema}.letters
       GROUP BY place ORDER BY since LIMIT 100`,
    );
    return rows.map(recordOf<ReceiverBehind>);
  },
  async lettersWaiting(): Promise<{ readonly waiting: number; readonly failing: number }> {
    const [row = {}] = await query(
      `SELECT count(*)::int AS waiting, count(*) FILTER (WHERE why IS NOT NULL)::int AS failing FROM ${schema}.letters`,
    );
    return recordOf(row);
  },
});

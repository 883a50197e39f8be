/** People: their tokens, sessions and sign-ins, and the decisions. Each function is one statement. */
import { type Grant, isRole, type Visitor } from "../access";
import { type Database, keptJson, namesIn, type Row, recordOf } from "./database";
import { schema } from "./tables";

export interface DecisionRecord {
  readonly id: number;
  readonly at: Date;
  readonly who: string;
  readonly what: string;
  readonly stack?: string;
  readonly detail?: string;
}

export type Decided = Omit<DecisionRecord, "id" | "at">;

/**
 * A part of a statement that does what a person decided: the decision is in the history where it was done, also where the
 * answer is lost. `from`: what it was done to; no row, and nothing was decided. `value`: the decision, or null.
 */
export const notedOf = (from: string, value: string): string =>
  `noted AS (INSERT INTO ${schema}.decisions (who, what, stack, detail)
     SELECT d ->> 'who', d ->> 'what', d ->> 'stack', d ->> 'detail' FROM ${from}, (SELECT ${value}::jsonb AS d) said WHERE d IS NOT NULL)`;

export const noteValue = (decision: Decided | undefined): string | null =>
  decision === undefined ? null : keptJson(decision);

/** A statement, or a part of one, that writes a list of decisions. */
export const noteAll = (value: string): string =>
  `INSERT INTO ${schema}.decisions (who, what, stack, detail)
     SELECT d.who, d.what, d.stack, d.detail FROM jsonb_to_recordset(${value}::jsonb) AS d (who text, what text, stack text, detail text)`;

export const peopleStatements = ({ query }: Database) => ({
  note: async (decision: Decided): Promise<void> => void (await query(noteAll("$1"), [keptJson([decision])])),
  async decisions(stacks: string | readonly string[] | undefined, most: number): Promise<readonly DecisionRecord[]> {
    const rows = await query(
      `SELECT * FROM ${schema}.decisions WHERE $1::text[] IS NULL OR stack = ANY($1) ORDER BY id DESC LIMIT $2`,
      [namesIn(stacks), most],
    );
    return rows.map(recordOf<DecisionRecord>);
  },
  async addToken(
    token: { hash: string; name: string; role: string; stacks: readonly string[] },
    decision?: Decided,
  ): Promise<void> {
    await query(
      `WITH made AS (INSERT INTO ${schema}.tokens (hash, name, role, stacks) VALUES ($1, $2, $3, $4) RETURNING name),
         ${notedOf("made", "$5")} SELECT name FROM made`,
      [token.hash, token.name, token.role, keptJson(token.stacks), noteValue(decision)],
    );
  },
  async dropTokens(name: string, decision?: Decided): Promise<number> {
    // Sessions under this name end as well, and what was approved under it and is not carried out yet is approved no more.
    const rows = await query(
      `WITH closed AS (DELETE FROM ${schema}.sessions WHERE name = $1),
         voided AS (UPDATE ${schema}.stacks SET approval = NULL, changed_at = now()
           WHERE approval ->> 'by' = $1 OR approval -> 'also' @> jsonb_build_array(jsonb_build_object('by', $1::text))),
         ${notedOf("(SELECT) once", "$2")}
       DELETE FROM ${schema}.tokens WHERE name = $1 RETURNING hash`,
      [name, noteValue(decision)],
    );
    return rows.length;
  },
  async visitorWithToken(hash: string): Promise<Visitor | undefined> {
    const rows = await query(
      `SELECT name, role, stacks FROM ${schema}.tokens WHERE hash = $1 AND (until IS NULL OR until > now())`,
      [hash],
    );
    return rows.map(visitorInRow)[0];
  },
  async visitorWithSession(hash: string): Promise<Visitor | undefined> {
    const rows = await query(
      `SELECT name, role, stacks, grants FROM ${schema}.sessions WHERE hash = $1 AND until > now()`,
      [hash],
    );
    return rows.map(visitorInRow)[0];
  },
  /** Whose tokens let them approve, and which stacks. */
  async approvers(): Promise<readonly Visitor[]> {
    const rows = await query(
      `SELECT DISTINCT name, role, stacks FROM ${schema}.tokens
       WHERE role IN ('approver', 'operator') AND (until IS NULL OR until > now()) ORDER BY name`,
    );
    return rows.map(visitorInRow);
  },
  anyToken: async (): Promise<boolean> => (await query(`SELECT 1 FROM ${schema}.tokens LIMIT 1`)).length > 0,
  async openSession({ hash, name, grants, hours }: Visitor & { hash: string; hours: number }): Promise<void> {
    // A server of the former version reads one role: the first of them.
    const { role = "viewer", stacks = [] } = grants[0] ?? {};
    await query(
      `WITH old AS (DELETE FROM ${schema}.sessions WHERE until < now())
       INSERT INTO ${schema}.sessions (hash, name, role, stacks, grants, until)
       VALUES ($1, $2, $3, $4, $5, now() + $6 * interval '1 hour')`,
      [hash, name, role, keptJson(stacks), keptJson(grants), hours],
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
  /** True once; a second answer with the same state is refused. */
  async endSignIn(state: string): Promise<boolean> {
    const rows = await query(`DELETE FROM ${schema}.sign_ins WHERE state = $1 RETURNING until > now() AS fresh`, [
      state,
    ]);
    return rows[0]?.["fresh"] === true;
  },
  async closeSession(hash: string): Promise<void> {
    await query(`DELETE FROM ${schema}.sessions WHERE hash = $1`, [hash]);
  },
});

function visitorInRow(row: Row): Visitor {
  const { name, role, stacks, grants } = recordOf<Omit<Visitor, "grants"> & Partial<Visitor> & Grant>(row);
  return { name, grants: grants ?? (isRole(role) ? [{ role, stacks }] : []) };
}

/** Codes of the fleet: of its file, its database and its commands. */
import type { DiagnosticCode } from "../../core/model/diagnostic-code";
import { type Explanation, row } from "./row";

export const fleet = {
  "fleet/bad-input": row(
    "An input of a stack is no output of another stack.",
    "Write ${stack.NAME.outputs.OUTPUT}. A value that is known beforehand goes under vars.",
  ),
  "fleet/bad-schedule": row("The schedule of a window cannot be read.", "Write five fields as in cron, in quotes."),
  "fleet/bad-sign-in": row(
    "The issuer or the url of sign_in is no address that people may be sent to with a sign-in.",
    "Write addresses that begin with https:// and hold no password and no query; http:// is for this machine alone.",
  ),
  "fleet/bad-source": row(
    "A source does not say where the files of a stack are.",
    "Name exactly one of git, folder and artifact; an artifact needs its digest.",
  ),
  "fleet/circle": row("Stacks wait for each other in a circle.", "Take one depends_on or input out of it."),
  "fleet/credential-in-url": row(
    "An address in the fleet's file holds a password, which would be kept in the database and shown on pages.",
    "Take it out: the workers read credentials from their environment or from the command under credential.",
  ),
  "fleet/database": row(
    "The fleet's database does not answer, or refuses.",
    "Correct --database or RECONCILE_FLEET_DATABASE, and start the server.",
  ),
  "fleet/no-database": row(
    "A fleet command was not told where the fleet's database is.",
    "Give --database postgres://HOST/DATABASE, or set RECONCILE_FLEET_DATABASE.",
  ),
  "fleet/no-plan": row(
    "The plan that was to be approved or rejected is not the one that waits: another took its place, or none waits.",
    "Look at the one that waits now: reconcile fleet plan STACK.",
  ),
  "fleet/no-stack": row("The fleet has no stack of this name.", "reconcile fleet list names them."),
  "fleet/no-state": row(
    "A stack of the fleet has no place for its state.",
    'Write state: "postgres://HOST/DATABASE?state=${stack}" under defaults.',
  ),
  "fleet/no-undo": row(
    "A run of a fleet cannot be taken back: there is no such run, it is still under way, or it carried nothing out that the fleet knows of.",
    "Name a run that was applied (reconcile fleet history STACK), or take it back from the stack's files: reconcile undo.",
  ),
  "fleet/package-missing": row(
    "The fleet needs packages that a single project does not, and they are not installed.",
    "Install them beside this one: npm install pg-boss@12.38.0 cron-parser hono @hono/node-server (and @electric-sql/pglite for --database embedded, pg for postgres://, openid-client for sign_in).",
  ),
  "fleet/paused": row(
    "The stack is paused, so that it is not looked at.",
    "reconcile fleet resume STACK takes it up again, and looks at it at once.",
  ),
  "fleet/read-refused": row(
    "A stack's own file reads (reads:) a state that is of no stack of its tenant, and the fleet's file does not permit it. Nothing was read.",
    "Permit it in the fleet's file, and sync it: tenants: { NAME: { may_read: [STACK] } }, or the address of the state where it is no stack's.",
  ),
  "fleet/source": row(
    "The files of a stack could not be fetched.",
    "Read what git or the server said, and try it by hand from the worker's machine.",
  ),
  "fleet/twice": row("The same name is declared in two files of the fleet.", "Keep one of them."),
  "fleet/unknown-service": row(
    "A stack names a service that the fleet does not declare.",
    "Declare it under services.",
  ),
  "fleet/unknown-stack": row("A stack names another one that the fleet does not have.", "Correct the name."),
  "fleet/unknown-tenant": row("A stack names a tenant that the fleet does not declare.", "Declare it under tenants."),
  "fleet/role": row(
    "The token of whoever asked does not let them do this to the stack.",
    "Ask somebody with the role that is named, or whoever makes the tokens.",
  ),
  "fleet/server": row(
    "`fleet serve` could not be asked: its address, its answer or the token is wrong.",
    "Check --server (RECONCILE_FLEET_SERVER) and RECONCILE_FLEET_TOKEN.",
  ),
  "fleet/own-change": row(
    "Somebody approved a plan that carries out a commit of their own, and the stack says not_the_author.",
    "Somebody else approves it.",
  ),
  "fleet/approved-already": row(
    "Somebody approved a plan twice, and the stack wants several people (approvers).",
    "Somebody else approves it as well.",
  ),
  "fleet/window-closed": row(
    "A plan was approved while the fleet's windows keep it from being carried out; a closed window voids approvals.",
    "Approve it when the window is over, or with --through-window and a reason that everybody is told; or change windows in the fleet's file and sync it.",
  ),
} satisfies Partial<Record<DiagnosticCode, Explanation>>;

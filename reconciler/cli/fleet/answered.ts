/**
 * Answers a person's command: from the fleet's database, or from `fleet serve`, which knows what the person's token lets
 * them do.
 */

import { fieldsIn } from "../../core/text/objects";
import { addressFault, withoutPassword } from "../../core/text/outside-policy";
import { printableLines } from "../../core/text/printable";
import { type PersonCommand, personCommands, type Typed } from "../../fleet/person";
import { setting } from "../../outside/environment";
import { canBeHeader } from "../../service/credential";
import { fail } from "../compose";
import { CommandFailed } from "../crash";
import type { Flags } from "../flags";
import type { Output } from "../output";
import { asAway, keptToken, notReached, postTo } from "./login";
import { asConsent, withFleet } from "./session";

interface PersonRequest {
  readonly args: readonly string[];
  readonly flags: Pick<Flags, "database" | "server">;
  readonly output: Output;
}

export const answeredByServer = async (
  name: PersonCommand,
  asked: PersonRequest,
  typed: Omit<Typed, "args"> = {},
): Promise<number> => asked.output.finish({ exitCode: await answerToPerson(name, asked, typed) });

/** The exit code alone, for a command that goes on. */
export async function answerToPerson(
  name: PersonCommand,
  { args, flags, output: all }: PersonRequest,
  typed: Omit<Typed, "args"> = {},
): Promise<number> {
  const server = serverOf(flags);
  // A host of repositories, or whoever gave a reason, wrote some of it.
  const output: Output = {
    ...all,
    print: (text) => all.print(printableLines(text)),
    printLines: (lines) => all.printLines(Array.from(lines, printableLines)),
  };
  const answered =
    server === undefined
      ? withFleet(flags, (session) =>
          personCommands[name].answer({ ...session, atDatabase: true }, { args, ...typed }, output),
        )
      : askServer(server, name, { args, ...typed }, output);
  return personCommands[name].act === "see" ? answered : tellingDoubt(answered, name === "undo" ? undefined : args[0]);
}

/** Who asked for something and got no answer does not know whether it was done. */
export const tellingDoubt = (answered: Promise<number>, stack?: string): Promise<number> =>
  answered.catch((error: unknown) => {
    throw withDoubt(error, stack);
  });

function withDoubt(error: unknown, stack: string | undefined): unknown {
  if (!(error instanceof CommandFailed) || fieldsIn(error.cause)["isAway"] !== true) return error;
  const looks = `reconcile fleet ${stack === undefined ? "history" : `history ${stack}`} tells whether it was done`;
  return new CommandFailed(error.diagnostics.map((one) => ({ ...one, fix: [one.fix ?? [], looks].flat().join("; ") })));
}

/** Absent: the database is asked. What was typed counts before the environment. */
export function serverOf({ database, server }: PersonRequest["flags"]): URL | undefined {
  if (database !== undefined && server !== undefined)
    throw fail("cli/bad-flag", "--server and --database name two fleets", "leave one of them out");
  const named = server ?? (database === undefined ? setting("RECONCILE_FLEET_SERVER") : undefined);
  if (named === undefined) return undefined;
  const url = URL.canParse(named) ? new URL(named) : null;
  const fault = addressFault(url, false);
  if (url === null || fault !== undefined)
    throw fail(
      "fleet/server",
      fault === "in_the_clear"
        ? `${withoutPassword(named)} is reached without encryption, so that a token would be read on the way`
        : `--server cannot be ${JSON.stringify(fault === "holds_a_credential" ? "an address with a credential" : withoutPassword(named))}`,
      "--server https://fleet.example, and the token in RECONCILE_FLEET_TOKEN",
    );
  return url;
}

const answerLimitMs = 60_000;

async function askServer(server: URL, name: PersonCommand, typed: Typed, output: Output): Promise<number> {
  const token = setting("RECONCILE_FLEET_TOKEN") ?? keptToken(server);
  if (token !== undefined) output.hide([token]);
  // The error of a header that cannot be sent repeats it.
  if (token !== undefined && !canBeHeader(token))
    throw fail(
      "service/malformed-credential",
      "RECONCILE_FLEET_TOKEN cannot be sent as a header",
      "set it to one line of printable ASCII",
    );
  const answer = await postTo(server, `api/commands/${name}`, typed, { token, limitMs: answerLimitMs });
  const body = fieldsIn(await answer.json().catch(() => undefined));
  const { exit_code: exitCode, said } = body;
  if (answer.status === 200 && isExitCode(exitCode) && Array.isArray(said)) {
    for (const one of said) {
      const { text, event } = fieldsIn(one);
      if (typeof text === "string") output.print(text);
      else if (typeof event === "object" && event !== null) output.event(event);
    }
    return exitCode;
  }
  if (answer.status === 401)
    throw fail(
      "fleet/server",
      `${server.host} knows ${token === undefined ? "nobody without a token" : "no such token"}`,
      "reconcile fleet login, or set RECONCILE_FLEET_TOKEN; whoever reaches the database makes one: reconcile fleet token NAME",
    );
  const { code, error, fix } = body;
  if (typeof error !== "string" || typeof fix !== "string")
    throw notReached(server, `it answered ${answer.status}, and not as the pages of a fleet do`);
  const refusal = fail(isPersonRefusal(code) ? code : "fleet/server", error, fix);
  throw answer.status >= 500 ? asAway(refusal) : asConsent(refusal, code);
}

const isExitCode = (value: unknown): value is number => Number.isInteger(value);

/** The codes with which a server refuses; another one may be of a newer version. */
const personRefusals = [
  "fleet/no-stack",
  "fleet/no-plan",
  "fleet/paused",
  "fleet/role",
  "fleet/window-closed",
  "fleet/own-change",
  "fleet/approved-already",
  "fleet/say-why",
  "fleet/no-undo",
] as const;
const isPersonRefusal = (code: unknown): code is (typeof personRefusals)[number] =>
  personRefusals.some((one) => one === code);

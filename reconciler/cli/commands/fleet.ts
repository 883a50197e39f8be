/** `reconcile fleet …`: many projects, reconciled by many workers that share one PostgreSQL. */

import { existsSync } from "node:fs";
import { withoutUsers } from "../../core/text/outside-policy";
import { hashOf, newToken } from "../../fleet/access";
import { carryOutSync, plannedSync } from "../../fleet/actions";
import type { StackChange } from "../../fleet/changes";
import type { PersonCommand } from "../../fleet/person";
import { endWhenStuck } from "../../outside/stuck";
import { ask } from "../ask";
import {
  type Command,
  command,
  type Invocation,
  maybeOne,
  noArguments,
  oneArgument,
  type Positionals,
  two,
} from "../command";
import { fail, readCount, readDurationFlag } from "../compose";
import type { FlagName } from "../flags";
import { answeredByServer, serverOf, tellingDoubt } from "../fleet/answered";
import { signIn, signOut } from "../fleet/login";
import { allStacksOf, followedFleet, readFleetFiles } from "../fleet/read-file";
import { servePages } from "../fleet/serve";
import { type FleetSession, withFleet } from "../fleet/session";
import { tryFleet } from "../fleet/try";
import { cacheOf, serveHealth, startWork, untilSignal, untilStopped } from "../fleet/work";

const section = "The fleet";
const fleetFlags = ["database", "json", "json-into", "no-color", "log-level"] as const;
/** Those of commands that `fleet serve` answers as well. */
const personFlags = [...fleetFlags, "server"] as const;
const aStack = oneArgument("the name of a stack: reconcile fleet list");

export const fleetSyncCommand = command({
  usage: "fleet sync [FILE|DIR]… [--auto-approve]",
  summary: "writes a fleet's file into its database, after showing what changes",
  section,
  examples: [
    ["reconcile fleet sync fleet.yaml", "shows which stacks are added, changed and released, and asks"],
    ["reconcile fleet sync fleet/ --auto-approve --json", "in a pipeline"],
    ["reconcile fleet sync", "where the fleet follows its file in a repository: lets go what left it"],
  ],
  flags: [...fleetFlags, "auto-approve", "cache"],
  run: sync,
});

/** Much longer than the largest plan keeps a busy machine. */
const stuckMs = 60_000;

export const fleetWorkCommand = command({
  usage: "fleet work [--concurrency 8] [--service NAME]… [--listen HOST:PORT]",
  summary: "runs a worker, of which there may be any number; SIGTERM drains it",
  section,
  longRunning: true,
  examples: [["reconcile fleet work --concurrency 8", "works until it is stopped; /healthz and /metrics on port 9465"]],
  flags: [...fleetFlags, "concurrency", "service", "listen", "cache"],
  positionals: noArguments,
  run: work,
});

export const fleetServeCommand = command({
  usage: "fleet serve [--listen HOST:PORT]",
  summary: "the pages, their API, and webhooks for pushes",
  section,
  longRunning: true,
  examples: [["reconcile fleet serve --listen 127.0.0.1:8470", "without tokens it answers to this machine alone"]],
  flags: [...fleetFlags, "listen", "cache"],
  positionals: noArguments,
  run: serveFleet,
});

export const fleetTokenCommand = command({
  usage: "fleet token NAME [--role viewer|approver|operator] [--stack PATTERN]… [--revoke]",
  summary: "a token for the pages and their API, shown once and kept as a hash",
  section,
  examples: [
    ["reconcile fleet token ann --role approver --stack 'prod-*'", "sees and approves the stacks that fit"],
    ["reconcile fleet token ann --revoke", "takes all of hers away"],
  ],
  flags: [...fleetFlags, "role", "stack", "revoke"],
  positionals: oneArgument("whose token it is"),
  run: (invocation) => tellingDoubt(withFleet(invocation.flags, (session) => printToken(invocation, session))),
});

export const fleetLoginCommand = command({
  usage: "fleet login --server URL [--revoke]",
  summary: "signs the commands of this machine in at the pages, by the browser",
  section,
  examples: [
    ["reconcile fleet login --server https://fleet.example", "then list, approve, stop and the others with --server"],
    ["reconcile fleet login --server https://fleet.example --revoke", "ends it"],
  ],
  flags: ["server", "revoke", "json", "json-into", "no-color", "log-level"],
  positionals: noArguments,
  run: ({ flags: given, output }) => {
    const server = serverOf({ server: given.server });
    if (server === undefined)
      throw fail("fleet/server", "no server is named", "--server https://fleet.example, or RECONCILE_FLEET_SERVER");
    return given.revoke === true ? signOut(server, output) : signIn(server, output);
  },
});

/** A command of a person that has no flags of its own. */
const answered = <A extends readonly string[]>(
  name: PersonCommand,
  words: Pick<Command<never, A>, "usage" | "summary" | "examples" | "positionals">,
) => command({ ...words, section, flags: personFlags, run: (invocation) => answeredByServer(name, invocation) });

export const fleetListCommand = answered("list", {
  usage: "fleet list",
  summary: "every stack and its status",
  examples: [["reconcile fleet list --json", "one line a stack, for programs"]],
  positionals: noArguments,
});

export const fleetShowCommand = answered("show", {
  usage: "fleet show STACK",
  summary: "one stack: its status, what waits, its last runs",
  examples: [["reconcile fleet show prod-shop", "its condition, and what to do about it"]],
  positionals: aStack,
});

export const fleetPlanCommand = answered("plan", {
  usage: "fleet plan STACK",
  summary: "the plan that waits for approval",
  examples: [["reconcile fleet plan prod-shop", "as the terminal shows a plan, with its id"]],
  positionals: aStack,
});

const decisionFlags = [...personFlags, "why"] as const;
const aPlan: Positionals<readonly [string, string]> = two(
  "the name of a stack and the id of its plan: reconcile fleet plan STACK",
);

export const fleetApproveCommand = command({
  usage: "fleet approve STACK PLAN [--for 24h] [--why TEXT] [--through-window]",
  summary: "lets the fleet carry out exactly this plan",
  section,
  examples: [
    ["reconcile fleet approve prod-shop 4f1c0a9d --why reviewed", "what it loses and opens was read"],
    ["reconcile fleet approve prod-shop 4f1c0a9d --through-window --why down", "in a closed window"],
  ],
  flags: [...decisionFlags, "for", "through-window"],
  positionals: aPlan,
  run: (invocation) => {
    const { for: lasts, why, "through-window": throughWindow } = invocation.flags;
    const forMs = readDurationFlag(lasts ?? "24h", "--for");
    return answeredByServer("approve", invocation, { forMs, why, throughWindow });
  },
});

export const fleetRejectCommand = command({
  usage: "fleet reject STACK PLAN [--why TEXT]",
  summary: "refuses the plan that waits",
  section,
  examples: [["reconcile fleet reject prod-shop 4f1c0a9d --why later", "the reason is kept"]],
  flags: decisionFlags,
  positionals: aPlan,
  run: (invocation) => answeredByServer("reject", invocation, { why: invocation.flags.why }),
});

/** Acts on one stack. */
const act = (name: "run" | "pause" | "resume", summary: string, says: string) =>
  answered(name, {
    usage: `fleet ${name} STACK`,
    summary,
    examples: [[`reconcile fleet ${name} prod-shop`, says]],
    positionals: aStack,
  });

export const fleetRunCommand = act("run", "looks at a stack now", "ahead of everything that the clock started");
export const fleetPauseCommand = act("pause", "lets a stack alone", "no round of it until it is resumed");
export const fleetResumeCommand = act("resume", "takes a paused or stalled stack up again", "and looks at it now");

export const fleetStopCommand = command({
  usage: "fleet stop STACK [--why TEXT] [--now]",
  summary: "ends the run that is under way, and lets none begin until the stack is resumed",
  section,
  examples: [
    ["reconcile fleet stop prod-shop --why wrong-file", "the step that runs is ended first"],
    ["reconcile fleet stop prod-shop --now", "at once; the next run looks up what became of the rest"],
  ],
  flags: [...personFlags, "why", "now"],
  positionals: aStack,
  run: (invocation) => answeredByServer("stop", invocation, { why: invocation.flags.why, now: invocation.flags.now }),
});

export const fleetUndoCommand = command({
  usage: "fleet undo RUN [--why TEXT]",
  summary: "plans back to before a run; the plan waits for approval",
  section,
  examples: [["reconcile fleet undo 4711 --why wrong-flavor", "then: reconcile fleet plan STACK, and approve it"]],
  flags: [...personFlags, "why"],
  positionals: oneArgument("the number of a run: reconcile fleet history"),
  run: (invocation) => answeredByServer("undo", invocation, { why: invocation.flags.why }),
});

export const fleetLogCommand = answered("log", {
  usage: "fleet log STACK|RUN",
  summary: "what a run did, step by step",
  examples: [
    ["reconcile fleet log prod-shop", "of its last run"],
    ["reconcile fleet log 4711", "of this run"],
  ],
  positionals: oneArgument("the name of a stack, or the number of a run"),
});

export const fleetHistoryCommand = answered("history", {
  usage: "fleet history [STACK]",
  summary: "the history: runs, decisions and approvals, and who made them",
  examples: [["reconcile fleet history prod-shop", "runs and decisions, the newest first"]],
  positionals: maybeOne,
});

export const fleetTryCommand = command({
  usage: "fleet try [--listen HOST:PORT]",
  summary: "a whole fleet in one process: its own database, the embedded service, three stacks, the pages",
  section,
  longRunning: true,
  examples: [["reconcile fleet try", "nothing to install, nothing outside of this folder; Ctrl-C ends it"]],
  flags: [...fleetFlags, "listen"],
  positionals: noArguments,
  run: (invocation) => tryFleet(invocation),
});

async function fromFiles(files: readonly string[], cache: string) {
  const fleet = readFleetFiles(files);
  return { fleet, stacks: await allStacksOf(fleet, cache) };
}

async function sync(invocation: Invocation): Promise<number> {
  const { args, flags: given, output } = invocation;
  const cache = cacheOf(given);
  const own = args.length > 0 || existsSync("fleet.yaml") ? await fromFiles(args, cache) : undefined;
  return withFleet(given, async (session) => {
    const { follow } = own === undefined ? await session.records.settings() : {};
    const { fleet, stacks } =
      own ?? (follow === undefined ? await fromFiles(args, cache) : await followedFleet(follow, cache));
    const changes = await plannedSync(session, stacks, cache);
    for (const change of changes) {
      output.event({ type: "stack_change", stack: change.name, action: change.action, fields: change.fields });
      output.print(stackChangeText(change));
    }
    if (changes.length === 0) output.print("No stack changes.");
    if (changes.length > 0 && !(await mayWrite(invocation, changes)))
      return output.finish({
        exitCode: 3,
        diagnostics: [
          {
            severity: "error",
            code: "consent/approval",
            summary: "the fleet was not changed: nobody approved it",
            fix: "--auto-approve, or answer yes",
          },
        ],
      });
    await carryOutSync(session, fleet, changes);
    await session.records.forgetFollowed();
    if (fleet.follow !== undefined)
      output.note(`From now on it follows ${withoutUsers(fleet.follow.url)} ${fleet.follow.ref} ${fleet.follow.path}.`);
    output.print(`${stacks.length} ${stacks.length === 1 ? "stack" : "stacks"} in ${session.database.location}.`);
    return output.finish({ exitCode: 0 });
  });
}

const signOfStackChange: Readonly<Record<StackChange["action"], string>> = {
  add: "+",
  change: "~",
  release: "-",
  destroy: "!",
};

function stackChangeText({ action, name, fields, insteadOf }: StackChange): string {
  const renamed =
    insteadOf === undefined
      ? ""
      : `, with the files of ${insteadOf.name} and another state: it makes everything anew. Where it is ${insteadOf.name} under another name, give it that state: ${insteadOf.state}`;
  const what: Readonly<Record<StackChange["action"], string>> = {
    add: `is added${renamed}`,
    change: `changes: ${fields.join(", ")}`,
    release: "is released: the fleet no longer looks at it, and its resources stay as they are",
    destroy: "is to be destroyed: everything it made waits for an approval of its own",
  };
  return `${signOfStackChange[action]} ${name} ${what[action]}`;
}

async function mayWrite(
  { flags: given, output }: Pick<Invocation<"auto-approve">, "flags" | "output">,
  changes: readonly StackChange[],
): Promise<boolean> {
  if (given["auto-approve"] === true) return true;
  if (process.stdin.isTTY !== true || output.json) return false;
  const going = changes.filter(({ action }) => action === "release" || action === "destroy").length;
  const question = going === 0 ? "Write this?" : `Write this, and let ${going} go?`;
  return ask(question, new AbortController().signal, process.stdin, process.stderr);
}

const usualListen = "127.0.0.1:9465";

async function work(invocation: Invocation): Promise<number> {
  const { flags: given, output } = invocation;
  const concurrency = readCount(given.concurrency, "--concurrency") ?? 8;
  const listen = given.listen ?? usualListen;
  return withFleet(
    given,
    async (session) => {
      // One whose loop hangs is ended, so that another one goes on with its rounds.
      const watch = endWhenStuck(stuckMs, "This worker");
      const worker = await startWork(session, {
        concurrency,
        services: given.service ?? [],
        cache: cacheOf(given),
        say: (text) => output.note(text),
      });
      const serve = (at: string) => serveHealth(at, session, worker);
      // A second worker on one machine takes any free port, unless a port was named.
      const server =
        listen === "none"
          ? undefined
          : await serve(listen).catch((error: unknown) => {
              if (given.listen !== undefined) throw error;
              return serve("127.0.0.1:0");
            });
      output.note(
        `Working on ${session.database.location}, ${concurrency} rounds at once${server === undefined ? "" : `; ${server.url}/metrics`}.`,
      );
      await untilStopped(output, worker);
      await server?.close();
      await watch.stop();
      return output.finish({ exitCode: 0 });
    },
    { sendsOnly: false, patient: (text) => output.note(text) },
  );
}

async function serveFleet(invocation: Invocation): Promise<number> {
  const { flags: given, output } = invocation;
  return withFleet(
    given,
    async (session) => {
      const server = await servePages(session, {
        listen: given.listen ?? "127.0.0.1:8470",
        cache: cacheOf(given),
        say: (text) => output.note(text),
      });
      output.note(`The pages of ${session.database.location}: ${server.url}`);
      await untilSignal();
      await server.close();
      return output.finish({ exitCode: 0 });
    },
    { patient: (text) => output.note(text) },
  );
}

async function printToken(
  { flags: given, args, output }: Invocation<FlagName, readonly [string]>,
  { records, who }: FleetSession,
): Promise<number> {
  const [name] = args;
  if (given.revoke === true) {
    const gone = await records.dropTokens(name, { who, what: "revoke token", detail: name });
    output.print(`${gone} ${gone === 1 ? "token" : "tokens"} of ${name} ${gone === 1 ? "is" : "are"} gone.`);
    return output.finish({ exitCode: 0 });
  }
  const made = newToken();
  const role = given.role ?? "viewer";
  const token = { hash: hashOf(made), name, role, stacks: given.stack ?? [] };
  await records.addToken(token, { who, what: "make token", detail: `${name} (${role})` });
  output.note("This is shown once:");
  output.event({ type: "token", name, role, token: made });
  output.print(made);
  return output.finish({ exitCode: 0 });
}

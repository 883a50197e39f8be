/**
 * The commands of a person: what `reconcile fleet …` prints, from the database or, through `fleet serve`, with the
 * roles of whoever asks. Both ways run these functions.
 */
import { type Act, may, maySeeAll, roleNeeded, type Visitor } from "./access";
import { ActionRefused, approve, type Desk, pause, reject, resume, runNow, stackNamed, stop, undo } from "./actions";
import type { Records } from "./database/records";
import { asksWhy } from "./decide";
import {
  changeLines,
  decisionEvent,
  followLines,
  logText,
  planEvent,
  runEvent,
  runTable,
  seenOf,
  stackLine,
  stackTable,
} from "./views";

/** What a person typed. */
export interface Typed {
  readonly args: readonly string[];
  readonly why?: string | undefined;
  readonly now?: boolean | undefined;
  readonly forMs?: number | undefined;
  readonly throughWindow?: boolean | undefined;
}

/** Where the answer goes: text for people, events for programs. */
export interface Says {
  print(text: string): void;
  printLines(lines: Iterable<string>): void;
  event(event: object): void;
}

type Answer = (desk: Desk, typed: Typed, says: Says) => Promise<number>;

const first = ({ args }: Typed): string => args[0] ?? "";

async function listStacks({ records }: Desk, _: Typed, says: Says): Promise<number> {
  const stacks = await records.stacks();
  for (const stack of stacks) says.event(stackLine(stack));
  says.printLines(stackTable(stacks, await records.now()));
  for (const line of followLines(await records.followed())) says.print(`\n${line}`);
  return 0;
}

async function show(desk: Desk, typed: Typed, says: Says): Promise<number> {
  const { records } = desk;
  const stack = await stackNamed(desk, first(typed));
  const [plan, runs] = [await records.waitingPlan(stack.name), await records.runs(stack.name, 5)];
  says.event({ ...stackLine(stack), spec: stack.spec, outputs: stack.outputs });
  if (plan !== undefined) says.event(planEvent(plan));
  for (const run of runs) says.event(runEvent(run));
  says.printLines(stackTable([stack], await records.now()));
  if (plan !== undefined)
    says.print(`\nThe plan ${plan.digest} waits: ${plan.body.why}\n  reconcile fleet plan ${stack.name}\n`);
  says.print("");
  says.printLines(runTable(runs));
  return 0;
}

async function plan(desk: Desk, typed: Typed, says: Says): Promise<number> {
  const stack = await stackNamed(desk, first(typed));
  const waiting = await desk.records.waitingPlan(stack.name);
  if (waiting === undefined) {
    says.print(`No plan of ${stack.name} waits for approval.`);
    return 0;
  }
  says.event(planEvent(waiting));
  const { body, digest } = waiting;
  if (body.change !== undefined) says.printLines(changeLines(body.change));
  if (body.exposure !== undefined) says.print(body.exposure);
  says.print(body.text);
  says.print(`\nIt waits because ${body.why}`);
  says.print(
    `  reconcile fleet approve ${stack.name} ${digest}${asksWhy(body.consents) ? " --why …" : ""}\n  reconcile fleet reject ${stack.name} ${digest} --why …`,
  );
  return 2;
}

const runTyped = async ({ records }: Desk, typed: Typed) =>
  /^\d{1,15}$/.test(first(typed)) ? records.run(Number(first(typed))) : undefined;

async function log(desk: Desk, typed: Typed, says: Says): Promise<number> {
  const { records } = desk;
  const about = first(typed);
  const run = (await runTyped(desk, typed)) ?? (await records.runs((await stackNamed(desk, about)).name, 1))[0];
  if (run === undefined) {
    says.print(`${about} has not run yet.`);
    return 0;
  }
  says.event(runEvent(run));
  says.printLines(runTable([run]));
  const { approval, report } = run;
  if (approval !== undefined)
    for (const { by, at, why } of [approval, ...(approval.also ?? [])])
      says.print(`\nApproved by ${by}, ${at}${why === undefined ? "" : `: ${why}`}`);
  if (report !== undefined) {
    says.print(`\n${report.exposure === undefined ? "" : `${report.exposure}\n`}${report.plan}`);
    says.print("");
  }
  for (const { at, body } of await records.lines(run.id)) {
    says.event({ type: "log", run: run.id, time: at.toISOString(), event: body });
    says.print(`${at.toISOString().slice(11, 19)}  ${logText(body)}`);
  }
  return 0;
}

async function history(desk: Desk, { args: [name] }: Typed, says: Says): Promise<number> {
  const { records } = desk;
  const stack = name === undefined ? undefined : (await stackNamed(desk, name)).name;
  const [runs, decisions] = [await records.runs(stack, 50), await records.decisions(stack, 50)];
  for (const run of runs) says.event(runEvent(run));
  for (const decision of decisions) says.event(decisionEvent(decision));
  says.printLines(runTable(runs));
  if (decisions.length > 0) says.print("");
  for (const { at, who, what, stack: about, detail } of decisions)
    says.print(
      `${at.toISOString().slice(0, 19).replace("T", " ")}  ${who} ${what} ${about ?? ""} ${detail ?? ""}`.trimEnd(),
    );
  return 0;
}

/** Acts on one stack and says what came of it. */
const acting =
  (act: (desk: Desk, stack: string, typed: Typed) => Promise<string>): Answer =>
  async (desk, typed, says) => {
    says.print(await act(desk, first(typed), typed));
    return 0;
  };

/** What each command needs the role for, and what it does. */
export const personCommands = {
  list: { act: "see", answer: listStacks },
  show: { act: "see", answer: show },
  plan: { act: "see", answer: plan },
  log: { act: "see", answer: log },
  history: { act: "see", answer: history },
  approve: {
    act: "approve",
    answer: acting(async (desk, stack, { args: [, digest = ""], why, forMs, throughWindow = false }) => {
      const { missing, paused } = await approve(desk, stack, digest, { forMs, why, throughWindow });
      if (missing === 0 && paused) return `Approved: ${stack} is applied once reconcile fleet resume ${stack} lets it.`;
      return missing === 0
        ? `Approved: ${stack} is applied by the next free worker.`
        : `Approved: ${stack} is applied once ${missing === 1 ? "one more person has" : `${missing} more people have`} approved it.`;
    }),
  },
  reject: {
    act: "reject",
    answer: acting(async (desk, stack, { args: [, digest = ""], why }) => {
      await reject(desk, stack, digest, { why });
      return `Rejected: ${stack} stays as it is until its files or its state are others.`;
    }),
  },
  run: {
    act: "run",
    answer: acting(async (desk, stack) => {
      await runNow(desk, stack);
      return `${stack} is looked at by the next free worker.`;
    }),
  },
  pause: {
    act: "pause",
    answer: acting(async (desk, stack) =>
      (await pause(desk, stack))
        ? `No further run of ${stack} begins until it is resumed; the one that is under way goes on to its end: reconcile fleet stop ${stack} ends it.`
        : `${stack} is let alone until it is resumed.`,
    ),
  },
  resume: {
    act: "resume",
    answer: acting(async (desk, stack) => {
      await resume(desk, stack);
      return `${stack} is taken up again, and looked at by the next free worker.`;
    }),
  },
  stop: {
    act: "stop",
    answer: acting(async (desk, stack, { why, now = false }) => {
      const ran = await stop(desk, stack, { why, now });
      return ran
        ? `Stopping ${stack}: ${now ? "nothing is waited for" : "the step that runs is ended first"}, and then nothing more is sent. reconcile fleet log ${stack} shows what was done; reconcile fleet resume ${stack} goes on.`
        : `No run of ${stack} is under way, and none begins until reconcile fleet resume ${stack}.`;
    }),
  },
  undo: {
    act: "undo",
    answer: async (desk, typed, says) => {
      const stack = await undo(desk, await runTyped(desk, typed), first(typed), typed);
      says.print(
        `The undo of run ${first(typed)} of ${stack} is planned by the next free worker, and waits for approval: reconcile fleet plan ${stack}`,
      );
      return 0;
    },
  },
} as const satisfies Record<string, { readonly act: Act; readonly answer: Answer }>;

export type PersonCommand = keyof typeof personCommands;

/** The command with the roles of a visitor: a stack that they may not see is not there. */
export async function answerFor(
  visitor: Visitor,
  { records, queue }: Omit<Desk, "who">,
  name: PersonCommand,
  typed: Typed,
  says: Says,
): Promise<number> {
  const { act, answer } = personCommands[name];
  const desk = { records: recordsSeenBy(records, visitor), queue, who: visitor.name };
  if (act !== "see") {
    // A run that is not there is the command's to tell.
    const stack = name === "undo" ? (await runTyped(desk, typed))?.stack : (await stackNamed(desk, first(typed))).name;
    if (stack !== undefined && !may(visitor, act, stack))
      throw new ActionRefused(
        "fleet/role",
        `${visitor.name} may not ${act} ${stack}`,
        `ask somebody with the role ${roleNeeded(act)}: reconcile fleet token NAME --role ${roleNeeded(act)}`,
      );
  }
  return answer(desk, typed, says);
}

/** What these commands read, of the stacks that the visitor may see. */
export function recordsSeenBy(records: Records, visitor: Visitor): Records {
  const sees = (name: string | undefined): boolean =>
    name === undefined ? maySeeAll(visitor) : may(visitor, "see", name);
  const stacks = async () => (await records.stacks()).filter(({ name }) => sees(name));
  const seen = async (names: string | readonly string[] | undefined): Promise<readonly string[] | undefined> => {
    if (names !== undefined) return [names].flat().filter(sees);
    return maySeeAll(visitor) ? undefined : (await stacks()).map(({ name }) => name);
  };
  return {
    ...records,
    stacks,
    stack: async (name) => (sees(name) ? records.stack(name) : undefined),
    waitingPlan: async (name) => (sees(name) ? records.waitingPlan(name) : undefined),
    run: async (id) => {
      const run = await records.run(id);
      return sees(run?.stack ?? "") ? run : undefined;
    },
    runs: async (names, most) => records.runs(await seen(names), most),
    decisions: async (names, most) => records.decisions(await seen(names), most),
    followed: async () => seenOf(await records.followed(), sees),
  };
}

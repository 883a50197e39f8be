/** A fleet for programs and for terminals: lines of JSON and lines of text, from the same records that the pages show. */

import { fieldsIn, onlyDefined } from "../core/text/objects";
import type { StackStanding } from "./database/pages";
import type { DecisionRecord } from "./database/people";
import type { RunRecord, RunResult } from "./database/runs";
import type { StackRecord, WaitingPlan } from "./database/stacks";
import type { Followed } from "./database/workers";
import { namesIn } from "./decide";
import { addressList } from "./notify";
import type { FileChange } from "./sources/change";
import { pausedReason, stoppedReason } from "./status";

/** The line of `fleet list --json`; its keys are fixed. */
export const stackLine = ({ name, status, paused, stopping, lastRun, nextAt }: StackRecord): object => ({
  type: "stack",
  stack: name,
  ready: status.ready && !paused,
  // Nothing follows a run that was stopped.
  reconciling: status.reconciling && (!paused || lastRun?.endedAt === undefined),
  stalled: status.stalled,
  drifted: status.drifted,
  awaiting_approval: status.awaitingApproval,
  blocked: status.blocked,
  paused,
  reason: reasonOf({ name, status, paused, stopping }),
  observed_revision: status.observedRevision,
  applied_revision: status.appliedRevision,
  plan: status.plan,
  failures: status.failures,
  last_run: lastRun === undefined ? null : runLine(lastRun),
  next_at: paused || nextAt === undefined ? null : nextAt.toISOString(),
  waiting_for: status.waitingFor,
});

const runLine = (run: RunRecord): object => ({
  id: run.id,
  worker: run.worker,
  cause: run.cause,
  started_by: run.startedBy ?? null,
  started_at: run.startedAt.toISOString(),
  ended_at: run.endedAt?.toISOString() ?? null,
  result: run.result ?? null,
  reason: run.reason ?? null,
  revision: run.revision ?? null,
  plan: run.plan ?? null,
  approved_by: run.approval === undefined ? null : namesIn(run.approval).join(", "),
  counts: run.counts,
});

export const runEvent = (run: RunRecord): object => ({ type: "run", stack: run.stack, ...runLine(run) });

export const decisionEvent = ({ at, who, what, stack, detail }: DecisionRecord): object => ({
  type: "decision",
  time: at.toISOString(),
  who,
  what,
  stack: stack ?? null,
  detail: detail ?? null,
});

export const planEvent = ({ stack, digest, revision, madeAt, body }: WaitingPlan): object => ({
  type: "plan",
  stack,
  plan: digest,
  revision,
  made_at: madeAt.toISOString(),
  why: body.why,
  consents: body.consents,
  opens: body.opens,
  text: body.text,
  summary: body.sum,
  cost: body.cost,
  commits: body.change?.commits.map(({ id, author, at, subject, link }) => ({
    id,
    author,
    at,
    message: subject,
    ...onlyDefined({ link }),
  })),
});

/** The service may differ, an input, what the fleet's file says of the stack, or a person wants it undone or deleted. */
export const noCommitText = "No commit since the last apply: what this plan changes does not come from the files.";

/** What was changed in the files, a line a commit. */
export const changeLines = ({ commits, more }: FileChange): string[] => [
  ...(commits.length === 0 ? [noCommitText] : []),
  ...commits.map(
    ({ id, author, at, subject, link }) =>
      `${id.slice(0, 12)}  ${author}, ${at.slice(0, 16).replace("T", " ")}  ${subject}${link === undefined ? "" : `  ${link}`}`,
  ),
  ...(more === 0 ? [] : [`and ${more} older ones`]),
  "",
];

/** What a person has to do about the fleet's own file in its repository. */
export function followLines(followed: Followed | undefined): string[] {
  const { leaving = [], anew = [], why } = followed ?? {};
  return [
    ...(why === undefined ? [] : [`The fleet's own file could not be carried out: ${why}`]),
    ...(leaving.length === 0
      ? []
      : [
          `${leaving.length === 1 ? "One stack is" : `${leaving.length} stacks are`} not in the fleet's own file any more: ${addressList(leaving)}. reconcile fleet sync, in a folder without a fleet.yaml, lets go; put back what left by mistake.`,
        ]),
    ...(anew.length === 0
      ? []
      : [
          `Not added, with the files of a stack that is there and another state, where everything would be made a second time: ${addressList(anew)}. Give it the state of that stack in the fleet's own file; reconcile fleet sync says which, and adds it.`,
        ]),
  ];
}

/** Without the stacks that somebody does not see; why a file is refused may name any of them. */
export function seenOf(
  followed: Followed | undefined,
  sees: (stack: string | undefined) => boolean,
): Followed | undefined {
  if (followed === undefined || sees(undefined)) return followed;
  const { leaving, anew = [] } = followed;
  return { ...followed, leaving: leaving.filter(sees), anew: anew.filter(sees), why: undefined };
}

export function reasonOf({
  name,
  status,
  paused,
  stopping,
}: Pick<StackRecord, "name" | "status" | "paused" | "stopping">): string | null {
  if (!paused) return status.reason;
  return stopping === undefined ? pausedReason(name) : stoppedReason(name, stopping);
}

/** The parts of a reason: the errors of a file are one after the other, each with its line. */
export function partsOfReason(reason: string): string[] {
  const parts = reason.split(/; (?=\S+:\d+ )/);
  return /^\S+:\d+ /.test(reason) ? parts : [reason];
}

const mostInList = 240;

/** For a list of many stacks: the first part, and how many more there are. */
export function briefReason(reason: string): string {
  const [first = "", ...others] = partsOfReason(reason);
  const cut = first.length > mostInList ? `${first.slice(0, mostInList - 1)}…` : first;
  return others.length === 0 ? cut : `${cut} (and ${others.length} more)`;
}

/** The most urgent condition, in one word for a person. */
export type StackCondition = (typeof conditions)[number];

export const conditions = [
  "Ready",
  "Reconciling",
  "Stalled",
  "Drifted",
  "AwaitingApproval",
  "Blocked",
  "Paused",
  "Failing",
  "New",
] as const;

export function stackConditionOf({
  status,
  paused,
  lastRun,
}: {
  readonly status: StackStanding;
  readonly paused: boolean;
  readonly lastRun?: unknown;
}): StackCondition {
  if (paused) return "Paused";
  if (status.stalled) return "Stalled";
  if (status.awaitingApproval) return "AwaitingApproval";
  if (status.blocked) return "Blocked";
  if (status.failures > 0) return "Failing";
  if (status.drifted) return "Drifted";
  if (status.reconciling) return "Reconciling";
  if (status.ready) return "Ready";
  return lastRun === undefined ? "New" : "Reconciling";
}

export function stackTable(stacks: readonly StackRecord[], now: Date): string[] {
  if (stacks.length === 0) return ["No stacks: reconcile fleet sync FILE"];
  const rows = stacks.map((stack) => [
    stack.name,
    stackConditionOf(stack),
    stack.status.appliedRevision?.slice(-12) ?? "-",
    stack.lastRun === undefined ? "-" : `${ago(stack.lastRun.startedAt, now)} ago`,
    stack.paused || stack.nextAt === undefined ? "-" : until(stack.nextAt, now),
    reasonOf(stack)?.split("\n")[0] ?? "",
  ]);
  return columns([["STACK", "CONDITION", "APPLIED", "LAST RUN", "NEXT", "WHY"], ...rows]);
}

/** Consecutive runs of one stack with the same result for the same reason. */
export interface AlikeRuns {
  /** The newest of them. */
  readonly run: RunRecord;
  readonly times: number;
  /** When the first of them began. */
  readonly since: Date;
}

/** Puts runs with the same result and reason together, where they follow each other and changed nothing. The newest run comes first. */
export function alikeRuns(runs: readonly RunRecord[]): AlikeRuns[] {
  const found: AlikeRuns[] = [];
  const newest = new Map<string, number>();
  for (const run of runs) {
    const at = newest.get(run.stack);
    const last = at === undefined ? undefined : found[at];
    if (at !== undefined && last !== undefined && isAlike(last.run, run))
      found[at] = { ...last, times: last.times + 1, since: run.startedAt };
    else newest.set(run.stack, found.push({ run, times: 1, since: run.startedAt }) - 1);
  }
  return found;
}

const repeated: readonly (RunResult | undefined)[] = ["in_sync", "observed", "awaiting_approval", "blocked", "failed"];

const isAlike = (one: RunRecord, other: RunRecord): boolean =>
  repeated.includes(one.result) &&
  one.result === other.result &&
  one.reason === other.reason &&
  one.revision === other.revision &&
  one.plan === other.plan &&
  one.startedBy === other.startedBy;

export const runTable = (runs: readonly RunRecord[]): string[] =>
  runs.length === 0
    ? ["No runs yet."]
    : columns([
        ["RUN", "STACK", "STARTED", "TOOK", "RESULT", "CAUSE", "REVISION", "WHY"],
        ...alikeRuns(runs).map(({ run, times, since }) => [
          String(run.id),
          run.stack,
          clock(run.startedAt),
          run.endedAt === undefined ? "-" : span(run.endedAt.getTime() - run.startedAt.getTime()),
          run.result ?? "running",
          run.startedBy === undefined ? run.cause : `${run.cause} (${run.startedBy})`,
          run.revision?.slice(-12) ?? "-",
          `${run.reason?.split("\n")[0] ?? ""}${times === 1 ? "" : ` (${times} times since ${clock(since)})`}`.trim(),
        ]),
      ]);

const clock = (at: Date): string => at.toISOString().slice(0, 19).replace("T", " ");

/** Columns of text; the last one is not padded. */
function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
      .join("  ")
      .trimEnd(),
  );
}

export function span(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 1) return `${Math.max(0, Math.round(ms))} ms`;
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} d`;
}

export const ago = (at: Date, now: Date): string => span(now.getTime() - at.getTime());
const until = (at: Date, now: Date): string => (at <= now ? "now" : `in ${span(at.getTime() - now.getTime())}`);

const leftText = ({ kind, id, name }: Readonly<Record<string, unknown>>): string =>
  [kind, name, id === undefined ? undefined : `(${String(id)})`].filter((part) => part !== undefined).join(" ");

/** A line of a run's log for a person. */
export function logText(body: Readonly<Record<string, unknown>>): string {
  const { type, status, title, message, resources } = body;
  if (type === "refresh") return `looked at ${String(resources)} resources (${String(status)})`;
  if (type === "orphan") return `left behind: ${leftText(fieldsIn(body["orphan"]))}`;
  if (type !== "step") return JSON.stringify(body);
  return `${String(status).padEnd(8)} ${String(title)}${message === undefined ? "" : `: ${String(message)}`}`;
}

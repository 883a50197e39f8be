/**
 * The runs that a state remembers, for people and as JSON lines: who applied what, when, from where, and how the run
 * ended.
 */

import type { RecordedRun } from "../core/model/recorded";
import { fewOf } from "../core/text/list-text";
import { printable } from "../core/text/printable";
import { countOf, durationText, hang, layoutOf, listText, type TextOptions } from "./style";
import { shortCommit } from "./where-text";

/** The start of a run's id, which is enough to name the run in a command. */
export const shortId = (id: string): string => id.slice(0, 8);

export function historyText(runs: readonly RecordedRun[], options: TextOptions = {}): string {
  if (runs.length === 0) return "The state remembers no run yet.\n";
  const { paint, width } = layoutOf(options);
  const lines: string[] = [];
  for (const run of [...runs].reverse()) {
    const good = run.outcome === "done";
    lines.push(`${paint("strong", shortId(run.id))}  ${run.at}  ${paint(good ? "good" : "danger", outcomeText(run))}`);
    const details = [
      changesText(run),
      ...(run.by === undefined ? [] : [`${run.by.command} by ${run.by.who} on ${run.by.host}`]),
      ...(run.by?.commit === undefined ? [] : [`commit ${shortCommit(run.by.commit)}`]),
      ...((run.consents ?? []).length === 0 ? [] : [`permitted: ${(run.consents ?? []).join(", ")}`]),
      ...((run.unseen ?? []).length === 0 ? [] : [`accepted and not seen: ${(run.unseen ?? []).join("; ")}`]),
      ...(Object.keys(run.open).length === 0 ? [] : [`not done: ${fewOf(Object.keys(run.open), mostOpenTold)}`]),
    ];
    for (const detail of details) lines.push(...hang("          ", printable(detail), width));
  }
  return `${lines.join("\n")}\n`;
}

const mostOpenTold = 5;

function outcomeText(run: RecordedRun): string {
  const { outcome, at, endedAt, steps } = run;
  const took = endedAt === undefined ? "" : ` in ${durationText(Date.parse(endedAt) - Date.parse(at))}`;
  switch (outcome) {
    case "done":
      return `done${took}`;
    case "failed":
      return `failed${took}`;
    case "waiting":
      return steps?.waiting === 0
        ? `accepted, and not all of it seen${took}`
        : `something waits for an outside act${took}`;
    case "interrupted":
      return `stopped${took}`;
    default:
      return "has no end: it runs still, or it was killed";
  }
}

function changesText({ changes = {}, steps }: RecordedRun): string {
  const words = Object.entries(changes).map(([action, count]) => `${count} to ${action}`);
  const done =
    steps === undefined
      ? ""
      : `; ${countOf(steps.done, "step")} done${steps.failed > 0 ? `, ${steps.failed} failed` : ""}`;
  return `${words.length === 0 ? "no change of a resource" : listText(words)}${done}`;
}

export const runAsEvent = (run: RecordedRun): object => ({
  type: "run",
  run: shortId(run.id),
  plan: run.id,
  started: run.at,
  ended: run.endedAt ?? null,
  outcome: run.outcome ?? null,
  who: run.by?.who ?? null,
  host: run.by?.host ?? null,
  command: run.by?.command ?? null,
  commit: run.by?.commit ?? null,
  consents: run.consents ?? [],
  changes: run.changes ?? {},
  steps: run.steps ?? null,
  open: Object.keys(run.open),
  unseen: run.unseen ?? [],
  can_undo: run.before !== undefined,
});

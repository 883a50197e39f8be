/**
 * Which steps may start now: those whose needs are met and whose resources nobody holds, longest way to the end first.
 * Knows no clock and sends nothing; requests in flight are limited by the client, so waiting never costs a place. Only
 * where one thing at a time was asked for does a step wait for the one before it, and then what was begun is finished
 * before anything else begins.
 *
 *   need.on   satisfied by                       otherwise
 *   done      done                               the step is skipped (waiting, if what it needs waits)
 *   end       any end                            waiting, if what it needs waits: that has not ended yet
 *   failed    failed                             the step is not needed, and says nothing
 */

import type { Step } from "../plan/step";
import { mustGet } from "../text/invariant";
import { appendTo } from "../text/objects";

export type StepEnd = "done" | "failed" | "unknown" | "waiting" | "skipped" | "unneeded";

export interface Ended {
  readonly step: Step;
  readonly end: StepEnd;
  /** For a skipped or waiting step: the step that decided it. */
  readonly because?: string;
}

export interface Scheduler {
  /** Steps to start now; each is given out once. */
  next(): readonly Step[];
  /** Tells how a step ended; answers with the steps that end without running because of it. */
  finish(id: string, end: StepEnd): readonly Ended[];
  /** Starts nothing any more; answers with everything that had not started. */
  stop(): readonly Ended[];
  /** The estimate of the longest way to the end through a step. */
  pathMs(id: string): number;
}

interface ScheduledNode {
  readonly step: Step;
  readonly neededBy: { readonly id: string; readonly on: Step["needs"][number]["on"] }[];
  waitingFor: number;
  /** When the last step that this one needed ended; 0 while it needed none that was done. */
  continues: number;
  status: "blocked" | "ready" | "running" | StepEnd;
  pathMs: number;
}

export function createScheduler(steps: readonly Step[], oneAtATime = false): Scheduler {
  const nodes = new Map<string, ScheduledNode>();
  for (const step of steps)
    nodes.set(step.id, { step, neededBy: [], waitingFor: 0, continues: 0, status: "blocked", pathMs: 0 });
  for (const { step } of nodes.values()) {
    for (const need of step.needs) {
      const before = nodes.get(need.step);
      if (before === undefined) continue;
      before.neededBy.push({ id: step.id, on: need.on });
      mustGet(nodes, step.id).waitingFor++;
    }
  }
  // Steps come in an order that respects every edge, so one pass backwards sees every follower first.
  for (const step of [...steps].reverse()) {
    const node = mustGet(nodes, step.id);
    let longest = 0;
    for (const { id } of node.neededBy) longest = Math.max(longest, mustGet(nodes, id).pathMs);
    node.pathMs = longest + step.estimateMs;
  }

  const held = new Set<string>();
  let ready: ScheduledNode[] = [];
  /** Ready steps whose resource is held, by that resource: they are looked at again only when it is released. */
  const queued = new Map<string, ScheduledNode[]>();
  let stopped = false;
  let running = 0;
  let endings = 0;
  const makeReady = (node: ScheduledNode): void => {
    node.status = "ready";
    ready.push(node);
  };
  for (const node of nodes.values()) if (node.waitingFor === 0) makeReady(node);

  const isOpen = (node: ScheduledNode): boolean => node.status === "blocked" || node.status === "ready";

  function end(node: ScheduledNode, status: StepEnd, ended: Ended[]): void {
    const stack: { node: ScheduledNode; status: StepEnd; because?: string }[] = [{ node, status }];
    for (let item = stack.pop(); item !== undefined; item = stack.pop()) {
      if (item.node.status !== "running" && !isOpen(item.node)) continue;
      if (item.node !== node) ended.push({ step: item.node.step, end: item.status, because: item.because });
      item.node.status = item.status;
      for (const { id, on } of item.node.neededBy) {
        const next = mustGet(nodes, id);
        if (!isOpen(next)) continue;
        const verdict = endOfNeed(on, item.status);
        if (verdict === undefined) {
          next.waitingFor--;
          next.continues = endings;
          if (next.waitingFor === 0 && !stopped) makeReady(next);
        } else stack.push({ node: next, status: verdict, because: item.node.step.id });
      }
    }
  }

  return {
    next() {
      if (stopped || ready.length === 0 || (oneAtATime && running > 0)) return [];
      const candidates = ready
        .filter((node) => node.status === "ready")
        .sort((a, b) => (oneAtATime ? b.continues - a.continues : 0) || b.pathMs - a.pathMs);
      ready = [];
      const started: Step[] = [];
      for (const node of candidates) {
        if (oneAtATime && running > 0) {
          ready.push(node);
          continue;
        }
        const busy = node.step.holds.find((resource) => held.has(resource));
        if (busy !== undefined) {
          appendTo(queued, busy, node);
          continue;
        }
        for (const resource of node.step.holds) held.add(resource);
        node.status = "running";
        running++;
        started.push(node.step);
      }
      return started;
    },
    finish(id, status) {
      const node = mustGet(nodes, id);
      if (node.status === "running") running--;
      endings++;
      for (const resource of node.step.holds) {
        held.delete(resource);
        for (const waiting of queued.get(resource) ?? []) if (waiting.status === "ready") ready.push(waiting);
        queued.delete(resource);
      }
      const ended: Ended[] = [];
      end(node, status, ended);
      return ended;
    },
    stop() {
      stopped = true;
      const ended: Ended[] = [];
      for (const node of nodes.values()) {
        if (!isOpen(node)) continue;
        node.status = "skipped";
        ended.push({ step: node.step, end: "skipped" });
      }
      return ended;
    },
    pathMs: (id) => mustGet(nodes, id).pathMs,
  };
}

/** `undefined`: satisfied. */
function endOfNeed(on: "done" | "end" | "failed", end: StepEnd): StepEnd | undefined {
  switch (on) {
    case "done":
      return end === "done" ? undefined : end === "waiting" ? "waiting" : end === "unneeded" ? "unneeded" : "skipped";
    case "end":
      return end === "waiting" ? "waiting" : undefined;
    case "failed":
      return end === "failed" ? undefined : "unneeded";
  }
}

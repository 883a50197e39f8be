/**
 * Reads the files of a stack for the first time in a process that can be ended, and weighs them. What was read within
 * the limits and is little work is read and planned by the worker itself from then on; what is much has a process of its
 * own in every round.
 */
import type { Diagnostic } from "../../core/model/diagnostic";
import { canonicalJson } from "../../core/text/canonical-json";
import type { ReadRequest } from "./apart-calls";
import type { Children } from "./children";

export interface Readers {
  /** Resolves with what is wrong with the files; nothing: they can be read. `revision` names what they hold now. */
  check(stack: string, request: ReadRequest, revision: string, signal?: AbortSignal): Promise<Checked>;
}

export interface Checked {
  readonly problems: readonly Diagnostic[];
  /** Reading and planning them is too much for a loop that others wait for. */
  readonly isHeavy: boolean;
  /** What a plan of them took of a processor. */
  weighed(cpuMs: number): void;
}

/** Planning what is read and judged within this takes less than half a second. */
const lightMs = 100;
const lightPlanMs = 500;
const mostReadingsKnown = 20_000;
/** Files that are wrong are read again in each round, which is little work for the usual mistake. */
const muchToBeWrongMs = 2000;

export function createReaders(children: Children, muchMs = muchToBeWrongMs): Readers {
  /** Whether what was read is much. */
  const known = new Map<string, boolean>();
  return {
    async check(stack, request, revision, signal) {
      const key = canonicalJson([revision, request.folder, request.flags]);
      const weighed = (cpuMs: number): void => {
        known.set(key, cpuMs > lightPlanMs);
      };
      const before = known.get(key);
      if (before !== undefined || !children.canStart) return { problems: [], isHeavy: before === true, weighed };
      // A reader asks for nothing.
      const lent = await children.lend(stack, {}, signal);
      const { problems, cpuMs = Number.POSITIVE_INFINITY } = await lent
        .call("read", request)
        .finally(() => lent.giveBack());
      const isHeavy = cpuMs > lightMs;
      if (known.size >= mostReadingsKnown) known.clear();
      if (problems.length === 0) known.set(key, isHeavy);
      else if (cpuMs > muchMs) children.putLast(stack);
      return { problems, isHeavy, weighed };
    },
  };
}

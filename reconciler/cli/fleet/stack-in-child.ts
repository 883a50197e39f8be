/**
 * A process that reads the files of stacks, and plans and carries out those that are too much for the worker's own loop.
 * Whoever started it may end it at any time: to the state and the service that is a worker that died.
 */
import { diagnosticsIn } from "../../core/model/diagnostic";
import { invariant } from "../../core/text/invariant";
import type { Planned, Project } from "../../fleet/project";
import { withhold } from "../../outside/environment";
import { endWhenStuck } from "../../outside/stuck";
import { checkFiles } from "../check-files";
import { readWorkspace } from "../workspace";
import type { ForChild, ForWorker, PlannedApart, ReadApart, ReadRequest } from "./apart-calls";
import { createHereOpener } from "./open-project";
import { createPeer, thrownOf } from "./peer";

/** For the case that whoever started it died and cannot end it. */
const stuckChildMs = 120_000;

const spentMs = (since: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1000;
};

function readStackHere({ folder, flags, trust }: ReadRequest): ReadApart {
  const began = process.cpuUsage();
  try {
    const workspace = readWorkspace({ args: [folder], flags }, trust === undefined ? {} : { trust });
    if (workspace.readAgain !== undefined) return { problems: [] };
    try {
      checkFiles(workspace, {});
    } catch {
      // What stands in the way of a judgement shows itself again in the round, where it can be told.
    }
    return { problems: [], cpuMs: spentMs(began) };
  } catch (error) {
    // What is no problem of the files shows itself again in the round as well.
    const problems = diagnosticsIn(error) ?? [];
    return problems.length === 0 ? { problems } : { problems, cpuMs: spentMs(began) };
  }
}

interface Open {
  readonly project: Project;
  readonly began: NodeJS.CpuUsage;
  planned?: Planned;
  unlock?: () => void;
  /** Resolves when the lock is let go. */
  locked?: Promise<void>;
}

/** `done`: called whenever a stack is done with, and nobody waits for this process. */
export function serveStacks(done: () => void): void {
  endWhenStuck(stuckChildMs, "a process of a worker");
  process.on("disconnect", () => process.exit());
  let open: Open | undefined;
  const opened = (): Open => {
    invariant(open !== undefined, "no stack is open");
    return open;
  };
  const shown = (planned: Planned): PlannedApart => {
    const { picture, apply: _, ...rest } = planned;
    const { began } = opened();
    opened().planned = planned;
    return { ...rest, picture: picture(), cpuMs: spentMs(began) };
  };
  const worker = createPeer<ForWorker, ForChild>(process, {
    turns: () => undefined,
    // Something of the warmth of a process that has read before: what is loaded once is not the file's doing.
    read: (request) => {
      setImmediate(done);
      const first = readStackHere(request);
      return first.problems.length === 0 && first.cpuMs !== undefined && first.cpuMs < 1000
        ? readStackHere(request)
        : first;
    },
    async open({ input, cache, withheld }, [signal]) {
      withhold(withheld);
      const began = process.cpuUsage();
      const openHere = createHereOpener({ cache });
      const project = await openHere({
        ...input,
        signal,
        budget: {
          take: (stop) => worker.call("take", undefined, stop === undefined ? [] : [stop]),
          refused: (ms) => worker.call("refused", ms),
          look: async () => undefined,
          waits: undefined,
        },
        ear: {
          asked: () => void worker.call("asked", undefined).catch(() => undefined),
          heard: () => void worker.call("heard", undefined).catch(() => undefined),
        },
        mayRead: (location) => worker.call("mayRead", location),
        siblings: () => worker.call("siblings", undefined),
        sawState: (seen) => void worker.call("sawState", seen).catch(() => undefined),
      });
      open = { project, began };
      return { leases: project.leases, files: project.files };
    },
    plan: async (_, [signal]) => shown(await opened().project.plan(signal ?? AbortSignal.abort())),
    lock: (_, [signal]) =>
      new Promise<PlannedApart>((resolve, reject) => {
        const here = opened();
        here.locked = here.project
          .underLock(signal ?? AbortSignal.abort(), async (planned) => {
            resolve(shown(planned));
            await new Promise<void>((unlock) => {
              here.unlock = unlock;
            });
          })
          .catch(reject);
      }),
    async unlock() {
      const { unlock, locked } = opened();
      unlock?.();
      await locked;
    },
    async apply(grants, [soft, hard]) {
      const { planned } = opened();
      invariant(planned !== undefined && soft !== undefined && hard !== undefined, "there is no plan to carry out");
      const { report, outputs, picture } = await planned.apply(grants, { soft, hard }, (event) => {
        void worker.call("happens", event).catch(() => undefined);
      });
      const { broken, bug, unclosed, ...rest } = report;
      const failures = { broken, bug, unclosed };
      return {
        report: rest,
        failures: Object.fromEntries(
          Object.entries(failures).flatMap(([key, error]) => (error === undefined ? [] : [[key, thrownOf(error)]])),
        ),
        outputs,
        picture: picture(),
      };
    },
    async close() {
      const { project, unlock } = opened();
      open = undefined;
      unlock?.();
      await project.close();
      setImmediate(done);
    },
  });
}

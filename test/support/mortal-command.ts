/**
 * The command in this process, which can die like a process that was killed: from the chosen moment on nothing that it
 * asks of the service or of its store comes back, and it gives no more signs of life. What it had sent has its effect.
 */
import { createRequire } from "node:module";
import { resolve } from "node:path";
import type { StateStore } from "../../reconciler/store/store";
import { type Captured, captureCommand } from "./captured-command";
import { createMortality, type Moment, type Mortality } from "./mortal";

const built = createRequire(__filename);
const dist = (path: string): string => resolve(__dirname, "../../dist/reconciler", path);
const compose = built(dist("cli/compose.js")) as typeof import("../../reconciler/cli/compose");
const lease = built(dist("store/lease.js")) as typeof import("../../reconciler/store/lease");

export interface MortalRun {
  readonly counts: Mortality["counts"];
  /** `undefined`: it died. */
  readonly ended: Captured | undefined;
}

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export async function runMortal(argv: readonly string[], moment?: Moment): Promise<MortalRun> {
  const mortality = createMortality(moment, { locks: true });
  const { openStore, openWorkspaceService } = compose;
  const { startHeartbeat } = lease;
  const beating: { stop(): void }[] = [];
  const closing: (() => Promise<unknown>)[] = [];
  const output = [process.stdout.write, process.stderr.write] as const;
  const listening = signals.map((signal) => process.listeners(signal));
  Object.assign(compose, {
    openStore: (...args: Parameters<typeof openStore>): StateStore => mortality.store(openStore(...args)),
    openWorkspaceService: async (...args: Parameters<typeof openWorkspaceService>) => {
      const service = await openWorkspaceService(...args);
      closing.push(() => service.close());
      return { ...service, client: mortality.client(service.client) };
    },
  });
  Object.assign(lease, {
    startHeartbeat: (...args: Parameters<typeof startHeartbeat>) => {
      const heartbeat = startHeartbeat(...args);
      beating.push(heartbeat);
      return heartbeat;
    },
  });
  try {
    const ended = await Promise.race([captureCommand(argv), mortality.death.then(() => undefined)]);
    if (ended === undefined) {
      for (const heartbeat of beating) heartbeat.stop();
      // What was in flight beside it still has its effect.
      await mortality.idle();
      await Promise.all(closing.map((close) => close()));
    }
    return { counts: mortality.counts, ended };
  } finally {
    Object.assign(compose, { openStore, openWorkspaceService });
    Object.assign(lease, { startHeartbeat });
    [process.stdout.write, process.stderr.write] = output;
    for (const [index, signal] of signals.entries())
      for (const listener of process.listeners(signal))
        if (listening[index]?.includes(listener) !== true) process.removeListener(signal, listener);
  }
}

/** A worker as a process: rounds, health and metrics, and an end that loses nothing. */

import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { join, resolve } from "node:path";
import { withoutUsers } from "../../core/text/outside-policy";
import { printableLines } from "../../core/text/printable";
import { secretOf } from "../../fleet/channels";
import { schema } from "../../fleet/database/tables";
import { type FleetMetrics, metricsText } from "../../fleet/metrics";
import type { FleetSettings } from "../../fleet/model";
import type { WorkerSetting } from "../../fleet/shared";
import { startWorker, type Worker } from "../../fleet/worker";
import { withhold } from "../../outside/environment";
import { version } from "../../version";
import { type Listening, listenAt } from "../listen";
import type { Output } from "../output";
import { withRoundTrace } from "../with-trace";
import { folderOfUser } from "./folder-of-user";
import { createProjectOpener } from "./opener";
import type { FleetSession } from "./session";

/** Git runs in a mirror within it, where a path that is relative to this process would be another one. */
export const cacheOf = (given: { readonly cache?: string | undefined }): string =>
  resolve(given.cache ?? join(folderOfUser("XDG_CACHE_HOME"), "fleet"));

export type WorkSetting = Pick<WorkerSetting, "concurrency" | "services" | "cache" | "say">;

/** Variables of the fleet and of its states. Programs that a stack's file names do not get them. */
const fleetVariables = (): string[] =>
  Object.keys(process.env).filter((name) => /^(PG|AWS_|RECONCILE_FLEET_|GITHUB_TOKEN$|GITLAB_TOKEN$)/.test(name));

/** The environment variables that hold the fleet's own secrets, as its file names them. */
const secretNames = ({ services, receivers, channels = [], signIn, pullVariables = [] }: FleetSettings): string[] => [
  ...pullVariables,
  ...[
    signIn?.clientSecret,
    ...services.map(({ credential }) => credential),
    ...receivers.map(({ secret }) => secret),
    ...channels.map(({ to }) => secretOf(to)),
  ].flatMap((source) => (typeof source === "object" && "env" in source ? [source.env] : [])),
];

/**
 * Each start has a name of its own. In a container the host and the process are the same after a restart, and the new
 * worker must not be taken for the dead one.
 */
export const workerName = (): string => `${hostname()}:${process.pid}:${randomBytes(4).toString("hex")}`;

export function startWork(session: FleetSession, { concurrency, services, cache, say }: WorkSetting): Promise<Worker> {
  withhold(fleetVariables());
  return startWorker({
    name: workerName(),
    version,
    database: session.database,
    records: session.records,
    queue: session.queue,
    concurrency,
    services,
    cache,
    openProject: createProjectOpener({ cache }),
    within: (stack, round) => withRoundTrace(`reconcile fleet round ${stack}`, round, ({ result }) => result),
    // A repository or its host wrote some of it.
    say: (text) => say(printableLines(withoutUsers(text))),
    onSettings: (settings) => withhold(secretNames(settings)),
  });
}

/**
 * `/healthz` (the database answers), `/livez` (this process does: whoever ends what is not alive must not end every
 * worker because the database is away) and `/metrics`. Nothing in them is a secret.
 */
export const serveHealth = async (
  listen: string,
  session: FleetSession,
  worker: Worker | undefined,
): Promise<Listening> =>
  listenAt(listen, "--listen 127.0.0.1:9465, or none", (request, response) => {
    const answer = (code: number, type: string, text: string): void =>
      void response.writeHead(code, { "content-type": type, "cache-control": "no-store" }).end(text);
    const path = request.url?.split("?")[0];
    if (path === "/livez") answer(200, "application/json", '{"alive":true}\n');
    else if (path === "/healthz") {
      session.database
        .query(`SELECT 1 FROM ${schema}.version`)
        .then(() => answer(200, "application/json", '{"healthy":true}\n'))
        .catch(() => answer(503, "application/json", '{"healthy":false,"reason":"the database does not answer"}\n'));
    } else if (path === "/metrics") {
      readMetrics(session, worker)
        .then((metrics) => answer(200, "text/plain; version=0.0.4; charset=utf-8", metricsText(metrics)))
        .catch(() => answer(503, "text/plain", "the database does not answer\n"));
    } else answer(404, "text/plain", "/healthz, /livez or /metrics\n");
  });

export async function readMetrics(
  { records, queue }: Pick<FleetSession, "records" | "queue">,
  worker?: Worker,
): Promise<FleetMetrics> {
  const [tallies, load, budgets, workers, letters] = await Promise.all([
    records.tallies(),
    queue.load(),
    records.budgets(),
    records.workers(),
    records.lettersWaiting(),
  ]);
  return { tallies, load, budgets, workers, letters, counts: worker?.counts };
}

/** The first SIGTERM or Ctrl-C lets the rounds under way end; the second stops at once, and another worker goes on. */
export async function untilStopped(output: Output, worker: Worker): Promise<void> {
  await new Promise<void>((resolve) => {
    let draining = false;
    const onSignal = (): void => {
      if (draining) {
        output.note("Stopping at once: another worker finishes what is in flight.");
        void worker.stop().finally(resolve);
        return;
      }
      draining = true;
      output.note(
        worker.doing.size === 0
          ? "Stopping."
          : `Stopping: ${worker.doing.size} ${worker.doing.size === 1 ? "round ends" : "rounds end"} first, and no new one is taken. Once more to stop at once.`,
      );
      void worker.drain().finally(resolve);
    };
    process.on("SIGTERM", onSignal);
    process.on("SIGINT", onSignal);
  });
}

/** For a server that has nothing to finish. */
export const untilSignal = (): Promise<void> =>
  new Promise((resolve) => {
    process.once("SIGTERM", () => resolve());
    process.once("SIGINT", () => resolve());
  });

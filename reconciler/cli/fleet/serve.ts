/** The pages as a server: to this machine alone, or behind tokens. */

import { serve } from "@hono/node-server";
import { metricsText } from "../../fleet/metrics";
import { createPages } from "../../fleet/pages/app";
import { repositoryPushed } from "../../fleet/pushes";
import { setting } from "../../outside/environment";
import { portOf } from "../../outside/port-of";
import { fail } from "../compose";
import type { FleetSession } from "./session";
import { type Listening, readMetrics } from "./work";

export interface ServeSetting {
  readonly listen: string;
  readonly cache: string;
  readonly say: (text: string) => void;
  /** Of a worker in the same process. */
  readonly metrics?: () => Promise<string>;
}

const isLoopback = (host: string): boolean => ["127.0.0.1", "::1", "localhost"].includes(host);

export async function servePages(
  session: FleetSession,
  { listen, cache, say, metrics }: ServeSetting,
): Promise<Listening> {
  const match = /^(?:(.+):)?(\d{1,5})$/.exec(listen);
  if (match === null) throw fail("cli/bad-flag", `--listen ${listen} is no address`, "--listen 127.0.0.1:8470");
  const host = (match[1] ?? "127.0.0.1").replace(/^\[(.*)\]$/, "$1");
  const signsIn = await session.records.anyToken();
  if (!signsIn && !isLoopback(host))
    throw fail(
      "cli/bad-flag",
      `--listen ${listen} would show the fleet to everybody: nobody has a token yet`,
      "reconcile fleet token NAME --role operator, or --listen 127.0.0.1:8470",
    );
  const [github, gitlab] = [setting("RECONCILE_FLEET_GITHUB_SECRET"), setting("RECONCILE_FLEET_GITLAB_TOKEN")];
  const app = createPages({
    records: session.records,
    queue: session.queue,
    ...(signsIn ? {} : { local: session.who }),
    pushed: (url, ref) => repositoryPushed({ records: session.records, queue: session.queue, cache }, url, ref),
    hooks: { ...(github === undefined ? {} : { github }), ...(gitlab === undefined ? {} : { gitlab }) },
    metrics: metrics ?? (async () => metricsText(await readMetrics(session))),
    say,
  });
  const server = serve({ fetch: app.fetch, hostname: host, port: Number(match[2]) });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: Error) =>
      reject(fail("cli/cannot-listen", `--listen ${listen}: ${error.message}`, "another --listen")),
    );
    if (server.listening) resolve();
    else server.once("listening", () => resolve());
  });
  const port = portOf(server);
  if (!signsIn) say("Nobody signs in: the pages answer to this machine alone.");
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        if ("closeAllConnections" in server) server.closeAllConnections();
      }),
  };
}

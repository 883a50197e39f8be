/** The server of the fleet's pages: for this machine alone, or behind tokens. */

import { serve } from "@hono/node-server";
import { isLoopbackHost, withoutUsers } from "../../core/text/outside-policy";
import { printableLines } from "../../core/text/printable";
import { followMoved } from "../../fleet/follow";
import { createProvider } from "../../fleet/identity";
import { metricsText } from "../../fleet/metrics";
import { createPages } from "../../fleet/pages/app";
import { pullsMoved } from "../../fleet/pulls/look";
import { repositoryPushed } from "../../fleet/pushes";
import { steadyNow } from "../../fleet/steady";
import { setting } from "../../outside/environment";
import { fail } from "../compose";
import { type Listening, onceListening, readListen } from "../listen";
import type { FleetSession } from "./session";
import { readMetrics } from "./work";

export interface ServeSetting {
  readonly listen: string;
  readonly cache: string;
  readonly say: (text: string) => void;
  /** The metrics of a worker in the same process. */
  readonly metrics?: () => Promise<string>;
}

const doorFreshMs = 1000;

/**
 * Whether people have to sign in: somebody has a token, or the fleet's file names a provider. It is asked again while
 * the server runs.
 */
function createDoor(records: Pick<FleetSession["records"], "anyToken" | "settings">): () => Promise<boolean> {
  let known: { readonly at: number; readonly answer: Promise<boolean> } | undefined;
  return () => {
    if (known !== undefined && steadyNow() - known.at < doorFreshMs) return known.answer;
    const answer = records.anyToken().then(async (any) => any || (await records.settings()).signIn !== undefined);
    known = { at: steadyNow(), answer };
    answer.catch(() => {
      known = undefined;
    });
    return answer;
  };
}

/**
 * During a change of secrets the former one counts too, while it is set: the other end changes its own some time later.
 */
const secretsOf = (name: "RECONCILE_FLEET_GITHUB_SECRET" | "RECONCILE_FLEET_GITLAB_TOKEN"): string[] =>
  [setting(name), setting(`${name}_PREVIOUS`)].filter((secret) => secret !== undefined);

export async function servePages(
  session: FleetSession,
  { listen, cache, say, metrics }: ServeSetting,
): Promise<Listening> {
  const { host, port: wanted } = readListen(listen, "--listen 127.0.0.1:8470");
  const signsIn = createDoor(session.records);
  if (!isLoopbackHost(host) && !(await signsIn()))
    throw fail(
      "cli/bad-flag",
      `--listen ${listen} would show the fleet to everybody: nobody has a token, and the fleet's file has no sign_in`,
      "reconcile fleet token NAME --role operator, or --listen 127.0.0.1:8470",
    );
  const app = createPages({
    records: session.records,
    queue: session.queue,
    // A server that listens on other addresses takes nobody for the local user, even when the last token was revoked.
    local: async () => (isLoopbackHost(host) && !(await signsIn()) ? session.who : undefined),
    provider: createProvider(),
    pushed: async (url, ref) => {
      await followMoved(session.records, url);
      return repositoryPushed({ records: session.records, queue: session.queue, cache }, url, ref);
    },
    pulled: (urls) => pullsMoved(session.records, urls),
    hooks: { github: secretsOf("RECONCILE_FLEET_GITHUB_SECRET"), gitlab: secretsOf("RECONCILE_FLEET_GITLAB_TOKEN") },
    metrics: metrics ?? (async () => metricsText(await readMetrics(session))),
    // Whoever sends a webhook wrote some of it.
    say: (text) => say(printableLines(withoutUsers(text))),
  });
  const server = serve({ fetch: app.fetch, hostname: host, port: wanted });
  const listening = await onceListening(server, host, listen, "another --listen");
  if (!(await signsIn())) say("Nobody signs in: the pages answer to this machine alone.");
  return listening;
}

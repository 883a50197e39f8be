/** `reconcile fleet try`: database, worker, service, three example stacks and the pages, all in this process. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { carryOutSync, plannedSync } from "../../fleet/actions";
import { metricsText } from "../../fleet/metrics";
import type { Invocation } from "../command";
import type { FlagName } from "../flags";
import { allStacksOf, readFleetFiles } from "./read-file";
import { servePages } from "./serve";
import { closeFleet, openFleet } from "./session";
import { readMetrics, startWork, untilStopped } from "./work";

const tryFolder = "fleet-try";

const tryFiles: Readonly<Record<string, string>> = {
  "fleet.yaml": `# A fleet of three stacks on the embedded service: change a file below, and watch.
version: 1
services:
  here: { base_url: embedded, budget: { requests_per_second: 50 } }
tenants:
  payments: { weight: 2 }
  labs: {}
defaults: { service: here, interval: 15s, state: "./states/\${stack}.state.json" }
stacks:
  network: { source: { folder: ./network }, tenant: payments }
  shop: { source: { folder: ./shop }, tenant: payments, depends_on: [network] }
  lab: { source: { folder: ./lab }, tenant: labs, approve: plan }
`,
  "network/reconcile.yaml": `version: 1
project: try
groups:
  web:
    name: shop-web
    rules:
      - { protocol: tcp, dst_port: 443, remote_ip: 198.51.100.0/24 }
`,
  "shop/reconcile.yaml": `version: 1
project: try
region: in-west-1
defaults:
  vm: { owner: me@example.com, user_id: "1", flavor_id: m1.small, image_id: ubuntu-24.04, size: 10 }
vms:
  web: { name: shop-web-1 }
volumes:
  data: { name: shop-data, size: 10, attach_to: web }
`,
  "lab/reconcile.yaml": `version: 1
project: try
groups:
  bench:
    name: lab-bench
    rules:
      - { protocol: tcp, dst_port: 22, remote_ip: 203.0.113.0/24 }
`,
};

export async function tryFleet({ flags, output }: Invocation<FlagName, readonly string[]>): Promise<number> {
  for (const [name, text] of Object.entries(tryFiles)) {
    const path = join(tryFolder, name);
    if (existsSync(path)) continue;
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, text);
  }
  mkdirSync(join(tryFolder, "states"), { recursive: true });
  process.chdir(tryFolder);
  const session = await openFleet("embedded", { sendsOnly: false });
  try {
    const fleet = readFleetFiles(["fleet.yaml"]);
    const changes = await plannedSync(session, await allStacksOf(fleet, ".reconcile"));
    await carryOutSync(session, fleet, changes);
    const worker = await startWork(session, {
      concurrency: 3,
      services: [],
      cache: join(process.cwd(), ".reconcile"),
      say: (text) => output.note(text),
    });
    const server = await servePages(session, {
      listen: flags.listen ?? "127.0.0.1:8470",
      cache: join(process.cwd(), ".reconcile"),
      say: () => undefined,
      metrics: async () => metricsText(await readMetrics(session, worker)),
    });
    output.note(
      `A fleet of three stacks in ./${tryFolder}. Its pages: ${server.url}\nOne of them waits for your approval. Change a file there, and watch. Ctrl-C ends it.`,
    );
    await untilStopped(output, worker);
    await server.close();
    return output.finish({ exitCode: 0 });
  } finally {
    await closeFleet(session);
  }
}

// The floor of an apply: groups, VMs and volumes created at once, each volume attached when its VM shows as running in
// the one list that everybody waits for. No state, no plan, no retry.
// `node bare-writer.mjs URL CONNECTIONS VMS GROUPS POLL_MS`
import { Pool } from "undici";

const [url, connections, vms, groups, pollMs] = [process.argv[2], ...process.argv.slice(3).map(Number)];
const pool = new Pool(url, { connections, pipelining: 1 });
const headers = { authorization: "Bearer ops-token", "content-type": "application/json" };

async function send(method, path, value) {
  const { statusCode, body } = await pool.request({
    method,
    path,
    headers,
    ...(value === undefined ? {} : { body: JSON.stringify(value) }),
  });
  const answer = await body.json();
  if (statusCode >= 300) throw new Error(`${method} ${path} answered ${statusCode}: ${JSON.stringify(answer)}`);
  return answer;
}

const waiting = new Map();
const running = (name) => new Promise((resolve) => waiting.set(name, resolve));
let done = false;
async function poll() {
  while (!done) {
    await new Promise((resolve) => setTimeout(resolve, pollMs));
    if (waiting.size === 0) continue;
    for (let page = ""; ; ) {
      /** @type {any} */
      const answer = await send("GET", `/api/v1/vm/list${page === "" ? "" : `?page=${encodeURIComponent(page)}`}`);
      for (const vm of answer.data) {
        if (vm.status !== "ACTIVE") continue;
        waiting.get(vm.name)?.(vm.id);
        waiting.delete(vm.name);
      }
      const next = answer.page?.next;
      if (!next) break;
      page = next;
    }
  }
}

async function vm(n) {
  const name = `web-${n}`;
  /** @type {[string, any]} */
  const [id, volume] = await Promise.all([
    send("POST", "/api/v1/vm/create", {
      name,
      id: "1042",
      owner: "ops@acme.example",
      project: "acme",
      region: "in-west-1",
      flavor_id: "m1.small",
      image_id: "00000000-0000-4000-8003-000000000001",
      size: "10",
    }).then(() => running(name)),
    send("POST", "/api/v1/volume/create", { name: `disk-${n}`, size: "20" }),
  ]);
  await send("POST", "/api/v1/volume/attach", { vm_id: id, volume_id: (volume.data ?? volume).id });
}

const group = (n) =>
  send("POST", "/api/v1/security-group", {
    name: `sg-${n}`,
    rules: Array.from({ length: 10 }, (_, port) => ({
      direction: "ingress",
      ethertype: "IPv4",
      protocol: "tcp",
      dst_port: String(8000 + port),
      remote_ip: "0.0.0.0/0",
    })),
  });

const polling = poll();
await Promise.all([
  ...Array.from({ length: vms }, (_, n) => vm(n)),
  ...Array.from({ length: groups }, (_, n) => group(n)),
]);
done = true;
await polling;
await pool.close();

// How many small reads a second the emulator answers with a large world: it runs in one process, the client in this
// one. `node bench/emulator-throughput.mjs [--vms 10000] [--seconds 3] [--connections 32] [--json]`; needs a build.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Pool } from "undici";

const { values } = parseArgs({
  options: {
    vms: { type: "string", default: "10000" },
    seconds: { type: "string", default: "3" },
    connections: { type: "string", default: "32" },
    json: { type: "boolean", default: false },
  },
});
const vms = Number(values.vms);
const durationMs = Number(values.seconds) * 1000;
const connections = Number(values.connections);
const program = join(dirname(fileURLToPath(import.meta.url)), "../dist/emulator/main.js");
const dir = mkdtempSync(join(tmpdir(), "emulator-throughput-"));
const headers = { authorization: "Bearer bench", "content-type": "application/json" };

const argv = [program, "--dir", dir, "--time-scale", "0", "--with", "vm.get,volume.list,group.get"];
const child = spawn(process.execPath, argv, { stdio: ["ignore", "pipe", "inherit"] });
const url = await new Promise((resolve, reject) => {
  child.stdout.once("data", (line) => resolve(String(line).trim().replace("listening on ", "")));
  child.once("exit", () => reject(new Error("the emulator did not start")));
});
const bare = spawn(process.execPath, [join(dirname(fileURLToPath(import.meta.url)), "floors/bare-server.cjs")], {
  stdio: ["ignore", "pipe", "inherit"],
});
const bareUrl = await new Promise((resolve) => {
  bare.stdout.once("data", (line) => resolve(String(line).trim().replace("listening on ", "")));
});
const pool = new Pool(url, { connections, pipelining: 1 });
const barePool = new Pool(bareUrl, { connections, pipelining: 1 });

async function send(method, path, body, to = pool) {
  const answer = await to.request({
    method,
    path,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.body.text();
  if (answer.statusCode >= 400) throw new Error(`${method} ${path} answered ${answer.statusCode}: ${text}`);
  return text;
}

const seed = {
  vms: Array.from({ length: vms }, (_, n) => ({ id: `vm-${n}`, name: `vm-${n}` })),
  volumes: Array.from({ length: vms }, (_, n) => ({
    id: `vol-${n}`,
    name: `vol-${n}`,
    size: 10,
    attached_to: `vm-${n}`,
  })),
  groups: [{ id: "group-0", name: "web" }],
};
await send("POST", "/_control/world", seed);

async function measure(name, request) {
  let done = 0;
  const latencies = [];
  const run = async (until) => {
    while (performance.now() < until) {
      const began = performance.now();
      await request(done++);
      latencies.push(performance.now() - began);
    }
  };
  const phase = (ms) => Promise.all(Array.from({ length: connections }, () => run(performance.now() + ms)));
  await phase(500);
  done = 0;
  latencies.length = 0;
  const began = performance.now();
  await phase(durationMs);
  const perSecond = Math.round((done * 1000) / (performance.now() - began));
  latencies.sort((a, b) => a - b);
  const at = (share) => Number((latencies[Math.floor(latencies.length * share)] ?? 0).toFixed(2));
  return { name, per_second: perSecond, p50_ms: at(0.5), p99_ms: at(0.99) };
}

const results = [];
try {
  results.push(await measure("a bare server", () => send("GET", "/", undefined, barePool)));
  results.push(await measure("vm.get", (n) => send("GET", `/api/v1/vm/vm-${(n * 7919) % vms}`)));
  results.push(await measure("volume.get", (n) => send("GET", `/api/v1/volume/vol-${(n * 7919) % vms}`)));
  results.push(await measure("region.list", () => send("GET", "/api/v1/region/list")));
  results.push(
    await measure("vm.list (a page of 100)", (n) => send("GET", `/api/v1/vm/list?page=${(n * 7919) % vms}`)),
  );
  results.push(
    await measure("volume.create (durable)", (n) =>
      send("POST", "/api/v1/volume/create", { name: `new-${n}`, size: "1" }),
    ),
  );
} finally {
  await Promise.all([pool.close(), barePool.close()]);
  bare.kill("SIGTERM");
  child.kill("SIGTERM");
  await new Promise((resolve) => child.once("exit", resolve));
  rmSync(dir, { recursive: true, force: true });
}
if (values.json) process.stdout.write(`${JSON.stringify({ vms, connections, node: process.version, results })}\n`);
else {
  process.stdout.write(`${vms} VMs, ${connections} connections, Node ${process.version}\n`);
  for (const { name, per_second, p50_ms, p99_ms } of results)
    process.stdout.write(
      `${name.padEnd(26)} ${String(per_second).padStart(7)}/s   p50 ${p50_ms} ms   p99 ${p99_ms} ms\n`,
    );
}

// How long recording one step takes in each store, at several sizes of the state: one line, durable when it resolves.
// Run `npm run build` first. `--json` prints JSON, `--sizes 10,1000` chooses sizes, `--stores file,postgres` stores.
// Remote stores run against small servers on loopback (PostgreSQL: a real one), so that the time is the store's own and not a network's.
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startLoopbackStores } from "./loopback-stores.mjs";

const require = createRequire(import.meta.url);
const { values } = parseArgs({
  options: {
    json: { type: "boolean" },
    sizes: { type: "string" },
    stores: { type: "string" },
    steps: { type: "string" },
  },
});
const sizes = (values.sizes ?? "10,1000,10000,100000").split(",").map(Number);
const { openStateStore } = require("../dist/reconciler/store/open.js");
const { protectStore } = require("../dist/reconciler/store/encrypted.js");
const { createRecorder } = require("../dist/reconciler/engine/recorder.js");
const { emptyState } = require("../dist/reconciler/core/state/fold.js");
const { writeSnapshot } = require("../dist/reconciler/core/state/text.js");

const folder = mkdtempSync(join(tmpdir(), "reconcile-bench-"));
const loopback = await startLoopbackStores();
const key = { RECONCILE_STATE_KEY: Buffer.alloc(32, 3).toString("base64") };
const environment = { ...process.env };
const stores = {
  file: (size) => openStateStore(join(folder, `s${size}.json`), { environment }),
  "file, encrypted": (size) => protectStore(openStateStore(join(folder, `e${size}.json`), { environment }), key),
  http: (size) => openStateStore(`${loopback.http}/s${size}`, { environment }),
  s3: (size) => openStateStore(`s3://states/s${size}`, { environment }),
  ...(loopback.postgres === undefined
    ? {}
    : { postgres: (size) => openStateStore(`${loopback.postgres}?state=s${size}`, { environment }) }),
};
const chosen = values.stores?.split(",") ?? Object.keys(stores);

/** @returns {import("../reconciler/core/model/recorded.js").RecordedVolume} */
const volume = (index, sizeGb) => ({
  kind: "volume",
  address: `volume.v[${index}]`,
  id: `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`,
  name: `volume-number-${index}`,
  sizeGb,
  flush: { via: "ask" },
  preventDestroy: false,
});

const median = (times) => [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)];
const rows = [];
for (const name of chosen) {
  for (const size of sizes) {
    const session = await stores[name](size).lock({
      who: "bench",
      host: "here",
      pid: 1,
      since: "now",
      command: "bench",
    });
    const resources = new Map(Array.from({ length: size }, (_, index) => [`volume.v[${index}]`, volume(index, 10)]));
    const state = { ...emptyState("bench"), serial: 1, epoch: session.epoch, resources };
    await session.replace(writeSnapshot(state));
    const recorder = createRecorder(state, session);
    const record = (step) => {
      const record = volume(step % size, 11 + step);
      return recorder.record([{ type: "resource", address: record.address, record }]);
    };
    const steps = Number(values.steps ?? (name === "http" && size >= 10_000 ? 12 : 60));
    for (let step = 0; step < 5; step++) await record(step);
    const times = [];
    for (let step = 0; step < steps; step++) {
      const started = performance.now();
      await record(step);
      times.push(performance.now() - started);
    }
    // The time of a step when many are in flight, which share writes.
    const together = 200;
    const started = performance.now();
    await Promise.all(Array.from({ length: together }, (_, step) => record(step)));
    const shared = (performance.now() - started) / together;
    await session.release();
    rows.push({
      store: name,
      resources: size,
      steps,
      median_ms: Number(median(times).toFixed(3)),
      max_ms: Number(Math.max(...times).toFixed(3)),
      shared_ms: Number(shared.toFixed(3)),
    });
  }
}
await loopback.stop();
rmSync(folder, { recursive: true, force: true });

if (values.json) console.log(JSON.stringify({ bench: "record-step", node: process.version, rows }));
else {
  console.log("store             resources   median ms      max ms   200 at once, ms each");
  for (const { store, resources, median_ms, max_ms, shared_ms } of rows)
    console.log(
      `${store.padEnd(16)} ${String(resources).padStart(10)} ${median_ms.toFixed(2).padStart(11)} ${max_ms.toFixed(2).padStart(11)} ${shared_ms.toFixed(3).padStart(22)}`,
    );
}
process.exit(0);

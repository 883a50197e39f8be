// What it costs to write one step down beside a state of ten and of a hundred thousand resources, and the floor of it:
// one line appended and synced.
import { closeSync, fdatasyncSync, mkdirSync, openSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { number } from "../table.mjs";

const require = createRequire(import.meta.url);
const { createFileStore } = require("../../dist/reconciler/store/file.js");
const { createRecorder } = require("../../dist/reconciler/engine/recorder.js");
const { emptyState } = require("../../dist/reconciler/core/state/fold.js");
const { writeSnapshot } = require("../../dist/reconciler/core/state/text.js");

const steps = 500;
/** @returns {import("../../reconciler/core/model/recorded.js").RecordedVolume} */
const record = (n) => ({
  kind: "volume",
  address: `volume.disk[${n}]`,
  id: `00000000-0000-4000-9200-${String(n).padStart(12, "0")}`,
  name: `disk-${n}`,
  sizeGb: 20,
  flush: { via: "ask" },
  preventDestroy: false,
});

async function open(folder, size) {
  const store = createFileStore(join(folder, `state-${size}.json`));
  const session = await store.lock({ who: "bench", host: "here", pid: process.pid, since: "now", command: "bench" });
  const resources = new Map(Array.from({ length: size }, (_, n) => [record(n).address, record(n)]));
  const state = { ...emptyState("00000000-0000-4000-9000-000000000000"), resources };
  await session.replace(writeSnapshot(state));
  return { session, recorder: createRecorder({ ...state, journalled: 0 }, session) };
}

export async function measure({ scratch, note }) {
  const folder = join(scratch, "recording");
  mkdirSync(folder);
  note("recording");
  const sizes = [10, 1_000, 100_000];
  const opened = await Promise.all(sizes.map((size) => open(folder, size)));
  const times = sizes.map(() => []);
  const floor = [];
  const file = openSync(join(folder, "floor"), "a");
  const line = `${"x".repeat(300)}\n`;
  // In turns: a disk that is busy for a while is busy for all of them.
  for (let n = 0; n < steps; n++) {
    let began = performance.now();
    writeSync(file, line);
    fdatasyncSync(file);
    floor.push(performance.now() - began);
    for (const [index, { recorder }] of opened.entries()) {
      const one = record(n % sizes[index]);
      began = performance.now();
      await recorder.record([{ type: "resource", address: one.address, record: one }]);
      times[index].push(performance.now() - began);
    }
  }
  closeSync(file);
  for (const { session } of opened) await session.release();
  const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];
  const medians = times.map(median);
  const append = median(floor);
  return [
    number("recording one step beside 10 resources", medians[0], "ms", {
      floor: `${append.toFixed(2)} ms (append and sync)`,
      ratio: medians[0] / append,
    }),
    number("recording one step beside 100,000 resources", medians[2], "ms", {
      floor: `${append.toFixed(2)} ms (append and sync)`,
      ratio: medians[2] / append,
    }),
    number("  100,000 against 10", medians[2] / medians[0], "times", { most: 1.2 }),
  ];
}

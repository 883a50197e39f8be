// What the embedded service can answer by itself, beside a bare server of Node's that answers one record, so that the
// figures against it can be trusted.
import { join } from "node:path";
import { root, runOnce } from "../processes.mjs";
import { number } from "../table.mjs";

export async function measure({ full, note }) {
  note("emulator");
  const argv = [process.execPath, join(root, "bench/emulator-throughput.mjs"), "--json", "--seconds", full ? "3" : "1"];
  const { stdout } = await runOnce({ argv });
  const { vms, results } = JSON.parse(stdout);
  const [bare, ...served] = results;
  return served.map(({ name, per_second, p50_ms, p99_ms }) =>
    number(`emulator with ${vms} VMs: ${name}`, per_second / bare.per_second, "of a bare server", {
      ...(name === "volume.get" || name === "vm.get" ? { least: 0.25 } : {}),
      spread: `${per_second} /s, p50 ${p50_ms} ms, p99 ${p99_ms} ms`,
      floor: `${bare.per_second} /s (bare server)`,
    }),
  );
}

/** What proves that a VM is stopped before a volume comes off it: its record, or this run's own stop where none shows it. */
import { describe, expect, it } from "vitest";
import type { LiveVm } from "../../reconciler/core/model/live";
import { accepted, type Outcome } from "../../reconciler/core/model/outcome";
import { proveStopped } from "../../reconciler/kinds/vm/watch-stopped";
import { loneRun, stepAt } from "../support/virtual-world";

const vm = (phase: LiveVm["phase"], status?: string): Outcome<LiveVm> =>
  accepted({ kind: "vm", id: "v", name: "web", phase, status });
const gone: Outcome<LiveVm> = { status: "rejected", condition: "not_found", message: "no", httpStatus: 404 };
const forbidden: Outcome<LiveVm> = { status: "rejected", condition: "forbidden", message: "no" };

interface Row {
  readonly shows: readonly Outcome<LiveVm>[];
  readonly stopped?: true;
  readonly confirmed?: true;
  readonly blind?: true;
  /** The look at which the run is stopped. */
  readonly stopsAt?: number;
  readonly proof: string;
}

const rows: Readonly<Record<string, Row>> = {
  "its record says so": { shows: [vm("stopped", "SHUTOFF")], proof: "stopped" },
  "it does not exist": { shows: [gone], proof: "stopped" },
  "it runs": { shows: [vm("running", "ACTIVE")], proof: "apply/not-stopped" },
  "it runs, and then is stopped": { shows: [vm("running", "ACTIVE"), vm("stopped", "SHUTOFF")], proof: "stopped" },
  "it is in transition for as long as anybody looks": { shows: [vm("changing", "X")], proof: "apply/not-stopped" },
  "it is in transition, though this run has stopped it": {
    shows: [vm("changing", "X")],
    stopped: true,
    proof: "apply/not-stopped",
  },
  "it is in transition, and the user says it is flushed": {
    shows: [vm("changing", "X")],
    confirmed: true,
    proof: "apply/not-stopped",
  },
  "it arrives": { shows: [vm("changing", "X"), vm("changing", "X"), vm("stopped", "SHUTOFF")], proof: "stopped" },
  "the run is stopped while it is in transition, which proves nothing": {
    shows: [vm("changing", "X")],
    stopsAt: 2,
    proof: "apply/interrupted",
  },
  "it failed: nobody waits": { shows: [vm("failed", "ERROR")], proof: "apply/not-stopped" },
  "its record shows no state, and this run has stopped it": {
    shows: [vm("changing")],
    stopped: true,
    proof: "stopped",
  },
  "its record shows no state, and the user says it is flushed": {
    shows: [vm("changing")],
    confirmed: true,
    proof: "stopped",
  },
  "its record shows no state": { shows: [vm("changing")], proof: "apply/not-stopped" },
  "nobody can look, and this run has stopped it": { shows: [], blind: true, stopped: true, proof: "stopped" },
  "nobody can look": { shows: [], blind: true, proof: "apply/not-stopped" },
  "it may not be looked at, though this run has stopped it": {
    shows: [forbidden],
    stopped: true,
    proof: "service/forbidden",
  },
};

describe("a VM counts as stopped", () => {
  it.each(Object.entries(rows))("%s", async (_, { shows, stopped, confirmed, blind, stopsAt, proof }) => {
    let looked = 0;
    const stop = new AbortController();
    const { run } = await loneRun({
      has: (operation) => operation === "vm.get" && blind !== true,
      client: {
        getVm: async () => {
          if (looked + 1 === stopsAt) stop.abort();
          return shows[Math.min(looked++, shows.length - 1)]!;
        },
      },
      more: { signal: stop.signal, stopped: new Set(stopped ? ["v"] : []), isFlushConfirmed: () => confirmed === true },
    });
    const { result } = await proveStopped(stepAt("volume.data", "detach"), run, "v");
    expect(result === undefined ? "stopped" : "code" in result ? result.code : result.end).toBe(proof);
    // A consent is advised where it counts alone.
    const isAdvised = result !== undefined && "fix" in result && String(result.fix).includes("--confirm-flush");
    expect(isAdvised && shows.some((one) => one.status === "accepted" && one.value.status !== undefined)).toBe(false);
  });
});

/** Deployments that differ wherever the contract is silent, through a whole life by the dialect alone. */
import { afterEach, expect, test } from "vitest";
import { readDialectText } from "../../reconciler/dialect/read-dialect";
import { type BenchWorld, startBenchWorld } from "../support/bench-world";
import { deployments } from "../support/deployments/all";
import { startFront } from "../support/deployments/front";
import { liveThrough } from "../support/deployments/life";
import { everything } from "../support/stories";

let world: BenchWorld | undefined;
afterEach(() => world?.close());

test.each(deployments.map((known) => [known.deployment.title, known] as const))(
  "%s: made, changed, moved and gone; and a second run of each finds nothing to do",
  async (_, { deployment, dialect }) => {
    const read = readDialectText(dialect, "dialect.yaml");
    expect(read.diagnostics).toEqual([]);
    world = await startBenchWorld({
      with: everything,
      pageSize: 500,
      dialect: read.dialect,
      front: (emulator) => startFront(deployment, emulator),
    });
    await liveThrough(world);
  },
);

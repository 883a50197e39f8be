/** A bug of the program in one step: told as that, with a state that is as good as ever, and nothing more is started. */
import { afterEach, expect, it } from "vitest";
import { runDiagnostics } from "../../reconciler/cli/run-end";
import type { ServiceClient } from "../../reconciler/service/client";
import { type BenchWorld, dialectFor, projectOf, startBenchWorld } from "../support/bench-world";

let world: BenchWorld | undefined;
afterEach(() => world?.close());

const desired = projectOf({
  vms: { web: {} },
  volumes: { data: { size: 5, attach_to: "web" } },
});

it.each([
  ["before it sends", false],
  ["after the service did it", true],
])("a TypeError %s", async (_, sends) => {
  const options = { with: ["volume.list"] };
  world = await startBenchWorld({ ...options, dialect: dialectFor(options) });
  const inner: ServiceClient = world.client;
  const client: ServiceClient = {
    ...inner,
    async createVolume(...given) {
      if (sends) await inner.createVolume(...given);
      throw new TypeError("Cannot read properties of undefined (reading 'id')");
    },
  };
  const { report } = await world.apply(desired, {}, { client });
  expect(report?.broken).toBeUndefined();
  expect(report?.unclosed).toBeUndefined();
  const said = runDiagnostics(report!).filter(({ severity }) => severity === "error");
  expect(said.map(({ code }) => code)).toEqual(["apply/bug"]);
  expect(said[0]!.summary).toContain("a bug of its own: Cannot read properties");
  expect(JSON.stringify(said)).not.toMatch(/state could not be written/);
  // What was written down before is there, so that the next run finds what was made.
  const again = await world.apply(desired);
  expect(again.report?.counts).toMatchObject({ failed: 0 });
  expect(world.emulator.dump().volumes.filter(({ name }) => name === "data")).toHaveLength(1);
  const last = await world.plan(desired);
  expect(last.steps).toEqual([]);
});

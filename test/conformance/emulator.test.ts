/**
 * The emulator against the contract: with everything it can serve, held to what is assumed as well, and as a service that
 * has nothing beyond the documented operations.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningEmulator, startEmulator } from "../../emulator";
import { assumedOperations } from "../../reconciler/core/model/operation";
import { titleOf } from "./case";
import { cases } from "./cases";
import { emulatorTarget } from "./emulator-target";
import { openSuite, type Suite } from "./suite";

const timeScale = 1000;

describe("the emulator with every operation", () => {
  let emulator: RunningEmulator;
  let suite: Suite;

  beforeAll(async () => {
    const optional = ["vm.get", "volume.list", "group.list", "group.get", "group.rule.delete"];
    emulator = await startEmulator({ timeScale, strict: true, pageSize: 3, with: optional });
    suite = await openSuite(emulatorTarget(emulator.url, timeScale, optional));
  });
  afterAll(async () => {
    const leftBehind = (await suite.close()).filter((what) => !what.startsWith("image "));
    const { vms, volumes } = emulator.dump();
    await emulator.close();
    expect([leftBehind, vms, volumes]).toEqual([[], [], []]);
  });

  it.each(cases.map((each) => [titleOf(each), each] as const))("%s", async (_, each) => {
    expect(suite.unmet(each)).toBeUndefined();
    await suite.run(each);
  });
});

describe("the emulator with the documented operations alone", () => {
  // Whoever has no catalogue names what to use; whoever has no list of VMs learns no id.
  const possible = cases.filter(({ needs = [] }) =>
    needs.every((need) => need !== "vm" && !assumedOperations.some((operation) => need === `operation ${operation}`)),
  );
  let emulator: RunningEmulator;
  let suite: Suite;

  beforeAll(async () => {
    emulator = await startEmulator({ timeScale, strict: true, contractOnly: true });
    const operations = Object.fromEntries(assumedOperations.map((operation) => [operation, null]));
    const named = {
      flavor: "m1.small",
      otherFlavor: "m1.medium",
      image: emulator.dump().images[0]!.id,
      region: "in-west-1",
    };
    const target = emulatorTarget(emulator.url, timeScale, []);
    suite = await openSuite({ ...target, ...named, dialect: { ...target.dialect, operations } });
  });
  afterAll(async () => {
    await suite.close();
    await emulator.close();
  });

  it.each(possible.map((each) => [titleOf(each), each] as const))("%s", async (_, each) => {
    expect(suite.unmet(each)).toBeUndefined();
    await suite.run(each);
  });

  it("serves none of the assumed operations", async () => {
    const full = emulatorTarget(emulator.url, timeScale, assumedOperations).dialect.operations;
    const served = [];
    for (const operation of assumedOperations) {
      const { method, path } = full[operation]!;
      const url = `${emulator.url}${path.replace("{id}", "x").replace("{rule_id}", "y")}`;
      const { status } = await fetch(url, { method, headers: { authorization: "Bearer owner-token" } });
      if (status < 400) served.push(operation);
    }
    expect(served).toEqual([]);
  });
});

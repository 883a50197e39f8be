/** A run that a person stops: soon nothing more is sent, nothing is lost, and whoever resumes it goes on. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually";
import { type FleetStage, openFleetStage } from "../support/fleet-processes";
import { postgresMissing } from "../support/postgres-server";
import { readDump } from "../support/world-shape";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe.skipIf(postgresMissing !== undefined)("a run that is stopped", () => {
  const names = ["soft", "hard"];
  const all = [...names, "left"];
  const many = Array.from({ length: 12 }, (_, index) => index);
  let stage: FleetStage;
  beforeAll(async () => {
    stage = await openFleetStage({ timeScale: 4 });
    for (const name of all)
      stage.write(
        `${name}/reconcile.yaml`,
        `version: 1
project: acme
region: in-west-1
defaults: { vm: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 } }
vms:
${many.map((index) => `  m${index}: { name: ${name}-${index} }`).join("\n")}
volumes:
${many.map((index) => `  d${index}: { name: ${name}-data-${index}, size: 1, attach_to: m${index} }`).join("\n")}
`,
      );
    await stage.sync(fleet(all));
    await stage.worker();
  });
  const fleet = (stacks: readonly string[]): string => `version: 1
${stage.services}
defaults: { service: here, interval: 1h, state: "${stage.database}?state=\${stack}", retry: { first: 1s, max: 2s } }
stacks:
${stacks.map((name) => `  ${name}: { source: { folder: ./${name} }, paused: true }`).join("\n")}
`;
  afterAll(() => stage.close());

  const writes = (): number => stage.emulator.requests().log.filter(({ method }) => method !== "GET").length;
  const made = (name: string) => {
    const { vm, volume } = readDump(stage.emulator.dump());
    return [vm, volume].map((list) => list.filter((one) => one.name.startsWith(`${name}-`)).length);
  };

  test.each(names)(
    "%s: nothing more is sent, and what was begun is finished once it is resumed",
    {
      timeout: 0,
    },
    async (name) => {
      const before = writes();
      await stage.run("fleet", "resume", name);
      await eventually("its first writes", () => (writes() > before + 3 ? true : undefined));
      const flags = name === "hard" ? ["--now"] : [];
      const { exitCode, stdout } = await stage.run("fleet", "stop", name, "--why", "wrong file", ...flags);
      expect([exitCode, stdout]).toEqual([0, expect.stringContaining(`Stopping ${name}: `)]);
      await pause(1000);
      const sent = writes();
      const stopped = await stage.until(name, ({ lastRun }) => lastRun?.endedAt !== undefined);
      expect(stopped).toMatchObject({ paused: true, status: { ready: false, failures: 0 } });
      expect(stopped.lastRun?.result).toBe("taken_over");
      expect(stopped.lastRun?.reason).toMatch(/^it was stopped by .+: wrong file; reconcile fleet resume /);
      await pause(3000);
      expect(writes()).toBe(sent);
      expect(made(name)[0]).toBeLessThanOrEqual(many.length);
      const listed = await stage.run("fleet", "list", "--json");
      expect(listed.stdout).toMatch(
        new RegExp(`"stack":"${name}","ready":false,"reconciling":false,.*"paused":true,"reason":"it was stopped by`),
      );

      await stage.run("fleet", "resume", name);
      await stage.untilSettled(name);
      // Each VM has a data volume of its own beside the one that is attached to it.
      expect(made(name)).toEqual([many.length, 2 * many.length]);
    },
  );

  test("a run whose stack leaves the fleet sends nothing more, for nobody could stop it any more", {
    timeout: 0,
  }, async () => {
    const before = writes();
    await stage.run("fleet", "resume", "left");
    await eventually("its first writes", () => (writes() > before + 3 ? true : undefined));
    await stage.sync(fleet(names));
    await pause(1000);
    const sent = writes();
    const ended = await eventually("the end of its run", async () => {
      const [run] = await stage.session.records.runs("left", 1);
      return run?.endedAt === undefined ? undefined : run;
    });
    expect(ended).toMatchObject({ result: "taken_over", reason: expect.stringMatching(/^its stack left the fleet/) });
    await pause(2000);
    expect(writes()).toBe(sent);
    expect(await stage.session.records.stack("left")).toBeUndefined();
  });
});

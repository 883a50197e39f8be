/** A command that is owed to a guest, in a fleet: a worker is killed while it runs, and another one pays it. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually";
import { type FleetStage, openFleetStage } from "../support/fleet-processes";
import { postgresMissing } from "../support/postgres-server";

describe.skipIf(postgresMissing !== undefined)("a fleet whose worker is killed while it pays a debt", () => {
  let stage: FleetStage;
  beforeAll(async () => {
    stage = await openFleetStage();
  });
  afterAll(() => stage.close());

  test("has another worker run the command, and the stack is as its files say only then", { timeout: 0 }, async () => {
    const [ran, first] = [join(stage.cwd, "ran"), join(stage.cwd, "first")];
    const lines = (): string[] => (existsSync(ran) ? readFileSync(ran, "utf8").trimEnd().split("\n") : []);
    // The first one goes on for as long as it is let, and the worker that started it is gone meanwhile.
    const script = `echo "begun $$" >> "$0"; if mkdir "$1" 2>/dev/null; then exec sleep 600; fi; echo "paid $RECONCILE_REASON" >> "$0"`;
    const command = JSON.stringify(["sh", "-c", script, ran, first]);
    stage.write(
      "db/reconcile.yaml",
      `version: 1
project: acme
region: in-west-1
defaults: { vm: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 } }
vms: { db: { name: owed-db, after_ready: { command: ${command}, timeout: 1h } } }
`,
    );
    await stage.sync(`version: 1
${stage.services}
defaults: { service: here, interval: 1h, approve: auto, state: "${stage.database}?state=\${stack}", retry: { first: 1s, max: 1s } }
stacks: { db: { source: { folder: ./db } } }
`);
    const killed = await stage.worker();
    await eventually("the command that is under way", async () => (lines().length === 1 ? true : undefined));
    expect((await stage.session.records.stack("db"))?.status.ready).toBe(false);
    await stage.kill(killed);
    await stage.worker();
    await stage.untilSettled("db");
    process.kill(Number(lines()[0]?.split(" ")[1]));
    expect(lines().map((line) => line.replace(/\d+/, "N"))).toEqual(["begun N", "begun N", "paid created"]);
    expect(stage.emulator.requests().log.filter(({ operation }) => operation === "vm.create")).toHaveLength(1);
  });
});

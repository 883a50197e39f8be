/** A run that is undone: its plan waits for approval, and the files that still ask for it are not applied again. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { StackRecord } from "../../reconciler/fleet/database/stacks";
import { decide } from "../../reconciler/fleet/decide";
import { eventually } from "../support/eventually";
import { type FleetStage, openFleetStage } from "../support/fleet-processes";
import { planFacts as facts } from "../support/fleet-stage";
import { postgresMissing } from "../support/postgres-server";
import { readDump } from "../support/world-shape";

const oneShop = ({ services, database }: FleetStage): string => `version: 1
${services}
defaults: { service: here, interval: 1h, state: "${database}?state=\${stack}", retry: { first: 1s, max: 2s } }
stacks:
  shop: { source: { folder: ./shop } }
`;

describe("what a round does after a run was undone", () => {
  const undo = { run: 12, id: "x", by: "ann", at: "2026-11-20T10:00:00Z" };
  const policy = { approve: "auto", consents: [] } as const;
  test.each([
    ["the files ask for the same", { ...undo, held: "w" }, facts, "observe"],
    ["the files ask for something else", { ...undo, held: "v" }, facts, "apply"],
    ["the service is as the files ask", { ...undo, held: "w" }, { ...facts, empty: true }, "nothing"],
    ["it is still to be undone", undo, facts, "apply"],
  ] as const)("%s", (_, request, seen, done) => {
    expect(decide(seen, policy, undefined, { open: true }, new Date(), { undo: request }).do).toBe(done);
  });
});

describe.skipIf(postgresMissing !== undefined)("fleet undo", () => {
  let stage: FleetStage;
  const file = (size: number, more = ""): string => `version: 1
project: acme
region: in-west-1
vms:
  web: { name: shop-web, owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 }
volumes:
  data: { name: shop-data, size: ${size}, attach_to: web }
${more}`;
  beforeAll(async () => {
    stage = await openFleetStage({ timeScale: 200 });
    stage.write("shop/reconcile.yaml", file(1));
    await stage.sync(oneShop(stage));
    await stage.worker();
    await stage.untilSettled("shop");
  });
  afterAll(() => stage.close());

  const groups = (): readonly string[] => readDump(stage.emulator.dump()).group.map(({ name }) => name);
  const ended = (stack: StackRecord): boolean => stack.lastRun?.endedAt !== undefined;
  const waits = (): Promise<StackRecord> =>
    stage.until("shop", (stack) => ended(stack) && stack.status.awaitingApproval);

  test("the undo waits for approval, is carried out, and holds until the files change", {
    timeout: 0,
  }, async () => {
    const withGroup = "groups: { web: { name: shop-group } }\n";
    stage.write("shop/reconcile.yaml", file(1, withGroup));
    await stage.hasten("shop");
    const applied = await stage.untilSettled("shop");
    const run = String(applied.lastRun?.id);
    expect(groups()).toContain("shop-group");

    const asked = await stage.run("fleet", "undo", run, "--why", "not yet");
    expect([asked.exitCode, asked.stdout]).toEqual([
      0,
      expect.stringContaining(`The undo of run ${run} of shop is planned`),
    ]);
    const { status } = await waits();
    expect(status.reason).toMatch(new RegExp(`^it undoes run ${run}, as .+ asked: not yet$`));
    expect(groups()).toContain("shop-group");
    const shown = await stage.run("fleet", "plan", "shop");
    expect(shown.stdout).toContain("- group.web");

    // Nobody carries the undo out, and the files hold as before.
    await stage.run("fleet", "reject", "shop", String(status.plan));
    await stage.until("shop", (stack) => ended(stack) && stack.status.ready);

    await stage.run("fleet", "undo", run, "--why", "not yet");
    const again = await waits();
    await stage.run("fleet", "approve", "shop", String(again.status.plan));
    const undone = await stage.until("shop", (stack) => ended(stack) && stack.undoing?.held !== undefined);
    expect(groups()).not.toContain("shop-group");
    expect(undone).toMatchObject({ status: { ready: false, drifted: true, awaitingApproval: false } });
    expect(undone.status.reason).toMatch(
      new RegExp(`^run ${run} was undone by .+: not yet; the files still ask for what it did, and are not applied`),
    );
    expect(undone.lastRun?.result).toBe("applied");

    // The next look, and one at files that ask for the same in other words, leave it so.
    for (const words of [withGroup, `\n# the group comes later\n${withGroup}`]) {
      stage.write("shop/reconcile.yaml", file(1, words));
      const before = (await stage.session.records.stack("shop"))?.lastRun?.id;
      await stage.session.queue.hasten({ stack: "shop", tenant: "default", cause: "push" });
      const looked = await stage.until("shop", (stack) => ended(stack) && stack.lastRun?.id !== before);
      expect(looked.status.reason).toBe(undone.status.reason);
      expect(groups()).not.toContain("shop-group");
    }

    // Other files are applied, and the same ones after them as well: somebody wrote them on purpose.
    stage.write("shop/reconcile.yaml", file(1));
    await stage.session.queue.hasten({ stack: "shop", tenant: "default", cause: "push" });
    await stage.untilSettled("shop");
    await stage.until("shop", ({ undoing }) => undoing === undefined);
    stage.write("shop/reconcile.yaml", file(1, withGroup));
    await stage.session.queue.hasten({ stack: "shop", tenant: "default", cause: "push" });
    await stage.untilSettled("shop");
    expect(groups()).toContain("shop-group");
  });

  test("fleet run applies what was undone, and what cannot be undone is told", { timeout: 0 }, async () => {
    const { records } = stage.session;
    const [newest] = await records.tellingRuns("shop", 1);
    await stage.run("fleet", "undo", String(newest?.id));
    const { status } = await waits();
    await stage.run("fleet", "approve", "shop", String(status.plan));
    await stage.until("shop", (stack) => ended(stack) && stack.undoing?.held !== undefined);
    expect(groups()).not.toContain("shop-group");
    await stage.run("fleet", "run", "shop");
    await stage.untilSettled("shop");
    expect(groups()).toContain("shop-group");

    for (const [named, why] of [
      ["99999", /remembers no run 99999/],
      ["shop", /remembers no run shop/],
      [
        String((await records.runs("shop", 50)).find(({ result }) => result === "awaiting_approval")?.id),
        /carried nothing out/,
      ],
    ] as const) {
      const { exitCode, stderr } = await stage.run("fleet", "undo", named);
      expect([exitCode, stderr]).toEqual([1, expect.stringMatching(why)]);
      expect(stderr).toContain("fleet/no-undo");
    }

    // The state does not remember it any more: that is told once, and the stack goes on.
    await records.undo("shop", { run: 1, id: "0000000000000000", by: "ann", at: new Date().toISOString() });
    await stage.hasten("shop");
    await stage.until("shop", (stack) => ended(stack) && stack.undoing === undefined);
    expect((await records.decisions("shop", 1))[0]).toMatchObject({ who: "fleet", what: "cannot undo" });
    await stage.until("shop", (stack) => ended(stack) && stack.status.ready);
  });
});

describe.skipIf(postgresMissing !== undefined)("a run whose worker died", () => {
  let stage: FleetStage;
  afterAll(() => stage.close());

  test("is undone with what another worker finished of it", { timeout: 0 }, async () => {
    // A VM takes some seconds to be built, in which its worker dies.
    stage = await openFleetStage({ timeScale: 15 });
    const vm = (name: string): string =>
      `{ name: ${name}, owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 }`;
    const file = (more: string): string =>
      `version: 1\nproject: acme\nregion: in-west-1\nvolumes: { data: { name: shop-data, size: 1 } }\n${more}`;
    stage.write("shop/reconcile.yaml", file(""));
    await stage.sync(oneShop(stage));
    const first = await stage.worker();
    await stage.untilSettled("shop");
    stage.write("shop/reconcile.yaml", file(`vms: { web: ${vm("shop-web")} }\n`));
    await stage.hasten("shop");
    const names = (): readonly string[] => readDump(stage.emulator.dump()).vm.map(({ name }) => name);
    await eventually("a VM that is being built", async () => names().includes("shop-web") || undefined);
    await stage.kill(first);
    await stage.worker();
    await stage.untilSettled("shop");

    const [died] = (await stage.session.records.runs("shop", 9)).filter(({ result }) => result === "taken_over");
    const asked = await stage.run("fleet", "undo", String(died?.id));
    expect([asked.exitCode, asked.stderr]).toEqual([0, ""]);
    const { status } = await stage.until(
      "shop",
      (stack) => stack.lastRun?.endedAt !== undefined && stack.status.awaitingApproval,
    );
    expect(status.reason).toContain(`it undoes run ${died?.id}, `);
    await stage.run("fleet", "approve", "shop", String(status.plan), "--why", "it died");
    await stage.until("shop", (stack) => stack.undoing?.held !== undefined);
    expect(names()).toEqual([]);
  });
});

/** After an interruption, a run says of each resource whether it is done, in progress or untouched. */
import { describe, expect, it } from "vitest";
import { readDesired } from "../../reconciler/config/read/desired";
import type { Plan } from "../../reconciler/core/plan/plan";
import type { RunReport } from "../../reconciler/engine/run-plan";
import { htmlReport } from "../../reconciler/report/html/html";
import { summaryLine } from "../../reconciler/report/json-lines";
import { resourceStandings, standingText } from "../../reconciler/report/run-standing";
import { runText } from "../../reconciler/report/run-text";
import { virtualWorld } from "../support/virtual-world";

function file(flavor: string, more: object = {}) {
  const { desired, diagnostics } = readDesired([
    {
      file: "reconcile.yaml",
      text: JSON.stringify({
        version: 1,
        project: "acme",
        region: "in-west-1",
        defaults: {
          vm: { owner: "ops@acme.example", user_id: "1042", image_id: "ubuntu-24.04", flavor_id: flavor, size: 10 },
        },
        vms: { web: { for_each: 3, name: "web-${each}" } },
        rollout: { web: { of: "vm.web", max_unavailable: 1 } },
        ...more,
      }),
    },
  ]);
  if (desired === undefined) throw new Error(JSON.stringify(diagnostics));
  return desired;
}

/** A run of this plan that was stopped after these steps. */
const stoppedAfter = (plan: Plan, done: readonly string[]): RunReport => ({
  steps: plan.steps.map((step) => ({
    step,
    result: done.includes(step.id) ? { end: "done" as const } : { end: "skipped" as const, message: "not started" },
    waitedMs: 0,
  })),
  counts: { done: done.length, failed: 0, skipped: plan.steps.length - done.length, waiting: 0 },
  orphans: [],
  interrupted: true,
});

describe("after an interruption", () => {
  it("a rollout says which VM is done, which waits in VERIFY_RESIZE, and which is untouched", async () => {
    const world = virtualWorld();
    await world.apply(await world.plan(file("m1.small")));
    const { plan } = await world.plan(file("m1.large"));
    const gate = plan.steps.find(({ id }) => id === "rollout web/wave-1")?.id ?? "";
    const run = stoppedAfter(plan, ["vm.web[0]/resize", "vm.web[0]/confirm", gate, "vm.web[1]/resize"]);
    expect(resourceStandings(run, plan)).toEqual([
      { address: "vm.web[0]", standing: "done" },
      {
        address: "vm.web[1]",
        standing: "in_progress",
        waitsFor: expect.stringMatching(/^in VERIFY_RESIZE, neither confirmed nor reverted; next: confirm the resize/),
      },
      { address: "vm.web[2]", standing: "untouched" },
    ]);
    const text = runText(run, plan, { width: 160 });
    expect(text).toContain("✓ updated    vm.web[0]");
    expect(text).toContain("Of 3 resources: 1 done, 1 in progress, 1 untouched");
    expect(text).toMatch(/… in progress {2}vm\.web\[1\]: in VERIFY_RESIZE/);
    expect(text).toMatch(/- untouched {4}vm\.web\[2\]/);
    const summary = summaryLine({
      command: "apply",
      exitCode: 1,
      plan,
      run,
      diagnostics: [],
      orphans: [],
      durationMs: 1,
    });
    expect(summary).toMatchObject({
      resources: [
        { address: "vm.web[0]", standing: "done", waits_for: null },
        { address: "vm.web[1]", standing: "in_progress", waits_for: expect.stringContaining("VERIFY_RESIZE") },
        { address: "vm.web[2]", standing: "untouched", waits_for: null },
      ],
    });
    const page = htmlReport({ command: "apply", version: "1", at: "", exitCode: 1, plan, run, diagnostics: [] });
    expect(page).toContain("in progress: in VERIFY_RESIZE");
    expect(page).toContain(">untouched</td>");
    expect(standingText(resourceStandings(run, plan))).toMatch(
      /^1 done, 1 in progress, 1 untouched; vm\.web\[1\]: in VERIFY/,
    );
  });

  it("a volume that was made and is not attached is in progress, and a run that ended says nothing of it", async () => {
    const world = virtualWorld();
    const { plan } = await world.plan(file("m1.small", { volumes: { data: { size: 3, attach_to: "web[0]" } } }));
    const made = stoppedAfter(plan, ["volume.data/create"]);
    expect(resourceStandings(made, plan)[3]).toEqual({
      address: "volume.data",
      standing: "in_progress",
      waitsFor: expect.stringMatching(/^next: attach volume data/),
    });
    const whole = {
      ...stoppedAfter(
        plan,
        plan.steps.map(({ id }) => id),
      ),
      interrupted: false,
    };
    expect(runText(whole, plan)).not.toContain("untouched");
    const input = { command: "apply", exitCode: 0, plan, run: whole, diagnostics: [], orphans: [], durationMs: 1 };
    expect(summaryLine(input)).toMatchObject({ resources: undefined });
  });
});

it("a resize that an earlier run left undecided is decided before the last wave begins", async () => {
  const world = virtualWorld();
  await world.apply(await world.plan(file("m1.small")));
  const { call } = world.emulated;
  let confirms = 0;
  world.emulated.call = (...args) => {
    if (args[0] === "vm.resize.confirm" && ++confirms > 1) throw new Error("killed");
    return call(...args);
  };
  await world.apply(await world.plan(file("m1.large"))).catch(() => undefined);
  world.emulated.call = call;
  const states = world.emulated.dump().vms.map(({ status }) => status);
  expect(states.filter((status) => status === "VERIFY_RESIZE")).toHaveLength(1);
  const { plan } = await world.plan(file("m1.large"));
  const last = plan.steps.find(({ action }) => action.operation === "vm.resize");
  const left = plan.steps.find(({ action }) => action.operation === "vm.resize.confirm" && last !== undefined);
  const gates = (last?.needs ?? []).flatMap(({ step }) => plan.steps.find(({ id }) => id === step) ?? []);
  expect(gates.flatMap(({ needs }) => needs.map(({ step }) => step))).toContain(left?.id);
  expect((await world.apply(await world.plan(file("m1.large"))))?.counts).toMatchObject({ failed: 0, skipped: 0 });
});

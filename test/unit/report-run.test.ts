/** A run as it goes on and as it ended, drift, and the state. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { PlanOptions } from "../../reconciler/core/diff/context";
import type { RecordedRun } from "../../reconciler/core/model/recorded";
import type { Plan } from "../../reconciler/core/plan/plan";
import type { UnseenEffect } from "../../reconciler/core/plan/unseen";
import { emptyState } from "../../reconciler/core/state/fold";
import type { EngineEvent } from "../../reconciler/engine/events";
import type { RunReport } from "../../reconciler/engine/run-plan";
import { driftText } from "../../reconciler/report/drift-text";
import { historyText } from "../../reconciler/report/history-text";
import { leftMs, liveView, progressLine, startLive, updateLive } from "../../reconciler/report/progress";
import { recordText } from "../../reconciler/report/record-text";
import { runText } from "../../reconciler/report/run-text";
import { orphansText, stateListText } from "../../reconciler/report/state-text";
import { displayColumns } from "../../reconciler/report/style";
import { everythingWorld, hostilePlan, planFor, pretendRun, quickstartWorld, vm } from "../support/sample-plans";

const golden = (name: string): string => join(__dirname, "golden/report", name);
const control = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/;

const troubled = () => {
  const plan = planFor(everythingWorld());
  const pretended = pretendRun(plan, (step) =>
    step.id === "volume.log-data/detach"
      ? { end: "failed", message: "the service refused: quota exceeded", fix: "ask for more", code: "service/refused" }
      : step.id === "vm.db/confirm"
        ? { end: "waiting", message: "waits for a confirmation in the console", fix: "reconcile apply" }
        : { end: "done" },
  );
  return { plan, ...pretended };
};

it("the history says of a run that something waits where a step waits, whatever else was not seen", () => {
  const told = (waiting: number, open: RecordedRun["open"]): string =>
    historyText([
      {
        ...{ id: "0123456789", number: 1, at: "2026-01-01T00:00:00.000Z", endedAt: "2026-01-01T00:00:05.000Z", open },
        ...{
          outcome: "waiting",
          steps: { done: 1, failed: 0, skipped: 0, waiting },
          unseen: ["group.web: name: web-2"],
        },
      },
    ]);
  expect(told(1, { "vm.db": "" })).toContain("something waits for an outside act in 5 s");
  expect(told(0, { "vm.db": "" })).toContain("accepted, and not all of it seen in 5 s");
  // An act such as a reboot is the change of no resource.
  expect(told(0, {})).toContain("accepted, and not all of it seen in 5 s");
});

it("names every write that the service could have shown, however many nobody can look at", () => {
  const { run } = pretendRun(planFor(quickstartWorld()));
  const [first, ...others] = run.steps;
  const unseen = (nth: number, why: UnseenEffect["why"]): UnseenEffect => ({
    ...{ address: `group.g${nth}`, title: `rename g${nth}`, field: "name", said: `name: g-${nth}` },
    why,
  });
  const blind = Array.from({ length: 30 }, (_, nth) => unseen(nth, { unseen: "nobody-can-look", because: "no list" }));
  const hidden = Array.from({ length: 22 }, (_, nth) =>
    unseen(100 + nth, { unseen: "not-shown", where: "the list of groups" }),
  );
  const steps = [{ ...first!, result: { end: "done", unseen: [...blind, ...hidden] } as const }, ...others];
  const text = runText({ ...run, steps }, planFor(quickstartWorld()));
  expect(hidden.filter(({ address }) => !text.includes(`${address}: `))).toEqual([]);
  expect(text).toContain("      and 30 more\n");
});

describe("the end of a run", () => {
  it.each([80, 200])("reads as the golden text at %i columns", async (width) => {
    const { plan, run } = troubled();
    const orphans = [{ kind: "volume", id: "v-1", name: "web-data", reason: "outlived its VM", sizeGb: 20 }] as const;
    await expect(runText({ ...run, orphans }, plan, { width })).toMatchFileSnapshot(golden(`run-${width}.txt`));
  });

  const done = pretendRun(planFor(quickstartWorld())).run;
  const cases: readonly (readonly [string, RunReport, RegExp])[] = [
    ["done is done", done, /^Done: the service matches the file \(9 steps done in 1 min 1 s\)\.$/m],
    [
      "interrupted says that the next run goes on",
      { ...done, interrupted: true },
      /^Interrupted .* goes on from here\.$/m,
    ],
    [
      "a state that cannot be written is named",
      { ...done, broken: new Error("disk full") },
      /the state could not be written \(disk full\)/,
    ],
    [
      "what waits gives exit code 4",
      { ...done, counts: { ...done.counts, waiting: 1 } },
      /waits for an outside act .* exit code 4/,
    ],
    [
      "what failed is not done",
      { ...done, counts: { ...done.counts, failed: 1 } },
      /^Not finished \(9 steps done, 1 failed/m,
    ],
  ];
  for (const [title, run, expected] of cases)
    it(title, () => expect(runText(run, planFor(quickstartWorld()), { width: 200 })).toMatch(expected));

  it("has one empty line before it, also where nothing was done", () => {
    const plan = planFor(quickstartWorld());
    const { run } = pretendRun(plan, () => ({ end: "failed", message: "refused" }));
    expect(runText(run, plan)).toMatch(/^\n {2}✗ failed/);
    expect(runText(done, plan)).toMatch(/^\n {2}✓ created/);
  });

  const targets = ["group.web"];
  const ends: readonly (readonly [string, PlanOptions, string | undefined, string])[] = [
    ["of the targets alone", { targets }, undefined, "Done: the service matches the file, targets only ("],
    ["of a destroy", { destroy: true }, undefined, "Done: everything in the state is deleted ("],
    [
      "of a destroy of targets",
      { destroy: true, targets },
      undefined,
      "Done: what was planned is deleted, targets only (",
    ],
    [
      "of a destroy without some",
      { destroy: true, excludes: targets },
      undefined,
      "Done: what was planned is deleted, without group.web (",
    ],
    ["of a saved plan", {}, "the service matches the plan", "Done: the service matches the plan ("],
    ["of an undo", {}, "what was planned is undone", "Done: what was planned is undone ("],
  ];
  it.each(ends)("tells no more than was done: %s", (_, options, outcome, expected) => {
    const plan = { ...planFor(quickstartWorld()), options };
    expect(runText(done, plan, { width: 200, outcome })).toContain(expected);
  });

  it.each<readonly [string, Partial<Plan>, string]>([
    ["from memory", { fromMemory: [{ address: "group.web" }] }, "Done: what was looked at matches the file ("],
    [
      "for a credential that may not look at all of it",
      { diagnostics: [{ severity: "warning", code: "plan/forbidden", summary: "group.web may not be looked at" }] },
      "Done: what the service shows matches the file (",
    ],
  ])("tells no more than was seen by a plan that was made %s", (_, seen, expected) => {
    expect(runText(done, { ...planFor(quickstartWorld()), ...seen }, { width: 200 })).toContain(expected);
  });
});

describe("the live view", () => {
  const plan = planFor({ desired: Array.from({ length: 500 }, (_, index) => vm(`web[${index}]`)) });
  const { events } = pretendRun(plan);

  it("never grows past the terminal, whatever runs", () => {
    let state = startLive(plan);
    for (const [index, { at, event }] of events.entries()) {
      state = updateLive(state, event, at);
      if (index % 50 !== 0) continue;
      for (const height of [3, 10, 24, 60])
        for (const width of [40, 80, 200]) {
          const lines = liveView(state, { width, height, now: at + 100 });
          expect(lines.length).toBeLessThan(height);
          for (const line of lines) expect(displayColumns(line)).toBeLessThanOrEqual(width);
        }
    }
  });

  it.each([
    [20, 20],
    [0, Number.POSITIVE_INFINITY],
  ])("on a service %d times faster its estimates are that much shorter", (timeScale, factor) => {
    expect(leftMs(startLive(plan, timeScale), 0)).toBeCloseTo(leftMs(startLive(plan), 0) / factor);
  });

  it("starts with the estimate of the plan and ends with nothing left", () => {
    const plan = planFor(quickstartWorld());
    let state = startLive(plan);
    expect(leftMs(state, 0)).toBe(plan.estimate.durationMs);
    let last = Number.POSITIVE_INFINITY;
    for (const { at, event } of pretendRun(plan).events) {
      state = updateLive(state, event, at);
      expect(leftMs(state, at)).toBeLessThanOrEqual(last);
      last = leftMs(state, at);
    }
    expect(last).toBe(0);
    expect(liveView(state, { width: 80, now: 61_000 })).toHaveLength(1);
  });

  it("tells what is unknown from what failed", () => {
    let state = startLive(plan);
    const event = {
      type: "step",
      step: "x/create",
      address: "vm.x",
      operation: "vm.create",
      attempt: 1,
      elapsedMs: 5,
      title: "create VM x",
    } as const;
    state = updateLive(state, { ...event, status: "failed", unknown: true, message: "the answer was lost" }, 5);
    expect(liveView(state, { width: 120, now: 6 })[0]).toMatch(/0 of 500 steps · 1 unknown/);
    expect(progressLine({ ...event, status: "failed", unknown: true })).toMatch(/^unknown /);
  });

  it("counts what only runs after a failure when it does", () => {
    const { plan, events } = troubled();
    let state = startLive(plan);
    for (const { at, event } of events) state = updateLive(state, event, at);
    const [first] = liveView(state, { width: 120, now: 65_000 });
    expect(first).toMatch(/19 of 23 steps · 1 failed · 2 skipped · 1 waiting/);
  });
});

describe("plain progress lines", () => {
  it("say when long steps start and how every step ended", async () => {
    const lines = troubled().events.flatMap(({ event }) => progressLine(event) ?? []);
    await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot(golden("progress.txt"));
  });

  const events: readonly (readonly [EngineEvent, string | undefined])[] = [
    [{ type: "refresh", status: "started", resources: 3, elapsedMs: 0 }, undefined],
    [{ type: "refresh", status: "done", resources: 3, elapsedMs: 1200 }, "looked at 3 resources in 1 s"],
    [
      {
        ...{ type: "step", status: "progress", step: "x", address: "volume.x", operation: "volume.create", attempt: 1 },
        ...{ elapsedMs: 5, title: "create volume x of 1 GB", message: "it is looked for later", accepted: true },
      },
      "accepted  volume.x: create volume x of 1 GB",
    ],
    [
      { type: "orphan", orphan: { kind: "volume", id: "v", name: "n\u001b", reason: "r" } },
      "orphan    volume n\\u001b (v): r",
    ],
  ];
  for (const [event, line] of events)
    it(`${event.type} is ${line ?? "no line"}`, () => expect(progressLine(event)).toBe(line));
});

describe("text of others in a run", () => {
  it("shows its control characters as numbers", () => {
    const plan = hostilePlan(planFor(everythingWorld()));
    const { run, events } = pretendRun(plan, () => ({
      end: "failed",
      message: "\u001b[2Jno\u009b",
      fix: "\u202e",
      code: "service/conflict",
    }));
    let state = startLive(plan);
    const texts = [runText({ ...run, orphans: plan.orphans }, plan)];
    for (const { at, event } of events) {
      state = updateLive(state, event, at);
      texts.push(progressLine(event) ?? "", ...liveView(state, { now: at }));
    }
    for (const text of texts) expect(text).not.toMatch(control);
  });
});

describe("drift and the state", () => {
  it("lists what is gone and what differs, recorded first", () => {
    const text = driftText({
      drifts: [
        { address: "vm.db", name: "db", id: "i-1", gone: true, fields: [] },
        { address: "volume.d", name: "d\u001b", gone: false, fields: [{ field: "size", before: 20, after: 40 }] },
      ],
      compared: 12,
      recorded: 12,
      incomplete: false,
    });
    expect(text).toBe(
      "- vm.db (db, i-1) is gone\n~ volume.d (d\\u001b)\n    size          20 GB → 40 GB\n\nDrift: 2 of 12 resources differ from the state (recorded → now).\n",
    );
    expect(driftText({ drifts: [], compared: 1, recorded: 1, incomplete: false })).toBe(
      "No drift: the service is as the state has it (1 resource).\n",
    );
    expect(driftText({ drifts: [], compared: 1, recorded: 4, incomplete: false })).toBe(
      "No drift: the service is as the state has it (1 resource; 3 more cannot be looked at).\n",
    );
    expect(driftText({ drifts: [], compared: 0, recorded: 4, incomplete: false })).toBe(
      "Drift is not known: nothing of the state can be looked at (4 resources).\n",
    );
    expect(driftText({ drifts: [], compared: 0, recorded: 0, incomplete: false })).toBe(
      "No drift: the service is as the state has it (0 resources).\n",
    );
    expect(driftText({ drifts: [], compared: 1, recorded: 1, incomplete: true })).toBe(
      "Drift is not known: not everything could be read.\n",
    );
  });

  it("shows the state as a table with what is unfinished, and one record in full", () => {
    const record = {
      kind: "volume",
      address: "volume.d",
      id: "v-1",
      name: "d",
      sizeGb: 20,
      flush: { via: "ask" },
      preventDestroy: true,
    } as const;
    const intent = {
      step: "vm.a/create",
      address: "vm.a",
      operation: "vm.create",
      name: "a",
      sentAt: "2026-01-02T03:04:05Z",
      idsBefore: [],
    } as const;
    const state = {
      ...emptyState("l"),
      resources: new Map([["volume.d", record]]),
      intents: new Map([["vm.a", intent]]),
    };
    expect(stateListText(state)).toBe(
      "ADDRESS   ID           NAME\nvm.a      (not known)  a     begun: vm.create\nvolume.d  v-1          d     prevent_destroy\n\n1 resource.\n",
    );
    expect(stateListText(emptyState("l"))).toBe("The state holds nothing.\n");
    expect(recordText("volume.d", record, undefined)).toContain("  flush            via ask\n");
    expect(recordText("vm.a", undefined, intent)).toContain("    sent at    2026-01-02T03:04:05Z\n");
  });

  it("lists orphans with the way to end one", () => {
    expect(orphansText([])).toMatch(/^No orphans/);
    expect(orphansText([{ kind: "volume", id: "v", name: "n", reason: "why", sizeGb: 5 }])).toBe(
      "KIND    ID  NAME  SIZE  WHY\nvolume  v   n     5 GB  why\n\nEnd one with: reconcile orphans delete ID\n",
    );
  });
});

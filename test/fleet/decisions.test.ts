/** What a fleet decides, as tables and properties: whose turn it is, when, whether a plan is applied, how a stack stands. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Consent } from "../../reconciler/core/plan/consent";
import { changesOf } from "../../reconciler/fleet/changes";
import type { RunRecord } from "../../reconciler/fleet/database/runs";
import { type Approval, decide, type PlanFacts } from "../../reconciler/fleet/decide";
import { clockIsFar, priorityOf, withoutTurn } from "../../reconciler/fleet/fairness";
import { type Approve, type FleetWindow, fits, type StackSpec } from "../../reconciler/fleet/model";
import { afterFailure, afterSuccess } from "../../reconciler/fleet/next-round";
import { afterLostWorkers, afterRound, newStatus, occasionsOf, whileRunning } from "../../reconciler/fleet/status";
import { alikeRuns, briefReason, partsOfReason, runTable, stackTable } from "../../reconciler/fleet/views";
import { openingOf, scheduleProblem } from "../../reconciler/fleet/windows";
import { planFacts, stackSpec } from "../support/fleet-stage";

const now = new Date("2026-11-20T19:30:00Z"); // a Friday

describe("whose turn it is", () => {
  test("a smaller turn goes first, and what a person asks for before everything", () => {
    expect(priorityOf(49, "clock")).toBeGreaterThan(priorityOf(50, "clock"));
    expect(priorityOf(1e6, "person")).toBeGreaterThan(priorityOf(0, "clock"));
    expect(priorityOf(1e9, "clock")).toBeGreaterThan(withoutTurn);
    expect(clockIsFar(1)).toBe(false);
    expect(clockIsFar(1e9)).toBe(true);
  });
});

describe("a plan that a person rejected", () => {
  const rejection = { digest: "p", by: "ann", why: "not now", at: "2026-11-20T10:00:00Z" };
  const word = (approve: Approve, plan: string): string =>
    decide({ ...planFacts, digest: plan }, { approve, consents: [] }, undefined, { open: true }, now, { rejection }).do;
  test.each([
    ["plan", "p", "observe"],
    ["safe", "p", "observe"],
    ["auto", "p", "observe"],
    ["plan", "another", "await"],
    ["safe", "another", "apply"],
  ] as const)("with approve: %s the plan %s leads to %s", (approve, plan, ends) =>
    expect(word(approve, plan)).toBe(ends),
  );
});

describe("when a stack is looked at again", () => {
  const retry = { firstMs: 30_000, maxMs: 3_600_000, giveUpAfter: 8 };
  test.each([
    [1, 30_000],
    [2, 60_000],
    [5, 480_000],
    [8, 3_600_000],
    [80, 3_600_000],
  ])("after %i failures it waits %i ms", (failures, ms) => expect(afterFailure(retry, failures, 0)).toBe(ms));
  test("it is looked at again within its interval and a tenth, and from then on once in each", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1000, max: 1e8 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        fc.integer({ min: 0, max: 2e12 }),
        (ms, jitter, now) => {
          const first = afterSuccess(ms, jitter, now);
          expect(first).toBeGreaterThanOrEqual(Math.floor(ms * 0.1));
          expect(first).toBeLessThanOrEqual(Math.ceil(ms * 1.1) + 1);
          // A round takes a little itself.
          expect(Math.abs(afterSuccess(ms, jitter, now + first + 5) + 5 - ms)).toBeLessThanOrEqual(2);
        },
      ),
    );
  });
  test("a thousand stacks that begin at once are looked at evenly", () => {
    const minute = 60_000;
    const at = Array.from({ length: 1000 }, (_, index) => afterSuccess(10 * minute, index / 1000, 1_800_000_000_123));
    const inEach = Array.from({ length: 11 }, (_, n) => at.filter((ms) => Math.floor(ms / minute) === n).length);
    expect(inEach[0]).toBe(0);
    for (const count of inEach.slice(1)) expect(Math.abs(count - 100)).toBeLessThanOrEqual(1);
  });
});

describe("windows", () => {
  const weekend: FleetWindow = {
    kind: "deny",
    schedule: "0 18 * * 5",
    timeZone: "UTC",
    durationMs: 62 * 3_600_000,
    stacks: ["prod-*"],
    actions: ["apply"],
  };
  const night: FleetWindow = { ...weekend, kind: "allow", schedule: "0 2 * * *", durationMs: 3_600_000, stacks: [] };
  test.each([
    ["in a deny window", [weekend], "prod-shop", now, false],
    ["of another stack", [weekend], "dev-shop", now, true],
    ["before it begins", [weekend], "prod-shop", new Date("2026-11-20T17:59:59Z"), true],
    ["at its first moment", [weekend], "prod-shop", new Date("2026-11-20T18:00:00Z"), false],
    ["when it is over", [weekend], "prod-shop", new Date("2026-11-23T08:00:00Z"), true],
    ["outside of the only allow window", [night], "x", now, false],
    ["inside of it", [night], "x", new Date("2026-11-21T02:30:00Z"), true],
    ["a deny window wins", [night, { ...weekend, stacks: [] }], "x", new Date("2026-11-21T02:30:00Z"), false],
    ["no window at all", [], "x", now, true],
  ])("%s", (_, windows, stack, at, open) => expect(openingOf(windows, stack, "apply", at).open).toBe(open));

  test("it says until when, and looking is another thing", () => {
    const closed = openingOf([weekend], "prod-shop", "apply", now);
    expect(!closed.open && closed.until?.toISOString()).toBe("2026-11-23T08:00:00.000Z");
    const outside = openingOf([night], "x", "apply", now);
    expect(!outside.open && outside.until?.toISOString()).toBe("2026-11-21T02:00:00.000Z");
    expect(openingOf([weekend], "prod-shop", "look", now).open).toBe(true);
  });
  test.each([
    ["0 18 * * 5", true],
    ["0 18 * *", false],
    ["99 1 * * *", false],
    ["soon", false],
  ])("the schedule %s", (schedule, good) => expect(scheduleProblem(schedule, "UTC") === undefined).toBe(good));
});

const loss: Consent = {
  kind: "data_loss",
  address: "volume.data",
  detail: "loses volume.data",
  grant: "",
  loss: { disk: "volume" } as never,
};
const flush: Consent = { kind: "flush", address: "volume.data", detail: "flush it", grant: "" };
const guarded: Consent = { kind: "prevent_destroy", address: "vm.db", detail: "vm.db is protected", grant: "" };

describe("what becomes of a plan", () => {
  const facts: PlanFacts = {
    digest: "d1",
    empty: false,
    steps: 2,
    consents: [],
    opens: [],
    drifted: [],
    leases: true,
    wish: "w",
  };
  const approved: Approval = { digest: "d1", by: "ann", at: "", until: "2027-01-01T00:00:00Z" };
  const open = { open: true } as const;
  const shut = { open: false, why: "a window" } as const;
  const cases: readonly [string, Partial<PlanFacts>, Approve, Approval | undefined, boolean, string][] = [
    ["nothing to do", { empty: true }, "safe", undefined, true, "nothing"],
    ["safe applies what loses nothing", {}, "safe", undefined, true, "apply"],
    ["safe waits before a loss", { consents: [loss] }, "safe", undefined, true, "await"],
    ["safe waits before a flush", { consents: [flush] }, "safe", undefined, true, "await"],
    ["safe waits before it opens to the world", { opens: ["group.web"] }, "safe", undefined, true, "await"],
    ["auto without consents is as safe", { consents: [loss] }, "auto", undefined, true, "await"],
    ["plan always waits", {}, "plan", undefined, true, "await"],
    ["never only looks", {}, "never", undefined, true, "observe"],
    ["never only looks, also when approved", {}, "never", approved, true, "observe"],
    ["an approved plan is applied", { consents: [loss] }, "plan", approved, true, "apply"],
    ["an approval of another plan is none", { digest: "d2" }, "plan", approved, true, "await"],
    ["a closed window holds it", {}, "safe", undefined, false, "hold"],
    ["a closed window voids an approval", {}, "plan", approved, false, "await"],
    ["what is protected is only shown", { consents: [loss, guarded] }, "auto", undefined, true, "observe"],
    ["what is protected is only shown, also when approved", { consents: [guarded] }, "plan", approved, true, "observe"],
    ["without leases it only looks", { leases: false }, "auto", approved, true, "observe"],
    ["what only writes down is applied", { steps: 0 }, "plan", undefined, false, "apply"],
  ];
  test.each(cases)("%s", (_, some, approve, approval, isOpen, done) => {
    expect(decide({ ...facts, ...some }, { approve, consents: [] }, approval, isOpen ? open : shut, now).do).toBe(done);
  });

  test("a closed window says that the approval is void, and until when it is closed", () => {
    const until = new Date("2026-11-23T08:00:00Z");
    const shutUntil = { ...shut, until } as const;
    const decision = decide(facts, { approve: "plan", consents: [] }, approved, shutUntil, now);
    expect(decision).toMatchObject({
      do: "await",
      voids: true,
      why: expect.stringMatching(/ann is void.*2026-11-23T08/),
    });
  });

  test("an old approval is none", () => {
    const old = { ...approved, until: "2026-11-20T19:29:59Z" };
    expect(decide(facts, { approve: "plan", consents: [] }, old, open, now).do).toBe("await");
  });

  test("a standing consent to flushes is for the VM that the file or the state names", () => {
    const auto = { approve: "auto", consents: ["flush"] } as const;
    const elsewhere = { ...flush, unproven: true } as const;
    const of = (...consents: readonly Consent[]) => decide({ ...facts, consents }, auto, undefined, open, now).do;
    expect([of(flush), of(elsewhere), of(flush, elsewhere)]).toEqual(["apply", "await", "await"]);
  });

  test("grants are for what the plan lists and nothing else", () => {
    const decision = decide(
      { ...facts, consents: [loss, flush] },
      { approve: "auto", consents: ["data_loss", "flush", "removal"] },
      approved,
      open,
      now,
    );
    if (decision.do !== "apply") throw new Error(decision.do);
    expect(decision.grants.allowDataLoss).toBe(false);
    expect(decision.grants.approved).toEqual([loss, flush]);
    expect(decision.grants.confirmFlush).toEqual(["volume.data"]);
  });
});

describe("how a stack stands", () => {
  const end = { revision: "r2", drifted: 0, giveUpAfter: 3 };
  test("each end of a round", () => {
    const ready = afterRound(newStatus, { ...end, result: { end: "in_sync" } });
    expect(ready).toMatchObject({ ready: true, observedRevision: "r2", appliedRevision: "r2", reason: null });
    const waiting = afterRound(ready, {
      ...end,
      revision: "r3",
      drifted: 1,
      result: { end: "awaiting_approval", plan: "d", why: "loses data" },
    });
    expect(waiting).toMatchObject({
      ready: false,
      drifted: true,
      awaitingApproval: true,
      plan: "d",
      appliedRevision: "r2",
    });
    expect(occasionsOf(ready, waiting, { end: "awaiting_approval", plan: "d", why: "" })).toEqual([
      "drifted",
      "awaiting_approval",
    ]);
    expect(occasionsOf(waiting, waiting, { end: "awaiting_approval", plan: "d", why: "" })).toEqual([]);
    let failing = ready;
    for (let times = 1; times <= 3; times++) {
      const result = { end: "failed", why: "no" } as const;
      const next = afterRound(whileRunning(failing), { ...end, result });
      expect(next).toMatchObject({ failures: times, stalled: times === 3, ready: false });
      // It is tried again and again: told are the first time, another reason, and that it is given up.
      expect(occasionsOf(failing, next, result)).toEqual([["failed"], [], ["stalled"]][times - 1]);
      const other = { end: "failed", why: "something else" } as const;
      expect(occasionsOf(next, afterRound(next, { ...end, result: other }), other)).toContain("failed");
      failing = next;
    }
    expect(afterRound(failing, { ...end, result: { end: "applied" } })).toMatchObject({
      ready: true,
      failures: 0,
      stalled: false,
    });
    // It was cut short: where nothing was sent, the stack is what it was.
    const cut = { end: "handed_over", why: "its worker was stopped" } as const;
    for (const before of [ready, waiting, failing]) {
      const stood = { ...before, reconciling: true, reason: cut.why };
      expect(afterRound(before, { ...end, revision: before.observedRevision ?? "", result: cut })).toEqual(stood);
      expect(afterRound(before, { ...end, begun: true, result: cut })).toMatchObject({
        ...{ ready: false, awaitingApproval: false, stalled: false, reconciling: true },
        ...{ plan: before.plan, failures: before.failures, drifted: before.drifted },
      });
    }
    expect(afterLostWorkers(ready, 3)).toMatchObject({ stalled: true, ready: false });
  });

  test("what differed when somebody looked last differs until somebody has looked again", () => {
    const lock = { what: "lock", detail: "ann" } as const;
    const held = { end: "blocked", why: "it is locked", waitingFor: lock } as const;
    const differs = { ...newStatus, drifted: true };
    const after = afterRound(differs, { ...end, drifted: undefined, result: held });
    expect([after.drifted, occasionsOf(differs, after, held)]).toEqual([true, ["blocked"]]);
    // Nobody is told of it a second time.
    const observed = { end: "observed", why: "vm.web differs" } as const;
    expect(occasionsOf(after, afterRound(after, { ...end, drifted: 1, result: observed }), observed)).toEqual([]);
    expect(afterRound(differs, { ...end, result: held }).drifted).toBe(false);
  });
});

const stack = (name: string, more: Partial<StackSpec> = {}): StackSpec => {
  const { service: _, ...spec } = stackSpec(name, { source: { kind: "folder", folder: "/x" } });
  return { ...spec, ...more };
};

test("a stack that leaves the file is released, and destroyed only where it said so", () => {
  const all = (...stacks: StackSpec[]) => new Map(stacks.map((one) => [one.name, one]));
  const changes = changesOf(
    all(stack("a"), stack("b"), stack("c", { destroy: true }), stack("d")),
    all(stack("a"), stack("b", { approve: "plan" }), stack("e")),
  );
  expect(changes.map(({ action, name, fields }) => [action, name, ...fields])).toEqual([
    ["change", "b", "approve"],
    ["destroy", "c"],
    ["release", "d"],
    ["add", "e"],
  ]);
});

test("a star stands for any text", () => {
  const cases: readonly [string, string, boolean][] = [
    ["prod-*", "prod-shop", true],
    ["prod-*", "dev-prod-shop", false],
    ["*-shop", "prod-shop", true],
    ["a*b*c", "a1b2c", true],
    ["a*b*c", "acb", false],
    ["ab*ba", "aba", false],
    ["*", "", true],
    ["x", "x", true],
  ];
  for (const [pattern, name, yes] of cases) expect([pattern, name, fits(pattern, name)]).toEqual([pattern, name, yes]);
});

describe("a list of stacks", () => {
  test("has the reason under a word that says so", () => {
    const status = { ...newStatus, awaitingApproval: true, reason: "it loses data" };
    const stack = { name: "shop", status, paused: false } as Parameters<typeof stackTable>[0][number];
    const [head, row] = stackTable([stack], new Date(0));
    expect(head?.indexOf("WHY")).toBe(row?.indexOf("it loses data"));
  });
});

describe("a list of runs", () => {
  const at = (minute: number): Date => new Date(Date.UTC(2026, 0, 1, 10, minute));
  const run = (id: number, stack: string, result: RunRecord["result"], reason?: string): RunRecord => ({
    id,
    stack,
    cause: "interval",
    worker: "w",
    startedAt: at(id),
    endedAt: at(id + 1),
    counts: {},
    ...(result === undefined ? {} : { result }),
    ...(reason === undefined ? {} : { reason }),
  });

  test("shows once what stays as it is, however many rounds say so", () => {
    const runs = [
      run(9, "b", "awaiting_approval", "it loses data"),
      run(8, "a", "in_sync"),
      run(7, "b", "awaiting_approval", "it loses data"),
      run(6, "b", "awaiting_approval", "it opens a port"),
      run(5, "a", "in_sync"),
      run(4, "a", "applied"),
      run(3, "a", "applied"),
      run(2, "a", "in_sync"),
    ];
    expect(alikeRuns(runs).map(({ run: { id }, times, since }) => [id, times, since])).toEqual([
      [9, 2, at(7)],
      [8, 2, at(5)],
      [6, 1, at(6)],
      // Each of these did something.
      [4, 1, at(4)],
      [3, 1, at(3)],
      [2, 1, at(2)],
    ]);
    expect(runTable(runs)[1]).toMatch(/it loses data \(2 times since 2026-01-01 10:07:00\)$/);
    expect(alikeRuns([run(2, "a", undefined), run(1, "a", undefined)])).toHaveLength(2);
  });
});

describe("a reason of many errors", () => {
  const errors = "shop/reconcile.yaml:3 size is missing: add size; shop/reconcile.yaml:9 name; twice: rename it";
  test("is a line for each error, and brief in a list", () => {
    expect(partsOfReason(errors)).toEqual([
      "shop/reconcile.yaml:3 size is missing: add size",
      "shop/reconcile.yaml:9 name; twice: rename it",
    ]);
    expect(briefReason(errors)).toBe("shop/reconcile.yaml:3 size is missing: add size (and 1 more)");
    expect(partsOfReason("it loses data; it opens group.web")).toEqual(["it loses data; it opens group.web"]);
    expect(briefReason("x".repeat(1000)).length).toBe(240);
  });
});

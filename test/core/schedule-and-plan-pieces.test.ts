/** The small pure pieces under the planner, as tables: one sentence, one case. */
import { describe, expect, it } from "vitest";
import type { Change } from "../../reconciler/core/diff/changes";
import type { LiveVm, LiveVolume, VmPhase } from "../../reconciler/core/model/live";
import { consentsFor, missingConsents, noGrants } from "../../reconciler/core/plan/consent";
import { onceEach } from "../../reconciler/core/plan/draft";
import { downTogether, estimate } from "../../reconciler/core/plan/estimate";
import { orderBreakingCycles, orderNodes } from "../../reconciler/core/plan/graph";
import { need, type Step, type StepId } from "../../reconciler/core/plan/step";
import { createScheduler } from "../../reconciler/core/schedule/scheduler";
import {
  settleVm,
  settleVolume,
  type VolumeWait,
  type Wait,
  type Watched,
} from "../../reconciler/core/schedule/settle";
import { fingerprint } from "../../reconciler/core/text/hash";

const vm = (phase: VmPhase, more: Partial<LiveVm> = {}): LiveVm => ({
  kind: "vm",
  id: "1",
  name: "x",
  phase,
  status: phase,
  ...more,
});
const isLarge = (flavor: string) => flavor === "large";
const resized = { for: "resized", isTarget: isLarge, isConfirmed: true } as const;
const isNotB = (image: string) => image !== "b";

describe("settled yet?", () => {
  const cases: Record<string, readonly [Wait, LiveVm | undefined, string, watched?: Watched]> = {
    "a VM that is not listed yet is waited for": [{ for: "built" }, undefined, "pending"],
    "a built VM runs": [{ for: "built" }, vm("running"), "settled"],
    "or is stopped, and stays so": [{ for: "built" }, vm("stopped"), "settled", { rested: true }],
    "one that is stopped may be about to start for the first time": [
      { for: "built" },
      vm("stopped"),
      "pending",
      { moved: true },
    ],
    "a word nobody knows is a VM on its way": [{ for: "built" }, vm("changing"), "pending"],
    "a failed VM ends any wait": [{ for: "running" }, vm("failed"), "failed"],
    "stopped is not running": [{ for: "running" }, vm("stopped"), "pending"],
    "gone is when nobody shows it": [{ for: "gone" }, undefined, "settled"],
    "a failed VM can still go": [{ for: "gone" }, vm("failed"), "pending"],
    "VERIFY_RESIZE ends a resize": [resized, vm("verify_resize"), "settled"],
    "so does the new flavor, where the service confirms by itself": [
      resized,
      vm("running", { flavor: "large" }),
      "settled",
      { moved: true },
    ],
    "and at once where nothing can be confirmed": [
      { ...resized, isConfirmed: false },
      vm("running", { flavor: "large" }),
      "settled",
    ],
    "and not while it may not have begun: it may wait to be confirmed then": [
      resized,
      vm("running", { flavor: "large" }),
      "pending",
    ],
    "the old flavor does not": [resized, vm("running", { flavor: "small" }), "pending"],
    "no flavor shown says nothing": [resized, vm("running"), "pending"],
    "but that it was on its way and is there does": [resized, vm("running"), "settled", { moved: true }],
    "and not where the old flavor shows": [resized, vm("running", { flavor: "small" }), "pending", { moved: true }],
    "a rebuild is done when the new image shows": [
      { for: "rebuilt", isOther: isNotB },
      vm("running", { image: "b" }),
      "settled",
    ],
    "and not while the old one does": [{ for: "rebuilt", isOther: isNotB }, vm("running", { image: "a" }), "pending"],
    "without a status nothing shows an arrival, and the answer has to do": [
      { for: "running" },
      vm("changing", { status: undefined }),
      "settled",
    ],
    "and not for a resize": [resized, vm("changing", { status: undefined }), "pending"],
    "nor for a rebuild": [{ for: "rebuilt", isOther: isNotB }, vm("changing", { status: undefined }), "pending"],
    "but where the new flavor shows, once it had time to begin": [
      resized,
      vm("changing", { status: undefined, flavor: "large" }),
      "settled",
      { moved: true },
    ],
    "and not before": [resized, vm("changing", { status: undefined, flavor: "large" }), "pending"],
    "nor where no flavor shows": [resized, vm("changing", { status: undefined }), "pending", { moved: true }],
    "and where the new image shows": [
      { for: "rebuilt", isOther: isNotB },
      vm("changing", { status: undefined, image: "b" }),
      "settled",
    ],
    "and not where the old one does, without a status": [
      { for: "rebuilt", isOther: isNotB },
      vm("changing", { status: undefined, image: "a" }),
      "pending",
    ],
    "a decided resize is neither way any more": [{ for: "decided" }, vm("verify_resize"), "pending"],
  };
  it.each(Object.entries(cases))("%s", (_, [wait, live, status, watched]) => {
    expect(settleVm(wait, live, watched).status).toBe(status);
  });

  const on = { for: "attached", vmId: "1" } as const;
  const off = { for: "detached", vmId: "1" } as const;
  const volumes: Record<string, readonly [VolumeWait, Partial<LiveVolume> | undefined, string]> = {
    "a volume that is not shown yet is waited for": [on, undefined, "pending"],
    "so is one on its way, wherever it hangs": [on, { attachedTo: "1", changing: true }, "pending"],
    "one that hangs where it was asked to is there": [on, { attachedTo: "1" }, "settled"],
    "one that hangs elsewhere is not": [on, { attachedTo: "2" }, "pending"],
    "where it hangs is not shown, and not waited for": [on, {}, "settled"],
    "one that failed off its VM has ended": [on, { attachedTo: null, failed: true }, "failed"],
    "one that is off is detached": [off, { attachedTo: null }, "settled"],
    "one that failed comes off all the same": [off, { attachedTo: "1", failed: true }, "pending"],
    "a size that is not reached is waited for": [{ for: "grown", sizeGb: 9 }, { sizeGb: 8 }, "pending"],
    "and is there when it is": [{ for: "grown", sizeGb: 9 }, { sizeGb: 9 }, "settled"],
    "a volume is gone when nobody shows it": [{ for: "gone" }, undefined, "settled"],
    "and not before": [{ for: "gone" }, {}, "pending"],
  };
  it.each(Object.entries(volumes))("%s", (_, [wait, live, status]) => {
    const shown = live && ({ kind: "volume", id: "v", name: "x", failed: false, ...live } as const);
    expect(settleVolume(wait, shown).status).toBe(status);
  });
});

describe("order", () => {
  const needs = (edges: Record<string, string[]>) => (node: string) => edges[node] ?? [];
  it("keeps the given order where nothing else decides", () => {
    expect(orderNodes(["c", "a", "b"], needs({})).order).toEqual(["c", "a", "b"]);
  });
  it("puts what is needed first, and ignores what is not there", () => {
    expect(orderNodes(["a", "b", "c"], needs({ a: ["c", "zz"], c: ["b"] })).order).toEqual(["b", "c", "a"]);
  });
  it("names the members of a cycle and what hangs on them, and nothing else", () => {
    expect(orderNodes(["a", "b", "c", "d"], needs({ a: ["b"], b: ["a"], c: ["a"] }))).toEqual({
      order: ["d"],
      stuck: ["a", "b", "c"],
    });
  });
  it("opens as few edges of a cycle as it takes", () => {
    const { order, open } = orderBreakingCycles(
      ["a", "b", "c", "d"],
      needs({ a: ["b"], b: ["c"], c: ["a"], d: ["a"] }),
    );
    expect(order).toEqual(["a", "c", "d", "b"]);
    expect([...open]).toEqual([["a", ["b"]]]);
  });
  it("places each node once, where something free stands before a cycle", () => {
    const { order, open } = orderBreakingCycles(["free", "a", "b"], needs({ free: [], a: ["b"], b: ["a"] }));
    expect([order, [...open]]).toEqual([["free", "a", "b"], [["a", ["b"]]]]);
  });
  it("a node that needs itself is no cycle", () => {
    expect(orderBreakingCycles(["a"], needs({ a: ["a"] })).open.size).toBe(0);
  });
});

describe("needs", () => {
  it("one a step, and `done` and `failed` say more than `end`", () => {
    expect(onceEach([need("x/a", "end"), need("x/a"), need("x/b", "failed"), need("x/b", "end")])).toEqual([
      need("x/a"),
      need("x/b", "failed"),
    ]);
  });
});

const step = (id: StepId, estimateMs: number, more: Partial<Step> = {}): Step => ({
  id,
  address: "vm.a",
  action: { operation: "record", changes: [] },
  title: id,
  needs: [],
  holds: [],
  estimateMs,
  ...more,
});

describe("one at a time", () => {
  it("nothing starts before the one before it has ended, and what was begun is finished first", () => {
    const chain = (vm: string, ms: number) => [
      step(`${vm}/stop`, ms),
      step(`${vm}/resize`, ms, { needs: [need(`${vm}/stop`)] }),
      step(`${vm}/start`, ms, { needs: [need(`${vm}/resize`)] }),
    ];
    const scheduler = createScheduler([...chain("a", 5), ...chain("b", 6)], true);
    const order: string[] = [];
    for (let started = scheduler.next(); started.length > 0; started = scheduler.next()) {
      expect(started).toHaveLength(1);
      expect(scheduler.next()).toEqual([]);
      for (const { id } of started) {
        order.push(id);
        scheduler.finish(id, "done");
      }
    }
    expect(order).toEqual(["b/stop", "b/resize", "b/start", "a/stop", "a/resize", "a/start"]);
  });
});

describe("estimate", () => {
  it("is the longest way, not the sum", () => {
    expect(estimate([step("x/a", 5), step("x/b", 7), step("x/c", 3, { needs: [need("x/a")] })]).durationMs).toBe(8);
  });
  it("leaves out what only runs after a failure", () => {
    expect(estimate([step("x/a", 5), step("x/back", 100, { needs: [need("x/a", "failed")] })]).durationMs).toBe(5);
  });
  it("a VM is down from the first step that takes it down to the last that does", () => {
    const steps = [
      step("x/stop", 20, { downtimeOf: "vm.a" }),
      step("x/work", 5, { needs: [need("x/stop")] }),
      step("x/start", 10, { needs: [need("x/work")], downtimeOf: "vm.a" }),
    ];
    expect(estimate(steps).downtimeMs).toEqual({ "vm.a": 35 });
  });

  it("names the VMs that are down at one moment, and none where each waits for the one before", () => {
    const down = (id: StepId, of: "vm.a" | "vm.b" | "vm.c", after?: StepId): Step =>
      step(id, 10, { downtimeOf: of, needs: after === undefined ? [] : [need(after)] });
    expect(downTogether([down("x/a", "vm.a"), down("x/b", "vm.b"), down("x/c", "vm.c", "x/a")])).toEqual([
      "vm.a",
      "vm.b",
    ]);
    expect(downTogether([down("x/a", "vm.a"), down("x/b", "vm.b", "x/a")])).toEqual([]);
  });
});

describe("consent", () => {
  const change = (more: Partial<Change>): Change => ({
    address: "vm.a",
    kind: "vm",
    action: "delete",
    name: "a",
    fields: [],
    reason: "removed",
    because: "",
    losses: [],
    ...more,
  });
  const kept = () =>
    ({
      kind: "vm",
      address: "vm.a",
      name: "a",
      preventDestroy: true,
      onDelete: { snapshot: false, preservedVolumes: "retain" },
    }) as const;
  const loss = (id: string) => ({ disk: "volume", id, detail: id }) as const;
  const kinds = (made: Change) =>
    consentsFor({ changes: [made], steps: [], desiredOf: () => undefined, recordedOf: kept, managed: 1 }).map(
      (one) => one.kind,
    );
  it.each([
    ["a delete of what the state protects needs the block back", change({}), ["prevent_destroy"]],
    ["so does leaving it behind", change({ action: "forget" }), ["prevent_destroy"]],
    ["what a removed entry lets go is meant", change({ action: "forget", reason: "let_go" }), []],
    ["what is gone already cannot be protected", change({ action: "forget", reason: "gone" }), []],
    ["an update is not a loss", change({ action: "update" }), []],
    [
      "every loss needs its own, and a wiped disk is protected like a deleted one",
      change({ action: "update", losses: [loss("x"), loss("y")] }),
      ["prevent_destroy", "data_loss", "data_loss"],
    ],
    [
      "what is gone loses the volume that was to go with it, and is not protected any more",
      change({ action: "forget", reason: "gone", losses: [loss("x")] }),
      ["data_loss"],
    ],
  ] as const)("%s", (_, made, expected) => {
    expect(kinds(made)).toEqual(expected);
  });

  const lost = { kind: "data_loss", address: "vm.a", detail: "", grant: "", loss: loss("id-1") } as const;
  const removal = { kind: "removal", detail: "", grant: "", count: 17 } as const;
  const again = { kind: "recreate", address: "vm.a", detail: "", grant: "" } as const;
  const unproven = true;
  const flush = { kind: "flush", address: "volume.a", detail: "", grant: "" } as const;
  it.each([
    ["a flush is confirmed by address", { ...noGrants, confirmFlush: ["volume.a"] }, flush, 0],
    ["or for all", { ...noGrants, confirmFlush: ["all"] }, flush, 0],
    ["a word of long ago does", { ...noGrants, confirmFlush: ["all"], standing: true }, flush, 0],
    [
      "but not for a VM that nobody named",
      { ...noGrants, confirmFlush: ["all"], standing: true },
      { ...flush, unproven },
      1,
    ],
    ["a word of now does for that as well", { ...noGrants, confirmFlush: ["volume.a"] }, { ...flush, unproven }, 0],
    ["another address does not do", { ...noGrants, confirmFlush: ["volume.b"] }, flush, 1],
    [
      "no flag lifts prevent_destroy",
      { ...noGrants, allowDataLoss: true, allowEmpty: true, confirmFlush: ["all"], allowRemoval: "all" },
      { ...flush, kind: "prevent_destroy" },
      1,
    ],
    [
      "--allow-data-loss does not allow an empty file",
      { ...noGrants, allowDataLoss: true },
      { ...flush, kind: "empty" },
      1,
    ],
    ["a loss is allowed by its address", { ...noGrants, allowLoss: ["vm.a"] }, lost, 0],
    ["and not by another's", { ...noGrants, allowLoss: ["vm.b"] }, lost, 1],
    ["or by the list that was approved", { ...noGrants, approved: [lost] }, lost, 0],
    ["which names the id", { ...noGrants, approved: [{ ...lost, loss: loss("id-2") }] }, lost, 1],
    ["and the size", { ...noGrants, approved: [{ ...lost, loss: { ...loss("id-1"), sizeGb: 5 } }] }, lost, 1],
    ["a resource may be made anew by the word for all", { ...noGrants, recreate: "all" }, again, 0],
    ["by its address", { ...noGrants, recreate: ["vm.a"] }, again, 0],
    ["and not by a text that begins with it", { ...noGrants, recreate: "vm.ab" as never }, again, 1],
    ["also by a word of long ago, where its kind shows", { ...noGrants, recreate: "all", standing: true }, again, 0],
    ["and not where nothing proves it", { ...noGrants, recreate: "all", standing: true }, { ...again, unproven }, 1],
    ["nor by its address", { ...noGrants, recreate: ["vm.a"], standing: true }, { ...again, unproven }, 1],
    ["a word of now does", { ...noGrants, recreate: ["vm.a"] }, { ...again, unproven }, 0],
    ["so many may go", { ...noGrants, allowRemoval: 17 }, removal, 0],
    ["and not one more", { ...noGrants, allowRemoval: 16 }, removal, 1],
    ["or all of them", { ...noGrants, allowRemoval: "all" }, removal, 0],
    ["--allow-data-loss names no number", { ...noGrants, allowDataLoss: true }, removal, 1],
  ] as const)("%s", (_, grants, consent, missing) => {
    expect(missingConsents([consent], grants)).toHaveLength(missing);
  });
});

describe("fingerprint", () => {
  it("is always sixteen hexadecimal digits, and tells near texts apart", () => {
    const texts = ["", "a", "b", "ab", "ba", "aa", "\u0000", "\u0000\u0000"];
    const prints = texts.map(fingerprint);
    expect(prints.every((print) => /^[0-9a-f]{16}$/.test(print))).toBe(true);
    expect(new Set(prints).size).toBe(texts.length);
  });
});

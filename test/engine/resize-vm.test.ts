/** The confirmation of a resize, and its revert: what the VM shows before and after, whether it is sent, and what the state has then. */
import { describe, expect, it } from "vitest";
import { indexCatalogue } from "../../reconciler/core/canonical/catalogue";
import type { LiveVm } from "../../reconciler/core/model/live";
import { accepted, type Outcome, type Rejection } from "../../reconciler/core/model/outcome";
import type { RecordedVm } from "../../reconciler/core/model/recorded";
import type { Step } from "../../reconciler/core/plan/step";
import type { Run } from "../../reconciler/engine/run";
import { confirm, revert } from "../../reconciler/kinds/vm/perform-resize";
import { loneRun, stepAt } from "../support/virtual-world";

const address = "vm.web";
const record: RecordedVm = {
  kind: "vm",
  address,
  id: "v",
  name: "web",
  flavor: "small",
  resizing: { from: "small", to: "large" },
  preventDestroy: false,
  onDelete: { snapshot: false, preservedVolumes: "retain" },
};
const vm = (phase: LiveVm["phase"], flavor?: string): LiveVm => ({
  kind: "vm",
  id: "v",
  name: "web",
  phase,
  status: phase,
  ...(flavor !== undefined && { flavor }),
});
const yes = accepted(undefined);
const refused = (condition: Rejection["condition"]): Rejection => ({ status: "rejected", condition, message: "no" });
const lost: Outcome<never> = { status: "unknown", reason: "the connection broke" };
const waiting = vm("verify_resize", "large");

interface Row {
  /** What one look after the other shows; the last one for good. None: nobody can look. */
  readonly shows: readonly LiveVm[];
  readonly answers?: readonly Outcome<undefined>[];
  readonly manual?: true;
  readonly lacksConfirm?: true;
  readonly looksFirst?: true;
  /** No list of flavors: a flavor cannot be compared. */
  readonly noFlavors?: true;
  /** The look at which the run is stopped. */
  readonly stopsAt?: number;
  /** The look from which on none is answered. */
  readonly unreadFrom?: number;
  readonly ends: string;
}

const rows: Readonly<Record<string, Row>> = {
  "it waits, is confirmed, and runs": {
    shows: [waiting, vm("running", "large")],
    answers: [yes],
    ends: "done, sent 1: flavor large, nothing open",
  },
  "it waits, is confirmed, and is stopped": {
    shows: [waiting, vm("stopped", "large")],
    answers: [yes],
    ends: "done, sent 1: flavor large, nothing open",
  },
  "the service has confirmed it by itself": {
    shows: [vm("running", "large")],
    ends: "done, sent 0: flavor large, nothing open",
  },
  "the service found no room and left it as it was": {
    shows: [vm("running", "small")],
    ends: "failed apply/resize-undone, sent 0: flavor small, nothing open",
  },
  "it runs, and shows no flavor": { shows: [vm("running")], ends: "done, sent 0: flavor large, nothing open" },
  "it runs with another flavor, and no list tells flavors apart": {
    shows: [vm("running", "small")],
    noFlavors: true,
    ends: "done, sent 0: flavor large, nothing open",
  },
  "a person decides it": {
    shows: [waiting],
    manual: true,
    ends: "waiting apply/resize-waits, sent 0: flavor small, open",
  },
  "a person was to decide it, and it runs by now": {
    shows: [vm("running", "large")],
    manual: true,
    ends: "done, sent 0: flavor large, nothing open",
  },
  "the service has no way to confirm": {
    shows: [waiting],
    lacksConfirm: true,
    ends: "waiting apply/resize-waits, sent 0: flavor small, open",
  },
  "the confirmation is refused": {
    shows: [waiting],
    answers: [refused("forbidden")],
    ends: "failed service/forbidden, sent 1: flavor small, open",
  },
  "it was confirmed meanwhile, which the refusal says and a look shows": {
    shows: [waiting, vm("running", "large")],
    answers: [refused("invalid_state")],
    ends: "done, sent 1: flavor large, nothing open",
  },
  "the answer is lost, and it runs": {
    shows: [waiting, vm("running", "large")],
    answers: [lost],
    ends: "done, sent 1: flavor large, nothing open",
  },
  "the answer is lost, and it goes on waiting: it is sent again": {
    shows: [waiting],
    answers: [lost, refused("forbidden")],
    ends: "failed service/forbidden, sent 2: flavor small, open",
  },
  "what was confirmed is the old flavor, for as long as anybody looks": {
    shows: [waiting, vm("running", "small")],
    answers: [yes],
    ends: "failed apply/resize-undone, sent 1: flavor small, nothing open",
  },
  "its record is a little behind": {
    shows: [waiting, vm("running", "small"), vm("running", "small"), vm("running", "large")],
    answers: [yes],
    ends: "done, sent 1: flavor large, nothing open",
  },
  "the run is stopped before its record has caught up": {
    shows: [waiting, vm("running", "small")],
    answers: [yes],
    stopsAt: 3,
    ends: "unknown apply/interrupted, sent 1: flavor small, open",
  },
  "its record shows the old flavor, and cannot be read any more": {
    shows: [waiting, vm("running", "small")],
    answers: [yes],
    unreadFrom: 3,
    ends: "failed service/unknown, sent 1: flavor small, open",
  },
  "nobody can look: the acknowledgement has to do": {
    shows: [],
    answers: [yes],
    ends: "done, sent 1: flavor large, nothing open",
  },
};

const step: Step<"vm.resize.confirm"> = {
  ...stepAt(address, "confirm"),
  action: { operation: "vm.resize.confirm", vm: { id: "v" }, manual: false },
  record: { flavor: "large", resizing: undefined },
};

const reverting: Step<"vm.resize.revert"> = {
  ...stepAt(address, "revert"),
  action: { operation: "vm.resize.revert", vm: { id: "v" } },
  record: { resizing: undefined },
};

const reverts: Readonly<Record<string, Row>> = {
  "it is of the old flavor again": {
    shows: [vm("running", "small")],
    ends: "done, sent 1: flavor small, nothing open",
  },
  "what was reverted is confirmed, for as long as anybody looks": {
    shows: [vm("running", "large")],
    ends: "failed apply/resize-undone, sent 1: flavor large, nothing open",
  },
  "no list tells flavors apart, and it shows the new one": {
    shows: [vm("running", "large")],
    noFlavors: true,
    ends: "failed apply/resize-undone, sent 1: flavor large, nothing open",
  },
  "its record is a little behind": {
    shows: [vm("running", "large"), vm("running", "m1.large"), vm("running", "small")],
    ends: "done, sent 1: flavor small, nothing open",
  },
  "the run is stopped before its record has caught up": {
    shows: [vm("running", "large")],
    stopsAt: 2,
    ends: "unknown apply/interrupted, sent 1: flavor small, open",
  },
  "its record shows the new flavor, and cannot be read any more": {
    shows: [vm("running", "large")],
    unreadFrom: 2,
    ends: "failed service/unknown, sent 1: flavor small, open",
  },
  "the run is stopped before the record of what somebody has decided has caught up": {
    shows: [vm("running", "large")],
    looksFirst: true,
    stopsAt: 2,
    ends: "unknown apply/interrupted, sent 0: flavor small, open",
  },
  "it was confirmed since the plan looked": {
    shows: [vm("running", "large")],
    looksFirst: true,
    ends: "failed apply/resize-undone, sent 0: flavor large, nothing open",
  },
  "it was reverted since the plan looked, and its record is a little behind": {
    shows: [vm("running", "large"), vm("running", "small")],
    looksFirst: true,
    ends: "done, sent 0: flavor small, nothing open",
  },
  "it runs, and shows no flavor": { shows: [vm("running")], ends: "done, sent 1: flavor small, nothing open" },
  "the revert is refused": {
    shows: [waiting],
    answers: [refused("forbidden")],
    ends: "failed service/forbidden, sent 1: flavor small, open",
  },
};

async function ends(row: Row, isRevert = false): Promise<string> {
  const { shows, answers = isRevert ? [yes] : [], manual, lacksConfirm, looksFirst, noFlavors } = row;
  let [looked, sent] = [0, 0];
  const stop = new AbortController();
  const look = (): LiveVm => {
    if (looked + 1 === row.stopsAt) stop.abort();
    return shows[Math.min(looked++, shows.length - 1)]!;
  };
  const poller = {
    watch: async (see: (seen: object) => unknown) => ({
      ended: "found",
      value: see({ byId: new Map([["v", look()]]) }),
    }),
  } as unknown as Run["poller"];
  const flavors = indexCatalogue([
    { id: "small", name: "m1.small" },
    { id: "large", name: "m1.large" },
  ]);
  const { run, recorder } = await loneRun({
    records: [record],
    has: (operation) =>
      operation === "vm.get" ? shows.length > 0 : operation.startsWith("vm.resize.") && lacksConfirm !== true,
    client: {
      getVm: async () => (looked + 1 >= (row.unreadFrom ?? Infinity) ? lost : accepted(look())),
      confirmResize: async () => answers[Math.min(sent++, answers.length - 1)]!,
      revertResize: async () => answers[Math.min(sent++, answers.length - 1)]!,
    },
    more: { poller, signal: stop.signal, flavors: noFlavors === true ? undefined : flavors },
  });
  const result = isRevert
    ? await revert(reverting, { ...reverting.action, looksFirst }, "v", run)
    : await confirm(step, { ...step.action, manual: manual === true }, "v", run);
  const kept = recorder.state.resources.get(address) as RecordedVm;
  const code = "code" in result && result.code !== undefined ? ` ${result.code}` : "";
  return `${result.end}${code}, sent ${sent}: flavor ${kept.flavor}, ${kept.resizing === undefined ? "nothing open" : "open"}`;
}

describe("a resize that is to be confirmed", () => {
  it.each(Object.entries(rows))("%s", async (_, row) => {
    expect(await ends(row)).toBe(row.ends);
  });
});

describe("a resize that is to be reverted", () => {
  it.each(Object.entries(reverts))("%s", async (_, row) => {
    expect(await ends(row, true)).toBe(row.ends);
  });
});

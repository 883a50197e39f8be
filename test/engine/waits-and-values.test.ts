/** What a step waits for before it is sent: values that only the service knows (engine/fill-in.ts), and looks after a lost answer. */
import { describe, expect, it } from "vitest";
import type { LiveVm } from "../../reconciler/core/model/live";
import { accepted } from "../../reconciler/core/model/outcome";
import type { RecordedResource, RecordedVm } from "../../reconciler/core/model/recorded";
import type { Rule } from "../../reconciler/core/model/rule";
import type { StepAction } from "../../reconciler/core/plan/step";
import { fillIn, knownRule, plainCheck, plainText, settledFor } from "../../reconciler/engine/fill-in";
import { createPoller } from "../../reconciler/engine/poller";
import { sendAndLook } from "../../reconciler/engine/send-and-look";
import { rule } from "../support/sample-plans";
import { loneRun, stepAt } from "../support/virtual-world";

const of = (attribute: string, address = "vm.web") => ({ address, attribute }) as never;
const text = (...parts: readonly unknown[]) => ({ parts }) as never;
const openRule = (attribute: string, more: object = {}): Rule =>
  rule(22, { remote: { kind: "computed", text: text(of(attribute)), ...more } as never });
const web = (more: Partial<RecordedVm> = {}): RecordedVm => ({
  kind: "vm",
  address: "vm.web",
  id: "v-1",
  name: "web",
  preventDestroy: false,
  onDelete: { snapshot: false, preservedVolumes: "retain" },
  ...more,
});
const shown = (more: Partial<LiveVm> = {}): LiveVm =>
  ({ kind: "vm", id: "v-1", name: "web", phase: "running", status: "ACTIVE", ...more }) as LiveVm;

interface Given {
  readonly records?: readonly RecordedResource[];
  /** What each look shows, the last one again and again. */
  readonly looks?: readonly LiveVm[];
  readonly aborted?: true;
  readonly blind?: true;
}

async function filled(action: StepAction, { records = [web()], looks = [shown()], aborted, blind }: Given = {}) {
  let looked = 0;
  const stop = new AbortController();
  const lone = await loneRun({
    records,
    has: (operation) => blind !== true || (operation !== "vm.list" && operation !== "vm.get"),
    client: {
      listVms: async () => accepted([looks[Math.min(looked++, looks.length - 1)]!]),
    },
    more: { signal: stop.signal },
  });
  const { client, clock, timing } = lone.run.ports;
  Object.assign(lone.run, { poller: createPoller(client, clock, timing.pollIntervalMs) });
  if (aborted === true) stop.abort();
  const from = clock.now();
  const found = await fillIn({ ...stepAt("group.front", "x"), action }, lone.run);
  return {
    found,
    looked,
    tookMs: clock.now() - from,
    kept: lone.recorder.state.resources.get("vm.web") as RecordedVm | undefined,
  };
}

const add = (one: Rule): StepAction => ({ operation: "group.rule.create", group: { id: "g-1" }, rule: one });
const remoteOf = ({ found }: Awaited<ReturnType<typeof filled>>): unknown =>
  "action" in found
    ? (found.action as { rule: Rule }).rule.remote
    : `${found.end.end} ${found.end.code}: ${found.end.message}`;

describe("a request with a value that only the service knows", () => {
  it("that needs none is sent as it is", async () => {
    const action = add(rule(22));
    const { found, looked } = await filled(action);
    expect([found, looked]).toEqual([{ action }, 0]);
  });
  it.each<readonly [what: string, rule: Rule, given: Given, remote: unknown, looked: number]>([
    [
      "that is recorded",
      openRule("private_ip"),
      { records: [web({ privateIp: "10.0.0.5" })] },
      { kind: "cidr", cidr: "10.0.0.5/32" },
      0,
    ],
    [
      "that shows at once",
      openRule("private_ip"),
      { looks: [shown({ privateIp: "10.0.0.5" })] },
      { kind: "cidr", cidr: "10.0.0.5/32" },
      1,
    ],
    [
      "that shows later",
      openRule("floating_ip"),
      { looks: [shown(), shown({ privateIp: "10.0.0.5" }), shown({ floatingIp: "9.9.9.9" })] },
      { kind: "cidr", cidr: "9.9.9.9/32" },
      3,
    ],
    [
      "of a VM that failed",
      openRule("private_ip"),
      { looks: [shown({ phase: "failed" })] },
      "failed apply/value-not-shown: nothing was sent: it needs the private_ip of vm.web, and the service's record of it (v-1) shows none",
      1,
    ],
    [
      "of a VM that is not made",
      openRule("private_ip"),
      { records: [] },
      "failed apply/value-not-shown: nothing was sent: it needs the private_ip of vm.web, and no record and no look has it",
      0,
    ],
    [
      "where no VM can be looked at",
      openRule("private_ip"),
      { blind: true },
      "failed apply/value-not-shown: nothing was sent: it needs the private_ip of vm.web, and no record and no look has it",
      0,
    ],
    [
      "that is no address and is not recorded",
      openRule("size"),
      {},
      "failed apply/value-not-shown: nothing was sent: it needs the size of vm.web, and no record and no look has it",
      0,
    ],
    [
      "that is of another family than the rule",
      openRule("private_ip", { family: "IPv6" }),
      { records: [web({ privateIp: "10.0.0.5" })] },
      "failed apply/value-not-shown: nothing was sent: 10.0.0.5 is IPv4, but the rule's ethertype is IPv6",
      0,
    ],
    [
      "while the run is to stop",
      openRule("private_ip"),
      { aborted: true },
      "failed apply/interrupted: stopped while waiting for the private_ip of vm.web; nothing was sent",
      0,
    ],
  ])("%s", async (_, one, given, remote, looked) => {
    const ended = await filled(add(one), given);
    expect([remoteOf(ended), ended.looked]).toEqual([remote, looked]);
  });
  it("that never shows is waited for over the window", async () => {
    const ended = await filled(add(openRule("private_ip")));
    expect(remoteOf(ended)).toMatch(/shows none$/);
    expect(ended.tookMs).toBeGreaterThanOrEqual(90_000);
  });
  it("records every address that showed", async () => {
    const { kept } = await filled(add(openRule("private_ip")), {
      looks: [shown({ privateIp: "10.0.0.5", floatingIp: "9.9.9.9" })],
    });
    expect([kept?.privateIp, kept?.floatingIp]).toEqual(["10.0.0.5", "9.9.9.9"]);
  });
  it("is looked for once where it is used twice, and stands in texts too", async () => {
    const both = { ...openRule("private_ip"), description: text("for ", of("private_ip")) } as Rule;
    const ended = await filled(add(both), { looks: [shown({ privateIp: "10.0.0.5" })] });
    expect([
      ended.looked,
      "action" in ended.found ? (ended.found.action as { rule: Rule }).rule.description : undefined,
    ]).toEqual([1, "for 10.0.0.5"]);
  });
});

describe("what is known by now of a rule", () => {
  it.each<readonly [what: string, records: readonly RecordedResource[], remote: object]>([
    ["its address, where that is recorded", [web({ privateIp: "10.0.0.5" })], { kind: "cidr", cidr: "10.0.0.5/32" }],
    ["nothing, where it is not", [web()], { kind: "computed" }],
  ])("is %s", async (_, records, remote) => {
    const { run } = await loneRun({ records });
    expect(knownRule(openRule("private_ip"), run).remote).toMatchObject(remote);
    expect(knownRule(rule(22), run)).toEqual(rule(22));
  });
});

it.each<readonly [what: string, vm: LiveVm | undefined, key: "privateIp" | "floatingIp", settled: boolean]>([
  ["that is not there", undefined, "privateIp", false],
  ["without the address", shown(), "privateIp", false],
  ["with another address", shown({ floatingIp: "9.9.9.9" }), "privateIp", false],
  ["with the address", shown({ privateIp: "10.0.0.5" }), "privateIp", true],
  ["that failed", shown({ phase: "failed" }), "floatingIp", true],
])("a VM %s is waited for no longer: %#", (_, vm, key, settled) => {
  expect(settledFor(vm, key) !== undefined).toBe(settled);
});

describe("a check with texts", () => {
  it.each<readonly [check: object, plain: object]>([
    [
      { kind: "tcp", port: 22 },
      { kind: "tcp", port: 22 },
    ],
    [
      { kind: "http", url: "http://web/" },
      { kind: "http", url: "http://web/" },
    ],
    [
      { kind: "command", argv: ["a", "b"] },
      { kind: "command", argv: ["a", "b"] },
    ],
  ])("%j", (check, plain) => {
    expect(plainCheck(check as never)).toEqual(plain);
  });
  it("that was not filled in is a bug, which is named", () => {
    expect(() => plainText(text("of ", of("private_ip"), of("name")))).toThrow(
      "a value was not filled in: vm.web.private_ip, vm.web.name",
    );
  });
});

it("a look after a lost answer ends where the run is to stop, and then nobody can tell", async () => {
  const stop = new AbortController();
  const { run } = await loneRun({ more: { signal: stop.signal } });
  let [sent, looked] = [0, 0];
  const outcome = await sendAndLook<undefined>(
    async () => {
      sent++;
      return { status: "unknown", reason: "lost" };
    },
    async () => {
      looked++;
      stop.abort();
      return "not-done";
    },
    run,
  );
  expect([outcome.status, sent, looked]).toEqual(["unknown", 1, 1]);
});

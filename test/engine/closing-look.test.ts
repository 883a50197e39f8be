/** What the look at the end of a run reads, how often, and of what it says that it was not seen (engine/closing-look.ts). */
import { expect, it } from "vitest";
import { ruleKey } from "../../reconciler/core/canonical/rules";
import { abilitiesOf } from "../../reconciler/core/model/abilities";
import type { WhyUnseen } from "../../reconciler/core/model/effect";
import type { LiveGroup, LiveRule, LiveVm, LiveVolume } from "../../reconciler/core/model/live";
import type { Operation } from "../../reconciler/core/model/operation";
import { accepted, type Condition, type Outcome } from "../../reconciler/core/model/outcome";
import type { OpenWrite } from "../../reconciler/core/plan/closing";
import { type ClosingPorts, closingLook } from "../../reconciler/engine/closing-look";
import { defaultTiming, noSamples, type Samples } from "../../reconciler/engine/ports";
import { virtualClock } from "../../reconciler/rehearse/virtual-clock";
import { rule } from "../support/sample-plans";
import { stepAt } from "../support/virtual-world";

const write = (
  kind: OpenWrite["kind"],
  id: string,
  field: OpenWrite["field"],
  value: string,
  more: Partial<OpenWrite> = {},
): OpenWrite => ({
  ...{ kind, id, field, value, said: `${field}: ${value}` },
  step: stepAt(`${kind}.x`, "step"),
  ...more,
});
const no = (condition: Condition): Outcome<never> => ({
  status: "rejected",
  condition,
  message: "no",
  ...(condition === "not_found" ? { httpStatus: 404 } : {}),
});
const answeredBefore = (condition: Condition): Outcome<never> => ({
  ...{ status: "rejected", condition, message: "no" },
  answeredBefore: true,
});
const away: Outcome<never> = { status: "unavailable", reason: "503" };
const ssh = rule(22);
const liveSsh: LiveRule = {
  id: "r-1",
  direction: "ingress",
  ethertype: "IPv4",
  protocol: "tcp",
  portMin: 22,
  portMax: 22,
  remoteIp: "0.0.0.0/0",
};
const vm = (id: string, more: Partial<LiveVm> = {}): LiveVm =>
  ({ kind: "vm", id, name: "web", phase: "running", status: "ACTIVE", ...more }) as LiveVm;
const volume = (id: string, more: Partial<LiveVolume> = {}): LiveVolume => ({
  kind: "volume",
  id,
  failed: false,
  ...more,
});
const group = (id: string, more: Partial<LiveGroup> = {}): LiveGroup => ({ kind: "group", id, name: "front", ...more });

interface World {
  readonly vms?: readonly Outcome<readonly LiveVm[]>[];
  readonly volumes?: readonly Outcome<LiveVolume>[];
  readonly groups?: readonly Outcome<readonly LiveGroup[]>[];
  readonly head?: Outcome<LiveGroup>;
  readonly rules?: readonly Outcome<readonly LiveRule[]>[];
  readonly without?: readonly Operation[];
  readonly samples?: Samples;
  readonly stopping?: true;
  readonly abortAfter?: number;
}

async function look(
  writes: readonly OpenWrite[],
  {
    vms = [accepted([])],
    volumes = [no("not_found")],
    groups = [accepted([])],
    rules = [accepted([])],
    without = ["volume.list", "group.get"],
    head,
    samples,
    stopping,
    abortAfter,
  }: World,
) {
  const reads: string[] = [];
  const stop = new AbortController();
  const said = <T>(answers: readonly T[], word: string): T => {
    const before = reads.filter((one) => one === word).length;
    reads.push(word);
    if (reads.length === abortAfter) stop.abort();
    return answers[Math.min(before, answers.length - 1)]!;
  };
  const clock = virtualClock(() => undefined);
  const client = {
    can: abilitiesOf((operation) => !without.includes(operation)),
    listVms: async () => said(vms, "vms"),
    getVm: async (id: string) => said([accepted(vm(id))], `vm ${id}`),
    getVolume: async (id: string) => said(volumes, `volume ${id}`),
    listGroups: async () => said(groups, "groups"),
    getGroup: async (id: string) => said([head!], `group ${id}`),
    listRules: async (id: string) => said(rules, `rules ${id}`),
  };
  const from = clock.now();
  const unseen = await closingLook(writes, {
    client,
    clock,
    timing: defaultTiming,
    signal: stop.signal,
    isStopping: () => stopping === true,
    ...(samples === undefined ? {} : { samples }),
  } as unknown as ClosingPorts);
  const why = (one: WhyUnseen | undefined): string =>
    one === undefined
      ? "shown"
      : `${one.unseen}: ${"where" in one ? one.where : one.because}${"status" in one ? ` (${one.status})` : ""}`;
  return { ends: writes.map((one) => why(unseen.get(one))), reads, tookMs: clock.now() - from };
}

const vmList = "the list of VMs (vm.list)";
const groupList = "the list of security groups (group.list)";
const rulesOf = (id: string) => `the rules of security group ${id} (group.rule.list)`;
const cutOff = "not-looked: the run was stopped before it was looked for";
const window = defaultTiming.discoveryWindowMs;
const renamed = write("vm", "v-1", "name", "web");

interface Row extends World {
  readonly writes: readonly OpenWrite[];
  readonly ends: readonly string[];
  readonly reads: readonly string[] | number;
  readonly waits?: "no" | "the window" | "once";
}

const rows: Readonly<Record<string, Row>> = {
  "nothing was written: nothing is read": { writes: [], ends: [], reads: [] },
  "what nobody can look at is told so, and nothing is read": {
    writes: [write("vm", "v-1", "power", "running", { blind: "nobody shows it" })],
    ends: ["nobody-can-look: nobody shows it"],
    reads: [],
  },
  "what shows at once is read once": {
    writes: [renamed],
    vms: [accepted([vm("v-1")])],
    ends: ["shown"],
    reads: ["vms"],
  },
  "what shows a moment later is read again": {
    writes: [renamed],
    vms: [accepted([vm("v-1", { name: "old" })]), accepted([vm("v-1")])],
    ends: ["shown"],
    reads: ["vms", "vms"],
    waits: "once",
  },
  "what never shows is looked for until the window is over": {
    writes: [renamed],
    vms: [accepted([vm("v-1", { name: "old" })])],
    ends: [`not-shown: ${vmList}`],
    // Eight pauses that grow, and four of a sixth of the window each.
    reads: 13,
    waits: "the window",
  },
  "what never shows is looked for once by a run that is to stop": {
    writes: [renamed],
    vms: [accepted([])],
    stopping: true,
    ends: [`not-shown: ${vmList}`],
    reads: ["vms"],
  },
  "a wait that is broken off ends it": {
    writes: [renamed],
    vms: [accepted([])],
    abortAfter: 2,
    ends: [`not-shown: ${vmList}`],
    reads: ["vms", "vms"],
    waits: "once",
  },
  "a look that the stop cuts off has seen nothing": {
    writes: [renamed, write("volume", "d-1", "existence", "d-1")],
    vms: [away],
    volumes: [away],
    abortAfter: 1,
    ends: [cutOff, cutOff],
    reads: ["vms", "volume d-1"],
  },
  "a look that the stop cuts off leaves what was seen before": {
    writes: [renamed],
    vms: [accepted([]), away],
    abortAfter: 2,
    ends: [`not-shown: ${vmList}`],
    reads: ["vms", "vms"],
    waits: "once",
  },
  "what a list does not show is gone, where that was meant": {
    writes: [write("vm", "v-1", "absence", "v-1")],
    ends: ["shown"],
    reads: ["vms"],
  },
  "what the record does not have is not looked for again": {
    writes: [write("vm", "v-1", "power", "running")],
    vms: [accepted([vm("v-1", { status: undefined as never })])],
    ends: [`nobody-can-look: ${vmList} does not show it`],
    reads: ["vms"],
  },
  "a list that is refused is one that nobody can look at": {
    writes: [renamed],
    vms: [no("forbidden")],
    ends: [expect.stringMatching(/^nobody-can-look: the list of VMs \(vm\.list\) cannot be read/) as never],
    reads: ["vms"],
  },
  "a list that is refused after it was answered is read again": {
    writes: [renamed],
    vms: [answeredBefore("unsupported"), accepted([vm("v-1")])],
    ends: ["shown"],
    reads: ["vms", "vms"],
    waits: "once",
  },
  "a list that is refused for good after it was answered is not one that nobody can look at": {
    writes: [renamed],
    vms: [answeredBefore("forbidden")],
    stopping: true,
    ends: [expect.stringMatching(/^not-shown: the list of VMs \(vm\.list\) cannot be read/) as never],
    reads: ["vms"],
  },
  "a list that is away is read again": {
    writes: [renamed],
    vms: [away, accepted([vm("v-1")])],
    ends: ["shown"],
    reads: ["vms", "vms"],
    waits: "once",
  },
  "a VM that was made and failed is told at once": {
    writes: [write("vm", "v-1", "existence", "v-1")],
    vms: [accepted([vm("v-1", { phase: "failed", status: "ERROR" })])],
    ends: [`failed: ${vmList} (ERROR)`],
    reads: ["vms"],
  },
  "where no VM shows at all, that is told": {
    writes: [renamed],
    without: ["vm.list", "vm.get"],
    ends: [expect.stringMatching(/^nobody-can-look: /) as never],
    reads: [],
  },
  "a volume is read by itself where no list shows it": {
    writes: [write("volume", "d-1", "size", "9")],
    volumes: [accepted(volume("d-1", { sizeGb: 5 })), accepted(volume("d-1", { sizeGb: 9 }))],
    ends: ["shown"],
    reads: ["volume d-1", "volume d-1"],
    waits: "once",
  },
  "a volume whose read says that it is gone": {
    writes: [write("volume", "d-1", "absence", "d-1")],
    ends: ["shown"],
    reads: ["volume d-1"],
  },
  "where a volume's record has no VM, the VM's names its volumes": {
    writes: [write("volume", "d-1", "attach_to", "v-1"), write("volume", "d-2", "detached", "v-1")],
    volumes: [accepted(volume("d-1")), accepted(volume("d-2"))],
    vms: [accepted([vm("v-1", { volumes: [{ id: "d-1" }] })])],
    ends: ["shown", "shown"],
    reads: ["volume d-1", "volume d-2", "vms"],
  },
  "or does not name one that was attached": {
    writes: [write("volume", "d-1", "attach_to", "v-1")],
    volumes: [accepted(volume("d-1"))],
    vms: [accepted([vm("v-1", { volumes: [] })])],
    stopping: true,
    ends: [`not-shown: ${vmList}`],
    reads: ["volume d-1", "vms"],
  },
  "or has no volumes either": {
    writes: [write("volume", "d-1", "attach_to", "v-1")],
    volumes: [accepted(volume("d-1"))],
    vms: [accepted([vm("v-1")])],
    ends: ["nobody-can-look: volume d-1 (volume.get) does not show it"],
    reads: ["volume d-1", "vms"],
  },
  "a part of a create counts only where its record shows another value": {
    writes: [write("volume", "d-1", "size", "9", { ofCreate: true }), write("volume", "d-1", "existence", "d-1")],
    volumes: [accepted(volume("d-1"))],
    ends: ["shown", "shown"],
    reads: ["volume d-1"],
  },
  "a part of a create that shows another value is not as asked": {
    writes: [write("volume", "d-1", "size", "9", { ofCreate: true })],
    volumes: [accepted(volume("d-1", { sizeGb: 5 }))],
    stopping: true,
    ends: ["not-shown: volume d-1 (volume.get)"],
    reads: ["volume d-1"],
  },
  "a part of a create of which nothing shows at all is not contradicted": {
    writes: [write("volume", "d-1", "size", "9", { ofCreate: true })],
    ends: ["shown"],
    reads: ["volume d-1"],
  },
  "what is looked at beside counts only where it shows otherwise": {
    writes: [write("volume", "d-1", "attach_to", "v-1", { beside: true })],
    volumes: [away],
    ends: ["shown"],
    reads: ["volume d-1"],
  },
  "a rule is looked for among the rules of its group alone": {
    writes: [write("group", "g-1", "rule", ruleKey(ssh))],
    rules: [accepted([liveSsh])],
    ends: ["shown"],
    reads: ["rules g-1"],
  },
  "a rule that never shows": {
    writes: [write("group", "g-1", "rule", ruleKey(ssh))],
    stopping: true,
    ends: [`not-shown: ${rulesOf("g-1")}`],
    reads: ["rules g-1"],
  },
  "a rule that is to be gone and is": {
    writes: [write("group", "g-1", "removed rule", "r-1")],
    ends: ["shown"],
    reads: ["rules g-1"],
  },
  "a rule that is to be gone and is not": {
    writes: [write("group", "g-1", "removed rule", "r-1")],
    rules: [accepted([liveSsh])],
    stopping: true,
    ends: [`not-shown: ${rulesOf("g-1")}`],
    reads: ["rules g-1"],
  },
  "a rule whose traffic the service keeps in other rules": {
    writes: [
      write("group", "g-1", "rule", ruleKey(rule(22, { remote: { kind: "cidr", cidr: "10.0.0.0/9" } }))),
      write("group", "g-1", "rule", ruleKey(rule(22, { remote: { kind: "cidr", cidr: "10.128.0.0/9" } }))),
    ],
    rules: [accepted([{ ...liveSsh, remoteIp: "10.0.0.0/8" }])],
    stopping: true,
    ends: ["shown", "shown"],
    reads: ["rules g-1"],
  },
  "the name of a group is in the list of groups": {
    writes: [write("group", "g-1", "name", "front")],
    groups: [accepted([group("g-1")])],
    ends: ["shown"],
    reads: ["groups"],
  },
  "the name and a rule of a group take both": {
    writes: [write("group", "g-1", "name", "front"), write("group", "g-1", "rule", ruleKey(ssh))],
    groups: [accepted([group("g-1")])],
    rules: [accepted([liveSsh])],
    ends: ["shown", "shown"],
    reads: ["groups", "rules g-1"],
  },
  "that a group exists is shown by rules that are read anyway": {
    writes: [write("group", "g-1", "existence", "g-1"), write("group", "g-1", "rule", ruleKey(ssh))],
    rules: [accepted([liveSsh])],
    ends: ["shown", "shown"],
    reads: ["rules g-1"],
  },
  "that a group exists is shown by the list where no rule is looked for": {
    writes: [write("group", "g-1", "existence", "g-1")],
    groups: [accepted([group("g-1")])],
    ends: ["shown"],
    reads: ["groups"],
  },
  "a rule that was not answered is read in the list of rules, whatever the record of the group shows": {
    writes: [write("group", "g-1", "description", "ours"), write("group", "g-1", "rule", ruleKey(ssh))],
    without: ["group.list"],
    head: accepted(group("g-1", { description: "ours", rules: [liveSsh] })),
    stopping: true,
    ends: ["shown", `not-shown: ${rulesOf("g-1")}`],
    reads: ["group g-1", "rules g-1"],
  },
  "a rule that was answered is believed of a record that shows it": {
    writes: [
      write("group", "g-1", "description", "ours"),
      write("group", "g-1", "rule", ruleKey(ssh), { answered: true }),
    ],
    without: ["group.list"],
    head: accepted(group("g-1", { description: "ours", rules: [liveSsh] })),
    ends: ["shown", "shown"],
    reads: ["group g-1"],
  },
  "a name where only rules are shown is one that nobody can look at": {
    writes: [write("group", "g-1", "name", "front")],
    without: ["group.list", "group.get"],
    rules: [accepted([liveSsh])],
    ends: [`nobody-can-look: ${rulesOf("g-1")} does not show it`],
    reads: ["rules g-1"],
  },
  "a name where a group is read by itself": {
    writes: [write("group", "g-1", "name", "front")],
    without: ["group.list"],
    head: accepted(group("g-1")),
    ends: ["shown"],
    reads: ["group g-1"],
  },
  "a list of groups that is refused": {
    writes: [write("group", "g-1", "name", "front")],
    groups: [no("forbidden")],
    ends: [expect.stringContaining(groupList) as never],
    reads: ["groups"],
  },
  "of what the answers showed, five of a kind are read": {
    writes: Array.from({ length: 8 }, (_, n) => write("volume", `d-${n}`, "existence", `d-${n}`, { answered: true })),
    volumes: [accepted(volume("d"))],
    samples: noSamples(),
    ends: Array.from({ length: 8 }, () => "shown"),
    reads: ["volume d-0", "volume d-1", "volume d-2", "volume d-3", "volume d-4"],
  },
  "what the answers showed is read as a whole as soon as one of the five is not there": {
    writes: Array.from({ length: 7 }, (_, n) => write("volume", `d-${n}`, "existence", `d-${n}`, { answered: true })),
    volumes: [no("not_found")],
    samples: noSamples(),
    stopping: true,
    ends: Array.from({ length: 7 }, (_, n) => `not-shown: volume d-${n} (volume.get)`),
    reads: 12,
    waits: "once",
  },
  "once answers were wrong, all of them are read": {
    writes: Array.from({ length: 7 }, (_, n) => write("volume", `d-${n}`, "existence", `d-${n}`, { answered: true })),
    volumes: [accepted(volume("d"))],
    samples: { ...noSamples(), isDoubtful: true },
    ends: Array.from({ length: 7 }, () => "shown"),
    reads: 7,
  },
  "what was written beside what an answer showed is read with it": {
    writes: [
      ...Array.from({ length: 6 }, (_, n) => write("volume", `d-${n}`, "existence", `d-${n}`, { answered: true })),
      write("volume", "d-5", "size", "9"),
    ],
    volumes: [accepted(volume("d", { sizeGb: 9 }))],
    samples: noSamples(),
    ends: Array.from({ length: 7 }, () => "shown"),
    reads: 6,
  },
  "a sample of an earlier run of the same program counts": {
    writes: [write("volume", "d-9", "existence", "d-9", { answered: true })],
    volumes: [accepted(volume("d"))],
    samples: { isDoubtful: false, shown: new Map([["volume", new Set(["a", "b", "c", "d", "e"])]]) },
    ends: ["shown"],
    reads: [],
  },
};

it.each(Object.entries(rows))("%s", async (_, { writes, ends, reads, waits = "no", ...world }) => {
  const found = await look(writes, world);
  expect(found.ends).toEqual(ends);
  if (typeof reads === "number") expect(found.reads.length).toBe(reads);
  else expect(found.reads).toEqual(reads);
  if (waits === "no") expect(found.tookMs).toBe(0);
  else if (waits === "once") expect(found.tookMs).toBe(defaultTiming.pollIntervalMs / 4);
  else expect(found.tookMs).toBeGreaterThanOrEqual(window);
});

it("an answer that showed counts beside a thing of another kind with its id that did not show", async () => {
  const samples = noSamples();
  const writes = [write("vm", "106", "existence", "106", { answered: true }), write("volume", "106", "size", "9")];
  await look(writes, { vms: [accepted([vm("106")])], samples, stopping: true });
  expect([...samples.shown]).toEqual([["vm", new Set(["106"])]]);
});

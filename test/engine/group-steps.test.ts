/** What a step of a group sends, how it ends, and what the state remembers afterwards (kinds/group/perform.ts, watch.ts). */
import { describe, expect, it } from "vitest";
import { ruleKey } from "../../reconciler/core/canonical/rules";
import { type LiveGroup, type LiveRule, notSeen } from "../../reconciler/core/model/live";
import type { Operation } from "../../reconciler/core/model/operation";
import { accepted, type Condition, type Outcome, type Rejection } from "../../reconciler/core/model/outcome";
import type { Orphan, RecordedGroup } from "../../reconciler/core/model/recorded";
import type { Reference } from "../../reconciler/core/model/reference";
import type { Rule } from "../../reconciler/core/model/rule";
import type { StepAction } from "../../reconciler/core/plan/step";
import type { OrphanResult } from "../../reconciler/engine/delete-orphan";
import { deleteOrphan } from "../../reconciler/engine/delete-orphan";
import { defaultTiming } from "../../reconciler/engine/ports";
import type { StepResult } from "../../reconciler/engine/run";
import { groupPerformers } from "../../reconciler/kinds/group/perform";
import type { RuleInput, ServiceClient } from "../../reconciler/service/client";
import { rule } from "../support/sample-plans";
import { loneRun, stepAt } from "../support/virtual-world";

const address = "group.front";
const on = { group: { id: "g-1" } } as const;
const record = (more: Partial<RecordedGroup> = {}): RecordedGroup => ({
  kind: "group",
  address,
  id: "g-1",
  name: "front",
  rules: [],
  platformRules: [],
  preventDestroy: false,
  ...more,
});
const cidr = (port: number, net: string): Rule => rule(port, { remote: { kind: "cidr", cidr: net } });
const ssh = cidr(22, "10.0.0.0/8");
const liveRule = (id: string, port: number, more: Partial<LiveRule> = {}): LiveRule =>
  ({
    id,
    direction: "ingress",
    ethertype: "IPv4",
    protocol: "tcp",
    portMin: port,
    portMax: port,
    remoteIp: "10.0.0.0/8",
    ...more,
  }) as LiveRule;
const liveSsh = liveRule("r-1", 22);

const no = (condition: Condition, more: Partial<Rejection> = {}): Rejection => ({
  status: "rejected",
  condition,
  message: "no",
  ...more,
});
const lost = { status: "unknown", reason: "the connection broke" } as const;
const away = { status: "unavailable", reason: "503" } as const;

interface World {
  /** What the service answers, the last answer again and again. */
  readonly answers?: readonly Outcome<never>[] | readonly Outcome<unknown>[];
  /** The rules that each look shows, the last ones again and again. */
  readonly rules?: readonly (readonly LiveRule[] | Outcome<never>)[];
  readonly groups?: readonly Outcome<readonly LiveGroup[]>[];
  readonly group?: Outcome<LiveGroup>;
  readonly without?: readonly Operation[];
  readonly record?: RecordedGroup | null;
  /** What the record of a new group has from the plan. */
  readonly made?: Partial<RecordedGroup>;
  readonly others?: readonly RecordedGroup[];
  readonly seen?: ReadonlyMap<string, LiveGroup>;
  readonly orphans?: readonly Orphan[];
  /** The look at rules at which the run is stopped. */
  readonly stopsAt?: number;
}

const at = <T>(list: readonly T[], index: number): T => list[Math.min(index, list.length - 1)]!;

async function perform(action: StepAction, given: World = {}) {
  const { answers = [accepted(undefined)], rules = [[]], groups = [accepted([])], without = [] } = given;
  const sent: string[] = [];
  let answered = 0;
  let looked = 0;
  let listed = 0;
  const stop = new AbortController();
  const answer = async (said: string) => {
    sent.push(said);
    return at(answers as readonly Outcome<never>[], answered++);
  };
  const ruleText = ({ protocol = "any", portMin, remoteIp, remoteGroupId, description }: RuleInput): string =>
    [protocol, portMin, remoteIp ?? remoteGroupId, description].filter((one) => one !== undefined).join(" ");
  const client: Partial<ServiceClient> = {
    updateGroup: (id, changes) => answer(`update ${id} ${JSON.stringify(changes)}`),
    createRule: (id, input) => answer(`add to ${id}: ${ruleText(input)}`),
    deleteRule: (id, ruleId) => answer(`remove ${ruleId} of ${id}`),
    deleteGroup: (id) => answer(`delete ${id}`),
    createGroup: ({ name, description, rules: its }) =>
      answer(`create ${name}${description === undefined ? "" : ` (${description})`}: ${its.map(ruleText).join(", ")}`),
    listRules: async () => {
      const shown = at(rules, looked++);
      if (looked === given.stopsAt) stop.abort();
      return "status" in shown ? shown : accepted(shown);
    },
    listGroups: async () => at(groups, listed++),
    getGroup: async () => given.group ?? no("not_found", { httpStatus: 404 }),
  };
  const byId = new Map(
    [...(given.seen ?? new Map<string, LiveGroup>())].map(([id, value]) => [id, { seen: "yes" as const, value }]),
  );
  const orphansTold: string[] = [];
  const records = [...(given.record === null ? [] : [given.record ?? record()]), ...(given.others ?? [])];
  const { run, recorder, clock } = await loneRun({
    client,
    records,
    has: (operation) => !without.includes(operation),
    live: { ...notSeen, of: { ...notSeen.of, group: { ...notSeen.of.group, byId } } },
    more: { signal: stop.signal },
  });
  Object.assign(run.ports, { emit: (event: { orphan: Orphan }) => void orphansTold.push(event.orphan.id) });
  Object.assign(run, { listGroups: () => client.listGroups!() });
  for (const orphan of given.orphans ?? [])
    await recorder.record([{ type: "orphan", key: `${orphan.kind}:${orphan.id}`, orphan }]);
  const from = clock.now();
  const step = {
    ...stepAt(address, action.operation),
    action,
    record: action.operation === "group.create" ? record({ id: undefined as never, ...given.made }) : {},
  };
  const performer = groupPerformers[action.operation as keyof typeof groupPerformers] as unknown as (
    step: unknown,
    action: StepAction,
    of: typeof run,
  ) => Promise<StepResult>;
  const result = await performer(step, action, run);
  const kept = recorder.state.resources.get(address) as RecordedGroup | undefined;
  return { result, sent, kept, recorder, tookMs: clock.now() - from, run, orphansTold };
}

const ended = ({
  end,
  code,
  message,
  effect,
}: StepResult & { effect?: { seen: boolean; writes?: readonly { field: string; value: string }[] } }): string =>
  end === "done"
    ? effect?.seen === true
      ? "done and seen"
      : `done, to be seen: ${effect?.writes?.map(({ field, value }) => `${field} ${value}`).join(", ")}`
    : [end, code, message].filter((one) => one !== undefined).join(" ");

const rename: StepAction = { operation: "group.update", ...on, name: "Web" };

describe("an update of a group", () => {
  it("tells an empty description as none", async () => {
    const { result } = await perform({ ...rename, description: "" } as StepAction);
    expect(result).toMatchObject({ effect: { writes: [{ said: "name: Web" }, { said: "description: none" }] } });
  });
  it("is sent with what changes alone, and looked for in the end by what the service makes of it", async () => {
    const { result, sent } = await perform({ ...rename, description: "of the web" } as StepAction);
    expect([sent, ended(result)]).toEqual([
      ['update g-1 {"name":"Web","description":"of the web"}'],
      "done, to be seen: name web, description of the web",
    ]);
  });
  it("that was lost is sent again, for twice does no harm", async () => {
    const { result, sent } = await perform(rename, { answers: [lost, accepted(undefined)] });
    expect([sent.length, ended(result)]).toEqual([2, "done, to be seen: name web"]);
  });
  it.each<readonly [what: string, shown: World]>([
    ["its record", { group: accepted({ kind: "group", id: "g-1", name: "web" }) }],
    ["the list", { groups: [accepted([{ kind: "group", id: "g-1", name: "web" }])], without: ["group.get"] }],
  ])("that was lost and that %s shows is done, and sent once", async (_, shown) => {
    const { result, sent } = await perform(rename, { answers: [lost], ...shown });
    expect([sent.length, ended(result)]).toEqual([1, "done, to be seen: name web"]);
  });
  it.each<
    readonly [what: string, answer: Outcome<never>, without: readonly Operation[], updating: RecordedGroup["updating"]]
  >([
    [
      "that stays without an answer is remembered where nobody can look",
      lost,
      ["group.list", "group.get"],
      { name: "Web" },
    ],
    ["that is refused is not remembered", no("forbidden"), ["group.list", "group.get"], undefined],
    ["that stays without an answer is not remembered where somebody can look", lost, [], undefined],
  ])("%s", async (_, answer, without, updating) => {
    const { result, kept } = await perform(rename, { answers: [answer], without });
    expect([result.end === "done", kept?.updating]).toEqual([false, updating]);
  });
  it("that was accepted settles what an earlier one left open of the same fields, and no more", async () => {
    const without: readonly Operation[] = ["group.list", "group.get"];
    const open = record({ updating: { name: "old", description: "why" } });
    const { kept } = await perform(rename, { record: open, without });
    expect(kept?.updating).toEqual({ description: "why" });
    const both = await perform({ ...rename, description: "d" } as StepAction, { record: open, without });
    expect([both.kept?.updating, both.kept?.description]).toEqual([undefined, "d"]);
  });
  it.each<readonly [what: string, answer: Outcome<never>, kept: Partial<RecordedGroup>]>([
    [
      "a lost one leaves it recorded as its name",
      lost,
      { name: "aside", updating: { name: "Web", description: "why" } },
    ],
    [
      "a refused one leaves what was there",
      no("forbidden"),
      { name: "front", updating: { name: "aside", description: "why" } },
    ],
  ])("after another one that was lost, whose name the group may have: %s", async (_, answer, { name, updating }) => {
    const open = record({ updating: { name: "aside", description: "why" } });
    const { kept } = await perform(rename, { record: open, answers: [answer], without: ["group.list", "group.get"] });
    expect([kept?.name, kept?.description, kept?.updating]).toEqual([name, open.description, updating]);
  });
  it("of which the name cannot be seen says so", async () => {
    const { result } = await perform(rename, { without: ["group.list", "group.get"] });
    expect(result).toMatchObject({
      effect: { writes: [{ field: "name", blind: expect.stringContaining("not their names and descriptions") }] },
    });
    expect((await perform(rename)).result).not.toMatchObject({ effect: { writes: [{ blind: expect.anything() }] } });
  });
});

describe("a rule that is added", () => {
  const add = (one: Rule): StepAction => ({ operation: "group.rule.create", ...on, rule: one });
  it.each<readonly [what: string, rule: Rule, sent: string]>([
    ["for a network", ssh, "add to g-1: tcp 22 10.0.0.0/8"],
    ["for everybody", rule(80), "add to g-1: tcp 80 0.0.0.0/0"],
    ["for everybody over IPv6", rule(80, { ethertype: "IPv6" }), "add to g-1: tcp 80 ::/0"],
    ["for a group by its id", rule(80, { remote: { kind: "group", group: { id: "g-2" } } }), "add to g-1: tcp 80 g-2"],
    [
      "for its own group by its address",
      rule(80, { remote: { kind: "group", group: { address } } }),
      "add to g-1: tcp 80 g-1",
    ],
    [
      "of any protocol",
      { direction: "ingress", ethertype: "IPv4", protocol: "any", remote: { kind: "any" } } as Rule,
      "add to g-1: any 0.0.0.0/0",
    ],
    ["with its description", { ...ssh, description: "of the office" }, "add to g-1: tcp 22 10.0.0.0/8 of the office"],
  ])("%s", async (_, one, sent) => {
    const done = await perform(add(one));
    expect([done.sent, done.result.end, done.kept?.rules.length]).toEqual([[sent], "done", 1]);
  });
  it("for a group that has no id yet is not sent", async () => {
    const { result, sent } = await perform(
      add(rule(80, { remote: { kind: "group", group: { address: "group.later" } } })),
    );
    expect([sent, ended(result)]).toEqual([[], "failed apply/no-id group.later has no id yet"]);
  });
  it.each<readonly [what: string, answers: readonly Outcome<unknown>[], times: number, end: string]>([
    ["that is there already", [no("rule_exists")], 1, "done"],
    ["whose answer was lost, and that is there then", [lost, no("rule_exists")], 2, "done"],
    ["whose answer cannot be read and says that it was accepted", [{ ...lost, accepted: true }], 1, "done"],
    ["that the service refuses", [no("forbidden")], 1, "failed"],
  ])("%s", async (_, answers, times, end) => {
    const { result, sent, kept } = await perform(add(ssh), { answers });
    expect([sent.length, result.end, kept?.rules.length]).toEqual([times, end, end === "done" ? 1 : 0]);
  });
  it("that no file declares, and that the record has by the group's address, is recorded by its id alone", async () => {
    const towards = (named: Reference): Rule => rule(80, { remote: { kind: "group", group: named } });
    const { kept } = await perform({ ...add(towards({ id: "g-1" })), undeclared: true } as StepAction, {
      record: record({ left: [ssh, towards({ address })] }),
    });
    expect(kept?.left).toEqual([ssh, towards({ id: "g-1" })]);
  });
  it("whose answer was lost, and that a look shows, is not sent again", async () => {
    const { result, sent } = await perform(add(ssh), { answers: [lost], rules: [[liveSsh]] });
    expect([sent.length, result.end]).toEqual([1, "done"]);
  });
});

describe("a rule that is taken away", () => {
  const mine = record({ rules: [ssh] });
  const remove = (more: object = {}): StepAction =>
    ({ operation: "group.rule.delete", ...on, ruleId: "r-1", rule: ssh, ...more }) as StepAction;
  interface Row extends World {
    readonly asks?: object;
    readonly sent: readonly string[];
    readonly ends: string | RegExp;
    /** Whether the record has it then. */
    readonly kept: boolean;
    readonly waitsMs?: number;
  }
  it.each<readonly [what: string, row: Row]>([
    [
      "by its id: the record keeps it until a look shows that it is gone",
      { sent: ["remove r-1 of g-1"], ends: "done, to be seen: removed rule r-1", kept: true },
    ],
    [
      "by what it admits, where its id is not known",
      {
        asks: { ruleId: "" },
        rules: [[liveRule("r-9", 80), liveSsh]],
        sent: ["remove r-1 of g-1"],
        ends: "done, to be seen: removed rule r-1",
        kept: true,
      },
    ],
    [
      "by what it admits, and it is gone",
      { asks: { ruleId: "" }, rules: [[liveRule("r-9", 80)]], sent: [], ends: "done and seen", kept: false },
    ],
    [
      "by what it admits, and the group is gone",
      {
        asks: { ruleId: "" },
        rules: [no("not_found", { httpStatus: 404 })],
        sent: [],
        ends: "done and seen",
        kept: false,
      },
    ],
    [
      "by what it admits, and nobody may look",
      { asks: { ruleId: "" }, rules: [no("forbidden")], sent: [], ends: /^failed service\/forbidden/, kept: true },
    ],
    [
      "that was gone already, as a look says too",
      {
        answers: [no("not_found", { httpStatus: 404 })],
        rules: [[]],
        sent: ["remove r-1 of g-1"],
        ends: "done and seen",
        kept: false,
      },
    ],
    [
      "that is there, and the service says that it is not",
      {
        answers: [no("not_found", { httpStatus: 404 })],
        rules: [[liveSsh]],
        sent: ["remove r-1 of g-1"],
        ends: /^failed .*and yet the service shows it/,
        kept: true,
      },
    ],
    [
      "that the service refuses",
      { answers: [no("forbidden")], sent: ["remove r-1 of g-1"], ends: /^failed service\/forbidden/, kept: true },
    ],
    [
      "that turns out to be a declared one",
      { asks: { unless: [cidr(22, "10.0.0.0/8")] }, sent: [], ends: "done and seen", kept: true },
    ],
    [
      "beside a declared one that another rule admits already",
      {
        asks: { unless: [cidr(22, "10.0.0.0/16")] },
        rules: [[liveSsh, liveRule("r-2", 22, { remoteIp: "10.0.0.0/16" })]],
        sent: ["remove r-1 of g-1"],
        ends: "done, to be seen: removed rule r-1",
        kept: true,
      },
    ],
    [
      "beside a declared one that shows a moment later",
      {
        asks: { unless: [cidr(22, "10.0.0.0/16")] },
        rules: [[liveSsh], [liveSsh], [liveSsh, liveRule("r-2", 22, { remoteIp: "10.0.0.0/16" })]],
        sent: ["remove r-1 of g-1"],
        ends: "done, to be seen: removed rule r-1",
        kept: true,
        waitsMs: 2 * defaultTiming.pollIntervalMs,
      },
    ],
    [
      "beside a declared one that never shows: it stays",
      {
        asks: { unless: [cidr(22, "10.0.0.0/16")] },
        rules: [[liveSsh]],
        sent: [],
        ends: "failed apply/rule-needed nothing was sent: no other rule shows that it admits tcp 22 from 10.0.0.0/16, which is declared",
        kept: true,
        waitsMs: defaultTiming.discoveryWindowMs,
      },
    ],
    [
      "beside a declared one, and the run is stopped before that shows: it stays, and nothing is said of the others",
      {
        asks: { unless: [cidr(22, "10.0.0.0/16")] },
        rules: [[liveSsh]],
        stopsAt: 2,
        sent: [],
        ends: "failed apply/interrupted stopped while waiting for the rules that take its place; nothing was sent",
        kept: true,
        waitsMs: defaultTiming.pollIntervalMs,
      },
    ],
    [
      "beside a declared one of other traffic",
      {
        asks: { unless: [cidr(80, "10.0.0.0/16")] },
        rules: [[liveSsh]],
        sent: ["remove r-1 of g-1"],
        ends: "done, to be seen: removed rule r-1",
        kept: true,
      },
    ],
    [
      "beside a declared one, and nobody may look",
      {
        asks: { unless: [cidr(22, "10.0.0.0/16")] },
        rules: [no("forbidden")],
        sent: ["remove r-1 of g-1"],
        ends: "done, to be seen: removed rule r-1",
        kept: true,
      },
    ],
    [
      "beside a declared one, and the look fails",
      {
        asks: { unless: [cidr(22, "10.0.0.0/16")] },
        rules: [away],
        sent: [],
        ends: /^failed service\/unavailable/,
        kept: true,
      },
    ],
  ])("%s", async (_, { asks, sent, ends, kept, waitsMs = 0, ...world }) => {
    const done = await perform(remove(asks), { record: mine, ...world });
    expect([done.sent, done.kept?.rules.length === 1, done.tookMs]).toEqual([sent, kept, waitsMs]);
    if (typeof ends === "string") expect(ended(done.result)).toBe(ends);
    else expect(ended(done.result)).toMatch(ends);
  });
});

describe("a group that is deleted", () => {
  const remove = (more: object = {}): StepAction =>
    ({ operation: "group.delete", ...on, name: "front", retired: false, ...more }) as StepAction;
  const shown = (...ids: readonly string[]) => accepted(ids.map((id): LiveGroup => ({ kind: "group", id, name: id })));
  const named = no("group_attached");
  const attached = no("group_attached", { message: "Security group is attached to one or more VMs" });
  const naming = (id: string, port = 80): LiveRule =>
    liveRule(`of-${id}`, port, { remoteIp: undefined as never, remoteGroupId: "g-1" });
  const namer = (key: string, id: string): RecordedGroup =>
    record({
      address: `group.${key}`,
      id,
      name: key,
      rules: [rule(80, { remote: { kind: "group", group: { id: "g-1" } } })],
    });
  interface Row extends World {
    readonly asks?: object;
    readonly ends: string | RegExp;
    /** Of the record: `gone`, `stays`, or `was to go` where a delete may have been sent. */
    readonly is: string;
    readonly waitsMs?: number;
    readonly orphans?: readonly Orphan[];
    readonly left?: readonly string[];
  }
  it.each<readonly [what: string, row: Row]>([
    ["and a list lacks it", { ends: "done and seen", is: "gone" }],
    [
      "and a list shows it for a while",
      {
        groups: [shown("g-1"), shown("g-2")],
        ends: "done and seen",
        is: "gone",
        waitsMs: defaultTiming.pollIntervalMs,
      },
    ],
    [
      "and a list shows it all the time",
      {
        groups: [shown("g-1")],
        ends: "failed apply/timeout the service accepted the delete of group front, and still shows it after 90 s",
        is: "was to go",
        waitsMs: defaultTiming.discoveryWindowMs,
      },
    ],
    ["and the list is refused", { groups: [no("forbidden")], ends: /^\w+ \S+ .*group front/, is: "was to go" }],
    [
      "and the list is away for a while",
      { groups: [away, shown()], ends: "done and seen", is: "gone", waitsMs: defaultTiming.pollIntervalMs },
    ],
    [
      "and the list is away all the time",
      { groups: [away], ends: /^\w+ \S+ .*group front/, is: "was to go", waitsMs: defaultTiming.discoveryWindowMs },
    ],
    [
      "where a group is read by itself, and it is not found",
      { without: ["group.list"], ends: "done and seen", is: "gone" },
    ],
    [
      "where a group is read by itself, and it is there",
      {
        without: ["group.list"],
        group: accepted({ kind: "group", id: "g-1", name: "front" }),
        ends: /^failed apply\/timeout/,
        is: "was to go",
        waitsMs: defaultTiming.discoveryWindowMs,
      },
    ],
    [
      "where only rules show, and they are not found",
      {
        without: ["group.list", "group.get"],
        rules: [no("not_found", { httpStatus: 404 })],
        ends: "done and seen",
        is: "gone",
      },
    ],
    [
      "where only rules show, and there are some",
      {
        without: ["group.list", "group.get"],
        rules: [[liveSsh]],
        ends: /^failed apply\/timeout/,
        is: "was to go",
        waitsMs: defaultTiming.discoveryWindowMs,
      },
    ],
    ["and was refused", { answers: [no("forbidden")], ends: /^failed service\/forbidden/, is: "stays" }],
    ["and the answer is lost, and no look finds it", { answers: [lost], ends: "done and seen", is: "gone" }],
    [
      "and the answer is lost, and a look finds it",
      { answers: [lost], rules: [[liveSsh]], ends: /^unknown/, is: "was to go" },
    ],
    ["while VMs are under it", { answers: [named], ends: /^failed service\/group_attached/, is: "stays" }],
    [
      "while VMs are under it, and a new one has replaced it",
      {
        answers: [attached],
        asks: { retired: true },
        ends: "waiting apply/group-attached the replaced group front is still attached to VMs, and the service has no call that moves them",
        is: "stays",
      },
    ],
    [
      "while something has it in use, nobody knows what, and a new one has replaced it",
      {
        answers: [named],
        asks: { retired: true },
        ends: /^waiting apply\/group-attached the service does not delete the replaced group front: /,
        is: "stays",
      },
    ],
    [
      "while a rule of another group names it",
      {
        answers: [named],
        others: [namer("back", "g-2")],
        rules: [[naming("back")]],
        ends: /^failed apply\/group-named the service does not delete group front while rules of other groups name it: .*group\.back/,
        is: "stays",
      },
    ],
    ...[
      { what: "named", asks: {}, ends: /^failed service\/group_attached .*attached to one or more VMs/ },
      { what: "named and replaced", asks: { retired: true }, ends: /^waiting apply\/group-attached/ },
      {
        what: "in a circle",
        asks: { circle: [{ id: "g-2", label: "group.back" }] },
        ends: /^failed service\/group_attach/,
      },
      {
        what: "replaced in a circle",
        asks: { retired: true, circle: [{ id: "g-2", label: "group.back" }] },
        ends: /^waiting apply\/group-attached/,
      },
    ].map(
      ({ what, asks, ends }) =>
        [
          `while VMs are under it, as the service says, and it is ${what}`,
          { asks, ends, answers: [attached], others: [namer("back", "g-2")], rules: [[naming("back")]], is: "stays" },
        ] as const,
    ),
    [
      "while a rule named it that is gone by now",
      {
        answers: [named],
        others: [namer("back", "g-2")],
        rules: [[liveSsh]],
        ends: /^failed service\/group_attached/,
        is: "stays",
      },
    ],
    [
      "while a rule names it of a group that is gone by now",
      {
        answers: [named],
        others: [namer("back", "g-2")],
        rules: [no("not_found", { httpStatus: 404 })],
        ends: /^failed service\/group_attached/,
        is: "stays",
      },
    ],
    [
      "while a rule names it of a group at which nobody may look",
      {
        answers: [named],
        others: [namer("back", "g-2")],
        rules: [no("forbidden")],
        ends: /^failed apply\/group-named .*group\.back/,
        is: "stays",
      },
    ],
    [
      "while a rule names it, and a new one has replaced it",
      {
        answers: [named],
        asks: { retired: true },
        others: [namer("back", "g-2")],
        rules: [[naming("back")]],
        ends: /^waiting apply\/group-named/,
        is: "stays",
      },
    ],
    [
      "and a list shows it all the time, and a rule names it",
      {
        asks: { retired: true },
        groups: [shown("g-1")],
        others: [namer("back", "g-2")],
        rules: [[naming("back")]],
        ends: /^waiting apply\/group-named the service accepted the delete of group front and still shows it, .*group\.back/,
        is: "was to go",
        waitsMs: defaultTiming.discoveryWindowMs,
      },
    ],
    [
      "while a group names it that it names itself",
      {
        answers: [named],
        asks: { circle: [{ id: "g-2", label: "group.back" }] },
        others: [namer("back", "g-2")],
        rules: [[naming("back")]],
        ends: /^waiting apply\/group-named .*; it is left as an orphan$/,
        is: "gone",
        left: ["g-1"],
      },
    ],
    [
      "while a group names it that was left as an orphan before",
      {
        answers: [named],
        seen: new Map([["g-2", { kind: "group", id: "g-2", name: "back", rules: [naming("back")] } as LiveGroup]]),
        orphans: [{ kind: "group", id: "g-2", name: "back", reason: "why" }],
        rules: [[naming("back")]],
        ends: /^waiting apply\/group-named .*; it is left as an orphan$/,
        is: "gone",
        left: ["g-1"],
      },
    ],
    [
      "while one of two that name it is in a circle with it",
      {
        answers: [named],
        asks: { circle: [{ id: "g-2", label: "group.back" }] },
        others: [namer("back", "g-2"), namer("side", "g-3")],
        rules: [[naming("back")]],
        ends: /^failed apply\/group-named .*group\.back.*group\.side/,
        is: "stays",
      },
    ],
  ])("%s", async (_, { asks, ends, is, waitsMs = 0, left = [], ...world }) => {
    const { result, kept, sent, tookMs, orphansTold, run } = await perform({ ...remove(asks) }, { ...world });
    if (typeof ends === "string") expect(ended(result)).toBe(ends);
    else expect(ended(result)).toMatch(ends);
    const stands = kept === undefined ? "gone" : kept.deleting === true ? "was to go" : "stays";
    // The record of this step goes with `forgets`, which the plan says; here it is told by what the run has deleted.
    expect([sent, run.deleted.has("group:g-1") ? "gone" : stands, tookMs, orphansTold]).toEqual([
      ["delete g-1"],
      is,
      waitsMs,
      left,
    ]);
  });
  it.each([
    ["Conflict", /off the VMs .* rules of other groups; .*named_groups: kept/],
    ["Security group is attached to one or more VMs", /^$/],
  ])("what is done about a delete that was refused with %j", async (message, fix) => {
    const { result } = await perform({ ...remove({}) }, { answers: [no("group_attached", { message })] });
    expect("fix" in result ? String(result.fix ?? "") : "").toMatch(fix);
  });
});

describe("rules that are put back", () => {
  const verify = (...rules: readonly Rule[]): StepAction => ({ operation: "group.verify", ...on, rules });
  it.each<readonly [what: string, world: World, sent: readonly string[], ends: string | RegExp]>([
    ["all are there", { rules: [[liveSsh]] }, [], "done and seen"],
    ["one is missing", { rules: [[]] }, ["add to g-1: tcp 22 10.0.0.0/8"], `done, to be seen: rule ${ruleKey(ssh)}`],
    [
      "one is missing, and the service refuses it",
      { rules: [[]], answers: [no("forbidden")] },
      ["add to g-1: tcp 22 10.0.0.0/8"],
      /^failed service\/forbidden/,
    ],
    ["nobody may look", { rules: [no("forbidden")] }, [], /^failed service\/forbidden/],
    [
      "it is kept in two parts",
      {
        rules: [[liveRule("r-1", 22, { remoteIp: "10.0.0.0/9" }), liveRule("r-2", 22, { remoteIp: "10.128.0.0/9" })]],
      },
      [],
      "done and seen",
    ],
  ])("%s", async (_, world, sent, ends) => {
    const done = await perform(verify(ssh), world);
    expect(done.sent).toEqual(sent);
    if (typeof ends === "string") expect(ended(done.result)).toBe(ends);
    else expect(ended(done.result)).toMatch(ends);
    expect(done.kept?.rules.length).toBe(done.result.end === "done" ? 1 : 0);
  });
  it("are recorded as the group's own, without those that the file leaves alone", async () => {
    const { kept } = await perform(verify(ssh, rule(80)), {
      record: record({ left: [ssh] }),
      rules: [[liveSsh, liveRule("r-2", 80, { remoteIp: "0.0.0.0/0" })]],
    });
    expect([kept?.rules, kept?.left]).toEqual([[rule(80)], [ssh]]);
  });
  it("are recorded without one that the deletion took and nobody wants", async () => {
    const fallen = rule(80, { remote: { kind: "group", group: { id: "g-gone" } } });
    const { kept } = await perform(verify(ssh), { record: record({ rules: [ssh, fallen] }), rules: [[liveSsh]] });
    expect(kept?.rules).toEqual([ssh]);
  });
  it("a rule for a group without an id is not", async () => {
    const later = rule(80, { remote: { kind: "group", group: { address: "group.later" } } });
    expect(ended((await perform(verify(later))).result)).toBe("failed apply/no-id group.later has no id yet");
  });
});

describe("a group that is made", () => {
  const create = (...rules: readonly Rule[]): StepAction =>
    ({ operation: "group.create", name: "Front", description: "why", rules }) as StepAction;
  const made = (rules?: readonly LiveRule[]): Outcome<LiveGroup> =>
    accepted({ kind: "group", id: "g-7", name: "front", ...(rules === undefined ? {} : { rules }) });
  const own = liveRule("r-p", 0, {
    direction: "egress",
    protocol: undefined as never,
    portMin: undefined as never,
    portMax: undefined as never,
    remoteIp: undefined as never,
  });
  it("is sent with its rules in one order, and each is looked for that the answer does not show", async () => {
    const { sent, result, kept } = await perform(create(cidr(443, "10.0.0.0/8"), ssh), {
      record: null,
      answers: [made()],
      rules: [[liveSsh]],
    });
    expect(sent).toEqual(["create Front (why): tcp 22 10.0.0.0/8, tcp 443 10.0.0.0/8"]);
    expect(ended(result)).toBe(
      `done, to be seen: rule ${ruleKey(cidr(443, "10.0.0.0/8"))}, name front, description why`,
    );
    expect([kept?.id, kept?.rules.length]).toEqual(["g-7", 2]);
  });
  it("has as the service's own what it shows beyond what was sent", async () => {
    const { kept } = await perform(create(ssh), { record: null, answers: [made([liveSsh, own])] });
    expect(kept?.platformRules).toHaveLength(1);
    expect(kept?.rules.map((one) => ruleKey(one))).toEqual([ruleKey(ssh)]);
  });
  const ports = (min: number, max: number): Rule => ({ ...cidr(min, "10.0.0.0/8"), ports: { min, max } });
  const joined = { ...liveSsh, id: "r-j", portMin: 80, portMax: 81 };
  it.each<readonly [what: string, sent: readonly Rule[], listed: readonly LiveRule[], platformRules: number]>([
    ["shows nothing of a group that was made without rules", [], [], 2],
    ["shows nothing of what was sent", [ssh], [], 2],
    ["shows one of two that were sent", [ssh, cidr(443, "10.0.0.0/8")], [liveSsh], 2],
    ["shows a rule of the service alone", [ssh], [own], 2],
    ["shows all that was sent and nothing beside it", [ssh], [liveSsh], 0],
    ["shows all that was sent and a rule of the service", [ssh], [liveSsh, own], 1],
    ["shows all that was sent as one rule", [ports(80, 80), ports(81, 81)], [joined], 0],
    ["shows a part of what was sent as one rule", [ports(80, 80), ports(81, 81), ssh], [joined], 2],
  ])("keeps the usual rules as the service's own where a list %s and may be behind", async (_, sent, listed, own) => {
    const { kept } = await perform(create(...sent), { record: null, answers: [made()], rules: [listed] });
    expect(kept?.platformRules).toHaveLength(own);
  });
  it("has as its own the rules of the file alone, where others went along from the group that it replaces", async () => {
    const world: World = { record: null, answers: [made([liveSsh, own])], made: { left: [ssh] } };
    const { kept, sent } = await perform(create(cidr(443, "10.0.0.0/8"), ssh), world);
    expect(sent).toEqual(["create Front (why): tcp 22 10.0.0.0/8, tcp 443 10.0.0.0/8"]);
    expect([kept?.rules, kept?.left].map((rules) => rules?.map((one) => ruleKey(one)))).toEqual([
      [ruleKey(cidr(443, "10.0.0.0/8"))],
      [ruleKey(ssh)],
    ]);
  });
  it("is believed to exist where the answer shows more than was sent, and nobody has looked", async () => {
    const { result } = await perform(create(ssh), { record: null, answers: [made([liveSsh, own])] });
    expect(ended(result)).toBe(`done, to be seen: existence g-7, rule ${ruleKey(ssh)}, name front, description why`);
  });
  it("and whose rules cannot be read has the usual ones for granted", async () => {
    const { kept, result } = await perform(create(ssh), { record: null, answers: [made()], rules: [no("forbidden")] });
    expect(ended(result)).toBe(`done, to be seen: existence g-7, rule ${ruleKey(ssh)}, name front, description why`);
    expect(kept?.platformRules.length).toBeGreaterThan(0);
  });
  it("is not sent where a rule is for a group without an id", async () => {
    const { sent, result } = await perform(
      create(rule(80, { remote: { kind: "group", group: { address: "group.later" } } })),
      { record: null },
    );
    expect([sent, ended(result)]).toEqual([[], "failed apply/no-id group.later has no id yet"]);
  });
});

describe("an orphan that somebody names", () => {
  const orphan = (kind: Orphan["kind"], more: Partial<Orphan> = {}): Orphan => ({
    kind,
    id: "o-1",
    name: "it",
    reason: "why",
    ...more,
  });
  const gone = no("not_found", { httpStatus: 404 });
  const volume = (more: object = {}) =>
    accepted({ kind: "volume", id: "o-1", failed: false, attachedTo: null, sizeGb: 5, ...more } as never);
  interface Row {
    readonly of: Orphan;
    readonly isShown?: boolean;
    readonly looks?: readonly Outcome<never>[];
    readonly answer?: Outcome<unknown>;
    readonly groups?: Outcome<readonly LiveGroup[]>;
    readonly sent: readonly string[];
    readonly ends: string | RegExp;
    readonly isSent?: true;
    readonly learnt?: object;
  }
  it.each<readonly [what: string, row: Row]>([
    [
      "a VM, which nothing deletes as one",
      { of: orphan("vm"), sent: [], ends: "failed vm o-1 cannot be deleted as an orphan" },
    ],
    [
      "an image, which nothing deletes as one",
      { of: orphan("image"), sent: [], ends: "failed image o-1 cannot be deleted as an orphan" },
    ],
    ["a group", { of: orphan("group"), sent: ["delete group"], ends: "done and seen", isSent: true }],
    [
      "a group that the service does not have",
      { of: orphan("group"), answer: gone, sent: ["delete group"], ends: "not-found" },
    ],
    [
      "a group that the service refuses to delete",
      { of: orphan("group"), answer: no("forbidden"), sent: ["delete group"], ends: /^failed service\/forbidden/ },
    ],
    [
      "a group that stays in the list",
      {
        of: orphan("group"),
        groups: accepted([{ kind: "group", id: "o-1", name: "it" }]),
        sent: ["delete group"],
        ends: /^failed apply\/timeout/,
        isSent: true,
      },
    ],
    [
      "a volume",
      {
        of: orphan("volume", { sizeGb: 5 }),
        looks: [volume(), volume(), gone],
        sent: ["delete volume"],
        ends: /^done/,
        isSent: true,
      },
    ],
    [
      "a volume that goes since an earlier command",
      {
        of: orphan("volume", { deleting: true }),
        looks: [volume({ changing: true }), volume({ changing: true }), gone],
        sent: [],
        ends: /^done/,
        isSent: true,
      },
    ],
    [
      "a volume that hangs on a VM",
      {
        of: orphan("volume"),
        looks: [volume({ attachedTo: "v-1" })],
        sent: [],
        ends: "failed apply/volume-changed nothing was sent: it hangs on VM v-1",
      },
    ],
    [
      "a volume that has grown since",
      {
        of: orphan("volume", { sizeGb: 5 }),
        looks: [volume({ sizeGb: 9 })],
        sent: [],
        ends: "failed apply/volume-changed nothing was sent: it has 9 GB, and had 5 when it was left",
        learnt: { sizeGb: 9 },
      },
    ],
    [
      "a volume that bears another name by now",
      {
        of: orphan("volume", { sizeGb: 5 }),
        looks: [volume({ name: "theirs" })],
        sent: [],
        ends: "failed apply/volume-changed nothing was sent: it is called theirs, and was called it when it was left: it may be another volume that has the id by now",
        learnt: { name: "theirs" },
      },
    ],
    [
      "a volume whose name nobody knew",
      {
        of: orphan("volume", { name: "data volume of web", sizeGb: 5 }),
        looks: [volume({ name: "web-data" }), volume(), gone],
        sent: ["delete volume"],
        ends: /^done/,
        isSent: true,
      },
    ],
    [
      "a volume whose size nobody knew",
      { of: orphan("volume"), looks: [volume(), volume(), gone], sent: ["delete volume"], ends: /^done/, isSent: true },
    ],
    [
      "a volume whose size is not shown",
      {
        of: orphan("volume", { sizeGb: 5 }),
        looks: [volume({ sizeGb: undefined }), volume(), gone],
        sent: ["delete volume"],
        ends: /^done/,
        isSent: true,
      },
    ],
    [
      "a volume at which nobody may look",
      { of: orphan("volume"), looks: [no("forbidden")], sent: [], ends: /^failed service\/forbidden/ },
    ],
    ["a volume whose look has no answer", { of: orphan("volume"), looks: [lost as never], sent: [], ends: /^failed/ }],
    [
      "a volume that no look shows and the service does not have",
      { of: orphan("volume"), looks: [gone], answer: gone, sent: ["delete volume"], ends: "not-found" },
    ],
    [
      "a volume that was shown, and that no look shows after a delete whose answer is lost",
      {
        of: orphan("volume"),
        looks: [volume(), gone],
        answer: lost as never,
        sent: ["delete volume"],
        ends: "done and seen",
        isSent: true,
      },
    ],
    [
      "a volume that no look has shown, and the answer to its delete is lost",
      {
        of: orphan("volume"),
        isShown: false,
        looks: [gone],
        answer: lost as never,
        sent: ["delete volume"],
        ends: /^unknown/,
      },
    ],
    [
      "a group that no look has shown, and the answer to its delete is lost",
      { of: orphan("group"), isShown: false, answer: lost as never, sent: ["delete group"], ends: /^unknown/ },
    ],
    [
      "a volume that the service refuses to delete",
      {
        of: orphan("volume"),
        looks: [volume()],
        answer: no("forbidden"),
        sent: ["delete volume"],
        ends: /^failed service\/forbidden/,
      },
    ],
  ])(
    "%s",
    async (_, {
      of,
      isShown = true,
      looks = [gone],
      answer = accepted(undefined),
      groups = accepted([]),
      sent,
      ends,
      isSent,
      learnt,
    }) => {
      const told: string[] = [];
      let looked = 0;
      const { run } = await loneRun({
        client: {
          deleteGroup: async () => {
            told.push("delete group");
            return answer as never;
          },
          deleteVolume: async () => {
            told.push("delete volume");
            return answer as never;
          },
          getVolume: async () => at(looks, looked++),
          listGroups: async () => groups,
          listRules: async () => gone as never,
        },
        has: (operation) => operation !== "volume.list",
      });
      const { client, clock, timing } = run.ports;
      const watch = { client, clock, timing, signal: run.signal, waited: () => undefined };
      const listVolumes = () => client.listVolumes();
      const result: OrphanResult = await deleteOrphan(of, { ...watch, listVolumes } as never, isShown);
      const said = result === "not-found" ? result : ended(result);
      if (typeof ends === "string") expect(said).toBe(ends);
      else expect(said).toMatch(ends);
      expect([
        told,
        result === "not-found" ? undefined : result.isSent,
        result === "not-found" ? undefined : result.learnt,
      ]).toEqual([sent, isSent, learnt]);
    },
  );
});

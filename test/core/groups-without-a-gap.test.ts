/** Where a rule cannot be deleted, a group is replaced: in an order in which what stays admitted is admitted all the time. */
import { describe, expect, it } from "vitest";
import { describeRule } from "../../reconciler/core/canonical/rules";
import { asideName } from "../../reconciler/core/model/aside-name";
import type { DesiredGroup } from "../../reconciler/core/model/desired";
import type { Intent, RecordedGroup } from "../../reconciler/core/model/recorded";
import type { Rule } from "../../reconciler/core/model/rule";
import type { Plan } from "../../reconciler/core/plan/plan";
import { group, idOf, planFor, rule, type World } from "../support/sample-plans";

const naming = (address: string) => ({ kind: "group", group: { address } }) as const;
const web = group("web", { rules: [rule(443), rule(80)] });
const webWithout80 = { ...web, rules: [rule(443)] };
const db = group("db", { rules: [rule(5432, { remote: naming("group.web") })] });
const self = rule(9100, { remote: naming("group.web") });

/** Each step with what it waits for, such as `web/create after web/aside`. */
const order = (plan: Plan): string[] =>
  plan.steps.map(({ id, needs }) => {
    const after = needs.map(({ step, on }) => (on === "done" ? step : `${step} (${on})`));
    const said = after.length === 0 ? id : `${id} after ${after.sort().join(", ")}`;
    return said.replaceAll("group.", "");
  });

describe("the steps of a group that loses a rule", () => {
  it.each<[what: string, world: World, steps: readonly string[]]>([
    [
      "in place, where the service deletes single rules: what is new first",
      {
        applied: [web],
        desired: [{ ...web, rules: [rule(443), rule(8080)] }],
        missing: [],
      },
      ["web/rule-0", "web/remove-rule-0 after web/rule-0"],
    ],
    [
      "the old group keeps its rules under another name until the new one is there, and gets its name back where that fails",
      { applied: [web], desired: [webWithout80] },
      ["web/aside", "web/create after web/aside", "web/back after web/create (failed)", "web/retire after web/create"],
    ],
    [
      "a neighbour names the new group before the old one goes, and is read again afterwards",
      { applied: [web, db], desired: [webWithout80, db] },
      [
        "web/aside",
        "web/create after web/aside",
        "web/back after web/create (failed)",
        "db/rule-0 after web/create",
        "web/retire after db/rule-0, web/create",
        "db/verify-web/retire after db/rule-0 (end), web/retire",
      ],
    ],
    [
      "a rule that names the group itself is there before the old group goes",
      { applied: [{ ...web, rules: [...web.rules, self] }], desired: [{ ...web, rules: [rule(443), self] }] },
      [
        "web/aside",
        "web/create after web/aside",
        "web/back after web/create (failed)",
        "web/rule-1 after web/create",
        "web/retire after web/create, web/rule-1",
      ],
    ],
    [
      "both of two that are replaced name each other's new self",
      {
        applied: [
          group("a", { rules: [rule(1), rule(9, { remote: naming("group.b") })] }),
          group("b", { rules: [rule(2), rule(9, { remote: naming("group.a") })] }),
        ],
        desired: [
          group("a", { rules: [rule(9, { remote: naming("group.b") })] }),
          group("b", { rules: [rule(9, { remote: naming("group.a") })] }),
        ],
      },
      [
        "a/aside",
        "a/create after a/aside",
        "a/back after a/create (failed)",
        "b/aside after a/create",
        "b/create after a/create, b/aside",
        "b/back after b/create (failed)",
        "a/rule-0 after a/create, b/create",
        "a/retire after a/create, a/rule-0, b/create",
        "b/retire after a/rule-0, b/create",
      ],
    ],
    [
      "one that was renamed aside by a run that was cut off keeps that name",
      {
        applied: [{ ...web, now: { name: `web-old-${idOf("group.web").replaceAll("-", "").slice(-6)}` } }],
        desired: [webWithout80],
      },
      ["web/create", "web/retire after web/create"],
    ],
    [
      "one of which only the record says so is renamed once more, for the answer to giving its name back may be lost",
      {
        applied: [{ ...web, now: { name: undefined }, memory: { name: asideName("web", idOf("group.web")) } }],
        desired: [webWithout80],
      },
      ["web/aside", "web/create after web/aside", "web/retire after web/create"],
    ],
    [
      "a group that is wanted no more goes with an old one that was to go",
      { applied: [{ ...web, memory: { retired: [{ id: "g-old", name: "web-old-1" }] } }] },
      ["web/retire", "web/delete after web/retire"],
    ],
    [
      "one that is wanted no more and is gone leaves an old one to be deleted",
      { applied: [{ ...web, sighted: "gone", memory: { retired: [{ id: "g-old", name: "web-old-1" }] } }] },
      ["web/retire", "web/forget after web/retire"],
    ],
    [
      "nothing is left to delete of one that is wanted no more and is gone",
      { applied: [{ ...web, sighted: "gone" }] },
      ["web/forget"],
    ],
    ["nothing, where the rules stay", { applied: [web, db], desired: [web, db] }, []],
    [
      "nothing of it, where the rule is to be kept",
      {
        applied: [web],
        desired: [{ ...webWithout80, lifecycle: { ...web.lifecycle, onRuleRemoval: "keep" } }],
      },
      [],
    ],
  ])("%s", (_, world, steps) => {
    expect(order(planFor(world))).toEqual(steps);
  });

  it("an old one that was to go is an orphan once its group is let go", () => {
    const applied = [{ ...web, memory: { retired: [{ id: "g-old", name: "web-old-1" }] } }];
    const plan = planFor({ applied, removed: [{ from: web.address, destroy: false, source: web.source }] });
    const reason = "was replaced by group web";
    expect(plan.steps.map(({ action }) => action)).toMatchObject([
      { changes: [{ type: "orphan", orphan: { id: "g-old", name: "web-old-1", reason } }, {}, {}] },
    ]);
  });

  it("the new group has every rule that stays in its create, and the name; the record remembers the old one", () => {
    const { steps } = planFor({ applied: [web], desired: [webWithout80] });
    const create = steps.find(({ action }) => action.operation === "group.create");
    expect(create?.action).toMatchObject({ name: "web", rules: [rule(443)] });
    expect(create?.record).toMatchObject({
      retired: [{ id: idOf("group.web"), name: expect.stringMatching(/^web-old-/) }],
    });
    const retire = steps.find(({ action }) => action.operation === "group.delete");
    expect(retire?.action).toMatchObject({ group: { id: idOf("group.web") }, retired: true });
  });
});

describe("what the file leaves alone, the new group has as the old one has it", () => {
  const leaves = (ignoreChanges: readonly string[], more: object = {}) => ({
    ...webWithout80,
    ...more,
    lifecycle: { ...web.lifecycle, ignoreChanges },
  });
  const shown = { ...web, now: { name: "by-hand", description: "by hand" } };
  it.each<[what: string, world: World, made: object, recorded: object]>([
    [
      "a description that the file does not have",
      { applied: [{ ...web, now: { description: "by hand" } }], desired: [webWithout80] },
      { name: "web", description: "by hand" },
      { name: "web", description: undefined },
    ],
    [
      "a description that the file does not have any more, for the next time as well",
      { applied: [{ ...web, description: "first", now: { description: undefined } }], desired: [webWithout80] },
      { name: "web", description: "first" },
      { name: "web", description: "first" },
    ],
    [
      "a name and a description that are ignored",
      { applied: [shown], desired: [leaves(["name", "description"], { description: "mine" })] },
      { name: "by-hand", description: "by hand" },
      { name: "by-hand", description: "by hand" },
    ],
    [
      "an empty description that is ignored",
      { applied: [{ ...web, now: { description: "" } }], desired: [leaves(["description"], { description: "mine" })] },
      { name: "web", description: undefined },
      { name: "web", description: undefined },
    ],
    [
      "no name that an interrupted replacement has given it",
      { applied: [{ ...web, now: { name: asideName("web", idOf("group.web")) } }], desired: [leaves(["name"])] },
      { name: "web" },
      { name: "web" },
    ],
    [
      "and what the file says is as the file says",
      { applied: [shown], desired: [{ ...webWithout80, description: "mine" }] },
      { name: "web", description: "mine" },
      { name: "web", description: "mine" },
    ],
  ])("%s", (_, world, made, recorded) => {
    const create = planFor(world).steps.find(({ action }) => action.operation === "group.create");
    const said = (of: object = {}) => {
      // A create of a group and its record have these two as texts.
      const { name, description } = of as { name?: string; description?: string };
      return { name, description };
    };
    expect([said(create?.action), said(create?.record)]).toEqual([said(made), said(recorded)]);
  });
});

describe("a name that the file leaves alone", () => {
  it("is free for no other group where the new one takes it over", () => {
    const lifecycle = { ...web.lifecycle, ignoreChanges: ["name"] };
    const { diagnostics } = planFor({
      applied: [web],
      desired: [group("a", { name: "web" }), { ...webWithout80, name: "other", lifecycle }],
    });
    expect(diagnostics).toMatchObject([{ code: "plan/name-taken", address: "group.a" }]);
  });
});

describe("rules that the file leaves alone, on a group that is replaced on request", () => {
  const [https, ssh] = [rule(443), rule(22)];
  const live = (port: number, more: object = {}) => ({
    ...{ id: `r-${port}`, direction: "ingress", ethertype: "IPv4", protocol: "tcp", portMin: port, portMax: port },
    ...more,
  });
  const shown = [live(443), live(22), live(9, { remoteGroupId: "x" }), live(7, { remoteAddressGroupId: "y" })];
  const added = "add rule ingress tcp 80 from anywhere (IPv4)";
  const lost = ["remove rule ingress tcp 9 from x", "remove rule ingress tcp 7 from address-group:y"];
  const before = { ...web, now: { rules: shown }, memory: { buried: ["x"] } };
  const one = (lifecycle: object): DesiredGroup => ({ ...web, lifecycle: { ...web.lifecycle, ...lifecycle } });
  it.each<[what: string, desired: DesiredGroup, sent: readonly Rule[], left: boolean, told: readonly string[]]>([
    [
      "go along where others may add some, but for those that no request can say",
      { ...web, rulesMode: "additive" },
      [https, rule(80), ssh],
      true,
      [added, ...lost],
    ],
    ["go along where they are kept", one({ onRuleRemoval: "keep" }), [https, rule(80), ssh], true, [added, lost[1]!]],
    ["are as they were where all are ignored", one({ ignoreChanges: ["rules"] }), [https, ssh], true, lost],
    [
      "are none where the file says all of them",
      web,
      [https, rule(80)],
      false,
      [added, "remove rule ingress tcp 22 from anywhere (IPv4)", lost[1]!],
    ],
  ])("%s", (_, desired, sent, left, told) => {
    const plan = planFor({ applied: [before], desired: [desired], options: { replace: ["group.web"] } });
    const create = plan.steps.find(({ id }) => id === "group.web/create");
    const record: Partial<RecordedGroup> = create?.record as object;
    expect([create?.action, record.left]).toEqual([expect.objectContaining({ rules: sent }), left ? [ssh] : undefined]);
    expect(plan.changes[0]?.fields.map(({ verb, before, after }) => `${verb} ${after ?? before}`)).toEqual(told);
  });
});

describe("a group whose rules the file leaves alone, beside one that is replaced", () => {
  const front = group("front", {
    rules: [rule(8080), rule(22, { remote: naming("group.web") }), rule(25, { remote: naming("group.web") })],
    lifecycle: { ...web.lifecycle, ignoreChanges: ["rules"] },
  });
  const [, toWeb] = front.rules;
  const old: Rule = { ...rule(22), remote: { kind: "group", group: { id: idOf("group.web") } } };
  const live = { id: "r", direction: "ingress", ethertype: "IPv4", protocol: "tcp", portMin: 22, portMax: 22 };
  // Somebody has taken the two others away.
  const now = { rules: [{ ...live, remoteGroupId: idOf("group.web") }] };
  const plan = planFor({ applied: [{ ...front, now }, web], desired: [front, webWithout80] });

  it("names its successor where it named it, and nothing else is put back", () => {
    const rules = plan.steps.flatMap(({ address, action }) =>
      address !== "group.front" ? [] : "rule" in action ? [action.rule] : "rules" in action ? [action.rules] : [],
    );
    expect(rules).toEqual([toWeb, [toWeb]]);
    expect(plan.changes[0]?.fields).toMatchObject([{ verb: "point at the new group" }]);
  });

  it("does not remember the rule that falls", () => {
    const learnt = plan.bookkeeping.flatMap((one) =>
      "record" in one && one.record?.kind === "group" ? one.record : [],
    );
    expect(learnt.flatMap(({ address, rules }) => [address, ...rules])).not.toContainEqual(old);
    expect(learnt).toHaveLength(1);
  });
});

describe("a rule that nobody declares, and that names a group which is replaced on request", () => {
  const from = (port: number) => ({
    ...{ id: `r-${port}`, direction: "ingress", ethertype: "IPv4", protocol: "tcp", portMin: port, portMax: port },
    remoteGroupId: idOf("group.web"),
  });
  const shared = { ...web, rulesMode: "additive", now: { rules: [from(99)] } } as const;
  const leaving = (ignoreChanges: readonly string[]) => ({ ...web, lifecycle: { ...web.lifecycle, ignoreChanges } });
  const keeping = { lifecycle: { ...web.lifecycle, onRuleRemoval: "keep" } } as const;
  const other = { ...group("db"), rulesMode: "additive", now: { rules: [from(98)] } } as const;
  const kept = { limits: { named_groups: "kept" } } as const;
  const own = "point at the new group ingress tcp 99 from group.web";
  const theirs = "point at the new group ingress tcp 98 from group.web";
  const adds = ["web add 99 from group.web", "db add 98 from group.web"];
  it.each<[what: string, world: World, told: readonly string[], sent: readonly string[]]>([
    ["names the new one", { applied: [{ ...shared, rules: [] }, other] }, [theirs, own], adds],
    [
      "also where the rules are ignored",
      { applied: [{ ...leaving(["rules"]), now: { rules: [from(99)] } }, other] },
      [theirs, own],
      adds,
    ],
    [
      "and goes first where a group that is named is kept",
      { applied: [{ ...shared, rules: [] }, other], missing: [], ...kept },
      [theirs, own],
      [...adds, "db remove r-98"],
    ],
    [
      "and stays where it cannot go",
      { applied: [{ ...shared, rules: [] }, other], ...kept },
      ["add rule ingress tcp 98 from group.web", "add rule ingress tcp 99 from group.web"],
      adds,
    ],
    [
      "and goes with the old one where the file says all of them",
      { applied: [{ ...web, rules: [], now: { rules: [from(99)] } }, other] },
      [theirs, "falls with the group it names ingress tcp 99 from group.web"],
      adds.slice(1),
    ],
    [
      "and is not taken along where it was only left for want of a call",
      { applied: [{ ...web, ...keeping, now: { rules: [from(443), from(99)] } }], ...kept },
      ["add rule ingress tcp 443 from anywhere (IPv4)", "add rule ingress tcp 80 from anywhere (IPv4)"].concat(
        [443, 99].map((port) => `remove rule ingress tcp ${port} from group.web`),
      ),
      [],
    ],
  ])("%s", (_, world, told, sent) => {
    const plan = planFor({ desired: world.applied ?? [], options: { replace: ["group.web"] }, ...world });
    expect(plan.changes.flatMap(({ fields }) => fields.map((one) => `${one.verb} ${one.after ?? one.before}`))).toEqual(
      told,
    );
    expect(plan.changes.at(-1)).toMatchObject({ address: "group.web" });
    const steps = plan.steps.flatMap(({ address, action }) =>
      action.operation === "group.rule.create"
        ? [`${address.slice(6)} add ${describeRule(action.rule).slice(12)}`]
        : action.operation === "group.rule.delete"
          ? [`${address.slice(6)} remove ${action.ruleId}`]
          : [],
    );
    expect(steps.sort()).toEqual([...sent].sort());
    const made = plan.steps.find(({ id }) => id === "group.web/create")?.action;
    expect(JSON.stringify(made)).not.toContain(idOf("group.web"));
  });
  it("is told to go with a group that is deleted, and not as something that the service has lost", () => {
    const { changes } = planFor({ applied: [web, other], desired: [other] });
    expect(changes.map(({ address, because }) => `${address}: ${because}`)).toEqual([
      "group.db: a group that its rules name goes",
      "group.web: it is no longer declared",
    ]);
  });
});

describe("a replacement whose create was made and not recorded", () => {
  const webRule = { direction: "ingress", ethertype: "IPv4", protocol: "tcp", portMin: 443, portMax: 443 };
  const successor = { kind: "group", id: "id-new", name: "web", rules: [{ id: "r-new", ...webRule }] } as const;
  const intent: Intent = {
    ...{ step: "group.web/create", address: "group.web", operation: "group.create", name: "web" },
    ...{ sentAt: "2026-01-02T03:04:05Z", idsBefore: [], accepted: true },
  };
  const sent = { kind: "group", address: "group.web", name: "web" } as const;
  const aside = { name: asideName("web", idOf("group.web")) };
  const other = {
    ...group("db"),
    rulesMode: "additive",
    now: { rules: [{ ...webRule, id: "r-98", portMin: 98, portMax: 98, remoteGroupId: idOf("group.web") }] },
  } as const;
  it("is recorded before it is renamed aside, where it is to be replaced as well", () => {
    const plan = planFor({
      desired: [{ ...web, rules: [rule(80)] }],
      strangers: [successor],
      intents: [{ ...intent, record: { ...sent, rules: [rule(443)], platformRules: [], preventDestroy: false } }],
      missing: ["group.rule.delete"],
    });
    expect(order(plan).slice(0, 3)).toEqual(["web/import", "web/aside after web/import", "web/create after web/aside"]);
    expect(plan.steps[0]?.action).toMatchObject({ changes: [{ record: { id: "id-new", name: "web" } }, {}] });
  });
  it("is recorded before both are deleted, where the block is gone", () => {
    const world = { applied: [{ ...web, now: aside, memory: aside }], strangers: [successor], intents: [intent] };
    const plan = planFor({ ...world, missing: [] });
    expect(order(plan)).toEqual([
      "web/import",
      "web/retire after web/import",
      "web/delete after web/import, web/retire",
    ]);
    const retired = [{ id: idOf("group.web"), ...aside }];
    expect(plan.steps[0]?.action).toMatchObject({ changes: [{ record: { id: "id-new", retired } }, { intent: null }] });
  });
  it.each([
    ["a declared rule", db],
    ["one of others", other],
  ])("%s that names the old one names the new one, and its group stays", (_, namer) => {
    const plan = planFor({
      applied: [{ ...web, now: aside, memory: aside }, namer],
      desired: [webWithout80, namer],
      strangers: [successor],
      intents: [intent],
      missing: ["group.rule.delete"],
    });
    expect(order(plan)).toEqual([
      "web/import",
      "db/rule-0 after web/import",
      "web/retire after db/rule-0, web/import",
      "db/verify-web/retire after db/rule-0 (end), web/retire",
    ]);
  });
});

describe("a rule that nobody declares, names its own group, and was yet to add when a replacement was cut off", () => {
  const others = rule(99, { remote: naming("group.web") });
  const live = { direction: "ingress", ethertype: "IPv4", protocol: "tcp", portMin: 99, portMax: 99 } as const;
  const shared = { ...web, rulesMode: "additive" } as const;
  const owing = { left: [others], retired: [{ id: "old", name: "web-old-x" }] };
  const adds = ["web/rule-0", "web/retire after web/rule-0"];
  it("is remembered from the create on, by the address of the group", () => {
    const now = { rules: [{ ...live, id: "r-99", remoteGroupId: idOf("group.web") }] };
    const plan = planFor({ applied: [{ ...shared, now }], desired: [shared], options: { replace: ["group.web"] } });
    expect(plan.steps.find(({ id }) => id === "group.web/create")?.record).toMatchObject({ left: [others] });
  });
  it.each<[what: string, world: World, steps: readonly string[], left: readonly Rule[] | undefined]>([
    ["is added", { applied: [{ ...shared, memory: owing }], desired: [shared] }, adds, [others]],
    [
      "is not, where it is there by now",
      {
        applied: [
          {
            ...shared,
            memory: { left: owing.left },
            now: { rules: [{ ...live, id: "r", remoteGroupId: idOf("group.web") }] },
          },
        ],
        desired: [{ ...shared, rules: [] }],
      },
      [],
      [{ ...others, remote: { kind: "group", group: { id: idOf("group.web") } } }],
    ],
    [
      "is not, where the file says all of them by now",
      { applied: [{ ...shared, memory: owing }], desired: [web] },
      ["web/retire"],
      undefined,
    ],
    [
      "is not, where it names a group that nobody knows",
      {
        applied: [{ ...shared, memory: { ...owing, left: [rule(99, { remote: naming("group.lost") })] } }],
        desired: [shared],
      },
      ["web/retire"],
      undefined,
    ],
  ])("%s", (_, world, steps, left) => {
    const plan = planFor(world);
    expect(order(plan)).toEqual(steps);
    const learnt = plan.bookkeeping.flatMap((one) =>
      "record" in one && one.record?.kind === "group" ? [one.record] : [],
    );
    const kept = learnt[0] ?? { left: owing.left };
    expect(kept.left).toEqual(left);
  });
  it("is told as what an interrupted run left, also where its create was not recorded", () => {
    const record = { kind: "group", address: "group.web", name: "web", rules: shared.rules } as const;
    const plan = planFor({
      applied: [{ ...shared, now: { name: "web-old-x" }, memory: { name: "web-old-x" } }],
      desired: [shared],
      strangers: [
        {
          kind: "group",
          id: "id-new",
          name: "web",
          rules: [443, 80].map((port) => ({ ...live, id: `r-${port}`, portMin: port, portMax: port })),
        },
      ],
      intents: [
        {
          ...{ step: "group.web/create", address: "group.web", operation: "group.create", name: "web" },
          ...{ sentAt: "2026-01-02T03:04:05Z", idsBefore: [], accepted: true },
          record: { ...record, platformRules: [], preventDestroy: false, left: [others] },
        },
      ],
      missing: ["group.rule.delete"],
    });
    expect(order(plan)).toEqual([
      "web/import",
      "web/rule-0 after web/import",
      "web/retire after web/import, web/rule-0",
    ]);
    expect(plan.steps[0]?.action).toMatchObject({ changes: [{ record: { id: "id-new", left: [others] } }, {}] });
    expect(planFor({ applied: [{ ...shared, memory: owing }], desired: [shared] }).changes[0]?.reason).toBe(
      "interrupted",
    );
  });
});

describe("a rule that the service has left, and that names a group which a replacement deleted", () => {
  const rules = [
    { id: "r-0", direction: "ingress", ethertype: "IPv4", protocol: "tcp", portMin: 443, portMax: 443 },
    { id: "r-1", direction: "ingress", ethertype: "IPv4", protocol: "tcp", portMin: 9, portMax: 9, remoteGroupId: "x" },
  ];
  const front = { ...group("front", { rules: [rule(443)] }), now: { rules } };
  const replaced = { ...db, memory: { buried: ["w", "x"] } };
  const summary = "group.front keeps a rule that names a group which is not there any more";
  const idle = { code: "plan/rule-idle", severity: "note", address: "group.front", summary };

  it("stays, and is told: to replace its group for it would leave the next one", () => {
    const { steps, diagnostics } = planFor({ applied: [front, web, replaced], desired: [front, web, db] });
    expect(steps).toEqual([]);
    expect(diagnostics).toContainEqual(expect.objectContaining(idle));
  });

  it("is deleted where the service deletes single rules", () => {
    const { steps } = planFor({ applied: [front, web, replaced], desired: [front, web, db], missing: [] });
    expect(steps.map(({ action }) => action.operation)).toEqual(["group.rule.delete"]);
  });

  it("is like any other where nothing tells what became of the group: it may admit somebody", () => {
    const { changes } = planFor({ applied: [front, web, db], desired: [front, web, db] });
    expect(changes).toMatchObject([{ address: "group.front", action: "replace" }]);
  });
});

/** What a plan opens and closes in groups, in an emulated world: open ports, idle rules and what the plan does to assertions. */
import { describe, expect, it } from "vitest";
import { notLookedAt } from "../../reconciler/core/model/evidence";
import {
  changesExposure,
  countOpenPorts,
  exposureOf,
  opensToWorld,
} from "../../reconciler/kinds/group/exposure/exposure";
import { exposureFindings } from "../../reconciler/kinds/group/exposure/findings";
import { judgeReachability } from "../../reconciler/kinds/group/reachability/findings";
import { exposureText } from "../../reconciler/report/exposure-text";
import { projectOf } from "../support/bench-world";
import { virtualWorld } from "../support/virtual-world";

const rule = (port: number, remote = "10.0.0.0/8", more: object = {}) => ({
  protocol: "tcp",
  dst_port: port,
  remote_ip: remote,
  ...more,
});
const open = "0.0.0.0/0";
const openV6 = "::/0";
const fileOf = (rules: readonly object[], reachability: readonly object[] = []) =>
  projectOf({ groups: { front: { rules } }, ...(reachability.length === 0 ? {} : { reachability }) });

async function planned(
  before: readonly object[] | undefined,
  after: readonly object[],
  reachability: readonly object[] = [],
) {
  const stage = virtualWorld({ with: ["group.rule.delete"] });
  if (before !== undefined) await stage.apply(await stage.plan(fileOf(before)));
  return stage.plan(fileOf(after, reachability));
}

describe("what a plan opens", () => {
  interface Row {
    readonly before?: readonly object[];
    readonly after: readonly object[];
    /** Of the plan alone. */
    readonly findings: readonly string[];
    readonly opens: boolean;
    readonly changes: boolean;
    readonly ports: number;
  }
  it.each<readonly [what: string, row: Row]>([
    ["nothing", { before: [rule(22)], after: [rule(22)], findings: [], opens: false, changes: false, ports: 0 }],
    [
      "a port of a network",
      { before: [rule(80)], after: [rule(80), rule(22)], findings: [], opens: false, changes: true, ports: 0 },
    ],
    [
      "SSH to the world",
      {
        before: [rule(22)],
        after: [rule(22), rule(22, open)],
        findings: ["exposure/open-port: group.front: SSH (tcp 22) is now open to the world over IPv4"],
        opens: true,
        changes: true,
        ports: 0,
      },
    ],
    [
      "SSH to the world over both families",
      {
        before: [],
        after: [rule(22, open), rule(22, openV6)],
        findings: ["exposure/open-port: group.front: SSH (tcp 22) is now open to the world over IPv4 and IPv6"],
        opens: true,
        changes: true,
        ports: 0,
      },
    ],
    [
      "SSH over the other family as well",
      {
        before: [rule(22, open)],
        after: [rule(22, open), rule(22, openV6)],
        findings: ["exposure/open-port: group.front: SSH (tcp 22) is now open to the world over IPv4 and IPv6"],
        opens: true,
        changes: true,
        ports: 1,
      },
    ],
    [
      "SSH over the other family instead",
      {
        before: [rule(22, open)],
        after: [rule(22, openV6)],
        findings: ["exposure/open-port: group.front: SSH (tcp 22) is now open to the world over IPv6"],
        opens: true,
        changes: true,
        ports: 1,
      },
    ],
    [
      "no port that was open before",
      { before: [rule(22, open)], after: [rule(22, open)], findings: [], opens: false, changes: false, ports: 1 },
    ],
    [
      "a port that manages no machine",
      { before: [], after: [rule(8080, open)], findings: [], opens: true, changes: true, ports: 0 },
    ],
    [
      "half the world, and then the other half",
      {
        before: [rule(22, "0.0.0.0/1")],
        after: [rule(22, "0.0.0.0/1"), rule(22, "128.0.0.0/1")],
        findings: ["exposure/open-port: group.front: SSH (tcp 22) is open to the world over IPv4"],
        opens: true,
        changes: true,
        ports: 1,
      },
    ],
    ["a group that is made", { after: [rule(22)], findings: [], opens: false, changes: true, ports: 0 }],
    [
      "what it closes",
      { before: [rule(22), rule(3306, open)], after: [rule(22)], findings: [], opens: false, changes: true, ports: 1 },
    ],
  ])("%s", async (_, { before, after, findings, opens, changes, ports }) => {
    const exposure = exposureOf(await planned(before, after));
    const told = exposureFindings(exposure, { plannedOnly: true }).map(({ code, summary }) => `${code}: ${summary}`);
    if (!findings.some((one) => one.includes("is open"))) expect(told).toEqual(findings);
    const [front] = exposure.groups.filter(({ address }) => address === "group.front");
    expect([
      opensToWorld(exposure).includes("group.front"),
      front !== undefined && changesExposure(front),
      countOpenPorts(exposure),
    ]).toEqual([opens, changes, ports]);
  });

  it("tells what was open before where everything is asked for, with the place in the file", async () => {
    const exposure = exposureOf(await planned([rule(5432, open)], [rule(5432, open)]));
    const source = { file: "reconcile.yaml", line: 3 };
    expect(exposureFindings(exposure, { sourceOf: () => source })).toMatchObject([
      {
        severity: "warning",
        code: "exposure/open-port",
        summary: "group.front: PostgreSQL (tcp 5432) is open to the world over IPv4",
        address: "group.front",
        source,
      },
    ]);
    expect(exposureFindings(exposure)[0]?.source).toBeUndefined();
  });

  it("tells rules for what goes out that restrict nothing", async () => {
    const own = [rule(80, "10.0.0.0/8", { direction: "egress" })];
    const exposure = exposureOf(await planned(own, own));
    const idle = exposureFindings(exposure).filter(({ code }) => code === "exposure/idle-egress");
    expect(idle).toMatchObject([{ address: "group.front", detail: "tcp 80 to 10.0.0.0/8" }]);
    expect(exposureFindings(exposure, { plannedOnly: true })).toEqual([]);
    expect(
      exposureFindings(exposureOf(await planned([], []))).filter(({ code }) => code === "exposure/idle-egress"),
    ).toEqual([]);
  });

  it("looks at the groups alone that it touches, where that is asked for", async () => {
    const still = exposureOf(await planned([rule(22)], [rule(22)]), { touchedOnly: true });
    const touched = exposureOf(await planned([rule(22)], [rule(80)]), { touchedOnly: true });
    expect([
      still.groups.length,
      touched.groups.map(({ address, violations }) => [address, violations?.length === 0]),
    ]).toEqual([0, [["group.front", true]]]);
  });

  it.each<readonly [groups: readonly object[], ports: number | undefined]>([
    [[], 0],
    [[{ unobserved: true }], undefined],
  ])("counts the open ports of %j: %s", (groups, ports) => {
    expect(countOpenPorts({ groups } as never)).toBe(ports);
  });
});

describe("a resource that the plan moves to another address", () => {
  const vm = { owner: "ops@acme.example", user_id: "1042", image_id: "ubuntu-24.04", flavor_id: "m1.small", size: 10 };
  /** Some addresses come after the new ones in the alphabet, and some before. */
  const fileWith = (key: string, rules: readonly object[], more: object = {}) =>
    projectOf({
      vms: { [key]: { ...vm, name: "machine" } },
      groups: {
        [key]: { name: "front", rules },
        back: { rules: [{ protocol: "tcp", dst_port: 5432, remote_group: key }, rule(80, `\${vm.${key}.private_ip}`)] },
      },
      ...more,
    });
  const moves = (from: string, to: string) => ({
    moved: ["vm", "group"].map((kind) => ({ from: `${kind}.${from}`, to: `${kind}.${to}` })),
  });
  it.each([
    ["alpha", "omega"],
    ["omega", "alpha"],
  ])("is what it was before, from %s to %s", async (from, to) => {
    const reachability = [
      { never: { from: "internet", to: `group.${to}`, tcp: 22 } },
      { always: { from: `group.${to}`, to: "group.back", tcp: 5432, direction: "ingress" } },
      { always: { from: `vm.${to}`, to: "group.back", tcp: 80 } },
    ];
    const stage = virtualWorld({ with: ["group.rule.delete"] });
    await stage.apply(await stage.plan(fileWith(from, [rule(443)])));
    const prepared = await stage.plan(fileWith(to, [rule(443), rule(22, open)], { ...moves(from, to), reachability }));
    const exposure = exposureOf(prepared);
    expect(exposure.groups.map(({ address }) => address).sort()).toEqual([`group.${to}`, "group.back"].sort());
    expect([opensToWorld(exposure), exposureFindings(exposure, { plannedOnly: true }).length]).toEqual([
      [`group.${to}`],
      1,
    ]);
    const { verdicts } = judgeReachability(prepared, { today: "2026-01-01" });
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(["violated", "holds", "holds"]);
  });
});

describe("a VM that an assertion names", () => {
  const vms = Object.fromEntries(
    ["web", "other"].map((key) => [
      key,
      { owner: "ops@acme.example", user_id: "1042", image_id: "ubuntu-24.04", flavor_id: "m1.small", size: 10 },
    ]),
  );
  const judged = async (
    admitted: "web" | "other" | "\${vm.web.private_ip}",
    kind: "never" | "always",
    becomes?: "replaced" | "vanished",
  ) => {
    const stage = virtualWorld({ with: ["group.rule.delete"] });
    await stage.apply(await stage.plan(projectOf({ vms })));
    const record = (await stage.state()).resources.get(`vm.${admitted}`);
    const address = record?.kind === "vm" ? record.privateIp : admitted;
    const groups = { front: { rules: [rule(22, address)] } };
    await stage.apply(await stage.plan(projectOf({ vms, groups })));
    const reachability = [{ [kind]: { from: "vm.web", to: "group.front", tcp: 22, ethertype: "IPv4" } }];
    if (becomes === "vanished")
      await stage.client.deleteVm((await stage.state()).resources.get("vm.web")?.id ?? "", undefined);
    const options = {
      replace: becomes === "replaced" ? ["vm.web"] : [],
      recreate: becomes === "vanished" ? ["vm.web"] : [],
      acceptService: true,
    };
    const prepared = await stage.plan(projectOf({ vms, groups, reachability }), options);
    return judgeReachability(prepared, { today: "2026-01-01" }).verdicts.map(({ verdict }) => verdict);
  };
  it.each<readonly [what: string, ...Parameters<typeof judged>, verdict: string]>([
    ["is admitted by its address", "web", "never", undefined, "violated"],
    ["is not admitted by the address of another", "other", "never", undefined, "holds"],
    ["is admitted by its address, as it has to be", "web", "always", undefined, "holds"],
    ["is not admitted by the address of another, as it has to be", "other", "always", undefined, "violated"],
    ["has another address after it is replaced", "other", "never", "replaced", "unproven"],
    ["is not sure to be admitted with another address", "web", "always", "replaced", "unproven"],
    ["has another address after it vanished and is made anew", "other", "never", "vanished", "unproven"],
    ["is not admitted by the address that it had before it vanished", "web", "never", "vanished", "unproven"],
    ["is not sure to be admitted after it vanished", "web", "always", "vanished", "unproven"],
    ["is followed by a rule that names it", "${vm.web.private_ip}", "never", undefined, "violated"],
    ["is not sure to be admitted while it is replaced", "${vm.web.private_ip}", "always", "replaced", "unproven"],
  ])("%s", async (_, admitted, kind, replace, verdict) => {
    expect(await judged(admitted, kind, replace)).toEqual([verdict]);
  });
});

describe("an assertion says of a plan", () => {
  const never = { never: { from: "internet", to: "group.front", tcp: 22 } };
  const always = { always: { from: "10.0.0.0/8", to: "group.front", tcp: 22, ethertype: "IPv4" } };
  const leaves = { always: { from: "group.front", to: "internet", ethertype: "IPv4" } };
  const judged = async (
    before: readonly object[] | undefined,
    after: readonly object[],
    assertion: object,
    about?: "plan" | "looked",
  ) =>
    judgeReachability(await planned(before, after, [assertion]), {
      today: "2026-01-01",
      ...(about === undefined ? {} : { about }),
    });
  const told = ({ findings }: Awaited<ReturnType<typeof judged>>) =>
    findings.map(({ severity, code, detail = "", refused, counterexample }) => [
      `${refused === undefined ? "" : "refused "}${severity} ${code.slice("reachability/".length)}`,
      detail.replace(/ by .*/s, "").replace(/; it .*/s, ""),
      counterexample?.step ?? null,
    ]);
  it.each<readonly [what: string, reason: string, assertion: object, findings: readonly string[]]>([
    ["a never cannot be proved where the service does not show them", "it may not be read", never, ["unproven"]],
    ["an always cannot be proved where the service does not show them", "it may not be read", always, ["unproven"]],
    ["what leaves is asked as well", "it may not be read", leaves, ["unproven"]],
    ["those that are recorded stand for them where nobody looked", notLookedAt.reason, never, []],
    ["the recorded ones are asked where nobody looked", notLookedAt.reason, always, []],
    ["the service's own are among those that are recorded", notLookedAt.reason, leaves, []],
  ])("of rules that were not read: %s", async (_, reason, assertion, findings) => {
    const input = await planned([rule(22)], [rule(22)], [assertion]);
    const { group } = input.live.of;
    const byId = new Map([...group.byId.keys()].map((id) => [id, { seen: "unobserved", reason } as const]));
    const live = { ...input.live, of: { ...input.live.of, group: { ...group, byId } } };
    const found = judgeReachability({ ...input, live }, { today: "2026-01-01" }).findings;
    expect(found.map(({ code }) => code.slice("reachability/".length))).toEqual(findings);
  });

  it.each<readonly [reason: string, said: string]>([
    ["it may not be read", "its rules could not be read; the recorded rules are used"],
    [notLookedAt.reason, "its rules were not looked at; the recorded rules are used"],
  ])("of rules that were not read says why: %s", async (reason, said) => {
    const input = await planned([rule(22, open)], [rule(22, open)], [never]);
    const { group } = input.live.of;
    const byId = new Map([...group.byId.keys()].map((id) => [id, { seen: "unobserved", reason } as const]));
    const unseen = { ...input, live: { ...input.live, of: { ...input.live.of, group: { ...group, byId } } } };
    expect(exposureText(exposureOf(unseen))).toContain(`! ${said}`);
    expect(judgeReachability(unseen, { today: "2026-01-01" }).findings).toMatchObject([
      { detail: expect.stringContaining(`; ${said}`) },
    ]);
  });

  it.each<
    readonly [
      what: string,
      before: readonly object[] | undefined,
      after: readonly object[],
      assertion: object,
      findings: readonly (readonly [string, string | RegExp, string | null | RegExp])[],
    ]
  >([
    ["nothing where it holds", [rule(22)], [rule(22)], never, []],
    [
      "from which step on something is open",
      [rule(22)],
      [rule(22), rule(22, open)],
      never,
      [
        [
          "refused error violated",
          /^tcp 22 from 8\.8\.8\.8 is admitted after step 1 of 1 \(group\.front\/rule-\d\), and after the plan$/,
          /^group\.front\/rule-\d$/,
        ],
      ],
    ],
    [
      "that it was open before and stays so",
      [rule(22, open)],
      [rule(22, open)],
      never,
      [["warning violated", "tcp 22 from 8.8.8.8 is admitted now, and after the plan", null]],
    ],
    [
      "that it ends what was open",
      [rule(22, open)],
      [rule(22)],
      never,
      [["note repaired", "tcp 22 from 8.8.8.8 is admitted now", null]],
    ],
    [
      "from which step on something is closed",
      [rule(22)],
      [rule(80)],
      always,
      [
        [
          "refused error violated",
          /^tcp 22 from 10\.0\.0\.0 is not admitted after step \d of \d \(group\.front\/[\w-]+\), and after the plan$/,
          /^group\.front\//,
        ],
      ],
    ],
    [
      "that it was closed before and stays so",
      [rule(80)],
      [rule(80)],
      always,
      [["warning violated", "tcp 22 from 10.0.0.0 is not admitted now, and not after the plan either", null]],
    ],
    [
      "that it admits what was closed",
      [rule(80)],
      [rule(80), rule(22)],
      always,
      [["note repaired", "tcp 22 from 10.0.0.0 is not admitted now; the plan admits it", null]],
    ],
    [
      "of a group that is made, what it lacks",
      undefined,
      [rule(80)],
      always,
      [["refused error violated", "tcp 22 from 10.0.0.0 is not admitted after the plan", null]],
    ],
  ])("%s", async (_, before, after, assertion, findings) => {
    const expected = findings.map((line) =>
      line.map((one) => (one instanceof RegExp ? expect.stringMatching(one) : one)),
    );
    expect(told(await judged(before, after, assertion))).toEqual(expected);
  });

  it("of a group that vanished and is made anew, that nobody knows yet what the service adds", async () => {
    const leaves = { never: { from: "group.front", to: "internet", direction: "egress" } };
    const stage = virtualWorld({ with: ["group.rule.delete"] });
    const out = rule(443, "10.0.0.0/8", { direction: "egress" });
    await stage.apply(await stage.plan(fileOf([out])));
    await stage.client.deleteGroup((await stage.state()).resources.get("group.front")?.id ?? "");
    const again = { recreate: ["group.front"], acceptService: true };
    const prepared = await stage.plan(fileOf([out], [leaves, always]), again);
    expect(prepared.plan.changes.map(({ action }) => action)).toEqual(["create"]);
    const { findings } = judgeReachability(prepared, { today: "2026-01-01" });
    expect(findings.map(({ severity, code }) => `${severity} ${code}`)).toEqual([
      "note reachability/unproven",
      "warning reachability/violated",
    ]);
  });

  it.each<readonly [what: string, ...Parameters<typeof judged>, words: RegExp]>([
    [
      "that it ends what was open",
      [rule(22, open)],
      [rule(22)],
      never,
      undefined,
      /^tcp 22 from 8\.8\.8\.8 is admitted now by a rule of group\.front .*\{ tcp 22, remote_ip: 0\.0\.0\.0\/0 \}; the plan ends it; /,
    ],
    [
      "that it admits what was closed",
      [rule(80)],
      [rule(80), rule(22)],
      always,
      undefined,
      /^tcp 22 from 10\.0\.0\.0 is not admitted now; the plan admits it by group\.front rules\[\d\] \{ tcp 22, .*\}/,
    ],
    [
      "that it closes what was open",
      [rule(22)],
      [rule(80)],
      always,
      undefined,
      /, and after the plan; it was admitted by a rule of group\.front .*\{ tcp 22, /,
    ],
    [
      "that it admits a group, by the name that the file has",
      [rule(80)],
      [rule(80), { protocol: "tcp", dst_port: 22, remote_group: "front" }],
      { never: { from: "group.front", to: "group.front" } },
      undefined,
      /^tcp 22 from group\.front is admitted after .*\{ tcp 22, remote_group: front \}/,
    ],
  ])("with the rule: %s", async (_, before, after, assertion, about, words) => {
    const { findings } = await judged(before, after, assertion, about);
    expect(findings.map(({ detail }) => detail)).toEqual([expect.stringMatching(words)]);
  });

  it.each<readonly [what: string, from: string, rules: readonly object[], found: RegExp, fix: RegExp]>([
    [
      "a rule names addresses and the assertion a group",
      "group.front",
      [rule(22)],
      /^tcp 22 from group\.front \(IPv4\): a rule admits addresses, /,
      /^name the group in remote_group/,
    ],
    [
      "a rule names a group and the assertion addresses",
      "10.0.0.0/8",
      [{ protocol: "tcp", dst_port: 22, remote_group: "front" }],
      /^tcp 22 from group\.front \(IPv4\): a rule names it, /,
      /^say in the assertion whom the rule names/,
    ],
  ])("that it cannot be proved where %s", async (_, from, rules, found, fix) => {
    const { findings } = await judged(rules, rules, { never: { from, to: "group.front" } });
    expect(findings).toMatchObject([
      { code: "reachability/unproven", detail: expect.stringMatching(found), fix: expect.stringMatching(fix) },
    ]);
  });

  it("that is not planned is broken already, which refuses nothing", async () => {
    expect(told(await judged([rule(22, open)], [rule(22, open)], never, "looked"))).toEqual([
      ["warning violated", "tcp 22 from 8.8.8.8 is admitted now", null],
    ]);
  });

  it("in one word each: what a plan repairs holds", async () => {
    const words = async (...args: Parameters<typeof judged>) =>
      (await judged(...args)).verdicts.map(({ verdict }) => verdict);
    expect([
      await words([rule(22, open)], [rule(22)], never),
      await words([rule(22)], [rule(22, open)], never),
      await words([rule(22)], [rule(22)], never),
    ]).toEqual([["holds"], ["violated"], ["holds"]]);
  });

  it("of what must stay open nothing where everything is deleted", async () => {
    const stage = virtualWorld({ with: ["group.rule.delete"] });
    await stage.apply(await stage.plan(fileOf([rule(22)])));
    const prepared = await stage.plan(fileOf([rule(22)], [always, never]), { destroy: true });
    expect(
      judgeReachability(prepared, { today: "2026-01-01" }).verdicts.map(({ assertion }) => assertion.kind),
    ).toEqual(["never"]);
  });

  it("nothing where the file has none", async () => {
    expect(judgeReachability(await planned([rule(22)], [rule(22)]), { today: "2026-01-01" })).toEqual({
      findings: [],
      verdicts: [],
    });
  });
});

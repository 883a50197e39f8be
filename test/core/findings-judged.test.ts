/** What a reviewer has to see of a plan: what is denied, what --strict refuses, and what two environments share. */
import { describe, expect, it } from "vitest";
import {
  type Finding,
  findingAsDiagnostic,
  isRefused,
  judge,
  type Strictness,
} from "../../reconciler/core/findings/finding";
import { findingsOfPlan, isInPlanText } from "../../reconciler/core/findings/plan-findings";
import { sharedBetween } from "../../reconciler/core/findings/shared-between";
import { asClosed, type Desired, type DesiredResource } from "../../reconciler/core/model/desired";
import { namesRefused } from "../../reconciler/core/plan/names-refused";
import { type UnseenEffect, unseenDiagnostic, unseenTexts } from "../../reconciler/core/plan/unseen";
import { nameProblemBy } from "../../reconciler/dialect/name-problem";
import { originAt } from "../../reconciler/service/origin-at";
import { group, planFor, vm, volume, type World } from "../support/sample-plans";

const lax: Strictness = { deny: [], strict: false };
const finding = (code: Finding["code"], more: Partial<Finding> = {}): Finding => ({
  severity: "warning",
  code,
  summary: "s",
  ...more,
});
const source = { file: "reconcile.yaml", line: 7 };

describe("a finding", () => {
  it.each<[what: string, one: Finding, strictness: Strictness, judged: Partial<Finding>]>([
    ["is as it is where nothing is denied", finding("plan/gone"), lax, {}],
    [
      "is refused by its code",
      finding("plan/gone", { severity: "note" }),
      { ...lax, deny: [{ code: "plan/gone" }] },
      { severity: "error", refused: "denied by --deny plan/gone" },
    ],
    [
      "is refused by a line of the file, which is named",
      finding("plan/gone"),
      { ...lax, deny: [{ code: "plan/gone", source }] },
      { severity: "error", refused: "denied by deny: plan/gone (reconcile.yaml:7)" },
    ],
    [
      "is refused with all",
      finding("plan/gone"),
      { ...lax, deny: [{ code: "*" }] },
      { severity: "error", refused: "denied by --deny *" },
    ],
    [
      "is refused with its family",
      finding("plan/gone"),
      { ...lax, deny: [{ code: "plan/*" }] },
      { severity: "error", refused: "denied by --deny plan/*" },
    ],
    ["is not refused with another family", finding("plan/gone"), { ...lax, deny: [{ code: "config/*" }] }, {}],
    ["is not refused with the beginning of its code", finding("plan/gone"), { ...lax, deny: [{ code: "plan/" }] }, {}],
    ["is not refused with another code", finding("plan/gone"), { ...lax, deny: [{ code: "plan/go" }] }, {}],
    [
      "is refused by the first that denies it",
      finding("plan/gone"),
      { ...lax, deny: [{ code: "config/*" }, { code: "plan/*" }, { code: "*" }] },
      { severity: "error", refused: "denied by --deny plan/*" },
    ],
    [
      "that is refused already stays so for its own reason",
      finding("plan/gone", { refused: "by a policy" }),
      { deny: [{ code: "*" }], strict: true },
      {},
    ],
    [
      "that warns is refused by --strict",
      finding("plan/gone"),
      { deny: [], strict: true },
      { severity: "error", refused: "refused by --strict" },
    ],
    [
      "that only notes is not refused by --strict",
      finding("plan/gone", { severity: "note" }),
      { deny: [], strict: true },
      {},
    ],
    [
      "that is an error is one without --strict",
      finding("plan/gone", { severity: "error" }),
      { deny: [], strict: true },
      {},
    ],
    [
      "that has a consent of its own is not refused by --strict",
      finding("consent/data-loss"),
      { deny: [], strict: true },
      {},
    ],
    [
      "that has a consent of its own is refused where it is denied",
      finding("consent/data-loss"),
      { deny: [{ code: "consent/*" }], strict: true },
      { severity: "error", refused: "denied by --deny consent/*" },
    ],
  ])("%s", (_, one, strictness, judged) => {
    expect(judge([one], strictness)).toEqual([{ ...one, ...judged }]);
    expect(isRefused(judge([one], strictness))).toBe({ ...one, ...judged }.refused !== undefined);
  });
  it("stops a plan where one of several is refused, and none where there is none", () => {
    expect(isRefused([finding("plan/gone"), finding("plan/gone", { refused: "r" })])).toBe(true);
    expect(isRefused([])).toBe(false);
  });
  it.each<[what: string, more: Partial<Finding>, detail: string | undefined]>([
    ["is a diagnostic as it is", {}, undefined],
    ["says why it is refused", { refused: "by a policy" }, "by a policy"],
    ["says why it is refused behind its detail", { detail: "d", refused: "by a policy" }, "d; by a policy"],
    ["says it once", { detail: "this is refused by a policy", refused: "by a policy" }, "this is refused by a policy"],
  ])("%s", (_, more, detail) => {
    const told = findingAsDiagnostic(finding("plan/gone", { counterexample: undefined, ...more }));
    expect(told).toEqual({ severity: "warning", code: "plan/gone", summary: "s", detail });
    expect(Object.keys(told)).not.toContain("counterexample");
  });
  it.each<[code: Finding["code"], refused: string | undefined, isShown: boolean]>([
    ["exposure/open-port" as Finding["code"], undefined, true],
    ["consent/data-loss", undefined, true],
    ["consent/data-loss", "denied", false],
    ["plan/gone", undefined, false],
  ])("%s, refused: %s, is shown by the text of the plan itself: %s", (code, refused, isShown) =>
    expect(isInPlanText(finding(code, refused === undefined ? {} : { refused }))).toBe(isShown),
  );
});

describe("the findings of a plan", () => {
  const web = vm("web");
  const protectedVm = vm("web", { lifecycle: { ...web.lifecycle, preventDestroy: true } });
  const findings = (world: World, strictness = lax) => {
    const plan = planFor(world);
    return findingsOfPlan(
      { plan, diagnostics: plan.diagnostics, more: [finding("plan/gone", { severity: "note", summary: "more" })] },
      strictness,
    ).map((one) => ({
      code: one.code,
      severity: one.severity,
      line: one.source?.line,
      fix: one.fix,
      refused: one.refused,
    }));
  };
  const more = { code: "plan/gone", severity: "note", line: undefined, fix: undefined, refused: undefined };
  it("are what is told beside it, where it asks for nothing", () =>
    expect(findings({ applied: [web], desired: [web] })).toEqual([more]));
  it("are its consents, as warnings at the place of what they are about", () => {
    const rebuilt = vm("web", { image: "00000000-0000-4000-8000-000000000002" });
    expect(findings({ applied: [web], desired: [rebuilt] })).toEqual(
      [
        {
          ...more,
          code: "consent/data-loss",
          severity: "warning",
          line: rebuilt.source.line,
          fix: "--allow-data-loss",
        },
        more,
      ].map((one) => ({ ...one, fix: one.fix === undefined ? undefined : expect.stringContaining(one.fix) })),
    );
  });
  it("has what is protected as an error", () =>
    expect(findings({ applied: [protectedVm] }).map(({ code, severity }) => [code, severity])).toContainEqual([
      "consent/prevent-destroy",
      "error",
    ]));
  it("are judged", () =>
    expect(findings({ applied: [web], desired: [web] }, { deny: [{ code: "*" }], strict: false })).toEqual([
      { ...more, severity: "error", refused: "denied by --deny *" },
    ]));
});

describe("a state of two environments", () => {
  const environment = (location?: string, file = "reconcile.yaml"): Desired =>
    asClosed({
      service: { timing: {} },
      ...(location === undefined ? {} : { state: { location, source: { file, line: 2, column: 1 } } }),
      ...{ resources: [], imports: [], moved: [], removed: [], files: [] },
    });
  it.each<[what: string, one: Desired, other: Desired, isShared: boolean]>([
    ["that is a file", environment("a.json"), environment("./a.json"), true],
    ["that is elsewhere", environment("s3://a/b"), environment("s3://a/b", "x/more.yaml"), true],
    ["that is beside two files", environment("a.json"), environment("a.json", "x/more.yaml"), false],
    ["in two places", environment("a.json"), environment("b.json"), false],
    ["that nobody names", environment(), environment(), false],
    ["that one of them names", environment("a.json"), environment(), false],
  ])("%s", (_, dev, prod, isShared) => {
    const said = sharedBetween(new Map(Object.entries({ dev, prod })), originAt);
    expect(said.map(({ code, summary, source }) => [code, summary, source?.line])).toEqual(
      isShared ? [["config/shared-state", `the state ${dev.state?.location} is named for dev and prod`, 2]] : [],
    );
  });
});

describe("a name in two environments", () => {
  const environment = (resources: readonly DesiredResource[], project?: string, baseUrl?: string): Desired =>
    asClosed({
      service: { timing: {}, ...(baseUrl === undefined ? {} : { baseUrl }) },
      ...(project === undefined ? {} : { project }),
      ...{ resources, imports: [], moved: [], removed: [], files: [] },
    });
  const shared = (one: Desired, other: Desired): string[] =>
    sharedBetween(
      new Map([
        ["dev", one],
        ["prod", other],
      ]),
      originAt,
    ).map(({ code, summary, fix }) => `${code}: ${summary}: ${fix}`);
  const data = volume("data");
  const isShared = [
    'config/shared-name: the volume data is wanted by dev (volume.data) and prod (volume.data): put the environment into the name: name: "${env}-data"',
  ];
  it.each<[what: string, one: Desired, other: Desired, told: readonly string[]]>([
    ["in one project of one service", environment([data]), environment([data]), isShared],
    ["in one project by its name", environment([data], "p", "u"), environment([data], "p", "u"), isShared],
    [
      "by another address",
      environment([volume("a", { name: "data" })]),
      environment([data]),
      [isShared[0]?.replace("dev (volume.data)", "dev (volume.a)") ?? ""],
    ],
    ["in two projects", environment([data], "p"), environment([data], "q"), []],
    [
      "of one service in two spellings",
      environment([data], "p", "https://Cloud.example:443"),
      environment([data], "p", "https://cloud.example/"),
      isShared,
    ],
    [
      "of a for_each, whose block names all instances",
      environment([group("web[a]", { name: "web-a" })]),
      environment([group("web[a]", { name: "web-a" })]),
      [
        "config/shared-name: the security group web-a is wanted by dev (group.web[a]) and prod (group.web[a]): put the environment into the name: write ${env} there beside what stands in it now",
      ],
    ],
    ["at two services", environment([data], "p", "u"), environment([data], "p", "v"), []],
    ["of two kinds", environment([data]), environment([group("data")]), []],
    [
      "of a VM whose own project is another one",
      environment([vm("a")], "p"),
      environment([vm("a", { project: "q" })], "p"),
      [],
    ],
    [
      "of a VM whose own project counts, and not that of its file",
      environment([vm("a", { project: "q" })], "p"),
      environment([vm("a", { project: "q" })], "r"),
      [
        'config/shared-name: the VM a is wanted by dev (vm.a) and prod (vm.a): put the environment into the name: name: "${env}-a"',
      ],
    ],
    [
      "twice in one environment is another matter",
      environment([data, volume("b", { name: "data" })]),
      environment([]),
      [],
    ],
  ])("%s", (_, one, other, told) => expect(shared(one, other)).toEqual(told));
});

describe("a name that the service does not take", () => {
  const refused = (world: World, longest = 3) => {
    const rules = { vm: { longest }, volume: { longest }, group: { longest } };
    return namesRefused(planFor(world).steps, nameProblemBy(rules), () => source).map(
      ({ summary, source: place }) => `${summary} at ${place?.line}`,
    );
  };
  const problem = nameProblemBy({ vm: { longest: 3 } })("vm", "long");
  const said = (address: string) => [`${address}: the name long ${problem} at 7`];
  it.each<[what: string, world: World, told: readonly string[]]>([
    ["of a VM that is made", { desired: [vm("a", { name: "long" })] }, said("vm.a")],
    ["of a VM that is renamed", { applied: [vm("a")], desired: [vm("a", { name: "long" })] }, said("vm.a")],
    ["of a volume that is made", { desired: [volume("a", { name: "long" })] }, said("volume.a")],
    ["of a group that is made", { desired: [group("a", { name: "long" })] }, said("group.a")],
    ["of a group that is renamed", { applied: [group("a")], desired: [group("a", { name: "long" })] }, said("group.a")],
    ["of what stays", { applied: [vm("a", { name: "long" })], desired: [vm("a", { name: "long" })] }, []],
    [
      "of a group whose description alone changes",
      { applied: [group("a", { name: "long" })], desired: [group("a", { name: "long", description: "d" })] },
      [],
    ],
    ["that fits", { desired: [vm("a", { name: "abc" })] }, []],
  ])("%s", (_, world, told) => expect(refused(world)).toEqual(told));
  it("has no rule for another kind", () =>
    expect(
      namesRefused(planFor({ desired: [vm("long")] }).steps, nameProblemBy({ volume: { longest: 1 } }), () => source),
    ).toEqual([]));
});

describe("what was accepted and not seen, in words", () => {
  const effect = (why: UnseenEffect["why"], more: Partial<UnseenEffect> = {}): UnseenEffect => ({
    ...{ address: "vm.a", title: "rename VM a", field: "name", said: "name: b", why },
    ...more,
  });
  const notShown = { unseen: "not-shown", where: "the list" } as const;
  const blind = { unseen: "nobody-can-look", because: "no record has it" } as const;
  it.each<[what: string, one: UnseenEffect, text: string]>([
    ["not shown", effect(notShown), "the service accepted it and does not show it (name: b); looked for in the list"],
    [
      "failed",
      effect({ unseen: "failed", status: "ERROR", where: "the list" }),
      "the service accepted it and shows the failed state ERROR; read from the list",
    ],
    [
      "not looked at",
      effect({ unseen: "not-looked", because: "the run ended" }),
      "the service accepted it, and nobody has seen it yet (name: b): the run ended",
    ],
    [
      "nobody can look",
      effect(blind),
      "the service accepted it, and nobody can see whether it did it (name: b): no record has it",
    ],
  ])("%s", (_, one, text) => {
    expect(unseenTexts([one, one])).toBe(`vm.a: ${text}; vm.a: ${text}`);
    expect(unseenDiagnostic(one)).toMatchObject({
      severity: one.why.unseen === "nobody-can-look" ? "note" : "warning",
      code: one.why.unseen === "nobody-can-look" ? "plan/not-shown" : "apply/not-seen",
      summary: `rename VM a: ${text}`,
      address: "vm.a",
    });
  });
  it.each<[what: string, one: UnseenEffect, fix: RegExp | undefined, detail: RegExp | undefined]>([
    [
      "a reboot that nobody can see: no dialect helps",
      effect(blind, { field: "reboot" }),
      undefined,
      /^The service's console tells\.$/,
    ],
    ["a field that nobody can see: a dialect may help", effect(blind), undefined, /pointer of the dialect/],
    [
      "what nobody looked for is looked for by the next run",
      effect({ unseen: "not-looked", because: "the run was stopped" }, { field: "existence" }),
      /^run the same command again: it looks first$/,
      undefined,
    ],
    [
      "what failed is replaced",
      effect({ unseen: "failed", status: "ERROR", where: "w" }),
      /reconcile apply --replace vm\.a$/,
      undefined,
    ],
    [
      "what was made and is not shown is made again",
      effect(notShown, { field: "existence" }),
      /reconcile apply --recreate vm\.a$/,
      undefined,
    ],
    [
      "a name of a VM is sent again, and a service that keeps another one is left in peace",
      effect(notShown),
      /^run the same command again: .*write the name as the service does, .*ignore_changes: \[name\] \}$/,
      undefined,
    ],
    [
      "a name of what cannot be renamed is written as it shows",
      effect(notShown, { address: "volume.a" }),
      /^write the name as the service shows it, or leave it alone with lifecycle: \{ ignore_changes: \[name\] \}$/,
      undefined,
    ],
    [
      "another field of what cannot be renamed is sent again",
      effect(notShown, { address: "volume.a", field: "size" }),
      /^run the same command again/,
      undefined,
    ],
    [
      "a description may be in the service's own words",
      effect(notShown, { address: "group.a", field: "description" }),
      /write the description as the service does, or leave the description alone with lifecycle: \{ ignore_changes: \[description\] \}$/,
      undefined,
    ],
    [
      "so may rules",
      effect(notShown, { address: "group.a", field: "removed rule" }),
      /write the rules as the service does, or leave the rules alone with lifecycle: \{ ignore_changes: \[rules\] \}$/,
      undefined,
    ],
  ])("%s", (_, one, fix, detail) => {
    const told = unseenDiagnostic(one);
    expect(told.fix).toEqual(fix === undefined ? undefined : expect.stringMatching(fix));
    expect(told.detail).toEqual(detail === undefined ? undefined : expect.stringMatching(detail));
  });
});

/** What a plan is made for, and what it refuses to do: targets and excludes, names, ranges, consents. */
import { describe, expect, it } from "vitest";
import { indexCatalogue, isEntry, resolveEntry } from "../../reconciler/core/canonical/catalogue";
import { cutNames, mayBeCut, nameProblem, sameOwner } from "../../reconciler/core/canonical/names";
import { canonicalLiveRule } from "../../reconciler/core/canonical/rules";
import type { PlanOptions } from "../../reconciler/core/diff/context";
import type { DesiredVolume } from "../../reconciler/core/model/desired";
import type { LiveRule } from "../../reconciler/core/model/live";
import { noGrants } from "../../reconciler/core/plan/consent";
import { PermittedPlan } from "../../reconciler/core/plan/permitted";
import { group, idOf, planFor, rule, told, vm, volume, type World } from "../support/sample-plans";

const onWeb = { attachTo: { address: "vm.web" } };
const named = (key: string) => rule(22, { remote: { kind: "group", group: { address: `group.${key}` } } });
const all = [
  vm("web"),
  vm("db"),
  volume("data", onWeb),
  volume("spare"),
  group("front"),
  group("back", { rules: [named("front")] }),
];
const nothing = { desired: all };

describe("a plan is made for what is named, and for what that stands on", () => {
  it.each<[what: string, world: World, addresses: readonly string[]]>([
    ["a VM alone", { ...nothing, options: { targets: ["vm.web"] } }, ["vm.web"]],
    [
      "a volume, and the VM it hangs on",
      { ...nothing, options: { targets: ["volume.data"] } },
      ["vm.web", "volume.data"],
    ],
    [
      "a group, and the group it names",
      { ...nothing, options: { targets: ["group.back"] } },
      ["group.back", "group.front"],
    ],
    [
      "without a VM, and without what hangs on it",
      { ...nothing, options: { excludes: ["vm.web"] } },
      ["group.back", "group.front", "vm.db", "volume.spare"],
    ],
    [
      "without a group, and without the one that names it",
      { ...nothing, options: { excludes: ["group.front"] } },
      ["vm.db", "vm.web", "volume.data", "volume.spare"],
    ],
    [
      "without a VM, and without what hangs on it and goes",
      { applied: all, desired: [vm("web")], options: { excludes: ["vm.web"] } },
      ["group.back", "group.front", "vm.db", "volume.spare"],
    ],
    [
      "without a VM, and without what hangs on it, where all else is destroyed",
      { applied: all, desired: all, options: { destroy: true, excludes: ["vm.web"] } },
      ["group.back", "group.front", "vm.db", "volume.spare"],
    ],
    [
      "what is named twice is left out",
      { ...nothing, options: { targets: ["volume.data", "volume.spare"], excludes: ["vm.web"] } },
      ["volume.spare"],
    ],
    [
      "instances by their block",
      { desired: [vm("web[a]"), vm("web[b]"), vm("db")], options: { targets: ["vm.web"] } },
      ["vm.web[a]", "vm.web[b]"],
    ],
  ])("%s", (_, world, addresses) => {
    expect(
      planFor(world)
        .changes.map(({ address }) => address)
        .sort(),
    ).toEqual(addresses);
  });

  const each = (count: number) => Array.from({ length: count }, (_, index) => vm(`web[${index}]`));
  const inside = { desired: [vm("web", { address: "shop/vm.web" }), vm("db")] };
  it.each<[what: string, world: World, flag: Partial<PlanOptions>, told: string | undefined]>([
    ["an address", inside, { targets: ["vm.db"] }, undefined],
    ["a component", inside, { targets: ["shop/"] }, undefined],
    ["all instances of a block", { desired: each(2) }, { targets: ["vm.web"] }, undefined],
    [
      "what is only recorded",
      { applied: [volume("old")], desired: [vm("db")] },
      { excludes: ["volume.old"] },
      undefined,
    ],
    [
      "what is declared, and destroyed by now",
      { applied: [vm("db")], desired: [vm("db"), volume("data")] },
      { destroy: true, targets: ["volume.data"] },
      undefined,
    ],
    ["a slip", nothing, { targets: ["vm.wbe"] }, "--target vm.wbe; did you mean vm.web?"],
    ["a key alone", nothing, { targets: ["web"] }, "--target web; did you mean vm.web?"],
    ["a component without its slash", inside, { targets: ["shop"] }, "--target shop; did you mean shop/?"],
    [
      "an instance",
      { desired: each(2) },
      { targets: ["vm.web[7]"] },
      "--target vm.web[7]; vm.web has vm.web[0], vm.web[1]; did you mean vm.web[0]?",
    ],
    [
      "an instance of eight",
      { desired: each(8) },
      { targets: ["vm.web[9]"] },
      "--target vm.web[9]; vm.web has vm.web[0], vm.web[1], vm.web[2], vm.web[3], vm.web[4], vm.web[5], vm.web[6], vm.web[7]; did you mean vm.web[0]?",
    ],
    [
      "an instance of nine",
      { desired: each(9) },
      { targets: ["vm.web[x]"] },
      "--target vm.web[x]; vm.web has vm.web[0], vm.web[1], vm.web[2], vm.web[3], vm.web[4], vm.web[5], vm.web[6] and 2 more; did you mean vm.web[0]?",
    ],
    [
      "a block for what is replaced",
      { desired: each(2) },
      { replace: ["vm.web"] },
      "--replace vm.web; vm.web has vm.web[0], vm.web[1]",
    ],
    ["a component for what is replaced", inside, { replace: ["shop/"] }, "--replace shop/; shop/ has shop/vm.web"],
    [
      "nothing like anything",
      nothing,
      { excludes: ["group.entirely-different"] },
      "--exclude group.entirely-different",
    ],
  ])("%s is known, or an error with the nearest name", (_, world, options, told) => {
    const errors = planFor({ ...world, options }).diagnostics.filter(({ code }) => code === "plan/unknown-address");
    expect(
      errors.map(({ summary, detail, fix }) =>
        [summary.replace(" names nothing that is declared or recorded", ""), detail, fix].filter(Boolean).join("; "),
      ),
    ).toEqual(told === undefined ? [] : [told]);
  });
});

it("as many are told as are named, also where that is more than a call takes arguments", () => {
  const replace = Array.from({ length: 130_000 }, (_, index) => `vm.gone-${index}`);
  expect(planFor({ desired: [], options: { replace } }).diagnostics).toHaveLength(replace.length);
});

it.each<[flags: Partial<PlanOptions>, fix: string | undefined]>([
  [{ targets: ["vm.db"] }, "--target vm.web as well"],
  [{ excludes: ["vm.web"] }, "leave out --replace vm.web, or --exclude vm.web"],
  [{ targets: ["vm.web"] }, undefined],
  [{}, undefined],
])("what is to be replaced and is left out by %j is an error", (flags, fix) => {
  const both = [vm("web"), vm("db")];
  const { diagnostics } = planFor({ applied: both, desired: both, options: { replace: ["vm.web"], ...flags } });
  const told = diagnostics.filter(({ code }) => code === "plan/target-too-narrow");
  expect(told.map((one) => [one.severity, one.fix])).toEqual(fix === undefined ? [] : [["error", fix]]);
});

it("what is to be replaced and depends on what is excluded is an error that names that flag", () => {
  const options = { replace: ["volume.data"], excludes: ["vm.db", "vm.web"], targets: ["volume.data"] };
  const { diagnostics } = planFor({ applied: all, desired: all, options });
  expect(diagnostics.flatMap(({ code, fix }) => (code === "plan/target-too-narrow" ? [fix] : []))).toEqual([
    "leave out --replace volume.data, or --exclude vm.db --exclude vm.web",
  ]);
});

describe("a plan that would go from under what is left out", () => {
  const on = (address: string) => ({ attachTo: { address } });
  const both = [vm("web"), vm("db")];
  const standing = (data: DesiredVolume, more: World = {}): World => ({
    applied: [...both, data],
    desired: [...both, data],
    ...more,
  });
  const data = volume("data", onWeb);
  const instead = "or exclude the VM it is attached to as well";
  const peer = group("peer", { rulesMode: "additive" });
  const byHand: LiveRule = {
    ...{ id: "r-1", direction: "ingress", ethertype: "IPv4", protocol: "tcp" },
    remoteGroupId: idOf("group.front"),
  };
  const following = (rules: object) => ({
    applied: [group("front"), { ...peer, ...rules }],
    desired: [group("front"), peer],
  });
  it("is refused where what it would go from under is left as it is for a record that cannot be read", () => {
    const unread = (key: string) => ({ missing: [], quarantined: [{ address: key, text: "?", problem: "p" }] });
    const told = (world: World) =>
      planFor(world).diagnostics.flatMap(({ code, severity, summary }) =>
        code === "plan/left-alone" && severity === "error" ? [summary] : [],
      );
    const front = group("front");
    const naming = group("both", { rules: [named("front"), named("lost")] });
    expect(
      told({
        applied: [front, naming],
        desired: [front, naming, group("lost")],
        options: { replace: ["group.front"] },
        ...unread("group.lost"),
      }),
    ).toEqual(["group.both is left as it is, and this plan would take away a group that its rules name"]);
    const moving = volume("data", on("vm.lost"));
    expect(
      told({
        applied: [vm("web"), data],
        desired: [vm("web"), moving, vm("lost")],
        options: { replace: ["vm.web"] },
        ...unread("vm.lost"),
      }),
    ).toEqual(["volume.data is left as it is, and this plan would take away the VM it is attached to"]);
  });
  it("is refused where it would stop a VM that is excluded, so that what is to hang elsewhere comes off", () => {
    const told = (flush: DesiredVolume["flush"]) =>
      planFor({
        applied: [vm("web"), vm("db"), volume("data", { ...onWeb, flush })],
        desired: [vm("web"), vm("db"), volume("data", { attachTo: { address: "vm.db" }, flush })],
        options: { excludes: ["vm.web"] },
      }).diagnostics.flatMap(({ code, summary, fix }) => (code === "plan/target-too-narrow" ? [summary, fix] : []));
    expect(told({ via: "stop" })).toEqual([
      "--exclude leaves out vm.web, and this plan would take it down: stop VM vm.web so that its volumes are flushed",
      "leave out --exclude vm.web, or exclude what comes off it as well",
    ]);
    expect(told({ via: "ask" })).toEqual([]);
  });
  it("names a group of which a rule that nobody declares would be lost", () => {
    const told = (rules: object, options: Partial<PlanOptions>) =>
      planFor({
        ...following(rules),
        missing: [],
        options: { targets: ["group.front"], ...options },
      }).diagnostics.flatMap(({ code, fix }) => (code === "plan/target-too-narrow" ? [fix] : []));
    const shown = { now: { rules: [byHand] } };
    const noted = { memory: { left: [canonicalLiveRule(byHand)] }, now: { rules: undefined } };
    for (const rules of [shown, noted]) {
      expect(told(rules, { replace: ["group.front"] })).toEqual(["--target group.peer as well"]);
      expect(told(rules, { destroy: true })).toEqual([]);
    }
    expect(told({ now: { rules: [] } }, { replace: ["group.front"] })).toEqual([]);
  });
  it.each<[what: string, world: World, flags: Partial<PlanOptions>, who: string, fix: string]>([
    ["by the targets", standing(data), { targets: ["vm.web"] }, "the targets leave", "--target volume.data as well"],
    [
      "by --exclude",
      standing(data),
      { excludes: ["volume.data"] },
      "--exclude leaves",
      `leave out --exclude volume.data, ${instead}`,
    ],
    [
      "by --exclude, which is stronger than a target",
      standing(data),
      { targets: ["vm.web", "volume.data"], excludes: ["volume.data"] },
      "--exclude leaves",
      `leave out --exclude volume.data, ${instead}`,
    ],
    [
      "by an --exclude of its block",
      standing(volume("data[a]", onWeb)),
      { excludes: ["vm.none", "volume.data"] },
      "--exclude leaves",
      `leave out --exclude volume.data, ${instead}`,
    ],
    [
      "by an --exclude of what it is to hang on",
      standing(data, { desired: [...both, volume("data", on("vm.db"))] }),
      { excludes: ["vm.db"] },
      "--exclude leaves",
      `leave out --exclude vm.db, ${instead}`,
    ],
  ])("%s names the flag that decides it", (_, world, flags, who, fix) => {
    const { diagnostics } = planFor({ ...world, options: { replace: ["vm.web"], ...flags } });
    const found = diagnostics.filter(({ code }) => code === "plan/target-too-narrow");
    expect(found.map(({ summary, fix: advice }) => [summary.replace(/ out volume.*/, ""), advice])).toEqual([
      [who, fix],
    ]);
  });
});

describe("a flush that a flag confirms", () => {
  it.each<[given: readonly string[], isConfirmed: boolean]>([
    [[], false],
    [["vm.db"], false],
    [["vm.web"], true],
    [["all"], true],
  ])("%j", (confirmFlush, isConfirmed) => {
    const permitted = PermittedPlan.of(planFor({}), { ...noGrants, confirmFlush });
    expect(permitted.isFlushConfirmed("vm.web")).toBe(isConfirmed);
  });
});

describe("a plan asks, warns or refuses", () => {
  const tooMany = Array.from({ length: 8 }, (_, index) => volume(`disk-${index}`));
  const guarded = { lifecycle: { preventDestroy: true, ignoreChanges: [] } };
  const saved = vm("web", { lifecycle: { ...vm("web").lifecycle, snapshotBefore: ["delete"] } });
  const source = { file: "f", line: 1 };
  const named2 = (name: string): World => ({
    applied: [vm("web")],
    desired: [vm("web", { name })],
    strangers: [{ kind: "vm", id: "s", name: "taken", status: "ACTIVE", phase: "running" }],
  });
  it.each<[what: string, world: World, says: readonly string[]]>([
    ["an empty file", { applied: [group("front")] }, ["asks empty"]],
    [
      "more than half of what there is",
      { applied: tooMany, desired: tooMany.slice(0, 3) },
      ["asks removal", "asks data_loss"],
    ],
    ["half of it is no more than that", { applied: tooMany, desired: tooMany.slice(0, 4) }, ["asks data_loss"]],
    ["the loss of a volume", { applied: [volume("data"), vm("web")], desired: [vm("web")] }, ["asks data_loss"]],
    [
      "the loss of one that is protected",
      { applied: [{ ...volume("data"), memory: { preventDestroy: true } }, vm("web")], desired: [vm("web")] },
      ["asks prevent_destroy", "asks data_loss"],
    ],
    [
      "a destroy of one that the file protects by now, whatever is recorded",
      { applied: [volume("data")], desired: [volume("data", guarded)], options: { destroy: true } },
      ["asks prevent_destroy", "asks data_loss"],
    ],
    [
      "the same, under the address that its record still has",
      {
        applied: [volume("old")],
        desired: [volume("data", guarded)],
        moved: [{ from: "volume.old", to: "volume.data", source }],
        options: { destroy: true },
      },
      ["asks prevent_destroy", "asks data_loss"],
    ],
    [
      "a destroy of what is recorded as protected, and is not in the file by now",
      {
        applied: [{ ...volume("data"), memory: { preventDestroy: true } }],
        desired: [volume("data")],
        options: { destroy: true },
      },
      ["asks prevent_destroy", "asks data_loss"],
    ],
    [
      "a volume that comes off a running VM",
      { applied: [vm("web"), volume("data", onWeb)], desired: [vm("web"), volume("data")] },
      ["asks flush"],
    ],
    [
      "one whose flush is to stop the VM asks nothing",
      {
        applied: [
          { ...vm("web", { power: "stopped" }), now: { phase: "stopped", status: "SHUTOFF" } },
          volume("data", { ...onWeb, flush: { via: "stop" } }),
        ],
        desired: [vm("web", { power: "stopped" }), volume("data", { flush: { via: "stop" } })],
      },
      [],
    ],
    [
      "an empty volume in the place of one that vanished",
      { applied: [{ ...volume("data"), sighted: "gone" }], desired: [volume("data")] },
      ["asks recreate", "warning plan/gone"],
    ],
    ["a name that somebody else has", named2("taken"), ["error plan/name-taken"]],
    ["a name that nobody has", named2("free"), []],
    [
      "two that want each other's names ask nothing",
      { applied: [vm("one"), vm("two")], desired: [vm("one", { name: "two" }), vm("two", { name: "one" })] },
      [],
    ],
    [
      "a VM that is let go before its resize was decided",
      {
        applied: [{ ...vm("web"), now: { phase: "verify_resize" }, memory: { resizing: { to: "m1.large" } } }],
        removed: [{ from: "vm.web", destroy: false, source: vm("web").source }],
      },
      ["warning apply/resize-waits"],
    ],
    [
      "one whose resize others began is theirs",
      {
        applied: [{ ...vm("web"), now: { phase: "verify_resize" } }],
        removed: [{ from: "vm.web", destroy: false, source: vm("web").source }],
      },
      [],
    ],
    [
      "two volumes of one name may be",
      { applied: [volume("data")], desired: [volume("data"), volume("more", { name: "data" })] },
      [],
    ],
  ])("%s", (_, world, says) => {
    const lines = told(planFor(world)).filter((line) => /^(asks|error|warning|note) /.test(line));
    expect([...new Set(lines)]).toEqual(says);
  });

  it("a destroy heeds what the file says of it by now: a snapshot before, and a data volume that stays", () => {
    const onDelete = { snapshot: false, preservedVolumes: "delete", dataVolumeId: "own" } as const;
    const applied = [{ ...vm("web"), memory: { onDelete, dataVolumeId: "own" } }];
    const steps = (desired: World["desired"]) =>
      planFor({ applied, desired, options: { destroy: true } }).steps.map(({ action }) => action.operation);
    expect(steps([saved])).toEqual(["vm.snapshot", ...steps([vm("web")])]);
  });
});

describe("an instance that its block does not have any more", () => {
  const { lifecycle } = vm("web");
  const instance = (address: string, more: Partial<typeof lifecycle> = {}) => ({
    ...vm("web", { name: address.replaceAll(/[^a-z]/g, ""), lifecycle: { ...lifecycle, ...more } }),
    address,
  });
  const kept = { preventDestroy: true, snapshotBefore: ["delete"] } as const;
  it.each<[what: string, before: readonly string[], now: World["desired"], says: readonly string[]]>([
    [
      "is protected as the others are by now",
      ["vm.web[a]", "vm.web[b]", "vm.web[c]"],
      [instance("vm.web[a]", kept), instance("vm.web[b]", kept)],
      ["asks prevent_destroy", "vm.snapshot"],
    ],
    [
      "is so where they differ in what protects nothing",
      ["vm.web[a]", "vm.web[b]", "vm.web[c]"],
      [instance("vm.web[a]", kept), instance("vm.web[b]", { ...kept, onImageChange: "ignore" })],
      ["asks prevent_destroy", "vm.snapshot"],
    ],
    [
      "is so within a component that has no such instance any more",
      ["shop[a]/vm.web", "shop[b]/vm.web"],
      [instance("shop[a]/vm.web", kept)],
      ["asks prevent_destroy", "vm.snapshot"],
    ],
    [
      "is not, where the others are protected each in its own way",
      ["vm.web[a]", "vm.web[b]", "vm.web[c]"],
      [instance("vm.web[a]", kept), instance("vm.web[b]")],
      [],
    ],
    ["is not by another block", ["vm.web[a]", "vm.api[a]"], [instance("vm.api[a]", kept)], []],
  ])("%s", (_, before, now, says) => {
    const plan = planFor({ applied: before.map((address) => instance(address)), desired: now });
    const asked = told(plan).filter((line) => line === "asks prevent_destroy");
    const snapshots = plan.steps
      .map(({ action }) => action.operation)
      .filter((operation) => operation === "vm.snapshot");
    expect([...asked, ...snapshots]).toEqual(says);
  });
});

describe("names and ids of the catalogue", () => {
  const uuid = (n: number) => `00000000-0000-4000-8000-00000000000${n}`;
  const index = indexCatalogue([
    { id: uuid(1), name: "small" },
    { id: uuid(2), name: "large" },
    { id: uuid(3), name: "twice" },
    { id: uuid(4), name: "twice" },
    { id: uuid(5) },
  ]);
  it.each([
    ["a name", "small", "one"],
    ["an id", uuid(2), "one"],
    ["an id without a name", uuid(5), "one"],
    ["a name that two have", "twice", "several"],
    ["a name that none has", "tiny", "none"],
  ])("%s", (_, text, found) => {
    expect([resolveEntry(text, index).found, resolveEntry(text, undefined).found]).toEqual([found, "unlisted"]);
  });

  it.each([
    ["the same text", "x", "x", true],
    ["a name of the entry", "small", uuid(1), true],
    ["a name of the entry in other letters", "SMALL", uuid(1), true],
    ["a name of another", "large", uuid(1), false],
    ["another id", uuid(8), uuid(1), false],
    ["a name that no list has, against an id", "tiny", uuid(1), undefined],
  ])("%s is that entry: %s, %s: %s", (_, shown, id, is) => {
    expect(isEntry(shown, id, index)).toBe(is);
  });

  it.each([
    ["ops@acme.example", "OPS@acme.example ", true],
    ["ops", "ops@acme.example", true],
    ["ops", "dev", false],
    ["ops@acme.example", "dev@acme.example", false],
  ])("%s and %s are one owner, as far as can be told: %s", (one, other, same) => {
    expect([sameOwner(one, other), sameOwner(other, one)]).toEqual([same, same]);
  });

  it.each([
    ["web-1", undefined],
    ["WEB", undefined],
    ["ab", "is 2 characters long; 3 to 50 are allowed"],
    ["x".repeat(50), undefined],
    ["a", "is 1 character long; 3 to 50 are allowed"],
    ["x".repeat(51), "is 51 characters long; 3 to 50 are allowed"],
    ["web_1", 'contains "_"; only a-z, 0-9 and hyphens are allowed'],
  ])("the name %s %s", (name, problem) => {
    expect(nameProblem(name)).toBe(problem);
  });

  it.each([
    ["a-long-name", "a-long-name-1", true],
    ["A-Long-Na", "a-long-name-1", true],
    ["a-long-n", "a-long-name-1", true],
    ["a-long-", "a-long-name-1", false],
    ["a-long-name-1", "a-long-name-1", false],
    ["a-long-nose", "a-long-name-1", false],
    [undefined, "a-long-name-1", false],
  ])("%s may be what a service has left of %s: %s", (shown, name, may) => expect(mayBeCut(shown, name)).toBe(may));
  it("what a service may have left of a name is all of it from its eighth letter on", () => {
    expect(cutNames("a-long-name")).toEqual(["a-long-n", "a-long-na", "a-long-nam"]);
    expect(cutNames("a-long-n")).toEqual([]);
    expect(cutNames("short")).toEqual([]);
  });
});

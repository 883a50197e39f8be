/** Which blocks look as if their key was renamed, and what the hint says that keeps them. */
import { describe, expect, it } from "vitest";
import { group, planFor, rule, vm, volume, type World } from "../support/sample-plans";

const hints = (world: World): string[] =>
  planFor({ missing: [], ...world }).diagnostics.flatMap(({ code, severity, summary, fix, address }) =>
    code === "plan/renamed-key" ? [`${severity} ${address}: ${summary} => ${fix}`] : [],
  );
const keeps = (...addresses: string[]): string =>
  `lifecycle: { ignore_changes: [name] } on ${addresses.join(", ")}, whose name in the service cannot change, and `;
const alike = (from: string, to: string, before = "") =>
  `warning ${to}: ${from} would be deleted and ${to}, which is alike, created: was the key renamed? => ${before}moved: [ { from: ${from}, to: ${to} } ]   keeps it under its new key`;
const lifecycle = { preventDestroy: false, ignoreChanges: [] };
const source = { file: "reconcile.yaml", line: 1 };

describe("one block that goes and one that comes", () => {
  it.each<[what: string, world: World, hints: readonly string[]]>([
    [
      "alike, under the same name in the service",
      { applied: [volume("old", { name: "data" })], desired: [volume("new", { name: "data" })] },
      [alike("volume.old", "volume.new")],
    ],
    [
      "alike, and the name that follows the key cannot change",
      { applied: [volume("old")], desired: [volume("new")] },
      [alike("volume.old", "volume.new", keeps("volume.new"))],
    ],
    [
      "alike, and the name that follows the key can change",
      { applied: [vm("old")], desired: [vm("new")] },
      [alike("vm.old", "vm.new")],
    ],
    [
      "alike, where the service deletes no volumes and the old one would be left behind",
      {
        applied: [volume("old", { name: "data" })],
        desired: [volume("new", { name: "data" })],
        missing: ["volume.delete"],
      },
      [alike("volume.old", "volume.new").replace("deleted", "left behind")],
    ],
    ["not alike", { applied: [volume("old")], desired: [volume("new", { sizeGb: 5 })] }, []],
    ["of two kinds", { applied: [volume("old")], desired: [vm("new")] }, []],
    ["one that goes alone", { applied: [volume("old")], desired: [] }, []],
    ["one that comes alone", { desired: [volume("new")] }, []],
    [
      "two that go, and one of them or neither is the one",
      { applied: [volume("a"), volume("b")], desired: [volume("new")] },
      [],
    ],
    [
      "two that come, and one of them or neither is the one",
      { applied: [volume("old")], desired: [volume("a"), volume("b")] },
      [],
    ],
    [
      "one that is gone by itself, and is made again",
      { applied: [{ ...volume("old"), sighted: "gone" }], desired: [volume("old"), volume("new")] },
      [],
    ],
    [
      "groups with the same rules, of which one names a group",
      {
        applied: [
          group("peer", { rules: [rule(1)] }),
          group("old", {
            rules: [rule(80), rule(22, { remote: { kind: "group", group: { address: "group.peer" } } })],
          }),
        ],
        desired: [
          group("peer", { rules: [rule(1)] }),
          group("new", {
            rules: [rule(22, { remote: { kind: "group", group: { address: "group.peer" } } }), rule(80)],
          }),
        ],
      },
      [alike("group.old", "group.new")],
    ],
    [
      "groups with other rules",
      { applied: [group("old", { rules: [rule(80)] })], desired: [group("new", { rules: [rule(81)] })] },
      [],
    ],
    ["groups without rules, of which too little is known", { applied: [group("old")], desired: [group("new")] }, []],
    [
      "two pairs of which each is alike",
      { applied: [volume("a", { sizeGb: 1 }), vm("a")], desired: [volume("b", { sizeGb: 1 }), vm("b")] },
      [alike("vm.a", "vm.b"), alike("volume.a", "volume.b", keeps("volume.b"))],
    ],
  ])("%s", (_, world, told) => expect([...hints(world)].sort()).toEqual([...told].sort()));
});

describe("instances of a block", () => {
  const each = (block: string, keys: readonly string[], more: (key: string) => object = () => ({})) =>
    keys.map((key) => volume(`${block}[${key}]`, { name: `n${key}`, ...more(key) }));
  const named = (key: string) => ({ name: key === "0" || key === "x" ? "first" : "second" });
  it.each<[what: string, world: World, hints: readonly string[]]>([
    [
      "whose keys were renamed, in their order",
      { applied: each("a", ["10", "9"], () => ({ name: "n" })), desired: each("a", ["y", "x"], () => ({ name: "n" })) },
      [
        'warning volume.a[x]: the 2 of volume.a would be deleted and 2 of volume.a, which are alike, created: were the keys of its for_each renamed? => moved: [ { from: "volume.a[9]", to: "volume.a[x]" }, { from: "volume.a[10]", to: "volume.a[y]" } ]   keeps them, in this order; change it if another is meant',
      ],
    ],
    [
      "whose keys and names were renamed",
      { applied: each("a", ["0", "1"]), desired: each("a", ["x", "y"]) },
      [
        `warning volume.a[x]: the 2 of volume.a would be deleted and 2 of volume.a, which are alike, created: were the keys of its for_each renamed? => ${keeps("volume.a")}moved: [ { from: "volume.a[0]", to: "volume.a[x]" }, { from: "volume.a[1]", to: "volume.a[y]" } ]   keeps them, in this order; change it if another is meant`,
      ],
    ],
    [
      "whose names stay, each with the key in its place",
      { applied: each("a", ["0", "1"], named), desired: each("a", ["x", "y"], named) },
      [
        'warning volume.a[x]: the 2 of volume.a would be deleted and 2 of volume.a, which are alike, created: were the keys of its for_each renamed? => moved: [ { from: "volume.a[0]", to: "volume.a[x]" }, { from: "volume.a[1]", to: "volume.a[y]" } ]   keeps them, in this order; change it if another is meant',
      ],
    ],
    [
      "whose block was renamed, under the same keys",
      { applied: each("a", ["x", "y"]), desired: each("b", ["x", "y"]) },
      [
        "warning volume.b[x]: the 2 of volume.a would be deleted and 2 of volume.b, which are alike, created: was the key renamed? => moved: [ { from: volume.a, to: volume.b } ]   keeps them under their new key",
      ],
    ],
    [
      "of VMs whose names follow the keys, and can change",
      { applied: [vm("a[0]"), vm("a[1]")], desired: [vm("a[x]"), vm("a[y]")] },
      [
        'warning vm.a[x]: the 2 of vm.a would be deleted and 2 of vm.a, which are alike, created: were the keys of its for_each renamed? => moved: [ { from: "vm.a[0]", to: "vm.a[x]" }, { from: "vm.a[1]", to: "vm.a[y]" } ]   keeps them, in this order; change it if another is meant',
      ],
    ],
    [
      "of which one stays: the block cannot be moved as a whole",
      { applied: each("a", ["x", "y", "z"]), desired: [...each("a", ["z"]), ...each("b", ["x", "y"])] },
      [
        'warning volume.b[x]: the 2 of volume.a would be deleted and 2 of volume.b, which are alike, created: was the key renamed? => moved: [ { from: "volume.a[x]", to: "volume.b[x]" }, { from: "volume.a[y]", to: "volume.b[y]" } ]   keeps them under their new key',
      ],
    ],
    [
      "that differ, of which one stays",
      {
        applied: [volume("a[x]", { name: "n", sizeGb: 1 }), volume("a[y]", { sizeGb: 2 })],
        desired: [volume("b[x]", { name: "n", sizeGb: 1 }), volume("a[y]", { sizeGb: 2 })],
      },
      [
        'warning volume.b[x]: volume.a[x] would be deleted and volume.b[x], which is alike, created: was the key renamed? => moved: [ { from: "volume.a[x]", to: "volume.b[x]" } ]   keeps it under its new key',
      ],
    ],
    [
      "that differ, and go to two blocks",
      {
        applied: [volume("a[x]", { name: "n", sizeGb: 1 }), volume("a[y]", { name: "m", sizeGb: 2 })],
        desired: [volume("b[x]", { name: "n", sizeGb: 1 }), volume("c[y]", { name: "m", sizeGb: 2 })],
      },
      [
        'warning volume.b[x]: volume.a[x] would be deleted and volume.b[x], which is alike, created: was the key renamed? => moved: [ { from: "volume.a[x]", to: "volume.b[x]" } ]   keeps it under its new key',
        'warning volume.c[y]: volume.a[y] would be deleted and volume.c[y], which is alike, created: was the key renamed? => moved: [ { from: "volume.a[y]", to: "volume.c[y]" } ]   keeps it under its new key',
      ],
    ],
    ["of which there are fewer", { applied: each("a", ["0", "1", "2"]), desired: each("a", ["x", "y"]) }, []],
    [
      "of two blocks that come",
      { applied: each("a", ["0", "1"]), desired: [...each("b", ["x"]), ...each("c", ["x"])] },
      [],
    ],
    [
      "of two blocks that go",
      { applied: [...each("b", ["x"]), ...each("c", ["x"])], desired: each("a", ["0", "1"]) },
      [],
    ],
    [
      "that differ, whose block was renamed: one entry for all of them",
      {
        applied: each("a", ["x", "y"], (key) => ({ sizeGb: key === "x" ? 1 : 2 })),
        desired: each("b", ["x", "y"], (key) => ({ sizeGb: key === "x" ? 1 : 2 })),
      },
      [alike("volume.a", "volume.b")],
    ],
    [
      "that differ, whose block and keys were renamed",
      {
        applied: each("a", ["0", "1"], (key) => ({ name: "n", sizeGb: key === "0" ? 1 : 2 })),
        desired: each("b", ["x", "y"], (key) => ({ name: "n", sizeGb: key === "x" ? 1 : 2 })),
      },
      ["x 0", "y 1"].map((pair) => {
        const [to, from] = pair.split(" ");
        return `warning volume.b[${to}]: volume.a[${from}] would be deleted and volume.b[${to}], which is alike, created: was the key renamed? => moved: [ { from: "volume.a[${from}]", to: "volume.b[${to}]" } ]   keeps it under its new key`;
      }),
    ],
  ])("%s", (_, world, told) => expect(hints(world)).toEqual(told));
});

describe("a component", () => {
  const within = (component: string, name?: string) => [
    volume("data", { address: `${component}/volume.data`, ...(name === undefined ? {} : { name }) }),
    vm("web", { address: `${component}/vm.web` }),
  ];
  const renamed = (from: string, to: string, before = "", count = 2) =>
    `warning undefined: all of ${from} would be deleted and ${to}, which has the same ${count} resources, created: was the component's key renamed? => ${before}moved: [ { from: ${from}, to: ${to} } ]   keeps all of it under its new key`;
  it.each<[what: string, world: World, hints: readonly string[]]>([
    [
      "of which all goes, and another with the same in it",
      { applied: within("shop"), desired: within("store") },
      [renamed("shop/", "store/")],
    ],
    [
      "whose volume has another name now",
      { applied: within("shop"), desired: within("store", "store-data") },
      [renamed("shop/", "store/", keeps("store/volume.data"))],
    ],
    [
      "whose VM has another name now, which can change",
      {
        applied: [vm("web", { address: "shop/vm.web" })],
        desired: [vm("web", { address: "store/vm.web", name: "www" })],
      },
      [renamed("shop/", "store/", "", 1)],
    ],
    [
      "with instances, all of which go along",
      {
        applied: [...within("shop[a]"), ...within("shop[b]")],
        desired: [...within("store[a]"), ...within("store[b]")],
      },
      [renamed("shop/", "store/", "", 4)],
    ],
    [
      "with for_each, of which one key was renamed",
      {
        applied: [...within("shop[a]"), ...within("shop[b]")],
        desired: [...within("shop[a]"), ...within("shop[c]")],
      },
      [
        'warning undefined: all of shop[b]/ would be deleted and shop[c]/, which has the same 2 resources, created: was the component\'s key renamed? => moved: [ { from: "shop[b]/", to: "shop[c]/" } ]   keeps all of it under its new key',
      ],
    ],
    [
      "with for_each, of which all keys were renamed: in their order",
      {
        applied: [...within("shop[10]", "data"), ...within("shop[9]", "data")],
        desired: [...within("shop[y]", "data"), ...within("shop[x]", "data")],
      },
      [
        'warning undefined: all of shop[9]/, shop[10]/ would be deleted and shop[x]/, shop[y]/, which have the same 4 resources, created: were the keys of the component\'s for_each renamed? => moved: [ { from: "shop[9]/", to: "shop[x]/" }, { from: "shop[10]/", to: "shop[y]/" } ]   keeps them, in this order; change it if another is meant',
      ],
    ],
    [
      "with four volumes of other names, of which three are named",
      {
        applied: [1, 2, 3, 4].map((n) => volume(`v${n}`, { address: `shop/volume.v${n}` })),
        desired: [1, 2, 3, 4].map((n) => volume(`v${n}`, { address: `store/volume.v${n}`, name: `s${n}` })),
      },
      [renamed("shop/", "store/", `${keeps("store/volume.v1", "store/volume.v2", "store/volume.v3 and 1 more")}`, 4)],
    ],
    [
      "of which something stays: its blocks are looked at one by one",
      {
        applied: [...within("shop"), vm("stays", { address: "shop/vm.stays", flavor: "m2" })],
        desired: [...within("store", "data"), vm("stays", { address: "shop/vm.stays", flavor: "m2" })],
      },
      [alike("shop/vm.web", "store/vm.web"), alike("shop/volume.data", "store/volume.data")],
    ],
    [
      "of which something was there already: its blocks are looked at one by one",
      {
        applied: [...within("shop"), vm("stays", { address: "store/vm.stays", flavor: "m2" })],
        desired: [...within("store", "data"), vm("stays", { address: "store/vm.stays", flavor: "m2" })],
      },
      [alike("shop/vm.web", "store/vm.web"), alike("shop/volume.data", "store/volume.data")],
    ],
    [
      "with something else in it: its blocks are looked at one by one",
      {
        applied: within("shop"),
        desired: [
          volume("data", { address: "store/volume.data", name: "data" }),
          vm("www", { address: "store/vm.www" }),
        ],
      },
      [alike("shop/vm.web", "store/vm.www"), alike("shop/volume.data", "store/volume.data")],
    ],
    [
      "of which two come with the same in them",
      { applied: within("shop"), desired: [...within("a"), ...within("b")] },
      [],
    ],
  ])("%s", (_, world, told) => expect([...hints(world)].sort()).toEqual([...told].sort()));
});

describe("a block that was moved, whose name follows the key", () => {
  const moved = [{ from: "volume.old", to: "volume.new", source }];
  it.each<[what: string, world: World, hints: readonly string[]]>([
    [
      "would be replaced for that alone",
      { applied: [volume("old")], desired: [volume("new")], moved },
      [
        "warning volume.new: volume.new would be replaced by an empty one for its name alone => lifecycle: { ignore_changes: [name] }   keeps it, under the name that it has",
      ],
    ],
    [
      "keeps its name where that is written",
      { applied: [volume("old")], desired: [volume("new", { name: "old" })], moved },
      [],
    ],
    [
      "keeps its name where that is left alone",
      {
        applied: [volume("old")],
        desired: [volume("new", { lifecycle: { ...lifecycle, ignoreChanges: ["name"] } })],
        moved,
      },
      [],
    ],
    [
      "is replaced on request, and not for its name",
      {
        applied: [volume("old")],
        desired: [volume("new", { name: "old" })],
        moved,
        options: { replace: ["volume.new"] },
      },
      [],
    ],
    [
      "is renamed where that can be done",
      { applied: [vm("old")], desired: [vm("new")], moved: [{ from: "vm.old", to: "vm.new", source }] },
      [],
    ],
  ])("%s", (_, world, told) => expect(hints(world)).toEqual(told));
  it("was not moved, and somebody gave it another name: that is meant", () =>
    expect(hints({ applied: [volume("old")], desired: [volume("old", { name: "new" })] })).toEqual([]));
});

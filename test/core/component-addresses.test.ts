import { describe, expect, it } from "vitest";
import {
  blockOf,
  compareAddresses,
  componentOf,
  componentsAround,
  eachKeyProblem,
  formatAddress,
  isComponentPath,
  isMeant,
  kindOf,
  localAddress,
  parseAddress,
  renamed,
} from "../../reconciler/core/model/address";

describe("a for_each key", () => {
  it.each([
    ["", "is empty"],
    ["a b", "holds a bracket, a space or a control character"],
    ["a]", "holds a bracket, a space or a control character"],
    ["a\u202eb", "holds a bracket, a space or a control character"],
    ["a/b.c", undefined],
  ])("%j: %s", (key, problem) => expect(eachKeyProblem(key)).toBe(problem));
});

describe("addresses within components", () => {
  it.each([
    ["vm.web", "", "vm", "web", undefined],
    ["vm.web[a/b]", "", "vm", "web", "a/b"],
    ["shop/vm.web[0]", "shop/", "vm", "web", "0"],
    ["eu[a]/vm.web[0]", "eu[a]/", "vm", "web", "0"],
    ["eu[a/b.c]/in-ner/group.web", "eu[a/b.c]/in-ner/", "group", "web", undefined],
    ["vm/vm.vm", "vm/", "vm", "vm", undefined],
  ])("%s is read and written back", (address, within, kind, key, each) => {
    const parts = parseAddress(address);
    expect(parts).toEqual({ ...(within === "" ? {} : { within }), kind, key, ...(each === undefined ? {} : { each }) });
    expect(parts === undefined ? "" : formatAddress(parts)).toBe(address);
    expect([componentOf(address), kindOf(address)]).toEqual([within, kind]);
    expect(within + localAddress(address)).toBe(address);
  });
  it.each([
    "shop//vm.web",
    "/vm.web",
    "shop/",
    "shop/web",
    "shop[a b]/vm.web",
    "shop[]/vm.web",
    "shop.x/vm.web",
    "shop/vm.web/",
  ])("%s is none", (text) => expect(parseAddress(text)).toBeUndefined());
  it.each([
    ["shop/", true],
    ["eu[a]/inner/", true],
    ["shop", false],
    ["/", false],
    ["eu[a b]/", false],
    ["vm.web", false],
  ])("%s as a component: %s", (text, expected) => expect(isComponentPath(text)).toBe(expected));
  it("stand together by component, behind what is in none", () => {
    const sorted = [
      "group.z",
      "vm.a",
      "eu[2]/vm.a",
      "eu[10]/group.a",
      "eu[10]/vm.a",
      "shop/group.b",
      "shop/vm.a",
      "shop/in/vm.a",
    ];
    expect([...sorted].reverse().sort(compareAddresses)).toEqual(sorted.toSorted(compareAddresses));
    expect(["shop/vm.a", "vm.z", "shop/group.b", "eu[10]/vm.a", "eu[2]/vm.b"].sort(compareAddresses)).toEqual([
      "vm.z",
      "eu[2]/vm.b",
      "eu[10]/vm.a",
      "shop/group.b",
      "shop/vm.a",
    ]);
  });
  it.each([
    ["vm.web[a]", "vm.web", true],
    ["vm.web2", "vm.web", false],
    ["shop/vm.web", "shop/", true],
    ["shop2/vm.web", "shop/", false],
    ["eu[a]/vm.web", "eu/", true],
    ["eu[a]/in/vm.web", "eu[a]/", true],
    ["eu[b]/vm.web", "eu[a]/", false],
    ["eu[a]/vm.web", "eu", false],
    ["eu[a]/in[x]/vm.web", "eu[a]/in/", true],
    ["shop/vm.web[0]", "shop/vm.web", true],
    ["shop/vm.web[0]", "vm.web", false],
  ])("%s is meant by %s: %s", (address, named, expected) => expect(isMeant(address, named)).toBe(expected));
  it.each([
    ["shop/vm.web[0]", "shop/", "store/", "store/vm.web[0]"],
    ["eu[a]/vm.web", "eu/", "asia/", "asia[a]/vm.web"],
    ["eu[a]/in/vm.web", "eu[a]/", "solo/", "solo/in/vm.web"],
    ["vm.web[a]", "vm.web", "vm.site", "vm.site[a]"],
    ["vm.web", "vm.web", "shop/vm.web", "shop/vm.web"],
  ])("%s with %s as %s is %s", (address, from, to, expected) => expect(renamed(address, from, to)).toBe(expected));
  it("know the components around them and their block", () => {
    expect(componentsAround("eu[a]/in/vm.web[0]")).toEqual(["eu[a]/in/", "eu[a]/", "eu/"]);
    expect(blockOf("eu[a]/vm.web[0]")).toBe("eu[a]/vm.web");
    expect(blockOf("eu[a]/vm.web")).toBe("eu[a]/vm.web");
  });
});

import { describe, expect, it } from "vitest";
import { compareAddresses, formatAddress, parseAddress } from "../../reconciler/core/model/address";
import { deepEqual } from "../../reconciler/core/text/deep-equal";
import { nearestName } from "../../reconciler/core/text/nearest";
import { printable, printableLine } from "../../reconciler/core/text/printable";

describe("text of others", () => {
  it.each([
    ["a\u001b[2Jb", "a\\u001b[2Jb", "a\ufffd[2Jb"],
    ["half a pair \ud83d, and \ude00", "half a pair \\ud83d, and \\ude00", "half a pair \ufffd, and \ufffd"],
    ["\ufffe\uffff", "\\ufffe\\uffff", "\ufffd\ufffd"],
    ["a whole pair 😀, 漢字", "a whole pair 😀, 漢字", "a whole pair 😀, 漢字"],
  ])("%j is shown as %j", (text, shown, inPlace) => {
    expect([printable(text), printableLine(text)]).toEqual([shown, inPlace]);
  });
});

describe("deepEqual", () => {
  it.each([
    [{}, { constructor: 1 }, false],
    [{ constructor: 1 }, {}, false],
    [{ a: { toString: 1 } }, { a: {} }, false],
    [{ valueOf: undefined }, {}, true],
    [{}, { valueOf: undefined }, true],
    [{ constructor: [1] }, { constructor: [1] }, true],
  ])("of %o and %o, whatever objects inherit, is %s", (one, other, equal) => {
    expect(deepEqual(one, other)).toBe(equal);
  });
});

describe("nearestName", () => {
  it.each([
    ["projct", ["version", "project", "groups"], "project"],
    ["flavour_id", ["owner", "flavor_id"], "flavor_id"],
    ["flavour", ["owner", "flavor_id", "region"], "flavor_id"],
    ["image", ["name", "image_id", "size"], "image_id"],
    ["wbe", ["db", "web"], "web"],
    ["xyzzy", ["size", "name"], undefined],
    ["siz", ["siza", "size"], "siza"],
  ])("of %s among %o is %s, in whatever order they come", (name, candidates, expected) => {
    expect(nearestName(name, candidates)).toBe(expected);
    expect(nearestName(name, candidates.toReversed())).toBe(expected);
  });
});

describe("addresses", () => {
  it.each(["vm.web", "vm.web[a]", "volume.db-data[10.0.0.1]", "group.a_b[x/y]"])("%s is one", (text) => {
    expect(formatAddress(parseAddress(text)!)).toBe(text);
  });
  it.each([
    "web",
    "vm.",
    "vms.web",
    "vm.web[]",
    "vm.web[a b]",
    "vm.web[a]x",
    "vm.web[\u001b[2J]",
    "vm.web[\u202ea]",
    "vm.w b",
  ])("%j is none", (text) => {
    expect(parseAddress(text)).toBeUndefined();
  });
  it("sort by number where they have one, however long", () => {
    const sorted = ["vm.a[2]", "vm.a[10]", `vm.a[${"9".repeat(400)}]`, `vm.a[1${"0".repeat(400)}]`, "vm.b"];
    expect(sorted.toReversed().sort(compareAddresses)).toEqual(sorted);
  });
});

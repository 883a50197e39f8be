import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { RecordPlace } from "../../reconciler/dialect/dialect";
import {
  compilePointers,
  findAddress,
  findArray,
  findBoolean,
  findId,
  findSeveral,
  findSize,
  findText,
  findWord,
} from "../../reconciler/dialect/pointers";

const server = {
  tags: [
    { key: "env", value: "prod" },
    { key: "Name", value: "web" },
  ],
  addresses: {
    lan: [
      { addr: "10.0.0.5", "OS-EXT-IPS:type": "fixed" },
      { addr: "203.0.113.7", "OS-EXT-IPS:type": "floating" },
    ],
  },
  disks: { "vol-1": { boot: 0 }, "vol-2": { boot: 1 } },
  links: [
    { rel: "self", href: "/vms/1" },
    { rel: "flavor", href: "https://inner/flavors/small" },
  ],
  power: { state: "on" },
  status: "ok",
  running: true,
  attachments: [],
  diskMb: 20480,
};
const paths = (...places: RecordPlace[]) => compilePointers(places);

test.each<[string, string | undefined]>([
  ["10.0.0.5", "10.0.0.5"],
  ["2001:db8::5", "2001:db8::5"],
  ["0.0.0.0", undefined],
  ["::", undefined],
  ["0:0:0:0:0:0:0:0", undefined],
  ["", undefined],
])("the address %j of a record is the address %j", (ip, address) => {
  expect(findAddress({ ip }, compilePointers(["/ip"]))).toEqual(address === undefined ? {} : { address });
});

describe("selectors", () => {
  test.each<[string, RecordPlace, string | null | undefined]>([
    ["by a neighbour's value", { in: "/tags", where: { key: "Name" }, value: "/value" }, "web"],
    ["by one of several", { in: "/tags", where: { key: ["name", "Name"] }, value: "/value" }, "web"],
    ["none fits", { in: "/tags", where: { key: "Owner" }, value: "/value" }, undefined],
    ["none fits, which means none", { in: "/tags", where: { key: "Owner" }, value: "/value", absent: "none" }, null],
    ["not shown", { in: "/labels", where: { key: "Name" }, value: "/value" }, undefined],
    ["a sign for nothing", { value: "/diskMb", none: ["-", 20480] }, null],
    ["another value than the sign", { value: "/status", none: 0 }, "ok"],
    ["a sign for nothing, and nothing there", { value: "/host", none: ["", 0] }, undefined],
    ["a sign for nothing, and a map there", { value: "/power", none: ["", 0] }, undefined],
    ["not shown, which means none", { value: "/host", absent: "none" }, null],
    ["in small letters", { in: "/tags", where: { value: "web" }, value: "/key", case: "lower" }, "name"],
    ["in capitals, without the text around it", { value: "/power/state", cut: "o{value}", case: "upper" }, "N"],
    ["a list that is shown and empty", { in: "/attachments", value: "/server" }, null],
    ["any member", { in: "/addresses/*", where: { "OS-EXT-IPS:type": "floating" }, value: "/addr" }, "203.0.113.7"],
    ["a map by its key", { in: "/disks", keys: "id", where: { boot: 0 }, value: "/id" }, "vol-1"],
    [
      "text around the value",
      { in: "/links", where: { rel: "flavor" }, value: "/href", cut: "*/flavors/{value}" },
      "small",
    ],
    [
      "other text around it",
      { in: "/links", where: { rel: "self" }, value: "/href", cut: "/flavors/{value}" },
      undefined,
    ],
    ["two places joined", { join: ["/status", "/power/state"] }, "ok/on"],
    ["two places joined, without the text around it", { join: ["/status", "/power/state"], cut: "*/{value}" }, "on"],
    ["two places joined, which means none", { join: ["/status", "/power/state"], none: "ok/on" }, null],
  ])("%s", (_, place, expected) => expect(findText(server, paths(place))).toBe(expected));

  test("a map is opened to a list, whatever its members are", () => {
    expect(findArray(server, paths({ in: "/disks", keys: "id" }))).toEqual([
      { id: "vol-1", boot: 0 },
      { id: "vol-2", boot: 1 },
    ]);
    expect(findArray({ m: { a: "x" } }, paths({ in: "/m", keys: "id" }))).toEqual([{ id: "a", value: "x" }]);
  });

  test("items are chosen and unwrapped", () => {
    const body = {
      list: [
        { server: { id: 1 }, kind: "vm" },
        { other: {}, kind: "x" },
      ],
    };
    expect(findArray({ disks: ["a", "b"] }, paths({ value: "/disks" }))).toEqual(["a", "b"]);
    expect(findArray(body, paths({ in: "/list", where: { kind: "vm" }, value: "/server" }))).toEqual([{ id: 1 }]);
  });

  test("true and false by what stands there", () => {
    expect(findBoolean({ boot_index: 0 }, paths({ value: "/boot_index", is: 0 }))).toBe(true);
    expect(findBoolean({ boot_index: 2 }, paths({ value: "/boot_index", is: [0, "0"] }))).toBe(false);
    expect(findBoolean({}, paths({ value: "/boot_index", is: 0 }))).toBeUndefined();
    expect(findBoolean({ device: "/dev/vda" }, paths({ value: "/device", is: "/dev/vda" }))).toBe(true);
  });

  test("sizes in other units", () => {
    expect(findSize(server, paths({ value: "/diskMb", unit: "MB" }))).toBe(20);
    expect(findSize({ size: 21474836480 }, paths({ value: "/size", unit: "B" }))).toBe(20);
    expect(findSize({ size: "20 GiB" }, paths("/size"))).toBe(20);
    expect(findSize({ size: "2T" }, paths("/size"))).toBe(2048);
    expect(findSize({ size: 20 }, paths("/size"))).toBe(20);
  });

  test("a state may be true or false", () => {
    expect(findWord(server, paths("/running"))).toBe("true");
    expect(findWord(server, paths("/running", "/status"))).toBe("ok");
  });

  test("one thing alone stands for a list of one, and an empty list is empty", () => {
    expect(findSeveral({ v: "vol-1" }, paths("/v"))).toEqual(["vol-1"]);
    expect(findSeveral({ v: { id: "vol-1" } }, paths("/v"))).toEqual([{ id: "vol-1" }]);
    expect(findSeveral({ v: [] }, paths("/v"))).toEqual([]);
    expect(findSeveral({}, paths("/v"))).toBeUndefined();
  });

  test("whatever the record, nothing is thrown and no prototype is reached", () => {
    const selectors = paths(
      { in: "/*/a", keys: "__proto__", where: { "/b/c": [1, true] }, value: "/d", cut: "*x{value}y" },
      { in: "/__proto__", value: "/constructor" },
      { join: ["/a", "/*"], absent: "none" },
      { value: "/a", is: [null as never], unit: "TB" },
    );
    fc.assert(
      fc.property(fc.jsonValue(), (record) => {
        for (const find of [findText, findId, findArray, findSeveral, findBoolean, findSize, findWord, findAddress])
          find(record, selectors);
        expect(findText(record, paths({ in: "/__proto__/constructor", value: "/name" }))).toBeUndefined();
      }),
      { numRuns: 500 },
    );
  });
});

test.each([
  ["one alone", { vms: { vm: { id: "a" } } }, [{ id: "a" }]],
  ["several", { vms: { vm: [{ id: "a" }, { id: "b" }] } }, [{ id: "a" }, { id: "b" }]],
  ["none, in an element that is empty", { vms: "" }, []],
  ["none, in one that is null", { vms: null }, []],
  ["an empty text", { vms: { vm: "" } }, []],
  ["nothing of it", { message: "maintenance" }, undefined],
] as const)("a list that was XML shows %s", (_, body, items) => {
  expect(findArray(body, paths({ in: "/vms/vm", absent: "none" }))).toEqual(items);
});

test("a list that may be left out is looked for at the other places as well", () => {
  const places = paths({ in: "/vms", absent: "none" }, "/servers");
  expect(findArray({ servers: [1] }, places)).toEqual([1]);
  expect(findArray({ vms: [2], servers: [1] }, places)).toEqual([2]);
  expect(findArray({ vms: [], servers: [1] }, places)).toEqual([]);
  expect(findArray({}, places)).toEqual([]);
});

test.each([
  ["a list", { _embedded: { vms: [{ id: "a" }] }, _links: {} }, [{ id: "a" }]],
  ["no list of it", { _embedded: {}, _links: {} }, []],
  ["no list at all", { _links: { self: { href: "/vms" } } }, []],
  ["a page that is none", "maintenance", undefined],
] as const)("what HAL embeds is %s", (_, body, items) => {
  expect(findArray(body, paths({ in: "/_embedded/vms", absent: "none" }))).toEqual(items);
});

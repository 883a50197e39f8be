/** What an `undo` wants to be true: the records of then, with how the tool is to behave today. */
import { describe, expect, it } from "vitest";
import { closedWith, type DesiredResource, nothingDesired } from "../../reconciler/core/model/desired";
import type { RecordedResource, RecordedVm } from "../../reconciler/core/model/recorded";
import { desiredBefore } from "../../reconciler/core/plan/undo";
import { group, rule, vm, volume } from "../support/sample-plans";

const web: RecordedVm = {
  kind: "vm",
  address: "vm.web",
  id: "then-web",
  name: "web",
  flavor: "m1.small",
  image: "ubuntu",
  owner: "ops",
  userId: "1042",
  project: "acme",
  region: "in-west-1",
  rootSizeGb: 50,
  sizeGb: 20,
  skipFloatingIp: false,
  power: "running",
  preventDestroy: false,
  onDelete: { snapshot: true, preservedVolumes: "delete" },
};
const data: RecordedResource = {
  kind: "volume",
  address: "volume.data",
  id: "then-data",
  name: "data",
  sizeGb: 100,
  attachedTo: "then-web",
  flush: { via: "ask" },
  preventDestroy: true,
};
const front: RecordedResource = {
  kind: "group",
  address: "group.front",
  id: "then-front",
  name: "front",
  rules: [
    rule(80, { remote: { kind: "group", group: { id: "then-front" } } }),
    rule(81, { remote: { kind: "group", group: { id: "foreign" } } }),
  ],
  platformRules: [],
  preventDestroy: false,
};

const byAddress = (records: readonly RecordedResource[]) => new Map(records.map((one) => [one.address, one]));
const undo = (then: readonly RecordedResource[], declared: readonly DesiredResource[] = [], now = then) =>
  desiredBefore(byAddress(then), byAddress(now), closedWith(nothingDesired, { resources: declared }));
const only = (then: RecordedResource, declared?: DesiredResource, beside: readonly RecordedResource[] = []) =>
  undo([then, ...beside], declared === undefined ? [] : [declared]).desired.resources[0];

const strict = { ...vm("web").lifecycle, preventDestroy: true, ignoreChanges: ["owner"] };

describe("what an undo wants", () => {
  it.each<[what: string, wanted: DesiredResource | undefined, expected: object]>([
    [
      "the fields of then, not of today",
      only(web, vm("web", { flavor: "m1.large", sizeGb: 40 })),
      { flavor: "m1.small", sizeGb: 20 },
    ],
    ["a VM's lifecycle of today", only(web, vm("web", { lifecycle: strict })), { lifecycle: strict }],
    [
      "the lifecycle of then, where the file has the VM no more; a resize is checked as by default",
      only(web),
      {
        lifecycle: {
          preventDestroy: false,
          snapshotBefore: ["delete"],
          preservedVolumes: "delete",
          verifyResize: { confirm: "auto", timeoutMs: 120_000, onFailure: "revert" },
        },
      },
    ],
    [
      "a volume on the VM of then by its address: it may have another id by now",
      only(data, undefined, [web]),
      { attachTo: { address: "vm.web" }, lifecycle: { preventDestroy: true } },
    ],
    ["a volume on a VM that no record had by its id", only(data), { attachTo: { id: "then-web" } }],
    [
      "a volume's flush and lifecycle of today",
      only(data, volume("data", { flush: { via: "stop" }, sizeGb: 7 })),
      { sizeGb: 100, flush: { via: "stop" }, lifecycle: { preventDestroy: false } },
    ],
    ["the flush of then, where the file has the volume no more", only(data), { flush: { via: "ask" } }],
    [
      "rules that name groups of then by their addresses, and others by their ids",
      only(front),
      {
        rules: [
          { remote: { kind: "group", group: { address: "group.front" } } },
          { remote: { kind: "group", group: { id: "foreign" } } },
        ],
      },
    ],
    [
      "a group's rules_mode of today",
      only(front, group("front", { rulesMode: "additive" })),
      { rulesMode: "additive" },
    ],
    [
      "what the file declares of another kind says nothing",
      only(front, vm("front", { address: "group.front" })),
      { kind: "group", rulesMode: "authoritative" },
    ],
  ])("%s", (_, wanted, expected) => {
    expect(wanted).toMatchObject(expected);
  });

  it("a field that no record knew is not compared, beside what the file ignores", () => {
    const { userId: _, ...unknown } = web;
    const wanted = only({ ...unknown }, vm("web", { lifecycle: strict }));
    expect(wanted?.lifecycle.ignoreChanges).toEqual(["owner", "user_id"]);
  });

  it("what is gone and was never known whole cannot be made again, and says how to go on", () => {
    const { userId: _, owner: __, ...unknown } = web;
    const told = (now: readonly RecordedResource[]) =>
      undo([unknown], [], now).diagnostics.map(({ severity, code, summary, fix }) => ({
        severity,
        code,
        summary,
        fix,
      }));
    expect(told([unknown])).toEqual([]);
    expect(told([])).toEqual([
      {
        severity: "error",
        code: "undo/not-known",
        summary: "vm.web cannot be made again: the state never knew its owner, user_id",
        fix: "--exclude vm.web, or declare it in the file and apply that",
      },
    ]);
    expect(undo([web], [], []).diagnostics).toEqual([]);
  });

  it("what was not there then is not wanted, and nothing of the file's imports, moves and removals is", () => {
    const current = closedWith(nothingDesired, {
      resources: [vm("new")],
      moved: [{ from: "vm.a", to: "vm.b", source: { file: "f", line: 1 } }],
    });
    const { desired } = desiredBefore(byAddress([web]), byAddress([web]), current);
    expect(desired.resources.map(({ address }) => address)).toEqual(["vm.web"]);
    expect([desired.imports, desired.moved, desired.removed]).toEqual([[], [], []]);
  });
});

describe("what had another address then", () => {
  const at = (record: RecordedResource, address: string): RecordedResource => ({ ...record, address });
  it.each<[string, readonly RecordedResource[], readonly RecordedResource[], readonly string[]]>([
    ["goes back to it", [data], [at(data, "volume.disk")], ["volume.disk volume.data"]],
    ["stays where it is", [data], [data], []],
    ["stays where the address is taken by now", [data], [at(data, "volume.disk"), { ...data, id: "other" }], []],
    ["is another one", [data], [{ ...at(data, "volume.disk"), id: "other" }], []],
  ])("%s", (_, then, now, moved) => {
    expect(undo(then, [], now).desired.moved.map(({ from, to }) => `${from} ${to}`)).toEqual(moved);
  });
});

/** What an `undo` wants to be true: the records of then, with how the tool is to behave today. */
import { describe, expect, it } from "vitest";
import { closedWith, type DesiredResource, nothingDesired } from "../../reconciler/core/model/desired";
import type { Deed, RecordedResource, RecordedVm } from "../../reconciler/core/model/recorded";
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
type Did = Readonly<Record<string, Deed>>;
const undo = (
  then: readonly RecordedResource[],
  declared: readonly DesiredResource[] = [],
  now = then,
  did: Did = {},
) =>
  desiredBefore(
    { records: byAddress(then), did: new Map(Object.entries(did)) },
    byAddress(now),
    closedWith(nothingDesired, { resources: declared }),
  );
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
      "a group by its own name, where a replacement that was cut off had set it aside",
      only({ ...front, name: "front-old-nfront" }),
      { name: "front" },
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

  it("what was made since and is protected by now is not lost from sight", () => {
    const wish = undo([], [vm("web", { lifecycle: strict })], [web], { "vm:then-web": "made" }).desired;
    expect([wish.resources, wish.leftOut?.resources]).toEqual([[], [expect.objectContaining({ lifecycle: strict })]]);
  });

  it("a field that no record knew is not compared, beside what the file ignores", () => {
    const { userId: _, ...unknown } = web;
    const wanted = only({ ...unknown }, vm("web", { lifecycle: strict }));
    expect(wanted?.lifecycle.ignoreChanges).toEqual(["owner", "user_id"]);
  });

  it("what is gone and was never known whole cannot be made again, and says how to go on", () => {
    const { userId: _, owner: __, ...unknown } = web;
    const told = (now: readonly RecordedResource[]) =>
      undo([unknown], [], now, { "vm:then-web": "deleted" }).diagnostics.map(({ severity, code, summary, fix }) => ({
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
    expect(undo([web], [], [], { "vm:then-web": "deleted" }).diagnostics).toEqual([]);
    // Where no run deleted it, it is looked for, and its absence is an error.
    const { desired, diagnostics } = undo([unknown], [], []);
    expect([desired.imports, diagnostics]).toMatchObject([[{ to: "vm.web", id: "then-web", again: undefined }], []]);
  });

  it("what was not there then is not wanted, and nothing of the file's imports, moves and removals is", () => {
    const current = closedWith(nothingDesired, {
      resources: [vm("new")],
      moved: [{ from: "vm.a", to: "vm.b", source: { file: "f", line: 1 } }],
    });
    const { desired } = desiredBefore({ records: byAddress([web]), did: new Map() }, byAddress([web]), current);
    expect(desired.resources.map(({ address }) => address)).toEqual(["vm.web"]);
    expect([desired.imports, desired.moved, desired.removed]).toEqual([[], [], []]);
  });
});

const at = (record: RecordedResource, address: string, id = record.id): RecordedResource =>
  // The same kind of record, under another address.
  ({ ...record, address, id }) as RecordedResource;

interface Wanted {
  readonly declared?: readonly string[];
  readonly moved?: readonly string[];
  readonly again?: readonly string[];
  readonly letGo?: readonly string[];
  readonly errors?: readonly string[];
}

/** `declared`: the addresses of what is wanted, where they are not those of then. */
const shownOf = ({ desired, diagnostics }: ReturnType<typeof undo>): Required<Wanted> => ({
  declared: desired.resources.map(({ address }) => address),
  moved: desired.moved.map(({ from, to }) => `${from} ${to}`),
  again: desired.imports.map(({ to, id }) => `${to} ${id}`),
  letGo: desired.removed.map(({ from, destroy }) => `${from} ${destroy}`),
  errors: diagnostics.map(({ code, address }) => `${code} ${address}`),
});

describe("whose doing a difference is", () => {
  it.each<[string, { former: readonly RecordedResource[]; now: readonly RecordedResource[]; did?: Did }, Wanted]>([
    ["made by a run: it goes", { former: [], now: [data], did: { "volume:then-data": "made" } }, { declared: [] }],
    [
      "taken over by a run: it is let go",
      { former: [], now: [data], did: { "volume:then-data": "took" } },
      { declared: [], letGo: ["volume.data false"] },
    ],
    ["put there by hand: it stays", { former: [], now: [data] }, { declared: ["volume.data"] }],
    [
      "of another kind with the id of what a run made: it stays",
      { former: [], now: [data], did: { "vm:then-data": "made" } },
      { declared: ["volume.data"] },
    ],
    ["deleted by a run: it is made anew", { former: [data], now: [], did: { "volume:then-data": "deleted" } }, {}],
    ["let go by a run or by hand: it is taken back", { former: [data], now: [] }, { again: ["volume.data then-data"] }],
    [
      "replaced by a run: it is changed back",
      { former: [data], now: [at(data, "volume.data", "new")], did: { "volume:new": "made" } },
      { errors: ["undo/stays volume.data"] },
    ],
    [
      "another one that a run took over: neither becomes the other",
      { former: [data], now: [at(data, "volume.data", "new")], did: { "volume:new": "took" } },
      { errors: ["undo/another volume.data"] },
    ],
    [
      "another one, put there by hand: the same",
      { former: [data], now: [at(data, "volume.data", "new")] },
      { errors: ["undo/another volume.data"] },
    ],
    ["moved: it goes back", { former: [data], now: [at(data, "volume.disk")] }, { moved: ["volume.disk volume.data"] }],
    ["not moved: it stays where it is", { former: [data], now: [data] }, {}],
    [
      "moved, and its address given to what a run made: neither becomes the other",
      {
        former: [data],
        now: [at(data, "volume.disk"), at(data, "volume.data", "new")],
        did: { "volume:new": "made" },
      },
      { errors: ["undo/another volume.data"] },
    ],
    [
      "moved to the address of what a run deleted: both come back",
      {
        former: [data, at(data, "volume.disk", "gone")],
        now: [at(data, "volume.disk")],
        did: { "volume:gone": "deleted" },
      },
      { moved: ["volume.disk volume.data"] },
    ],
    [
      "moved to the address of what was let go: neither becomes the other",
      { former: [data, at(data, "volume.disk", "let-go")], now: [at(data, "volume.disk")] },
      { errors: ["undo/another volume.disk"] },
    ],
    [
      "exchanged: neither becomes the other",
      {
        former: [data, at(data, "volume.disk", "other")],
        now: [at(data, "volume.data", "other"), at(data, "volume.disk")],
      },
      { errors: ["undo/another volume.data", "undo/another volume.disk"] },
    ],
    [
      "exchanged, and both let go since: both are taken back",
      { former: [data, at(data, "volume.disk", "other")], now: [] },
      { again: ["volume.data then-data", "volume.disk other"] },
    ],
  ])("%s", (_, { former, now, did }, wanted) => {
    const nothing = { moved: [], again: [], letGo: [], errors: [] };
    const declared = former.map(({ address }) => address);
    expect(shownOf(undo(former, [], now, did))).toEqual({ declared, ...nothing, ...wanted });
  });

  it("the state tells a VM and a volume of one id apart, also where something hangs on one of them", () => {
    const numbered = [at(web, "vm.web", "7"), { ...data, id: "9", attachedTo: "7" }, at(front, "group.front", "7")];
    const wanted = undo(numbered).desired.resources.find(({ kind }) => kind === "volume");
    expect(wanted).toMatchObject({ attachTo: { address: "vm.web" } });
  });

  it.each<[what: string, then: RecordedResource, now: RecordedResource, did: Did, stays: readonly string[]]>([
    [
      "a VM that a run has replaced",
      web,
      at(web, "vm.web", "new"),
      { "vm:new": "made" },
      ["vm.web was VM web (then-web) with its disks before, and is new now: an undo does not bring that one back"],
    ],
    [
      "a volume that a run has replaced",
      data,
      at(data, "volume.data", "new"),
      { "volume:new": "made" },
      ["volume.data was volume data (then-data, 100 GB) before, and is new now: an undo does not bring that one back"],
    ],
    ["no group, which holds nothing", front, at(front, "group.front", "new"), { "group:new": "made" }, []],
    ["nothing that no run has made", data, data, {}, []],
  ])("said not to come back is %s", (_, then, now, did, stays) => {
    const { diagnostics } = undo([then], [], [now], did);
    expect(diagnostics.map(({ summary }) => summary)).toEqual(stays);
  });

  it("a description that was first declared since is said to stay", () => {
    const described: RecordedResource = { ...front, description: "for customers" };
    const told = (then: RecordedResource, now: RecordedResource) =>
      undo([then], [], [now]).diagnostics.map(({ severity, code, summary }) => [severity, code, summary]);
    expect(told(front, described)).toEqual([
      [
        "warning",
        "undo/stays",
        "group.front keeps its description: none was declared before, and what it was is not known",
      ],
    ]);
    expect([told(described, front), told(described, described), told(front, front)]).toEqual([[], [], []]);
  });
});

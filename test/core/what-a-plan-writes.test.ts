/** What the records become without a request, what an undo says of its plan, and which part of a world a look is for. */
import { describe, expect, it } from "vitest";
import type { Change } from "../../reconciler/core/diff/changes";
import { pairResources } from "../../reconciler/core/diff/pair";
import { asClosed, type Desired, type DesiredResource } from "../../reconciler/core/model/desired";
import type { UnseenWrite } from "../../reconciler/core/model/effect";
import type { Debt } from "../../reconciler/core/model/guest";
import type { Before, Intent, RecordedResource, RecordedVm } from "../../reconciler/core/model/recorded";
import { partAround, widened } from "../../reconciler/core/plan/part";
import { writtenChanges } from "../../reconciler/core/plan/record-patch";
import type { Step } from "../../reconciler/core/plan/step";
import { wayBackPlan } from "../../reconciler/core/plan/undo";
import { emptyState } from "../../reconciler/core/state/fold";
import { group, idOf, planFor, rule, vm, volume, type World } from "../support/sample-plans";

const web = vm("web");
const data = volume("data");
const onWeb = volume("data", { attachTo: { address: "vm.web" } });
const source = { file: "reconcile.yaml", line: 1 };

/** The fields of a VM's record that a plan writes without a step; `as before`: it writes none. */
function vmBecomes(world: World): unknown {
  const one = planFor({ missing: [], ...world }).bookkeeping.find(
    (change) => change.type === "resource" && change.address === "vm.web",
  );
  if (one?.type !== "resource" || one.record?.kind !== "vm") return "as before";
  const { power, privateIp, dataVolumeId, disks, building, resizing } = one.record;
  const { stoppedForFlush, dataVolumeDetached, dataVolumeMoving, deleting } = one.record;
  return JSON.parse(
    JSON.stringify({
      ...{
        power,
        privateIp,
        disks,
        building,
        resizing,
        stoppedForFlush,
        dataVolumeDetached,
        dataVolumeMoving,
        deleting,
      },
      dataVolumeId: dataVolumeId === own ? undefined : dataVolumeId,
    }),
  );
}
const own = `${idOf("vm.web")}-data`;

it("the record of what is gone goes to its new address, for nothing else names the volume that it left behind", () => {
  const { bookkeeping } = planFor({
    missing: [],
    applied: [{ ...web, sighted: "gone" }],
    desired: [vm("www", { name: "web" })],
    moved: [{ from: "vm.web", to: "vm.www", source }],
    strangers: [{ kind: "volume", id: own, name: "own", failed: false, attachedTo: null }],
  });
  const records = bookkeeping.flatMap((one) => (one.type === "resource" ? [[one.address, one.record]] : []));
  expect(records).toMatchObject([
    ["vm.web", null],
    ["vm.www", { address: "vm.www", id: idOf("vm.web"), dataVolumeId: own }],
  ]);
});

describe("a record after a look", () => {
  const running = { phase: "running", status: "ACTIVE" } as const;
  const changing = { phase: "changing", status: "X" } as const;
  const failed = { phase: "failed", status: "ERROR" } as const;
  const of = (memory: Partial<RecordedVm>, now: object = running, wanted = web): World => ({
    applied: [{ ...web, memory, now }],
    desired: [wanted],
  });
  const stays = "as before";
  it.each<[what: string, world: World, becomes: unknown]>([
    ["is built once it runs", of({ building: true }), {}],
    ["is not built while it changes", of({ building: true }, changing), stays],
    ["is not built where it failed", of({ building: true }, failed), stays],
    ["has no resize open once it runs", of({ resizing: { to: web.flavor } }), {}],
    ["has its resize open while it changes", of({ resizing: { to: web.flavor } }, changing), stays],
    [
      "has its resize open while it waits",
      of({ resizing: { to: web.flavor } }, { phase: "verify_resize", status: "VERIFY_RESIZE" }),
      stays,
    ],
    ["has its power while it changes", of({ power: "running" }, changing, vm("web", { power: "stopped" })), stays],
    ["was not stopped for a flush once it runs", of({ stoppedForFlush: true }), {}],
    ["was stopped for a flush while it changes", of({ stoppedForFlush: true }, changing), stays],
    [
      "was not stopped for a flush where the file says its power",
      of(
        { stoppedForFlush: true, power: "stopped" },
        { phase: "stopped", status: "SHUTOFF" },
        vm("web", { power: "stopped" }),
      ),
      { power: "stopped" },
    ],
    [
      "was stopped for a flush where the file leaves its power to others",
      of(
        { stoppedForFlush: true, power: "running" },
        { phase: "stopped", status: "SHUTOFF" },
        vm("web", { power: "running", lifecycle: { ...web.lifecycle, ignoreChanges: ["power"] } }),
      ),
      stays,
    ],
    ["has its data volume on where the VM shows it", of({ dataVolumeDetached: true }), {}],
    [
      "has its data volume off where the VM shows no disks",
      of({ dataVolumeDetached: true }, { ...running, volumes: undefined }),
      stays,
    ],
    ["has no move of its data volume open once it shows it", of({ dataVolumeMoving: "attaching" }), {}],
    ["has no power any more where the file says none, also while it changes", of({ power: "stopped" }, changing), {}],
    ["is not being deleted where it is wanted again", of({ deleting: true }), {}],
    ["has the addresses that show", of({}, { ...running, privateIp: "10.0.0.1" }), { privateIp: "10.0.0.1" }],
    [
      "has the disks that may be its own",
      of({ dataVolumeId: undefined }, { ...running, volumes: [{ id: "b" }, { id: "a" }] }),
      {
        disks: [
          { id: "a", maybeRoot: true },
          { id: "b", maybeRoot: true },
        ],
      },
    ],
    [
      "has the data volume that shows",
      of(
        { dataVolumeId: undefined },
        {
          ...running,
          volumes: [
            { id: "r", root: true },
            { id: "d", root: false },
          ],
        },
      ),
      { dataVolumeId: "d" },
    ],
    [
      "has the disks of before where nobody looked",
      of({ dataVolumeId: undefined, disks: [{ id: "a" }], building: true }, { ...running, volumes: undefined }),
      { disks: [{ id: "a" }] },
    ],
    ["has no power while it changes", of({}, changing, vm("web", { power: "running" })), stays],
    [
      "has no power that is left alone",
      {
        applied: [web],
        desired: [vm("web", { power: "stopped", lifecycle: { ...web.lifecycle, ignoreChanges: ["power"] } })],
      },
      stays,
    ],
    ["has the power that it shows already", of({}, running, vm("web", { power: "running" })), { power: "running" }],
    ["has nothing new of what is replaced", of({ building: true }, running, vm("web", { region: "elsewhere" })), stays],
  ])("of a VM %s", (_, world, expected) => expect(vmBecomes(world)).toEqual(expected));

  const shown = (on: string | null | undefined) => ({ now: { attachedTo: on } });
  const db = vm("db");
  const leftAlone = (address: string) =>
    volume("data", { attachTo: { address }, lifecycle: { ...data.lifecycle, ignoreChanges: ["attach_to"] } });
  const volumeBecomes = (world: World): unknown => {
    const one = planFor({ missing: [], ...world }).bookkeeping.find(
      (change) => change.type === "resource" && change.address === "volume.data",
    );
    if (one?.type !== "resource" || one.record?.kind !== "volume") return "as before";
    const { attachedTo, attaching, detaching, sizeGb, deleting } = one.record;
    return JSON.parse(JSON.stringify({ attachedTo, attaching, detaching, sizeGb, deleting }));
  };
  it.each<[what: string, world: World, becomes: unknown]>([
    ["is as before where it hangs where it did", { applied: [web, onWeb], desired: [web, onWeb] }, "as before"],
    [
      "hangs where the file wants it, once it shows that",
      { applied: [web, { ...data, ...shown(idOf("vm.web")) }], desired: [web, onWeb] },
      { attachedTo: idOf("vm.web"), sizeGb: 100 },
    ],
    [
      "does not hang where somebody else put it",
      { applied: [web, { ...data, ...shown(idOf("vm.web")) }], desired: [web, data] },
      "as before",
    ],
    [
      "hangs where this tool put it, also where the file says nothing of it",
      {
        applied: [web, { ...onWeb, ...shown(idOf("vm.web")) }],
        desired: [web, { ...data, lifecycle: { ...data.lifecycle, ignoreChanges: ["attach_to"] } }],
      },
      "as before",
    ],
    [
      "hangs where somebody else put it and the file says so by now, also where that is left alone",
      { applied: [web, db, { ...onWeb, ...shown(idOf("vm.db")) }], desired: [web, db, leftAlone("vm.db")] },
      { attachedTo: idOf("vm.db"), sizeGb: 100 },
    ],
    [
      "hangs where it was left, where that is left alone and the file says something else",
      { applied: [web, db, { ...onWeb, ...shown(idOf("vm.db")) }], desired: [web, db, leftAlone("vm.web")] },
      "as before",
    ],
    [
      "hangs nowhere once it shows that",
      { applied: [web, { ...onWeb, ...shown(null) }], desired: [web, data] },
      { sizeGb: 100 },
    ],
    [
      "has an attach open until it shows",
      { applied: [web, { ...data, memory: { attaching: idOf("vm.web") } }], desired: [web, onWeb] },
      "as before",
    ],
    [
      "has no attach open where it hangs as wanted",
      {
        applied: [web, { ...data, ...shown(idOf("vm.web")), memory: { attaching: idOf("vm.web") } }],
        desired: [web, onWeb],
      },
      { attachedTo: idOf("vm.web"), sizeGb: 100 },
    ],
    [
      "is not being deleted where it is wanted again",
      { applied: [{ ...data, memory: { deleting: true } }], desired: [data] },
      { sizeGb: 100 },
    ],
    [
      "has its size until the new one shows",
      { applied: [data], desired: [volume("data", { sizeGb: 200 })] },
      "as before",
    ],
    [
      "has the size that shows by now",
      { applied: [{ ...data, now: { sizeGb: 200 } }], desired: [volume("data", { sizeGb: 200 })] },
      { sizeGb: 200 },
    ],
    [
      "has no size that is left alone",
      {
        applied: [data],
        desired: [volume("data", { sizeGb: 200, lifecycle: { preventDestroy: false, ignoreChanges: ["size"] } })],
      },
      "as before",
    ],
  ])("of a volume %s", (_, world, expected) => expect(volumeBecomes(world)).toEqual(expected));

  const unseen: UnseenWrite = { field: "name", value: "front", said: "name: front", since: "2026-01-01T00:00:00Z" };
  const groupBecomes = (world: World): unknown => {
    const one = planFor({ missing: [], ...world }).bookkeeping.find(
      (change) => change.type === "resource" && change.address === "group.front",
    );
    if (one?.type !== "resource" || one.record?.kind !== "group") return "as before";
    const { name, updating, unseen: left, rules } = one.record;
    return JSON.parse(JSON.stringify({ name, updating, unseen: left, rules: rules.length }));
  };
  const front = group("front", { description: "d", rules: [rule(80)] });
  const hidden = { name: undefined, description: undefined };
  const live = (port: number) =>
    ({
      id: `r${port}`,
      direction: "ingress",
      ethertype: "IPv4",
      protocol: "tcp",
      portMin: port,
      portMax: port,
    }) as const;
  const leaves = (ports: readonly number[]) =>
    group("front", {
      description: "d",
      rules: ports.map((port) => rule(port)),
      lifecycle: { ...front.lifecycle, ignoreChanges: ["rules"] },
    });
  it.each<[what: string, world: World, becomes: unknown]>([
    ["is as before", { applied: [front], desired: [front] }, "as before"],
    [
      "has no update open where all shows",
      { applied: [{ ...front, memory: { updating: { name: "front", description: "d" } } }], desired: [front] },
      { name: "front", rules: 1 },
    ],
    [
      "has its update open where its name is still to change",
      { applied: [{ ...front, memory: { updating: { name: "www" } } }], desired: [{ ...front, name: "www" }] },
      "as before",
    ],
    [
      "has no unseen write where it shows",
      { applied: [{ ...front, memory: { unseen: [unseen] } }], desired: [front] },
      { name: "front", rules: 1 },
    ],
    [
      "has an unseen write where nothing shows",
      { applied: [{ ...front, now: hidden, memory: { unseen: [unseen] } }], desired: [front] },
      "as before",
    ],
    [
      "has the rule that shows already",
      { applied: [{ ...front, memory: { rules: [] } }], desired: [front] },
      { name: "front", rules: 1 },
    ],
    [
      "has a rule that is left alone, once the file says it and it shows",
      { applied: [{ ...front, now: { rules: [live(80), live(22)] } }], desired: [leaves([80, 22])] },
      { name: "front", rules: 2 },
    ],
    [
      "has no rule that is left alone and does not show",
      { applied: [{ ...front, now: { rules: [live(80)] } }], desired: [leaves([80, 22])] },
      "as before",
    ],
    [
      "has the rule that is left alone and does not show, while the file says it",
      { applied: [{ ...front, now: { rules: [] } }], desired: [leaves([80])] },
      "as before",
    ],
    [
      "has no rule any more that is left alone, does not show and is not in the file",
      { applied: [{ ...front, now: { rules: [] } }], desired: [leaves([])] },
      { name: "front", rules: 0 },
    ],
    [
      "has no rule that is still to be made",
      { applied: [group("front", { description: "d" })], desired: [front] },
      "as before",
    ],
  ])("of a group %s", (_, world, expected) => expect(groupBecomes(world)).toEqual(expected));

  it("of a neighbour has the rule that names a group which is replaced, until it is gone", () => {
    const peer = group("peer", { rules: [rule(22, { remote: { kind: "group", group: { address: "group.front" } } })] });
    const { bookkeeping, steps } = planFor({
      applied: [front, peer],
      desired: [front, peer],
      options: { replace: ["group.front"] },
    });
    expect(steps.map(({ id }) => id)).toContain("group.peer/verify-group.front/retire");
    expect(bookkeeping).not.toContainEqual(expect.objectContaining({ address: "group.peer" }));
  });

  it("of a group that is taken over has the rules that show, where the file leaves them alone", () => {
    const { steps } = planFor({
      desired: [leaves([80, 22])],
      strangers: [{ kind: "group", id: "s", name: "front", description: "d", rules: [live(443), live(22)] }],
      imports: [{ to: "group.front", id: "s", source }],
    });
    const written = steps.flatMap(({ action }) => (action.operation === "record" ? action.changes : []));
    expect(written[0]).toMatchObject({ record: { rules: [rule(22)] } });
  });
});

describe("what a step writes of what is owed and not seen", () => {
  const debt = (command: Debt["command"], reason: Debt["reason"] = "created"): Debt => ({
    command,
    reason,
    since: "1",
  });
  const record = (more: object): RecordedResource =>
    ({
      kind: "vm",
      address: "vm.web",
      id: "v",
      name: "web",
      preventDestroy: false,
      onDelete: {},
      ...more,
    }) as unknown as RecordedVm;
  const after = (before: object, patch: object): unknown => {
    const [one] = writtenChanges(
      [{ type: "patch", address: "vm.web", ...patch }],
      new Map([["vm.web", record(before)]]),
    );
    if (one?.type !== "resource") return "nothing";
    return Object.fromEntries(
      Object.entries(one.record ?? {}).filter(([key]) => ["owes", "unseen", "power"].includes(key)),
    );
  };
  const write = (value: string): UnseenWrite => ({ field: "name", value, said: value, since: "1" });
  it.each<[what: string, before: object, patch: object, after: unknown]>([
    ["a debt more", {}, { owes: { added: [debt("after_ready")] } }, { owes: [debt("after_ready")] }],
    ["a debt that is paid", { owes: [debt("after_ready")] }, { owes: { paid: ["after_ready"] } }, {}],
    [
      "one of two that is paid",
      { owes: [debt("after_ready"), debt("after_attach")] },
      { owes: { paid: ["after_ready"] } },
      { owes: [debt("after_attach")] },
    ],
    [
      "a debt that is put back as it was",
      { owes: [debt("after_ready", "created")] },
      { owes: { paid: ["after_ready"], added: [debt("after_ready", "asked")] } },
      { owes: [debt("after_ready", "asked")] },
    ],
    ["no debts", { owes: [debt("after_ready")] }, { owes: {} }, { owes: [debt("after_ready")] }],
    ["a write that was not seen", {}, { unseen: { added: [write("a")] } }, { unseen: [write("a")] }],
    [
      "a later write in the place of an earlier one",
      { unseen: [write("a")] },
      { unseen: { added: [write("b")] } },
      { unseen: [write("b")] },
    ],
    ["a write that was seen", { unseen: [write("a")] }, { unseen: { settled: ["name"] } }, {}],
    [
      "another write than the one that was seen",
      { unseen: [write("a")] },
      { unseen: { settled: ["description"] } },
      { unseen: [write("a")] },
    ],
    ["a field", {}, { fields: { power: "stopped" } }, { power: "stopped" }],
    ["a field that is no more", { power: "stopped" }, { fields: { power: undefined } }, {}],
    ["what is of the id that the record has", {}, { of: "v", fields: { power: "stopped" } }, { power: "stopped" }],
    ["nothing of another id", {}, { of: "w", fields: { power: "stopped" } }, "nothing"],
  ])("%s", (_, before, patch, expected) => expect(after(before, patch)).toEqual(expected));
  it("nothing of a record that is not there, also where it went just before", () => {
    const patch = { type: "patch", address: "vm.web", fields: {} } as const;
    expect(writtenChanges([patch], new Map())).toEqual([]);
    const there = new Map([["vm.web", record({})]]);
    expect(writtenChanges([{ type: "forgotten", address: "vm.web" }, patch], there)).toEqual([
      { type: "resource", address: "vm.web", record: null },
    ]);
  });
});

describe("the plan of an undo", () => {
  const recorded = (one: DesiredResource): RecordedResource =>
    one.kind === "volume"
      ? {
          kind: "volume",
          address: one.address,
          id: `then ${one.address}`,
          name: one.name,
          sizeGb: one.sizeGb,
          flush: one.flush,
          preventDestroy: false,
        }
      : ({
          kind: one.kind,
          address: one.address,
          id: `then ${one.address}`,
          name: one.name,
          rules: [],
          platformRules: [],
          preventDestroy: false,
        } as unknown as RecordedResource);
  const heldThen = (...records: readonly RecordedResource[]): Before => ({
    records: new Map(records.map((one) => [one.address, one])),
    did: new Map(),
  });
  const undo = (world: World, then: Before) =>
    wayBackPlan(planFor({ missing: [], ...world }), { before: then, run: "r1", stays: [] });
  const reasons = (world: World) => undo(world, heldThen()).changes.map((one) => [one.because, one.source]);
  it.each<[what: string, world: World, because: string]>([
    ["what a run changed", { applied: [data], desired: [volume("data", { sizeGb: 200 })] }, "undoes run r1: size"],
    ["what a run made", { applied: [data, web], desired: [web] }, "undoes run r1"],
    [
      "what a run made, where the service cannot delete it,",
      { applied: [data, web], desired: [web], missing: ["volume.delete"] },
      "undoes run r1",
    ],
    ["what a run deleted", { desired: [group("front")] }, "undoes run r1: name"],
    [
      "what a run took over",
      { applied: [data], removed: [{ from: "volume.data", destroy: false, source }] },
      "it was there before run r1 or a later one took it over",
    ],
    [
      "what is taken over again",
      {
        desired: [data],
        strangers: [{ kind: "volume", id: "s", name: "data", sizeGb: 100, failed: false }],
        imports: [{ to: "volume.data", id: "s", source }],
      },
      "undoes run r1",
    ],
  ])("says of %s that it does", (_, world, because) => expect(reasons(world)[0]?.[0]).toBe(because));
  it("says of what was not of the run why it is changed, and where that stands", () => {
    const drifted = { applied: [{ ...data, now: { sizeGb: 50 } }], desired: [data] };
    expect(reasons(drifted)).toEqual(
      planFor({ missing: [], ...drifted }).changes.map((one) => [one.because, one.source]),
    );
    expect(reasons({ applied: [data], desired: [volume("data", { sizeGb: 200 })] })[0]?.[1]).toBeUndefined();
  });
  it.each<[what: string, world: World, then: Before, details: readonly string[]]>([
    [
      "a volume that comes back empty",
      { desired: [data] },
      heldThen(recorded(data)),
      [
        "volume.data would be made anew: volume data (then volume.data, 100 GB) was deleted, and what was on it does not come back; it comes back empty",
      ],
    ],
    [
      "a VM that comes back empty",
      { desired: [web] },
      heldThen(recorded(web)),
      [
        "vm.web would be made anew: VM web (then vm.web) with its disks was deleted, and what was on it does not come back; it comes back empty",
      ],
    ],
    ["a group, which held nothing", { desired: [group("front")] }, heldThen(recorded(group("front"))), []],
    ["what was not there then", { desired: [data] }, heldThen(), []],
    [
      "what nobody knew the id of",
      { desired: [web] },
      heldThen({ ...recorded(web), id: undefined } as RecordedResource),
      [],
    ],
    ["what stays", { applied: [data], desired: [data] }, heldThen(recorded(data)), []],
    [
      "what vanished by itself, once",
      { applied: [{ ...data, sighted: "gone" }], desired: [data] },
      heldThen(recorded(data)),
      [
        "volume.data would be made anew: volume id-volume-data no longer exists in the service: the list, read to its end, does not show it; an empty volume would take its place",
      ],
    ],
  ])("asks for %s", (_, world, then, details) =>
    expect(undo(world, then).consents.flatMap(({ kind, detail }) => (kind === "recreate" ? [detail] : []))).toEqual(
      details,
    ),
  );
  it("says how to leave out what cannot be undone, and what stays as it is", () => {
    const stays = { severity: "warning", code: "undo/stays", summary: "s" } as const;
    const planned = planFor({ missing: [], applied: [data], desired: [volume("data", { sizeGb: 5 })] });
    const told = wayBackPlan(planned, { before: heldThen(), run: "r1", stays: [stays] });
    expect(told.diagnostics.map(({ code, fix }) => [code, fix])).toEqual([
      ["undo/stays", undefined],
      ["plan/shrink", "--exclude volume.data undoes the rest; the volume keeps its size"],
    ]);
    const lost = planFor({ missing: [], desired: [data], imports: [{ to: "volume.data", id: "s", source }] });
    expect(wayBackPlan(lost, { before: heldThen(), run: "r1", stays: [] }).diagnostics.map(({ fix }) => fix)).toEqual([
      "--exclude volume.data undoes the rest",
    ]);
    const other = planFor({ missing: [], applied: [{ ...data, now: { failed: true } }], desired: [data] });
    expect(wayBackPlan(other, { before: heldThen(), run: "r1", stays: [] }).diagnostics).toEqual(other.diagnostics);
  });
});

describe("a volume that is taken over while it hangs on a VM", () => {
  const hung = {
    kind: "volume",
    id: "s",
    name: "data",
    sizeGb: 100,
    attachedTo: idOf("vm.web"),
    failed: false,
  } as const;
  const attachmentRecorded = (more: object) => {
    const wanted = volume("data", more);
    const world = { applied: [web], desired: [web, wanted], strangers: [hung] };
    const { steps } = planFor({ missing: [], ...world, imports: [{ to: "volume.data", id: "s", source }] });
    return steps.flatMap(({ action }) =>
      action.operation === "record"
        ? action.changes.flatMap((one) =>
            one.type === "resource" && one.record?.kind === "volume" ? [one.record.attachedTo] : [],
          )
        : [],
    );
  };
  it("is recorded with the attachment where the file says it, or the next plan would detach it", () => {
    expect(attachmentRecorded({ attachTo: { address: "vm.web" } })).toEqual([idOf("vm.web")]);
    expect(attachmentRecorded({})).toEqual([undefined]);
  });
});

describe("the part of a world that a look is for", () => {
  const record = (one: DesiredResource, more: object = {}): RecordedResource =>
    ({
      kind: one.kind,
      address: one.address,
      id: idOf(one.address),
      name: one.name,
      rules: [],
      preventDestroy: false,
      ...more,
    }) as unknown as RecordedResource;
  const part = (
    start: readonly string[],
    declared: readonly DesiredResource[],
    records: readonly RecordedResource[],
    more: Partial<Desired> & { intents?: readonly Intent[] } = {},
  ) => {
    const { intents = [], ...rest } = more;
    const desired = asClosed({
      service: { timing: {} },
      resources: declared,
      imports: [],
      moved: [],
      removed: [],
      files: [],
      ...rest,
    });
    const state = {
      ...emptyState("l"),
      resources: new Map(records.map((one) => [one.address, one])),
      intents: new Map(intents.map((one) => [one.address, one])),
    };
    const { pairs, state: moved } = pairResources(desired, state);
    const { addresses, named } = partAround(new Set(start), pairs, moved, desired);
    return `${[...addresses].sort().join(" ")}${named.size === 0 ? "" : `; names of ${[...named].join(" ")}`}`;
  };
  const peer = group("peer", { rules: [rule(22, { remote: { kind: "group", group: { address: "group.front" } } })] });
  const create: Intent = {
    step: "volume.data/create",
    address: "volume.data",
    operation: "volume.create",
    name: "data",
    sentAt: "1",
    idsBefore: [],
  };
  const all = [record(web), record(data), record(group("front"))];
  it.each<[what: string, part: string, expected: string]>([
    ["what is named", part(["vm.web"], [web, data], [record(web), record(data)]), "vm.web"],
    ["what it stands on", part(["volume.data"], [web, onWeb], [record(web), record(data)]), "vm.web volume.data"],
    ["what stands on it", part(["vm.web"], [web, onWeb], [record(web), record(data)]), "vm.web volume.data"],
    [
      "what its record stands on",
      part(["volume.data"], [web, data], [record(web), record(data, { attachedTo: idOf("vm.web") })]),
      "vm.web volume.data",
    ],
    [
      "a group that names it",
      part(["group.front"], [group("front"), peer], [record(group("front")), record(peer)]),
      "group.front group.peer",
    ],
    [
      "what has its name",
      part(["vm.web"], [web, vm("www", { name: "WEB" })], [record(web), record(vm("www"))]),
      "vm.web vm.www",
    ],
    [
      "what had its name",
      part(["vm.web"], [web, vm("www")], [record(web), record(vm("www"), { name: "web" })]),
      "vm.web vm.www",
    ],
    [
      "what has the name of another kind is not",
      part(["vm.web"], [web, volume("web")], [record(web), record(volume("web"))]),
      "vm.web",
    ],
    ["by its name what is made", part(["volume.data"], [data], []), "volume.data; names of volume"],
    [
      "by its name what is renamed",
      part(["vm.web"], [vm("web", { name: "www" })], [record(web)]),
      "vm.web; names of vm",
    ],
    [
      "by its name what is being made",
      part(["volume.data"], [data], [record(data)], { intents: [create] }),
      "volume.data; names of volume",
    ],
    [
      "by its name what is taken over by that",
      part(["vm.web"], [web], [record(web)], { imports: [{ to: "vm.web", name: "web", source }] }),
      "vm.web; names of vm",
    ],
    [
      "by its id what is taken over by that",
      part(["vm.web"], [web], [], { imports: [{ to: "vm.web", id: "s", source }] }),
      "vm.web",
    ],
    [
      "the former address of what moved",
      part(["vm.www"], [vm("www", { name: "web" })], [record(web)], {
        moved: [{ from: "vm.web", to: "vm.www", source }],
      }),
      "vm.web vm.www",
    ],
    [
      "all groups, where the file asserts something of them",
      part(["vm.web"], [web, group("front")], all, { reachability: {} } as unknown as Partial<Desired>),
      "group.front vm.web",
    ],
    [
      "the VM whose address an output hands out and nobody knows",
      part([], [web], [record(web)], {
        outputs: [
          {
            name: "ip",
            source,
            value: { is: "text", text: { parts: [{ address: "vm.web", attribute: "private_ip" }] } },
          },
        ],
      }),
      "vm.web",
    ],
    [
      "no VM whose address is remembered",
      part([], [web], [record(web, { privateIp: "10.0.0.1" })], {
        outputs: [
          {
            name: "ip",
            source,
            value: { is: "text", text: { parts: [{ address: "vm.web", attribute: "private_ip" }] } },
          },
        ],
      }),
      "",
    ],
    [
      "no VM of which an output hands out the id",
      part([], [web], [record(web)], {
        outputs: [
          { name: "id", source, value: { is: "text", text: { parts: [{ address: "vm.web", attribute: "id" }] } } },
        ],
      }),
      "",
    ],
  ])("%s", (_, got, expected) => expect(got).toBe(expected));

  const narrow = { addresses: new Set(["vm.web"]), named: new Set<never>() };
  const lists = (kinds: readonly string[]) => ({ canFindCreated: (kind: string) => kinds.includes(kind) });
  const change = (more: Partial<Change>): Change => ({ address: "vm.web", kind: "vm", ...more }) as unknown as Change;
  const step = (action: object, address = "vm.web"): Step => ({ address, action }) as unknown as Step;
  it.each<
    [
      what: string,
      changes: readonly Change[],
      steps: readonly Step[],
      kinds: readonly string[],
      wider: string | undefined,
    ]
  >([
    ["is as wide as what is planned", [], [step({ operation: "vm.stop" })], ["volume"], undefined],
    ["is wider by another address", [], [step({ operation: "vm.stop" }, "vm.db")], [], "vm.db vm.web;"],
    [
      "is wider by a change of another address",
      [change({ address: "volume.data", kind: "volume" })],
      [],
      [],
      "vm.web volume.data;",
    ],
    ["is wider by the names of what gets one", [], [step({ operation: "vm.rename", name: "www" })], [], "vm.web;vm"],
    ["is wider by what hangs on a VM that changes", [change({ id: "v" })], [], ["volume"], "vm.web;volume"],
    ["is wider by what hung on a VM that is gone", [change({ reason: "gone" })], [], ["volume"], "vm.web;volume"],
    ["is no wider by what hangs on a VM that is made", [change({ reason: "declared" })], [], ["volume"], undefined],
    ["is no wider by what no list shows", [change({ id: "v" })], [], [], undefined],
  ])("%s", (_, changes, steps, kinds, wider) => {
    const got = widened(narrow, { changes, steps }, lists(kinds));
    expect(got && `${[...got.addresses].sort().join(" ")};${[...got.named].join(" ")}`).toBe(wider);
  });
});

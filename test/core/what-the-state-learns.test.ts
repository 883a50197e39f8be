/** What the records become: without any request, by looking; and what each step writes when it is done. */
import { describe, expect, it } from "vitest";
import type { Intent } from "../../reconciler/core/model/recorded";
import { group, idOf, planFor, rule, vm, volume, type World } from "../support/sample-plans";

const web = vm("web");
const onWeb = { attachTo: { address: "vm.web" } };
const data = volume("data", onWeb);
const front = group("front", { rules: [rule(22, { remote: { kind: "group", group: { address: "group.web" } } })] });
const own = volume("data");
/** A replacement that was cut off at its create, which the record of the old one outlived. */
const cutOff: Intent = {
  step: "volume.data/create",
  address: "volume.data",
  operation: "volume.create",
  name: "data",
  sentAt: "2026-01-01T00:00:00.000Z",
  idsBefore: [idOf("volume.data")],
  record: {
    kind: "volume",
    address: "volume.data",
    name: "data",
    sizeGb: own.sizeGb,
    flush: own.flush,
    preventDestroy: false,
  },
};
const made = { kind: "volume", id: "s", name: "data", sizeGb: own.sizeGb, failed: false } as const;
const largeId = "00000000-0000-4000-8000-000000000002";

/** What is other in the records that the plan writes down at once, by address; `gone`: it is forgotten. */
function learnt(world: World): Record<string, unknown> {
  const plan = planFor(world);
  const before = new Map((world.applied ?? []).map((one) => [one.address, one]));
  return Object.fromEntries(
    plan.bookkeeping.map((change): [string, string] => {
      if (change.type === "missing") return [`${change.orphan.kind}:${change.orphan.id}`, "missing"];
      if (change.type === "orphan") return [change.key, change.orphan === null ? "ended" : "an orphan"];
      if (change.type !== "resource") return [change.type, "written"];
      const known = before.get(change.address);
      return [change.address, change.record === null ? "gone" : known === undefined ? "known" : "other"];
    }),
  );
}

describe("without any request", () => {
  it.each<[what: string, world: World, learnt: Record<string, unknown>]>([
    ["nothing, where all is as applied", { applied: [web, data], desired: [web, data] }, {}],
    [
      "a lifecycle flag",
      { applied: [web], desired: [vm("web", { lifecycle: { ...web.lifecycle, preventDestroy: true } })] },
      { "vm.web": "other" },
    ],
    [
      "an address that is shown for the first time",
      { applied: [{ ...web, now: { privateIp: "10.0.0.7" } }], desired: [web] },
      { "vm.web": "other" },
    ],
    [
      "that a VM is built",
      { applied: [{ ...web, memory: { building: true } }], desired: [web] },
      { "vm.web": "other" },
    ],
    [
      "nothing of a VM that still changes",
      {
        applied: [{ ...web, now: { phase: "changing", status: "BUILD" }, memory: { building: true } }],
        desired: [web],
      },
      {},
    ],
    ["not yet what a step is still to make true", { applied: [web], desired: [vm("web", { flavor: "m1.large" })] }, {}],
    [
      "not what is ignored",
      {
        applied: [web],
        desired: [vm("web", { flavor: "m1.large", lifecycle: { ...web.lifecycle, ignoreChanges: ["flavor_id"] } })],
      },
      {},
    ],
    [
      "what is ignored, once the service shows by its id what the file says by its name",
      {
        applied: [{ ...web, now: { flavor: largeId } }],
        desired: [vm("web", { flavor: "m1.large", lifecycle: { ...web.lifecycle, ignoreChanges: ["flavor_id"] } })],
        catalogue: { flavors: [{ id: largeId, name: "m1.large" }] },
      },
      { "vm.web": "other" },
    ],
    [
      "that an attach which nobody answered has arrived",
      { applied: [web, { ...data, memory: { attaching: idOf("vm.web") } }], desired: [web, data] },
      { "volume.data": "other" },
    ],
    [
      "where a volume is by its new address",
      {
        applied: [volume("old")],
        desired: [volume("new", { name: "old" })],
        moved: [{ from: "volume.old", to: "volume.new", source: { file: "f", line: 1, column: 1 } }],
      },
      { "volume.old": "gone", "volume.new": "known" },
    ],
    [
      "nothing of a group whose rule names one that is taken over",
      {
        applied: [front],
        desired: [front, group("web")],
        strangers: [{ kind: "group", id: idOf("group.web"), name: "web", rules: [] }],
        imports: [{ to: "group.web", id: idOf("group.web"), source: { file: "f", line: 1, column: 1 } }],
        missing: [],
      },
      {},
    ],
    [
      "that what is gone is missing",
      { applied: [{ ...volume("data"), sighted: "gone" }] },
      { "volume:id-volume-data": "missing" },
    ],
    [
      "that what a replacement wrote down as left behind, and is deleted by its record now, is no orphan",
      {
        applied: [own],
        desired: [web],
        missing: [],
        orphans: [{ kind: "volume", id: idOf("volume.data"), name: "data", reason: "r", replacedBy: "volume.data" }],
      },
      { "volume:id-volume-data": "ended" },
    ],
    [
      "not that of a volume on a VM that is deleted",
      {
        applied: [{ ...web, now: { volumes: [{ id: "d", root: false }] }, memory: { dataVolumeId: "d" } }],
        desired: [own],
        orphans: [{ kind: "volume", id: "d", name: "d", reason: "r" }],
      },
      {},
    ],
    [
      "that an orphan which was being deleted has gone",
      {
        orphans: [{ kind: "volume", id: "x", name: "x", reason: "r", deleting: true }],
        missing: [],
      },
      {},
    ],
    [
      "that a replacement whose create is not shown has made nothing",
      { applied: [own], desired: [own], missing: [], intents: [cutOff] },
      { intent: "written" },
    ],
    [
      "that of one whose block is gone",
      { applied: [web, own], desired: [web], missing: [], intents: [cutOff] },
      { intent: "written" },
    ],
    [
      "not that of what is shown beside the old one: the step that takes it over ends its create",
      { applied: [own], desired: [own], missing: [], intents: [cutOff], strangers: [made] },
      {},
    ],
    [
      "nor where the service accepted it, or nothing can be looked for",
      { applied: [own], desired: [own], missing: [], intents: [{ ...cutOff, accepted: true }] },
      {},
    ],
    ["nor where no list is read", { applied: [own], desired: [own], missing: ["volume.list"], intents: [cutOff] }, {}],
  ])("%s", (_, world, expected) => {
    expect(learnt(world)).toEqual(expected);
  });
});

it("a VM that is taken over has an ignored flavor as the file says it, where the service shows the same by its id", () => {
  const { steps } = planFor({
    desired: [vm("web", { flavor: "m1.large", lifecycle: { ...web.lifecycle, ignoreChanges: ["flavor_id"] } })],
    strangers: [{ kind: "vm", id: "s", name: "web", status: "ACTIVE", phase: "running", flavor: largeId }],
    catalogue: { flavors: [{ id: largeId, name: "m1.large" }] },
    imports: [{ to: "vm.web", id: "s", source: { file: "f", line: 1, column: 1 } }],
  });
  expect(steps[0]?.action).toMatchObject({ changes: [{ record: { flavor: "m1.large" } }, {}] });
});

it.each([{ ignoreChanges: ["image_id"] }, { onImageChange: "ignore" as const }])(
  "a VM that is taken over has the image that the service shows, where the file leaves it to others by %o",
  (left) => {
    const image = "5b1c8f0e-0000-4000-8000-000000000002";
    const { steps } = planFor({
      desired: [vm("web", { lifecycle: { ...web.lifecycle, ...left } })],
      strangers: [{ kind: "vm", id: "s", name: "web", status: "ACTIVE", phase: "running", image }],
      imports: [{ to: "vm.web", id: "s", source: { file: "f", line: 1, column: 1 } }],
    });
    expect(steps.map(({ id }) => id)).toEqual(["vm.web/import"]);
    expect(steps[0]?.action).toMatchObject({ changes: [{ record: { image } }, {}] });
  },
);

describe("by its steps, and by no other", () => {
  const recordOf = (world: World, id: string) => planFor(world).steps.find((step) => step.id === id)?.record;
  const resized = { applied: [web], desired: [vm("web", { flavor: "m1.large" })] };
  it.each<[what: string, world: World, step: string, record: unknown]>([
    [
      "a rename writes the name",
      { applied: [web], desired: [vm("web", { name: "www" })] },
      "vm.web/rename",
      { name: "www" },
    ],
    [
      "a resize writes that it is under way",
      resized,
      "vm.web/resize",
      { resizing: { from: "m1.small", to: "m1.large" } },
    ],
    ["its confirm writes the flavor", resized, "vm.web/confirm", { flavor: "m1.large" }],
    [
      "a grow writes the size",
      { applied: [volume("data")], desired: [volume("data", { sizeGb: 200 })] },
      "volume.data/resize",
      { sizeGb: 200 },
    ],
    [
      "a stop writes the power",
      { applied: [web], desired: [vm("web", { power: "stopped" })] },
      "vm.web/stop",
      { power: "stopped" },
    ],
    [
      "a group's update writes what it says",
      { applied: [group("front")], desired: [group("front", { name: "entry" })] },
      "group.front/update",
      { name: "entry" },
    ],
  ])("%s", (_, world, step, record) => {
    expect(recordOf(world, step)).toEqual(record);
  });
});

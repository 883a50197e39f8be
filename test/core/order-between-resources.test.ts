/** The named passes of kinds/order.ts, one row each and more where a pass has its exceptions: what a step waits for. */
import { describe, expect, it } from "vitest";
import { group, idOf, planFor, rule, vm, volume, type World } from "../support/sample-plans";

const web = vm("web");
const db = vm("db");
const onWeb = { attachTo: { address: "vm.web" } };
const stopFlush = { flush: { via: "stop" } } as const;
const onDb = { attachTo: { address: "vm.db" } };
const byCommand = { flush: { via: "command", argv: ["sync"] } } as const;
const otherImage = "9f1b2c3d-0000-4000-8000-000000000001";
/** Two volumes that leave a VM: one is flushed while it runs, the other by its stop. */
const bothMove = (flush: object): World => ({
  applied: [web, db, volume("data", { ...onWeb, ...flush }), volume("logs", { ...onWeb, ...stopFlush })],
  desired: [web, db, volume("data", { ...onDb, ...flush }), volume("logs", { ...onDb, ...stopFlush })],
});
/** A volume that grows on a VM that is changed. */
const growsOn = (changed: object, flush: object): World => ({
  applied: [web, volume("data", { ...onWeb, ...flush })],
  desired: [vm("web", changed), volume("data", { ...onWeb, ...flush, sizeGb: 200 })],
});
const backOnceGrown = ["end of volume.data/attach", "end of volume.data/detach"];
const namesBack = rule(5432, { remote: { kind: "group", group: { address: "group.back" } } });

/** `[…, step, the steps it waits for, with "end of" where their end is enough]` */
const rows: readonly [pass: string, world: World, step: string, waitsFor: readonly string[]][] = [
  [
    "a volume is attached when its new VM is there",
    { desired: [web, volume("data", onWeb)] },
    "volume.data/attach",
    ["volume.data/create", "vm.web/create"],
  ],
  [
    "a volume is attached at once where its VM stands",
    { applied: [web], desired: [web, volume("data", onWeb)] },
    "volume.data/attach",
    ["volume.data/create"],
  ],
  [
    "a VM is deleted when its volume, which goes on living, came off",
    { applied: [web, volume("data", onWeb)], desired: [volume("data")] },
    "vm.web/delete",
    ["vm.web/flush-stop", "volume.data/detach"],
  ],
  [
    "a volume that goes with its VM is deleted after it",
    { applied: [web, volume("data", onWeb)] },
    "volume.data/delete",
    ["vm.web/delete"],
  ],
  [
    "a name is taken when it is free",
    { applied: [web], desired: [vm("web", { name: "other" }), vm("next", { name: "web" })] },
    "vm.next/create",
    ["vm.web/rename"],
  ],
  [
    "a VM is stopped for a flush when its other changes are over",
    {
      applied: [web, volume("data", { ...onWeb, ...stopFlush })],
      desired: [vm("web", { name: "other" }), volume("data", { ...onWeb, ...stopFlush, sizeGb: 200 })],
    },
    "vm.web/flush-stop",
    ["end of vm.web/rename"],
  ],
  [
    "a volume comes off a VM that shall stop when it is stopped, and no flush command is run",
    {
      applied: [web, volume("data", { ...onWeb, flush: { via: "command", argv: ["sync"] } })],
      desired: [
        vm("web", { power: "stopped" }),
        volume("data", { ...onWeb, flush: { via: "command", argv: ["sync"] }, sizeGb: 200 }),
      ],
    },
    "volume.data/detach",
    ["vm.web/stop"],
  ],
  [
    "a VM that was stopped for a flush starts when the volume is done, however that ended",
    {
      applied: [web, volume("data", { ...onWeb, ...stopFlush })],
      desired: [web, volume("data", { ...onWeb, ...stopFlush, sizeGb: 200 })],
    },
    "vm.web/flush-start",
    ["end of volume.data/attach", "end of volume.data/detach", "vm.web/flush-stop"],
  ],
  [
    "a VM is stopped for one volume when another, which a command flushed, came off",
    bothMove(byCommand),
    "vm.web/flush-stop",
    ["end of volume.data/detach"],
  ],
  ["or one that a person flushed", bothMove({}), "vm.web/flush-stop", ["end of volume.data/detach"]],
  [
    "a VM is resized when its flushed volume is back",
    growsOn({ flavor: "m1.large" }, byCommand),
    "vm.web/resize",
    backOnceGrown,
  ],
  ["also when a person flushed it", growsOn({ flavor: "m1.large" }, {}), "vm.web/resize", backOnceGrown],
  [
    "a VM is rebuilt when its flushed volume is back",
    growsOn({ image: otherImage }, byCommand),
    "vm.web/rebuild",
    backOnceGrown,
  ],
  [
    "a VM's own data volume that a person flushed is back before its resize",
    { applied: [web], desired: [vm("web", { sizeGb: 200, flavor: "m1.large" })] },
    "vm.web/resize",
    ["end of vm.web/data-attach", "end of vm.web/data-detach"],
  ],
  [
    "one that a command flushes is flushed after it",
    { applied: [web], desired: [vm("web", { sizeGb: 200, flavor: "m1.large", ...byCommand })] },
    "vm.web/flush",
    ["end of vm.web/confirm"],
  ],
  [
    "a group is deleted when the VMs that go are gone",
    { applied: [web, group("front")], desired: [] },
    "group.front/delete",
    ["gate/vms-deleted"],
  ],
  [
    "all VMs that go, and no other",
    { applied: [web, db, group("front")], desired: [db] },
    "gate/vms-deleted",
    ["end of vm.web/delete"],
  ],
  [
    "a group that is named goes after the one that names it",
    { applied: [group("back"), group("front", { rules: [namesBack] })], desired: [] },
    "group.back/delete",
    ["end of group.front/delete"],
  ],
];

describe("a step waits for steps of other resources", () => {
  it.each(rows)("%s", (_, world, id, waitsFor) => {
    const { steps } = planFor(world);
    const step = steps.find((one) => one.id === id);
    expect(
      steps.map((one) => one.id),
      "the plan has the step",
    ).toContain(id);
    const needs = step!.needs.map((need) => `${need.on === "done" ? "" : `${need.on} of `}${need.step}`);
    expect(needs.sort()).toEqual([...waitsFor].sort());
  });

  it("and the plan lists every step behind all that it waits for", () => {
    for (const [, world] of rows) {
      const order = planFor(world).steps;
      const place = new Map(order.map((step, index) => [step.id, index]));
      for (const [index, step] of order.entries())
        for (const need of step.needs) expect(place.get(need.step)).toBeLessThan(index);
    }
  });
});

describe("names go round", () => {
  it.each<[string, World, readonly string[]]>([
    [
      "two VMs that swap their names: one goes through a name that nobody has",
      {
        applied: [vm("one", { name: "blue" }), vm("two", { name: "green" })],
        desired: [vm("one", { name: "green" }), vm("two", { name: "blue" })],
      },
      ["blue-swap", "blue", "green"],
    ],
    [
      "three in a circle need one of them as well",
      {
        applied: [vm("one", { name: "aaa" }), vm("two", { name: "bbb" }), vm("three", { name: "ccc" })],
        desired: [vm("one", { name: "bbb" }), vm("two", { name: "ccc" }), vm("three", { name: "aaa" })],
      },
      ["swap", "aaa", "bbb", "ccc"],
    ],
    [
      "a chain that ends needs none",
      {
        applied: [vm("one", { name: "aaa" }), vm("two", { name: "bbb" })],
        desired: [vm("one", { name: "bbb" }), vm("two", { name: "ccc" })],
      },
      ["bbb", "ccc"],
    ],
  ])("%s", (_, world, names) => {
    const given = planFor(world).steps.flatMap(({ action }) => (action.operation === "vm.rename" ? [action.name] : []));
    const plain = given.map((name) => (name.includes("-swap-") ? "swap" : name));
    expect(plain.sort()).toEqual(names.map((name) => (name.includes("swap") ? "swap" : name)).sort());
    const passing = given.find((name) => name.includes("-swap-"));
    if (passing !== undefined) expect(passing.length).toBeLessThanOrEqual(50);
  });

  it("a circle of groups that are deleted has no order, and is told", () => {
    const names = (key: string) => rule(1, { remote: { kind: "group", group: { id: idOf(`group.${key}`) } } });
    const plan = planFor({
      applied: [group("one", { rules: [names("two")] }), group("two", { rules: [names("one")] })],
    });
    const circles = plan.steps.flatMap(({ id, action }) =>
      action.operation === "group.delete" ? [[id, action.circle?.length]] : [],
    );
    expect(circles).toEqual([
      ["group.one/delete", 1],
      ["group.two/delete", 1],
    ]);
    expect(plan.diagnostics.map(({ code }) => code)).toEqual(["plan/group-named", "plan/group-named"]);
  });
});

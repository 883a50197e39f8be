/** What a VM that is deleted takes with it and what it leaves behind, as a table of where its volumes are. */
import { describe, expect, it } from "vitest";
import { idOf, planFor, vm, type World } from "../support/sample-plans";

const id = idOf("vm.web");
const own = `${id}-data`;
const goes = vm("web", { lifecycle: { ...vm("web").lifecycle, preservedVolumes: "delete" } });
const disk = (more: object) =>
  ({ kind: "volume", id: own, name: "web-data", sizeGb: 20, failed: false, ...more }) as const;
const listed = { missing: [] } as const;

describe("the data volume of a VM that goes", () => {
  it("is told by the name that the service shows", () => {
    const { changes } = planFor({
      applied: [goes],
      strangers: [disk({ name: "customers", attachedTo: id })],
      ...listed,
    });
    expect(changes[0]?.losses?.map(({ detail }) => detail)).toContain(
      `data volume customers (${own}) of 20 GB of VM web is deleted with its data`,
    );
  });
  it.each<[what: string, world: World, becomes: "deleted" | "left" | "neither", says?: string]>([
    ["stays, where it is to stay", { applied: [vm("web")], strangers: [disk({ attachedTo: id })], ...listed }, "left"],
    [
      "goes along where it is known and hangs there",
      { applied: [goes], strangers: [disk({ attachedTo: id })], ...listed },
      "deleted",
    ],
    [
      "stays where the service deletes no volumes",
      { applied: [goes], strangers: [disk({ attachedTo: id })], missing: ["volume.delete"] },
      "left",
    ],
    [
      "stays where it hangs elsewhere",
      { applied: [goes], strangers: [disk({ attachedTo: "other" })], ...listed },
      "left",
      "it hangs on VM other",
    ],
    [
      "stays where somebody took it off",
      { applied: [goes], strangers: [disk({ attachedTo: null })], ...listed },
      "left",
      "somebody has taken it off",
    ],
    [
      "goes along where this tool took it off to grow it",
      {
        applied: [{ ...goes, memory: { dataVolumeDetached: true } }],
        strangers: [disk({ attachedTo: null })],
        ...listed,
      },
      "deleted",
    ],
    [
      "stays where nobody knows which it is",
      {
        applied: [{ ...goes, memory: { dataVolumeId: undefined }, now: { volumes: [{ id: "a" }, { id: "b" }] } }],
        ...listed,
      },
      "left",
      "do not show which volume it is",
    ],
    [
      "goes along where its record does not name it, and the only one there has its size",
      {
        applied: [{ ...goes, memory: { dataVolumeId: undefined }, now: { volumes: [{ id: own, root: false }] } }],
        strangers: [disk({ attachedTo: id })],
        ...listed,
      },
      "deleted",
    ],
    [
      "stays where the only one there has another size",
      {
        applied: [{ ...goes, memory: { dataVolumeId: undefined }, now: { volumes: [{ id: own, root: false }] } }],
        strangers: [disk({ attachedTo: id, sizeGb: 30 })],
        ...listed,
      },
      "left",
      "is not the one of 20 GB that was made",
    ],
    ["is neither where it is gone", { applied: [goes], ...listed }, "neither"],
  ])("%s", (_, world, becomes, says) => {
    const plan = planFor(world);
    const [change] = plan.changes;
    const remove = plan.steps.find(({ action }) => action.operation === "vm.delete")?.action;
    const isDeleted = change?.losses.some(({ detail }) => detail.includes("data volume")) === true;
    const isLeft =
      change?.leaves?.some((text) => text.startsWith("data volume") || text.startsWith("the data volume")) === true;
    expect([isDeleted, isLeft]).toEqual([becomes === "deleted", becomes === "left"]);
    expect(remove !== undefined && "deletesVolume" in remove && remove.deletesVolume !== undefined).toBe(
      becomes === "deleted",
    );
    const warned = plan.diagnostics.find(({ code }) => code === "plan/data-volume-kept")?.summary;
    if (says === undefined) expect(warned).toBeUndefined();
    else expect(warned).toContain(says);
  });

  it("a stranger's volume on it is never among what it takes", () => {
    const stranger = { kind: "volume", id: "s", name: "precious", sizeGb: 7, failed: false, attachedTo: id } as const;
    const plan = planFor({ applied: [goes], strangers: [disk({ attachedTo: id }), stranger], ...listed });
    expect(plan.changes[0]?.losses.map(({ detail }) => detail).join()).not.toContain("precious");
    expect(plan.changes[0]?.leaves?.join()).toContain("volume precious (s) of 7 GB");
  });
});

describe("the data volume of another VM, which somebody has moved onto one that goes", () => {
  it("comes off stopped, stays that VM's, and becomes no orphan", () => {
    const [db, moved] = [vm("db"), `${idOf("vm.db")}-data`];
    const web = { ...vm("web"), now: { volumes: [{ id: moved, root: false }] } };
    const strangers = [disk({ id: moved, attachedTo: id })];
    const { changes, steps } = planFor({ applied: [web, db], desired: [db], strangers, ...listed });
    expect(steps.map(({ action }) => action)).toMatchObject([
      { operation: "vm.stop" },
      { operation: "vm.delete", managedVolumes: [moved], flush: "stop" },
    ]);
    expect(changes[0]?.leaves).toEqual([
      `volume web-data (${moved}) of 20 GB, which hangs on VM web and is the data volume of vm.db, stays`,
    ]);
  });
});

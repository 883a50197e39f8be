/** What becomes of a resize that waits in VERIFY_RESIZE, and which steps decide it, as tables. */
import { describe, expect, it } from "vitest";
import type { Need } from "../../reconciler/core/plan/step";
import { dataVolumeMoved, resizeEnded } from "../../reconciler/kinds/vm/answers";
import { volumeMoved } from "../../reconciler/kinds/volume/answers";
import { planFor, vm, type World } from "../support/sample-plans";

const check = { kind: "tcp", port: 22 } as const;
const lifecycle = (verifyResize: object) => ({
  ...vm("web").lifecycle,
  verifyResize: { ...vm("web").lifecycle.verifyResize, ...verifyResize },
});
const large = vm("web", { flavor: "m1.large" });
const ignoring = vm("web", { lifecycle: { ...vm("web").lifecycle, ignoreChanges: ["flavor_id"] } });
const asNeeds = (needs: readonly Need[]): string[] => needs.map(({ step, on }) => `${step.slice(7)}:${on}`).sort();

describe("who decides a resize", () => {
  it.each<[what: string, verifyResize: object, steps: Record<string, readonly string[]>]>([
    [
      "without a check it is confirmed at once",
      {},
      { "vm.resize.confirm by itself": ["resize:done"], "vm.stop": ["confirm:end"] },
    ],
    [
      "a check that passes confirms it, one that fails reverts it",
      { check },
      {
        "vm.check": ["resize:done"],
        "vm.resize.revert": ["check:failed"],
        "vm.resize.confirm by itself": ["check:done", "revert:end"],
        "vm.stop": ["confirm:end", "revert:end"],
      },
    ],
    [
      "a check that fails leaves it to a person, and nothing goes on",
      { check, onFailure: "leave" },
      {
        "vm.check": ["resize:done"],
        "vm.resize.confirm by itself": ["check:done"],
        "vm.stop": ["confirm:done"],
      },
    ],
    [
      "a person confirms it, whatever check there is",
      { check, confirm: "manual" },
      { "vm.resize.confirm by a person": ["resize:done"], "vm.stop": ["confirm:end"] },
    ],
  ])("%s", (_, verifyResize, steps) => {
    // Stopped afterwards, to see what comes next waits for.
    const plan = planFor({
      applied: [vm("web")],
      desired: [{ ...large, power: "stopped", lifecycle: lifecycle(verifyResize) }],
    });
    const seen = plan.steps.flatMap(({ action, needs }): [string, string[]][] => {
      if (action.operation === "vm.resize") return [];
      const by = action.operation === "vm.resize.confirm" ? ` by ${action.manual ? "a person" : "itself"}` : "";
      return [[`${action.operation}${by}`, asNeeds(needs)]];
    });
    expect(Object.fromEntries(seen)).toEqual(steps);
  });

  it("the record has the new flavor only when the resize is confirmed, and the old one when it is reverted", () => {
    const plan = planFor({ applied: [vm("web")], desired: [{ ...large, lifecycle: lifecycle({ check }) }] });
    const records = Object.fromEntries(plan.steps.map(({ id, record }) => [id.slice(7), record]));
    expect(records["resize"]).toEqual({ resizing: { from: "m1.small", to: "m1.large" } });
    expect(records["confirm"]).toMatchObject({ resizing: undefined, flavor: "m1.large" });
    expect(records["revert"]).toEqual({ resizing: undefined });
  });

  it("the record keeps its flavor where a resize is reverted that somebody else began, and the plan shows both", () => {
    const now = { phase: "verify_resize", status: "VERIFY_RESIZE", flavor: "m1.huge" } as const;
    const { steps, changes } = planFor({ applied: [{ ...vm("web"), now }], desired: [vm("web")] });
    expect(steps.map(({ record }) => record)).toStrictEqual([{ resizing: undefined }]);
    expect(changes).toMatchObject([
      {
        because: "its resize waits in VERIFY_RESIZE to be reverted",
        fields: [{ field: "flavor_id", before: "m1.huge", after: "m1.small" }],
      },
    ]);
  });
});

describe("a resize that others began, where no record shows to which flavor", () => {
  const now = { phase: "verify_resize", status: "VERIFY_RESIZE", flavor: undefined } as const;

  it.each([
    ["as it was applied", vm("web")],
    ["with another flavor", large],
    ["stopped", vm("web", { power: "stopped" })],
  ])("is decided by them, and the run waits for that: a VM that is declared %s", (_, desired) => {
    const { steps, changes } = planFor({ applied: [{ ...vm("web"), now }], desired: [desired] });
    expect(steps.filter(({ action }) => action.operation !== "vm.stop")).toMatchObject([
      { id: "vm.web/decided", action: { operation: "vm.resize.confirm", manual: true } },
    ]);
    expect(steps.map(({ record }) => record)).not.toContainEqual(expect.objectContaining({ flavor: "m1.small" }));
    if (desired.power === undefined)
      expect(changes).toMatchObject([
        {
          because: "a resize waits in VERIFY_RESIZE, and nothing shows whether it leads to the flavor that is declared",
        },
      ]);
  });
});

describe("a VM that waits in VERIFY_RESIZE", () => {
  const waits = { phase: "verify_resize", status: "VERIFY_RESIZE", flavor: "m1.large" } as const;
  const resizing = { from: "m1.small", to: "m1.large" };
  const idOfFlavor = (n: number): string => `00000000-0000-4000-8002-00000000000${n}`;
  const byId = { from: idOfFlavor(1), to: "m1.large" };

  it.each<[what: string, world: World, operations: readonly string[]]>([
    [
      "is confirmed where its flavor is the one that is declared",
      { applied: [{ ...vm("web"), now: waits, memory: { resizing } }], desired: [large] },
      ["vm.resize.confirm"],
    ],
    [
      "is reverted where the old flavor is declared again",
      { applied: [{ ...vm("web"), now: waits, memory: { resizing } }], desired: [vm("web")] },
      ["vm.resize.revert"],
    ],
    [
      "is reverted first where a third flavor is declared",
      { applied: [{ ...vm("web"), now: waits, memory: { resizing } }], desired: [vm("web", { flavor: "m1.xlarge" })] },
      ["vm.resize.revert", "vm.resize", "vm.resize.confirm"],
    ],
    [
      "is confirmed where somebody else resized it to what is declared",
      { applied: [{ ...vm("web"), now: waits }], desired: [large] },
      ["vm.resize.confirm"],
    ],
    [
      "is reverted first where somebody else resized it, and another flavor than before is declared",
      { applied: [{ ...vm("web"), now: { ...waits, flavor: "m1.huge" } }], desired: [large] },
      ["vm.resize.revert", "vm.resize", "vm.resize.confirm"],
    ],
    [
      "is left to whoever resized it where its flavor is shown as an id, a name is declared, and no list tells whether it is that one",
      { applied: [{ ...vm("web"), now: { ...waits, flavor: idOfFlavor(3) } }], desired: [large] },
      ["vm.resize.confirm"],
    ],
    [
      "is left to a person where the file has an id by now for the name that was sent, and no list brings them together",
      {
        applied: [{ ...vm("web"), now: waits, memory: { resizing } }],
        desired: [vm("web", { flavor: idOfFlavor(3) })],
      },
      ["vm.resize.confirm"],
    ],
    [
      "is left to whoever resized it where the flavor is left to others",
      { applied: [{ ...vm("web"), now: waits }], desired: [ignoring] },
      [],
    ],
    [
      "is reverted where this tool resized it before the flavor was left to others",
      { applied: [{ ...vm("web"), now: waits, memory: { resizing } }], desired: [ignoring] },
      ["vm.resize.revert"],
    ],
    [
      "is waited for first while it is on its way there",
      {
        applied: [
          { ...vm("web"), now: { phase: "changing", status: "RESIZE", flavor: "m1.small" }, memory: { resizing } },
        ],
        desired: [large],
      },
      ["vm.settle", "vm.resize.confirm"],
    ],
    [
      "was confirmed where it shows another id than before, and no list says what the ids mean",
      {
        applied: [{ ...vm("web"), now: { flavor: idOfFlavor(2) }, memory: { resizing: byId } }],
        desired: [large],
      },
      [],
    ],
    [
      "was reverted where it shows the same id as before, and no list says what the ids mean",
      {
        applied: [{ ...vm("web"), now: { flavor: idOfFlavor(1) }, memory: { resizing: byId } }],
        desired: [large],
      },
      ["vm.resize", "vm.resize.confirm"],
    ],
    [
      "is not waited for once it runs",
      {
        applied: [{ ...large, now: { phase: "running", status: "ACTIVE" }, memory: { resizing } }],
        desired: [large],
      },
      [],
    ],
  ])("%s", (_, world, operations) => {
    expect(planFor(world).steps.map(({ action }) => action.operation)).toEqual(operations);
  });
});

describe("what a person says of a request whose outcome is unknown", () => {
  const resizing = { from: "m1.small", to: "m1.large" };
  it.each<[what: string, ended: object | undefined, fields: object | undefined]>([
    ["a resize was confirmed", resizeEnded({ resizing }, "confirmed"), { flavor: "m1.large" }],
    ["a resize was taken back", resizeEnded({ resizing }, "reverted"), { flavor: "m1.small" }],
    ["from a flavor that nobody saw", resizeEnded({ resizing: { to: "x" }, flavor: "y" }, "reverted"), { flavor: "y" }],
    ["no resize was open", resizeEnded({ flavor: "y" }, "confirmed"), undefined],
    ["a data volume is off", dataVolumeMoved({ dataVolumeMoving: "detaching" }, false), { dataVolumeDetached: true }],
    ["a data volume is on", dataVolumeMoved({ dataVolumeMoving: "attaching" }, true), {}],
    ["no move of a data volume was open", dataVolumeMoved({}, true), undefined],
    ["a volume was attached", volumeMoved({ attaching: "1" }, true), { attachedTo: "1" }],
    ["a volume was not attached", volumeMoved({ attaching: "1", attachedTo: "2" }, false), { attachedTo: "2" }],
    ["a volume was detached", volumeMoved({ detaching: "1", attachedTo: "1" }, false), {}],
    ["no move of a volume was open", volumeMoved({ attachedTo: "1" }, true), undefined],
  ])("%s", (_, ended, fields) => {
    expect(ended && JSON.parse(JSON.stringify(ended))).toEqual(fields);
  });
});

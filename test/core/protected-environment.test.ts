/** What `protect: { allow: […] }` of an environment permits: only what the environment protects, and never a delete. */
import { describe, expect, it } from "vitest";
import type { Change } from "../../reconciler/core/diff/changes";
import { permittedChanges } from "../../reconciler/core/plan/consent";
import { vm } from "../support/sample-plans";

const source = { file: "reconcile.yaml", line: 1 };
const base: Omit<Change, "action"> = {
  ...{ address: "vm.web", kind: "vm", name: "web", fields: [], reason: "changed", because: "", losses: [] },
};
const replaced: Change = { ...base, action: "replace" };
const deleted: Change = { ...base, action: "delete" };
const inPlace: Change = { ...base, action: "update" };
const wiped: Change = { ...inPlace, losses: [{ disk: "root", detail: "" }] };

describe("a protected VM may change all the same", () => {
  it.each<[what: string, change: Change, by: "environment" | "block" | "nothing", allow: string, permitted: boolean]>([
    ["a replacement that the environment allows", replaced, "environment", "replace", true],
    ["a replacement where another change is allowed", replaced, "environment", "rebuild", false],
    ["a rebuild that the environment allows", wiped, "environment", "rebuild", true],
    ["what the block itself protects", replaced, "block", "replace", false],
    ["what nothing protects needs no permission", replaced, "nothing", "replace", false],
    ["what loses nothing needs none", inPlace, "environment", "replace", false],
    ["a delete is permitted by no word", deleted, "environment", "replace", false],
  ])("%s", (_, change, by, allow, permitted) => {
    const declared = vm("web");
    const lifecycle = { ...declared.lifecycle, preventDestroy: by !== "nothing" };
    const desired = { ...declared, lifecycle, protectedAt: by === "block" ? source : undefined };
    const word = allow === "replace" ? ("replace" as const) : ("rebuild" as const);
    const found = permittedChanges([change], () => desired, { allow: [word], source });
    expect(found).toEqual(permitted ? ["vm.web"] : []);
  });
});

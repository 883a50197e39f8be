/**
 * Plan, apply, plan again is empty: over random worlds and random edits, through the real engine and the emulated
 * service. No request is refused, and what results is what was asked for.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Desired } from "../../reconciler/core/model/desired";
import { hasErrors } from "../../reconciler/core/model/diagnostic";
import { hasNothingToDo } from "../../reconciler/engine/apply";
import { planLines } from "../support/golden-story";
import { type VirtualWorld, virtualWorld } from "../support/virtual-world";
import { refusedOf } from "../support/world-shape";
import { randomCapabilities, randomDesired, runs } from "./random-desired";
import { differencesFromDesired } from "./world-checks";

async function step(stage: VirtualWorld, desired: Desired): Promise<"refused" | "done"> {
  const prepared = await stage.plan(desired);
  const shown = planLines(prepared.plan).join("\n");
  if (hasErrors(prepared.plan.diagnostics)) {
    const codes = prepared.plan.diagnostics.filter((one) => one.severity === "error").map((one) => one.code);
    // A volume that could not be deleted still has its name.
    const expected = ["plan/shrink", ...((await stage.state()).orphans.size > 0 ? ["plan/name-taken"] : [])];
    expect(
      codes.filter((code) => !expected.includes(code)),
      shown,
    ).toEqual([]);
    return "refused";
  }
  stage.takeSent();
  const report = await stage.apply(prepared);
  const sent = stage.takeSent();
  expect(
    refusedOf(sent, ({ id }) => id),
    shown,
  ).toEqual([]);
  const open = report!.steps
    .filter(({ result }) => result.end !== "done")
    .map(({ step, result }) => ({ step: step.id, ...result }));
  expect(open, shown).toEqual([]);
  const again = await stage.plan(desired);
  expect(hasNothingToDo(again.plan), `${shown}\n--- again:\n${planLines(again.plan).join("\n")}`).toBe(true);
  expect(differencesFromDesired(desired, stage, await stage.state()), shown).toEqual([]);
  return "done";
}

describe("convergence", () => {
  it("any edit of any world converges in one apply, with no request refused", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(randomDesired, { minLength: 2, maxLength: 4 }),
        randomCapabilities,
        async (edits, capabilities) => {
          const stage = virtualWorld(capabilities);
          for (const desired of edits) await step(stage, desired);
        },
      ),
      runs(60),
    );
  });
});

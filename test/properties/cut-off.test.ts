/**
 * A run that is cut off at any durable write: the next one finds what was made, finishes the job and creates nothing
 * twice. Needs the lists; without them such a create is reported as unknown.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Desired } from "../../reconciler/core/model/desired";
import { hasErrors } from "../../reconciler/core/model/diagnostic";
import { hasNothingToDo } from "../../reconciler/engine/apply";
import { planLines } from "../support/plan-text";
import { type Rehearsal, rehearsal } from "../support/rehearsal";
import { randomDesired, runs } from "./random-worlds";
import { differencesFromDesired } from "./world-checks";

const lists = { with: ["volume.list", "group.list", "group.get", "group.rule.delete"] };

async function apply(stage: Rehearsal, desired: Desired): Promise<boolean> {
  const prepared = await stage.plan(desired);
  if (hasErrors(prepared.plan.diagnostics)) return false;
  await stage.apply(prepared);
  return true;
}

describe("a run cut off at a durable write", () => {
  it("is finished by the next, with nothing made twice and nothing forgotten", async () => {
    await fc.assert(
      fc.asyncProperty(randomDesired, randomDesired, fc.nat(30), async (before, desired, cutAt) => {
        const stage = rehearsal(lists);
        if (!(await apply(stage, before))) return;
        const first = planLines((await stage.plan(desired)).plan).join("\n");
        stage.cutAfterWrites(cutAt);
        const planned = await apply(stage, desired).catch(() => true);
        stage.cutAfterWrites(undefined);
        if (!planned) return;
        const prepared = await stage.plan(desired);
        const second = planLines(prepared.plan).join("\n");
        const shown = `cut after ${cutAt} writes of:\n${first}\n--- then:\n${second}`;
        expect(
          prepared.plan.diagnostics.filter((one) => one.severity === "error"),
          shown,
        ).toEqual([]);
        const report = await stage.apply(prepared);
        expect(
          report!.steps
            .filter(({ result }) => result.end !== "done")
            .map(({ step, result }) => [step.id, result.message]),
          shown,
        ).toEqual([]);
        const again = await stage.plan(desired);
        expect(hasNothingToDo(again.plan), `${shown}\n--- again:\n${planLines(again.plan).join("\n")}`).toBe(true);
        expect(differencesFromDesired(desired, stage, await stage.state()), shown).toEqual([]);
      }),
      runs(150),
    );
  }, 600_000);
});

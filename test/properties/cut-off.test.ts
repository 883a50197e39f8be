/**
 * A run that is cut off at any durable write, or whose answers are lost: the next one finds what was made, finishes the
 * job and creates nothing twice. Without lists a create whose answer was lost is reported as unknown, and converges
 * after a person said what became of it.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Desired } from "../../reconciler/core/model/desired";
import { hasErrors } from "../../reconciler/core/model/diagnostic";
import type { RecordedResource, StateChange } from "../../reconciler/core/model/recorded";
import { hasNothingToDo } from "../../reconciler/engine/apply";
import { planLines } from "../support/golden-story";
import { type Fate, type VirtualWorld, virtualWorld } from "../support/virtual-world";
import { randomDesired, runs } from "./random-desired";
import { differencesFromDesired } from "./world-checks";

const lists = { with: ["volume.list", "group.list", "group.get", "group.rule.delete"] };
const noLists = { with: ["group.rule.delete"] };

async function apply(stage: VirtualWorld, desired: Desired): Promise<boolean> {
  const prepared = await stage.plan(desired);
  if (hasErrors(prepared.plan.diagnostics)) return false;
  await stage.apply(prepared);
  return true;
}

/** What a person does who looks at the service: names what was made, and says so where nothing was. */
async function settleUnknown(stage: VirtualWorld, desired: Desired): Promise<void> {
  const { plan } = await stage.plan(desired);
  const unknown = plan.diagnostics.filter(({ code }) => code === "plan/outcome-unknown");
  const state = await stage.state();
  const known = new Set([...state.resources.values(), ...state.orphans.values()].map(({ id }) => id));
  const changes: StateChange[] = [];
  for (const { address } of unknown) {
    const { name, operation, record } = state.intents.get(address!)!;
    const table = stage.emulated.world.tables[operation === "volume.create" ? "volume" : "group"];
    const made = [...table.values()].filter((one) => one.name === name && !known.has(one.id));
    expect(made.length, `${address}: at most one was made`).toBeLessThanOrEqual(1);
    // As `import` and `state resolve --not-created` do.
    if (made[0] !== undefined)
      changes.push({ type: "resource", address: address!, record: { ...record, id: made[0].id } as RecordedResource });
    changes.push({ type: "intent", address: address!, intent: null });
  }
  for (const { code, address, summary } of plan.diagnostics) {
    const left =
      code === "plan/name-taken" ? [...state.orphans.values()].find(({ id }) => summary.includes(id)) : undefined;
    if (left === undefined) continue;
    // What an earlier replacement left bears the name that is wanted again: `import` takes it back.
    const { id, name, sizeGb } = left;
    const record = {
      kind: "volume",
      address: address!,
      id,
      name,
      sizeGb,
      flush: { via: "ask" },
      preventDestroy: false,
    } as const;
    changes.push({ type: "resource", address: address!, record: record as RecordedResource });
  }
  if (changes.length > 0) await stage.record(changes);
}

/** A VM whose size grows must show its volume, which one that is being built does not. */
async function untilBuilt(stage: VirtualWorld, desired: Desired): Promise<void> {
  const { plan } = await stage.plan(desired);
  if (plan.diagnostics.some(({ fix }) => fix?.startsWith("run the same command again when VM")))
    await stage.clock.sleep(120_000);
}

async function convergesNow(stage: VirtualWorld, desired: Desired, shown: string): Promise<void> {
  await settleUnknown(stage, desired);
  await untilBuilt(stage, desired);
  const prepared = await stage.plan(desired);
  const seen = `${shown}\n--- then:\n${planLines(prepared.plan).join("\n")}`;
  expect(
    prepared.plan.diagnostics.filter((one) => one.severity === "error"),
    seen,
  ).toEqual([]);
  const report = await stage.apply(prepared);
  expect(
    report!.steps.filter(({ result }) => result.end !== "done").map(({ step, result }) => [step.id, result.message]),
    seen,
  ).toEqual([]);
  // What is starting or stopping arrives by itself; that it did is all that may be left to learn.
  await stage.clock.sleep(120_000);
  const learns = await stage.plan(desired);
  expect(learns.plan.steps, `${seen}\n--- again:\n${planLines(learns.plan).join("\n")}`).toEqual([]);
  await stage.apply(learns);
  const again = await stage.plan(desired);
  expect(hasNothingToDo(again.plan), `${seen}\n--- again:\n${planLines(again.plan).join("\n")}`).toBe(true);
  const problems = differencesFromDesired(desired, stage, await stage.state());
  // Without a list nobody looks whether an orphan is still there: `orphans delete` takes one that is gone off the list.
  const looked = stage.has("volume.list");
  expect(looked ? problems : problems.filter((one) => !one.startsWith("the orphan")), seen).toEqual([]);
}

/** The same files with no size below what an earlier one asked for: shrinking is refused, and that is another rule. */
function neverShrinking(files: readonly Desired[]): Desired[] {
  const largest = new Map<string, number>();
  return files.map((file) => ({
    ...file,
    resources: file.resources.map((resource) => {
      if (resource.kind === "group") return resource;
      const sizeGb = Math.max(resource.sizeGb, largest.get(resource.address) ?? 0);
      largest.set(resource.address, sizeGb);
      return { ...resource, sizeGb };
    }),
  }));
}

const fates = fc.array(fc.constantFrom<Fate>("arrives", "arrives", "arrives", "lost-before", "lost-after"), {
  maxLength: 25,
});

describe.each([
  ["with every list", lists],
  ["without lists of volumes and groups", noLists],
] as const)("a service %s", (_, given) => {
  // Up to here runs of `check` still reach code that none before them did; without lists little is decided.
  const few = given === lists ? 80 : 40;
  const holds = (disturb: (stage: VirtualWorld, cutAt: number, lost: readonly Fate[]) => void) =>
    fc.assert(
      fc.asyncProperty(randomDesired, randomDesired, fc.nat(30), fates, async (before, desired, cutAt, lost) => {
        const stage = virtualWorld(given);
        if (!(await apply(stage, before))) return;
        const { plan } = await stage.plan(desired);
        if (hasErrors(plan.diagnostics)) return;
        disturb(stage, cutAt, lost);
        await apply(stage, desired).catch(() => undefined);
        stage.cutAfterWrites(undefined);
        stage.setFates([]);
        const shown = `cut after ${cutAt} writes, ${lost.join(" ")} of:\n${planLines(plan).join("\n")}`;
        await convergesNow(stage, desired, shown);
      }),
      runs(few),
    );

  it("a run cut off at any durable write is finished by the next, with nothing made twice and nothing forgotten", () =>
    holds((stage, cutAt) => stage.cutAfterWrites(cutAt)));

  it("so is one whose requests and answers are lost", () =>
    holds((stage, _cutAt, lost) => {
      stage.setFates(lost);
    }));

  it("so are several in a row, each with a file edited meanwhile", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(randomDesired, fc.nat(12), fates), { minLength: 2, maxLength: 4 }),
        async (rounds) => {
          const stage = virtualWorld(given);
          const files = neverShrinking(rounds.map(([desired]) => desired));
          let shown = "";
          for (const [index, [, cutAt, lost]] of rounds.entries()) {
            const desired = files[index]!;
            if (index === rounds.length - 1) return await convergesNow(stage, desired, shown);
            await settleUnknown(stage, desired);
            await untilBuilt(stage, desired);
            const { plan } = await stage.plan(desired);
            shown += `--- cut after ${cutAt} writes, ${lost.join(" ")} of:\n${planLines(plan).join("\n")}\n`;
            expect(
              plan.diagnostics.filter((one) => one.severity === "error"),
              shown,
            ).toEqual([]);
            stage.cutAfterWrites(cutAt);
            stage.setFates([...lost]);
            await apply(stage, desired).catch(() => undefined);
            stage.cutAfterWrites(undefined);
            stage.setFates([]);
          }
        },
      ),
      runs(few),
    ));

  it("so is one that suffers both", () =>
    holds((stage, cutAt, lost) => {
      stage.cutAfterWrites(cutAt);
      stage.setFates(lost);
    }));
});

/**
 * A narrow plan looks only at what it can touch, and that changes nothing of it: over random worlds, with hands in them,
 * it is the plan that a look at everything gives for the same targets.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { PlanOptions } from "../../reconciler/core/diff/context";
import { asClosed, type Desired } from "../../reconciler/core/model/desired";
import { makePlan, type Plan } from "../../reconciler/core/plan/plan";
import { refresh } from "../../reconciler/engine/refresh";
import { ScopeRefused } from "../../reconciler/engine/scope";
import { type VirtualWorld, virtualWorld } from "../support/virtual-world";
import { randomCapabilities, randomDesired, runs } from "./random-desired";

/** What somebody does behind the tool's back. */
const hands = [
  "move volume",
  "detach",
  "delete volume",
  "delete vm",
  "delete group",
  "rename vm",
  "open port",
] as const;
const randomHands = fc.array(fc.tuple(fc.constantFrom(...hands), fc.nat(5), fc.nat(5)), { maxLength: 3 });

async function lay(hand: (typeof hands)[number], first: number, second: number, { client, state }: VirtualWorld) {
  const records = [...(await state()).resources.values()];
  const idOf = (kind: string, at: number): string => {
    const ids = records.flatMap((one) => (one.kind === kind && one.id !== undefined ? [one.id] : []));
    return ids[at % Math.max(1, ids.length)] ?? "none";
  };
  const volume = idOf("volume", first);
  const live = await client.getVolume(volume);
  const host = live.status === "accepted" ? (live.value.attachedTo ?? undefined) : undefined;
  if (host !== undefined && hand !== "open port") await client.detachVolume(volume, host, true);
  if (hand === "move volume") await client.attachVolume(volume, idOf("vm", second));
  if (hand === "delete volume") await client.deleteVolume(volume);
  if (hand === "delete vm") await client.deleteVm(idOf("vm", first), undefined);
  if (hand === "delete group") await client.deleteGroup(idOf("group", first));
  if (hand === "rename vm") await client.renameVm(idOf("vm", first), `by-hand-${second}`);
  if (hand === "open port")
    await client.createRule(idOf("group", first), {
      direction: "ingress",
      ethertype: "IPv4",
      protocol: "tcp",
      portMin: 7000 + second,
      portMax: 7000 + second,
      remoteIp: "0.0.0.0/0",
    });
}

/** The same plan from a look at everything. */
async function planSeeingAll(stage: VirtualWorld, desired: Desired, options: PlanOptions): Promise<Plan> {
  const state = await stage.state();
  const { live, findings } = await refresh(stage.client, desired, state);
  if (live.doubt !== undefined) throw new Error("doubt");
  return makePlan({ desired: asClosed(desired), state, live, can: stage.client.can, options, findings });
}

const shown = ({ changes, steps, consents, diagnostics, unchanged, attached }: Plan) => ({
  changes,
  steps,
  consents,
  errors: diagnostics.filter(({ severity }) => severity === "error"),
  unchanged,
  attached,
});

describe("a narrow plan", () => {
  it("is what a look at everything gives for the same targets", async () => {
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(randomDesired, randomDesired, randomCapabilities, randomHands),
        fc.tuple(fc.nat(8), fc.nat(8), fc.boolean(), fc.boolean()),
        async ([before, after, capabilities, touched], [first, second, excludes, destroy]) => {
          const stage = virtualWorld(capabilities);
          await stage.apply(await stage.plan(before));
          for (const [hand, one, other] of touched) await lay(hand, one, other, stage);
          const known = [...(await stage.state()).resources.keys(), ...after.resources.map(({ address }) => address)];
          if (known.length === 0) return;
          const named = [...new Set([first, second].map((at) => known[at % known.length]!))].sort();
          const options: PlanOptions = {
            ...(excludes ? { excludes: named } : { targets: named }),
            ...(destroy ? { destroy } : {}),
          };
          const whole = await planSeeingAll(stage, after, options).catch(() => undefined);
          if (whole === undefined) return;
          const narrow = await stage.plan(after, options).catch((error: unknown) => {
            if (error instanceof ScopeRefused) return undefined;
            throw error;
          });
          compared++;
          expect(narrow === undefined ? "refused" : shown(narrow.plan)).toEqual(shown(whole));
        },
      ),
      runs(80),
    );
    expect(compared).toBeGreaterThan(60);
  });
});

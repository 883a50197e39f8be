import { describe, expect, it } from "vitest";
import { systemClock } from "../../reconciler/cli/compose";
import { countCampaign } from "../support/campaign-count";
import { createMortal, type Moment } from "../support/mortal";
import { recover, type Service, setStage, withoutOrphans } from "../support/stage";
import { type Story, stories } from "../support/stories";
import { type Shape, shapeOf } from "../support/world-shape";

/** Every n-th moment is tried; 1 tries all. */
const stride = Number(process.env["KILL_STRIDE"] ?? 5);
let offset = 0;
const slow = process.env["SLOW_WORLD"] === undefined ? {} : { timeScale: Number(process.env["SLOW_WORLD"]) };

describe.each(["everything", "built-in"] as const)(
  "a run that dies at any request or write is finished by the next one, with the service's %s",
  (service) => {
    for (const [title, story] of Object.entries(stories))
      it.skipIf(story.only !== undefined && story.only !== service)(title, async () => {
        const { expected, counts } = await undisturbed(story, service);
        const violations: string[] = [];
        const tried = moments(counts).filter((_, index) => (index + offset++) % stride === 0);
        for (const moment of tried) {
          const problems = await dieAt(story, service, moment, expected);
          for (const problem of problems) violations.push(`${moment.when} ${moment.of} ${moment.nth}: ${problem}`);
        }
        countCampaign("runs that die", tried.length, violations.length);
        expect(violations.join("\n")).toEqual("");
      });
  },
);

function moments(counts: Readonly<Record<Moment["of"], number>>): Moment[] {
  const list: Moment[] = [];
  for (const of of ["request", "write"] as const)
    for (let nth = 1; nth <= counts[of]; nth++)
      for (const when of ["before", "after"] as const) list.push({ of, nth, when });
  return list;
}

async function undisturbed(story: Story, service: Service) {
  const stage = await setStage(story, service, slow);
  try {
    const mortal = createMortal({ client: stage.world.client, store: stage.world.store, clock: systemClock });
    await stage.run(mortal);
    return { expected: shapeOf(withoutOrphans(await stage.dump(), stage.state())), counts: mortal.counts };
  } finally {
    await stage.close();
  }
}

async function dieAt(story: Story, service: Service, moment: Moment, expected: Shape): Promise<string[]> {
  const stage = await setStage(story, service, slow);
  try {
    const mortal = createMortal({ client: stage.world.client, store: stage.world.store, clock: systemClock }, moment);
    await Promise.race([stage.run(mortal), mortal.death]);
    // What was in flight beside it still has its effect.
    await systemClock.sleep(5);
    return await recover(stage, story, expected);
  } finally {
    await stage.close();
  }
}

/** Runs that die, and answers that get lost, before deployments that differ wherever the contract is silent. */
import { describe, expect, it } from "vitest";
import { readDialectText } from "../../reconciler/dialect/read-dialect";
import type { BenchOptions } from "../support/bench-world";
import { countCampaign } from "../support/campaign-count";
import { deployments, type Known } from "../support/deployments/all";
import { startFront } from "../support/deployments/front";
import { momentsOf } from "../support/mortal";
import { dieAt, recover, setStage, undisturbed } from "../support/stage";
import { type Story, stories } from "../support/stories";
import type { Shape } from "../support/world-shape";

/**
 * Every n-th moment is tried; 1 tries all. An undisturbed run of a story costs as much as a death in it, so `check`
 * takes every fourth story of a deployment, of each other ones.
 */
const { DEPLOYMENT_STRIDE } = process.env;
const stride = Number(DEPLOYMENT_STRIDE ?? 53);
const everyStory = DEPLOYMENT_STRIDE === undefined ? 4 : 1;
let count = 0;

const optionsFor = ({ deployment, dialect }: Known): Partial<BenchOptions> => ({
  dialect: readDialectText(dialect, "dialect.yaml").dialect,
  pageSize: 500,
  front: (emulator) => startFront(deployment, emulator),
});

const faults = ["drop-before", "drop-after"] as const;

const told = Object.entries(stories).filter(([, story]) => story.only !== "built-in");

describe.each(deployments.map((known, at) => [known.deployment.title, known, at] as const))("%s", (_, known, at) => {
  const options = optionsFor(known);
  for (const [title, story] of told.filter((_story, index) => (index + at) % everyStory === 0))
    it(title, async () => {
      const { expected, counts } = await undisturbed(story, "everything", options);
      const violations: string[] = [];
      let tried = 0;
      for (const moment of momentsOf(counts)) {
        if (count++ % stride !== 0) continue;
        tried++;
        for (const problem of await dieAt(story, "everything", moment, expected, options))
          violations.push(`killed ${moment.when} ${moment.of} ${moment.nth}: ${problem}`);
      }
      for (const kind of faults)
        for (let nth = 0; nth < counts.request; nth++) {
          if (count++ % stride !== 0) continue;
          tried++;
          for (const problem of await lostAt(story, options, kind, nth, expected))
            violations.push(`${kind} at ${nth}: ${problem}`);
        }
      countCampaign(`deployments: ${known.deployment.title}`, tried, violations.length);
      expect(violations.join("\n")).toEqual("");
    });
});

/** The n-th change is not answered, with or without its effect. */
async function lostAt(
  story: Story,
  options: Partial<BenchOptions>,
  kind: (typeof faults)[number],
  nth: number,
  expected: Shape,
): Promise<string[]> {
  const stage = await setStage(story, "everything", options);
  try {
    stage.world.emulator.setFaults([{ operation: "write", kind, count: 1, skip: nth }]);
    await stage.run();
    stage.world.emulator.setFaults([]);
    return await recover(stage, story, expected);
  } finally {
    await stage.close();
  }
}

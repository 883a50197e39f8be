/**
 * The explorer in `check`: every history with one stroke of bad luck, and with two where the world is small enough. `npm
 * run campaign:explore` walks two strokes everywhere. The shortest history that breaks a rule is written as a story below
 * stories/, which is told again with every check once it is committed. A story that is `known` is told the other way
 * round: it says why it still breaks a rule, and fails when it does not any more.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { countCampaign } from "../support/campaign-count";
import { explore, replay, type Violation } from "./explore";
import { smallWorlds } from "./small-worlds";

const everywhere = process.env["EXPLORE_STROKES"];
const folder = join(__dirname, "stories");

/** At least so many processes are lived through, and so many moments met: fewer would mean that fates are not walked. */
const least: Readonly<
  Record<string, { readonly strokes: number; readonly processes: number; readonly moments: number }>
> = {
  "a VM, a volume on it and a group": { strokes: 1, processes: 140, moments: 45 },
  "a volume that grows on its VM": { strokes: 2, processes: 500, moments: 80 },
  "a VM that is renamed and resized": { strokes: 2, processes: 450, moments: 80 },
  "a VM that is replaced under its volume": { strokes: 1, processes: 130, moments: 35 },
  "rules that come and go": { strokes: 2, processes: 430, moments: 60 },
  "a group that is replaced without a gap": { strokes: 1, processes: 90, moments: 25 },
  "a volume that grows, and a command that is owed": { strokes: 1, processes: 120, moments: 34 },
  "a VM with its commands, made": { strokes: 1, processes: 125, moments: 40 },
  "a VM with its commands, replaced": { strokes: 1, processes: 155, moments: 45 },
  "a VM with its command, rebuilt": { strokes: 1, processes: 34, moments: 9 },
  "everything goes": { strokes: 1, processes: 85, moments: 22 },
  "a service without lists of volumes and groups": { strokes: 1, processes: 45, moments: 20 },
};

interface Written extends Omit<Violation, "words"> {
  readonly story: string;
  readonly words: readonly string[];
  /** Why it may still break a rule. */
  readonly known?: string;
}

/** What was broken last, as a story. */
function write(story: string, violation: Violation): string {
  const name = `found-${story.replaceAll(/[^a-z]+/gi, "-").toLowerCase()}.yaml`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), stringify({ story, ...violation } satisfies Written));
  return name;
}

describe.each(Object.entries(smallWorlds))("every history of %s", (title, story) => {
  it("keeps the rules of evidence", async () => {
    const bar = least[title] ?? { strokes: 1, processes: 1, moments: 1 };
    const strokes = Number(everywhere ?? bar.strokes);
    const began = process.cpuUsage();
    const { violations, ...counts } = await explore(story(), { strokes });
    const ms = Math.round(process.cpuUsage(began).user / 1000);
    console.log(`explorer: ${title}: ${JSON.stringify(counts)} in ${ms} ms of CPU, ${violations.length} violations`);
    countCampaign("histories of small worlds", counts.processes, violations.length);
    const [shortest] = violations;
    if (shortest !== undefined) {
      const name = write(title, shortest);
      throw new Error([`written as test/explorer/stories/${name}`, ...shortest.words, ...shortest.broken].join("\n  "));
    }
    expect(counts.processes).toBeGreaterThanOrEqual(bar.processes);
    expect(counts.moments).toBeGreaterThanOrEqual(bar.moments);
  });
});

describe("the stories that were found", () => {
  const names = readdirSync(folder).filter((name) => name.endsWith(".yaml"));
  it.each(names)("%s", async (name) => {
    // The explorer wrote it, and whoever said what is known.
    const { story, history, known } = parse(readFileSync(join(folder, name), "utf8")) as Written;
    const broken = await replay(smallWorlds[story]!(), history);
    if (known === undefined) expect(broken).toEqual([]);
    else expect(broken, `${name} is mended: take out "known"`).not.toEqual([]);
  });
});

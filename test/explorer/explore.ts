/**
 * Walks every history of a small world, up to so many strokes of bad luck: what may become of each request that changes
 * something (world.ts names the fates), and a death before and after each durable write, in any run, in the run after it,
 * and so on. Histories are walked breadth-first by the number of strokes, so the first that breaks a rule is the shortest.
 *
 * A history is a chain of processes. Between two of them all there is is the world, the state, what is still on its way
 * and how long ago things were; a moment that was met before, up to the ids and the dates, is not walked from again.
 * Within a process nothing is left out: each stroke at each point, then each second stroke at each later point of the run
 * that the first one led to.
 *
 * After the last stroke every moment must lead to a run that has nothing left to do, by a few undisturbed runs. That is not
 * asked for where somebody else has taken a name, nor of a service without lists: there a person is asked.
 */
import { capabilities, emulatedWorld, momentOf } from "../support/virtual-world";
import { brokenAt, stateOf, wronglyDone } from "./rules";
import type { SmallWorld } from "./small-worlds";
import { type Lived, type Luck, live, type Moment } from "./world";

/** At which points of a process what luck was chosen. */
type Strokes = Readonly<Record<number, Luck>>;

/** The same in words that outlive a change of the engine: what was done for the how-manieth time. */
export interface Stroke {
  readonly at: string;
  readonly nth: number;
  readonly luck: Luck;
}

export interface Violation {
  readonly history: readonly (readonly Stroke[])[];
  readonly words: readonly string[];
  readonly broken: readonly string[];
}

export interface Explored {
  /** Processes that were lived through. */
  readonly processes: number;
  /** Moments between two processes that differ. */
  readonly moments: number;
  readonly strokes: number;
  /** The longest chain of processes. */
  readonly depth: number;
  readonly points: number;
  readonly violations: readonly Violation[];
}

/** So many undisturbed runs may be needed before one has nothing to do. */
const mostCleanRuns = 5;

interface Node {
  readonly moment: Moment;
  readonly history: readonly (readonly Stroke[])[];
  readonly words: readonly string[];
  readonly depth: number;
}

export async function startOf({ before, service }: SmallWorld): Promise<Moment> {
  let moment: Moment = {
    world: momentOf(emulatedWorld()),
    stored: { journal: [] },
    epochs: 0,
    onItsWay: [],
    lateUntil: {},
    unknown: [],
    strangers: [],
    unpaid: [],
  };
  for (let run = 0; before !== undefined && run < mostCleanRuns; run++) {
    const lived = await live(moment, before, capabilities(service), calmly);
    moment = later(lived.after, 600_000);
    if (lived.end === "nothing to do") break;
  }
  return moment;
}

const later = (moment: Moment, ms: number): Moment => ({
  ...moment,
  world: { ...moment.world, nowMs: moment.world.nowMs + ms },
});

export async function explore(
  story: SmallWorld,
  {
    strokes,
    mostProcesses = Number.POSITIVE_INFINITY,
    mostViolations = 1,
  }: { readonly strokes: number; readonly mostProcesses?: number; readonly mostViolations?: number },
): Promise<Explored> {
  const { desired } = story;
  const has = capabilities(story.service);
  const asks = !has("volume.list") || !has("group.list") || !has("vm.list");
  const met = new Set<string>();
  const violations: Violation[] = [];
  let [processes, points, depth] = [0, 0, 0];
  /** Moments from which undisturbed runs are known to end well. */
  const calm = new Set<string>();
  /** What is to be walked from, by the strokes it has had. */
  const levels: Node[][] = Array.from({ length: strokes + 1 }, () => []);
  const start: Node = { moment: await startOf(story), history: [], words: [], depth: 0 };
  met.add(keyOf(start.moment));
  levels[0]?.push(start);

  // What is met without a stroke is of this level too.
  for (const [used, level] of levels.entries())
    for (const from of level) {
      depth = Math.max(depth, from.depth);
      const runs: Strokes[] = [{}];
      for (let nth = 0; nth < runs.length; nth++) {
        const chosen = runs[nth]!;
        const spent = used + Object.keys(chosen).length;
        if (processes >= mostProcesses || violations.length >= mostViolations) break;
        const lived = await livedFrom(from, chosen);
        const last = Math.max(-1, ...Object.keys(chosen).map(Number));
        if (spent < strokes)
          lived.points.forEach((point, at) => {
            if (at > last) for (const luck of point.choices.slice(1)) runs.push({ ...chosen, [at]: luck });
          });
        const node: Node = {
          moment: lived.after,
          history: [...from.history, strokesOf(lived, chosen)],
          words: [...from.words, ...wordsOf(lived, chosen)],
          depth: from.depth + 1,
        };
        const broken = [...lived.broken, ...brokenAt(lived.after), ...wronglyDone(lived, desired)];
        if (broken.length > 0) {
          violations.push({ history: node.history, words: node.words, broken });
          continue;
        }
        const key = keyOf(lived.after);
        if (met.has(key)) continue;
        met.add(key);
        levels[spent]?.push(node);
        const stuck = asks || lived.after.strangers.length > 0 ? undefined : await whyNotDone(lived.after);
        if (stuck !== undefined) violations.push({ history: node.history, words: node.words, broken: [stuck] });
      }
    }
  return { processes, moments: met.size, strokes, depth, points, violations };

  async function livedFrom({ moment }: Node, chosen: Strokes): Promise<Lived> {
    processes++;
    const lived = await live(moment, desired, has, (index) => chosen[index]);
    points += lived.points.length;
    return lived;
  }

  /** By undisturbed runs alone. */
  async function whyNotDone(from: Moment): Promise<string | undefined> {
    let moment = from;
    let why = "";
    for (let run = 0; run < mostCleanRuns; run++) {
      const key = keyOf(moment);
      if (calm.has(key)) return undefined;
      processes++;
      const lived = await live(moment, desired, has, calmly);
      const broken = [...lived.broken, ...brokenAt(lived.after), ...wronglyDone(lived, desired)];
      if (broken.length > 0) return `an undisturbed run: ${broken.join("; ")}`;
      if (lived.end === "nothing to do") {
        calm.add(key);
        return undefined;
      }
      why = lived.why;
      moment = keyOf(lived.after) === key ? later(lived.after, 120_000) : lived.after;
    }
    return `after ${mostCleanRuns} undisturbed runs there is still something to do: ${why}`;
  }
}

const calmly = (): undefined => undefined;

const strokesOf = ({ points }: Lived, chosen: Strokes): Stroke[] =>
  Object.entries(chosen).map(([index, luck]) => {
    const at = points[Number(index)]?.what ?? "";
    return { at, nth: points.slice(0, Number(index)).filter(({ what }) => what === at).length, luck };
  });

/** One history again: what it breaks. Undisturbed runs follow it until nothing is left to do. */
export async function replay(story: SmallWorld, history: Violation["history"]): Promise<string[]> {
  const has = capabilities(story.service);
  let moment = await startOf(story);
  for (let run = 0; run < history.length + mostCleanRuns; run++) {
    const strokes = history[run] ?? [];
    const lived = await live(
      moment,
      story.desired,
      has,
      (_, what, nth) => strokes.find((one) => one.at === what && one.nth === nth)?.luck,
    );
    const broken = [...lived.broken, ...brokenAt(lived.after), ...wronglyDone(lived, story.desired)];
    if (broken.length > 0) return broken;
    if (run >= history.length && lived.end === "nothing to do") return [];
    moment = keyOf(lived.after) === keyOf(moment) ? later(lived.after, 120_000) : lived.after;
  }
  return ["there is still something to do"];
}

const wordsOf = ({ points, end, why }: Lived, chosen: Strokes): string[] => [
  ...Object.entries(chosen).map(([at, luck]) => `${points[Number(at)]?.what}: ${luck}`),
  `(${end}${why === "" ? "" : `: ${why}`})`,
];

/** A moment up to the ids and the dates: what two moments have in common from which the same can follow. */
export function keyOf(moment: Moment): string {
  const { world, onItsWay, lateUntil, unknown, strangers, unpaid } = moment;
  const { resources, intents, orphans } = stateOf(moment);
  const now = world.nowMs;
  const things = world.things.flatMap((change) => {
    if (!("put" in change) || !["vm", "volume", "group", "rule"].includes(change.put)) return [];
    const {
      seq: _seq,
      created_at,
      pending,
      ...value
    } = change.value as unknown as Record<string, unknown> & { created_at: string; pending?: { until: number } };
    const age = now - Date.parse(created_at);
    return [
      JSON.stringify([
        change.put,
        value,
        pending == null ? null : { ...pending, until: Math.max(0, pending.until - now) },
        age < 60_000 ? age : "old",
      ]),
    ];
  });
  const rest = [
    [...resources],
    [...intents],
    [...orphans],
    onItsWay.map((one) => [one.at - now, one.operation, one.body, one.options.id]),
    Object.entries(lateUntil).flatMap(([list, until]) => (until > now ? [[list, until - now]] : [])),
    unknown.map(({ what, at, looks }) => [what, Math.min(now - at, 90_000), Math.min(looks, 3)]),
    strangers,
    unpaid,
  ];
  const ids = new Map<string, number>();
  return JSON.stringify([things.sort(byShape), rest])
    .replace(/1{8}-1{4}-4111-8111-\d{12}/g, (id) => {
      if (!ids.has(id)) ids.set(id, ids.size);
      return `#${ids.get(id)}`;
    })
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "date");
}

const shape = (text: string): string => text.replace(/1{8}-1{4}-4111-8111-\d{12}/g, "#").replace(/"seq":\d+/g, "");
const byShape = (a: string, b: string): number => (shape(a) < shape(b) ? -1 : shape(a) > shape(b) ? 1 : a < b ? -1 : 1);

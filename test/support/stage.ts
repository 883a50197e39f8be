/**
 * One story on one world: the world before, a run of the edit that something happens to, and what must hold after it.
 */
import { isDeepStrictEqual } from "node:util";
import type { WorldDump } from "../../emulator";
import { systemClock } from "../../reconciler/cli/compose";
import type { PlanOptions } from "../../reconciler/core/diff/context";
import type { Desired } from "../../reconciler/core/model/desired";
import type { StateChange } from "../../reconciler/core/model/recorded";
import { applyChange, type FoldedState } from "../../reconciler/core/state/fold";
import { readState, writeSnapshot } from "../../reconciler/core/state/text";
import {
  type BenchOptions,
  type BenchWorld,
  desiredOf,
  dialectFor,
  startBenchWorld,
  type Through,
} from "./bench-world";
import type { Guests } from "./guests";
import { createMortal, type Moment } from "./mortal";
import { everything, type Service, type Story } from "./stories";
import type { MemoryStore } from "./virtual-world";
import { type Dump, differences, readDump, type Shape, shapeOf, unnamed, withoutOrphans } from "./world-shape";

export interface Stage {
  readonly world: BenchWorld;
  /** The VMs that the plan says have failed. */
  failed(): Promise<readonly string[]>;
  /** One run of the edit. */
  run(through?: Partial<Through>, replace?: readonly string[]): ReturnType<BenchWorld["apply"]>;
  state(): FoldedState;
  dump(): Promise<Dump>;
  close(): Promise<void>;
}

interface Before {
  readonly seed: WorldDump;
  readonly stored: (baseUrl: string) => MemoryStore["stored"];
}

/** What a story begins with, as one run has made it: most of what a try costs would be making it again. */
const known = new Map<Story, { readonly options: BenchOptions; readonly before: Promise<Before> }[]>();

function beforeOf(story: Story, options: BenchOptions): Promise<Before> {
  const all = known.get(story) ?? [];
  known.set(story, all);
  const same = all.find((one) => isDeepStrictEqual(one.options, options));
  if (same !== undefined) return same.before;
  const before = makeBefore(story, options);
  all.push({ options, before });
  return before;
}

async function makeBefore(story: Story, options: BenchOptions): Promise<Before> {
  const world = await startBenchWorld(options);
  try {
    const first = await world.apply(desiredOf(JSON.stringify(story.before)));
    const wrong = first.plan.diagnostics.find(({ severity }) => severity === "error");
    const open = wrong ?? first.report?.steps.find(({ result }) => result.end !== "done");
    if (open !== undefined) throw new Error(`the world before does not stand: ${JSON.stringify(open)}`);
    await story.between?.(world.control);
    const { snapshot, journal } = world.store.stored;
    const stored: Before["stored"] = (baseUrl) => {
      const there = (text: string): string => text.replaceAll(world.baseUrl, baseUrl);
      return { ...(snapshot === undefined ? {} : { snapshot: there(snapshot) }), journal: journal.map(there) };
    };
    return { seed: world.emulator.dump(), stored };
  } finally {
    await world.close();
  }
}

const read = new Map<Story, Desired>();

/** Read once: nothing changes what was read. */
function desiredAfter(story: Story): Desired {
  const after = read.get(story) ?? desiredOf(JSON.stringify(story.after));
  read.set(story, after);
  return after;
}

export async function setStage(
  story: Story,
  service: Service,
  { requestTimeoutMs, ...others }: Partial<BenchOptions> = {},
): Promise<Stage> {
  const capabilities = service === "everything" ? { with: everything } : {};
  const options: BenchOptions = { ...capabilities, ...story.emulator, dialect: dialectFor(capabilities), ...others };
  const world = await startBenchWorld({
    ...options,
    ...(await beforeOf(story, options)),
    ...(requestTimeoutMs === undefined ? {} : { requestTimeoutMs }),
    checkHealth: async () => story.unhealthy !== true,
  });
  const after = desiredAfter(story);
  const planOptions: PlanOptions = story.destroy === true ? { destroy: true } : {};
  return {
    world,
    async failed() {
      const { diagnostics } = await world.plan(after, planOptions);
      return diagnostics.flatMap(({ code, address }) => (code === "plan/vm-failed" && address ? [address] : []));
    },
    run: (through, replace = []) =>
      world.apply(after, { ...planOptions, ...(replace.length > 0 ? { replace } : {}) }, through),
    state: () => foldedState(world),
    dump: async () => readDump(await world.control("GET", "/world")),
    close: () => world.close(),
  };
}

function foldedState(world: BenchWorld): FoldedState {
  const read = readState(world.store.stored, "none");
  if (!read.ok) throw new Error(read.problem);
  return read.state;
}

/** Does what the message of an unknown outcome says, according to the truth: import, or state resolve --not-created. */
export async function settleUnknown(stage: Stage): Promise<number> {
  const state = stage.state();
  const dump = await stage.dump();
  const changes: StateChange[] = [];
  const named = new Set([...state.resources.values()].map((record) => record.id));
  for (const { address, operation, name, idsBefore, record } of state.intents.values()) {
    if (operation !== "volume.create" && operation !== "group.create") continue;
    const kind = operation === "volume.create" ? "volume" : "group";
    const made = dump[kind].find((row) => row.name === name && !idsBefore.includes(row.id) && !named.has(row.id));
    if (made !== undefined) changes.push({ type: "resource", address, record: { ...record, id: made.id } as never });
    changes.push({ type: "intent", address, intent: null });
  }
  const mutable = {
    resources: new Map(state.resources),
    intents: new Map(state.intents),
    orphans: new Map(state.orphans),
  };
  for (const change of changes) applyChange(mutable, change);
  stage.world.store.stored = {
    snapshot: writeSnapshot({ ...state, ...mutable, serial: state.serial + 1 }),
    journal: [],
  };
  return changes.length;
}

/** The next run, as its user would do it; what is wrong afterwards, in words. */
export async function recover(
  stage: Stage,
  story: Story,
  expected?: Shape,
  apartFrom: (shape: Shape) => Shape = (shape) => shape,
): Promise<string[]> {
  const problems: string[] = [];
  await stage.world.store.breakLock();
  const lost = unnamed(await stage.dump(), stage.state(), story.letsGo);
  if (lost.length > 0) problems.push(`named nowhere after the stop: ${lost.join(", ")}`);
  // A VM that had been built and then failed is replaced only when its user says so, as the plan offers.
  let { plan, report } = await stage.run({}, await stage.failed());
  if (plan.diagnostics.some(({ code }) => code === "plan/outcome-unknown")) {
    if ((await settleUnknown(stage)) === 0) problems.push("an unknown outcome that nothing settles");
    ({ plan, report } = await stage.run());
  }
  for (const { severity, code, summary } of plan.diagnostics)
    if (severity === "error") problems.push(`next run: ${code} ${summary}`);
  if (story.neverSettles !== true) {
    for (const { step, result } of report?.steps ?? [])
      if (result.end !== "done") problems.push(`next run: ${step.id} ${result.end} ${result.message}`);
    const again = await stage.run();
    for (const { name, before, after, changes } of again.plan.outputs ?? [])
      if (changes) problems.push(`the output ${name} is still ${JSON.stringify(before)}, not ${JSON.stringify(after)}`);
    if (again.plan.changes.length + again.plan.steps.length + again.plan.bookkeeping.length > 0)
      problems.push(
        `the run after that still has something to do: ${JSON.stringify([again.plan.changes.map((change) => [change.address, change.action, change.because]), again.plan.bookkeeping])}`,
      );
  }
  if (stage.state().intents.size > 0) problems.push(`intents left: ${[...stage.state().intents.keys()].join(", ")}`);
  const dump = await stage.dump();
  const lostLater = unnamed(dump, stage.state(), story.letsGo);
  if (lostLater.length > 0) problems.push(`named nowhere in the end: ${lostLater.join(", ")}`);
  if (expected !== undefined)
    problems.push(...differences(apartFrom(shapeOf(withoutOrphans(dump, stage.state()))), expected));
  return problems;
}

/** What the edit leads to when nothing happens to it, and how many requests and writes it takes. */
export async function undisturbed(
  story: Story,
  service: Service,
  options: Partial<BenchOptions> = {},
  guests?: Guests,
) {
  const stage = await setStage(story, service, options);
  try {
    guests?.enter(stage.world.emulator);
    const mortal = mortalOn(stage);
    await stage.run(mortal);
    return { expected: shapeOf(withoutOrphans(await stage.dump(), stage.state())), counts: mortal.counts };
  } finally {
    await stage.close();
  }
}

/** A run of the edit that dies at the moment; what is wrong after the runs that follow. */
export async function dieAt(
  story: Story,
  service: Service,
  moment: Moment,
  expected: Shape,
  options: Partial<BenchOptions> = {},
  guests?: Guests,
): Promise<string[]> {
  const stage = await setStage(story, service, options);
  try {
    guests?.enter(stage.world.emulator);
    const mortal = mortalOn(stage, moment);
    await Promise.race([stage.run(mortal), mortal.death]);
    // What was in flight beside it still has its effect.
    await systemClock.sleep(5);
    const problems = await recover(stage, story, expected);
    return [...problems, ...(guests?.early ?? []), ...(guests?.unpaid(story.owes ?? []) ?? [])];
  } finally {
    await stage.close();
  }
}

const mortalOn = ({ world: { client, store } }: Stage, moment?: Moment) =>
  createMortal({ client, store, clock: systemClock }, moment);

/**
 * Proves a dialect on the embedded service that speaks it: a whole life of a small project, a run that dies at each of its
 * writes, and answers that are lost or refused, with a service that is done at once and with one that takes its time.
 * The service interprets the dialect with code of its own, so that a mistake in the file shows as a difference.
 */

import { openEmulator, type WorldDump } from "../../emulator";
import type { PlanOptions } from "../core/diff/context";
import { asClosed } from "../core/model/desired";
import { hasErrors } from "../core/model/diagnostic";
import { type Operation, rowOf } from "../core/model/operation";
import type { Outcome } from "../core/model/outcome";
import { PermittedPlan } from "../core/plan/permitted";
import { isEmpty, type Plan } from "../core/plan/plan";
import type { Dialect } from "../dialect/dialect";
import { carryOutPermitted } from "../engine/apply";
import { awaitInterrupted } from "../engine/await-interrupted";
import { type Prepared, preparePlan } from "../engine/plan";
import { defaultTiming, type Ports } from "../engine/ports";
import type { ServiceClient } from "../service/client";
import { serviceHere } from "../service/connections-here";
import { Credential } from "../service/credential";
import { createServiceClient } from "../service/http-client";
import { systemClock } from "../service/system-clock";
import { createMemoryStore } from "../store/memory";
import type { StoredState } from "../store/store";
import { interceptClient } from "./intercepted-client";
import { type Chapter, lifeIn } from "./prove-life";
import { describeWorld, twinAmong, undoneLines } from "./world-lines";

export const proofParts = ["life-cycle", "kills", "faults"] as const;
export type ProofPart = (typeof proofParts)[number];

export interface ProofCheck {
  readonly part: ProofPart;
  readonly title: string;
  /** What was otherwise than it has to be; left out: it held. */
  readonly problem?: string;
}

export interface ProofOptions {
  readonly parts: readonly ProofPart[];
  /** Which of the kills and the faults; left out: all. */
  readonly isTried?: (title: string, nth: number) => boolean;
  readonly onCheck?: (check: ProofCheck) => void;
  /** Once aborted, nothing new is begun, and what is under way is cut: of that nothing is reported. */
  readonly signal?: AbortSignal;
}

/** `0`: the service is done when it answers; the other makes a VM in about a tenth of a second. */
const paces = [0, 600] as const;

export async function proveDialect(dialect: Dialect, options: ProofOptions): Promise<readonly ProofCheck[]> {
  const checks: ProofCheck[] = [];
  const signal = options.signal ?? new AbortController().signal;
  const report = (part: ProofPart, title: string, problem: string | undefined): void => {
    if (signal.aborted) return;
    const check: ProofCheck = { part, title, problem };
    checks.push(check);
    options.onCheck?.(check);
  };
  /** What is thrown where it was cut says nothing. */
  async function unlessCut<T>(act: () => Promise<T>): Promise<T | undefined> {
    try {
      return await act();
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    }
  }
  const moments: Moment[] = [];
  const world = await openProofWorld(dialect, { pace: 0, signal });
  try {
    for (const [index, chapter] of lifeIn(dialect).entries()) {
      if (signal.aborted) return checks;
      const before = { stored: await world.store.read(), seed: world.emulator.dump() };
      const lived = await unlessCut(() => live(world, chapter));
      if (lived === undefined || signal.aborted) return checks;
      const { problem, writes } = lived;
      if (options.parts.includes("life-cycle")) report("life-cycle", chapter.title, problem);
      if (problem !== undefined) return checks;
      if (index < 2) moments.push({ before, chapter, writes, after: describeWorld(world.emulator.dump()) });
    }
  } finally {
    await world.close();
  }
  const misfortunes = [...killsIn(dialect, moments, signal), ...faultsIn(dialect, moments, signal)];
  for (const [nth, { part, title, happen }] of misfortunes.entries())
    if (!signal.aborted && options.parts.includes(part) && options.isTried?.(title, nth) !== false)
      report(part, title, await unlessCut(happen));
  return checks;
}

interface Misfortune {
  readonly part: ProofPart;
  readonly title: string;
  /** Lets it happen in a world of its own; what was otherwise than it has to be. */
  happen(): Promise<string | undefined>;
}

const killsIn = (dialect: Dialect, moments: readonly Moment[], signal: AbortSignal): readonly Misfortune[] =>
  paces.flatMap((pace) =>
    moments.flatMap(({ before, chapter, writes, after }) =>
      writes.flatMap((operation, index) =>
        (["before", "after"] as const).map((when) => ({
          part: "kills" as const,
          title: `${chapter.title}: killed ${when} ${operation} (write ${index + 1}${paceWords(pace)})`,
          happen: () => dieAt(dialect, { ...before, pace, signal }, chapter, { nth: index + 1, when }, after),
        })),
      ),
    ),
  );

const faultsIn = (dialect: Dialect, moments: readonly Moment[], signal: AbortSignal): readonly Misfortune[] =>
  paces.flatMap((pace) =>
    moments.flatMap(({ before, chapter, writes, after }) =>
      [...new Set(writes)].flatMap((operation) =>
        faultsTried.map(([words, fault]) => ({
          part: "faults" as const,
          title: `${chapter.title}: ${operation} ${words}${paceWords(pace)}`,
          happen: () => disturb(dialect, { ...before, pace, signal }, chapter, { operation, ...fault }, after),
        })),
      ),
    ),
  );

const paceWords = (pace: number): string => (pace === 0 ? "" : ", of a service that takes its time");

interface Moment {
  readonly before: { readonly stored: StoredState; readonly seed: WorldDump };
  readonly chapter: Chapter;
  /** The operations that changed something, in their order. */
  readonly writes: readonly Operation[];
  readonly after: WorldShape;
}

const faultsTried = [
  ["lost before it was done", { kind: "drop-before", count: 1 }],
  ["lost after it was done", { kind: "drop-after", count: 1 }],
  ["answered with 500 after it was done", { kind: "status", code: 500, when: "after", count: 1 }],
  ["answered with a page in HTML before it was done", { kind: "html", code: 502, when: "before", count: 1 }],
  ["throttled", { kind: "status", code: 429, retry_after: 0, count: 1 }],
] as const;

const proofToken = "ops-token";
const proofHolder = { who: "reconcile dialect prove", host: "here", pid: 0, since: "", command: "dialect prove" };

interface WorldStart {
  readonly pace: number;
  /** What its runs end by. */
  readonly signal: AbortSignal;
  readonly stored?: StoredState;
  readonly seed?: WorldDump;
}

type ProofWorld = Awaited<ReturnType<typeof openProofWorld>>;

interface ProofRun {
  readonly plan: Plan;
  readonly problems: readonly string[];
}

async function openProofWorld(dialect: Dialect, { pace, stored, seed, ...start }: WorldStart) {
  // A run that died never lets go of its signal, which goes with its world.
  const signal = AbortSignal.any([start.signal]);
  const emulator = await openEmulator({
    speaks: dialect,
    timeScale: pace,
    pageSize: 2,
    control: false,
    autoConfirmResize: dialect.operations["vm.resize.confirm"] === null,
    seed,
  });
  const timing = {
    ...defaultTiming,
    pollIntervalMs: 2,
    discoveryWindowMs: 60,
    vmCreateTimeoutMs: 10_000,
    requestTimeoutMs: 5000,
  };
  // The service inside bears any rate, and at the deployment's own a proof would take hours.
  const { requests_per_second: _, ...limits } = dialect.limits;
  const client = createServiceClient({
    ...serviceHere(emulator.answer),
    origin: "embedded",
    dialect: { ...dialect, limits },
    credential: new Credential(dialect.authorization.header.replace("{token}", proofToken), { kind: "fixed" }),
    timing,
    // Waits before a request is repeated are a hundredth of what they are.
    clock: { ...systemClock, sleep: (ms, signal) => systemClock.sleep(ms / 100, signal) },
  });
  const store = createMemoryStore(stored, stored === undefined ? 0 : 1);
  const portsOf = (used: ServiceClient): Ports => ({
    client: used,
    clock: systemClock,
    timing,
    runCommand: async () => ({ exitCode: 0, output: "" }),
    checkHealth: async () => true,
    emit: () => undefined,
  });
  const plan = (chapter: Chapter, used: ServiceClient = client): Promise<Prepared> =>
    preparePlan({
      desired: asClosed(chapter.desired),
      store,
      client: used,
      options: planOptionsOf(chapter),
      clock: systemClock,
      lineage: "prove",
      observe: true,
      discoveryWindowMs: timing.discoveryWindowMs,
      signal,
    });
  return {
    emulator,
    store,
    client,
    plan,
    async run(chapter: Chapter, used: ServiceClient = client): Promise<ProofRun> {
      await awaitInterrupted(store, used, portsOf(used), "prove", signal);
      const prepared = await plan(chapter, used);
      const problems = planErrors(prepared.plan);
      if (problems.length > 0 || (isEmpty(prepared.plan) && prepared.plan.bookkeeping.length === 0))
        return { plan: prepared.plan, problems };
      const report = await carryOutPermitted(PermittedPlan.onTwin(prepared.plan), {
        prepared,
        store,
        ports: portsOf(used),
        holder: proofHolder,
        stop: { soft: signal, hard: signal },
        planId: "prove",
      });
      return { plan: prepared.plan, problems: undoneLines(report) };
    },
    async close(): Promise<void> {
      await client.close();
      await emulator.close();
    },
  };
}

const planOptionsOf = ({ destroy }: Chapter): PlanOptions => (destroy === true ? { destroy: true } : {});

const planErrors = (plan: Plan): string[] =>
  hasErrors(plan.diagnostics)
    ? plan.diagnostics.flatMap(({ severity, summary, fix }) =>
        severity === "error" ? [`${summary}${fix === undefined ? "" : ` (${fix})`}`] : [],
      )
    : [];

const stillToDo = ({ changes, steps }: Plan): string | undefined =>
  steps.length === 0
    ? undefined
    : `planned again, it still wants: ${changes.map(({ action, address }) => `${action} ${address}`).join(", ") || steps.map(({ title }) => title).join(", ")}`;

/** One chapter, and a second plan that has to be empty. */
async function live(
  world: ProofWorld,
  chapter: Chapter,
): Promise<{ readonly problem: string | undefined; readonly writes: readonly Operation[] }> {
  const watched = mortal(world.client);
  const { problems } = await world.run(chapter, watched.client);
  const [first] = problems;
  if (first !== undefined) return { problem: first, writes: watched.writes };
  const again = await world.plan(chapter);
  return { problem: planErrors(again.plan)[0] ?? stillToDo(again.plan), writes: watched.writes };
}

async function dieAt(
  dialect: Dialect,
  start: WorldStart,
  chapter: Chapter,
  at: { readonly nth: number; readonly when: "before" | "after" },
  expected: WorldShape,
): Promise<string | undefined> {
  const world = await openProofWorld(dialect, start);
  try {
    const dying = mortal(world.client, at);
    await Promise.race([world.run(chapter, dying.client), dying.death]);
    await dying.idle();
    await world.store.breakLock();
    return await goesOn(world, chapter, expected);
  } finally {
    await world.close();
  }
}

async function disturb(
  dialect: Dialect,
  start: WorldStart,
  chapter: Chapter,
  fault: (typeof faultsTried)[number][1] & { readonly operation: Operation },
  expected: WorldShape,
): Promise<string | undefined> {
  const world = await openProofWorld(dialect, start);
  try {
    world.emulator.setFaults([fault]);
    return await goesOn(world, chapter, expected);
  } finally {
    await world.close();
  }
}

/** The runs that follow: they end with the world that an undisturbed run makes, or ask where nothing can be looked up. */
async function goesOn(world: ProofWorld, chapter: Chapter, expected: WorldShape): Promise<string | undefined> {
  let last: ProofRun | undefined;
  for (let run = 0; run < 3; run++) {
    last = await world.run(chapter);
    if (last.problems.length === 0) break;
  }
  const shape = describeWorld(world.emulator.dump());
  const twin = twinAmong(shape, expected);
  if (twin !== undefined) return `${twin} was made twice`;
  if (last !== undefined && last.problems.length > 0)
    return asksRightly(world.client, last) ? undefined : last.problems[0];
  const again = await world.plan(chapter);
  const open = planErrors(again.plan)[0] ?? stillToDo(again.plan);
  if (open !== undefined) return open;
  const [other] = shapeDifferences(shape, expected);
  return other;
}

/** Where no list shows what was made, only a person can say whether a create whose answer was lost was done. */
const asksRightly = ({ can }: ServiceClient, { plan }: ProofRun): boolean =>
  plan.diagnostics.some(({ code }) => code === "plan/outcome-unknown") &&
  !(["vm", "volume", "group"] as const).every((kind) => can.canFindCreated(kind));

type WorldShape = readonly string[];

const shapeDifferences = (shape: WorldShape, expected: WorldShape): readonly string[] => [
  ...expected.filter((line) => !shape.includes(line)).map((line) => `in the end there is no ${line}`),
  ...shape.filter((line) => !expected.includes(line)).map((line) => `in the end there is ${line} as well`),
];

/** A client that answers nobody any more from the n-th write on, as if its process had been killed. */
function mortal(client: ServiceClient, at?: { readonly nth: number; readonly when: "before" | "after" }) {
  const writes: Operation[] = [];
  const underWay = new Set<Promise<Outcome<unknown>>>();
  const never = new Promise<never>(() => undefined);
  let die: () => void = () => undefined;
  let isDead = false;
  const death = new Promise<void>((resolve) => {
    die = () => {
      isDead = true;
      resolve();
    };
  });
  const watched = interceptClient(client, async (operation, send) => {
    if (isDead) return never;
    const isWrite = rowOf(operation).kind !== "read";
    if (isWrite) writes.push(operation);
    const isLast = isWrite && writes.length === at?.nth;
    if (isLast && at.when === "before") {
      die();
      return never;
    }
    const sent = send();
    underWay.add(sent);
    try {
      const answer = await sent;
      if (isLast) die();
      return isDead ? never : answer;
    } finally {
      underWay.delete(sent);
    }
  });
  return {
    client: watched,
    writes,
    death,
    async idle() {
      while (underWay.size > 0) await Promise.allSettled(underWay);
    },
  };
}

/**
 * The same plan on a fresh twin under bad luck: answers lost before and after their effect, and the whole run killed at
 * any request or write of the state. Each trial is a seed. Once the bad luck is over, the runs that follow must end in
 * the world of the undisturbed rehearsal, with nothing made twice.
 *
 * Where the service gives no way to find out what became of a create, the run stops and asks; the trial looks into the
 * twin as a person would into the console, answers, and counts that it was asked.
 */

import { setMaxListeners } from "node:events";
import type { FaultSpec, WorldDump } from "../../emulator";
import { kindOf } from "../core/model/address";
import { errorsAmong, hasErrors } from "../core/model/diagnostic";
import { identity } from "../core/model/identity";
import { kindRows } from "../core/model/kinds";
import type { Intent, RecordedResource, StateChange } from "../core/model/recorded";
import { PermittedPlan } from "../core/plan/permitted";
import { isEmpty, type Plan } from "../core/plan/plan";
import { carryOutPermitted, openForWriting } from "../engine/apply";
import { awaitInterrupted } from "../engine/await-interrupted";
import type { ServiceClient } from "../service/client";
import type { StateSession, StateStore } from "../store/store";
import { interceptClient } from "./intercepted-client";
import { planOnTwin, prepareOnTwin, type Rehearsal, rehearsalHolder } from "./rehearsal";
import { type RunningTwin, startTwin, type TwinSetting } from "./twin-run";
import { describeWorld } from "./world-lines";

export interface ChaosTrial {
  readonly seed: number;
  readonly runs: number;
  readonly kills: number;
  readonly faults: readonly string[];
  /** How often a person would have been asked what became of a create. */
  readonly asked: number;
  readonly ok: boolean;
  /** What is wrong, in a few lines. */
  readonly problems: readonly string[];
}

/** How many undisturbed runs may pass before the world must be as rehearsed. */
const cleanRuns = 3;

export async function runWithBadLuck(setting: TwinSetting, calm: Rehearsal, seed: number): Promise<ChaosTrial> {
  const random = seededRandom(seed);
  const upTo = (count: number): number => Math.floor(random() * count);
  const twin = await startTwin(setting);
  const faults: string[] = [];
  let kills = 0;
  let asked = 0;
  let runs = 0;
  try {
    const steps = Math.max(1, setting.prepared.plan.steps.length);
    const disturbed = 1 + upTo(3);
    for (; runs < disturbed; runs++) {
      const chosen = randomFaults(upTo, steps);
      twin.emulator.setFaults(chosen);
      faults.push(...chosen.map(faultText));
      const killAt = upTo(4) === 0 ? undefined : 1 + upTo(8 * steps + 12);
      const end = await runOnce(twin, setting, killAt);
      if (end.killed) kills++;
      if (end.asks) asked += await answerForPerson(twin);
    }
    twin.emulator.setFaults([]);
    let problems: string[] = [];
    for (let clean = 0; clean < cleanRuns; clean++, runs++) {
      const end = await runOnce(twin, setting, undefined);
      if (end.asks) asked += await answerForPerson(twin);
      problems = await compareWithCalm(twin, setting, calm);
      if (problems.length === 0) break;
    }
    return { seed, runs: runs + 1, kills, faults, asked, ok: problems.length === 0, problems };
  } finally {
    await twin.close();
  }
}

/** The generator mulberry32: short, and the same everywhere. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const randomFaults = (upTo: (count: number) => number, steps: number): FaultSpec[] =>
  Array.from({ length: upTo(4) }, () => ({
    operation: upTo(4) === 0 ? "read" : "write",
    kind: upTo(2) === 0 ? ("drop-after" as const) : ("drop-before" as const),
    skip: upTo(steps + 2),
    count: 1 + upTo(2),
  }));

const faultText = ({ operation, kind, skip, count }: FaultSpec): string =>
  `${kind} of ${count} ${operation}${count === 1 ? "" : "s"} after ${skip}`;

class Killed extends Error {}

interface End {
  readonly killed: boolean;
  /** The plan could not be made, or the run stopped: a person must say what became of a create. */
  readonly asks: boolean;
}

/**
 * One `apply`. A kill at event n: requests sent before it go on in the service, nothing is sent or recorded after it,
 * and no answer arrives any more.
 */
async function runOnce(twin: RunningTwin, setting: TwinSetting, killAt: number | undefined): Promise<End> {
  const { state, plan } = setting.prepared;
  const stop = new AbortController();
  // Every step that waits listens; Node takes more than ten listeners for a leak and says so.
  setMaxListeners(0, stop.signal);
  let events = 0;
  let dead = false;
  /** Counts an event; whether the run is dead by now. */
  const tick = (): boolean => {
    if (++events === killAt) {
      dead = true;
      stop.abort();
    }
    return dead;
  };
  const client = interceptClient(twin.connect(), async (_operation, send) => {
    if (tick()) return { status: "unavailable", reason: "killed" };
    const outcome = await send();
    return tick() ? { status: "unknown", reason: "killed" } : outcome;
  });
  const store = mortalStore(twin.store, tick);
  const ports = twin.ports(client, () => undefined);
  // The lease of a dead holder lapses by itself.
  await twin.store.breakLock();
  try {
    await awaitInterrupted(store, client, ports, state.lineage, stop.signal);
    const prepared = await prepareOnTwin(twin, store, client, setting.prepared, plan.options);
    if (!dead && hasErrors(prepared.plan.diagnostics)) return { killed: false, asks: true };
    if (dead || (isEmpty(prepared.plan) && prepared.plan.bookkeeping.length === 0))
      return { killed: dead, asks: false };
    const report = await carryOutPermitted(PermittedPlan.onTwin(prepared.plan), {
      prepared,
      store,
      ports,
      holder: rehearsalHolder,
      stop: { soft: stop.signal, hard: stop.signal },
      planId: "rehearsal",
    });
    return { killed: dead, asks: !dead && report.steps.some(({ result }) => result.end === "unknown") };
  } catch (error) {
    if (!dead) throw error;
    return { killed: true, asks: false };
  }
}

function mortalStore(store: StateStore, tick: () => boolean): StateStore {
  const write = async (act: () => Promise<void>): Promise<void> => {
    if (tick()) throw new Killed();
    await act();
    if (tick()) throw new Killed();
  };
  return {
    ...store,
    async lock(holder) {
      const session: StateSession = await store.lock(holder);
      return {
        ...session,
        append: (lines) => write(() => session.append(lines)),
        replace: (snapshot) => write(() => session.replace(snapshot)),
      };
    },
  };
}

/**
 * Answers for a person: `import` for what exists, `state resolve --not-created` for what does not. Counts the answers.
 */
async function answerForPerson(twin: RunningTwin): Promise<number> {
  await twin.store.breakLock();
  const { recorder } = await openForWriting(twin.store, rehearsalHolder, "");
  try {
    const world = twin.emulator.dump();
    const changes: StateChange[] = [];
    const client = twin.connect();
    for (const intent of recorder.state.intents.values()) {
      // The next run finds by itself what a list shows.
      if (client.can.canFindCreated(kindOf(intent.address))) continue;
      const id = namedLike(intent, world).find(
        (one) =>
          recorder.addressOf(identity(kindOf(intent.address), one)) === undefined && !intent.idsBefore.includes(one),
      );
      if (id !== undefined && intent.record !== undefined)
        changes.push({
          type: "resource",
          address: intent.address,
          // The record of an intent is a whole one but for its id.
          record: { ...intent.record, id } as RecordedResource,
        });
      changes.push({ type: "intent", address: intent.address, intent: null });
    }
    await recorder.record(changes);
    return changes.filter(({ type }) => type === "intent").length;
  } finally {
    await recorder.close();
  }
}

function namedLike(intent: Intent, world: WorldDump): string[] {
  const things: readonly { readonly id: string; readonly name: string }[] =
    world[kindRows[kindOf(intent.address)].section];
  return things.filter(({ name }) => name === intent.name).map(({ id }) => id);
}

async function compareWithCalm(twin: RunningTwin, setting: TwinSetting, calm: Rehearsal): Promise<string[]> {
  const client: ServiceClient = twin.connect();
  const { replace: _done, ...options } = setting.prepared.plan.options;
  const plan: Plan = await planOnTwin(twin, client, setting.prepared, options);
  const expected = new Set(calm.remaining.map(({ address }) => address));
  const problems = [
    ...errorsAmong(plan.diagnostics).map(({ summary }) => summary),
    ...plan.changes
      .filter(({ address }) => !expected.has(address))
      .map((change) => `${change.address} is still to ${change.action}`),
  ];
  const there = describeWorld(twin.emulator.dump());
  problems.push(
    ...surplus(there, calm.world).map((line) => `there and not in the calm run: ${line}`),
    ...surplus(calm.world, there).map((line) => `missing: ${line}`),
  );
  return problems.slice(0, 10);
}

/** Lines that are in `these` more often than in `those`. */
function surplus(these: readonly string[], those: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const line of those) left.set(line, (left.get(line) ?? 0) + 1);
  return these.filter((line) => {
    const count = left.get(line) ?? 0;
    left.set(line, count - 1);
    return count <= 0;
  });
}

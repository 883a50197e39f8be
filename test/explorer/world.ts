/**
 * One process in a small world, in virtual time: the real engine, from the lock to the end of its run, whose every request
 * that changes something and every durable write comes to a point where luck is chosen. What is left when the process has
 * ended or died is the next moment: the world, the state, and what is still on its way.
 */
import type { Reply } from "../../emulator/decision";
import type { EmulatorOperation as WorldOperation } from "../../emulator/operations";
import type { Closed } from "../../reconciler/core/model/desired";
import { hasErrors } from "../../reconciler/core/model/diagnostic";
import { type Operation, operationNames, rowOf } from "../../reconciler/core/model/operation";
import { notSent } from "../../reconciler/core/model/outcome";
import { hasNothingToDo } from "../../reconciler/engine/apply";
import { defaultTiming, type Ports } from "../../reconciler/engine/ports";
import { inProcessClient } from "../../reconciler/rehearse/in-process-client";
import { virtualClock } from "../../reconciler/rehearse/virtual-clock";
import type { ServiceClient } from "../../reconciler/service/client";
import { LeaseLost, type StateSession, type StateStore, StoreFailed } from "../../reconciler/store/store";
import { awaitOpenOn, carryOutOn, prepareOn } from "../support/engine-on";
import {
  type CallOptions,
  createMemoryStore,
  type EmulatedWorld,
  emulatedWorld,
  type MemoryStore,
  momentOf,
  type WorldMoment,
} from "../support/virtual-world";
import { madeNecessary, tooEarly, type Unpaid, unpaidOf } from "./guest";

/** Long enough for four looks in a window; a VM is built in a minute. */
export const timing = {
  ...defaultTiming,
  pollIntervalMs: 10_000,
  discoveryWindowMs: 40_000,
  vmCreateTimeoutMs: 180_000,
};
/** Within a window: what is done later than it was told, and what a list shows later than it was made. */
const laterMs = 20_000;
const lateMs = 30_000;

/** What may become of a request that changes something. The first is no luck at all. */
export const fates = [
  "told",
  "not-told",
  "cut",
  "refused",
  "done-later",
  "listed-late",
  "not-told-and-listed-late",
  "then-dies",
  "then-dies-and-listed-late",
  "overtaken",
  "stranger-first",
] as const;
export type Fate = (typeof fates)[number];
/** What may become of a process at a durable write. */
export const writeFates = ["written", "dies-before", "dies-after"] as const;
export type WriteFate = (typeof writeFates)[number];
/** What may become of a command inside a guest; a process that dies before it died at the write before. */
const commandFates = ["ended", "failed", "dies-after"] as const;
export type Luck = Fate | WriteFate | (typeof commandFates)[number];

export interface Point {
  readonly what: string;
  readonly choices: readonly Luck[];
}

interface OnItsWay {
  readonly at: number;
  readonly operation: WorldOperation;
  readonly body: unknown;
  readonly options: CallOptions;
  /** The ids it was told it would have. */
  readonly ids: number;
}

/** An unrepeatable request whose answer never came, and the looks since. */
export interface Unknown {
  readonly what: string;
  readonly at: number;
  readonly looks: number;
}

export interface Moment {
  readonly world: WorldMoment;
  readonly stored: MemoryStore["stored"];
  readonly epochs: number;
  readonly onItsWay: readonly OnItsWay[];
  /** Until when a list does not show what is young, by its operation. */
  readonly lateUntil: Readonly<Record<string, number>>;
  readonly unknown: readonly Unknown[];
  /** The ids of what somebody else made. */
  readonly strangers: readonly string[];
  /** What its guests wait for. */
  readonly unpaid: Unpaid;
}

interface Ended {
  readonly end: "died" | "nothing to do" | "done" | "not done";
  /** Why it is not done. */
  readonly why: string;
}

export interface Lived extends Ended {
  readonly after: Moment;
  readonly points: readonly Point[];
  readonly chosen: readonly Luck[];
  /** What no process may do, seen while this one did it. */
  readonly broken: readonly string[];
  readonly requests: number;
}

const never = new Promise<never>(() => undefined);
const operationOfCall = new Map(
  operationNames.map((operation): [string, Operation] => [rowOf(operation).call, operation]),
);
/** Sent twice it does the same once: the service says that the rule is there already, and a name is set to what it is. */
const isRepeatable = (operation: Operation): boolean =>
  rowOf(operation).kind !== "write" || operation === "group.rule.create" || operation === "group.update";
const isCreate = (operation: Operation): boolean => /^(vm|volume|group)\.create$/.test(operation);
const listOf = (operation: string): string => `${operation.split(".")[0]}.list`;

/** What is chosen at a point, the n-th of all and the n-th at which the same is done; `undefined`: no bad luck. */
export type Pick = (index: number, what: string, nth: number) => Luck | undefined;

export async function live(
  before: Moment,
  desired: Closed,
  has: (operation: Operation) => boolean,
  pick: Pick,
): Promise<Lived> {
  const emulated = emulatedWorld({}, {}, before.world);
  const service = emulated.call;
  const store = createMemoryStore(before.stored, before.epochs);
  let epochs = before.epochs;
  let onItsWay = [...before.onItsWay];
  const lateUntil = { ...before.lateUntil };
  let unknown = [...before.unknown];
  const strangers = [...before.strangers];
  let unpaid = before.unpaid;
  const points: Point[] = [];
  const chosen: Luck[] = [];
  const broken: string[] = [];
  let requests = 0;

  function choose<L extends Luck>(what: string, choices: readonly [L, ...L[]]): L {
    const nth = points.filter((point) => point.what === what).length;
    const wanted = pick(points.length, what, nth);
    const choice = choices.find((one) => one === wanted) ?? choices[0];
    if (wanted !== undefined && choice !== wanted)
      broken.push(`there is no ${wanted} at ${what}: a run is not repeatable`);
    points.push({ what, choices });
    chosen.push(choice);
    return choice;
  }

  const reach: EmulatedWorld["call"] = (operation, body, options) => {
    const decision = service(operation, body, options);
    const added = madeNecessary(operation, body, options?.id, decision);
    unpaid = [...unpaid.filter((one) => !added.includes(one)), ...added];
    return decision;
  };
  let somebodyElses: Operation | undefined;
  const clock = virtualClock((now) => {
    emulated.nowMs = now;
    for (const one of onItsWay.filter(({ at }) => at <= now)) arrive(emulated, reach, one);
    onItsWay = onItsWay.filter(({ at }) => at > now);
  }, before.world.nowMs);
  emulated.call = (operation, body, options) => {
    requests++;
    const isLate = (lateUntil[operation] ?? 0) > emulated.nowMs;
    if (operation === somebodyElses) {
      // Somebody else makes something by the same name a moment earlier, and not quite the same: what is like ours in
      // everything, nobody could tell from ours.
      somebodyElses = undefined;
      const known = new Set(everyId(emulated));
      reach(operation, differently(operation, body), options);
      strangers.push(...everyId(emulated).filter((id) => !known.has(id)));
    }
    if (/list|get/.test(operation))
      unknown = unknown.map((one) =>
        listOf(one.what) === operation || !/create/.test(one.what) ? { ...one, looks: one.looks + 1 } : one,
      );
    return reach(operation, body, { ...options, ...(isLate ? { staleMs: lateMs } : {}) });
  };

  /** A process of its own. The one that is disturbed may die; who overtakes it may not. */
  function process(isDisturbed: boolean) {
    let die!: () => void;
    let dead = false;
    const death = new Promise<"died">((resolve) => {
      die = () => {
        dead = true;
        resolve("died");
      };
    });
    const mortal = async <T>(act: () => Promise<T>): Promise<T> => {
      if (dead) return never;
      const value = await act().catch((error: unknown) => (dead ? never : Promise.reject(error)));
      return dead ? never : value;
    };
    const plain = inProcessClient(emulated, has, (until) => clock.sleep(Math.max(0, until - clock.now())));

    async function send(
      operation: Operation,
      args: readonly unknown[],
      call: () => Promise<unknown>,
    ): Promise<unknown> {
      const options = args.find(
        (arg): arg is { mayWrite: () => Promise<boolean> } =>
          typeof arg === "object" && arg !== null && "mayWrite" in arg,
      );
      const given = args.filter((arg) => arg !== options).map(inWords);
      const what = [operation, ...given].join(" ");
      const fate = isDisturbed ? choose(what, fatesOf(operation)) : "told";
      if (fate === "stranger-first") somebodyElses = operation;
      if (fate === "overtaken") {
        await store.breakLock();
        await process(false).run();
      }
      if (options !== undefined && !(await options.mayWrite())) return { status: "unavailable", reason: notSent };
      if (given.some((word) => strangers.includes(word))) broken.push(`${what}: that is somebody else's`);
      checkRepeat(operation, what);
      if (fate === "refused")
        return { status: "rejected", condition: "forbidden", httpStatus: 403, message: "bad luck" };
      const isLost = fate === "cut" || fate.startsWith("not-told") || fate.startsWith("then-dies");
      if (isLost && !isRepeatable(operation)) unknown.push({ what, at: clock.now(), looks: 0 });
      if (fate === "cut") return { status: "unknown", reason: "bad luck" };
      if (fate.endsWith("listed-late")) lateUntil[listOf(operation)] = clock.now() + lateMs;
      const answer = fate === "done-later" ? await later(call) : await call();
      if (fate.startsWith("then-dies")) {
        die();
        return never;
      }
      return isLost ? { status: "unknown", reason: "bad luck" } : answer;
    }

    /** The answer is what it will be; the effect comes when its time has come. */
    async function later(call: () => Promise<unknown>): Promise<unknown> {
      const real = emulated.call;
      const twin = emulatedWorld({}, {}, momentOf(emulated));
      emulated.call = (operation, body, options = {}): Reply => {
        emulated.call = real;
        const decision = twin.call(operation, body, options);
        if (decision.status < 300) {
          onItsWay.push({ at: clock.now() + laterMs, operation, body, options, ids: emulated.ids });
          emulated.ids = twin.ids;
        }
        return decision;
      };
      return call();
    }

    function checkRepeat(operation: Operation, what: string): void {
      const open = unknown.find((one) => one.what === what);
      if (open === undefined) return;
      unknown = unknown.filter((one) => one !== open);
      const served = clock.now() - open.at;
      if (isCreate(operation) && has(listOf(operation) as Operation)) {
        if (open.looks < 3 || served < timing.discoveryWindowMs)
          broken.push(`${what}: sent again ${served / 1000} s and ${open.looks} looks after an answer was lost`);
      } else if (open.looks < 1) broken.push(`${what}: sent again without a look after an answer was lost`);
    }

    const client = new Proxy(plain as ServiceClient, {
      get(target, name) {
        const member = Reflect.get(target, name) as unknown;
        if (typeof member !== "function") return member;
        const operation = operationOfCall.get(String(name));
        const isWrite = operation !== undefined && rowOf(operation).kind !== "read";
        return (...args: unknown[]) =>
          mortal(async () => {
            const call = async () => Reflect.apply(member, target, args) as unknown;
            return isWrite && has(operation) ? send(operation, args, call) : call();
          });
      },
    });
    const write = (what: string, act: () => Promise<void>): Promise<void> =>
      mortal(async () => {
        const fate = isDisturbed ? choose(what, writeFates) : "written";
        if (fate === "dies-before") die();
        else {
          await act();
          if (fate === "dies-after") die();
        }
      });
    const own: StateStore = {
      ...store,
      read: () => mortal(store.read),
      lock: (wanted) =>
        mortal(async (): Promise<StateSession> => {
          const session = await store.lock(wanted);
          epochs = Math.max(epochs, session.epoch);
          return {
            ...session,
            append: (lines) => write("append", () => session.append(lines)),
            replace: (snapshot) => write("replace", () => session.replace(snapshot)),
            release: () => mortal(session.release),
            assertHeld: () => mortal(session.assertHeld),
          };
        }),
    };
    const ports: Ports = {
      client,
      clock: { now: clock.now, instant: clock.instant, sleep: (ms, signal) => mortal(() => clock.sleep(ms, signal)) },
      timing,
      runCommand: (_, { duty, address, values = {} } = {}) =>
        mortal(async () => {
          if (duty === undefined) return { exitCode: 0, output: "" };
          const early = tooEarly(duty, values, emulated);
          if (early !== undefined) broken.push(early);
          const fate = isDisturbed ? choose(`${duty} ${address}`, commandFates) : "ended";
          if (fate === "failed") return { exitCode: 1, output: "bad luck" };
          const id = values[duty === "after_ready" ? "RECONCILE_VM_ID" : "RECONCILE_VOLUME_ID"] ?? "";
          unpaid = unpaid.filter((one) => one !== unpaidOf(duty, id));
          if (fate === "dies-after") die();
          return { exitCode: 0, output: "" };
        }),
      checkHealth: async () => true,
      emit: () => undefined,
    };

    async function work(): Promise<Ended> {
      const on = { store: own, ports, lineage: "explored" };
      await awaitOpenOn(on);
      const prepared = await prepareOn(on, desired, { discoveryWindowMs: timing.discoveryWindowMs });
      const { plan } = prepared;
      if (hasErrors(plan.diagnostics))
        return { end: "not done", why: plan.diagnostics.map(({ code, summary }) => `${code} ${summary}`).join("; ") };
      if (hasNothingToDo(plan)) return { end: "nothing to do", why: "" };
      const report = await carryOutOn(on, prepared);
      const left = report.steps.filter(({ result }) => result.end !== "done");
      if (left.length === 0 && report.broken === undefined && report.bug === undefined) return { end: "done", why: "" };
      if (report.bug !== undefined) broken.push(`a bug: ${report.bug.message}`);
      const reasons = left.map(({ step, result }) => `${step.id}: ${result.end} ${result.message ?? ""}`);
      return { end: "not done", why: [...reasons, report.broken?.message ?? ""].join("; ") };
    }
    const ended = (error: unknown): Ended => {
      if (!(error instanceof LeaseLost || error instanceof StoreFailed || (error instanceof Error && "code" in error)))
        broken.push(`a bug: ${error instanceof Error ? error.message : String(error)}`);
      return { end: "not done", why: String(error) };
    };
    return {
      run: (): Promise<Ended> =>
        Promise.race([work().catch(ended), death.then(() => ({ end: "died" as const, why: "it died" }))]),
    };
  }

  const { end, why } = await process(true).run();
  emulated.call = reach;
  const after: Moment = {
    world: momentOf(emulated),
    stored: { ...store.stored, journal: [...store.stored.journal] },
    epochs,
    onItsWay,
    lateUntil,
    unknown,
    strangers,
    unpaid,
  };
  return { after, points, chosen, end, why, broken, requests };
}

function fatesOf(operation: Operation): readonly [Fate, ...Fate[]] {
  const all: readonly Fate[] = isCreate(operation)
    ? fates
    : fates.filter((fate) => !fate.endsWith("listed-late") && fate !== "stranger-first");
  const [first = "told", ...others] = all;
  return [first, ...others];
}

/** What was on its way comes about, with the ids that were told. */
export function arrive(emulated: EmulatedWorld, reach: EmulatedWorld["call"], one: OnItsWay): void {
  const ids = emulated.ids;
  emulated.ids = one.ids;
  reach(one.operation, one.body, one.options);
  emulated.ids = Math.max(ids, emulated.ids);
}

function differently(operation: Operation, body: unknown): object {
  const { rules: _rules, ...given } = body as Record<string, unknown>;
  switch (operation) {
    case "vm.create":
      return { ...given, flavor_id: "m1.large" };
    case "volume.create":
      return { ...given, size: "77" };
    default:
      return { ...given, description: "somebody else's" };
  }
}

/** What a request was given, to tell it from others. */
function inWords(arg: unknown): string {
  if (typeof arg !== "object" || arg === null) return String(arg);
  return "name" in arg ? String(arg.name) : JSON.stringify(arg);
}

const everyId = ({ world: { tables } }: EmulatedWorld): string[] =>
  [tables.vm, tables.volume, tables.group, tables.rule].flatMap((table) => [...table.keys()]);

/**
 * The real engine on an emulated world, in virtual time: plans and applies one desired state after the other and tells
 * what was sent. What the golden stories and the properties stand on.
 */

import { authenticate } from "../../emulator/access";
import type { EmulatorSettings, Reply } from "../../emulator/decision";
import type { WorldChange } from "../../emulator/entities";
import { decideOperation, type EmulatorOperation } from "../../emulator/operations";
import { seedChanges, type WorldSeed } from "../../emulator/seed";
import { applyChanges, createWorld, dumpWorld, type World } from "../../emulator/world";
import type { PlanOptions } from "../../reconciler/core/diff/context";
import { abilitiesOf } from "../../reconciler/core/model/abilities";
import type { Desired, HealthCheck } from "../../reconciler/core/model/desired";
import { hasErrors } from "../../reconciler/core/model/diagnostic";
import { isDoubt, judgeScope, notInList, weigh } from "../../reconciler/core/model/evidence";
import { type Live, notSeen, type SeenOfKind, type Sighting } from "../../reconciler/core/model/live";
import { documentedOperations, type Operation } from "../../reconciler/core/model/operation";
import type { Intent, RecordedResource, StateChange } from "../../reconciler/core/model/recorded";
import type { Step } from "../../reconciler/core/plan/step";
import { emptyState } from "../../reconciler/core/state/fold";
import { builtInDialect } from "../../reconciler/dialect/built-in";
import { judgeAnswer } from "../../reconciler/dialect/conditions";
import { openForWriting } from "../../reconciler/engine/apply";
import { createFirstCreates } from "../../reconciler/engine/first-create";
import { indexNamesBefore } from "../../reconciler/engine/names-before";
import { openStoredState, type Prepared } from "../../reconciler/engine/plan";
import { defaultTiming, type Ports } from "../../reconciler/engine/ports";
import { createRecorder } from "../../reconciler/engine/recorder";
import type { Run } from "../../reconciler/engine/run";
import type { RunReport } from "../../reconciler/engine/run-plan";
import { inProcessClient } from "../../reconciler/rehearse/in-process-client";
import { virtualClock } from "../../reconciler/rehearse/virtual-clock";
import type { ServiceClient } from "../../reconciler/service/client";
import {
  type Holder,
  LeaseLost,
  StateLocked,
  type StateSession,
  type StateStore,
  type StoredState,
  StoreFailed,
} from "../../reconciler/store/store";
import { carryOutOn, holder, prepareOn } from "./engine-on";

export interface Capabilities {
  readonly contract_only?: boolean;
  readonly with?: readonly string[];
  readonly without?: readonly string[];
}

export function capabilities(given: Capabilities = {}): (operation: Operation) => boolean {
  const operations = new Set<string>(documentedOperations);
  if (given.contract_only !== true)
    for (const [name, route] of Object.entries(builtInDialect.operations)) if (route !== null) operations.add(name);
  for (const name of given.with ?? []) operations.add(name);
  for (const name of given.without ?? []) operations.delete(name);
  return (operation) => operations.has(operation);
}

/** The connection broke: nobody knows whether the request arrived. */
export class Dropped extends Error {}

/** A client of which a broken connection is an answer, as it is for one over HTTP. */
export const withDrops = (client: () => ServiceClient, more: Partial<ServiceClient> = {}): ServiceClient =>
  new Proxy(client(), {
    get(_, method) {
      const target = client();
      const value: unknown = Reflect.get(more, method) ?? Reflect.get(target, method);
      if (typeof value !== "function") return value;
      return async (...args: unknown[]) => {
        try {
          return await value.apply(target, args);
        } catch (error) {
          if (error instanceof Dropped) return { status: "unknown", reason: "connection lost" };
          throw error;
        }
      };
    },
  });

interface SentRequest {
  readonly operation: Operation;
  readonly status: number;
  readonly id: string | undefined;
  readonly message?: string;
}

export type Fate = "arrives" | "lost-before" | "lost-after";

export function virtualWorld(
  given: Capabilities = {},
  checkHealth: (check: HealthCheck, vm: { readonly id: string }) => boolean = () => true,
  settings: Partial<EmulatorSettings> = {},
) {
  const emulated = emulatedWorld(settings);
  const store = createMemoryStore();
  const lock = store.lock;
  let writesLeft: number | undefined;
  // A write can be the one at which the process dies.
  store.lock = async (wanted) => {
    const session = await lock(wanted);
    return {
      ...session,
      assertHeld: async () => undefined,
      append: async (lines) => {
        if (writesLeft !== undefined && writesLeft-- <= 0) throw new StoreFailed("cut off");
        await session.append(lines);
      },
    };
  };
  let has = capabilities(given);
  const clock = virtualClock((now) => {
    emulated.nowMs = now;
  });
  let fates: readonly Fate[] = [];
  const sent: SentRequest[] = [];
  /** Of the request that is held back next: what is held back is sent when its answer comes. */
  let tellLater = (): void => undefined;
  const reach = () =>
    inProcessClient(
      {
        get nowMs() {
          return emulated.nowMs;
        },
        call(operation, body, options) {
          const isRead = /list|get$/.test(operation);
          const [fate = "arrives"] = isRead ? [] : fates;
          if (!isRead) fates = fates.slice(1);
          if (fate === "lost-before") throw new Dropped();
          const reply = emulated.call(operation, body, options);
          if (fate === "lost-after") throw new Dropped();
          const answered = { status: reply.status, text: JSON.stringify(reply.body) ?? "" };
          const as = { errors: builtInDialect.errors, nowMs: emulated.nowMs, scrub: (text: string) => text };
          const outcome = judgeAnswer(operation, answered, as);
          const refusal = outcome.status === "rejected" ? { message: outcome.message } : {};
          const tell = () => void sent.push({ operation, status: reply.status, id: options?.id, ...refusal });
          if (reply.holdUntil === undefined) tell();
          else tellLater = tell;
          return reply;
        },
      },
      has,
      (until) => clock.sleep(Math.max(0, until - clock.now())).then(tellLater),
    );
  let reached = reach();
  const client = withDrops(() => reached);
  const ports: Ports = {
    client,
    clock,
    timing: defaultTiming,
    runCommand: async () => ({ exitCode: 0, output: "" }),
    checkHealth: async (check, vm) => checkHealth(check, vm),
    emit: () => undefined,
  };
  const self = {
    emulated,
    store,
    client,
    clock,
    ports,
    cutAfterWrites(count: number | undefined) {
      writesLeft = count;
    },
    /** What happens to the next requests that change something, one after the other; those after them arrive. */
    setFates(next: readonly Fate[]) {
      fates = next;
    },
    setCapabilities(next: Capabilities) {
      has = capabilities(next);
      reached = reach();
    },
    has: (operation: Operation) => has(operation),
    plan: (desired: Desired, options: PlanOptions = {}, observe = true): Promise<Prepared> =>
      prepareOn({ store, ports }, desired, { options, observe }),
    apply: (prepared: Prepared): Promise<RunReport | undefined> => self.applyWith(client, prepared),
    async applyWith(sent: Ports["client"], prepared: Prepared): Promise<RunReport | undefined> {
      if (hasErrors(prepared.plan.diagnostics)) return undefined;
      return carryOutOn({ store, ports: { ...ports, client: sent } }, prepared);
    },
    state: async () => openStoredState(await store.read(), "memory", "story").state,
    async record(changes: readonly StateChange[]) {
      const { recorder } = await openForWriting(store, holder, "story");
      await recorder.record(changes);
      await recorder.close();
    },
    /** Requests that change something and those refused, since the last time this was asked. */
    takeSent() {
      return sent.splice(0);
    },
  };
  return self;
}
export type VirtualWorld = ReturnType<typeof virtualWorld>;

/*
 * A run of one step, for tables of what the engine decides: a real recorder on a state in memory, a clock that stands
 * still until somebody waits, and a service that answers what the row says.
 */

export interface LoneRunOptions {
  /** What the service answers; whatever else is asked of it is a mistake of the test. */
  readonly client?: Partial<ServiceClient>;
  readonly has?: (operation: Operation) => boolean;
  readonly records?: readonly RecordedResource[];
  readonly intents?: readonly Intent[];
  readonly live?: Live;
  readonly openBefore?: Intent;
  readonly more?: Partial<Run>;
}

export async function loneRun(options: LoneRunOptions = {}) {
  const state = emptyState("0123456789abcdef");
  const written: string[] = [];
  const recorder = createRecorder(
    {
      ...state,
      resources: new Map((options.records ?? []).map((record) => [record.address, record])),
      intents: new Map((options.intents ?? []).map((intent) => [intent.address, intent])),
    },
    {
      epoch: 1,
      read: async () => ({ journal: [] }),
      assertHeld: async () => undefined,
      append: async (lines: readonly string[]) => void written.push(...lines),
      replace: async () => undefined,
      release: async () => undefined,
    } as unknown as Parameters<typeof createRecorder>[1],
  );
  const live = options.live ?? notSeen;
  const clock = virtualClock(() => undefined);
  const client = { can: abilitiesOf(options.has ?? (() => true)), ...options.client } as ServiceClient;
  // What a step of these tables does not use is left out: its use is a TypeError.
  const run = {
    ports: { client, clock, timing: defaultTiming },
    recorder,
    live,
    idsBefore: indexNamesBefore(live),
    openBefore: () => options.openBefore,
    signal: new AbortController().signal,
    firstCreate: createFirstCreates(),
    progress: () => undefined,
    priority: () => 0,
    mayWrite: async () => true,
    isFlushConfirmed: () => false,
    listVms: () => client.listVms(),
    stopped: new Set<string>(),
    deleted: new Set<string>(),
    flushing: new Set<string>(),
    shown: new Map(),
    waited: () => undefined,
    ...options.more,
  } as unknown as Run;
  return { run, recorder, written, clock };
}

/** A step of which only its address and id are asked. */
export const stepAt = (address: string, what: string): Step => ({
  id: `${address}/${what}`,
  address,
  action: { operation: "record", changes: [] },
  title: "",
  needs: [],
  holds: [],
  estimateMs: 0,
});

/* Sightings as a look at the service would make them, for tests that make up what it saw. */

const accepted = judgeScope({
  remembered: undefined,
  now: { origin: "test" },
  accepted: true,
  recorded: [],
  seen: new Set(),
  absent: [],
  forbidden: [],
  creates: false,
  lost: [],
});
if (isDoubt(accepted)) throw new Error("what was accepted is not doubted");

export const gone: Sighting<never> = weigh<never>(notInList("the list"), accepted);
const notLookedAt: Sighting<never> = { seen: "unobserved", reason: "it was not looked at" };

/** A look of which everything else is gone where there is a list. */
export const seenOfKind = <T>(listed: boolean, byId: ReadonlyMap<string, Sighting<T>>): SeenOfKind<T> => ({
  listed,
  byId,
  unlisted: listed ? gone : notLookedAt,
});

/* A world without HTTP: one call is one decision whose changes are applied, at a time the test says, with counted ids. */

export interface CallOptions {
  readonly id?: string;
  readonly ruleId?: string;
  readonly as?: string;
  readonly query?: string;
  readonly staleMs?: number;
  readonly pageShift?: number;
}

/** A world at one moment. Each that starts from it goes its own way. */
export interface WorldMoment {
  readonly things: readonly WorldChange[];
  readonly ids: number;
  readonly nowMs: number;
}

export interface EmulatedWorld {
  readonly world: World;
  nowMs: number;
  /** How many ids were given. */
  ids: number;
  call(operation: EmulatorOperation, body?: unknown, options?: CallOptions): Reply;
  dump(): ReturnType<typeof dumpWorld>;
}

export function emulatedWorld(
  settings: Partial<EmulatorSettings> = {},
  seed: Partial<WorldSeed> = {},
  from?: WorldMoment,
): EmulatedWorld {
  const world = createWorld();
  const newId = () => {
    emulated.ids += 1;
    return `11111111-1111-4111-8111-${String(emulated.ids).padStart(12, "0")}`;
  };
  const emulated: EmulatedWorld = {
    world,
    nowMs: from?.nowMs ?? 1_000_000,
    ids: from?.ids ?? 0,
    call(operation, body, options = {}) {
      const decision = decideOperation(operation, {
        world,
        settings: {
          strict: false,
          secondMs: 1000,
          pageSize: 100,
          portRange: null,
          autoConfirmResize: false,
          keepsNamedGroups: false,
          ...settings,
        },
        caller: authenticate(world, `Bearer ${options.as ?? "ops-token"}`, true)!,
        params: { id: options.id ?? "", rule_id: options.ruleId ?? "" },
        query: new URLSearchParams(options.query ?? ""),
        body,
        now: emulated.nowMs,
        newId,
        staleMs: options.staleMs ?? 0,
        pageShift: options.pageShift ?? 0,
      });
      applyChanges(world, decision.changes);
      return decision;
    },
    dump: () => dumpWorld(world, emulated.nowMs),
  };
  applyChanges(world, from?.things ?? seedChanges(seed, newId, 0));
  return emulated;
}

/** Everything in a world, for another one to start from. */
export const momentOf = ({ world, ids, nowMs }: EmulatedWorld): WorldMoment => ({
  // Each table holds the entities of its kind.
  things: Object.entries(world.tables).flatMap(([put, table]) =>
    [...table.values()].map((value) => ({ put, value }) as unknown as WorldChange),
  ),
  ids,
  nowMs,
});

export const imageId = "00000000-0000-4000-8003-000000000001";
export const unknownId = "99999999-9999-4999-8999-999999999999";

export const vmBody = (changes: Record<string, unknown> = {}) => ({
  flavor_id: "m1.small",
  id: "1042",
  image_id: imageId,
  name: "web",
  owner: "ops",
  project: "acme",
  region: "in-west-1",
  size: "10",
  ...changes,
});

/** A VM that is built, with the ids of its disks. */
export function builtVm(emulated: EmulatedWorld, changes: Record<string, unknown> = {}) {
  const answer = emulated.call("vm.create", vmBody(changes));
  if (answer.status !== 202) throw new Error(JSON.stringify(answer.body));
  emulated.nowMs += 60_000;
  const vm = emulated.dump().vms.at(-1)!;
  const disks = emulated.dump().volumes.filter((volume) => volume.attached_to === vm.id);
  return { id: vm.id, root: disks.find((disk) => disk.root)!.id, data: disks.find((disk) => !disk.root)!.id };
}

export const vmOf = (emulated: EmulatedWorld, id: string) => emulated.dump().vms.find((vm) => vm.id === id)!;
export const messageOf = (decision: Reply) => (decision.body as { error?: { message: string } }).error?.message;

export function createdGroup(emulated: EmulatedWorld, body: unknown, as?: string): string {
  const answer = emulated.call("group.create", body, as === undefined ? {} : { as });
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  return (answer.body as { id: string }).id;
}

/* A state store in memory, for tests that are about something else. */

export interface MemoryStore extends StateStore {
  stored: { snapshot?: string; journal: string[] };
  /** How often anything was written. */
  writes: number;
}

/** `stored`: what it holds at first; `epochs`: how often it was locked before. */
export function createMemoryStore(stored: MemoryStore["stored"] = { journal: [] }, epochs = 0): MemoryStore {
  let holder: (Holder & { epoch: number }) | undefined;
  let epoch = epochs;
  const store: MemoryStore = {
    location: "memory",
    leases: true,
    stored: { ...stored, journal: [...stored.journal] },
    writes: 0,
    read: async (): Promise<StoredState> => ({ snapshot: store.stored.snapshot, journal: [...store.stored.journal] }),
    holder: async () => holder,
    breakLock: async () => {
      const broken = holder;
      holder = undefined;
      return broken;
    },
    async lock(wanted) {
      if (holder !== undefined) throw new StateLocked(holder);
      epoch++;
      const mine = { ...wanted, epoch };
      holder = mine;
      const assertHeld = (): void => {
        if (holder !== mine) throw new LeaseLost("memory");
      };
      const session: StateSession = {
        epoch,
        read: store.read,
        assertHeld: async () => assertHeld(),
        async append(lines) {
          assertHeld();
          store.writes++;
          store.stored.journal.push(...lines);
        },
        async replace(snapshot) {
          assertHeld();
          store.writes++;
          store.stored = { snapshot, journal: [] };
        },
        async release() {
          if (holder === mine) holder = undefined;
        },
      };
      return session;
    },
  };
  return store;
}

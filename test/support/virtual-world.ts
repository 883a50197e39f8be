/**
 * The real engine on an emulated world, in virtual time: plans and applies one desired state after the other and tells
 * what was sent. What the golden stories and the properties stand on.
 */
import type { EmulatorSettings } from "../../emulator/decision";
import type { PlanOptions } from "../../reconciler/core/diff/context";
import { asClosed, type Desired, type HealthCheck } from "../../reconciler/core/model/desired";
import { hasErrors } from "../../reconciler/core/model/diagnostic";
import { documentedOperations, type Operation } from "../../reconciler/core/model/operation";
import type { StateChange } from "../../reconciler/core/model/recorded";
import { PermittedPlan } from "../../reconciler/core/plan/permitted";
import { builtInDialect } from "../../reconciler/dialect/built-in";
import { carryOutPermitted, openForWriting } from "../../reconciler/engine/apply";
import { openStoredState, type Prepared, preparePlan } from "../../reconciler/engine/plan";
import { defaultTiming, type Ports } from "../../reconciler/engine/ports";
import type { RunReport } from "../../reconciler/engine/run-plan";
import { StoreFailed } from "../../reconciler/store/store";
import { emulatedWorld } from "./emulated-world";
import { inProcessClient } from "./in-process-client";
import { createMemoryStore } from "./memory-store";
import { virtualClock } from "./virtual-clock";

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

const holder = { who: "test", host: "test", pid: 1, since: "2026-01-01T00:00:00Z", command: "test" };

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
  const clock = virtualClock((now) => {
    emulated.nowMs = now;
  });
  const client = inProcessClient(emulated, capabilities(given), (until) =>
    clock.sleep(Math.max(0, until - clock.now())),
  );
  const ports: Ports = {
    client,
    clock,
    timing: defaultTiming,
    runCommand: async () => ({ exitCode: 0, output: "" }),
    checkHealth: async (check, vm) => checkHealth(check, vm),
    emit: () => undefined,
  };
  const never = new AbortController().signal;
  const self = {
    emulated,
    store,
    client,
    clock,
    ports,
    cutAfterWrites(count: number | undefined) {
      writesLeft = count;
    },
    setCapabilities(next: Capabilities) {
      client.has = capabilities(next);
    },
    has: (operation: Operation) => client.has(operation),
    plan: (desired: Desired, options: PlanOptions = {}, observe = true): Promise<Prepared> =>
      preparePlan({ desired: asClosed(desired), store, client, options, clock, lineage: "story", observe }),
    apply: (prepared: Prepared): Promise<RunReport | undefined> => self.applyWith(client, prepared),
    async applyWith(sent: Ports["client"], prepared: Prepared): Promise<RunReport | undefined> {
      if (hasErrors(prepared.plan.diagnostics)) return undefined;
      const stop = { soft: never, hard: never };
      const input = { prepared, store, ports: { ...ports, client: sent }, holder, stop, planId: "plan" };
      return carryOutPermitted(PermittedPlan.onTwin(prepared.plan), input);
    },
    state: async () => openStoredState(await store.read(), "memory", "story").state,
    async record(changes: readonly StateChange[]) {
      const { recorder } = await openForWriting(store, holder, "story");
      await recorder.record(changes);
      await recorder.close();
    },
    /** Requests that change something and those refused, since the last time this was asked. */
    takeSent() {
      return client.sent.splice(0);
    },
  };
  return self;
}
export type VirtualWorld = ReturnType<typeof virtualWorld>;

/**
 * The engine in one process with the emulated service, over HTTP or without: what the CLI composes, without the command line.
 * Time is compressed to nothing, so thousands of worlds fit into a test run.
 */
import { randomUUID } from "node:crypto";
import { type EmulatorOptions, type RunningEmulator, startEmulator } from "../../emulator";
import { systemClock } from "../../reconciler/cli/compose";
import { readDesired } from "../../reconciler/config/read/desired";
import type { PlanOptions } from "../../reconciler/core/diff/context";
import type { Desired } from "../../reconciler/core/model/desired";
import type { Diagnostic } from "../../reconciler/core/model/diagnostic";
import { everyGrant } from "../../reconciler/core/plan/consent";
import type { Plan } from "../../reconciler/core/plan/plan";
import { builtInDialect } from "../../reconciler/dialect/built-in";
import type { Dialect } from "../../reconciler/dialect/dialect";
import { mergeDialect } from "../../reconciler/dialect/merge-dialect";
import { applyPlan, hasNothingToDo } from "../../reconciler/engine/apply";
import type { EngineEvent } from "../../reconciler/engine/events";
import { defaultTiming, type Ports } from "../../reconciler/engine/ports";
import type { RunReport } from "../../reconciler/engine/run-plan";
import { openBeside } from "../../reconciler/outside/beside";
import type { ServiceClient } from "../../reconciler/service/client";
import type { Clock } from "../../reconciler/service/clock";
import { Credential } from "../../reconciler/service/credential";
import { createServiceClient, type HttpServiceClient } from "../../reconciler/service/http-client";
import type { StateStore } from "../../reconciler/store/store";
import { project } from "./desired-file";
import { controlOf, emulatorHere, listeningEmulator } from "./emulator-here";
import { awaitOpenOn, holder, prepareOn } from "./engine-on";
import { connectionsHere } from "./in-memory";
import { createMemoryStore, type MemoryStore } from "./virtual-world";
import { refusedOf } from "./world-shape";

export interface BenchWorld {
  readonly emulator: RunningEmulator;
  /** Where the client finds the service; the state names it. */
  readonly baseUrl: string;
  readonly client: HttpServiceClient;
  readonly store: MemoryStore;
  readonly ports: Ports;
  readonly events: EngineEvent[];
  /** Refused requests since the last call. */
  refusals(): { readonly operation: string; readonly status: number; readonly path: string }[];
  plan(desired: Desired, options?: PlanOptions): Promise<Plan>;
  apply(
    desired: Desired,
    options?: PlanOptions,
    through?: Partial<Through>,
  ): Promise<{ readonly plan: Plan; readonly report?: RunReport }>;
  control(method: string, path: string, body?: unknown): Promise<unknown>;
  close(): Promise<void>;
}

/** What a run may be put through instead of the plain thing. */
export interface Through {
  readonly client: ServiceClient;
  readonly store: StateStore;
  readonly clock: Ports["clock"];
}

export interface BenchOptions extends EmulatorOptions {
  readonly dialect?: Dialect;
  readonly checkHealth?: Ports["checkHealth"];
  readonly runCommand?: Ports["runCommand"];
  readonly requestTimeoutMs?: number;
  /** What one run has written before. */
  readonly stored?: (baseUrl: string) => MemoryStore["stored"];
  /** How the engine reaches the service: here alone, or over HTTP. Left out: here, and others over HTTP (in-memory.ts). */
  readonly reach?: "here" | "http";
  /** Stands between the engine and the emulated service. */
  readonly front?: (emulator: string) => Promise<{ readonly url: string; close(): Promise<void> }>;
}

/** Waits before a repeat are a hundredth of what they are. */
export const hurriedClock: Clock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms / 100, signal),
};

export const token = "ops-token";

/** A dialect for an emulator that was given `with` and `without`. */
export function dialectFor(options: {
  readonly with?: readonly string[];
  readonly without?: readonly string[];
}): Dialect {
  return mergeDialect({ operations: dialectOperations(options) } as Parameters<typeof mergeDialect>[0]);
}

export function dialectOperations(options: {
  readonly with?: readonly string[];
  readonly without?: readonly string[];
}): Record<string, unknown> {
  const paths: Record<string, { method: "GET" | "DELETE"; path: string }> = {
    "vm.get": { method: "GET", path: "/api/v1/vm/{id}" },
    "volume.list": { method: "GET", path: "/api/v1/volume/list" },
    "group.list": { method: "GET", path: "/api/v1/security-group" },
    "group.get": { method: "GET", path: "/api/v1/security-group/{id}" },
    "group.rule.delete": { method: "DELETE", path: "/api/v1/security-group/{id}/rule/{rule_id}" },
  };
  const operations: Record<string, unknown> = {};
  for (const name of options.with ?? []) operations[name] = paths[name];
  for (const name of options.without ?? []) operations[name] = null;
  return operations;
}

const emulatorFor = ({ reach }: BenchOptions) =>
  reach === "here" ? emulatorHere : reach === "http" ? startEmulator : listeningEmulator;

export async function startBenchWorld(options: BenchOptions = {}): Promise<BenchWorld> {
  const emulator = await emulatorFor(options)({ timeScale: 0, ...options });
  const timing = { ...defaultTiming, pollIntervalMs: 2, discoveryWindowMs: 60, vmCreateTimeoutMs: 5000 };
  const front = await options.front?.(emulator.url);
  const dialect = options.dialect ?? builtInDialect;
  const baseUrl = front?.url ?? emulator.url;
  const client = createServiceClient({
    baseUrl,
    dialect,
    credential: new Credential(dialect.authorization.header.replace("{token}", token), { kind: "fixed" }),
    timing: { ...timing, requestTimeoutMs: options.requestTimeoutMs ?? timing.requestTimeoutMs },
    clock: hurriedClock,
    connections: connectionsHere(baseUrl),
  });
  const store = createMemoryStore(options.stored?.(baseUrl), options.stored === undefined ? 0 : 1);
  const events: EngineEvent[] = [];
  const ports: Ports = {
    client,
    clock: systemClock,
    timing,
    runCommand: options.runCommand ?? (async () => ({ exitCode: 0, output: "" })),
    checkHealth: options.checkHealth ?? (async () => true),
    emit: (event) => events.push(event),
  };
  let seen = 0;
  const lineage = randomUUID();
  const { discoveryWindowMs } = timing;
  return {
    emulator,
    baseUrl,
    client,
    store,
    ports,
    events,
    refusals() {
      const { log } = emulator.requests();
      const fresh = log.slice(seen);
      seen = log.length;
      const answered = fresh.map(({ operation, status, path }) => ({
        operation: String(operation),
        status: status ?? 0,
        path,
      }));
      return refusedOf(answered, ({ path }) =>
        path
          .replace(/\/rule$/, "")
          .split("/")
          .at(-1),
      );
    },
    plan: async (desired, options = {}) =>
      (await prepareOn({ store, ports, lineage }, desired, { options, discoveryWindowMs })).plan,
    async apply(desired, planOptions = {}, through = {}) {
      const { store: runStore = store, ...others } = through;
      const on = { store: runStore, ports: { ...ports, ...others }, lineage };
      await awaitOpenOn(on);
      const prepared = await prepareOn(on, desired, { options: planOptions, discoveryWindowMs });
      if (hasNothingToDo(prepared.plan) || prepared.plan.diagnostics.some(({ severity }) => severity === "error"))
        return { plan: prepared.plan };
      const { signal } = new AbortController();
      const stop = { soft: signal, hard: signal };
      const report = await applyPlan({ ...on, prepared, holder, stop, planId: "test", grants: everyGrant });
      return { plan: prepared.plan, report };
    },
    control: (...asked) => controlOf(emulator, ...asked),
    async close() {
      await client.close();
      await front?.close();
      await emulator.close();
    },
  };
}

/** The desired state of a project with these blocks (support/desired-file.ts). */
export const projectOf = (blocks: object): Desired => desiredOf(JSON.stringify(project(blocks)));

/** The desired state of a YAML text; its problems are the test's failure. */
export function desiredOf(text: string): Desired {
  const read = readDesired([{ file: "reconcile.yaml", text }], { open: openBeside });
  if (read.desired === undefined)
    throw new Error(
      read.diagnostics.map((diagnostic: Diagnostic) => `${diagnostic.source?.line}: ${diagnostic.summary}`).join("\n"),
    );
  return read.desired;
}

/**
 * A run of one step, for tables of what the engine decides: a real recorder on a state in memory, a clock that stands
 * still until somebody waits, and a service that answers what the row says.
 */
import { abilitiesOf } from "../../reconciler/core/model/abilities";
import { type Live, notSeen } from "../../reconciler/core/model/live";
import type { Operation } from "../../reconciler/core/model/operation";
import type { Intent, RecordedResource } from "../../reconciler/core/model/recorded";
import type { Step } from "../../reconciler/core/plan/step";
import { emptyState } from "../../reconciler/core/state/fold";
import { createFirstCreates } from "../../reconciler/engine/first-create";
import { indexNamesBefore } from "../../reconciler/engine/names-before";
import { defaultTiming } from "../../reconciler/engine/ports";
import { createRecorder } from "../../reconciler/engine/recorder";
import type { Run } from "../../reconciler/engine/run";
import type { ServiceClient } from "../../reconciler/service/client";
import { virtualClock } from "./virtual-clock";

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

/**
 * One running twin: the embedded service in memory with the observed world, one clock that goes many times faster for
 * service, client and engine, and a copy of the state. So every duration is reported in the real service's time.
 * Nothing outside is touched: flush commands and health checks are taken to succeed, and are named.
 */
import { openEmulator } from "../../emulator";
import type { Timing } from "../core/model/desired";
import { elapsedAt, instantAt } from "../core/model/time";
import type { Dialect } from "../dialect/dialect";
import type { EngineEvent } from "../engine/events";
import type { Prepared } from "../engine/plan";
import type { Ports } from "../engine/ports";
import { sleep } from "../service/abort-listeners";
import type { ServiceClient } from "../service/client";
import type { Clock } from "../service/clock";
import { serviceHere } from "../service/connections-here";
import { Credential } from "../service/credential";
import { createServiceClient, type HttpServiceClient } from "../service/http-client";
import { systemClock } from "../service/system-clock";
import { createMemoryStore } from "../store/memory";
import type { StoredState } from "../store/store";
import { buildTwin, twinToken } from "./twin";
import { twinDialect, twinOperations } from "./twin-dialect";

export interface TwinSetting {
  /** The plan for the real service, with the observation that it was made from. */
  readonly prepared: Prepared;
  /** The real state, as it was read. */
  readonly stored: StoredState;
  readonly dialect: Dialect;
  readonly timing: Timing;
  readonly parallelism: number;
  /** How many times faster than the real service. */
  readonly speed: number;
  readonly newId: () => string;
}

export type RunningTwin = Awaited<ReturnType<typeof startTwin>>;

export async function startTwin(setting: TwinSetting) {
  const { prepared, dialect: realDialect, timing } = setting;
  const { world, strict, assumptions } = buildTwin({ ...prepared, now: Date.now(), newId: setting.newId });
  const dialect = twinDialect(realDialect, prepared.live);
  const emulator = await openEmulator({
    seed: world,
    strict,
    timeScale: setting.speed,
    control: false,
    ...twinOperations(realDialect),
    portRange: realDialect.rules.port_range === null ? undefined : realDialect.rules.port_range,
    keepsNamedGroups: realDialect.limits.named_groups !== undefined,
  });
  const clock = fastClock(setting.speed);
  const clients: HttpServiceClient[] = [];
  const notRun = new Set<string>();
  return {
    emulator,
    clock,
    assumptions,
    store: createMemoryStore(setting.stored, prepared.state.epoch),
    /** Commands and checks that were not run. */
    get notRun(): readonly string[] {
      return [...notRun].sort();
    },
    connect(): HttpServiceClient {
      const client = createServiceClient({
        ...serviceHere(emulator.answer),
        origin: (prepared.scope ?? prepared.state.scope)?.origin ?? "embedded",
        dialect,
        credential: new Credential(`Bearer ${twinToken}`, { kind: "fixed" }),
        timing,
        parallelism: setting.parallelism,
        clock,
      });
      clients.push(client);
      return client;
    },
    ports: (client: ServiceClient, emit: (event: EngineEvent) => void): Ports => ({
      client,
      clock,
      timing,
      emit,
      oneAtATime: setting.parallelism === 1,
      async runCommand({ argv }) {
        notRun.add(`the command ${JSON.stringify(argv.join(" "))} is taken to succeed`);
        return { exitCode: 0, output: "" };
      },
      async checkHealth(check, vm) {
        const what =
          check.kind === "tcp" ? `tcp ${check.port}` : check.kind === "http" ? check.url : check.argv.join(" ");
        notRun.add(`the health check of ${vm.name} (${what}) is taken to pass`);
        return true;
      },
    }),
    async close(): Promise<void> {
      for (const client of clients) await client.close();
      await emulator.close();
    },
  };
}

/** The time of the real service, `speed` times faster. */
function fastClock(speed: number): Clock {
  const zero = systemClock.now();
  // A monotonic time that goes faster is monotonic.
  const now = () => elapsedAt(zero + (systemClock.now() - zero) * speed);
  return { now, instant: () => instantAt(now()), sleep: (ms, signal) => sleep(ms / speed, signal) };
}

/** A client on a scripted server, with a clock that does not wait. */
import { onTestFinished } from "vitest";
import { elapsedAt, instantAt } from "../../reconciler/core/model/time";
import { builtInDialect } from "../../reconciler/dialect/built-in";
import type { RequestEvent } from "../../reconciler/service/caller";
import type { Clock } from "../../reconciler/service/clock";
import { Credential } from "../../reconciler/service/credential";
import {
  createServiceClient,
  type HttpServiceClient,
  type ServiceClientOptions,
} from "../../reconciler/service/http-client";
import { type Script, type ScriptedServer, startServer } from "./scripted-server";

export const canary = "Bearer canary-6f1d2c9e-never-shown";

export interface TestClient {
  readonly client: HttpServiceClient;
  readonly events: RequestEvent[];
  /** What was slept, in milliseconds. */
  readonly sleeps: number[];
}

export function makeClient(baseUrl: string, options: Partial<ServiceClientOptions> = {}): TestClient {
  const events: RequestEvent[] = [];
  const sleeps: number[] = [];
  let skipped = 0;
  const clock: Clock = {
    now: () => elapsedAt(performance.now() + skipped),
    instant: () => instantAt(Date.now() + skipped),
    sleep: async (ms) => {
      sleeps.push(ms);
      skipped += ms;
    },
  };
  const client = createServiceClient({
    baseUrl,
    dialect: builtInDialect,
    credential: new Credential(canary, { kind: "fixed" }),
    timing: { requestTimeoutMs: 5_000 },
    clock,
    random: () => 0.5,
    onRequest: (event) => events.push(event),
    ...options,
  });
  return { client, events, sleeps };
}

/** Closed when the test ends, the last one first. */
export function closeAfterwards(...these: readonly { close(): Promise<void> }[]): void {
  for (const each of these) onTestFinished(() => each.close());
}

export async function start(
  scripts: Script[],
  options: Partial<ServiceClientOptions> = {},
): Promise<TestClient & { server: ScriptedServer }> {
  const server = await startServer(...scripts);
  const made = makeClient(server.baseUrl, options);
  closeAfterwards(server, made.client);
  return { ...made, server };
}

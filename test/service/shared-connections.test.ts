/** Clients that come and go share the connections to a service, and some time after the last one they are closed. */
import type { Pool } from "undici";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { type Connections, createSharedConnections } from "../../reconciler/service/transport";

/** What it opens is undici's. */
const poolOf = (connections: Connections | undefined): Pool => connections?.open() as Pool;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("the clients of one service have the same connections until some time after the last of them is closed", async () => {
  const connectionsTo = createSharedConnections(10_000);
  const [one, two, elsewhere, unused] = ["http://127.0.0.1:9", "http://127.0.0.1:9/api", "http://127.0.0.1:10"]
    .concat("http://127.0.0.1:9")
    .map((url) => connectionsTo(url, 10));
  const pool = poolOf(one);
  expect([one!.open() === pool, two!.open() === pool, elsewhere!.open() === pool]).toEqual([true, true, false]);
  // One that sent nothing holds none, and one that is closed twice lets go of one.
  await unused!.close();
  await two!.close();
  await two!.close();
  expect([pool.destroyed, one!.open() === pool]).toEqual([false, true]);
  await one!.close();
  // Whoever comes soon goes on with them.
  await vi.advanceTimersByTimeAsync(9000);
  const soon = connectionsTo("http://127.0.0.1:9", 10);
  expect(soon.open() === pool).toBe(true);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(pool.destroyed).toBe(false);
  await soon.close();
  await vi.advanceTimersByTimeAsync(11_000);
  expect(pool.destroyed).toBe(true);
  const later = connectionsTo("http://127.0.0.1:9", 10);
  expect(poolOf(later).destroyed).toBe(false);
  await Promise.all([later, elsewhere!].map((connections) => connections.close()));
  await vi.advanceTimersByTimeAsync(11_000);
});

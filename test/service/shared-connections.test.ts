/** Clients that come and go share the connections to a service, and the last one takes them along. */
import { expect, it } from "vitest";
import { createSharedConnections } from "../../reconciler/service/transport";

it("the clients of one service have the same connections until the last of them is closed", async () => {
  const connectionsTo = createSharedConnections();
  const [one, two, elsewhere, unused] = ["http://127.0.0.1:9", "http://127.0.0.1:9/api", "http://127.0.0.1:10"]
    .concat("http://127.0.0.1:9")
    .map((url) => connectionsTo(url, 10));
  const pool = one!.open();
  expect([one!.open() === pool, two!.open() === pool, elsewhere!.open() === pool]).toEqual([true, true, false]);
  // One that sent nothing holds none, and one that is closed twice lets go of one.
  await unused!.close();
  await two!.close();
  await two!.close();
  expect([pool.destroyed, one!.open() === pool]).toEqual([false, true]);
  await one!.close();
  expect(pool.destroyed).toBe(true);
  const later = connectionsTo("http://127.0.0.1:9", 10);
  expect(later.open().destroyed).toBe(false);
  await Promise.all([later, elsewhere!].map((connections) => connections.close()));
});

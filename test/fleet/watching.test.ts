/** What a page watches ends with the right to see it. */
import { Hono } from "hono";
import { expect, test } from "vitest";
import type { Records } from "../../reconciler/fleet/database/records";
import { createLive } from "../../reconciler/fleet/pages/live";

test("a watcher whose right to see has ended is told of no further change", async () => {
  let moment = 0;
  const records = { overview: async () => ({ moment: String(moment++) }), moments: async () => new Map() };
  // It asks for the moment of everything alone.
  const live = createLive(records as unknown as Records, 0);
  const may = [true, false];
  const app = new Hono();
  app.get("/events", (context) => live.stream(context, {}, "", async () => may.shift() ?? false));
  const answer = await app.request("/events");
  // The stream ends by itself: reading to its end would wait for ever otherwise.
  const told = await answer.text();
  expect([told.match(/event: \w+/g), may]).toEqual([["event: hello", "event: changed"], []]);
});

/** What a page watches ends with the right to see it. */
import { Hono } from "hono";
import { expect, test } from "vitest";
import type { Records } from "../../reconciler/fleet/database/records";
import { createLive } from "../../reconciler/fleet/pages/live";
import { script } from "../../reconciler/fleet/pages/style";
import { eventually } from "../support/eventually";

test("a watcher whose right to see has ended is told of no further change", async () => {
  let moment = 0;
  const records = { overview: async () => ({ moment: String(moment++) }), moments: async () => new Map() };
  // It asks for the moment of everything alone.
  const live = createLive(records as unknown as Records, 0);
  const may = [true, false];
  const app = new Hono();
  app.get("/events", (context) => live.stream(context, {}, "", async () => may.shift() ?? false));
  const answer = await app.request("/events");
  expect(answer.headers.get("x-accel-buffering")).toBe("no");
  // The stream ends by itself: reading to its end would wait for ever otherwise.
  const told = await answer.text();
  expect([told.match(/event: \w+/g), may]).toEqual([["event: hello", "event: changed"], []]);
});

test("what changes while a slow reader is told of a change is told as well", async () => {
  let [moment, looks] = [0, 0];
  const moments = async () => {
    looks++;
    return new Map([["shop", String(moment)]]);
  };
  // It asks for the moments of one stack alone.
  const live = createLive({ moments } as unknown as Records);
  const told: string[] = [];
  const app = new Hono();
  app.get("/events", (context) => live.stream(context, { stack: "shop" }, "", async () => true));
  const reader = (await app.request("/events")).body!.getReader();
  const next = async () =>
    told.push(
      Buffer.from((await reader.read()).value!)
        .toString()
        .split("\n")[0]!,
    );
  await next();
  // Nobody reads on: the first change waits to be read, and the third comes while the second is told.
  for (const change of [1, 2, 3]) {
    moment = change;
    const before = looks;
    await eventually("two looks", () => (looks > before + 1 ? true : undefined));
  }
  for (let changes = 0; changes < 3; changes++) await next();
  await reader.cancel();
  expect(told).toEqual(["event: hello", "event: changed", "event: changed", "event: changed"]);
});

test.each([
  ["says nothing of itself", true, []],
  ["is marked where a proxy keeps back what is said", false, ["hello"]],
])("a page %s", (_, isHidden, kept) => {
  const note = { hidden: true };
  const page = {
    querySelector: (what: string) => (what === "main" ? { dataset: { live: "/events" } } : null),
    querySelectorAll: () => [],
    getElementById: () => note,
    addEventListener: () => undefined,
  };
  class Source {
    addEventListener(what: string, hear: () => void): void {
      if (what === "hello" && !kept.includes(what)) hear();
    }
  }
  const begin = new Function("document", "EventSource", "location", "setTimeout", script);
  begin(page, Source, { href: "http://127.0.0.1:8470/" }, (act: () => void) => act());
  expect(note.hidden).toBe(isHidden);
});

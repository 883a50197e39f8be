/** What is sent again, what is cut off, and who waits: the client against a service that misbehaves. */
import { describe, expect, test } from "vitest";
import { tellAskedToWait } from "../../reconciler/cli/asked-to-wait";
import { elapsedAt } from "../../reconciler/core/model/time";
import { builtInDialect } from "../../reconciler/dialect/built-in";
import { readFailed } from "../../reconciler/engine/read-failed";
import { failedBy } from "../../reconciler/engine/run";
import type { HttpServiceClient } from "../../reconciler/service/http-client";
import { closeAfterwards, makeClient, start, type TestClient } from "./make-client";
import { drop, fault, json, type Script, silence, startServer, text, truncate } from "./scripted-server";

describe("what is repeated", () => {
  type Row = [
    title: string,
    scripts: Script[],
    send: (client: TestClient["client"]) => Promise<unknown>,
    status: object,
    requests: number,
  ];
  const vms = json(200, []);
  const done = json(200, { data: "ok" });
  const gone = fault(404, "not found");
  const rows: Row[] = [
    ["a read after a lost answer", [drop, vms], (c) => c.listVms(), { status: "accepted" }, 2],
    ["a read after garbage", [text(200, "<html>"), vms], (c) => c.listVms(), { status: "accepted" }, 2],
    ["a read after a truncated answer", [truncate, vms], (c) => c.listVms(), { status: "accepted" }, 2],
    [
      "a read after 500, 502 and 503",
      [fault(500, "x"), text(502, "<h1>"), fault(503, "x"), vms],
      (c) => c.listVms(),
      { status: "accepted" },
      4,
    ],
    [
      "a read, five times and no more",
      [fault(500, "x")],
      (c) => c.listVms(),
      { status: "unavailable", httpStatus: 500 },
      5,
    ],
    ["never a write after a lost answer", [drop, done], (c) => c.stopVm("v"), { status: "unknown" }, 1],
    ["never a write after a truncated answer", [truncate, done], (c) => c.stopVm("v"), { status: "unknown" }, 1],
    [
      "never a write after garbage",
      [text(200, "<html>"), done],
      (c) => c.stopVm("v"),
      { status: "unknown", httpStatus: 200 },
      1,
    ],
    [
      "never a write after a 5xx",
      [fault(503, "x"), done],
      (c) => c.createVolume("d", 1),
      { status: "unknown", httpStatus: 503 },
      1,
    ],
    [
      "a write after 429, which proves that nothing was done",
      [fault(429, "slow"), done],
      (c) => c.stopVm("v"),
      { status: "accepted" },
      2,
    ],
    [
      "never what was refused",
      [fault(400, "bad"), done],
      (c) => c.stopVm("v"),
      { status: "rejected", condition: "bad_request" },
      1,
    ],
    ["a delete after a lost answer", [drop, done], (c) => c.deleteVolume("d"), { status: "accepted" }, 2],
    [
      "a delete: not found after a lost answer is success",
      [drop, gone],
      (c) => c.deleteGroup("g"),
      { status: "accepted" },
      2,
    ],
    [
      "a delete: what a lost one left behind is not known",
      [drop, gone],
      (c) => c.deleteVm("v", undefined),
      { status: "accepted", value: { preservedVolumes: undefined } },
      2,
    ],
    [
      "a delete: not found at first is a refusal",
      [gone],
      (c) => c.deleteGroup("g"),
      { status: "rejected", condition: "not_found" },
      1,
    ],
    [
      "a delete: another refusal after a lost answer says nothing about the first",
      [drop, fault(409, "busy")],
      (c) => c.deleteVm("v", true),
      { status: "unknown" },
      2,
    ],
  ];
  for (const [title, scripts, send, expected, requests] of rows)
    test(title, async () => {
      const { client, server, events } = await start(scripts);
      expect(await send(client)).toMatchObject(expected);
      expect(server.received).toHaveLength(requests);
      expect(events.map(({ attempt }) => attempt)).toEqual(server.received.map((_, index) => index + 1));
    });

  test("a write is repeated while nothing listens, and then it is unavailable", async () => {
    const { client, events } = makeClient("http://127.0.0.1:1");
    closeAfterwards(client);
    expect(await client.stopVm("v")).toMatchObject({
      status: "unavailable",
      reason: expect.stringContaining("ECONNREFUSED"),
    });
    expect(events).toHaveLength(5);
  });

  test("a TLS failure is before anything was sent", async () => {
    const server = await startServer(done);
    const { client } = makeClient(`https://127.0.0.1:${server.port}`);
    closeAfterwards(server, client);
    expect(await client.stopVm("v")).toMatchObject({ status: "unavailable" });
    expect(server.received).toEqual([]);
  });

  test("Retry-After is kept by every request, not by the one alone that was told", async () => {
    const busy = fault(429, "slow", { "retry-after": "7" });
    const { client, server, sleeps } = await start([busy, json(200, [])], {
      parallelism: 1,
      timing: { requestTimeoutMs: 60_000 },
    });
    await Promise.all([client.listVms(), client.listImages()]);
    expect(server.received).toHaveLength(3);
    // One sleep is the told request's own, the other holds the slots.
    expect(sleeps.filter((ms) => ms > 6000)).toHaveLength(2);
  });

  test("a wait of some seconds is told once, however many requests wait, and again when it is over", async () => {
    const busy = (seconds: number) => fault(429, "slow", { "retry-after": String(seconds) });
    const { client, events } = await start([busy(7), busy(7), busy(1), json(200, [])], {
      timing: { requestTimeoutMs: 60_000 },
    });
    await client.listVms();
    const said: string[] = [];
    const at = [0, 7000, 7000].map(elapsedAt);
    const tell = tellAskedToWait((text) => said.push(text), { now: () => at.shift() ?? elapsedAt(7000) });
    for (const event of [events[0]!, ...events]) tell(event);
    const line = "The service asks to come back in 7 s (HTTP 429).";
    expect(said).toEqual([line, line]);
  });

  test("Retry-After of a 503 to a write keeps every later request away for as long, and a delete is sent again after it", async () => {
    const busy = fault(503, "busy", { "retry-after": "7" });
    const { client, server, sleeps } = await start([busy, json(200, [])]);
    expect(await client.stopVm("v")).toMatchObject({ status: "unknown", retryAfterMs: 7000 });
    expect(sleeps).toEqual([]);
    await client.listVms();
    expect(sleeps.filter((ms) => ms > 6000)).toHaveLength(1);
    expect(server.received).toHaveLength(2);
    const deleting = await start([busy, json(200, { message: "ok" })]);
    await deleting.client.deleteVolume("v");
    expect(deleting.sleeps.some((ms) => ms >= 7000)).toBe(true);
  });

  test("a Retry-After beyond the time allowed is not waited for, by this request or the next", async () => {
    const { client, server, sleeps } = await start([fault(429, "slow", { "retry-after": "3600" })]);
    for (let sent = 1; sent <= 2; sent++) {
      expect(await client.listVms()).toMatchObject({ status: "unavailable", retryAfterMs: 3_600_000 });
      expect(server.received).toHaveLength(sent);
    }
    expect(sleeps).toEqual([]);
  });

  test.each([
    ["429 with 0", 429, "0"],
    ["429 with a date that is over", 429, "Thu, 01 Jan 2015 00:00:00 GMT"],
    ["503 with 0", 503, "0"],
    ["503 with a date that is over", 503, "Thu, 01 Jan 2015 00:00:00 GMT"],
  ])("Retry-After that asks for no wait makes no storm: %s", async (_, status, retryAfter) => {
    const { client, sleeps } = await start([fault(status, "slow", { "retry-after": retryAfter })]);
    expect(await client.listVms()).toMatchObject({ status: "unavailable" });
    expect(sleeps.length).toBeGreaterThan(0);
    // Each wait is at least half of a doubled 200 ms, up to ten seconds.
    sleeps.forEach((ms, index) => {
      expect(ms).toBeGreaterThanOrEqual(Math.min(100 * 2 ** index, 5_000));
    });
  });

  test.each([
    ["a year in seconds", "31536000"],
    ["more seconds than a clock has", "99999999999999999999"],
    ["a date in a hundred years", "Wed, 01 Jan 2126 00:00:00 GMT"],
  ])("Retry-After in %s is not slept through: it ends as unavailable and says so", async (_, retryAfter) => {
    for (const status of [429, 503]) {
      const { client, server, sleeps } = await start([fault(status, "slow", { "retry-after": retryAfter })]);
      expect(await client.listVms()).toMatchObject({
        status: "unavailable",
        reason: expect.stringMatching(
          /asks to come back in a day or more, and a request is not waited for longer than 300 s/,
        ),
      });
      expect([server.received.length, sleeps]).toEqual([1, []]);
    }
  });

  test.each([3, 12, 40])(
    "%i answers that ask for a second cost that many seconds, and a quarter more at most",
    async (times) => {
      const slow = fault(429, "slow", { "retry-after": "1" });
      for (const send of [
        (client: HttpServiceClient) => client.listVms(),
        (client: HttpServiceClient) => client.stopVm("v"),
      ]) {
        const { client, server, sleeps } = await start([...Array<Script>(times).fill(slow), json(200, [])]);
        expect(await send(client)).toMatchObject({ status: "accepted" });
        expect(server.received).toHaveLength(times + 1);
        for (const ms of sleeps) {
          expect(ms).toBeGreaterThanOrEqual(1000);
          expect(ms).toBeLessThanOrEqual(1250);
        }
      }
    },
  );

  test("a service that throttles without end is given up, with how long it was and a fix that fits", async () => {
    const { client, sleeps } = await start([fault(429, "slow", { "retry-after": "20" })]);
    const outcome = await client.stopVm("v");
    expect(outcome).toMatchObject({
      status: "unavailable",
      gaveWay: true,
      reason: expect.stringMatching(/^the service has throttled for 2\d\d s \(slow\)$/),
      fix: expect.stringContaining("requests_per_second"),
    });
    if (outcome.status !== "unavailable") throw new Error(outcome.status);
    expect(failedBy(outcome).code).toBe("service/throttled");
    expect(readFailed("the list of VMs", outcome)).toMatchObject({
      code: "service/throttled",
      fix: expect.not.stringContaining("base URL"),
    });
    const waited = sleeps.reduce((sum, ms) => sum + ms, 0);
    expect(waited).toBeGreaterThan(260_000);
    expect(waited).toBeLessThanOrEqual(300_000);
  });

  test("without Retry-After it is said as well", async () => {
    const { client } = await start([fault(429, "slow")]);
    expect(await client.listVms()).toMatchObject({
      gaveWay: true,
      reason: expect.stringContaining("the service has throttled for"),
    });
  });

  test("429 halves the requests at once", async () => {
    const { client } = await start([fault(429, "slow"), json(200, [])]);
    expect(client.concurrencyLimit).toBe(10);
    await client.listVms();
    expect(client.concurrencyLimit).toBe(5);
  });
});

describe("limits", () => {
  test("an answer slower than the timeout is unknown for a write and unavailable for a read", async () => {
    const { client } = await start([silence], { timing: { requestTimeoutMs: 900 } });
    expect(await client.stopVm("v")).toMatchObject({ status: "unknown", reason: expect.stringContaining("900 ms") });
    expect(await client.listVms()).toMatchObject({ status: "unavailable" });
  });

  test("a body that drips without end is cut off by the same timeout", async () => {
    const drip: Script = (_request, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const timer = setInterval(() => response.write(" "), 10);
      response.on("close", () => clearInterval(timer));
    };
    const { client } = await start([drip], { timing: { requestTimeoutMs: 900 } });
    expect(await client.stopVm("v")).toMatchObject({ status: "unknown" });
  });

  test("an answer of more than 32 MiB is not read to its end", async () => {
    let written = 0;
    const flood: Script = (_request, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const chunk = Buffer.alloc(1 << 20, 32);
      const more = () => {
        while (!response.destroyed && written < 200 << 20) {
          written += chunk.length;
          if (!response.write(chunk)) return void response.once("drain", more);
        }
      };
      more();
    };
    const { client } = await start([flood], { timing: { requestTimeoutMs: 60_000 } });
    expect(await client.stopVm("v")).toMatchObject({ status: "unknown", reason: expect.stringContaining("32 MiB") });
    expect(written).toBeLessThan(100 << 20);
  });

  test("a redirect is an error that names the host, and is not followed", async () => {
    const target = await startServer(json(200, []));
    closeAfterwards(target);
    const { client } = await start([json(302, {}, { location: `${target.baseUrl}/login?next=1` })]);
    expect(await client.listVms()).toMatchObject({
      status: "rejected",
      message: expect.stringContaining(`127.0.0.1:${target.port}`),
    });
    expect(target.received).toEqual([]);
  });

  test("a signal ends a read that is under way", async () => {
    const { client, server } = await start([silence]);
    const controller = new AbortController();
    const reading = client.listVms({ signal: controller.signal });
    await expect.poll(() => server.received.length).toBe(1);
    controller.abort();
    expect(await reading).toMatchObject({ status: "unavailable", reason: "cancelled" });
  });

  test("a signal never cuts off a write that is under way", async () => {
    let answer = () => {};
    const { client, server } = await start([(_q, response) => (answer = () => response.end('"stopped"'))]);
    const controller = new AbortController();
    const stopping = client.stopVm("v", { signal: controller.signal });
    await expect.poll(() => server.received.length).toBe(1);
    controller.abort();
    answer();
    expect(await stopping).toEqual({ status: "accepted", value: undefined });
  });

  test("at most `parallelism` requests are under way, the most important first", async () => {
    const waiting: (() => void)[] = [];
    const hold: Script = ({ url = "" }, response) =>
      waiting.push(() => response.end(JSON.stringify({ id: url.slice(-2) })));
    const { client, server } = await start([hold], { parallelism: 2 });
    const reads = [0, 0, 1, 5].map((priority, index) => client.getVolume(`d${index}`, { priority }));
    await expect.poll(() => waiting.length).toBe(2);
    waiting.shift()!();
    await expect.poll(() => waiting.length).toBe(2);
    expect(server.received.map(({ url }) => url.slice(-2))).toEqual(["d0", "d1", "d3"]);
    while (waiting.length > 0 || server.received.length < 4) {
      waiting.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    for (const answer of waiting) answer();
    expect((await Promise.all(reads)).map(({ status }) => status)).toEqual([
      "accepted",
      "accepted",
      "accepted",
      "accepted",
    ]);
  });

  test("no more requests are under way than the dialect permits, whatever --parallelism says", () => {
    const limited = { ...builtInDialect, limits: { ...builtInDialect.limits, connections: 3 } };
    const { client } = makeClient("http://127.0.0.1:9", { dialect: limited, parallelism: 10 });
    expect(client.concurrencyLimit).toBe(3);
  });
});

import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { createPoller } from "../../reconciler/engine/poller";
import { systemClock as machineClock } from "../../reconciler/outside/clock";
import { onAbort } from "../../reconciler/service/abort-listeners";
import { createConnections, createTransport } from "../../reconciler/service/transport";

const many = Array.from({ length: 20 }, (_, index) => index);
const listeners = (signal: AbortSignal): number => getEventListeners(signal, "abort").length;

describe("a signal has one listener however many wait for it, so that Node sees no leak", () => {
  it("calls those who still wait, once, when it fires", () => {
    const stop = new AbortController();
    const called: number[] = [];
    const leave = many.map((index) => onAbort(stop.signal, () => called.push(index)));
    expect(listeners(stop.signal)).toBe(1);
    leave[3]!();
    stop.abort();
    expect(called).toEqual(many.filter((index) => index !== 3));
  });

  it("has none when nobody waits any more, and one again when somebody does", () => {
    const stop = new AbortController();
    let called = 0;
    const leave = many.map(() => onAbort(stop.signal, () => called++));
    for (const one of leave) one();
    expect(listeners(stop.signal)).toBe(0);
    onAbort(stop.signal, () => called++);
    for (const one of leave) one();
    stop.abort();
    expect(called).toBe(1);
  });

  it.each([["the machine's clock", machineClock]])("%s", async (_, clock) => {
    const stop = new AbortController();
    const sleeping = many.map(() => clock.sleep(60_000, stop.signal));
    expect(listeners(stop.signal)).toBe(1);
    stop.abort();
    await Promise.all(sleeping);
  });

  it("waits for a VM, in run after run", async () => {
    const stop = new AbortController();
    const client = { can: { seesVms: "list" }, listVms: async () => ({ status: "accepted", value: [] }) } as never;
    const waiting = many.map(() =>
      createPoller(client, machineClock, 5).watch(() => undefined, 60_000, [], { signal: stop.signal }),
    );
    expect(listeners(stop.signal)).toBe(1);
    stop.abort();
    expect(new Set((await Promise.all(waiting)).map(({ ended }) => ended))).toEqual(new Set(["aborted"]));
  });

  it("requests", async () => {
    const stop = new AbortController();
    // Nobody answers there: what is sent waits for its connection.
    const transport = createTransport({ connections: createConnections("http://127.0.0.1:9", 1) });
    const exchanges = many.map(() =>
      transport.send({ method: "GET", path: "/", authorization: "x", timeoutMs: 60_000, signal: stop.signal }),
    );
    expect(listeners(stop.signal)).toBe(1);
    stop.abort();
    expect(new Set((await Promise.all(exchanges)).map(({ kind }) => kind))).toEqual(new Set(["broken"]));
    await transport.close();
  });
});

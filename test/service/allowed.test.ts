/** A process that was stopped between being allowed to write and writing: whoever allowed it is asked again. */
import { afterEach, describe, expect, it, vi } from "vitest";
import { start } from "./make-client";

afterEach(() => {
  vi.restoreAllMocks();
});

/** The machine sleeps for a minute once the first write was allowed and before it is written. */
function asleepAfterFirst(answers: readonly boolean[]) {
  const now = Date.now.bind(Date);
  let slept = 0;
  let asked = 0;
  vi.spyOn(Date, "now").mockImplementation(() => {
    const at = now() + slept;
    if (asked === 1) slept = 60_000;
    return at;
  });
  return { mayWrite: async () => answers[asked++] ?? false, asked: () => asked };
}

describe("a write that was allowed a while ago", () => {
  it("is not sent when the lease is somebody else's by now", async () => {
    const { mayWrite, asked } = asleepAfterFirst([true, false]);
    const { client, server } = await start([(_, response) => response.writeHead(200).end("{}")]);
    const deleted = await client.deleteVolume("7b1a2c3d-0000-4000-8000-000000000001", { mayWrite });
    expect([deleted.status, asked(), server.received]).toEqual(["unavailable", 2, []]);
  });

  it("is sent once when the lease is still ours", async () => {
    const { mayWrite, asked } = asleepAfterFirst([true, true]);
    const { client, server } = await start([(_, response) => response.writeHead(200).end("{}")]);
    await client.deleteVolume("7b1a2c3d-0000-4000-8000-000000000001", { mayWrite });
    expect([asked(), server.received.map(({ method }) => method)]).toEqual([2, ["DELETE"]]);
  });
});

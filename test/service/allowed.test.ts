/** A process that was stopped between being allowed to write and writing: whoever allowed it is asked again. */
import { afterEach, describe, expect, it, vi } from "vitest";
import { start } from "./make-client";

afterEach(() => {
  vi.restoreAllMocks();
});

/** The machine sleeps for a minute before the first permission is heard, or after it and before anything is written. */
function asleep(when: "before it is heard" | "after it", answers: readonly boolean[]) {
  const now = Date.now.bind(Date);
  let slept = 0;
  let asked = 0;
  vi.spyOn(Date, "now").mockImplementation(() => {
    const at = now() + slept;
    if (when === "after it" && asked === 1) slept = 60_000;
    return at;
  });
  const mayWrite = async (): Promise<boolean> => {
    if (when === "before it is heard" && asked === 0) slept = 60_000;
    return answers[asked++] ?? false;
  };
  return { mayWrite, asked: () => asked };
}

const volume = "7b1a2c3d-0000-4000-8000-000000000001";

describe.each(["before it is heard", "after it"] as const)("a write whose permission is a minute old, %s", (when) => {
  it("is not sent when the lease is somebody else's by now", async () => {
    const { mayWrite, asked } = asleep(when, [true, false]);
    const { client, server } = await start([(_, response) => response.writeHead(200).end("{}")]);
    const deleted = await client.deleteVolume(volume, { mayWrite });
    expect([deleted.status, asked(), server.received]).toEqual(["unavailable", 2, []]);
  });

  it("is sent once when the lease is still ours", async () => {
    const { mayWrite, asked } = asleep(when, [true, true]);
    const { client, server } = await start([(_, response) => response.writeHead(200).end("{}")]);
    await client.deleteVolume(volume, { mayWrite });
    expect([asked(), server.received.map(({ method }) => method)]).toEqual([2, ["DELETE"]]);
  });
});

it("a write whose permission always comes late is not sent", async () => {
  const now = Date.now.bind(Date);
  let asked = 0;
  vi.spyOn(Date, "now").mockImplementation(() => now() + asked * 3000);
  const { client, server } = await start([(_, response) => response.writeHead(200).end("{}")]);
  const mayWrite = async (): Promise<boolean> => ++asked > 0;
  const deleted = await client.deleteVolume(volume, { mayWrite });
  expect([deleted.status, server.received]).toEqual(["unavailable", []]);
  expect(asked % 3).toBe(0);
});

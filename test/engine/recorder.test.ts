/** What the recorder promises those who send: durable before it answers, and nothing after a write that failed. */
import { describe, expect, it } from "vitest";
import { emptyState } from "../../reconciler/core/state/fold";
import { errorMessage } from "../../reconciler/core/text/errors";
import { createRecorder, isStateError } from "../../reconciler/engine/recorder";

type Session = Parameters<typeof createRecorder>[1];
const sessionThat = (append: (lines: readonly string[]) => Promise<void>, more: Partial<Session> = {}): Session => ({
  epoch: 1,
  read: async () => ({ journal: [] }),
  assertHeld: async () => undefined,
  append,
  replace: async () => undefined,
  release: async () => undefined,
  ...more,
});
const orphan = (id: string) =>
  ({ type: "orphan", key: `volume:${id}`, orphan: { kind: "volume", id, name: id, reason: "r" } }) as const;
const soon = () => new Promise((resolve) => setImmediate(resolve));

describe("the recorder", () => {
  it("answers when the change is durable, and writes together what waits", async () => {
    const batches: (readonly string[])[] = [];
    const waiting: (() => void)[] = [];
    const recorder = createRecorder(
      emptyState("l"),
      sessionThat((lines) => {
        batches.push([...lines]);
        return new Promise((resolve) => waiting.push(resolve));
      }),
    );
    const done: string[] = [];
    const first = recorder.record([orphan("a")]).then(() => done.push("a"));
    await soon();
    const others = [recorder.record([orphan("b")]), recorder.record([orphan("c")])];
    await soon();
    expect([batches.length, done]).toEqual([1, []]);
    waiting[0]!();
    await first;
    await soon();
    waiting[1]!();
    await Promise.all(others);
    expect(batches.map((lines) => lines.length)).toEqual([1, 2]);
  });

  it("writes together more changes than a call takes arguments", async () => {
    let written = 0;
    const recorder = createRecorder(
      emptyState("l"),
      sessionThat(async (lines) => {
        written += lines.length;
      }),
    );
    await recorder.record(Array.from({ length: 130_000 }, (_, id) => orphan(String(id))));
    expect(written).toBe(130_000);
  });

  it("writes nothing that waits behind a write that failed, and nothing after it", async () => {
    const written: string[] = [];
    let fail: (error: Error) => void = () => undefined;
    const recorder = createRecorder(
      emptyState("l"),
      sessionThat((lines) => {
        written.push(...lines);
        return written.length === 1
          ? new Promise((_, reject) => {
              fail = reject;
            })
          : Promise.resolve();
      }),
    );
    const failed = (what: Promise<void>): Promise<unknown> =>
      what.then(() => "done").catch((error: Error) => error.message);
    const first = failed(recorder.record([orphan("a")]));
    await soon();
    const second = failed(recorder.record([orphan("b")]));
    fail(new Error("disk full"));
    expect(await Promise.all([first, second])).toEqual([
      expect.stringContaining("disk full"),
      expect.stringContaining("disk full"),
    ]);
    expect(await failed(recorder.record([orphan("c")]))).toContain("disk full");
    await expect(recorder.assertHeld()).rejects.toThrow("disk full");
    expect(written).toHaveLength(1);
  });

  it("asks the lock itself whether it is held, and says that it is lost as an error of the state", async () => {
    let asked = 0;
    const lost = async (): Promise<void> => {
      asked++;
      throw new Error("the lock is lost");
    };
    const recorder = createRecorder(
      emptyState("l"),
      sessionThat(async () => undefined, { assertHeld: lost }),
    );
    const error = await recorder.assertHeld().catch((thrown: unknown) => thrown);
    expect([asked, isStateError(error), errorMessage(error)]).toEqual([
      1,
      true,
      expect.stringContaining("the lock is lost"),
    ]);
  });

  it("does not fold a state that could not be written, and lets the lock go", async () => {
    const calls: string[] = [];
    const recorder = createRecorder(
      emptyState("l"),
      sessionThat(() => Promise.reject(new Error("disk full")), {
        replace: async () => void calls.push("replace"),
        release: async () => void calls.push("release"),
      }),
    );
    await recorder.record([orphan("a")]).catch(() => undefined);
    await recorder.close();
    expect(calls).toEqual(["release"]);
  });

  it("puts what is said of a record into the record as it is now", async () => {
    const recorder = createRecorder(
      emptyState("l"),
      sessionThat(async () => undefined),
    );
    const record = {
      kind: "group",
      address: "group.web",
      id: "g",
      name: "web",
      rules: [],
      platformRules: [],
      preventDestroy: false,
    } as const;
    await recorder.record([{ type: "resource", address: "group.web", record }]);
    await recorder.record([{ type: "resource", address: "group.web", record: { ...record, description: "new" } }]);
    await recorder.record([{ type: "patch", address: "group.web", fields: { name: "other" } }]);
    expect(recorder.state.resources.get("group.web")).toMatchObject({ name: "other", description: "new" });
  });
});

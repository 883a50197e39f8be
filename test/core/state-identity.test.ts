/** Which state a text is: what is read from its first lines, and that they do not keep the rest in memory. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { identify } from "../../reconciler/core/state/identity";
import { fingerprint } from "../../reconciler/core/text/hash";

const head = (more: object): string =>
  JSON.stringify({ format: "reconcile-cloud/state", version: 1, lineage: "one", serial: 4, epoch: 0, ...more });
const of = (snapshot: string | undefined) => identify({ snapshot, journal: [] });

describe("which state a text is", () => {
  it.each([
    ["nothing", undefined, "empty"],
    ["blanks", " \n", "empty"],
    ["a state", head({}), { lineage: "one", serial: 4 }],
    ["another's", head({ lineage: "two" }), { lineage: "two", serial: 4 }],
    ["one that is laid out", JSON.stringify(JSON.parse(head({})), undefined, 2), { lineage: "one", serial: 4 }],
    ["no lineage", head({ lineage: 1 }), "unreadable"],
    ["a line break in its lineage", head({ lineage: "X" }).replace("X", "a\nb"), "unreadable"],
    ["a page in its place", "<html>", "unreadable"],
    ["a later version", head({ version: 99 }), "newer"],
  ])("%s", (_, snapshot, expected) => {
    expect(of(snapshot)).toEqual(expected);
  });

  const line = (body: string): string => `${fingerprint(body)} ${body}`;
  const at = (n: number, e: number, more?: number): string =>
    line(`{"n":${n},"e":${e},${more === undefined ? "" : `"more":${more},`}"c":{}}`);
  it.each<[what: string, journal: string[], serial: number]>([
    ["no line", ["", ""], 4],
    ["the next line", [at(5, 0)], 5],
    ["lines of a later holder", [at(5, 0), at(6, 2)], 6],
    ["a line of a former holder behind them", [at(5, 2), at(9, 1)], 5],
    ["lines that the snapshot has already", [at(3, 0), at(4, 0)], 4],
    ["a later holder's line that the snapshot has, and a former one's behind it", [at(4, 2), at(9, 1)], 9],
    ["a line that is damaged", [at(5, 0), at(6, 0).replace("c", "d")], 5],
    ["no line of a journal", ["x"], 4],
    ["a group that is whole", [at(5, 0, 2), at(6, 0, 1), at(7, 0)], 7],
    ["a group without its end", [at(5, 0), at(6, 0, 2), at(7, 0, 1)], 5],
  ])("%s", (_, journal, serial) =>
    expect(identify({ snapshot: head({}), journal })).toEqual({ lineage: "one", serial }),
  );
  it("a journal without a snapshot cannot be read", () =>
    expect(identify({ snapshot: undefined, journal: [at(1, 0)] })).toBe("unreadable"));

  it("is kept without the text", async () => {
    setFlagsFromString("--expose-gc");
    const collect: () => void = runInNewContext("gc");
    const used = (): number => {
      /x/.test("x"); // the engine keeps the text that an expression was tried on last
      collect();
      return process.memoryUsage().heapUsed;
    };
    // A text that was read from somewhere, and not one that is put together of others.
    const large = () =>
      Buffer.from(head({ lineage: "a lineage of its own", filled: "x".repeat(64_000_000) })).toString();
    const before = used();
    const kept = of(large());
    // A frame that has ended may hold it until the next turn.
    for (let turn = 0; turn < 50 && used() - before > 32_000_000; turn++) await new Promise(setImmediate);
    expect(used() - before).toBeLessThan(32_000_000);
    expect(kept).toEqual({ lineage: "a lineage of its own", serial: 4 });
  });
});

/** Records as they were when a run began: what each later run changed is taken back, the latest first. */
import { describe, expect, it } from "vitest";
import type { RecordedResource, RecordedRun } from "../../reconciler/core/model/recorded";
import { recordsBefore } from "../../reconciler/core/state/history";

const data = (sizeGb: number): RecordedResource => ({
  ...{ kind: "volume", address: "volume.data", id: "1", name: "data", sizeGb, flush: { via: "ask" } },
  preventDestroy: false,
});
const run = (id: string, before: RecordedRun["before"]): RecordedRun => ({
  ...{ id, number: 1, at: "2026-01-01T00:00:00Z", open: {}, before },
});
const grown = [
  run("made", { "volume.data": null }),
  run("grew", { "volume.data": data(10) }),
  run("grew-again", { "volume.data": data(20) }),
];

describe("the records before a run", () => {
  it.each<[what: string, runs: readonly RecordedRun[], id: string, sizes: readonly number[] | undefined]>([
    ["the last one", grown, "grew-again", [20]],
    ["one in the middle", grown, "grew", [10]],
    ["the one that made it", grown, "made", []],
    ["a run that nobody knows", grown, "other", undefined],
    ["a run behind one that is too long ago", [...grown.slice(0, 2), run("forgot", undefined)], "grew", undefined],
  ])("%s", (_, runs, id, sizes) => {
    const found = recordsBefore({ resources: new Map([["volume.data", data(30)]]), runs }, id);
    const shown = found && [...found.values()].flatMap((one) => (one.kind === "volume" ? [one.sizeGb] : []));
    expect(shown).toEqual(sizes);
  });
});

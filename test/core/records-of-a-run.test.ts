/** Records as they were when a run began: what each later run changed is taken back, the latest first. */
import { describe, expect, it } from "vitest";
import type { Deed, Intent, RecordedResource, RecordedRun } from "../../reconciler/core/model/recorded";
import { noteFormer, recordsBefore, stateBefore } from "../../reconciler/core/state/history";

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

const intent = (idsBefore: readonly string[], operation: Intent["operation"] = "volume.create"): Intent => ({
  ...{ step: "s", address: "volume.data", operation, name: "data", sentAt: "2026-01-01T00:00:00Z", idsBefore },
});
const record = (id: string | undefined, more: object = {}): RecordedResource =>
  // A VM's record may have no id; what else a record has decides nothing here.
  ({ ...data(5), id, ...more }) as RecordedResource;

describe("what became of a resource", () => {
  it.each<
    [
      what: string,
      former: RecordedResource | undefined,
      next: RecordedResource | null,
      open: Intent | undefined,
      deed: Deed | undefined,
      byHand: Deed | undefined,
    ]
  >([
    ["an open create that got its id", undefined, record("1"), intent([]), "made", "made"],
    ["an id from before the create", undefined, record("1"), intent(["1"]), "took", undefined],
    ["a snapshot that is open", undefined, record("1"), intent([], "vm.snapshot"), "took", undefined],
    ["nothing was open", undefined, record("1"), undefined, "took", undefined],
    ["a record without an id that got it", record(undefined), record("1"), undefined, "made", "made"],
    ["a record that has none yet", undefined, record(undefined), intent([]), undefined, undefined],
    ["another id by a create", record("0"), record("1"), intent(["0"]), "made", "made"],
    ["another id without a create", record("0"), record("1"), undefined, "took", undefined],
    ["the same id", record("1"), record("1", { sizeGb: 6 }), undefined, undefined, undefined],
    ["gone after a delete was sent", record("1", { deleting: true }), null, undefined, "deleted", "deleted"],
    ["let go", record("1"), null, undefined, undefined, undefined],
  ])("%s", (_, former, next, open, deed, byHand) => {
    const did = (outcome: RecordedRun["outcome"]) => {
      const noted: RecordedRun = { ...run("r", {}), did: {}, ...(outcome === undefined ? {} : { outcome }) };
      noteFormer(noted, "volume.data", former, next, open);
      return Object.values(noted.did ?? {})[0];
    };
    expect([did(undefined), did("done")]).toEqual([deed, byHand]);
  });

  it("is the latest since the run, and is forgotten with what was before it", () => {
    const runs: readonly RecordedRun[] = [
      { ...run("one", {}), did: { "volume:1": "took", "volume:2": "made" } },
      { ...run("two", {}), did: { "volume:1": "deleted" } },
    ];
    expect(stateBefore({ resources: new Map(), runs }, "one")?.did).toEqual(
      new Map([
        ["volume:1", "deleted"],
        ["volume:2", "made"],
      ]),
    );
    expect(stateBefore({ resources: new Map(), runs }, "two")?.did).toEqual(new Map([["volume:1", "deleted"]]));
  });

  it("is what an earlier run did, where a later one only gave it another address", () => {
    const disk: RecordedResource = { ...data(10), address: "volume.disk" };
    const runs: readonly RecordedRun[] = [
      { ...run("one", { "volume.data": null }), did: { "volume:1": "made" } },
      { ...run("two", { "volume.data": data(10), "volume.disk": null }), did: { "volume:1": "took" } },
    ];
    const state = { resources: new Map([["volume.disk", disk]]), runs };
    expect(stateBefore(state, "one")?.did).toEqual(new Map([["volume:1", "made"]]));
    expect(stateBefore(state, "two")?.did).toEqual(new Map());
  });
});

/** The journal and the snapshot: cut, flipped or mixed up, what is whole is read and what is not is set aside. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Intent, Orphan, RecordedResource, StateChange } from "../../reconciler/core/model/recorded";
import { emptyState, type FoldedState, foldEntries } from "../../reconciler/core/state/fold";
import { recordsAfter, recordsBefore } from "../../reconciler/core/state/history";
import { type ReadState, readState, writeEntry, writeSnapshot } from "../../reconciler/core/state/text";
import { canonicalJson } from "../../reconciler/core/text/canonical-json";
import { runs } from "./random-desired";

const address = fc.constantFrom("vm.a", "vm.web[b]", "volume.c", "group.d");
const recordAt = (at: string, id: string): RecordedResource => {
  const base = { address: at, id, name: "a \u201cname\u201d, with}{,\n", preventDestroy: false };
  if (at.startsWith("vm.")) return { ...base, kind: "vm", onDelete: { snapshot: false, preservedVolumes: "retain" } };
  if (at.startsWith("volume.")) return { ...base, kind: "volume", sizeGb: 5, flush: { via: "ask" } };
  return { ...base, kind: "group", rules: [], platformRules: [] };
};
const change: fc.Arbitrary<StateChange> = fc.oneof(
  fc
    .tuple(address, fc.option(fc.uuid()))
    .map(([at, id]): StateChange => ({ type: "resource", address: at, record: id === null ? null : recordAt(at, id) })),
  fc.tuple(address, fc.boolean()).map(
    ([at, there]): StateChange => ({
      type: "intent",
      address: at,
      intent: there
        ? {
            step: `${at}/create`,
            address: at,
            operation: at.startsWith("vm.") ? "vm.create" : at.startsWith("volume.") ? "volume.create" : "group.create",
            name: "x",
            sentAt: "2026-01-01T00:00:00Z",
            idsBefore: [],
          }
        : null,
    }),
  ),
  fc.uuid().map(
    (id): StateChange => ({
      type: "orphan",
      key: `volume:${id}`,
      orphan: { kind: "volume", id, name: id, reason: "r" },
    }),
  ),
);
const journal = fc
  .array(change, { minLength: 1, maxLength: 12 })
  .map((changes) => changes.map((one, index) => ({ serial: index + 1, epoch: 1, change: one })));

const plain = (state: FoldedState) =>
  canonicalJson({
    ...state,
    resources: [...state.resources],
    intents: [...state.intents],
    orphans: [...state.orphans],
  });
function opened(read: ReadState): FoldedState {
  if (!read.ok) throw new Error(read.problem);
  return read.state;
}

const sample = (changes: readonly StateChange[]) => changes.map((one, n) => ({ serial: n + 1, epoch: 1, change: one }));

describe("state", () => {
  it("a journal that lost lines is refused: between others, at its end, and where some were doubled", () => {
    fc.assert(
      fc.property(journal, fc.nat(), (entries, at) => {
        const lines = entries.map(writeEntry);
        const acknowledged = lines.length;
        const index = at % lines.length;
        const without = lines.filter((_, n) => n !== index);
        // Each is noticed: by the numbers, or by how many were acknowledged.
        expect(readState({ journal: without, acknowledged }, "l").ok).toBe(false);
        expect(readState({ journal: lines.slice(0, index), acknowledged }, "l").ok).toBe(false);
        if (index < lines.length - 1) expect(readState({ journal: without }, "l").ok).toBe(false);
        expect(readState({ journal: [...lines, lines[index]!] }, "l").ok).toBe(false);
        // A line that was written and not acknowledged is no surplus, and one that was acknowledged is not passed over.
        expect(readState({ journal: lines, acknowledged: index }, "l").ok).toBe(true);
        const cut = [...lines.slice(0, -1), lines.at(-1)!.slice(0, 30)];
        expect(opened(readState({ journal: cut, acknowledged }, "l")).quarantined).toHaveLength(1);
        const left = readState({ journal: without, acknowledged }, "l", true);
        expect(left.ok && left.notes.length).toBeGreaterThan(0);
      }),
      runs(300),
    );
  });

  it("a holder that goes on where the last one ended, or counts less of it, leaves no gap; one that skips does", () => {
    const [one, two] = sample([
      { type: "run", plan: "p", at: "2026-01-01T00:00:00Z" },
      { type: "run", plan: "p", at: "2026-01-01T00:00:00Z" },
    ]);
    const next = (serial: number) => writeEntry({ ...two!, serial, epoch: 2 });
    const begun = [one!, two!].map(writeEntry);
    for (const [serial, ok] of [
      [2, true],
      [3, true],
      [4, false],
    ] as const)
      expect(readState({ journal: [...begun, next(serial)] }, "l").ok).toBe(ok);
  });

  const intent = {
    step: "vm.a/create",
    address: "vm.a",
    operation: "vm.create",
    name: "a",
    sentAt: "2026-01-01T00:00:00Z",
    idsBefore: ["1"],
    record: recordAt("vm.a", "1"),
  };
  it.each<[string, object]>([
    ["for another address", { address: "vm.b" }],
    ["to do something unknown", { operation: "vm.explode" }],
    ["to do what another kind does", { operation: "volume.create" }],
    ["without a name", { name: undefined }],
    ["sent at no time", { sentAt: "yesterday" }],
    ["with ids that are none", { idsBefore: [7] }],
    ["with a record of another kind", { record: recordAt("volume.c", "1") }],
    ["with a record that is none", { record: [] }],
    ["with a record that lacks what its readers rely on", { record: { ...recordAt("vm.a", "1"), onDelete: null } }],
  ])("an intent %s is set aside and blocks its address, in a line and in a snapshot", (_, fault) => {
    const faulty = { ...intent, ...fault } as unknown as Intent;
    const whole: StateChange = {
      type: "orphan",
      key: "volume:1",
      orphan: { kind: "volume", id: "1", name: "n", reason: "r" },
    };
    const journal = sample([{ type: "intent", address: "vm.a", intent: faulty }, whole]).map(writeEntry);
    const snapshot = writeSnapshot({ ...emptyState("l"), intents: new Map([["vm.a", faulty]]) });
    for (const stored of [{ journal }, { snapshot, journal: [] }]) {
      const { intents, quarantined } = opened(readState(stored, "l"));
      expect(intents.size).toBe(0);
      // By what the line says it is about, or by where it stands.
      expect(quarantined.map((piece) => piece.address)).toEqual(["vm.a"]);
    }
  });

  it.each<[string, object]>([
    ["of no kind", { kind: "cat" }],
    ["without an id", { id: "" }],
    ["with a size that is none", { sizeGb: "5" }],
    ["missing since no time", { missingSince: 5 }],
  ])("an orphan %s is set aside, and holds nothing else up", (_, fault) => {
    const faulty = { kind: "volume", id: "1", name: "n", reason: "r", ...fault } as unknown as Orphan;
    const journal = sample([
      { type: "orphan", key: "volume:1", orphan: faulty },
      { type: "run", plan: "p", at: "x" },
    ]);
    const snapshot = writeSnapshot({ ...emptyState("l"), orphans: new Map([["volume:1", faulty]]) });
    for (const stored of [{ journal: journal.map(writeEntry) }, { snapshot, journal: [] }]) {
      const { orphans, quarantined } = opened(readState(stored, "l"));
      expect(orphans.size).toBe(0);
      expect(quarantined.map((piece) => piece.address)).toEqual(["volume:1"]);
    }
  });

  it("S3: a journal cut after any line is the state as it was then", () => {
    fc.assert(
      fc.property(journal, fc.nat(), (entries, at) => {
        const cut = at % (entries.length + 1);
        const read = opened(readState({ journal: entries.slice(0, cut).map(writeEntry) }, "l"));
        expect(plain(read)).toBe(plain(foldEntries(emptyState("l"), entries.slice(0, cut))));
        expect(read.serial).toBe(cut);
      }),
      runs(300),
    );
  });

  it("a journal beside an older snapshot than its own is refused, and beside a newer one counts from there on", () => {
    fc.assert(
      fc.property(journal, fc.nat(), fc.nat(), (entries, before, until) => {
        const [from, to] = [before % entries.length, until % (entries.length + 1)];
        const snapshot = writeSnapshot(foldEntries(emptyState("l"), entries.slice(0, to)));
        const read = readState({ snapshot, journal: entries.slice(from).map(writeEntry) }, "l");
        if (from > to) expect(read).toMatchObject({ ok: false, problem: expect.stringContaining("belong together") });
        else expect(opened(read).serial).toBe(entries.length);
      }),
      runs(300),
    );
  });

  it("a line cut off at the end was never acknowledged, and is ignored with a note", () => {
    fc.assert(
      fc.property(journal, fc.nat(), (entries, at) => {
        const lines = entries.map(writeEntry);
        const last = lines.at(-1)!;
        const cut = last.slice(0, 1 + (at % (last.length - 1)));
        const read = readState({ journal: [...lines.slice(0, -1), cut] }, "l");
        expect(plain(opened(read))).toBe(plain(foldEntries(emptyState("l"), entries.slice(0, -1))));
        expect(read.ok && read.notes.length).toBe(1);
      }),
      runs(300),
    );
  });

  it("a flipped character in the middle is found, and only its line is set aside", () => {
    fc.assert(
      fc.property(journal, fc.nat(), fc.nat(), (entries, which, where) => {
        const lines = entries.map(writeEntry);
        const index = which % lines.length;
        const line = lines[index]!;
        const at = where % line.length;
        const flipped = line.slice(0, at) + String.fromCharCode(line.charCodeAt(at) ^ 1) + line.slice(at + 1);
        // The file ends with a line break, so the last line is whole.
        const read = opened(
          readState({ journal: [...lines.slice(0, index), flipped, ...lines.slice(index + 1), ""] }, "l"),
        );
        const others = foldEntries(
          emptyState("l"),
          entries.filter((_, n) => n !== index),
        );
        expect(canonicalJson([...read.resources])).toBe(canonicalJson([...others.resources]));
        expect(canonicalJson([...read.intents])).toBe(canonicalJson([...others.intents]));
        const healed = entries.slice(index + 1).some(({ change: later }) => later.type === "resource");
        if (!healed) expect(read.quarantined.length).toBe(1);
      }),
      runs(500),
    );
  });

  it("damage is made good only by what is written after it", () => {
    const before = writeEntry({
      serial: 1,
      epoch: 1,
      change: { type: "resource", address: "vm.a", record: recordAt("vm.a", "1") },
    });
    const damaged = writeEntry({
      serial: 2,
      epoch: 1,
      change: { type: "resource", address: "vm.a", record: recordAt("vm.a", "2") },
    }).replace('"id":"2"', '"id":"3"');
    const after = writeEntry({
      serial: 3,
      epoch: 1,
      change: { type: "resource", address: "vm.a", record: recordAt("vm.a", "4") },
    });
    expect(
      opened(readState({ journal: [before, damaged, ""] }, "l")).quarantined.map((piece) => piece.address),
    ).toEqual(["vm.a"]);
    expect(opened(readState({ journal: [before, damaged, after, ""] }, "l")).quarantined).toEqual([]);
  });

  it("S4: what a holder writes after it lost the lock counts for nothing", () => {
    fc.assert(
      fc.property(journal, journal, (first, second) => {
        const newer = second.map((entry, index) => ({ ...entry, epoch: 2, serial: index + 1 }));
        const late = first.map((entry, index) => ({ ...entry, serial: 100 + index }));
        expect(plain(foldEntries(emptyState("l"), [...newer, ...late])).replace(/"journalled":\d+/, "")).toBe(
          plain(foldEntries(emptyState("l"), newer)).replace(/"journalled":\d+/, ""),
        );
      }),
      runs(200),
    );
  });

  it("a snapshot says the same as the journal it was made from, and lines already in it are not counted twice", () => {
    fc.assert(
      fc.property(journal, fc.nat(), (entries, at) => {
        const folded = foldEntries(emptyState("l"), entries);
        const kept = entries.slice(at % (entries.length + 1));
        const read = opened(readState({ snapshot: writeSnapshot(folded), journal: kept.map(writeEntry) }, "l"));
        const sorted = (state: FoldedState) =>
          canonicalJson([
            [...state.resources].sort(),
            [...state.intents].sort(),
            [...state.orphans].sort(),
            state.serial,
          ]);
        expect(sorted(read)).toBe(sorted(folded));
      }),
      runs(200),
    );
  });

  it("one damaged line of a snapshot leaves the others readable", () => {
    fc.assert(
      fc.property(journal, fc.nat(), (entries, which) => {
        const folded = foldEntries(emptyState("l"), entries);
        const lines = writeSnapshot(folded).split("\n");
        const records = lines.flatMap((line, index) =>
          /^"(vm|volume|group)\.[^"]+":\{"address".*"kind":"(vm|volume|group)"/.test(line) ? [index] : [],
        );
        if (records.length === 0) return;
        const at = records[which % records.length]!;
        const read = opened(
          readState(
            {
              snapshot: lines.map((line, index) => (index === at ? line.slice(0, line.length / 2) : line)).join("\n"),
              journal: [],
            },
            "l",
          ),
        );
        expect(read.resources.size).toBe(folded.resources.size - 1);
        expect(read.quarantined.length).toBe(1);
      }),
      runs(200),
    );
  });

  it("a section that is lost is an error, never an empty state", () => {
    const text = writeSnapshot(
      foldEntries(emptyState("l"), [
        { serial: 1, epoch: 1, change: { type: "resource", address: "vm.a", record: recordAt("vm.a", "1") } },
      ]),
    );
    for (const broken of [
      text.replace('"resources"', '"resourcez"'),
      text.replace('"resources":{', '"resources":['),
      text.replace('"resources":{', ""),
    ])
      expect(readState({ snapshot: broken, journal: [] }, "l").ok).toBe(false);
  });

  it("no text makes the reader throw", () => {
    fc.assert(
      fc.property(
        fc.option(fc.string(), { nil: undefined }),
        fc.array(fc.string()),
        fc.json(),
        (snapshot, lines, json) => {
          readState({ ...(snapshot === undefined ? {} : { snapshot }), journal: lines }, "l");
          readState({ snapshot: json, journal: [] }, "l");
          readState(
            {
              snapshot: `{"format":"reconcile-cloud/state","version":1,"lineage":"l","serial":1,"resources":${json},"intents":{},"orphans":${json}}`,
              journal: [],
            },
            "l",
          );
          readState({ journal: [`${"0".repeat(16)} ${json}`, ""] }, "l");
        },
      ),
      runs(500),
    );
  });
});

describe("the runs that a state remembers", () => {
  const record = (address: string, id: string) =>
    ({
      kind: "group",
      address,
      id,
      name: id,
      rules: [],
      platformRules: [],
      preventDestroy: false,
    }) as const;
  const begin = (number: number): StateChange => ({
    type: "run",
    plan: `p${number}`,
    at: "2026-01-01T00:00:00Z",
    run: { id: `p${number}`, number, at: "2026-01-01T00:00:00Z", open: {} },
  });
  const resource = (address: string, id: string | null): StateChange => ({
    type: "resource",
    address,
    record: id === null ? null : record(address, id),
  });
  const entries = (changes: readonly StateChange[]) =>
    changes.map((change, index) => ({ serial: index + 1, epoch: 1, change }));
  const history = [
    begin(1),
    resource("group.a", "1"),
    resource("group.b", "2"),
    begin(2),
    resource("group.a", "3"),
    resource("group.a", "4"),
    resource("group.b", null),
    begin(3),
    resource("group.c", "5"),
  ];
  const idsOf = (records: ReadonlyMap<string, { readonly id?: string }> | undefined) =>
    records === undefined ? undefined : [...records].map(([address, { id }]) => `${address} ${id}`).sort();

  it("tell every earlier state, wherever the journal was folded", () => {
    for (let cut = 0; cut <= history.length; cut++) {
      const all = entries(history);
      const half = foldEntries(emptyState("l"), all.slice(0, cut));
      const read = opened(readState({ snapshot: writeSnapshot(half), journal: all.slice(cut).map(writeEntry) }, "l"));
      expect(idsOf(recordsBefore(read, "p1"))).toEqual([]);
      expect(idsOf(recordsAfter(read, "p1"))).toEqual(["group.a 1", "group.b 2"]);
      expect(idsOf(recordsAfter(read, "p2"))).toEqual(["group.a 4"]);
      expect(idsOf(recordsAfter(read, "p3"))).toEqual(["group.a 4", "group.c 5"]);
    }
  });

  it("lose what was before a damaged one, and nothing of what is there", () => {
    const folded = foldEntries(emptyState("l"), entries(history));
    const text = writeSnapshot(folded)
      .split("\n")
      .map((line) => (line.includes('"id":"p2"') ? `${line.slice(0, 40)}\u0000${line.slice(60)}` : line))
      .join("\n");
    const read = opened(readState({ snapshot: text, journal: [] }, "l"));
    expect([...read.resources.keys()]).toEqual(["group.a", "group.c"]);
    expect(read.quarantined).toEqual([]);
    expect(read.runs?.map(({ id }) => id)).toEqual(["p1", "p3"]);
    expect(recordsBefore(read, "p1")).toBeUndefined();
    expect(idsOf(recordsBefore(read, "p3"))).toEqual(["group.a 4"]);
  });

  it("are not more than fifty, and their former records not many", () => {
    const changes = Array.from({ length: 80 }, (_, run) => [
      begin(run * 100 + 1),
      ...Array.from({ length: 30 }, (_, index) => resource(`group.g${index}`, `${run}-${index}`)),
    ]).flat();
    const { runs = [] } = foldEntries(emptyState("l"), entries(changes));
    expect(runs).toHaveLength(50);
    const kept = runs.flatMap(({ before = {} }) => Object.values(before)).length;
    expect(kept).toBeLessThanOrEqual(600);
    expect(runs.at(-1)?.before).toBeDefined();
    expect(runs[0]?.before).toBeUndefined();
  });
});

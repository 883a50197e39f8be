/** What is read of a state's text: whole, from a newer version, cut off and damaged, line by line. */
import { describe, expect, it } from "vitest";
import type { Intent, RecordedResource, RecordedRun, StateChange } from "../../reconciler/core/model/recorded";
import { emptyState, type FoldedState } from "../../reconciler/core/state/fold";
import { WrittenByNewer } from "../../reconciler/core/state/newer";
import { isRunEnd, isScope, isTransfer, orphanProblem, recordProblem, runsOf } from "../../reconciler/core/state/shape";
import { readState, type StoredText, writeEntry, writeSnapshot } from "../../reconciler/core/state/text";
import { fingerprint } from "../../reconciler/core/text/hash";

const at = "2026-01-01T00:00:00Z";
const record = (address: string, more: object = {}): RecordedResource =>
  // Each is of the kind that its address says; `more` is what a row breaks.
  ({
    address,
    id: `id of ${address}`,
    name: "n",
    preventDestroy: false,
    ...(address.includes("vm.")
      ? { kind: "vm", onDelete: { snapshot: false, preservedVolumes: "retain" } }
      : { kind: "volume", sizeGb: 5, flush: { via: "ask" } }),
    ...more,
  }) as RecordedResource;
const intent: Intent = {
  step: "vm.a/create",
  address: "vm.a",
  operation: "vm.create",
  name: "a",
  sentAt: at,
  idsBefore: [],
};
const orphan = { kind: "volume", id: "1", name: "n", reason: "r" } as const;
const ended = {
  endedAt: at,
  outcome: "done",
  steps: { done: 1, failed: 0, skipped: 0, waiting: 0 },
  open: {},
} as const;
const transfer = { side: "giving", other: "there", at, by: "ops", addresses: { "vm.a": "vm.b" } } as const;
const run = (id: string, number: number, more: Partial<RecordedRun> = {}): RecordedRun => ({
  ...{ id, number, at, open: {}, before: {} },
  ...more,
});

/** The words of a snapshot, with what a row puts in their place. */
const head = (more: object = {}): string =>
  JSON.stringify({
    ...{ format: "reconcile-cloud/state", version: 1, lineage: "one", serial: 4, epoch: 2 },
    ...{ resources: {}, intents: {}, orphans: {}, ...more },
  });
const line = (body: object): string => `${fingerprint(JSON.stringify(body))} ${JSON.stringify(body)}`;
const entry = (serial: number, change: StateChange, more: { epoch?: number; more?: number } = {}): string =>
  writeEntry({ serial, epoch: 2, change, ...more });
const begun: StateChange = { type: "run", plan: "p", at };
const kept = (address: string): StateChange => ({ type: "resource", address, record: record(address) });

const read = (stored: Partial<StoredText>, despiteLoss?: boolean) =>
  readState({ journal: [], ...stored }, "new", despiteLoss);
function stateOf(stored: Partial<StoredText>): FoldedState {
  const answer = read(stored);
  if (!answer.ok) throw new Error(answer.problem);
  return answer.state;
}
const quarantine = (stored: Partial<StoredText>): string[] =>
  stateOf(stored).quarantined.map(({ address, problem }) => `${address}: ${problem}`);

describe("a snapshot", () => {
  const full: FoldedState = {
    ...emptyState("one"),
    serial: 4,
    epoch: 2,
    resources: new Map([
      ["volume.b", record("volume.b")],
      ["vm.a", record("vm.a")],
    ]),
    intents: new Map([["vm.a", intent]]),
    orphans: new Map([["volume:1", orphan]]),
    quarantined: [{ address: "vm.x", text: "x", problem: "it was damaged" }],
    scope: { origin: "https://cloud.example" },
    outputs: { ip: { value: "10.0.0.1" } },
    seen: { all: at, each: { "vm.a": at } },
    moves: { m: transfer },
    runs: [run("r1", 3), run("r2", 3, { brought: true }), run("r3", 3, { brought: true }), run("r4", 12)],
  };

  it("has a line for each record, in the order of its addresses", () => {
    const small = writeSnapshot({
      ...emptyState("one"),
      resources: new Map([...full.resources].map(([address]) => [address, { z: 1 } as unknown as RecordedResource])),
    });
    expect(small.split("\n")).toEqual([
      "{",
      '"format":"reconcile-cloud/state",',
      '"version":1,',
      '"lineage":"one",',
      '"serial":0,',
      '"epoch":0,',
      '"resources":{',
      '"vm.a":{"z":1},',
      '"volume.b":{"z":1}',
      "},",
      '"intents":{},',
      '"orphans":{},',
      '"quarantined":[]',
      "}",
      "",
    ]);
  });
  it("is read as it was written, with runs in their order where some share a number", () => {
    expect(stateOf({ snapshot: writeSnapshot(full) })).toEqual(full);
  });
  it.each([
    ["nothing", undefined],
    ["blanks", " \n "],
  ])("%s is a state that begins", (_, snapshot) =>
    expect(read({ snapshot })).toEqual({ ok: true, state: emptyState("new"), notes: [] }),
  );
  it("without an epoch is of the first holder", () =>
    expect(stateOf({ snapshot: head({ epoch: undefined }) }).epoch).toBe(0));

  it.each<[what: string, snapshot: string, problem: string, foreign?: true]>([
    ["a page", "<html>", "it is not a JSON document of this tool"],
    ["a list", "[]", "it is not a JSON document of this tool"],
    [
      "lines that say no format",
      '{\n"lineage":"one",\n"resources":{\n},\n}{',
      "it is not a JSON document of this tool",
    ],
    ["another's document", "{}", "its format is null, not reconcile-cloud/state", true],
    [
      "another's with a later version",
      head({ format: "x", version: 2 }),
      'its format is "x", not reconcile-cloud/state',
      true,
    ],
    ["a version that is no number", head({ version: "2" }), 'its version is "2"; this reconcile reads version 1'],
    ["an earlier version", head({ version: 0 }), "its version is 0; this reconcile reads version 1"],
    ["no version", head({ version: undefined }), "its version is null; this reconcile reads version 1"],
    ["no lineage", head({ lineage: 1 }), "its lineage or serial is missing"],
    ["a serial in words", head({ serial: "4" }), "its lineage or serial is missing"],
    ["half a serial", head({ serial: 4.5 }), "its lineage or serial is missing"],
    ["an epoch that cannot be counted", head({ epoch: 1e300 }), "its epoch is no whole number"],
    ["an epoch in words", head({ epoch: "4" }), "its epoch is no whole number"],
    ["no records", head({ resources: undefined }), "its resources are missing"],
    ["a list of intents", head({ intents: [] }), "its intents are missing"],
    ["no orphans", head({ orphans: undefined }), "its orphans are missing"],
  ])("is refused where it is %s", (_, snapshot, problem, foreign) =>
    expect(read({ snapshot })).toEqual({ ok: false, problem, foreign }),
  );

  it.each<[what: string, more: object, newer: object]>([
    ["and says what it needs", { needs: "3.1" }, { needs: "3.1" }],
    ["and says nothing", {}, {}],
    ["and says it in a way that is no text", { needs: 3 }, {}],
  ])("of a newer version is refused as such %s", (_, more, newer) =>
    expect(read({ snapshot: head({ version: 2, ...more }) })).toEqual({
      ok: false,
      problem: "its version is 2, and this reconcile reads version 1",
      newer,
    }),
  );

  it.each<[what: string, more: object, aside: readonly string[]]>([
    ["a record of another kind", { resources: { "vm.a": record("volume.a") } }, ['vm.a: its kind is "volume", not vm']],
    ...["10.0.0.1\n  ProxyCommand x", "-oProxyCommand=x", "10.0.0.1 x", "host.example", ""].map(
      (privateIp): [string, object, readonly string[]] => [
        `a record whose address is ${JSON.stringify(privateIp)}`,
        { resources: { "vm.a": record("vm.a", { privateIp }), "vm.b": record("vm.b", { privateIp: "fd00::5" }) } },
        ["vm.a: its privateIp is not readable"],
      ],
    ),
    [
      "a record with a command that names no program",
      {
        resources: {
          "volume.a": record("volume.a", { flush: { via: "command", argv: [] } }),
          "volume.b": record("volume.b", { flush: { via: "command", argv: ["sync"] } }),
        },
      },
      ["volume.a: its flush is not readable"],
    ],
    ["a note of a move", { moves: { m: { ...transfer, side: "x" } } }, ["moves: its note of a move is not readable"]],
    [
      "what was set aside before stays",
      {
        quarantined: [
          { address: "vm.x", text: "t", problem: "p" },
          { address: "vm.y", text: "t" },
        ],
      },
      ["vm.x: p", "vm.y: it was damaged"],
    ],
    [
      "what was set aside without an address or a text is dropped",
      { quarantined: ["x", { address: 1, text: "t" }, { address: "vm.x", text: 1 }] },
      [],
    ],
    ["a list of what was set aside that is none", { quarantined: "x" }, []],
  ])("sets aside %s", (_, more, aside) => expect(quarantine({ snapshot: head(more) })).toEqual(aside));

  it("keeps what was set aside as it was found, up to a page", () => {
    const long = { ...record("volume.a"), name: "x".repeat(9000) };
    const [piece] = stateOf({ snapshot: head({ resources: { "vm.a": long } }) }).quarantined;
    expect(piece?.text).toBe(JSON.stringify(long).slice(0, 4096));
  });

  it.each<[what: string, more: object]>([
    ["a scope", { scope: { origin: 1 } }],
    ["outputs", { outputs: { a: {} } }],
    ["sightings", { seen: { all: "yesterday" } }],
    ["runs", { runs: [] }],
  ])("is read without %s that cannot be read: the next run writes them anew", (_, more) =>
    expect(stateOf({ snapshot: head(more) })).toEqual(stateOf({ snapshot: head() })),
  );
});

describe("a snapshot with a damaged line", () => {
  const lines = writeSnapshot({
    ...emptyState("one"),
    resources: new Map([
      ["vm.a", record("vm.a")],
      ["vm.b", record("vm.b")],
    ]),
    orphans: new Map([["volume:1", orphan]]),
    runs: [run("r1", 1), run("r2", 2), run("r3", 3)],
  }).split("\n");
  /** The snapshot in which the line that begins so is another one. */
  const broken = (begins: string, instead: (line: string) => string): string => {
    expect(lines.filter((one) => one.startsWith(begins))).toHaveLength(1);
    return lines.map((one) => (one.startsWith(begins) ? instead(one) : one)).join("\n");
  };
  const half = (text: string): string => text.slice(0, text.length / 2);

  it.each<[what: string, snapshot: string, aside: readonly string[], left: readonly string[]]>([
    ["a record that is cut", broken('"vm.b"', half), ["vm.b: its line in the state is damaged"], ["vm.a"]],
    [
      "a record without its key",
      broken('"vm.b"', () => 'x"address":"vm.b","id'),
      ["vm.b: its line in the state is damaged"],
      ["vm.a"],
    ],
    [
      "a record of a component without its key",
      broken('"vm.b"', () => 'x"address":"shop/vm.b","id'),
      ["shop/vm.b: its line in the state is damaged"],
      ["vm.a"],
    ],
    [
      "an orphan of which only its key in another field is left",
      broken('"volume:1"', () => 'x"key":"volume:1","id'),
      ["volume:1: its line in the state is damaged"],
      ["vm.a", "vm.b"],
    ],
    ["a line of nothing", broken('"vm.b"', () => "\u0000"), ["unknown: its line in the state is damaged"], ["vm.a"]],
    [
      "a record that is called as what every object has",
      broken('"vm.b"', () => '"__proto__":{"x":1},\n?'),
      ["unknown: its line in the state is damaged"],
      ["vm.a"],
    ],
  ])("%s", (_, snapshot, aside, left) => {
    expect(quarantine({ snapshot })).toEqual(aside);
    expect([...stateOf({ snapshot }).resources.keys()]).toEqual(left);
  });

  it("is refused where the line was outside of the sections: it may have opened one", () =>
    expect(read({ snapshot: broken('"orphans":{', half) })).toEqual({
      ok: false,
      problem: "it is not a JSON document of this tool",
    }));
  it("is read with its other lines where they stand apart or are set in", () => {
    const spread = broken('"vm.b"', half).replaceAll("\n", "\n\n  ");
    expect([...stateOf({ snapshot: spread }).orphans.values()]).toEqual([orphan]);
  });
  it("has no records before a run that it cannot read, and all other runs", () => {
    const snapshot = broken('"run 000000000002"', half);
    expect(stateOf({ snapshot }).runs).toEqual([{ id: "r1", number: 1, at, open: {} }, run("r3", 3)]);
    expect(quarantine({ snapshot })).toEqual([]);
  });
  it("loses a run of which not even the key is left", () => {
    const { runs } = stateOf({ snapshot: broken('"run 000000000002"', () => "?") });
    // What cannot be placed is taken for the latest.
    expect(runs?.map(({ id, before }) => [id, before])).toEqual([
      ["r1", undefined],
      ["r3", undefined],
    ]);
  });
});

describe("a journal", () => {
  const snapshot = head();
  const damaged = (text: string): string => text.replace("c", "d");
  const cutNote = "the last line of the journal was cut off and is ignored";
  const groupNote = "the last lines of the journal belong to a write that was cut off and are ignored";
  it.each<[what: string, stored: Omit<StoredText, "snapshot">, serial: number, notes: readonly string[]]>([
    ["nothing", { journal: [] }, 4, []],
    ["empty lines", { journal: ["", entry(5, begun), ""] }, 5, []],
    ["a last line that is cut, and was never acknowledged", { journal: [entry(5, begun), "0123"] }, 5, [cutNote]],
    [
      "a last line that is cut, where the ones before were acknowledged",
      { journal: [entry(5, begun), "0123"], acknowledged: 1 },
      5,
      [cutNote],
    ],
    ["a group that is whole", { journal: [entry(5, begun, { more: 1 }), entry(6, begun)] }, 6, []],
    ["a group without its end", { journal: [entry(5, begun), entry(6, begun, { more: 1 })] }, 5, [groupNote]],
    [
      "a group without its end, and a later holder that goes on where it began",
      { journal: [entry(5, begun, { more: 1 }), entry(5, begun, { epoch: 3 })] },
      5,
      [groupNote],
    ],
    [
      "a group without its end, and a later holder that goes on behind it",
      { journal: [entry(5, begun), entry(6, begun, { more: 1 }), entry(6, begun, { epoch: 3 })] },
      6,
      [groupNote],
    ],
    ["lines that the snapshot has already", { journal: [entry(3, begun), entry(4, begun), entry(5, begun)] }, 5, []],
    ["a former holder's line", { journal: [entry(5, begun), entry(9, begun, { epoch: 1 })] }, 5, []],
    ["a later holder that counts anew", { journal: [entry(5, begun), entry(5, begun, { epoch: 3 })] }, 5, []],
  ])("%s", (_, stored, serial, notes) => {
    const answer = read({ snapshot, ...stored });
    expect(answer.ok ? [answer.state.serial, answer.notes] : answer.problem).toEqual([serial, notes]);
  });

  it.each<[what: string, stored: Omit<StoredText, "snapshot">, problem: string]>([
    [
      "goes on further than its snapshot ends",
      { journal: [entry(6, begun)] },
      "its journal goes on at 6 and its snapshot ends at 4, so they do not belong together",
    ],
    [
      "lacks a line",
      { journal: [entry(5, begun), entry(7, begun)] },
      "its journal goes on at 7 after 5: what was between is lost",
    ],
    [
      "has a line twice",
      { journal: [entry(5, begun), entry(6, begun), entry(6, begun)] },
      "its journal has 6 after 6: lines were doubled or moved",
    ],
    [
      "has lines in another order",
      { journal: [entry(5, begun), entry(6, begun), entry(5, begun)] },
      "its journal has 5 after 6: lines were doubled or moved",
    ],
    [
      "lacks one more line than are damaged",
      { journal: [damaged(entry(5, begun)), entry(7, begun)] },
      "its journal goes on at 7 and its snapshot ends at 4, so they do not belong together",
    ],
    [
      "lacks a line further on than the damaged one",
      { journal: [damaged(entry(5, begun)), entry(6, begun), entry(8, begun)] },
      "its journal goes on at 8 after 6: what was between is lost",
    ],
    [
      "lacks a line that was acknowledged",
      { journal: [entry(5, begun), ""], acknowledged: 2 },
      "its journal ends after 1 line, and 2 were written: the last ones are lost",
    ],
    [
      "lacks all lines that were acknowledged",
      { journal: [], acknowledged: 1 },
      "its journal ends after 0 lines, and 1 were written: the last ones are lost",
    ],
  ])("is refused where it %s, and read as far as it goes for a person who repairs it", (_, stored, problem) => {
    expect(read({ snapshot, ...stored })).toEqual({ ok: false, problem });
    expect(read({ snapshot, ...stored }, true)).toMatchObject({ ok: true, notes: [problem] });
  });

  it("is refused where a line is of a kind that only a later version knows, and says which is the first", () => {
    const later = (n: number): string => line({ n, e: 2, c: { type: "of tomorrow" } });
    expect(read({ snapshot, journal: [entry(5, begun), later(6), later(7)] })).toEqual({
      ok: false,
      problem: "line 2 of its journal is of a kind that this version does not know",
      newer: {},
    });
  });

  it.each<[what: string, line: string, aside: string]>([
    [
      "a checksum that is not its own",
      damaged(entry(5, kept("vm.a"))),
      "vm.a: line 1 of the journal does not match its checksum",
    ],
    ["no checksum", "x", "journal line 1: line 1 of the journal does not match its checksum"],
    [
      "a checksum in front of another space",
      entry(5, begun).replace(" ", "  "),
      "journal line 1: line 1 of the journal does not match its checksum",
    ],
    ["no number", line({ n: "5", e: 2, c: begun }), "journal line 1: line 1 of the journal is not an entry"],
    ["no holder", line({ n: 5, c: begun }), "journal line 1: line 1 of the journal is not an entry"],
    ["no change", line({ n: 5, e: 2, c: null }), "journal line 1: line 1 of the journal is not an entry"],
    ["a list", line([5]), "journal line 1: line 1 of the journal is not an entry"],
    [
      "a record that is not readable",
      line({ n: 5, e: 2, c: { ...kept("vm.a"), record: record("vm.a", { onDelete: 1 }) } }),
      "vm.a: line 1 of the journal its onDelete is not readable",
    ],
    [
      "an orphan that is not readable",
      line({ n: 5, e: 2, c: { type: "orphan", key: "volume:1", orphan: { ...orphan, id: "" } } }),
      "volume:1: line 1 of the journal its id as an orphan is not readable",
    ],
    [
      "a scope",
      line({ n: 5, e: 2, c: { type: "scope", scope: {} } }),
      "journal line 1: line 1 of the journal has a scope that is not readable",
    ],
    [
      "outputs",
      line({ n: 5, e: 2, c: { type: "outputs", outputs: 1 } }),
      "journal line 1: line 1 of the journal has outputs that are not readable",
    ],
    [
      "a run",
      line({ n: 5, e: 2, c: { ...begun, run: {} } }),
      "journal line 1: line 1 of the journal begins a run that is not readable",
    ],
    [
      "the end of a run",
      line({ n: 5, e: 2, c: { type: "run_end", end: {} } }),
      "journal line 1: line 1 of the journal ends a run in a way that is not readable",
    ],
    [
      "sightings",
      line({ n: 5, e: 2, c: { type: "seen", at: 1 } }),
      "journal line 1: line 1 of the journal says when things were seen in a way that is not readable",
    ],
    [
      "a move",
      line({ n: 5, e: 2, c: { type: "transfer", id: "m", transfer: {} } }),
      "journal line 1: line 1 of the journal notes a move that is not readable",
    ],
    [
      "runs of which one is none",
      line({ n: 5, e: 2, c: { type: "runs", runs: [run("r", 1), 1] } }),
      "journal line 1: line 1 of the journal has runs that are not readable",
    ],
    [
      "runs that are no list",
      line({ n: 5, e: 2, c: { type: "runs", runs: 1 } }),
      "journal line 1: line 1 of the journal has runs that are not readable",
    ],
    [
      "runs before which stood what is no record",
      line({ n: 5, e: 2, c: { type: "runs", runs: [run("r", 1, { before: { "vm.a": record("vm.b") } })] } }),
      "vm.b: line 1 of the journal has runs that are not readable",
    ],
  ])("sets aside a line with %s", (_, damage, aside) => {
    expect(quarantine({ snapshot, journal: [damage, entry(6, begun)] })).toEqual([aside]);
    // Acknowledged, it is damage at the end too.
    expect(quarantine({ snapshot, journal: [damage], acknowledged: 1 })).toEqual([aside]);
  });

  it.each<[what: string, changes: readonly StateChange[], becomes: Partial<FoldedState>]>([
    ["a record", [kept("vm.a")], { resources: new Map([["vm.a", record("vm.a")]]) }],
    ["a record that is let go", [kept("vm.a"), { type: "resource", address: "vm.a", record: null }], {}],
    ["an intent", [{ type: "intent", address: "vm.a", intent }], { intents: new Map([["vm.a", intent]]) }],
    [
      "an intent that ended",
      [
        { type: "intent", address: "vm.a", intent },
        { type: "intent", address: "vm.a", intent: null },
      ],
      {},
    ],
    [
      "a record with a new id, which ends the create that was open",
      [{ type: "intent", address: "vm.a", intent }, kept("vm.a")],
      { resources: new Map([["vm.a", record("vm.a")]]) },
    ],
    [
      "an orphan that an address takes over, which is none any more",
      [
        { type: "orphan", key: "volume:1", orphan },
        { type: "orphan", key: "vm:1", orphan: { ...orphan, kind: "vm" } },
        { type: "resource", address: "volume.b", record: record("volume.b", { id: "1" }) },
      ],
      {
        resources: new Map([["volume.b", record("volume.b", { id: "1" })]]),
        orphans: new Map([["vm:1", { ...orphan, kind: "vm" }]]),
      },
    ],
    [
      "an orphan that was noted while its record had the id, which stays one whatever else the record learns",
      [
        { type: "resource", address: "volume.b", record: record("volume.b", { id: "1" }) },
        { type: "orphan", key: "volume:1", orphan },
        { type: "resource", address: "volume.b", record: record("volume.b", { id: "1", deleting: true }) },
      ],
      {
        resources: new Map([["volume.b", record("volume.b", { id: "1", deleting: true })]]),
        orphans: new Map([["volume:1", orphan]]),
      },
    ],
    [
      "a record with an id from before the create, which stays open",
      [{ type: "intent", address: "vm.a", intent: { ...intent, idsBefore: ["id of vm.a"] } }, kept("vm.a")],
      {
        resources: new Map([["vm.a", record("vm.a")]]),
        intents: new Map([["vm.a", { ...intent, idsBefore: ["id of vm.a"] }]]),
      },
    ],
    [
      "a record with the id it had, beside a create that is open",
      [kept("vm.a"), { type: "intent", address: "vm.a", intent }, kept("vm.a")],
      { resources: new Map([["vm.a", record("vm.a")]]), intents: new Map([["vm.a", intent]]) },
    ],
    [
      "a record without an id, which ends no create",
      [
        { type: "intent", address: "vm.a", intent },
        { type: "resource", address: "vm.a", record: record("vm.a", { id: undefined }) },
      ],
      {
        resources: new Map([["vm.a", JSON.parse(JSON.stringify(record("vm.a", { id: undefined })))]]),
        intents: new Map([["vm.a", intent]]),
      },
    ],
    [
      "a record without an id in the place of one that had one, which ends no create",
      [
        kept("vm.a"),
        { type: "intent", address: "vm.a", intent },
        { type: "resource", address: "vm.a", record: record("vm.a", { id: undefined }) },
      ],
      {
        resources: new Map([["vm.a", JSON.parse(JSON.stringify(record("vm.a", { id: undefined })))]]),
        intents: new Map([["vm.a", intent]]),
      },
    ],
    ["an orphan", [{ type: "orphan", key: "volume:1", orphan }], { orphans: new Map([["volume:1", orphan]]) }],
    [
      "an orphan that ended",
      [
        { type: "orphan", key: "volume:1", orphan },
        { type: "orphan", key: "volume:1", orphan: null },
      ],
      {},
    ],
    ["a scope", [{ type: "scope", scope: { origin: "o" } }], { scope: { origin: "o" } }],
    ["outputs", [{ type: "outputs", outputs: { ip: { value: 1 } } }], { outputs: { ip: { value: 1 } } }],
    [
      "outputs that are no more",
      [
        { type: "outputs", outputs: { ip: { value: 1 } } },
        { type: "outputs", outputs: {} },
      ],
      {},
    ],
    ["a run of an older version, of which nothing is known", [begun], {}],
    [
      "a run",
      [{ ...begun, run: { id: "r", number: 5, at, open: {} } }, kept("vm.a")],
      {
        resources: new Map([["vm.a", record("vm.a")]]),
        runs: [run("r", 5, { before: { "vm.a": null }, did: { "vm:id of vm.a": "took" } })],
      },
    ],
    [
      "the end of a run",
      [
        { ...begun, run: { id: "r", number: 5, at, open: { "vm.a": "f" } } },
        { type: "run_end", end: ended },
      ],
      { runs: [run("r", 5, { ...ended, did: {} })] },
    ],
    ["the end of a run that nobody remembers", [{ type: "run_end", end: ended }], {}],
    ["that all was seen", [{ type: "seen", at }], { seen: { all: at } }],
    [
      "that some was seen",
      [
        { type: "seen", at },
        { type: "seen", at: "2026-01-02T00:00:00Z", addresses: ["vm.a"] },
        { type: "seen", at: "2026-01-03T00:00:00Z", addresses: ["vm.b"] },
      ],
      { seen: { all: at, each: { "vm.a": "2026-01-02T00:00:00Z", "vm.b": "2026-01-03T00:00:00Z" } } },
    ],
    [
      "that all was seen after some was",
      [
        { type: "seen", at, addresses: ["vm.a"] },
        { type: "seen", at: "2026-01-02T00:00:00Z" },
      ],
      { seen: { all: "2026-01-02T00:00:00Z" } },
    ],
    ["a move", [{ type: "transfer", id: "m", transfer }], { moves: { m: transfer } }],
    [
      "a move that has ended, beside another",
      [
        { type: "transfer", id: "m", transfer },
        { type: "transfer", id: "o", transfer },
        { type: "transfer", id: "m", transfer: null },
      ],
      { moves: { o: transfer } },
    ],
    [
      "the last move that has ended",
      [
        { type: "transfer", id: "m", transfer },
        { type: "transfer", id: "m", transfer: null },
      ],
      {},
    ],
    [
      "that records were given away: nobody here saw them any more",
      [
        { type: "seen", at, addresses: ["vm.a", "vm.c"] },
        { type: "transfer", id: "m", transfer: { ...transfer, side: "gave" } },
      ],
      { moves: { m: { ...transfer, side: "gave" } }, seen: { each: { "vm.c": at } } },
    ],
    [
      "that records were given away where nothing was ever seen",
      [{ type: "transfer", id: "m", transfer: { ...transfer, side: "gave" } }],
      { moves: { m: { ...transfer, side: "gave" } } },
    ],
    [
      "that all records which were seen were given away",
      [
        { type: "seen", at, addresses: ["vm.a"] },
        { type: "transfer", id: "m", transfer: { ...transfer, side: "gave" } },
      ],
      { moves: { m: { ...transfer, side: "gave" } } },
    ],
    [
      "that records were given away after all was seen",
      [
        { type: "seen", at },
        { type: "seen", at: "2026-01-02T00:00:00Z", addresses: ["vm.a"] },
        { type: "transfer", id: "m", transfer: { ...transfer, side: "gave" } },
      ],
      { moves: { m: { ...transfer, side: "gave" } }, seen: { all: at } },
    ],
    [
      "that records are about to be given away: they were seen here",
      [
        { type: "seen", at, addresses: ["vm.a"] },
        { type: "transfer", id: "m", transfer },
      ],
      { moves: { m: transfer }, seen: { each: { "vm.a": at } } },
    ],
    [
      "runs",
      [{ type: "runs", runs: [run("r", 1), { id: "s", number: 2, at, open: {} }] }],
      {
        runs: [run("r", 1), { id: "s", number: 2, at, open: {} }],
      },
    ],
    ["no runs", [{ type: "runs", runs: [] }], {}],
  ])("says %s", (_, changes, becomes) => {
    const journal = changes.map((change, index) => entry(index + 5, change));
    expect(stateOf({ snapshot, journal, acknowledged: journal.length })).toEqual({
      ...emptyState("one"),
      serial: 4 + changes.length,
      epoch: 2,
      journalled: changes.length,
      ...becomes,
    });
  });

  it("does not take back what the snapshot has, where it was written before that", () =>
    expect([
      ...stateOf({
        snapshot: head({ resources: { "vm.a": record("vm.a") } }),
        journal: [3, 4].map((n) => entry(n, { type: "resource", address: "vm.a", record: null })),
      }).resources.keys(),
    ]).toEqual(["vm.a"]));

  describe("what was set aside of an address", () => {
    const aside = { address: "vm.a", text: "t", problem: "p" };
    const other = { address: "vm.b", text: "t", problem: "p" };
    const after = (change: StateChange): string[] =>
      stateOf({
        snapshot: head({ quarantined: [aside, other] }),
        journal: [entry(5, change), damaged(entry(6, kept("vm.c"))), entry(7, begun)],
      }).quarantined.map(({ address }) => address);
    it.each<[what: string, change: StateChange, left: readonly string[]]>([
      ["is repaired by a later record", kept("vm.a"), ["vm.b", "vm.c"]],
      ["ends when a person lets it go", { type: "release", address: "vm.a" }, ["vm.b", "vm.c"]],
      ["stays beside an intent", { type: "intent", address: "vm.a", intent: null }, ["vm.a", "vm.b", "vm.c"]],
      ["stays where another was damaged after its record", kept("vm.c"), ["vm.a", "vm.b", "vm.c"]],
    ])("%s", (_, change, left) => expect(after(change)).toEqual(left));
  });
});

describe("whether a piece has the shape that its readers rely on", () => {
  it.each<[what: string, address: string, value: unknown, problem: string | undefined]>([
    ["a record", "vm.a", record("vm.a"), undefined],
    ["what is no address", "cat.a", record("vm.a"), '"cat.a" is no address'],
    ["what is no record", "vm.a", null, "it is not a record"],
    ["no kind", "vm.a", record("vm.a", { kind: undefined }), "its kind is null, not vm"],
    ["no address", "vm.a", record("vm.a", { address: undefined }), "it says it is null"],
    ["another address", "vm.a", record("vm.b"), 'it says it is "vm.b"'],
    ["no id of a volume", "volume.a", record("volume.a", { id: undefined }), "its id is not readable"],
    ["no size", "volume.a", record("volume.a", { sizeGb: "5" }), "its sizeGb is not readable"],
  ])("%s", (_, address, value, problem) => expect(recordProblem(address, value)).toBe(problem));

  it.each<[what: string, address: string, more: object, problem: string]>([
    ["for what is no address", "cat.a", {}, '"cat.a" is no address'],
    ["for no address", "vm.a", { address: undefined }, "its intent says it is for null"],
    ["to do nothing", "vm.a", { operation: undefined }, "its intent is to null, which this version does not know"],
    [
      "to do what another kind does",
      "vm.a",
      { operation: "group.create" },
      "its intent is to group.create, which is no vm's",
    ],
    ["of no step", "vm.a", { step: undefined }, "the step of its intent is not readable"],
    ["sent at no time", "vm.a", { sentAt: "x" }, "the sentAt of its intent is not readable"],
    ["with a record that is none", "vm.a", { record: 1 }, "the record of its intent is not readable"],
    [
      "with a record of another address",
      "vm.a",
      { record: record("vm.b") },
      'the record of its intent is not readable: it says it is "vm.b"',
    ],
  ])("an intent %s is not readable", (_, address, more, problem) => {
    const intents = { [address]: { ...intent, ...more } };
    expect(quarantine({ snapshot: head({ intents }) })).toEqual([`${address}: ${problem}`]);
  });
  it.each([
    ["a snapshot of a VM", intent.address, { ...intent, operation: "vm.snapshot" }],
    [
      "a create with the record it is to make",
      "volume.a",
      {
        ...intent,
        ...{ address: "volume.a", operation: "volume.create", record: record("volume.a", { id: undefined }) },
      },
    ],
  ])("%s is readable", (_, address, value) =>
    expect(quarantine({ snapshot: head({ intents: { [address]: value } }) })).toEqual([]),
  );
  it("an intent that is none is not", () =>
    expect(quarantine({ snapshot: head({ intents: { "vm.a": 1 } }) })).toEqual(["vm.a: it is not an intent"]));

  it.each<[what: string, orphan: unknown, problem: string | undefined]>([
    ["is one", orphan, undefined],
    ["is none", 1, "it is not an orphan"],
    ["has an id of no text", { ...orphan, id: 1 }, "its id as an orphan is not readable"],
    ["has no id", { ...orphan, id: "" }, "its id as an orphan is not readable"],
    ["has its record", { ...orphan, record: record("volume.a") }, undefined],
    ["has a record that says no address", { ...orphan, record: {} }, '"" is no address'],
    [
      "has a record of another kind than its address",
      { ...orphan, record: record("volume.a", { kind: "vm" }) },
      'its kind is "vm", not volume',
    ],
  ])("an orphan %s", (_, value, problem) => expect(orphanProblem(value)).toBe(problem));

  it.each([
    ["a scope", isScope, { origin: "o", sees: ["group:1"] }, { origin: "o", sees: [1] }],
    [
      "the end of a run",
      isRunEnd,
      { endedAt: at, outcome: "done", steps: {}, open: {} },
      { endedAt: at, outcome: "x", steps: {}, open: {} },
    ],
    ["a move", isTransfer, { ...transfer, outputs: { a: { value: 1 } } }, { ...transfer, outputs: { a: {} } }],
  ] as const)("%s", (_, is, good, bad) => expect([is(good), is(bad)]).toEqual([true, false]));

  it.each<[what: string, section: unknown, runs: object]>([
    ["none that are no table", 1, {}],
    ["none of an empty table", {}, {}],
    [
      "a run whose records are not readable, without them",
      { a: run("a", 1, { before: { "vm.a": record("vm.b") } }) },
      {
        runs: [{ id: "a", number: 1, at, open: {} }],
      },
    ],
    [
      "a run before which stood nothing",
      { a: run("a", 1, { before: { "vm.a": null } }) },
      {
        runs: [run("a", 1, { before: { "vm.a": null } })],
      },
    ],
    ["none that ended with no counts of its steps", { a: { ...run("a", 1, ended), steps: null } }, {}],
    ["none that ended at no time", { a: run("a", 1, { ...ended, endedAt: "x" }) }, {}],
    ["none that left unseen what is no list", { a: { ...run("a", 1, ended), unseen: 5 } }, {}],
    [
      "the records of a later run, where an earlier one has none",
      { a: { ...run("a", 1), before: undefined }, b: run("b", 2) },
      { runs: [{ id: "a", number: 1, at, open: {} }, run("b", 2)] },
    ],
    [
      "no records of an earlier run, where a later one has none",
      { a: run("a", 1), b: { ...run("b", 2), before: undefined } },
      {
        runs: [
          { id: "a", number: 1, at, open: {} },
          { id: "b", number: 2, at, open: {} },
        ],
      },
    ],
  ])("runs: %s", (_, section, runs) => expect(runsOf(section)).toEqual(runs));
});

describe("what a newer version wrote", () => {
  it.each<[what: string, needs: unknown, version: string]>([
    ["a version that it needs", "3.1", "3.1"],
    ["a version that is no text", 3, "latest"],
    ["nothing", undefined, "latest"],
    ["a version of many pages", "3".repeat(90), "3".repeat(40)],
  ])("says with %s what to install", (_, needs, version) => {
    const error = new WrittenByNewer("the state", "its version is 2", needs);
    expect(error.message).toBe(
      "the state was written by a newer version of reconcile: its version is 2; it is not read, and nothing replaces it",
    );
    expect(error.diagnostics).toMatchObject([{ severity: "error", code: "state/newer", summary: error.message }]);
    expect(error.diagnostics[0]?.fix).toMatch(new RegExp(`@${version}$`));
  });
});

it("is read and written for more resources than a call takes arguments", () => {
  const many = Array.from({ length: 130_000 }, (_, index) => index);
  const orphans = new Map(many.map((id) => [`volume:${id}`, { ...orphan, id: String(id) }]));
  const snapshot = writeSnapshot({ ...emptyState("l"), orphans });
  const journal = many.map((id) =>
    writeEntry({ serial: id + 1, epoch: 1, more: many.length - 1 - id, change: { type: "release", address: "vm.a" } }),
  );
  const read = readState({ snapshot, journal }, "l");
  expect(read.ok && [read.state.orphans.size, read.state.serial]).toEqual([many.length, many.length]);
});

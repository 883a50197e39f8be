/** What two states write when records go from one to the other, what speaks against it, and which runs go along. */
import { describe, expect, it } from "vitest";
import type { Intent, Orphan, RecordedRun, RecordedVm, State, StateChange } from "../../reconciler/core/model/recorded";
import { continued, emptyState, headOf } from "../../reconciler/core/state/fold";
import { changesOfGiving, decideHandover } from "../../reconciler/core/state/handover";
import { findRun, recordsAfter, runBegins, runEnds, runsGiving, runsTaking } from "../../reconciler/core/state/history";

const at = (day: number): string => `2026-01-0${day}T00:00:00Z`;
const vm = (key: string, more: Partial<RecordedVm> = {}): RecordedVm => ({
  kind: "vm",
  address: `vm.${key}`,
  id: `id-${key}`,
  name: key,
  preventDestroy: false,
  onDelete: { snapshot: false, preservedVolumes: "retain" },
  ...more,
});
const intentOf = (key: string, more: Partial<Intent> = {}): Intent => ({
  ...{
    step: `vm.${key}/create`,
    address: `vm.${key}`,
    operation: "vm.create",
    name: key,
    sentAt: at(1),
    idsBefore: [],
  },
  ...more,
});
const orphan = (id: string, record?: RecordedVm): Orphan => ({
  ...{ kind: "vm", id, name: id, reason: "it vanished" },
  ...(record === undefined ? {} : { record }),
});
const run = (id: string, number: number, more: Partial<RecordedRun> = {}): RecordedRun => ({
  ...{ id, number, at: at(number), open: {}, before: {} },
  ...more,
});
interface Parts extends Omit<Partial<State>, "resources" | "intents" | "orphans"> {
  readonly vms?: readonly RecordedVm[];
  readonly creates?: readonly Intent[];
  readonly left?: readonly Orphan[];
}
const state = ({ vms = [], creates = [], left = [], ...more }: Parts): State => ({
  ...emptyState("l"),
  resources: new Map(vms.map((one) => [one.address, one])),
  intents: new Map(creates.map((one) => [one.address, one])),
  orphans: new Map(left.map((one) => [`${one.kind}:${one.id}`, one])),
  ...more,
});
const addresses = { "vm.a": "shop/vm.a" };
const origin = "https://cloud.example";
const note = { side: "giving", other: "there", at: at(1), by: "ops", addresses } as const;
const recordGoes: StateChange = {
  type: "resource",
  address: "shop/vm.a",
  record: vm("a", { address: "shop/vm.a" }),
};

describe("records do not go over", () => {
  const damaged = (address: string) => ({ quarantined: [{ address, text: "?", problem: "p" }] });
  it.each<[what: string, giving: Parts, taking: Parts, problems: readonly object[]]>([
    [
      "to an address that has a record",
      {},
      { vms: [vm("a", { address: "shop/vm.a", id: "x" })] },
      [{ is: "occupied", address: "shop/vm.a" }],
    ],
    [
      "to an address that has an open create",
      {},
      { creates: [intentOf("a", { address: "shop/vm.a" })] },
      [{ is: "occupied", address: "shop/vm.a" }],
    ],
    [
      "to a state that has the resource by another address",
      {},
      { vms: [vm("b", { id: "id-a" })] },
      [{ is: "twice", address: "vm.a", id: "id-a", as: "vm.b" }],
    ],
    ["of a record that is damaged", damaged("vm.a"), {}, [{ is: "damaged", address: "vm.a" }]],
    ["to an address whose record is damaged", {}, damaged("shop/vm.a"), [{ is: "damaged", address: "shop/vm.a" }]],
    [
      "to a state of another service",
      { scope: { origin: "https://other.example" } },
      { scope: { origin } },
      [{ is: "elsewhere", why: `this state is of the service ${origin}, and this is https://other.example` }],
    ],
    [
      "to a state of another project",
      { scope: { origin, project: "b" } },
      { scope: { origin, project: "a" } },
      [{ is: "elsewhere", why: "this state is of the project a, and the file names b" }],
    ],
  ])("%s", (_, giving, taking, problems) =>
    expect(decideHandover(state({ vms: [vm("a")], ...giving }), state(taking), { addresses })).toEqual({ problems }),
  );

  it("nor where only the damaged piece is left of what was asked for", () =>
    expect(decideHandover(state(damaged("vm.a")), state({}), { addresses })).toEqual({
      problems: [{ is: "damaged", address: "vm.a" }],
    }));

  it.each<[what: string, giving: Parts, taking: Parts]>([
    ["another address is damaged", damaged("vm.b"), damaged("shop/vm.b")],
    ["the environments differ", { scope: { origin, environment: "a" } }, { scope: { origin, environment: "b" } }],
    ["only the taking state says where it is of", {}, { scope: { origin } }],
    ["a record of the taking state has no id yet", {}, { vms: [vm("b", { id: undefined })] }],
    ["neither record has an id yet", { vms: [vm("a", { id: undefined })] }, { vms: [vm("b", { id: undefined })] }],
    ["another kind has its id", {}, { vms: [{ ...vm("b", { id: "id-a" }), kind: "volume" } as unknown as RecordedVm] }],
  ])("but they do where %s", (_, giving, taking) => {
    const answer = decideHandover(state({ vms: [vm("a")], ...giving }), state(taking), { addresses });
    expect(answer.problems ?? answer.handover.addresses).toEqual(addresses);
  });
});

describe("the taking state writes", () => {
  const made = { ...vm("a"), id: undefined };
  it.each<[what: string, giving: Parts, taking: Parts, asked: object, taken: readonly StateChange[]]>([
    ["the record by its new address", { vms: [vm("a"), vm("b")] }, {}, {}, [recordGoes]],
    [
      "an open create, with the record it is to make",
      { creates: [intentOf("a", { record: made })] },
      {},
      {},
      [
        {
          type: "intent",
          address: "shop/vm.a",
          intent: intentOf("a", { address: "shop/vm.a", record: { ...made, address: "shop/vm.a" } }),
        },
      ],
    ],
    [
      "a record before the create that is open beside it",
      { vms: [vm("a")], creates: [intentOf("a")] },
      {},
      {},
      [recordGoes, { type: "intent", address: "shop/vm.a", intent: intentOf("a", { address: "shop/vm.a" }) }],
    ],
    [
      "an orphan that one of the addresses has become, and no other",
      { vms: [vm("a")], left: [orphan("1", vm("a", { id: "1" })), orphan("2", vm("b")), orphan("3")] },
      {},
      {},
      [recordGoes, { type: "orphan", key: "vm:1", orphan: orphan("1", vm("a", { id: "1", address: "shop/vm.a" })) }],
    ],
    [
      "an orphan that is still to be deleted in favour of one of the addresses",
      { left: [{ ...orphan("1"), replacedBy: "vm.a" }] },
      {},
      {},
      [{ type: "orphan", key: "vm:1", orphan: { ...orphan("1"), replacedBy: "shop/vm.a" } }],
    ],
    [
      "an orphan of an address that has no record any more",
      { left: [orphan("1", vm("a"))] },
      {},
      {},
      [{ type: "orphan", key: "vm:1", orphan: orphan("1", vm("a", { address: "shop/vm.a" })) }],
    ],
    [
      "all orphans as they are, where everything goes",
      { left: [orphan("2", vm("b")), orphan("3")] },
      {},
      { whole: true },
      [
        { type: "orphan", key: "vm:2", orphan: orphan("2", vm("b")) },
        { type: "orphan", key: "vm:3", orphan: orphan("3") },
      ],
    ],
    [
      "where it is of, where it remembers nothing, with its own environment",
      { scope: { origin, project: "p", environment: "theirs" } },
      {},
      { environment: "ours" },
      [{ type: "scope", scope: { origin, project: "p", environment: "ours" } }],
    ],
    [
      "where it is of, and no environment where its file has none",
      { scope: { origin, environment: "theirs" } },
      {},
      {},
      [{ type: "scope", scope: { origin } }],
    ],
    ["nothing of where it is of, where it knows that", { scope: { origin } }, { scope: { origin } }, {}, []],
    [
      "its outputs",
      {},
      {},
      { outputs: { giving: {}, taking: { ip: { value: 1 } } } },
      [{ type: "outputs", outputs: { ip: { value: 1 } } }],
    ],
    [
      "that all was seen, where all that it has came along with that",
      { vms: [vm("a")], seen: { all: at(2) } },
      {},
      {},
      [recordGoes, { type: "seen", at: at(2) }],
    ],
    [
      "when each was seen, where the giving state has not seen all",
      { vms: [vm("a")], seen: { each: { "vm.a": at(2) } } },
      {},
      {},
      [recordGoes, { type: "seen", at: at(2), addresses: ["shop/vm.a"] }],
    ],
    [
      "when each was seen, where it has sightings of its own",
      { vms: [vm("a")], seen: { all: at(2) } },
      { seen: { all: at(3) } },
      {},
      [recordGoes, { type: "seen", at: at(2), addresses: ["shop/vm.a"] }],
    ],
    [
      "no sighting that it has by itself",
      { vms: [vm("a")], seen: { all: at(2) } },
      { seen: { all: at(2) } },
      {},
      [recordGoes],
    ],
    ["no sighting of what nobody saw", { vms: [vm("a")], seen: { each: { "vm.b": at(2) } } }, {}, {}, [recordGoes]],
    [
      "the runs that changed the record, before its own later ones",
      { vms: [vm("a")], runs: [run("theirs", 1, { before: { "vm.a": null } })] },
      { runs: [run("own", 2)] },
      {},
      [
        recordGoes,
        {
          type: "runs",
          runs: [run("theirs", 0, { at: at(1), brought: true, before: { "shop/vm.a": null } }), run("own", 2)],
        },
      ],
    ],
    [
      "its own runs, where no run comes along: what comes is no change of theirs",
      { vms: [vm("a")] },
      { runs: [run("own", 2)] },
      {},
      [recordGoes, { type: "runs", runs: [run("own", 2)] }],
    ],
  ])("%s", (_, giving, taking, asked, taken) => {
    const answer = decideHandover(state(giving), state(taking), { addresses, ...asked });
    expect(answer.problems ?? JSON.parse(JSON.stringify(answer.handover.taken))).toEqual(
      JSON.parse(JSON.stringify(taken)),
    );
  });

  it("when each was seen where they were seen at two times, together where the times are the same", () => {
    const answer = decideHandover(
      state({ vms: [vm("a"), vm("b"), vm("c")], seen: { all: at(1), each: { "vm.b": at(2) } } }),
      state({}),
      { addresses: { "vm.a": "vm.x", "vm.b": "vm.y", "vm.c": "vm.z" } },
    );
    expect(answer.problems ?? answer.handover.taken.filter(({ type }) => type === "seen")).toEqual([
      { type: "seen", at: at(1), addresses: ["vm.x", "vm.z"] },
      { type: "seen", at: at(2), addresses: ["vm.y"] },
    ]);
  });

  it("nothing for an address that the giving state does not have", () =>
    expect(decideHandover(state({ vms: [vm("b")] }), state({}), { addresses })).toEqual({
      handover: { addresses: {}, orphans: [], taken: [] },
    }));
});

describe("the giving state writes", () => {
  const gave: StateChange = { type: "transfer", id: "m", transfer: { ...note, side: "gave" } };
  it.each<[what: string, giving: Parts, more: object, changes: readonly StateChange[]]>([
    [
      "that the record is gone",
      { vms: [vm("a"), vm("b")] },
      {},
      [{ type: "resource", address: "vm.a", record: null }, gave],
    ],
    [
      "that the open create is gone",
      { creates: [intentOf("a")] },
      {},
      [{ type: "intent", address: "vm.a", intent: null }, gave],
    ],
    ["only that it gave, where nothing is left of it", {}, {}, [gave]],
    [
      "that the orphans are gone, and its outputs",
      {},
      { orphans: ["vm:1"], outputs: {} },
      [
        { type: "orphan", key: "vm:1", orphan: null },
        { type: "outputs", outputs: {} },
        { type: "transfer", id: "m", transfer: { ...note, orphans: ["vm:1"], outputs: {}, side: "gave" } },
      ],
    ],
    [
      "its runs without what was before them of the record",
      { runs: [run("r", 1, { before: { "vm.a": null, "vm.b": null } })] },
      {},
      [{ type: "runs", runs: [run("r", 1, { before: { "vm.b": null } })] }, gave],
    ],
  ])("%s", (_, giving, more, changes) =>
    expect(changesOfGiving(state(giving), "m", { ...note, ...more })).toEqual(changes),
  );

  it.each<[what: string, runs: readonly RecordedRun[], left: readonly RecordedRun[]]>([
    ["a run of its own that changed nothing else stays", [run("r", 1, { before: { "vm.a": null } })], [run("r", 1)]],
    [
      "a run that came along and changed nothing else goes again",
      [run("r", 1, { brought: true, before: { "vm.a": null } })],
      [],
    ],
    [
      "a run that came along and changed another record stays",
      [run("r", 1, { brought: true, before: { "vm.a": null, "vm.b": vm("b") } })],
      [run("r", 1, { brought: true, before: { "vm.b": vm("b") } })],
    ],
    [
      "a run that is too long ago stays as it is",
      [run("r", 1, { before: undefined })],
      [run("r", 1, { before: undefined })],
    ],
  ])("%s", (_, runs, left) => expect(runsGiving({ resources: new Map(), runs }, addresses)).toEqual(left));
});

describe("the runs of a state that takes records", () => {
  const changed = (id: string, number: number, more: Partial<RecordedRun> = {}) =>
    run(id, number, { before: { "vm.a": vm("a") }, ...more });
  const asTaken = { before: { "shop/vm.a": vm("a", { address: "shop/vm.a" }) }, brought: true } as const;
  it.each<[what: string, own: readonly RecordedRun[], given: readonly RecordedRun[], runs: readonly object[]]>([
    [
      "are its own where the others changed other records",
      [run("own", 1)],
      [run("theirs", 2, { before: { "vm.b": null } })],
      [run("own", 1)],
    ],
    [
      "are its own where the others are too long ago",
      [run("own", 1)],
      [run("theirs", 2, { before: undefined })],
      [run("own", 1)],
    ],
    [
      "are in the order in which they began, and each from elsewhere has the number of the one before it",
      [run("own 1", 1), run("own 5", 5)],
      [changed("theirs 3", 3), changed("theirs 7", 7), changed("theirs 2", 2)],
      [
        run("own 1", 1),
        run("theirs 2", 1, { at: at(2), ...asTaken }),
        run("theirs 3", 1, { at: at(3), ...asTaken }),
        run("own 5", 5),
        run("theirs 7", 5, { at: at(7), ...asTaken }),
      ],
    ],
    [
      "are in the order of their numbers where they began at once",
      [run("own", 5, { at: at(1) })],
      [changed("first", 4, { at: at(1) }), changed("last", 6, { at: at(1) })],
      [
        run("first", 0, { at: at(1), ...asTaken }),
        run("own", 5, { at: at(1) }),
        run("last", 5, { at: at(1), ...asTaken }),
      ],
    ],
    [
      "have nothing open of another's run",
      [run("own", 1)],
      [changed("theirs", 2, { open: { "vm.a": "f" } })],
      [run("own", 1), run("theirs", 1, { at: at(2), ...asTaken })],
    ],
    [
      "have both parts of a run that both states know, once",
      [run("both", 1, { before: { "vm.c": null }, did: { "vm:c": "made" } })],
      [changed("both", 1, { did: { "vm:a": "took" } })],
      [run("both", 1, { before: { "vm.c": null, ...asTaken.before }, did: { "vm:c": "made", "vm:a": "took" } })],
    ],
    [
      "have what a run did as it is where the other state remembers nothing of it",
      [run("both", 1, { did: { "vm:c": "made" } })],
      [changed("both", 1)],
      [run("both", 1, { before: asTaken.before, did: { "vm:c": "made" } })],
    ],
    [
      "have nothing before a run that is too long ago here",
      [run("both", 1, { before: undefined })],
      [changed("both", 1)],
      [run("both", 1, { before: undefined })],
    ],
    [
      "know of a record that was not there before the run",
      [],
      [run("theirs", 2, { before: { "vm.a": null } })],
      [run("theirs", 0, { at: at(2), brought: true, before: { "shop/vm.a": null } })],
    ],
  ])("%s", (_, own, given, runs) =>
    expect(JSON.parse(JSON.stringify(runsTaking(own, { resources: new Map(), runs: given }, addresses)))).toEqual(
      JSON.parse(JSON.stringify(runs)),
    ),
  );

  it("are copies: what the state adds to its last run is not in the other's", () => {
    const own = [run("own", 1, { before: { "vm.c": null } })];
    expect(runsTaking(own, state({}), addresses)[0]?.before).not.toBe(own[0]?.before);
  });
});

describe("the runs that are remembered", () => {
  const start = (number: number) => ({ id: `r${number}`, number, at: at(1), open: {} });
  const formers = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`vm.${n}`, vm(`${n}`)]));
  const nulls = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`vm.n${n}`, null]));

  it("are the last fifty", () => {
    const runs = Array.from({ length: 50 }, (_, n) => run(`r${n}`, n, { before: undefined }));
    const next = runBegins(runs, start(50));
    expect([next.length, next[0]?.id, next.at(-1)]).toEqual([50, "r1", { ...start(50), before: {}, did: {} }]);
  });
  it.each<[what: string, before: readonly RecordedRun["before"][], kept: readonly boolean[]]>([
    ["keep their records up to five hundred", [formers(200), formers(300), {}], [true, true, true, true]],
    ["lose those of the oldest beyond that", [formers(201), formers(300), {}], [false, true, true, true]],
    ["do not count those of the run that ended last", [formers(500), formers(600)], [true, true, true]],
    [
      "do not count what was not there",
      [{ ...formers(250), ...nulls(300) }, formers(250), {}],
      [true, true, true, true],
    ],
    ["lose them before a run that has none", [formers(1), undefined, {}], [false, false, true, true]],
    [
      "lose all that are older than one that does not fit",
      [formers(1), formers(501), formers(1), {}],
      [false, false, true, true, true],
    ],
  ])("%s", (_, before, kept) => {
    const runs = before.map((one, n) =>
      run(`r${n}`, n, { before: one, did: { "vm:x": "made" }, open: { "vm.0": "f" } }),
    );
    const next = runBegins(runs, start(9));
    expect(next.map((one) => one.before !== undefined)).toEqual(kept);
    // What a run did is kept as long as what was before it.
    expect(next.map((one) => one.did !== undefined)).toEqual(kept);
    // Only of the last run does anybody ask what is still open.
    expect(next.slice(0, -1).map(({ open }) => open)).toEqual(before.map(() => ({})));
  });

  const ended = { endedAt: at(2), outcome: "done", steps: { done: 1, failed: 0, skipped: 0, waiting: 0 } } as const;
  it("say how the last one ended, and what it left open", () => {
    const runs = [run("r1", 1), run("r2", 2, { open: { "vm.a": "f", "vm.b": "f" } })];
    expect(runEnds(runs, { ...ended, open: { "vm.b": "f" } })).toEqual([
      run("r1", 1),
      run("r2", 2, { ...ended, open: { "vm.b": "f" } }),
    ]);
    expect(runEnds([], { ...ended, open: {} })).toEqual([]);
  });

  const known = [run("abcd1", 1), run("abcd2", 2), run("ef12", 3)];
  it.each<[what: string, runs: readonly RecordedRun[], named: string, found: string | readonly string[]]>([
    ["the last one", known, "last", "ef12"],
    ["the last one where there is none", [], "last", []],
    ["one by its whole id", known, "abcd1", "abcd1"],
    ["one by the beginning of its id, in any letters", known, "EF12", "ef12"],
    ["several that begin alike", known, "abcd", ["abcd1", "abcd2"]],
    ["none by less than four letters", known, "ef1", []],
    ["none that is called so", known, "ffff", []],
    ["one whose id begins with the word", [run("last1", 1), run("r", 2)], "last1", "last1"],
  ])("are found: %s", (_, runs, named, found) => {
    const answer = findRun(runs, named);
    expect("run" in answer ? answer.run.id : answer.candidates.map(({ id }) => id)).toEqual(found);
  });

  const resources = new Map([["vm.a", vm("a", { name: "now" })]]);
  const changes = [run("r1", 1, { before: {} }), run("r2", 2, { before: { "vm.a": vm("a", { name: "then" }) } })];
  it.each<[what: string, id: string, names: readonly string[] | undefined]>([
    ["the last run are the present ones", "r2", ["now"]],
    ["an earlier run are those before the next one", "r1", ["then"]],
    ["a run that nobody knows are not known", "r3", undefined],
  ])("the records after %s", (_, id, names) => {
    const after = recordsAfter({ resources, runs: changes }, id);
    expect(after && [...after.values()].map(({ name }) => name)).toEqual(names);
  });
  it("the records after a run are not known where no run is remembered", () =>
    expect(recordsAfter({ resources }, "r1")).toBeUndefined());
});

describe("what a state has beside its records", () => {
  const last = run("r", 1, { before: { "vm.a": null }, did: { "vm:a": "made" } });
  it("leaves out what is empty, and keeps what is not", () => {
    expect(headOf({ outputs: {}, runs: [], moves: {} })).toEqual({});
    const full = { scope: { origin }, outputs: { a: { value: 1 } }, runs: [last], seen: {}, moves: { m: note } };
    expect(headOf(full)).toEqual(full);
  });
  it.each<[what: string, runs: readonly RecordedRun[] | undefined]>([
    ["no runs", undefined],
    ["a last run that is too long ago", [run("r", 1, { before: undefined })]],
    ["a last run that remembers no deeds", [run("q", 1), run("r", 2)]],
    ["a last run with deeds", [run("q", 1), last]],
  ])("is the same for a run that goes on with it: %s", (_, runs) => {
    const head = runs === undefined ? {} : { runs };
    expect(headOf(continued({ ...emptyState("one"), ...head }))).toEqual(head);
  });
  it("is a copy of the last run, to which the next one adds", () => {
    const own = continued({ ...emptyState("one"), runs: [last] }).runs?.[0];
    expect(own?.before).not.toBe(last.before);
    expect(own?.did).not.toBe(last.did);
  });
});

describe("what had another address before", () => {
  const [b, c] = [vm("b"), vm("c")];
  const was = (id: string, address: string) => vm(id.slice(3), { address, id });
  const made = run("made", 1, { before: { "vm.b": null, "vm.c": null } });
  it.each<[what: string, before: RecordedRun["before"], stays: object, goes: object]>([
    ["goes along under the address that it has now", { "vm.b": b, "vm.a": null }, {}, { "shop/vm.a": "id-b" }],
    [
      "leaves what stays with nothing under the address that it had meanwhile",
      { "vm.b": b, "vm.a": was("id-c", "vm.a") },
      { "vm.a": "id-c", "vm.b": null },
      { "shop/vm.a": "id-b" },
    ],
    [
      "leaves what another one was alone",
      { "vm.b": b, "vm.a": null, "vm.c": c },
      { "vm.c": "id-c" },
      { "shop/vm.a": "id-b" },
    ],
  ])("%s", (_, before, stays, goes) => {
    const giving = {
      ...{ resources: new Map([["vm.a", was("id-b", "vm.a")]]) },
      runs: [made, run("moved", 2, { before: { ...before } })],
    };
    const ids = (runs: readonly RecordedRun[]) =>
      runs.map((one) =>
        Object.fromEntries(
          Object.entries(one.before ?? {}).map(([address, record]) => [address, record === null ? null : record.id]),
        ),
      );
    expect(ids(runsGiving(giving, addresses))).toEqual([{ "vm.c": null }, stays]);
    const taken = runsTaking([], giving, addresses);
    expect(ids(taken)).toEqual([{ "shop/vm.a": null }, goes]);
    expect(taken[1]?.before?.["shop/vm.a"]?.address).toBe("shop/vm.a");
  });
});

/** Which lines of a dialect a doctor calls wrong, and how a trial tells one state from another and asks for a job. */
import { expect, it } from "vitest";
import type { AssumedOperation } from "../../reconciler/core/model/operation";
import type { Outcome } from "../../reconciler/core/model/outcome";
import type { RecordedVm } from "../../reconciler/core/model/recorded";
import { builtInDialect } from "../../reconciler/dialect/built-in";
import type { Dialect } from "../../reconciler/dialect/dialect";
import { everyMisfit, misfitsOf, readByDialect } from "../../reconciler/engine/doctor/check";
import type { DoctorReport, OperationFinding } from "../../reconciler/engine/doctor/report";
import { asListsAre, basesOf } from "../../reconciler/engine/doctor/trial/jobs";
import { keepsItsWord, showsItself } from "../../reconciler/engine/doctor/trial/vms";
import { settledFor } from "../../reconciler/engine/fill-in";
import type { ServiceReader } from "../../reconciler/service/client";

const nothing: DoctorReport = {
  reachable: true,
  credential: "accepted",
  operations: [],
  records: [],
  unknownVmStates: [],
  likelyStates: {},
  samples: new Map(),
  emptied: new Set(),
  given: builtInDialect,
  dialect: builtInDialect,
  open: [],
  diagnostics: [],
};
const found = (over: Partial<OperationFinding>): OperationFinding => ({
  operation: "vm.list",
  verdict: "found",
  route: builtInDialect.operations["vm.list"],
  tried: [],
  ...over,
});
const elsewhere = { method: "GET" as const, path: "/servers" };
const without = (operation: AssumedOperation): Dialect => ({
  ...builtInDialect,
  operations: { ...builtInDialect.operations, [operation]: null },
});
const name = { record: "vm" as const, looked: 1, keys: [] };

it.each<readonly [what: string, report: Partial<DoctorReport>, lines: readonly string[]]>([
  ["nothing where it was found", { operations: [found({})] }, []],
  ["a path where it is elsewhere", { operations: [found({ route: elsewhere })] }, ["operations.vm.list.path"]],
  ["an operation that is missing", { operations: [found({ verdict: "missing" })] }, ["operations.vm.list"]],
  ["nothing where it is unclear", { operations: [found({ verdict: "unclear", route: elsewhere })] }, []],
  ["nothing of one that is found nowhere", { operations: [found({ route: null })] }, []],
  ["nothing of what the dialect lacks", { given: without("vm.list"), operations: [found({ verdict: "missing" })] }, []],
  ["nothing of a write", { operations: [found({ operation: "vm.resize.confirm", verdict: "missing" })] }, []],
  [
    "a field elsewhere",
    { records: [{ ...name, fields: [{ field: "name", place: "/title", learnt: true }] }] },
    ["records.vm.name"],
  ],
  ["no field that is where it is said", { records: [{ ...name, fields: [{ field: "name", place: "/name" }] }] }, []],
  ["no field that is nowhere", { records: [{ ...name, fields: [{ field: "name", learnt: true }] }] }, []],
  ["no field of a part", { records: [{ ...name, fields: [{ field: "volume.id", place: "/x", learnt: true }] }] }, []],
  ["a word with a likely meaning", { likelyStates: { stopped: ["off"] } }, ["states.vm.stopped"]],
  ["a word without one", { unknownVmStates: ["odd"] }, ["states.vm"]],
])("a doctor calls wrong: %s", (_, report, lines) => {
  expect(misfitsOf({ ...nothing, ...report }).map(({ path }) => path.join("."))).toEqual(lines);
});

it("says what was answered where an operation is missing, and what a field shows elsewhere", () => {
  const tried = [{ path: "/vms", answer: "not found" }];
  const fields = [{ field: "name", place: "/title", learnt: true as const, shows: "web" }];
  const misfits = misfitsOf({
    ...nothing,
    operations: [found({ verdict: "missing", tried }), found({ operation: "volume.list", verdict: "missing" })],
    given: {
      ...builtInDialect,
      operations: { ...builtInDialect.operations, "volume.list": { ...elsewhere, items: [] } },
    },
    records: [{ ...name, fields }],
  });
  expect(misfits.map(({ detail }) => detail)).toEqual(["/vms: not found", undefined, "it shows web"]);
});

const vm = (phase: "running" | "stopped" | "failed" | "changing", more: object = {}) => ({
  kind: "vm" as const,
  id: "1",
  name: "n",
  phase,
  ...more,
});

it.each([
  ["in this phase, by another word", { live: vm("stopped"), word: "off" }, true],
  ["in another phase", { live: vm("running"), word: "off" }, false],
  ["in this phase, by the word from before", { live: vm("stopped"), word: "on" }, false],
  ["in this phase, without a word", { live: vm("stopped"), word: undefined }, true],
])("a VM shows itself stopped %s", (_, look, shows) => {
  expect(showsItself("stopped", "on")(look)).toBe(shows);
});

it.each([
  ["on", false, true],
  ["on", true, false],
  ["verify", false, false],
  ["verify", true, false],
])("a VM that shows %s after a resize, told apart: %s, is as before: %s", (word, isTold, same) => {
  expect(keepsItsWord({ word }, "on", isTold)).toBe(same);
});

it.each([
  ["not shown", undefined, false],
  ["shown without it", vm("running"), false],
  ["on its way without it", vm("changing", { floatingIp: "203.0.113.1" }), false],
  ["shown with it", vm("running", { privateIp: "10.0.0.1" }), true],
  ["on its way with it", vm("changing", { privateIp: "10.0.0.1" }), true],
  ["failed", vm("failed"), true],
])("a VM %s is waited for no more, for its private address: %s", (_, live, isSettled) => {
  expect(settledFor(live, "privateIp") !== undefined).toBe(isSettled);
});

const job = { id: "7", place: "/jobid", noun: "job" };
const listed = (route: object): Dialect => ({
  ...builtInDialect,
  operations: { ...builtInDialect.operations, "vm.list": { method: "GET", path: "/rpc", items: [""], ...route } },
});

it.each<readonly [what: string, dialect: Dialect, isNumber: boolean, asked: readonly object[]]>([
  ["by a path alone: in no such way", listed({ path: "/vms" }), false, []],
  [
    "by a query: by the same with the job's id",
    listed({ query: { command: "listVm" } }),
    false,
    [{ query: { command: "listJob", jobid: "{id}" } }, { query: { command: "listJobs", jobid: "{id}" } }],
  ],
  [
    "by a body: in the body",
    listed({ method: "POST", body: { kind: "vm" } }),
    false,
    [{ body: { kind: "job", jobid: "{id}" } }, { body: { kind: "jobs", jobid: "{id}" } }],
  ],
  [
    "by a body, of a job whose id is a number: as a number",
    listed({ method: "POST", body: { kind: "vm" } }),
    true,
    [{ body: { kind: "job", jobid: "{id:number}" } }, { body: { kind: "jobs", jobid: "{id:number}" } }],
  ],
])("where lists are asked for %s", (_, dialect, isNumber, asked) => {
  expect(asListsAre({ ...job, isNumber }, dialect)).toMatchObject(asked);
});

const recordedVm = (id: string): RecordedVm => ({
  kind: "vm",
  address: `vm.${id}`,
  id,
  name: id,
  preventDestroy: false,
  onDelete: { snapshot: false, preservedVolumes: "retain" },
});
const accepted = (value: unknown): Outcome<unknown> => ({ status: "accepted", value });
const rejected = (condition: "forbidden" | "not_found", hint?: string): Outcome<unknown> => ({
  status: "rejected",
  condition,
  message: condition,
  hint,
});

interface Reads {
  readonly listed?: Outcome<unknown>;
  /** What a read of each VM is answered with. */
  readonly reads?: Readonly<Record<string, Outcome<unknown>>>;
  readonly flavors?: Outcome<unknown>;
}

/** A service of VMs alone, with the reads that the row says. */
function readerOf({ listed, reads, flavors }: Reads): ServiceReader {
  const can = {
    canFindCreated: (kind: string) => kind === "vm" && listed !== undefined,
    readsOne: (kind: string) => kind === "vm" && reads !== undefined,
    listsFlavors: flavors !== undefined,
    listsImages: false,
    listsRegions: false,
  };
  const calls = {
    listVms: async () => listed,
    getVm: async (id: string) => reads?.[id] ?? rejected("not_found"),
    listFlavors: async () => flavors,
  };
  return { can, ...calls } as unknown as ServiceReader;
}

const two = accepted([{ id: "a" }, { id: "b" }]);
it.each<readonly [what: string, reads: Reads, known: readonly string[], misfits: readonly string[]]>([
  ["nothing of what is as the state knows it", { listed: two, reads: { a: accepted({}) } }, ["a", "b"], []],
  [
    "a list that lacks what the state knows",
    { listed: accepted([]) },
    ["a"],
    ["operations.vm.list: the state knows vm a, and vm.list does not show it"],
  ],
  [
    "a list that cannot be read, once",
    { listed: rejected("forbidden") },
    ["a"],
    ["operations.vm.list: vm.list cannot be read: forbidden"],
  ],
  [
    "a read of what the state knows",
    { listed: two, reads: { b: accepted({}) } },
    ["a", "b"],
    ["operations.vm.get: vm.get cannot be read: not_found"],
  ],
  [
    "a read of the first that is listed, where the state knows none",
    { listed: two, reads: {} },
    [],
    ["operations.vm.get: vm.get cannot be read: not_found"],
  ],
  [
    "nothing of what is listed and somebody else's",
    { listed: two, reads: { a: rejected("forbidden"), b: accepted({}) } },
    [],
    [],
  ],
  [
    "a read of what is its own and forbidden",
    { listed: two, reads: { a: rejected("forbidden") } },
    ["a"],
    ["operations.vm.get: vm.get cannot be read: forbidden"],
  ],
  ["nothing where nothing can be read", {}, ["a"], []],
  [
    "a catalogue that cannot be read",
    { flavors: rejected("forbidden") },
    [],
    ["operations.flavor.list: flavor.list cannot be read: forbidden"],
  ],
  [
    "the line that a message names",
    { listed: rejected("forbidden", "correct it in the dialect (my.yaml): records.vm.id: [/uid]") },
    [],
    ["records.vm.id: vm.list cannot be read: forbidden"],
  ],
  [
    "the operation, where the line is no place of it",
    { listed: rejected("forbidden", "in the dialect: envelope: /x") },
    [],
    ["operations.vm.list: vm.list cannot be read: forbidden"],
  ],
])("a read by the dialect complains of %s", async (_, reads, known, misfits) => {
  const found = await readByDialect(readerOf(reads), known.map(recordedVm), {});
  expect(found.map(({ path, summary }) => `${path.join(".")}: ${summary}`)).toEqual(misfits);
});

it.each<readonly [what: string, hosts: readonly (string | null | undefined)[], paths: readonly string[]]>([
  ["where nobody knows what hangs on what", [undefined, undefined], ["operations.attachments"]],
  ["of nothing where one is known to hang", [undefined, "m-1"], []],
  ["of nothing where one is known to be off", [undefined, null], []],
  ["of nothing where there is no volume", [], []],
])("a list of attachments is complained of %s", async (_, hosts, paths) => {
  const listVolumes = async () => accepted(hosts.map((attachedTo, index) => ({ id: `v-${index}`, attachedTo })));
  const can = { canFindCreated: (kind: string) => kind === "volume", readsOne: () => false };
  const attachments = { method: "GET", path: "/attachments", items: [""], volume: ["/volume"], vm: ["/vm"] } as const;
  const found = await readByDialect({ can, listVolumes } as unknown as ServiceReader, [], { attachments });
  expect(found.map(({ path }) => path.join("."))).toEqual(paths);
  // A volume on several VMs is shown like one of which nothing is known.
  for (const { summary, fix } of found)
    expect([summary, fix].join()).toMatch(/^(?!.*cannot be read).*which one VM.*several VMs/);
});

it("an operation that is not where it is said to be is told of once", async () => {
  const report = { ...nothing, operations: [found({ verdict: "missing" })] };
  const misfits = await everyMisfit(report, readerOf({ listed: rejected("not_found") }), [], {});
  expect(misfits.map(({ summary }) => summary)).toEqual(["vm.list is not at /api/v1/vm/list"]);
});

it("nobody is told to correct what the contract documents", async () => {
  const read = { ...readerOf({}), listVolumes: async () => two, getVolume: async () => rejected("not_found") };
  const can = { canFindCreated: (kind: string) => kind === "volume", readsOne: (kind: string) => kind === "volume" };
  const [misfit] = await readByDialect({ ...read, can } as unknown as ServiceReader, [], {});
  expect(misfit?.fix).toContain("GET /api/v1/volume/{id}");
});

it.each<readonly [what: string, paths: readonly string[], bases: readonly string[]]>([
  ["nothing", [], ["/api/v1"]],
  ["the usual folder", ["/api/v1/vm/list"], ["/api/v1", "/api/v1/vm", "/api"]],
  ["folders of its own, the longest first", ["/v2/servers/detail"], ["/api/v1", "/v2/servers", "/v2"]],
  ["nothing below what is filled in", ["/zones/{region}/disks/{id}/resize"], ["/api/v1", "/zones"]],
  ["each folder once", ["/v2/disks", "/v2/servers"], ["/api/v1", "/v2"]],
])("of paths of %s, a job is looked for in folders", (_, paths, bases) => {
  const operations = Object.fromEntries(
    paths.map((path, index) => [index === 0 ? "vm.list" : "volume.list", { method: "GET", path, items: [""] }]),
  );
  const none = Object.fromEntries(Object.keys(builtInDialect.operations).map((operation) => [operation, null]));
  expect(basesOf({ operations: { ...none, ...operations } as Dialect["operations"] })).toEqual(bases);
});

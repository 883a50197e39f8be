/** What a file takes from elsewhere, fetched for a plan: outputs of other states, and things by their id or name (engine/externals.ts). */
import { describe, expect, it } from "vitest";
import { abilitiesOf } from "../../reconciler/core/model/abilities";
import type { Desired } from "../../reconciler/core/model/desired";
import { closedWith, nothingDesired } from "../../reconciler/core/model/desired";
import type { External, LookupRequest } from "../../reconciler/core/model/external";
import type { Operation } from "../../reconciler/core/model/operation";
import { accepted } from "../../reconciler/core/model/outcome";
import { emptyState } from "../../reconciler/core/state/fold";
import { writeSnapshot } from "../../reconciler/core/state/text";
import { closeDesired, fetchExternal } from "../../reconciler/engine/externals";
import { Refused } from "../../reconciler/refused";
import type { ServiceReader } from "../../reconciler/service/client";
import { createMemoryStore } from "../support/virtual-world";

const source = { file: "reconcile.yaml", line: 7 };
const refused = { status: "rejected", condition: "forbidden", message: "not for you" } as const;
const gone = { status: "rejected", condition: "not_found", message: "no such", httpStatus: 404 } as const;
const vms = [
  { kind: "vm", id: "v-1", name: "Web", phase: "running", privateIp: "10.0.0.5", floatingIp: "9.9.9.9" },
  { kind: "vm", id: "v-2", name: "twice", phase: "running" },
  { kind: "vm", id: "v-3", name: "twice", phase: "running" },
];

interface Given {
  readonly without?: readonly Operation[];
  readonly client?: object;
}
const clientOf = ({ without = [], client }: Given, asked: string[] = []): ServiceReader =>
  ({
    can: abilitiesOf((operation) => !without.includes(operation)),
    listVms: async () => {
      asked.push("vms");
      return accepted(vms);
    },
    listVolumes: async () =>
      accepted([
        { kind: "volume", id: "d-1", name: "data", failed: false, sizeGb: 5 },
        { kind: "volume", id: "d-2", failed: false },
      ]),
    listGroups: async () => accepted([{ kind: "group", id: "g-1", name: "front" }]),
    listImages: async () => accepted([{ id: "i-1", name: "ubuntu" }]),
    listFlavors: async () => accepted([{ id: "f-1", name: "m1.small" }]),
    getVm: async (id: string) => accepted({ kind: "vm", id, name: "by-its-id", phase: "running" }),
    getVolume: async () => gone,
    ...client,
  }) as unknown as ServiceReader;

const lookup = (kind: LookupRequest["kind"], by: "id" | "name", wanted: string): LookupRequest => ({
  name: "it",
  kind,
  by,
  wanted,
  source,
});
const noStore = (): never => {
  throw new Error("no state is read here");
};

describe("a lookup", () => {
  const rows: readonly (readonly [what: string, lookup: LookupRequest, found: object | string, given?: Given])[] = [
    [
      "of a VM by its name, in either case",
      lookup("vm", "name", "web"),
      { id: "v-1", name: "Web", private_ip: "10.0.0.5", floating_ip: "9.9.9.9" },
    ],
    ["of a VM by its id", lookup("vm", "id", "v-2"), { id: "v-2", name: "twice" }],
    ["of a volume, with its size as text", lookup("volume", "name", "data"), { id: "d-1", name: "data", size: "5" }],
    ["of a volume of which neither name nor size shows", lookup("volume", "id", "d-2"), { id: "d-2" }],
    ["of a group", lookup("group", "name", "front"), { id: "g-1", name: "front" }],
    ["of an image", lookup("image", "name", "ubuntu"), { id: "i-1", name: "ubuntu" }],
    ["of a flavor", lookup("flavor", "id", "f-1"), { id: "f-1", name: "m1.small" }],
    [
      "of two that have the name",
      lookup("vm", "name", "twice"),
      'lookups.it: 2 vms are named twice: v-2, v-3 — say which one it is: { vm: { id: "…" } }',
    ],
    [
      "of none, and one that is near",
      lookup("vm", "name", "wep"),
      "lookups.it: the service shows no vm named wep — did you mean Web?",
    ],
    [
      "of none by its id",
      lookup("vm", "id", "nowhere-to-be-seen"),
      "lookups.it: the service shows no vm nowhere-to-be-seen — correct it, or make it first",
    ],
    [
      "that is refused",
      lookup("vm", "id", "v-1"),
      "lookups.it could not be looked up: not for you — use a credential that may read this project",
      { client: { listVms: async () => refused } },
    ],
    [
      "of which the service is away",
      lookup("vm", "id", "v-1"),
      "lookups.it could not be looked up: 503 — check the base URL and the network with: reconcile doctor",
      { client: { listVms: async () => ({ status: "unavailable", reason: "503" }) } },
    ],
    [
      "by an id where no list shows it",
      lookup("vm", "id", "v-9"),
      { id: "v-9", name: "by-its-id" },
      { without: ["vm.list"] },
    ],
    [
      "by an id where no list shows it and it is gone",
      lookup("volume", "id", "d-9"),
      "lookups.it: the service shows no volume d-9 — correct it, or make it first",
      { without: ["volume.list"] },
    ],
    [
      "by a name where there is no list",
      lookup("vm", "name", "web"),
      "lookups.it cannot be looked up: this service has no list of vms — look it up by its id, or name the list in the dialect",
      { without: ["vm.list"] },
    ],
    [
      "by an id where there is neither a list nor a read",
      lookup("group", "id", "g-1"),
      "lookups.it cannot be looked up: this service has no list of groups — name the list in the dialect",
      { without: ["group.list", "group.get"] },
    ],
    [
      "of an image where there is no list",
      lookup("image", "id", "i-1"),
      "lookups.it cannot be looked up: this service has no list of images — name the list in the dialect",
      { without: ["image.list"] },
    ],
    [
      "of a flavor where there is no list",
      lookup("flavor", "name", "x"),
      "lookups.it cannot be looked up: this service has no list of flavors — look it up by its id, or name the list in the dialect",
      { without: ["flavor.list"] },
    ],
  ];
  it.each(rows.map(([what, ...row]) => [what, row] as const))("%s", async (_, [request, found, given = {}]) => {
    const { values, diagnostics } = await fetchExternal({ reads: [], lookups: [request] }, clientOf(given), noStore);
    if (typeof found !== "string") expect([values, diagnostics]).toEqual([{ reads: {}, lookups: { it: found } }, []]);
    else {
      expect(values.lookups).toEqual({});
      expect(
        diagnostics.map(({ severity, code, summary, fix, source: at }) => [severity, code, `${summary} — ${fix}`, at]),
      ).toEqual([["error", "config/lookup-failed", found, source]]);
    }
  });

  it("of several things of one kind reads their list once", async () => {
    const asked: string[] = [];
    const both = [lookup("vm", "id", "v-1"), { ...lookup("vm", "id", "v-2"), name: "other" }];
    const { values } = await fetchExternal({ reads: [], lookups: both }, clientOf({}, asked), noStore);
    expect([asked, Object.keys(values.lookups)]).toEqual([["vms"], ["it", "other"]]);
  });
});

const snapshot = writeSnapshot({
  ...emptyState("elsewhere"),
  outputs: { ip: { value: "10.0.0.5" }, password: { value: "x", sensitive: true } },
});
const read = { name: "net", state: "../net/state", source };

describe("the outputs of another project", () => {
  const fetched = (open: () => ReturnType<typeof createMemoryStore>) =>
    fetchExternal({ reads: [read], lookups: [] }, clientOf({}), open);
  it("are read, but for those that are sensitive", async () => {
    expect(await fetched(() => createMemoryStore({ snapshot, journal: [] }))).toEqual({
      values: { reads: { net: { ip: "10.0.0.5" } }, lookups: {} },
      diagnostics: [],
    });
  });
  it("of a state without any are none", async () => {
    expect(
      (await fetched(() => createMemoryStore({ snapshot: writeSnapshot(emptyState("e")), journal: [] }))).values.reads,
    ).toEqual({ net: {} });
  });
  it("of a project that was never applied are an error", async () => {
    const { values, diagnostics } = await fetched(() => createMemoryStore());
    expect([values.reads, diagnostics.map(({ code, summary, fix }) => [code, summary, fix])]).toEqual([
      {},
      [
        [
          "config/read-failed",
          "there is no state at ../net/state, which reads.net names",
          "apply that project first, or correct the place",
        ],
      ],
    ]);
  });
  it.each<readonly [what: string, error: unknown, summary: string, fix: string]>([
    [
      "that cannot be opened",
      new Error("no rights"),
      "the outputs that net reads could not be read: no rights",
      "check reads.net.state, and that this machine may read it",
    ],
    [
      "of which something odd is thrown",
      "odd",
      "the outputs that net reads could not be read: odd",
      "check reads.net.state, and that this machine may read it",
    ],
    [
      "that is gone, with its own way on",
      new Refused(
        [{ severity: "error", code: "state/gone", summary: "gone", fix: "bring it back" }],
        ({ summary }) => summary,
      ),
      "the outputs that net reads could not be read: gone",
      "bring it back",
    ],
    [
      "whose own fix would change the own state",
      new Refused(
        [{ severity: "error", code: "state/locked" as never, summary: "locked", fix: "unlock it" }],
        ({ summary }) => summary,
      ),
      "the outputs that net reads could not be read: locked",
      "check reads.net.state, and that this machine may read it",
    ],
  ])("of a state %s are an error", async (_, error, summary, fix) => {
    const { diagnostics } = await fetched(() => {
      throw error;
    });
    expect(diagnostics).toEqual([{ severity: "error", code: "config/read-failed", summary, fix, source }]);
  });
});

describe("a desired state that takes something from elsewhere", () => {
  const external = (values?: External["values"], wanted = "web"): External => ({
    reads: [],
    lookups: [lookup("vm", "name", wanted)],
    ...(values === undefined ? {} : { values }),
  });
  const desiredWith = (one: External | undefined): Desired =>
    ({ ...nothingDesired, ...(one === undefined ? {} : { external: one }) }) as Desired;
  const found = { id: "v-1", name: "Web", private_ip: "10.0.0.5", floating_ip: "9.9.9.9" };
  const elsewhere = { client: clientOf({}), open: noStore };
  const problemsOf = async (...args: Parameters<typeof closeDesired>) => {
    const closed = await closeDesired(...args);
    return "problems" in closed ? closed.problems.map(({ code, summary }) => `${code}: ${summary}`) : closed.desired;
  };

  it("is closed as it is where it takes nothing", async () => {
    const desired = desiredWith(undefined);
    expect(
      await problemsOf({ desired }, { client: clientOf({ client: { listVms: noStore } }), open: noStore }),
    ).toEqual(desired);
  });
  it("is read again with what was found", async () => {
    const again = closedWith(nothingDesired, {});
    const given: unknown[] = [];
    const readAgain = (values: unknown) => {
      given.push(values);
      return again;
    };
    const closed = await closeDesired({ desired: desiredWith(external()), readAgain }, elsewhere);
    expect([closed, given]).toEqual([{ desired: again }, [{ reads: {}, lookups: { it: found } }]]);
  });
  it("is refused where something is not found, and read no more", async () => {
    expect(
      await problemsOf({ desired: desiredWith(external(undefined, "wep")), readAgain: noStore }, elsewhere),
    ).toEqual(["config/lookup-failed: lookups.it: the service shows no vm named wep"]);
  });
  it("of a plan that was saved with the same values is closed", async () => {
    const desired = desiredWith(external({ reads: {}, lookups: { it: found } }));
    expect(await problemsOf({ desired }, elsewhere)).toEqual(desired);
  });
  it.each<readonly [what: string, values: NonNullable<External["values"]>, problem: string]>([
    [
      "another value",
      { reads: {}, lookups: { it: { ...found, private_ip: "10.0.0.6" } } },
      '${lookup.it.private_ip} was "10.0.0.6", and is "10.0.0.5"',
    ],
    [
      "a value that is gone",
      { reads: { net: { ip: "1.1.1.1" } }, lookups: { it: found } },
      '${read.net.ip} was "1.1.1.1", and is gone',
    ],
  ])("of a plan that was saved with %s is stale", async (_, values, problem) => {
    expect(await problemsOf({ desired: desiredWith(external(values)) }, elsewhere)).toEqual([
      `plan/stale: this plan is stale: ${problem}`,
    ]);
  });
  it("may be taken away without what it wishes for, where what it reads is gone", async () => {
    const open: Desired = { ...desiredWith(external(undefined, "wep")), outputs: [] } as never;
    const outcome = await problemsOf({ desired: open }, elsewhere, { destroy: true });
    expect(outcome).toMatchObject({ resources: [], imports: [], moved: [], removed: [] });
    expect(outcome).not.toHaveProperty("external");
    expect(await problemsOf({ desired: open }, elsewhere, { destroy: false })).toHaveLength(1);
    const saved = desiredWith(external({ reads: {}, lookups: {} }, "wep"));
    expect(await problemsOf({ desired: saved }, elsewhere, { destroy: true })).toHaveLength(1);
  });
  it("may be taken away where what it reads is there and hands out something else", async () => {
    const files = (problem: Error) => ({
      desired: desiredWith(external()),
      readAgain: () => {
        throw problem;
      },
    });
    const missing = files(new Refused([{ severity: "error", code: "config/unknown-reference", summary: "no output" }]));
    expect(await problemsOf(missing, elsewhere, { destroy: true })).toMatchObject({ resources: [] });
    await expect(problemsOf(missing, elsewhere, { destroy: false })).rejects.toThrow("no output");
    await expect(problemsOf(files(new Error("a bug")), elsewhere, { destroy: true })).rejects.toThrow("a bug");
  });
});

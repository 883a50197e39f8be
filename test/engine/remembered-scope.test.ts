/**
 * What a run writes down of where it was, and when the state has it already (engine/scope.ts); which volume is read as a
 * witness of it (engine/seen-again.ts).
 */
import { describe, expect, it } from "vitest";
import { noEnvironment } from "../../reconciler/core/model/evidence";
import { type Live, notSeen } from "../../reconciler/core/model/live";
import { accepted } from "../../reconciler/core/model/outcome";
import type { RecordedVm } from "../../reconciler/core/model/recorded";
import { emptyState } from "../../reconciler/core/state/fold";
import type { LooksOf } from "../../reconciler/engine/look";
import { scopeToRemember } from "../../reconciler/engine/scope";
import { witnessesRead } from "../../reconciler/engine/seen-again";
import type { ServiceReader } from "../../reconciler/service/client";

const origin = "https://cloud.example";

it.each<
  readonly [
    what: string,
    before: { readonly environment?: string } | undefined,
    chosen: string | undefined,
    remembered: { readonly environment?: string } | undefined,
  ]
>([
  ["the service of a first run", undefined, undefined, {}],
  ["the environment that was chosen", undefined, "prod", { environment: "prod" }],
  ["no environment where a file has none", undefined, noEnvironment, {}],
  ["nothing that it remembers", {}, undefined, undefined],
  ["nothing that it remembers, of an environment", { environment: "prod" }, "prod", undefined],
  ["the environment, once one was chosen", {}, "prod", { environment: "prod" }],
])("a run remembers %s", (_, before, chosen, remembered) => {
  const scope = before === undefined ? undefined : { origin, ...before };
  const now = { origin, ...(chosen === undefined ? {} : { environment: chosen }) };
  const found = scopeToRemember(
    { ...emptyState("here"), ...(scope === undefined ? {} : { scope }) },
    now,
    notSeen,
    false,
  );
  expect(found).toEqual(remembered === undefined ? undefined : { origin, ...remembered });
});

describe("the strangers that a run remembers", () => {
  const show = (
    kind: "volume" | "group",
    ...values: readonly { readonly id: string; readonly attachedTo?: string }[]
  ) => ({
    [kind]: {
      ...notSeen.of[kind],
      byId: new Map(values.map((value) => [value.id, { seen: "yes", value: { kind, name: value.id, ...value } }])),
    },
  });
  const shown = (...of: readonly object[]): Live =>
    Object.assign({}, notSeen, { of: Object.assign({}, notSeen.of, ...of) });
  const theirs = show("group", { id: "theirs" });
  const sees = (...ids: readonly string[]) => ({ origin, sees: ids });

  it.each<
    readonly [
      what: string,
      live: Live,
      taken: readonly { kind: "vm" | "volume"; id: string }[],
      scope: object | undefined,
      remembered: object,
    ]
  >([
    [
      "are what it does not take over",
      shown(show("volume", { id: "a" }, { id: "b" })),
      [{ kind: "volume", id: "a" }],
      undefined,
      sees("volume:b"),
    ],
    [
      "are nothing that hangs on its own",
      shown(show("volume", { id: "a", attachedTo: "web" })),
      [{ kind: "vm", id: "web" }],
      undefined,
      { origin },
    ],
    [
      "are no strangers any more once they are taken over",
      shown(show("volume", { id: "a" })),
      [{ kind: "volume", id: "a" }],
      sees("volume:a"),
      { origin },
    ],
    [
      "are others, once all are taken over",
      shown(show("volume", { id: "a" }), theirs),
      [{ kind: "volume", id: "a" }],
      sees("volume:a"),
      sees("group:theirs"),
    ],
    [
      "are those that are left",
      shown(show("volume", { id: "a" }), theirs),
      [{ kind: "volume", id: "a" }],
      sees("volume:a", "group:theirs"),
      sees("group:theirs"),
    ],
  ])("%s", (_, live, taken, scope, remembered) => {
    const state = { ...emptyState("here"), ...(scope === undefined ? {} : { scope: { origin, ...scope } }) };
    expect(scopeToRemember(state, { origin }, live, false, false, taken)).toEqual(remembered);
  });
});

it.each<
  readonly [
    what: string,
    world: {
      readonly vms?: readonly string[];
      readonly orphans?: readonly string[];
      readonly shown: readonly string[];
    },
    asked: readonly string[],
    seen: readonly string[],
    lost: readonly string[],
  ]
>([
  ["the data volume of a VM that is absent", { vms: ["a"], shown: ["d-a"] }, ["d-a"], ["volume:d-a"], []],
  [
    "the next one where it is gone too",
    { vms: ["a", "b"], shown: ["d-b"] },
    ["d-a", "d-b"],
    ["volume:d-b"],
    ["volume:d-a"],
  ],
  ["an orphan after those", { vms: ["a"], orphans: ["o"], shown: ["o"] }, ["d-a", "o"], ["volume:o"], ["volume:d-a"]],
  [
    "three and no more",
    { vms: ["a", "b", "c", "e"], shown: ["d-e"] },
    ["d-a", "d-b", "d-c"],
    [],
    ["volume:d-a", "volume:d-b", "volume:d-c"],
  ],
  ["none where nothing is absent", { orphans: ["o"], shown: ["o"] }, [], [], []],
])("read as a witness: %s", async (_, { vms = [], orphans = [], shown }, asked, seen, lost) => {
  const recorded = vms.map(
    (id): RecordedVm => ({
      kind: "vm",
      address: `vm.${id}`,
      id,
      name: id,
      dataVolumeId: `d-${id}`,
      preventDestroy: false,
      onDelete: { snapshot: false, preservedVolumes: "retain" },
    }),
  );
  const state = {
    ...emptyState("here"),
    resources: new Map(recorded.map((record) => [record.address, record])),
    orphans: new Map(orphans.map((id) => [`volume:${id}`, { kind: "volume" as const, id, name: id, reason: "left" }])),
  };
  const absent = { seen: "absent", because: "it is not listed" } as const;
  const looks = { vm: new Map(vms.map((id) => [id, absent])), volume: new Map(), group: new Map() };
  const reads: string[] = [];
  const getVolume = async (id: string) => {
    reads.push(id);
    return shown.includes(id) ? accepted({ id }) : { status: "rejected", condition: "not_found", message: "no" };
  };
  const client = { getVolume } as unknown as ServiceReader;
  const found = await witnessesRead(client, state, looks as unknown as LooksOf, false, undefined, {});
  expect([reads, [...found.seen], found.lost]).toEqual([asked, seen, lost]);
});

/** Two states for tests of moves: one with a bit of everything, and one that takes it over. */
import type { RecordedResource, State } from "../../reconciler/core/model/recorded";
import { emptyState, type FoldedState } from "../../reconciler/core/state/fold";
import { readState, writeSnapshot } from "../../reconciler/core/state/text";
import type { StateSession, StateStore } from "../../reconciler/store/store";

const at = "2026-05-01T10:00:00.000Z";

const vm = (key: string): RecordedResource => ({
  kind: "vm",
  address: `vm.${key}`,
  id: `id-${key}`,
  name: key,
  preventDestroy: key === "db",
  onDelete: { snapshot: false, preservedVolumes: "retain" },
});

/** Records, an open create, an orphan that was one of them, protection, sightings, outputs and history. */
export function givingState(): FoldedState {
  const records = ["db", "cache", "web"].map(vm);
  const gone = { ...vm("old"), address: "vm.old" };
  const { id: _, ...made } = vm("late");
  return {
    ...emptyState("lineage-giving"),
    serial: 40,
    epoch: 2,
    resources: new Map(records.map((record) => [record.address, record])),
    intents: new Map([
      [
        "vm.late",
        {
          step: "vm.late/create",
          address: "vm.late",
          operation: "vm.create",
          name: "late",
          sentAt: at,
          idsBefore: ["x"],
          record: made,
        },
      ],
    ]),
    orphans: new Map([
      ["vm:id-old", { kind: "vm", id: "id-old", name: "old", reason: "it vanished", missingSince: at, record: gone }],
      ["volume:left", { kind: "volume", id: "left", name: "left", reason: "its VM was deleted" }],
    ]),
    scope: { origin: "https://cloud.example", project: "acme" },
    outputs: { db: { value: "10.0.0.5" } },
    seen: { all: at, each: { "vm.db": "2026-05-02T10:00:00.000Z" } },
    runs: [
      { id: "run-1", number: 3, at, open: {}, before: { "vm.db": null, "vm.web": null } },
      { id: "run-2", number: 20, at: "2026-05-03T10:00:00.000Z", open: {}, before: { "vm.db": vm("db") } },
    ],
  };
}

export const takingState = (): FoldedState => ({
  ...emptyState("lineage-taking"),
  serial: 7,
  epoch: 1,
  resources: new Map([["vm.other", vm("other")].map((one) => one) as [string, RecordedResource]]),
  scope: { origin: "https://cloud.example", project: "acme" },
  runs: [{ id: "run-a", number: 5, at: "2026-05-02T00:00:00.000Z", open: {}, before: { "vm.other": null } }],
});

export async function stateIn(store: StateStore): Promise<FoldedState> {
  const read = readState(await store.read(), "none");
  if (!read.ok) throw new Error(read.problem);
  return read.state;
}

/** What two states of one content have in common: neither how often they were written nor by how many. */
export const contentOf = (state: State): unknown => {
  const { snapshot } = { snapshot: writeSnapshot({ ...emptyState(""), ...state, serial: 0, epoch: 0, journalled: 0 }) };
  return JSON.parse(snapshot) as unknown;
};

export class Died extends Error {}

/** Counts the durable writes of stores, and dies at one of them: from then on nothing is written or released. */
export function mortality(dieAt?: { readonly nth: number; readonly when: "before" | "after" }) {
  let count = 0;
  let dead = false;
  const write = async (act: () => Promise<void>): Promise<void> => {
    if (dead) throw new Died();
    const isIt = ++count === dieAt?.nth;
    if (isIt && dieAt?.when === "before") dead = true;
    if (dead) throw new Died();
    await act();
    if (isIt) dead = true;
    if (dead) throw new Died();
  };
  return {
    writes: () => count,
    mortal: (store: StateStore): StateStore => ({
      ...store,
      async lock(holder, signal) {
        if (dead) throw new Died();
        const session = await store.lock(holder, signal);
        const dying: StateSession = {
          ...session,
          append: (lines) => write(() => session.append(lines)),
          replace: (snapshot) => write(() => session.replace(snapshot)),
          release: async () => (dead ? undefined : session.release()),
        };
        return dying;
      },
    }),
  };
}

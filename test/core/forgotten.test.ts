import { expect, it } from "vitest";
import type { Intent, Orphan, RecordedVm } from "../../reconciler/core/model/recorded";
import { emptyState, type FoldedState } from "../../reconciler/core/state/fold";
import { forgottenBy } from "../../reconciler/core/state/forgotten";

const vm = (key: string, over: Partial<RecordedVm> = {}): RecordedVm => ({
  kind: "vm",
  address: `vm.${key}`,
  id: `id-${key}`,
  name: key,
  preventDestroy: false,
  onDelete: { snapshot: false, preservedVolumes: "retain" },
  ...over,
});
const intent: Intent = {
  step: "vm.b/create",
  address: "vm.b",
  operation: "vm.create",
  name: "b",
  sentAt: "2026-01-02T03:04:05Z",
  idsBefore: [],
};
const orphan: Orphan = { kind: "volume", id: "v-1", name: "data", reason: "kept" };
const state = (parts: {
  vms?: readonly RecordedVm[];
  intents?: readonly Intent[];
  orphans?: readonly Orphan[];
  damaged?: readonly string[];
}): FoldedState => ({
  ...emptyState("l"),
  resources: new Map((parts.vms ?? []).map((one) => [one.address, one])),
  intents: new Map((parts.intents ?? []).map((one) => [one.address, one])),
  orphans: new Map((parts.orphans ?? []).map((one) => [`${one.kind}:${one.id}`, one])),
  quarantined: (parts.damaged ?? []).map((address) => ({ address, text: "", problem: "p" })),
});

it.each<[string, FoldedState, FoldedState, readonly string[]]>([
  ["nothing", state({ vms: [vm("a")] }), state({ vms: [vm("a"), vm("b")] }), []],
  ["an address", state({ vms: [vm("a")] }), state({}), ["vm.a (id-a)"]],
  [
    "an id behind the same address",
    state({ vms: [vm("a")] }),
    state({ vms: [vm("a", { id: "id-2" })] }),
    ["vm.a (id-a)"],
  ],
  ["nothing when it moved", state({ vms: [vm("a")] }), state({ vms: [vm("b", { id: "id-a" })] }), []],
  [
    "nothing when it became an orphan",
    state({ vms: [vm("a")] }),
    state({ orphans: [{ ...orphan, kind: "vm", id: "id-a" }] }),
    [],
  ],
  ["a data volume", state({ vms: [vm("a", { dataVolumeId: "d-1" })] }), state({ vms: [vm("a")] }), ["vm.a (d-1)"]],
  ["a record without an id", state({ vms: [vm("a", { id: undefined })] }), state({}), ["vm.a"]],
  [
    "a create under way",
    state({ intents: [intent] }),
    state({}),
    ["the vm.create of vm.b that was sent at 2026-01-02T03:04:05Z"],
  ],
  ["nothing when the create is settled", state({ intents: [intent] }), state({ vms: [vm("b")] }), []],
  [
    "a create that another one took the place of",
    state({ intents: [intent] }),
    state({ intents: [{ ...intent, sentAt: "2026-02-02T03:04:05Z" }] }),
    ["the vm.create of vm.b that was sent at 2026-01-02T03:04:05Z"],
  ],
  ["an orphan", state({ orphans: [orphan] }), state({}), ["the orphan volume data (v-1)"]],
  [
    "nothing when the orphan is managed",
    state({ orphans: [orphan] }),
    state({ vms: [vm("a", { dataVolumeId: "v-1" })] }),
    [],
  ],
  ["a damaged record", state({ damaged: ["vm.c"] }), state({}), ["the damaged record of vm.c"]],
  ["nothing when the damaged record was replaced", state({ damaged: ["vm.c"] }), state({ vms: [vm("c")] }), []],
])("a state that is put in place of another forgets %s", (_, present, next, forgotten) => {
  expect(forgottenBy(next, present)).toEqual(forgotten);
});

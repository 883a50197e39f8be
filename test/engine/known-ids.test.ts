/** Which resources a look asks for by their ids, and whose ids it takes for known (engine/refresh.ts). */
import { expect, it } from "vitest";
import { generateBlock } from "../../reconciler/cli/generate";
import { abilitiesOf } from "../../reconciler/core/model/abilities";
import { nothingDesired } from "../../reconciler/core/model/desired";
import type { Intent, Orphan, RecordedResource, RecordedVm } from "../../reconciler/core/model/recorded";
import { emptyState } from "../../reconciler/core/state/fold";
import { knownIds, refresh } from "../../reconciler/engine/refresh";
import { exportedParts } from "../../reconciler/one/program-text";
import { sidesOf } from "../../reconciler/report/sides";
import type { ServiceReader } from "../../reconciler/service/client";
import { desiredOf } from "../support/desired-file";

const vm = (key: string, over: Partial<RecordedVm> = {}): RecordedVm => ({
  kind: "vm",
  address: `vm.${key}`,
  id: `id-${key}`,
  name: key,
  preventDestroy: false,
  onDelete: { snapshot: false, preservedVolumes: "retain" },
  ...over,
});
const deletes = { onDelete: { snapshot: false, preservedVolumes: "delete" as const } };
const orphan = (over: Partial<Orphan>): Orphan => ({ kind: "volume", id: "left", name: "n", reason: "r", ...over });
const missing = { missingSince: "2026-01-02T03:04:05Z" };
const imported = 'imports: [{ to: vm.web, id: "given" }]\nvms: { web: {} }\n';

interface Row {
  readonly file?: string;
  readonly records?: readonly RecordedResource[];
  readonly orphans?: readonly Orphan[];
  /** Only these addresses are looked at. */
  readonly part?: readonly string[];
  readonly asked: readonly string[];
}

it.each<readonly [what: string, row: Row]>([
  ["what is recorded", { records: [vm("web"), vm("api")], asked: ["vm id-web", "vm id-api"] }],
  ["nothing of what has no id yet", { records: [vm("web", { id: undefined })], asked: [] }],
  ["of a part what is in it", { records: [vm("web"), vm("api")], part: ["vm.api"], asked: ["vm id-api"] }],
  [
    "a data volume that goes with its VM",
    { records: [vm("web", { dataVolumeId: "d-1", ...deletes })], asked: ["vm id-web", "volume d-1"] },
  ],
  ["no data volume that stays", { records: [vm("web", { dataVolumeId: "d-1" })], asked: ["vm id-web"] }],
  [
    "a data volume that goes by what the file says now",
    {
      file: "vms: { web: { lifecycle: { preserved_volumes: delete } } }\n",
      records: [vm("web", { dataVolumeId: "d-1" })],
      asked: ["vm id-web", "volume d-1"],
    },
  ],
  [
    "no data volume that stays by what the file says now",
    {
      file: "vms: { web: { lifecycle: { preserved_volumes: retain } } }\n",
      records: [vm("web", { dataVolumeId: "d-1", ...deletes })],
      asked: ["vm id-web"],
    },
  ],
  [
    "a data volume that is to grow",
    {
      file: "vms: { web: { size: 20 } }\n",
      records: [vm("web", { dataVolumeId: "d-1", sizeGb: 10 })],
      asked: ["vm id-web", "volume d-1"],
    },
  ],
  [
    "no data volume that has its size",
    {
      file: "vms: { web: { size: 20 } }\n",
      records: [vm("web", { dataVolumeId: "d-1", sizeGb: 20 })],
      asked: ["vm id-web"],
    },
  ],
  [
    "a data volume that was taken off to grow",
    {
      records: [vm("web", { dataVolumeId: "d-1", dataVolumeDetached: true })],
      asked: ["vm id-web", "volume d-1"],
    },
  ],
  [
    "a data volume of which nobody knows whether it was put back",
    {
      records: [vm("web", { dataVolumeId: "d-1", dataVolumeMoving: "attaching" })],
      asked: ["vm id-web", "volume d-1"],
    },
  ],
  [
    "a VM that a run which was cut off has stopped, as somebody may have started it",
    {
      records: [
        {
          ...{ kind: "volume", address: "volume.data", id: "v-1", name: "data", stoppedVm: "theirs" },
          ...{ flush: { via: "stop" }, preventDestroy: false },
        },
      ],
      asked: ["vm theirs", "volume v-1"],
    },
  ],
  ["what the file takes over by its id", { file: imported, asked: ["vm given"] }],
  ["nothing more of what was taken over", { file: imported, records: [vm("web")], asked: ["vm id-web"] }],
  ["of a part no other import", { file: imported, part: ["vm.api"], asked: [] }],
  ["of a part its import", { file: imported, part: ["vm.web"], asked: ["vm given"] }],
  ["an orphan that is missing, for it may show again", { orphans: [orphan(missing)], asked: ["volume left"] }],
  ["no orphan that is there", { orphans: [orphan({})], asked: [] }],
  ["no image", { orphans: [orphan({ kind: "image", ...missing })], asked: [] }],
  [
    "of a part no record that is missing beside it",
    { orphans: [orphan({ kind: "vm", ...missing, record: vm("web") })], part: ["vm.api"], asked: [] },
  ],
  [
    "of a part its record that is missing",
    { orphans: [orphan({ kind: "vm", ...missing, record: vm("web") })], part: ["vm.web"], asked: ["vm left"] },
  ],
  [
    "of a part what is missing and has no record",
    { orphans: [orphan(missing)], part: ["vm.web"], asked: ["volume left"] },
  ],
])("a look asks for %s", (_, { file = "", records = [], orphans = [], part, asked }) => {
  const state = {
    ...emptyState("l"),
    resources: new Map(records.map((one) => [one.address, one])),
    orphans: new Map(orphans.map((one) => [`${one.kind}:${one.id}`, one])),
  };
  const around = part === undefined ? undefined : { addresses: new Set(part), named: new Set<never>() };
  const ids = knownIds(desiredOf(file), state, around);
  expect(Object.entries(ids).flatMap(([kind, all]) => [...all].map((id) => `${kind} ${id}`))).toEqual(asked);
});

it("takes a VM that shows for what an open create made, though a volume has its number", async () => {
  const lost = vm("api", { id: "7" });
  const data: RecordedResource = {
    kind: "volume",
    address: "volume.data",
    id: "106",
    name: "data",
    flush: { via: "ask" },
    preventDestroy: false,
  };
  const intent: Intent = {
    address: "vm.web",
    operation: "vm.create",
    name: "web",
    step: "vm.web/create",
    sentAt: "2026-01-02T03:04:05Z",
    idsBefore: [],
  };
  const state = {
    ...emptyState("0123456789abcdef"),
    resources: new Map<string, RecordedResource>([lost, data].map((one) => [one.address, one])),
    intents: new Map([[intent.address, intent]]),
  };
  const accepted = async (value: unknown) => ({ status: "accepted" as const, value });
  const client = {
    can: abilitiesOf((operation) => ["vm.list", "vm.create", "volume.get"].includes(operation)),
    listVms: () => accepted([{ id: "106", name: "web", status: "ACTIVE", phase: "active", volumes: [] }]),
    getVolume: () => accepted({ id: "106", name: "data", sizeGb: 5 }),
  } as unknown as ServiceReader;
  const { live } = await refresh(client, desiredOf("vms: { web: {}, api: {} }"), state);
  expect(live.of.vm.listed).toBe(true);
});

it("names the VM on which a volume hangs, though other kinds have its number", async () => {
  const data: RecordedResource = {
    kind: "volume",
    address: "volume.data",
    id: "106",
    name: "data",
    attachedTo: "106",
    flush: { via: "ask" },
    preventDestroy: false,
  };
  const front: RecordedResource = {
    kind: "group",
    address: "group.front",
    id: "106",
    name: "front",
    rules: [],
    platformRules: [],
    preventDestroy: false,
  };
  const resources = new Map<string, RecordedResource>(
    [front, vm("web", { id: "106" }), data].map((one) => [one.address, one]),
  );
  const state = { ...emptyState("0123456789abcdef"), resources };
  const attachment = exportedParts(nothingDesired, state).find(({ address }) => address === "volume.data/attachment");
  expect(attachment?.inputs["vmId"]).toEqual({ part: "vm.web" });
  const sides = sidesOf({ desired: [], records: resources, changes: [] });
  const row = sides.find(({ address }) => address === "volume.data")?.rows.find(({ field }) => field === "attach_to");
  expect(JSON.stringify(row)).toContain("vm.web");
  const client = {
    can: abilitiesOf((operation) => operation === "volume.get"),
    getVolume: async () => ({ status: "accepted", value: { id: "106", name: "data", sizeGb: 5, attachedTo: "106" } }),
  } as unknown as ServiceReader;
  const { block } = await generateBlock(client, "volume.data", "106", state);
  expect(JSON.stringify(block)).toContain('"web"');
});

it("names the groups that a rule of an imported one names by their keys, though other kinds have their ids", async () => {
  const front: RecordedResource = {
    ...{ kind: "group", address: "group.front", id: "106", name: "front" },
    ...{ rules: [], platformRules: [], preventDestroy: false },
  };
  const resources = new Map<string, RecordedResource>(
    [vm("web", { id: "106" }), front].map((one) => [one.address, one]),
  );
  const rule = { direction: "ingress", ethertype: "IPv4", protocol: "tcp", portMin: 22, portMax: 22 };
  const rules = ["106", "200", "300"].map((remoteGroupId, at) => ({ ...rule, id: `r-${at}`, remoteGroupId }));
  const client = {
    can: abilitiesOf((operation) => operation === "group.get"),
    getGroup: async () => ({ status: "accepted", value: { id: "200", name: "back" } }),
    listRules: async () => ({ status: "accepted", value: rules }),
  } as unknown as ServiceReader;
  const state = { ...emptyState("0123456789abcdef"), resources };
  const { block } = await generateBlock(client, "group.back", "200", state);
  const named = ["front", "back", { id: "300" }].map((group) => ({ remote_group: group }));
  expect(block?.fields["rules"]).toMatchObject(named);
});

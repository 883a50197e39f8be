/** How far a narrow plan looks around what it is made for (core/plan/part.ts). */
import { expect, it } from "vitest";
import type { Change } from "../../reconciler/core/diff/changes";
import type { RecordedGroup, RecordedResource, RecordedVm, RecordedVolume } from "../../reconciler/core/model/recorded";
import type { Rule } from "../../reconciler/core/model/rule";
import { partTargeted, widened } from "../../reconciler/core/plan/part";
import { emptyState } from "../../reconciler/core/state/fold";
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
const volume = (
  key: string,
  over: Pick<RecordedVolume, "attachedTo"> & { readonly name?: string } = {},
): RecordedVolume => ({
  kind: "volume",
  address: `volume.${key}`,
  id: `id-${key}`,
  name: key,
  flush: { via: "ask" },
  preventDestroy: false,
  ...over,
});
const group = (key: string): RecordedGroup => ({
  kind: "group",
  address: `group.${key}`,
  id: `id-${key}`,
  name: key,
  rules: [],
  platformRules: [],
  preventDestroy: false,
});

const towards = (id: string): Rule => ({
  ...{ direction: "ingress", ethertype: "IPv4", protocol: "tcp" },
  remote: { kind: "group", group: { id } },
});

const two = "vms: { web: {}, api: {} }\n";
const onA = `${two}volumes: { data: { size: 1, attach_to: web } }\n`;
const groups = `${two}groups: { front: { rules: [{ remote_group: back }] }, back: {}, lone: {} }\n`;
const named = [group("front"), group("back"), group("lone")];
const asserted = `${two}groups: { front: {}, back: {} }
reachability: [{ never: { from: internet, to: group.front } }]
`;
const shown = (attribute: string) => `${two}outputs: { of: "\${vm.api.${attribute}}" }\n`;

type Row = readonly [
  what: string,
  file: string,
  records: readonly RecordedResource[],
  targets: readonly string[],
  addresses: readonly string[],
  named: readonly string[],
];

it.each<Row>([
  ["itself", two, [vm("web"), vm("api")], ["vm.web"], ["vm.web"], []],
  ["its name, where it is new", two, [vm("api")], ["vm.web"], ["vm.web"], ["vm"]],
  [
    "its name, where it is called otherwise by now",
    two,
    [vm("web", { name: "was" }), vm("api")],
    ["vm.web"],
    ["vm.web"],
    ["vm"],
  ],
  ["no name, where the record has none", two, [vm("web", { name: undefined }), vm("api")], ["vm.web"], ["vm.web"], []],
  ["what was called so", two, [vm("web"), vm("api", { name: "WEB" })], ["vm.web"], ["vm.api", "vm.web"], []],
  [
    "no other kind of that name",
    two,
    [vm("web"), vm("api"), volume("extra", { name: "web" })],
    ["vm.web"],
    ["vm.web"],
    [],
  ],
  ["what hangs on it", onA, [vm("web"), vm("api"), volume("data")], ["vm.web"], ["vm.web", "volume.data"], []],
  ["not what hangs elsewhere", onA, [vm("web"), vm("api"), volume("data")], ["vm.api"], ["vm.api"], []],
  ["what it refers to", groups, [vm("web"), vm("api"), ...named], ["group.front"], ["group.back", "group.front"], []],
  ["what refers to it", groups, [vm("web"), vm("api"), ...named], ["group.back"], ["group.back", "group.front"], []],
  [
    "what has a rule towards it that nobody declares",
    groups,
    [vm("web"), vm("api"), ...named.slice(0, 2), { ...group("lone"), left: [towards("id-back")] }],
    ["group.back"],
    ["group.back", "group.front", "group.lone"],
    [],
  ],
  [
    "what hung on it by the record",
    two,
    [vm("web"), vm("api"), volume("extra", { attachedTo: "id-web" })],
    ["vm.web"],
    ["vm.web", "volume.extra"],
    [],
  ],
  [
    "what it hung on by the record",
    `${two}volumes: { data: { size: 1 } }\n`,
    [vm("web"), vm("api"), volume("data", { attachedTo: "id-api" })],
    ["volume.data"],
    ["vm.api", "volume.data"],
    [],
  ],
  [
    "what it hung on by the record, where a volume has the same number",
    `${two}volumes: { data: { size: 1 } }\n`,
    [vm("web"), vm("api", { id: "106" }), { ...volume("data", { attachedTo: "106" }), id: "106" }],
    ["volume.data"],
    ["vm.api", "volume.data"],
    [],
  ],
  [
    "all groups, where the file asserts who is reached",
    asserted,
    [vm("web"), vm("api"), group("front"), group("back")],
    ["vm.api"],
    ["group.back", "group.front", "vm.api"],
    [],
  ],
  [
    "the VM of an output whose address is not known",
    shown("private_ip"),
    [vm("web"), vm("api")],
    ["vm.web"],
    ["vm.api", "vm.web"],
    [],
  ],
  [
    "no VM of an output whose address is",
    shown("private_ip"),
    [vm("web"), vm("api", { privateIp: "10.0.0.1" })],
    ["vm.web"],
    ["vm.web"],
    [],
  ],
  ["no VM of an output that is its name", shown("name"), [vm("web"), vm("api")], ["vm.web"], ["vm.web"], []],
  [
    "the record of what was called otherwise in the file",
    `${two}moved: [{ from: vm.older, to: vm.web }]\n`,
    [vm("older", { name: "web" }), vm("api")],
    ["vm.web"],
    ["vm.older", "vm.web"],
    [],
  ],
])("a plan of one resource looks at %s", (_, file, records, targets, addresses, kinds) => {
  const state = { ...emptyState("l"), resources: new Map(records.map((one) => [one.address, one])) };
  const part = partTargeted(desiredOf(file), state, { targets });
  expect([[...(part?.addresses ?? [])].sort(), [...(part?.named ?? [])]]).toEqual([addresses, kinds]);
});

it.each<readonly [options: Parameters<typeof partTargeted>[2], addresses: readonly string[] | undefined]>([
  [{}, undefined],
  [{ targets: ["vm.web"] }, ["vm.web"]],
  [{ excludes: ["vm.web"] }, ["vm.api"]],
])("a plan with %j looks at %j", (options, addresses) => {
  const records = [vm("web"), vm("api")];
  const state = { ...emptyState("l"), resources: new Map(records.map((one) => [one.address, one])) };
  const part = partTargeted(desiredOf(two), state, options);
  expect(part === undefined ? undefined : [...part.addresses]).toEqual(addresses);
});

const change = (over: Partial<Change>): Change => ({
  address: "vm.web",
  kind: "vm",
  action: "update",
  name: "web",
  fields: [],
  reason: "declared",
  because: "",
  losses: [],
  ...over,
});

it.each<
  readonly [
    what: string,
    changes: readonly Change[],
    lists: boolean,
    addresses: readonly string[],
    named: readonly string[],
  ]
>([
  ["nothing more", [], true, [], []],
  ["another address", [change({ address: "vm.api" })], true, ["vm.api", "vm.web"], []],
  ["the disks on a VM that is there", [change({ id: "id-web" })], true, ["vm.web"], ["volume"]],
  ["the disks that outlived a VM", [change({ reason: "gone" })], true, ["vm.web"], ["volume"]],
  ["no disks of a VM that is new", [change({})], true, [], []],
  ["no disks where no list shows them", [change({ id: "id-web" })], false, [], []],
  ["nothing that hangs on a volume", [change({ kind: "volume", id: "v" })], true, [], []],
])("a look at one VM is widened by %s", (_, changes, lists, addresses, kinds) => {
  const part = { addresses: new Set(["vm.web"]), named: new Set<never>() };
  const wider = widened(part, { changes, steps: [] }, { canFindCreated: () => lists });
  expect([[...(wider?.addresses ?? [])].sort(), [...(wider?.named ?? [])]]).toEqual([addresses, kinds]);
});

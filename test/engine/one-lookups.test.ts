/** What a program finds of what it does not manage, by name or id, and what it lists (one/lookups.ts). */
import { expect, it } from "vitest";
import { abilitiesOf } from "../../reconciler/core/model/abilities";
import type { LiveVm, LiveVolume } from "../../reconciler/core/model/live";
import type { Operation } from "../../reconciler/core/model/operation";
import { accepted } from "../../reconciler/core/model/outcome";
import type { HandlerService, Props } from "../../reconciler/one/handler";
import { lookups } from "../../reconciler/one/lookups";
import type { ServiceReader } from "../../reconciler/service/client";

const flavors = [
  { id: "f-1", name: "m1.small" },
  { id: "f-2", name: "m1.large" },
  { id: "f-3", name: "M1.twice" },
  { id: "f-4", name: "m1.twice" },
];
const images = [
  { id: "i-9", name: "app-9" },
  { id: "i-2", name: "app-10" },
  { id: "i-1", name: "app-10" },
  { id: "i-0" },
];
const vm = (id: string, more: Partial<LiveVm>): LiveVm =>
  ({ kind: "vm", id, name: id, phase: "running", status: "ACTIVE", ...more }) as LiveVm;
const vms = [
  vm("v-1", { owner: "Ops@acme.example", flavor: "f-1", volumes: [{ id: "d-1", root: true }, { id: "d-2" }] }),
  vm("v-2", { owner: "dev@acme.example", volumes: [{ id: "d-2" }] }),
  vm("v-3", {}),
];
const volumes: readonly LiveVolume[] = [
  { kind: "volume", id: "d-1", name: "root", failed: false, sizeGb: 50, attachedTo: "v-1" },
  { kind: "volume", id: "d-2", name: "data", failed: false, sizeGb: 5, attachedTo: null },
];

interface Given {
  /** Operations that the service has; left out: all. */
  readonly without?: readonly Operation[];
  readonly client?: Partial<ServiceReader>;
}

async function look(name: string, inputs: Props, { without = [], client }: Given): Promise<unknown> {
  const reader = {
    can: abilitiesOf((operation) => !without.includes(operation)),
    listFlavors: async () => accepted(flavors),
    listImages: async () => accepted(images),
    listVms: async () => accepted(vms),
    listVolumes: async () => accepted(volumes),
    listGroups: async () => accepted([{ kind: "group", id: "g-1", name: "front", description: "of the web" }]),
    getVm: async (id: string) => accepted(vm(id, { name: "read by its id" })),
    getVolume: async (id: string) => accepted({ kind: "volume", id, name: "read by its id", failed: false }),
    getGroup: async (id: string) => accepted({ kind: "group", id, name: "read by its id" }),
    listRules: async () =>
      accepted([{ id: "r-1", direction: "ingress", ethertype: "IPv4", protocol: "tcp", portMin: 22, portMax: 22 }]),
    ...client,
  } as unknown as ServiceReader;
  const service = { client: reader } as unknown as HandlerService;
  const found = lookups.find((one) => one.name === name);
  return found!.look(service, inputs).catch((error: Error) => error.message);
}

const noVmList: Given = { without: ["vm.list"] };
const refused = async () => ({ status: "rejected", condition: "forbidden", message: "not for you" }) as const;
const broken = async () => ({ status: "unavailable", reason: "503" }) as const;
const rules = [
  { direction: "ingress", dstPort: "22", ethertype: "IPv4", id: "r-1", protocol: "tcp", remoteIp: "0.0.0.0/0" },
];

const rows: readonly (readonly [what: string, name: string, inputs: Props, found: unknown, given?: Given])[] = [
  ["one by its name", "getFlavor", { name: "m1.small" }, { id: "f-1", name: "m1.small" }],
  ["one by its name in another case", "getFlavor", { name: "M1.SMALL" }, { id: "f-1", name: "m1.small" }],
  ["one by its id", "getFlavor", { id: "f-2" }, { id: "f-2", name: "m1.large" }],
  ["neither name nor id", "getFlavor", {}, "getFlavor: give either name or id"],
  ["both name and id", "getFlavor", { id: "f-1", name: "m1.small" }, "getFlavor: give either name or id"],
  [
    "none of that name, and one that is near",
    "getFlavor",
    { name: "m1.smal" },
    "there is no flavor m1.smal — did you mean m1.small?",
  ],
  ["none of that id", "getImage", { id: "nowhere-to-be-seen" }, "there is no image nowhere-to-be-seen"],
  ["several of that name", "getFlavor", { name: "m1.twice" }, "2 are named m1.twice — give one of their ids: f-3, f-4"],
  ["what has no name has none of that name", "getImage", { name: "undefined" }, "there is no image undefined"],
  [
    "a list that is refused",
    "getFlavor",
    { id: "f-1" },
    "getFlavor: what it asks for cannot be read: not for you",
    { client: { listFlavors: refused } },
  ],
  [
    "a list that is away",
    "getFlavor",
    { id: "f-1" },
    "getFlavor: what it asks for cannot be read: 503",
    { client: { listFlavors: broken } },
  ],
  [
    "a VM with its root disk and the size of that",
    "getVm",
    { name: "v-1" },
    {
      id: "v-1",
      name: "v-1",
      status: "ACTIVE",
      flavorId: "f-1",
      owner: "Ops@acme.example",
      rootVolumeId: "d-1",
      volumeIds: ["d-1", "d-2"],
      rootSize: 50,
    },
  ],
  ["a VM of which no root disk is shown", "getVm", { id: "v-3" }, { id: "v-3", name: "v-3", status: "ACTIVE" }],
  [
    "a VM whose disks cannot be listed",
    "getVm",
    { id: "v-1" },
    {
      id: "v-1",
      name: "v-1",
      status: "ACTIVE",
      flavorId: "f-1",
      owner: "Ops@acme.example",
      rootVolumeId: "d-1",
      volumeIds: ["d-1", "d-2"],
    },
    { client: { listVolumes: refused } },
  ],
  [
    "a VM by its id where no list shows it",
    "getVm",
    { id: "v-7" },
    { id: "v-7", name: "read by its id", status: "ACTIVE" },
    noVmList,
  ],
  [
    "a VM by its id that a list shows",
    "getVm",
    { id: "v-2" },
    { id: "v-2", name: "v-2", status: "ACTIVE", owner: "dev@acme.example", volumeIds: ["d-2"] },
  ],
  ["a volume with where it hangs", "getVolume", { name: "root" }, { id: "d-1", name: "root", size: 50, vmId: "v-1" }],
  ["a volume that hangs nowhere", "getVolume", { name: "data" }, { id: "d-2", name: "data", size: 5 }],
  [
    "a volume by its id where no list shows it",
    "getVolume",
    { id: "d-9" },
    { id: "d-9", name: "read by its id" },
    { without: ["volume.list"] },
  ],
  [
    "a group with its rules",
    "getSecurityGroup",
    { name: "front" },
    { id: "g-1", name: "front", description: "of the web", rules },
  ],
  [
    "a group by its id where groups are read alone",
    "getSecurityGroup",
    { id: "g-7" },
    { id: "g-7", name: "read by its id", rules },
    { without: ["group.list"] },
  ],
  [
    "a group by its id where only rules are read",
    "getSecurityGroup",
    { id: "g-7" },
    { id: "g-7", rules },
    { without: ["group.list", "group.get"] },
  ],
  [
    "a group whose rules are refused",
    "getSecurityGroup",
    { id: "g-1" },
    "getSecurityGroup: what it asks for cannot be read: not for you",
    { client: { listRules: refused } },
  ],
  [
    "all, sorted by name with numbers as numbers, and by id",
    "getImages",
    {},
    { images: [{ id: "i-0" }, images[0], images[2], images[1]], ids: ["i-0", "i-9", "i-1", "i-2"] },
  ],
  [
    "those whose name fits, the newest first",
    "getImages",
    { name: "APP-*", newestFirst: true },
    { images: [images[1], images[2], images[0]], ids: ["i-2", "i-1", "i-9"] },
  ],
  [
    "newestFirst: false is as if it were left out",
    "getImages",
    { name: "app-10", newestFirst: false },
    { images: [images[2], images[1]], ids: ["i-1", "i-2"] },
  ],
  [
    "those with a value, in either case",
    "getVms",
    { owner: "ops@ACME.example" },
    {
      vms: [
        {
          id: "v-1",
          name: "v-1",
          status: "ACTIVE",
          flavorId: "f-1",
          owner: "Ops@acme.example",
          rootVolumeId: "d-1",
          volumeIds: ["d-1", "d-2"],
        },
      ],
      ids: ["v-1"],
    },
  ],
  ["none is no error", "getVms", { status: "SHUTOFF" }, { vms: [], ids: [] }],
  [
    "a filter that there is not",
    "getVolumes",
    { size: 5 },
    "getVolumes: there is no size — give name, status, vmId, newestFirst",
  ],
];

it.each(rows.map(([what, ...row]) => [what, row] as const))("%s", async (_, [name, inputs, found, given = {}]) => {
  expect(await look(name, inputs, given)).toEqual(found);
});

/** What is told of a VM and of a volume: the rows and remarks of a record, its sides, and the block of a file. */
import { describe, expect, it } from "vitest";
import { createNames } from "../../reconciler/config/live-blocks";
import type { VmDisks } from "../../reconciler/core/model/disks";
import type { Identity } from "../../reconciler/core/model/identity";
import type { LiveVm, LiveVolume } from "../../reconciler/core/model/live";
import type { RecordedVm, RecordedVolume } from "../../reconciler/core/model/recorded";
import { blockOfVm } from "../../reconciler/kinds/vm/block";
import { vmWords } from "../../reconciler/kinds/vm/words";
import { volumeWords } from "../../reconciler/kinds/volume/words";
import { rowsToldBy, type SideRow } from "../../reconciler/report/told-rows";
import { vm, volume } from "../support/sample-plans";

const ip = { parts: [{ address: "vm.web", attribute: "private_ip" }] } as const;
const since = "2026-01-01T00:00:00Z";
const bareVm: RecordedVm = {
  ...{ kind: "vm", address: "vm.web", id: "v", name: "web", preventDestroy: false },
  onDelete: { snapshot: false, preservedVolumes: "retain" },
};
const bareVolume: RecordedVolume = {
  ...{ kind: "volume", address: "volume.data", id: "d", name: "data", preventDestroy: false },
  flush: { via: "ask" },
};
const addressOf = ({ id }: Identity): string | undefined => (id === "v" ? "vm.web" : undefined);
const told = (rows: readonly (readonly [string, unknown])[]) =>
  rows.flatMap(([label, words]) =>
    words === undefined ? [] : [`${label}: ${Array.isArray(words) ? words.join(" | ") : String(words)}`],
  );
const vmTold = (more: Partial<RecordedVm>): string[] => {
  const bare = told(rowsToldBy(vmWords.rows(addressOf), bareVm));
  return told(rowsToldBy(vmWords.rows(addressOf), { ...bareVm, ...more })).filter((one) => !bare.includes(one));
};
const volumeTold = (more: Partial<RecordedVolume>): string[] => {
  const bare = told(rowsToldBy(volumeWords.rows(addressOf), bareVolume));
  return told(rowsToldBy(volumeWords.rows(addressOf), { ...bareVolume, ...more })).filter((one) => !bare.includes(one));
};

describe("a record of a VM", () => {
  it("is told with what every one has", () =>
    expect(told(rowsToldBy(vmWords.rows(addressOf), bareVm))).toEqual([
      "id: v",
      "name: web",
      "prevent_destroy: false",
      "on delete: preserved_volumes: retain",
    ]));
  it.each<[what: string, more: Partial<RecordedVm>, told: readonly string[], remarks: readonly string[]]>([
    ["no id", { id: undefined }, ["id: (not known yet)"], []],
    ["an image by its name", { image: "debian", imageId: "i1" }, ["image_id: debian", "image, by id: i1"], []],
    ["an image by its id", { image: "i1", imageId: "i1" }, ["image_id: i1"], []],
    [
      "what its delete does",
      { onDelete: { snapshot: true, deleteFloatingIp: false, preservedVolumes: "delete" } },
      ["on delete: snapshot_before: [delete] | delete_floating_ip: false | preserved_volumes: delete"],
      [],
    ],
    [
      "its disks",
      { dataVolumeId: "d", disks: [{ id: "x" }, { id: "y", maybeRoot: true }] },
      ["data volume: d", "other disks: x | y, perhaps its root disk"],
      [],
    ],
    [
      "its addresses",
      { privateIp: "10.0.0.1", floatingIp: "203.0.113.1", createdAt: since },
      ["private_ip: 10.0.0.1", "floating_ip: 203.0.113.1", `first seen: ${since}`],
      [],
    ],
    ["that it is being built", { building: true }, ["being built: yes"], ["being built"]],
    [
      "a resize from a flavor",
      { resizing: { from: "small", to: "large" } },
      ["resize open: small → large"],
      ["resize not decided"],
    ],
    ["a resize from nobody knows which", { resizing: { to: "large" } }, ["resize open: large"], ["resize not decided"]],
    [
      "that it was stopped",
      { stoppedForFlush: true },
      ["stopped: for a flush, and not started again yet"],
      ["stopped for a flush"],
    ],
    ["that its delete was sent", { deleting: true }, ["delete sent: yes"], []],
    ["what is not set yet", { stillToSet: "power" }, ["still to set: power"], []],
    [
      "that its data volume is off",
      { dataVolumeDetached: true },
      ["data volume: detached to be grown"],
      ["data volume detached"],
    ],
    [
      "that its data volume moves",
      { dataVolumeMoving: "attaching" },
      ["data volume: attaching, without an answer"],
      ["data volume attaching"],
    ],
    [
      "its commands",
      { afterReady: { argv: ["sh", "a"], timeoutMs: 1 }, afterAttach: { argv: ["b"], timeoutMs: 1 } },
      ["after_ready: sh a", "after_attach: b"],
      [],
    ],
    [
      "what is owed",
      { owes: [{ command: "after_ready", reason: "created", since }] },
      [`owed: after_ready (created), since ${since}`],
      [],
    ],
    [
      "what was not seen",
      {
        unseen: [
          { field: "name", value: "b", said: "name: b", since },
          { field: "power", value: "x", said: "power: x", since, looked: "the list" },
        ],
      },
      [`not seen: name: b (accepted; nobody can look, ${since}) | power: x (accepted; not in the list, ${since})`],
      [],
    ],
  ])("has %s", (_, more, lines, remarks) => {
    expect(vmTold(more)).toEqual(lines);
    expect(vmWords.remarks({ ...bareVm, ...more }).filter((one) => one !== "")).toEqual(remarks);
  });
});

describe("a record of a volume", () => {
  it("is told with what every one has", () =>
    expect(told(rowsToldBy(volumeWords.rows(addressOf), bareVolume))).toEqual([
      "id: d",
      "name: data",
      "flush: via ask",
      "prevent_destroy: false",
    ]));
  it.each<[what: string, more: Partial<RecordedVolume>, told: readonly string[], remarks: readonly string[]]>([
    ["its size", { sizeGb: 5 }, ["size: 5"], []],
    ["the VM that it hangs on", { attachedTo: "v" }, ["attach_to: vm.web (v)"], []],
    ["a VM that has no address", { attachedTo: "x" }, ["attach_to: a VM (x)"], []],
    ["an attach that is open", { attaching: "v" }, ["being attached to: vm.web (v)"], ["being attached"]],
    ["an attach to a VM that has no address", { attaching: "x" }, ["being attached to: a VM (x)"], ["being attached"]],
    ["a detach that is open", { detaching: "v" }, ["being taken off: vm.web (v)"], ["being detached"]],
    ["a detach from a VM that has no address", { detaching: "x" }, ["being taken off: a VM (x)"], ["being detached"]],
    [
      "that its VM was stopped",
      { stoppedVm: "x" },
      ["stopped for its flush: VM x, not started again yet"],
      ["its VM was stopped for a flush"],
    ],
    [
      "its flush by a command",
      { flush: { via: "command", argv: ["sync", "-f"] } },
      ["flush: via command: sync -f"],
      [],
    ],
    ["its command", { afterAttach: { argv: ["mount"], timeoutMs: 1 } }, ["after_attach: mount"], []],
    [
      "the values of its commands as the file names them",
      { flush: { via: "command", argv: ["ssh", ip] }, afterAttach: { argv: ["mount", ip], timeoutMs: 1 } },
      [`flush: via command: ssh \${vm.web.private_ip}`, `after_attach: mount \${vm.web.private_ip}`],
      [],
    ],
  ])("has %s", (_, more, lines, remarks) => {
    expect(volumeTold(more)).toEqual(lines);
    expect(volumeWords.remarks({ ...bareVolume, ...more }).filter((one) => one !== "")).toEqual(remarks);
  });
});

describe("the sides of a VM", () => {
  const live: LiveVm = {
    kind: "vm",
    id: "v",
    name: "www",
    phase: "running",
    status: "ACTIVE",
    flavor: "f1",
    image: "i9",
    owner: "ops@acme.example",
  };
  const catalogue = { flavors: [{ id: "f1", name: "m1.small" }], images: [{ id: "i1", name: "debian" }] };
  const sides = (shown: LiveVm | undefined, record: RecordedVm | undefined = bareVm): Record<string, SideRow> =>
    Object.fromEntries(
      vmWords
        .sides({ want: vm("web", { power: "running" }), record, shown, catalogue, addressOf: () => undefined })
        .map((row) => [row.field, row]),
    );
  it("are what is wanted and what shows, by the names of the lists", () => {
    const { name, flavor_id, image_id, owner, power } = sides(live);
    expect([name?.live, flavor_id?.live, image_id?.live, owner?.live, power?.live]).toEqual([
      "www",
      "m1.small",
      "i9",
      "ops@acme.example",
      "ACTIVE",
    ]);
  });
  it("has the phase where no word shows", () =>
    expect(sides({ ...live, status: undefined })["power"]?.live).toBe("running"));
  it("are what is recorded where nothing shows", () => {
    const { name, flavor_id } = sides(undefined, { ...bareVm, flavor: "m1.small" });
    expect([name, flavor_id]).toMatchObject([
      { live: "web", recorded: true },
      { live: "m1.small", recorded: true },
    ]);
  });
  it("is called by its name and its flavor", () => expect(vmWords.described(vm("web"))).toBe("VM web, m1.small"));
});

describe("the sides of a volume", () => {
  const live: LiveVolume = { kind: "volume", id: "d", name: "data", failed: false, sizeGb: 5, attachedTo: "v" };
  const sides = (
    shown: LiveVolume | undefined,
    record: RecordedVolume | undefined = bareVolume,
  ): Record<string, SideRow> =>
    Object.fromEntries(
      volumeWords
        .sides({
          want: volume("data", { attachTo: { address: "vm.web" } }),
          record,
          shown,
          catalogue: {},
          addressOf: ({ kind, id }) => (kind === "vm" && id === "v" ? "vm.web" : undefined),
        })
        .map((row) => [row.field, row]),
    );
  it("name the VM by its address where it has one", () => {
    expect(sides(live)["attach_to"]).toMatchObject({ desired: "vm.web", live: "vm.web" });
    expect(sides({ ...live, attachedTo: "x" })["attach_to"]).toMatchObject({ live: "x" });
    expect(sides({ ...live, attachedTo: null })["attach_to"]).toEqual({
      field: "attach_to",
      desired: "vm.web",
      live: "(none)",
    });
    expect(sides(undefined, { ...bareVolume, attachedTo: "v" })["attach_to"]).toMatchObject({
      live: "vm.web",
      recorded: true,
    });
    expect(sides(live)["size"]).toMatchObject({ desired: "100 GB", live: "5 GB" });
  });
  it("is called by its name and its size", () =>
    expect(volumeWords.described(volume("data"))).toBe("volume data, 100 GB"));
});

describe("a VM as a block of a file", () => {
  const live: LiveVm = {
    kind: "vm",
    id: "v",
    name: "web",
    phase: "running",
    status: "ACTIVE",
    flavor: "m1.small",
    image: "i",
    owner: "ops@acme.example",
  };
  const disks: VmDisks = { told: true, data: { kind: "volume", id: "d", failed: false, sizeGb: 20 } };
  const block = (more: Partial<LiveVm> = {}, has: VmDisks = disks) =>
    blockOfVm({ ...live, ...more }, has, createNames());
  it.each<[what: string, more: Partial<LiveVm>, disks: VmDisks, fields: object]>([
    ["a data volume", {}, disks, { size: 20 }],
    ["no data volume", {}, { told: true }, { size: 1 }],
    [
      "a root disk of another size than usual",
      {},
      { ...disks, root: { kind: "volume", id: "r", failed: false, sizeGb: 80 } },
      { size: 20, root_size: 80 },
    ],
    [
      "a root disk of the usual size",
      {},
      { ...disks, root: { kind: "volume", id: "r", failed: false, sizeGb: 50 } },
      { size: 20, root_size: undefined },
    ],
    ["a floating IP", { floatingIp: "203.0.113.1", privateIp: "10.0.0.1" }, disks, { skip_floating_ip: undefined }],
    ["no floating IP", { privateIp: "10.0.0.1" }, disks, { skip_floating_ip: true }],
    ["no address at all", {}, disks, { skip_floating_ip: undefined }],
    ["no flavor", { flavor: undefined }, disks, { flavor_id: undefined }],
    ["an empty flavor", { flavor: "" }, disks, { flavor_id: undefined }],
  ])("with %s", (_, more, has, fields) => {
    const got: Record<string, unknown> = { ...block(more, has).fields };
    for (const [key, value] of Object.entries(fields)) expect([key, got[key]]).toEqual([key, value]);
  });
  it("says what is to be filled in, what it was and what is not there", () => {
    const notes = (more: Partial<LiveVm>, has: VmDisks = disks) => block(more, has).notes ?? [];
    expect(notes({})).toEqual(notes({ status: undefined, phase: "changing" }));
    expect(notes({ flavor: undefined }).filter((one) => !notes({}).includes(one))).toEqual([
      expect.stringMatching(/^fill in: .*flavor_id.* \(the service does not show (it|them)\)$/),
    ]);
    expect(notes({ phase: "changing", status: "BUILD" })).toContain("its state was BUILD");
    expect(notes({ phase: "stopped", status: "SHUTOFF" })).toEqual(notes({}));
    const mayHide = /public address may not show/;
    expect(notes({ phase: "stopped", privateIp: "10.0.0.1" }).join()).toMatch(mayHide);
    expect(notes({ phase: "running", privateIp: "10.0.0.1" }).join()).not.toMatch(mayHide);
    expect(notes({}, { told: true })).toContain(
      "no data volume is attached to it; size is what a replacement would get",
    );
    expect(notes({}, { told: false }).join()).toMatch(/size/);
  });
});

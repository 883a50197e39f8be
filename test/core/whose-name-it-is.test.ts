/** What a plan says where an address and what is there do not fit together, and what it advises: whole sentences. */
import { describe, expect, it } from "vitest";
import type { LiveGroup, LiveVm, LiveVolume } from "../../reconciler/core/model/live";
import type { Intent, Orphan, RecordedGroup, RecordedVolume, RecordToMake } from "../../reconciler/core/model/recorded";
import { group, idOf, planFor, vm, volume, type World } from "../support/sample-plans";

const source = { file: "reconcile.yaml", line: 1 };
const web = vm("web");
const data = volume("data");
const liveVm = (id: string, more: Partial<LiveVm> = {}): LiveVm => ({
  ...{ kind: "vm", id, name: "web", status: "ACTIVE", phase: "running" },
  ...more,
});
const liveVolume = (id: string, more: Partial<LiveVolume> = {}): LiveVolume => ({
  ...{ kind: "volume", id, name: "data", failed: false },
  ...more,
});
const liveGroup = (id: string, more: Partial<LiveGroup> = {}): LiveGroup => ({
  kind: "group",
  id,
  name: "front",
  ...more,
});
const left = (kind: "vm" | "volume" | "group", id: string, more: Partial<Orphan> = {}): Orphan => ({
  ...{ kind, id, name: id, reason: "it was let go" },
  ...more,
});
const create = (kind: "vm" | "volume" | "group", name: string, more: Partial<Intent> = {}): Intent => ({
  ...{ step: `${kind}.${name}/create`, address: `${kind}.${name}`, operation: `${kind}.create`, name, idsBefore: [] },
  sentAt: "2026-01-01T00:00:00Z",
  ...more,
});
/** The summary, the detail where it is asked for, and the fix of what is said, without what is only noted. */
const says = (world: World): string[] =>
  planFor({ missing: [], ...world }).diagnostics.flatMap(({ severity, code, summary, fix }) =>
    severity === "note" ? [] : [`${severity} ${code}: ${summary} => ${fix}`],
  );
const details = (world: World): (string | undefined)[] =>
  planFor({ missing: [], ...world }).diagnostics.map(({ detail }) => detail);

const settle = (address: string) =>
  `reconcile import ${address} ID (it exists), or reconcile state resolve ${address} --not-created (it does not)`;
const unknown = (what: string, name: string, address: string, became = "its answer was lost") =>
  `error plan/outcome-unknown: outcome unknown: the create of ${what} ${name} (${address}) was sent at 2026-01-01T00:00:00Z and ${became} => ${settle(address)}`;

describe("a name that another one has", () => {
  it.each<[what: string, world: World, says: readonly string[]]>([
    [
      "a volume that nobody manages",
      { desired: [data], strangers: [liveVolume("s")] },
      [
        'error plan/name-taken: a volume named data exists already (s), and no address manages it => imports: [ { to: volume.data, id: "s" } ], or another name',
      ],
    ],
    [
      "a VM's own data volume, which has a manager",
      {
        applied: [web],
        desired: [web, data],
        strangers: [liveVolume(`${idOf("vm.web")}-data`)],
      },
      [],
    ],
    [
      "a volume in other letters",
      { desired: [data], strangers: [liveVolume("s", { name: "DATA" })] },
      [
        'error plan/name-taken: a volume named DATA exists already (s), and no address manages it => imports: [ { to: volume.data, id: "s" } ], or another name',
      ],
    ],
    [
      "a VM that nobody manages, which may be adopted",
      { desired: [web], strangers: [liveVm("s")] },
      [
        'error plan/name-taken: a VM named web exists already (s), and no address manages it => imports: [ { to: vm.web, id: "s" } ], or --adopt to take it over, or another name',
      ],
    ],
    [
      "an instance, whose address is quoted",
      { desired: [volume("data[a]", { name: "data" })], strangers: [liveVolume("s")] },
      [
        'error plan/name-taken: a volume named data exists already (s), and no address manages it => imports: [ { to: "volume.data[a]", id: "s" } ], or another name',
      ],
    ],
    ["a VM that is adopted", { desired: [web], strangers: [liveVm("s")], options: { adopt: true } }, []],
    [
      "two VMs",
      { desired: [web], strangers: [liveVm("s"), liveVm("t", { status: "SHUTOFF", phase: "stopped" })] },
      [
        'error plan/name-ambiguous: 2 VMs are named web: s, t => say which one it is: imports: [ { to: vm.web, id: "…" } ]',
      ],
    ],
    [
      "a volume that is left over from this state, which may be deleted",
      { desired: [data], strangers: [liveVolume("s")], orphans: [left("volume", "s")] },
      [
        "error plan/name-taken: a volume named data exists already (s), and it is an orphan of this state: it was let go => reconcile orphans delete s, or reconcile import volume.data s to manage it again, or another name",
      ],
    ],
    [
      "a VM that is left over from this state, which no command deletes",
      { desired: [web], strangers: [liveVm("s")], orphans: [left("vm", "s")] },
      [
        "error plan/name-taken: a VM named web exists already (s), and it is an orphan of this state: it was let go => reconcile import vm.web s to manage it again, or another name",
      ],
    ],
    [
      "a volume that took the place of one that is gone",
      { applied: [{ ...data, sighted: "gone" }], desired: [data], strangers: [liveVolume("s")] },
      [
        "error plan/name-taken: a volume named data exists already (s), and no address manages it => reconcile import volume.data s to take it over, or another name",
      ],
    ],
    [
      "a VM that took the place of one that is gone",
      { applied: [{ ...web, sighted: "gone" }], desired: [web], strangers: [liveVm("s")] },
      [
        "error plan/name-taken: a VM named web exists already (s), and no address manages it => reconcile import vm.web s to take it over, or another name",
      ],
    ],
    [
      "two VMs that took the place of one that is gone",
      { applied: [{ ...web, sighted: "gone" }], desired: [web], strangers: [liveVm("s"), liveVm("t")] },
      ["error plan/name-ambiguous: 2 VMs are named web: s, t => say which one it is: reconcile import vm.web ID"],
    ],
    [
      "a volume in a state that no dialect explains",
      { desired: [data], strangers: [liveVolume("s", { status: "limbo", unsaid: true })] },
      [
        "error plan/name-taken: a volume named data exists already (s), and no address manages it => it shows limbo; say in the dialect whether that is ready or gone: states: { volume: { ready: [limbo] } }, or states: { volume: { gone: [limbo] } }",
      ],
    ],
    [
      "a VM that an update would give its name",
      { applied: [web], desired: [vm("web", { name: "www" })], strangers: [liveVm("s", { name: "WWW" })] },
      [
        "error plan/name-taken: vm.web cannot have the name www: VM s has it, and no address manages that => another name, or rename or delete that one first",
      ],
    ],
    [
      "an orphan that an update would give its name",
      {
        applied: [group("front")],
        desired: [group("front", { name: "www" })],
        strangers: [liveGroup("s", { name: "www" })],
        orphans: [left("group", "s")],
      },
      [
        "error plan/name-taken: group.front cannot have the name www: security group s has it, which is an orphan of this state: it was let go => reconcile orphans delete s, or reconcile import ADDR s to manage it again, or another name",
      ],
    ],
    [
      "one that keeps its name",
      { applied: [web, vm("www")], desired: [vm("web", { name: "www" }), vm("www")] },
      ["error plan/name-taken: vm.web cannot have the name www: VM id-vm-www has it, which is vm.www => another name"],
    ],
    [
      "one that the targets leave out",
      {
        applied: [web, vm("www")],
        desired: [vm("web", { name: "www" }), vm("www", { name: "other" })],
        options: { targets: ["vm.web"] },
      },
      [
        "error plan/name-taken: vm.web cannot have the name www: VM id-vm-www has it, which is vm.www => --target vm.www as well, or another name",
      ],
    ],
    [
      "one that --exclude leaves out",
      {
        applied: [web, vm("www")],
        desired: [vm("web", { name: "www" }), vm("www", { name: "other" })],
        options: { targets: ["vm.web", "vm.www"], excludes: ["vm.www"] },
      },
      [
        "error plan/name-taken: vm.web cannot have the name www: VM id-vm-www has it, which is vm.www => leave out --exclude vm.www, or another name",
      ],
    ],
    [
      "one that gives it up in the same plan",
      { applied: [web, vm("www")], desired: [vm("web", { name: "www" }), vm("www", { name: "other" })] },
      [],
    ],
    [
      "one that is read by itself, where nothing is listed",
      {
        applied: [group("front"), group("www")],
        desired: [group("front", { name: "www" }), group("www")],
        missing: ["group.list"],
      },
      [
        "error plan/name-taken: group.front cannot have the name www: security group id-group-www has it, which is group.www => another name",
      ],
    ],
    [
      "one that is recorded and was not looked at",
      {
        applied: [group("front"), { ...group("www"), sighted: "unseen" }],
        desired: [group("front", { name: "www" }), group("www")],
        missing: ["group.list"],
      },
      [
        "error plan/name-taken: group.front cannot have the name www: security group id-group-www has it, which is group.www => another name",
      ],
    ],
  ])("%s", (_, world, told) => expect(says(world)).toEqual(told));

  it("says of what is gone that it was there, and of candidates what they show", () => {
    const took = { applied: [{ ...data, sighted: "gone" as const }], desired: [data], strangers: [liveVolume("s")] };
    expect(details(took)).toEqual([
      "volume.data was id-volume-data, which is not shown any more. The name alone proves nothing: it may be somebody else's. It is neither taken over nor made a second time.",
    ]);
    const two = { desired: [web], strangers: [liveVm("s", { status: undefined }), liveVm("t")] };
    expect(details(two)).toEqual(["s; t is ACTIVE"]);
  });
});

describe("a create that was cut off", () => {
  const size = { sizeGb: 100 };
  const record = {
    kind: "volume",
    address: "volume.data",
    name: "data",
    ...size,
    flush: { via: "ask" },
    preventDestroy: false,
  } as const;
  const cut = create("volume", "data", { record });
  it.each<[what: string, world: World, says: readonly string[]]>([
    [
      "made what bears its name and is as it was sent",
      { desired: [data], intents: [cut], strangers: [liveVolume("s", size)] },
      [],
    ],
    [
      "made one of several that are as it was sent",
      { desired: [data], intents: [cut], strangers: [liveVolume("s", size), liveVolume("t", size)] },
      [
        'error plan/name-ambiguous: 2 volumes are named data: s, t => say which one it is: imports: [ { to: volume.data, id: "…" } ]',
      ],
    ],
    [
      "perhaps made what only bears its name",
      { desired: [data], intents: [cut], strangers: [liveVolume("s")] },
      [unknown("volume", "data", "volume.data")],
    ],
    [
      "made what only bears its name, once it was accepted",
      { desired: [data], intents: [{ ...cut, accepted: true }], strangers: [liveVolume("s")] },
      [],
    ],
    [
      "did not make what is of another size",
      { desired: [data], intents: [cut], strangers: [liveVolume("s", { sizeGb: 7 })] },
      [
        "error plan/name-taken: a volume named data exists already (s), and no address manages it => reconcile import volume.data s to take it over, or another name",
      ],
    ],
    [
      "did not make what is of another size, and was accepted",
      { desired: [data], intents: [{ ...cut, accepted: true }], strangers: [liveVolume("s", { sizeGb: 7 })] },
      [unknown("volume", "data", "volume.data", "the service accepted it")],
    ],
    [
      "was accepted and does not show",
      { desired: [data], intents: [{ ...cut, accepted: true }] },
      [unknown("volume", "data", "volume.data", "the service accepted it")],
    ],
    ["was not accepted and does not show: it is made", { desired: [data], intents: [cut] }, []],
    [
      "perhaps made what is of another size, where nothing is declared any more",
      { intents: [cut], strangers: [liveVolume("s", { sizeGb: 7 })] },
      [unknown("volume", "data", "volume.data").replace("error", "warning")],
    ],
    [
      "is let go, whatever it made",
      {
        intents: [cut],
        strangers: [liveVolume("s", { sizeGb: 7 })],
        removed: [{ from: "volume.data", destroy: false, source }],
      },
      [],
    ],
    [
      "did not make what was there before",
      { desired: [data], intents: [{ ...cut, idsBefore: ["s"] }], strangers: [liveVolume("s", size)] },
      [],
    ],
    [
      "perhaps made what bears the beginning of its name",
      {
        desired: [volume("a-very-long-name-of-a-volume", size)],
        intents: [create("volume", "a-very-long-name-of-a-volume")],
        strangers: [liveVolume("s", { name: "a-very-long-name-of-a-volum", ...size })],
      },
      [unknown("volume", "a-very-long-name-of-a-volume", "volume.a-very-long-name-of-a-volume")],
    ],
    [
      "cannot be looked for without a list",
      { desired: [data], intents: [cut], missing: ["volume.list"] },
      [
        `error plan/outcome-unknown: outcome unknown: the create of volume data (volume.data) was sent at 2026-01-01T00:00:00Z and its answer was lost => plan without --no-refresh`,
      ],
    ],
    [
      "made the one that takes the place of what is recorded",
      {
        applied: [data],
        desired: [data],
        intents: [{ ...cut, idsBefore: [idOf("volume.data")] }],
        strangers: [liveVolume("s", size)],
      },
      [],
    ],
    [
      "made nothing, and what is recorded is there",
      { applied: [data], desired: [data], intents: [{ ...cut, idsBefore: [idOf("volume.data")] }] },
      [],
    ],
  ])("%s", (_, world, told) => expect(says(world)).toEqual(told));

  const vmRecord: RecordToMake<"vm"> = {
    kind: "vm",
    ...{ address: "vm.web", name: "web", flavor: "m1.small", preventDestroy: false },
    onDelete: { snapshot: false, preservedVolumes: "retain" },
  };
  const vmCut = create("vm", "web", { record: vmRecord });
  const other = liveVm("s", { flavor: "m1.large" });
  const flavors = {
    flavors: [
      { id: "1", name: "m1.small" },
      { id: "2", name: "m1.large" },
    ],
  };
  it.each<[what: string, world: World, says: readonly string[]]>([
    ["a VM as it was sent", { desired: [web], intents: [vmCut], strangers: [liveVm("s", { flavor: "m1.small" })] }, []],
    [
      "a VM that is another one, in whatever letters its name is",
      {
        desired: [vm("web", { name: "Web" })],
        intents: [create("vm", "web", { name: "Web", record: { ...vmRecord, name: "Web" } })],
        strangers: [{ ...other, name: "Web" }],
        catalogue: flavors,
      },
      [
        "error plan/name-taken: a VM named Web exists already (s), and no address manages it => reconcile import vm.web s to take it over, or another name",
      ],
    ],
    [
      "a VM that is another one, or was resized since, where the file wants another name by now",
      { desired: [vm("web", { name: "www" })], intents: [vmCut], strangers: [other], catalogue: flavors },
      [unknown("VM", "web", "vm.web")],
    ],
    [
      "a VM that is another one, or was resized since, where nothing is declared any more",
      { intents: [vmCut], strangers: [other], catalogue: flavors },
      [unknown("VM", "web", "vm.web").replace("error", "warning")],
    ],
    [
      "a VM under the beginning of its name",
      {
        desired: [vm("a-very-long-name-of-a-vm")],
        intents: [create("vm", "a-very-long-name-of-a-vm")],
        strangers: [liveVm("s", { name: "a-very-long-name-of-a-v" })],
      },
      [unknown("VM", "a-very-long-name-of-a-vm", "vm.a-very-long-name-of-a-vm")],
    ],
    [
      "a VM whose create named no id, and another one under the beginning of its name",
      {
        applied: [{ ...vm("a-very-long-name-of-a-vm"), sighted: "gone", memory: { id: undefined } }],
        desired: [vm("a-very-long-name-of-a-vm")],
        strangers: [liveVm("s", { name: "a-very-long-name-of-a-v" })],
      },
      [
        "error plan/outcome-unknown: outcome unknown: the create of VM a-very-long-name-of-a-vm (vm.a-very-long-name-of-a-vm) was sent at a time that was not written down and the service accepted it => " +
          settle("vm.a-very-long-name-of-a-vm"),
      ],
    ],
  ])("%s", (_, world, told) => expect(says(world)).toEqual(told));

  it("stays open until somebody says what it made, where nothing is declared any more", () => {
    const world = { intents: [vmCut], strangers: [other], catalogue: flavors, missing: [] };
    expect(planFor(world)).toMatchObject({ bookkeeping: [], unchanged: 0 });
    expect(details(world)).toEqual([
      "What bears its name is somebody else's, or was changed since: s (its flavor is m1.large, not m1.small), and repeating it could make a second one. Look for a VM named web in the service's console.",
    ]);
  });

  it("says what it saw instead", () => {
    const accepted = { ...cut, accepted: true } as const;
    const seen = (intent: Intent, strangers: World["strangers"], missing: World["missing"] = []) =>
      details({ desired: [data], intents: [intent], ...(strangers === undefined ? {} : { strangers }), missing })[0];
    const look = "and repeating it could make a second one. Look for a volume named data in the service's console.";
    expect(seen(cut, [liveVolume("s")])).toBe(
      `s has its name, and the service shows nothing else that tells whether this create made it, ${look}`,
    );
    expect(seen(accepted, [])).toBe(`The service does not show it, ${look}`);
    expect(seen(accepted, [liveVolume("s", { sizeGb: 7 })])).toBe(
      `The resource with its name was not made by this create: s (its size is 7 GB, not 100 GB), ${look}`,
    );
    expect(seen(cut, [], ["volume.list"])).toBe(`This plan did not look, ${look}`);
    expect(seen(cut, [liveVolume("s", { sizeGb: 7 })])).toBe(
      "It is not what the create of volume.data made: s (its size is 7 GB, not 100 GB). The name alone proves nothing: it may be somebody else's. It is neither taken over nor made a second time.",
    );
  });
});

describe("what is to be taken over", () => {
  const by = (to: string, what: { id: string } | { name: string }): World["imports"] => [{ to, source, ...what }];
  it.each<[what: string, world: World, says: readonly string[]]>([
    ["by its id", { desired: [data], strangers: [liveVolume("s")], imports: by("volume.data", { id: "s" }) }, []],
    [
      "by an id that is not there",
      { desired: [data], imports: by("volume.data", { id: "s" }) },
      [
        "error plan/import-not-found: volume.data cannot be imported: the service shows no volume s => correct the id; without an imports entry a new volume is created",
      ],
    ],
    [
      "a VM by an id that is not there",
      { desired: [web], imports: by("vm.web", { id: "s" }) },
      [
        "error plan/import-not-found: vm.web cannot be imported: the service shows no VM s => correct the id or name; without an imports entry a new VM is created",
      ],
    ],
    [
      "what another address manages",
      {
        applied: [volume("old")],
        desired: [volume("old"), data],
        imports: by("volume.data", { id: idOf("volume.old") }),
      },
      [
        "error plan/import-managed: volume.data cannot be imported: volume id-volume-old is managed as volume.old already => moved: [ { from: volume.old, to: volume.data } ], or remove the imports entry",
      ],
    ],
    [
      "the own data volume of a VM, which would have two addresses",
      {
        applied: [web],
        desired: [web, data],
        strangers: [liveVolume(`${idOf("vm.web")}-data`)],
        imports: by("volume.data", { id: `${idOf("vm.web")}-data` }),
      },
      [
        "error plan/import-managed: volume.data cannot be imported: volume id-vm-web-data is the own data volume of vm.web => remove the imports entry and volume.data",
      ],
    ],
    [
      "the data volume of a VM that goes",
      {
        applied: [web],
        desired: [data],
        strangers: [liveVolume(`${idOf("vm.web")}-data`)],
        imports: by("volume.data", { id: `${idOf("vm.web")}-data` }),
      },
      [],
    ],
    [
      "a VM that another address manages",
      { applied: [vm("old")], desired: [vm("old"), web], imports: by("vm.web", { id: idOf("vm.old") }) },
      [
        "error plan/import-managed: vm.web cannot be imported: VM id-vm-old is managed as vm.old already => moved: [ { from: vm.old, to: vm.web } ], or remove the imports entry",
      ],
    ],
    [
      "what the address manages already",
      { applied: [data], desired: [data], imports: by("volume.data", { id: idOf("volume.data") }) },
      [],
    ],
    ["a VM by its name", { desired: [web], strangers: [liveVm("s")], imports: by("vm.web", { name: "web" }) }, []],
    [
      "a VM by its name in other letters, which it then gets",
      { desired: [web], strangers: [liveVm("s", { name: "WEB" })], imports: by("vm.web", { name: "Web" }) },
      [],
    ],
    [
      "a VM by a name that nothing bears",
      { desired: [web], imports: by("vm.web", { name: "www" }) },
      [
        "error plan/import-not-found: vm.web cannot be imported: the service shows no VM www => correct the id or name; without an imports entry a new VM is created",
      ],
    ],
    [
      "a VM by a name that two bear",
      { desired: [web], strangers: [liveVm("s"), liveVm("t")], imports: by("vm.web", { name: "web" }) },
      [
        'error plan/name-ambiguous: 2 VMs are named web: s, t => say which one it is: imports: [ { to: vm.web, id: "…" } ]',
      ],
    ],
    [
      "a VM by a name of another address",
      { applied: [vm("old")], desired: [vm("old"), web], imports: by("vm.web", { name: "OLD" }) },
      [
        "error plan/import-managed: vm.web cannot be imported: VM id-vm-old is managed as vm.old already => moved: [ { from: vm.old, to: vm.web } ], or remove the imports entry",
      ],
    ],
  ])("%s", (_, world, told) => expect(says(world)).toEqual(told));

  it("is told, where the address has another id in the state", () => {
    const recorded = { applied: [data], desired: [data] };
    const { diagnostics, changes } = planFor({ missing: [], ...recorded, imports: by("volume.data", { id: "s" }) });
    expect(diagnostics).toMatchObject([
      {
        severity: "note",
        code: "plan/import-unused",
        summary: "volume.data is volume id-volume-data in the state, so the imports entry with s has no effect",
        fix: "remove the entry, or reconcile state rm volume.data (lets go of id-volume-data, and the entry takes s over)",
      },
    ]);
    expect(changes).toEqual([]);
    const imports = by("volume.data", { id: idOf("volume.data") });
    expect(planFor({ missing: [], ...recorded, imports }).diagnostics).toEqual([]);
  });
});

/** What a person has to look at before it is lost, whatever was permitted once and for all. */
describe("an id that may be another one's by now", () => {
  const theirs = { now: { name: "theirs" } };
  const told = "it may be another volume that has the id by now";
  it.each<[what: string, world: World, unproven: readonly string[]]>([
    [
      "is not replaced by a standing permission",
      { applied: [{ ...data, ...theirs }], desired: [data] },
      [
        `volume.data: volume theirs (id-volume-data) of 100 GB is replaced by an empty one; its data is deleted; its name is theirs, not data: ${told}`,
      ],
    ],
    [
      "nor where the file changed as well",
      { applied: [{ ...data, ...theirs }], desired: [volume("data", { name: "store", sizeGb: 120 })] },
      [
        `volume.data: volume theirs (id-volume-data) of 100 GB is replaced by an empty one; its data is deleted; its name is theirs, not data: ${told}`,
      ],
    ],
    [
      "nor deleted by one",
      { applied: [{ ...data, ...theirs }], desired: [] },
      [
        `volume.data: volume theirs (id-volume-data) of 100 GB is deleted with its data; its name is theirs, not data: ${told}`,
      ],
    ],
    [
      "a volume never shrinks",
      { applied: [{ ...data, now: { sizeGb: 4 } }], desired: [] },
      [
        `volume.data: volume data (id-volume-data) of 4 GB is deleted with its data; its size is 4 GB, not 100 GB: ${told}`,
      ],
    ],
    [
      "a VM keeps its owner",
      { applied: [{ ...web, now: { owner: "them@acme.example" } }], desired: [] },
      [
        "vm.web: the root disk of 50 GB of VM web (id-vm-web) is deleted with it; its owner is them@acme.example, not ops@acme.example: it may be another VM that has the id by now",
      ],
    ],
    ["a VM can be renamed", { applied: [{ ...web, now: { name: "theirs" } }], desired: [] }, []],
    ["a volume may have grown", { applied: [{ ...data, now: { sizeGb: 120 } }], desired: [] }, []],
    ["other letters are the same name", { applied: [{ ...data, now: { name: "DATA" } }], desired: [] }, []],
    ["what the file renames is known", { applied: [data], desired: [volume("data", { name: "store" })] }, []],
    ["what does not show proves nothing", { applied: [{ ...data, now: { name: undefined } }], desired: [] }, []],
  ])("%s", (_, world, unproven) => {
    const { consents } = planFor({ missing: [], ...world });
    const doubtful = consents.filter((one) => one.unproven === true);
    expect(doubtful.map(({ address, detail }) => `${address}: ${detail}`)).toEqual(unproven);
  });
});

describe("what vanished", () => {
  const recordOfLost: RecordedVolume = {
    ...{ kind: "volume", address: "volume.data", id: idOf("volume.data"), name: "data", sizeGb: 100 },
    flush: { via: "ask" },
    preventDestroy: false,
  };
  const lost = left("volume", idOf("volume.data"), { missingSince: "2026-01-01T00:00:00Z", record: recordOfLost });
  const shown = liveVolume(idOf("volume.data"), { sizeGb: 100, attachedTo: null });
  const orphaned = (why = "") =>
    `warning plan/shown-again: volume id-volume-data (id-volume-data) was missing since 2026-01-01T00:00:00Z and shows again => reconcile orphans list; to manage it again: reconcile import ADDR id-volume-data${why}`;
  const other = (why: string) =>
    `warning plan/shown-again: volume id-volume-data (id-volume-data) was missing since 2026-01-01T00:00:00Z, and the service shows its id again; ${why}: it may be another volume that has the id by now => if it is the one that was missing: reconcile import ADDR id-volume-data`;
  it.each<[what: string, world: World, says: readonly string[], changes: readonly string[]]>([
    [
      "is taken back when it shows again",
      { desired: [data], orphans: [lost], strangers: [shown] },
      [
        "warning plan/shown-again: volume.data: volume id-volume-data was missing since 2026-01-01T00:00:00Z and shows again; it is taken back => undefined",
      ],
      ["resource volume.data", "orphan volume:id-volume-data gone"],
    ],
    [
      "is an orphan when it shows again and its block is gone",
      { desired: [], orphans: [lost], strangers: [shown] },
      [orphaned()],
      ["orphan volume:id-volume-data"],
    ],
    [
      "is an orphan when it shows again and something else has its place",
      {
        applied: [{ ...data, memory: { id: "new" }, sighted: "gone" }],
        desired: [data],
        orphans: [{ ...lost, id: "x" }],
        strangers: [liveVolume("x"), liveVolume("new", { sizeGb: 100 })],
      },
      [
        "warning plan/shown-again: volume x (id-volume-data) was missing since 2026-01-01T00:00:00Z and shows again => reconcile orphans list; to manage it again: reconcile import ADDR x",
      ],
      ["orphan volume:x"],
    ],
    [
      "is an orphan when it shows again and nobody knows its record",
      { desired: [data], orphans: [{ ...lost, record: undefined }], strangers: [{ ...shown, name: "other" }] },
      [orphaned()],
      ["orphan volume:id-volume-data"],
    ],
    [
      "is an orphan when another one of its address shows again as well",
      {
        desired: [data],
        orphans: [lost, { ...lost, id: "x", record: { ...recordOfLost, id: "x" } }],
        strangers: [shown, { ...shown, id: "x" }],
      },
      [
        "warning plan/shown-again: volume x (id-volume-data) was missing since 2026-01-01T00:00:00Z and shows again => reconcile orphans list; to manage it again: reconcile import ADDR x",
        "warning plan/shown-again: volume.data: volume id-volume-data was missing since 2026-01-01T00:00:00Z and shows again; it is taken back => undefined",
      ],
      ["resource volume.data", "orphan volume:id-volume-data gone", "orphan volume:x"],
    ],
    ["stays missing while it does not show", { desired: [], orphans: [lost] }, [], []],
    [
      "stays missing when another one has its id by now",
      { desired: [data], orphans: [lost], strangers: [{ ...shown, name: "theirs" }] },
      [other("its name is theirs, not data")],
      [],
    ],
    [
      "stays missing when a group of another name has its id by now",
      {
        desired: [group("front")],
        orphans: [
          left("group", "g", {
            missingSince: "2026-01-01T00:00:00Z",
            record: {
              ...{ kind: "group", address: "group.front", id: "g", name: "front", rulesMode: "authoritative" },
              ...{ rules: [], platformRules: [], preventDestroy: false },
            } as RecordedGroup,
          }),
        ],
        strangers: [liveGroup("g", { name: "theirs" })],
      },
      [
        "warning plan/shown-again: group g (g) was missing since 2026-01-01T00:00:00Z, and the service shows its id again; its name is theirs, not front: it may be another group that has the id by now => if it is the one that was missing: reconcile import ADDR g",
      ],
      [],
    ],
    [
      "stays missing when what has its id is smaller than it was",
      { desired: [], orphans: [lost], strangers: [{ ...shown, sizeGb: 4 }] },
      [other("its size is 4 GB, not 100 GB")],
      [],
    ],
    [
      "is no matter where it was never missing",
      { desired: [], orphans: [{ ...lost, missingSince: undefined }], strangers: [shown] },
      [],
      [],
    ],
    [
      "is no matter where an address manages it again",
      { applied: [data], desired: [data], orphans: [lost] },
      [],
      ["orphan volume:id-volume-data gone"],
    ],
    ["an image never shows again", { orphans: [{ ...lost, kind: "image", record: undefined }] }, [], []],
  ])("%s", (_, world, told, changes) => {
    expect(says(world)).toEqual(told);
    const plan = planFor({ missing: [], ...world });
    const written = plan.bookkeeping.map((one) =>
      one.type === "orphan"
        ? `orphan ${one.key}${one.orphan === null ? " gone" : ""}`
        : `${one.type} ${one.type === "resource" ? one.address : ""}`.trimEnd(),
    );
    expect(written).toEqual(changes);
  });

  it("is kept as an orphan once, with its record", () => {
    const missing = (world: World) =>
      planFor({ missing: [], ...world }).bookkeeping.filter(({ type }) => type === "missing");
    const gone = { ...data, sighted: "gone" } as const;
    expect(missing({ applied: [gone], desired: [data] })).toMatchObject([
      {
        orphan: {
          kind: "volume",
          id: idOf("volume.data"),
          name: "data",
          sizeGb: 100,
          record: { address: "volume.data" },
        },
      },
    ]);
    expect(missing({ applied: [{ ...gone, memory: { deleting: true } }], desired: [data] })).toEqual([]);
    expect(missing({ applied: [gone], desired: [data], orphans: [lost] })).toEqual([]);
    expect(missing({ applied: [{ ...gone, memory: { name: undefined } }], desired: [data] })).toMatchObject([
      { orphan: { name: idOf("volume.data") } },
    ]);
  });
});

describe("a record that moves", () => {
  const move = (from: string, to: string): World["moved"] => [{ from, to, source }];
  const occupied = (from: string, to: string) =>
    `error plan/move-occupied: ${from} cannot be moved to ${to}: the state already has a ${to} => remove the moved entry, or reconcile state rm ${to} (forgets it, leaves it alive)`;
  it.each<[what: string, world: World, says: readonly string[]]>([
    [
      "to a free address",
      { applied: [volume("old", { name: "data" })], desired: [data], moved: move("volume.old", "volume.data") },
      [],
    ],
    [
      "to an address that has a record",
      { applied: [volume("old"), data], desired: [data], moved: move("volume.old", "volume.data") },
      [occupied("volume.old", "volume.data")],
    ],
    [
      "to an address that has an open create",
      {
        applied: [volume("old", { name: "other" })],
        desired: [data],
        intents: [create("volume", "data")],
        moved: move("volume.old", "volume.data"),
      },
      [occupied("volume.old", "volume.data")],
    ],
    [
      "an open create to a free address",
      {
        desired: [data],
        intents: [create("volume", "old", { name: "data" })],
        moved: move("volume.old", "volume.data"),
      },
      [],
    ],
    [
      "to a block that has a for_each now",
      { applied: [volume("old")], desired: [volume("data[a]")], moved: move("volume.old", "volume.data") },
      [
        'error plan/move-needs-key: volume.old cannot be moved to volume.data: volume.data has a for_each => moved: [ { from: volume.old, to: "volume.data[a]" } ]',
      ],
    ],
    [
      "an instance to a block that has no for_each",
      { applied: [volume("old[a]")], desired: [data], moved: move("volume.old", "volume.data") },
      [
        'error plan/move-needs-key: volume.old[a] cannot be moved to volume.data[a]: volume.data has no for_each => moved: [ { from: "volume.old[a]", to: volume.data } ]',
      ],
    ],
    [
      "a block to an instance of its own, for_each it has now",
      {
        applied: [volume("data", { name: "data" })],
        desired: [volume("data[a]")],
        moved: move("volume.data", "volume.data[a]"),
      },
      [],
    ],
    [
      "what is left in the file takes no instance",
      {
        applied: [volume("data[a]"), volume("data[b]")],
        desired: [volume("data[a]")],
        moved: move("volume.data", "volume.data[a]"),
      },
      [],
    ],
    [
      "to another block takes no instance of its own that is declared, nor one whose key is gone",
      {
        applied: [volume("old[a]"), volume("old[b]"), data],
        desired: [volume("old[a]"), data],
        moved: move("volume.old", "volume.data"),
      },
      [],
    ],
    [
      "to what no file declares: it is deleted there",
      { applied: [volume("old")], desired: [], moved: move("volume.old", "volume.data") },
      [],
    ],
    ["what there is not", { applied: [data], desired: [data], moved: move("volume.old", "volume.data") }, []],
    [
      "over two entries",
      {
        applied: [volume("old", { name: "data" })],
        desired: [data],
        moved: [...(move("volume.old", "volume.mid") ?? []), ...(move("volume.mid", "volume.data") ?? [])],
      },
      [],
    ],
    [
      "over two entries, where the state has what is between as well",
      {
        applied: [volume("mid"), volume("old")],
        desired: [data],
        moved: [...(move("volume.old", "volume.mid") ?? []), ...(move("volume.mid", "volume.data") ?? [])],
      },
      [
        "error plan/move-occupied: volume.old cannot be moved to volume.data: the moved entries lead volume.mid there as well => keep the moved entry of one of them",
      ],
    ],
    [
      "with the create that is open at its address",
      {
        applied: [volume("old", { name: "data" })],
        desired: [data],
        intents: [create("volume", "old", { name: "data" })],
        moved: move("volume.old", "volume.data"),
      },
      [],
    ],
  ])("%s", (_, world, told) =>
    // That a key was renamed, or that nothing is left, is said elsewhere.
    expect(says(world).filter((one) => one.includes("plan/move"))).toEqual(told),
  );
  it("and cannot is told at its entry", () => {
    const entry = { file: "reconcile.yaml", line: 7 };
    const moved = [
      { from: "volume.other", to: "volume.data", source },
      { from: "volume.old", to: "volume.data", source: entry },
    ];
    const { diagnostics } = planFor({ applied: [volume("old"), data], desired: [data], missing: [], moved });
    expect(diagnostics.find(({ code }) => code === "plan/move-occupied")?.source).toEqual(entry);
  });

  it("of a component to another one takes nothing of its for_each that is declared", () => {
    const within = (component: string) => ({ ...volume("data"), address: `${component}volume.data`, name: component });
    const both = [within("shop[b]/"), within("store/")];
    const { changes } = planFor({ applied: both, desired: both, moved: move("shop/", "store/") });
    expect(changes.map(({ action, address }) => `${action} ${address}`)).toEqual([]);
  });
});

describe("a record that is damaged", () => {
  const damaged = (address: string): World["quarantined"] => [{ address, text: "?", problem: "it is cut" }];
  it.each<[what: string, world: World, severity: string, summary: string, detail: string, fix: string]>([
    [
      "of what is declared",
      { desired: [data], quarantined: damaged("volume.data") },
      "warning",
      "the record of volume.data in the state is damaged and was set aside",
      "it is cut. Nothing is planned for volume.data until the record is replaced.",
      "reconcile import volume.data ID (it exists), or reconcile state rm volume.data (it does not)",
    ],
    [
      "of what is not declared",
      { quarantined: damaged("volume.data") },
      "warning",
      "the record of volume.data in the state is damaged and was set aside",
      "it is cut. Nothing is planned for volume.data until the record is replaced.",
      "reconcile state rm volume.data (to forget it)",
    ],
    [
      "of an orphan",
      { quarantined: damaged("volume:1") },
      "warning",
      "the note of volume:1 in the state is damaged and was set aside",
      "it is cut. It may be alive in the service, and nothing manages it.",
      "reconcile state rm volume:1 (to forget it)",
    ],
    [
      "of nobody knows what",
      { quarantined: damaged("journal line 3") },
      "error",
      "the record of journal line 3 in the state is damaged and was set aside",
      "it is cut. Nothing is planned for journal line 3 until the record is replaced.",
      "reconcile state rm 'journal line 3' (to forget it)",
    ],
  ])("%s", (_, world, severity, summary, detail, fix) => {
    const plan = planFor({ missing: [], ...world });
    expect(plan.diagnostics).toMatchObject([{ severity, code: "state/quarantined", summary, detail, fix }]);
    expect(plan.changes).toEqual([]);
  });
});

describe("what is let go", () => {
  const letGo = (from: string, destroy: boolean): World => ({ removed: [{ from, destroy, source }] });
  const actions = (world: World): string[] =>
    planFor({ missing: [], ...world }).changes.map(({ address, action }) => `${address} ${action}`);
  it.each<[what: string, world: World, actions: readonly string[]]>([
    ["by its address", { applied: [data], ...letGo("volume.data", false) }, ["volume.data forget"]],
    [
      "an instance by its block",
      { applied: [volume("data[a]")], ...letGo("volume.data", false) },
      ["volume.data[a] forget"],
    ],
    [
      "what is in a component by that",
      { applied: [volume("x", { address: "shop/volume.x" })], ...letGo("shop/", false) },
      ["shop/volume.x forget"],
    ],
    [
      "what another entry is about is deleted",
      { applied: [data], ...letGo("volume.other", false) },
      ["volume.data delete"],
    ],
    ["what is to be deleted is", { applied: [data], ...letGo("volume.data", true) }, ["volume.data delete"]],
    ["what is declared stays", { applied: [data], desired: [data], ...letGo("volume.data", false) }, []],
  ])("%s", (_, world, told) => expect(actions(world)).toEqual(told));
});

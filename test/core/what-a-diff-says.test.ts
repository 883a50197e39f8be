/** What a plan says of a VM or a volume beside its changes: what cannot be, is not known or is to be seen by a person. */
import { describe, expect, it } from "vitest";
import type { DesiredVm } from "../../reconciler/core/model/desired";
import type { LiveVm, LiveVolume } from "../../reconciler/core/model/live";
import type { Intent } from "../../reconciler/core/model/recorded";
import { vmRecord } from "../../reconciler/core/plan/records";
import { fieldsIn } from "../../reconciler/core/text/objects";
import { idOf, planFor, told, vm, volume, type World } from "../support/sample-plans";

const web = vm("web");
const data = volume("data");
const onWeb = volume("data", { attachTo: { address: "vm.web" } });
const uuid = (n: number) => `00000000-0000-4000-8000-00000000000${n}`;
const liveVm = (id: string, more: Partial<LiveVm> = {}): LiveVm => ({
  ...{ kind: "vm", id, name: "web", status: "ACTIVE", phase: "running" },
  ...more,
});
const liveVolume = (id: string, more: Partial<LiveVolume> = {}): LiveVolume => ({
  ...{ kind: "volume", id, name: id, failed: false },
  ...more,
});
const says = (world: World): string[] =>
  planFor({ missing: [], ...world }).diagnostics.map(
    ({ severity, code, summary, fix }) => `${severity} ${code}: ${summary} => ${fix}`,
  );
const changes = (world: World): string[] => told(planFor({ missing: [], ...world }));
const because = (world: World): string[] => planFor({ missing: [], ...world }).changes.map((one) => one.because);
const intent = (more: Partial<Intent> = {}): Intent => ({
  ...{ step: "vm.web/create", address: "vm.web", operation: "vm.create", name: "web", idsBefore: [] },
  sentAt: "2026-01-01T00:00:00Z",
  ...more,
});

describe("a name that the lists of the service do not have, or have twice", () => {
  const entries = (...names: readonly string[]) => names.map((name, n) => ({ id: uuid(n + 1), name }));
  const catalogue = {
    flavors: entries("m1.small", "m1.large"),
    images: [
      { id: uuid(5), name: "debian" },
      { id: uuid(6), name: "ubuntu" },
      { id: web.image, name: "sample" },
    ],
    regions: [{ id: "in-west-1" }, { id: "eu-1" }],
  };
  const make = (more: Partial<DesiredVm>, lists: World["catalogue"] = catalogue): World => ({
    desired: [vm("web", more)],
    catalogue: lists ?? {},
  });
  const many = { flavors: Array.from({ length: 14 }, (_, n) => ({ id: `f${n}`, name: `flavor${n}` })) };
  it.each<[what: string, world: World, says: readonly string[]]>([
    ["all are there", make({}), []],
    [
      "a flavor that is nearly there",
      make({ flavor: "m1.smal" }),
      ["error plan/flavor-unknown: flavor_id m1.smal is no flavor of this service => write m1.small"],
    ],
    [
      "a flavor that is not there",
      make({ flavor: "huge" }),
      ["error plan/flavor-unknown: flavor_id huge is no flavor of this service => use one of these as flavor_id"],
    ],
    [
      "a flavor that is there twice",
      make({}, { ...catalogue, flavors: [...catalogue.flavors, { id: uuid(9), name: "m1.small" }] }),
      [
        `error plan/flavor-ambiguous: flavor_id m1.small means several flavors => write the id of the one that is meant as flavor_id: ${uuid(1)} or ${uuid(9)}`,
      ],
    ],
    [
      "a region that is not there",
      make({ region: "us-1" }),
      ["error plan/region-unknown: region us-1 is no region of this service => use one of these as region"],
    ],
    ["a region where the list is empty", make({ region: "us-1" }, { ...catalogue, regions: [] }), []],
    [
      "a region that is there twice",
      make(
        {},
        {
          ...catalogue,
          regions: [
            { id: "1", name: "in-west-1" },
            { id: "2", name: "in-west-1" },
          ],
        },
      ),
      [
        "error plan/region-ambiguous: region in-west-1 means several regions => write the id of the one that is meant as region: 1 or 2",
      ],
    ],
    [
      "an image that is not there",
      make({ image: "debain" }),
      ["error plan/image-unknown: image_id debain is no image of this service => write debian"],
    ],
    [
      "an image that is there twice",
      make({ image: "debian" }, { ...catalogue, images: [...catalogue.images, { id: uuid(9), name: "debian" }] }),
      [
        `error plan/image-ambiguous: image_id debian means several images => write the id of the one that is meant as image_id: ${uuid(5)} or ${uuid(9)}`,
      ],
    ],
    [
      "an image by an id that is not there may be private",
      make({ image: uuid(9) }),
      [`note plan/image-unlisted: image ${uuid(9)} is not in the service's list of images => undefined`],
    ],
    [
      "an image by its name, where no list was read",
      make({ image: "debian" }, { flavors: catalogue.flavors }),
      [
        "warning plan/image-unresolved: image_id debian is a name, and the list of images was not read => write the image's UUID as image_id, or let the plan read the list: without --no-refresh, from a service that answers it",
      ],
    ],
    [
      "an image by its name, where there is no list",
      { ...make({ image: "debian" }, { flavors: catalogue.flavors }), missing: ["image.list"] },
      [
        "warning plan/image-unresolved: image_id debian is a name, and this service has no list of images to look it up in => write the image's UUID as image_id, or name the list in the dialect: operations: { image.list: … }",
      ],
    ],
    ["an image by its id, where no list was read", make({ image: uuid(5) }, { flavors: catalogue.flavors }), []],
    [
      "a flavor that is not sent is no matter",
      { applied: [vm("web", { flavor: "gone" })], desired: [vm("web", { flavor: "gone", name: "www" })], catalogue },
      [],
    ],
    [
      "a flavor that is sent is",
      { applied: [web], desired: [vm("web", { flavor: "huge" })], catalogue },
      ["error plan/flavor-unknown: flavor_id huge is no flavor of this service => use one of these as flavor_id"],
    ],
    [
      "all of a VM that is made anew are",
      { applied: [web], desired: [vm("web", { flavor: "huge", region: "eu-1" })], catalogue },
      ["error plan/flavor-unknown: flavor_id huge is no flavor of this service => use one of these as flavor_id"],
    ],
  ])("%s", (_, world, lines) => expect(says(world).filter((one) => !one.includes("plan/gone"))).toEqual(lines));
  it("says what there is, up to twelve, by name and where that does not tell by id", () => {
    const details = (world: World) => planFor({ missing: [], ...world }).diagnostics.map(({ detail }) => detail);
    expect(details(make({ flavor: "huge" }))).toEqual(["It has: m1.small, m1.large"]);
    expect(details(make({ flavor: "huge" }, many))).toEqual([
      `It has: ${Array.from({ length: 12 }, (_, n) => `flavor${n}`).join(", ")}, and 2 more`,
    ]);
    expect(details(make({ flavor: "huge" }, { flavors: many.flavors.slice(0, 12) }))).toEqual([
      `It has: ${Array.from({ length: 12 }, (_, n) => `flavor${n}`).join(", ")}`,
    ]);
    const twice = [
      { id: "1", name: "m1.small" },
      { id: "2", name: "m1.small" },
    ];
    expect(details(make({}, { flavors: twice }))).toEqual(["Candidates: m1.small (1), m1.small (2)"]);
    expect(details(make({ region: "us-1" }))).toEqual(["It has: in-west-1, eu-1"]);
  });
});

describe("the size of a VM", () => {
  const grown = vm("web", { sizeGb: 40 });
  const unknown = { memory: { dataVolumeId: undefined } };
  const describeIt =
    "describe the VM record's volumes in the dialect (records.vm.volumes), or declare a volume of its own and attach it";
  const own = `${idOf("vm.web")}-data`;
  const without = { now: { volumes: [] } };
  const away = `error plan/data-volume-away: the data volume of vm.web (${own})`;
  const cannot =
    "error plan/data-volume-unknown: the data volume of vm.web cannot be grown: the service's records do not show which volume it is => ";
  it.each<[what: string, world: World, says: readonly string[]]>([
    ["grows", { applied: [web], desired: [grown] }, []],
    [
      "does not shrink",
      { applied: [web], desired: [vm("web", { sizeGb: 5 })] },
      ["error plan/shrink: vm.web cannot shrink from 20 to 5 GB => set size back to 20 or more"],
    ],
    [
      "is counted in bytes",
      {
        applied: [{ ...web, memory: { dataVolumeId: "d1" } }],
        desired: [web],
        strangers: [
          { kind: "volume", id: "d1", name: "d", sizeGb: 21_474_836_480, attachedTo: idOf("vm.web"), failed: false },
        ],
      },
      [
        "error plan/shrink: vm.web cannot shrink from 21474836480 to 20 GB => if the service counts in bytes, in the dialect: records: { volume: { size: [{ value: /size, unit: B }] } }, with the place of its record",
      ],
    ],
    [
      "cannot grow where nobody knows the volume",
      { applied: [{ ...web, ...unknown, now: { volumes: [{ id: "a" }, { id: "b" }] } }], desired: [grown] },
      [cannot + describeIt],
    ],
    [
      "cannot grow yet where the VM is being built",
      { applied: [{ ...web, ...unknown, now: { volumes: [], phase: "changing", status: "BUILD" } }], desired: [grown] },
      [`${cannot}run the same command again when VM web is ready: it is BUILD and may show its volumes then`],
    ],
    [
      "cannot grow where the VM is being built and shows other disks",
      {
        applied: [
          { ...web, ...unknown, now: { volumes: [{ id: "a" }, { id: "b" }], phase: "changing", status: "BUILD" } },
        ],
        desired: [grown],
      },
      [cannot + describeIt],
    ],
    [
      "cannot grow where the VM is ready and shows no disks",
      { applied: [{ ...web, ...unknown, now: { volumes: [] } }], desired: [grown] },
      [cannot + describeIt],
    ],
    [
      "cannot grow where the data volume hangs on another VM",
      { applied: [{ ...web, ...without }], desired: [grown], strangers: [liveVolume(own, { attachedTo: "other" })] },
      [`${away} hangs on VM other => detach it from VM other in the service's console, or set size back`],
    ],
    [
      "grows where the data volume hangs on none",
      { applied: [{ ...web, ...without }], desired: [grown], strangers: [liveVolume(own, { attachedTo: null })] },
      [],
    ],
    [
      "cannot grow where the data volume is gone",
      { applied: [{ ...web, ...without }], desired: [grown] },
      [`${away} is gone => set size back, or reconcile apply --replace vm.web (a new one comes with a new VM)`],
    ],
    [
      "is no matter where it is left alone",
      { applied: [web], desired: [vm("web", { sizeGb: 5, lifecycle: { ...web.lifecycle, ignoreChanges: ["size"] } })] },
      [],
    ],
  ])("%s", (_, world, lines) => expect(says(world)).toEqual(lines));
});

describe("the data volume that was taken off to be grown", () => {
  const own = `${idOf("vm.web")}-data`;
  const off = (memory: object, more: Partial<World> = {}): World => ({
    applied: [{ ...web, memory, now: { volumes: undefined } }],
    desired: [web],
    ...more,
  });
  const unknown = (how: string) =>
    `error plan/outcome-unknown: outcome unknown: its data volume ${own} (vm.web) was to be ${how} VM ${idOf("vm.web")}, and nothing shows what became of that => reconcile state resolve vm.web --attached (it hangs there), or reconcile state resolve vm.web --detached (it does not)`;
  const shown = (attachedTo: string | null): Partial<World> => ({ strangers: [liveVolume(own, { attachedTo })] });
  it.each<[what: string, world: World, told: readonly string[]]>([
    ["is put back", off({ dataVolumeDetached: true }, shown(null)), ["vm.web update interrupted"]],
    ["is not put back where it is gone", off({ dataVolumeDetached: true }), ["note plan/data-volume-away"]],
    [
      "is on again where the VM shows it",
      { applied: [{ ...web, memory: { dataVolumeDetached: true } }], desired: [web] },
      [],
    ],
    [
      "is put back where its own record shows it off",
      off({ dataVolumeMoving: "attaching" }, shown(null)),
      ["vm.web update interrupted"],
    ],
    ["is on again where its own record shows it on", off({ dataVolumeMoving: "attaching" }, shown(idOf("vm.web"))), []],
    [
      "is nowhere that anybody knows, after an attach",
      off({ dataVolumeMoving: "attaching" }),
      [unknown("attached to")],
    ],
    [
      "is nowhere that anybody knows, after a detach",
      off({ dataVolumeMoving: "detaching" }),
      [unknown("detached from")],
    ],
    [
      "is not taken from another VM",
      off({ dataVolumeDetached: true }, shown("other")),
      [
        "vm.web update interrupted",
        `error plan/data-volume-away: the data volume of vm.web (${own}) hangs on VM other => detach it from VM other in the service's console`,
      ],
    ],
    ["is no matter where none is known", off({ dataVolumeDetached: true, dataVolumeId: undefined }), []],
  ])("%s", (_, world, lines) => {
    const errors = says(world).filter((one) => one.startsWith("error"));
    expect([...changes(world).filter((one) => !one.startsWith("error")), ...errors]).toEqual(lines);
  });
});

describe("a data volume that is nothing to grow and nothing to put back", () => {
  const own = `${idOf("vm.web")}-data`;
  const bare = { ...web, now: { volumes: [{ id: "root", root: true }] } };
  const there = (attachedTo: string | null | undefined, more = {}): World => ({
    applied: [bare],
    desired: [web],
    strangers: [liveVolume(own, { attachedTo, sizeGb: 20, ...more })],
  });
  const note = (where: string, fix: string) => [
    `note plan/data-volume-away: the data volume of vm.web (${own}) ${where} => ${fix}`,
  ];
  const back = `attach it to VM ${idOf("vm.web")} in the service's console`;
  it.each<[what: string, world: World, says: readonly string[]]>([
    ["hangs where it was made", there(idOf("vm.web")), []],
    ["was taken off", there(null), note("hangs on no VM", back)],
    ["was hung on another VM", there("other"), note("hangs on VM other", `detach it from VM other and ${back}`)],
    ["is on its way", there(null, { changing: true }), []],
    ["hangs nobody knows where", there(undefined), []],
    [
      "is gone",
      { applied: [bare], desired: [web] },
      note("is gone", "reconcile apply --replace vm.web (a new one comes with a new VM)"),
    ],
  ])("%s", (_, world, lines) => {
    expect(says({ missing: [], ...world })).toEqual(lines);
    expect(planFor({ missing: [], ...world }).changes).toEqual([]);
  });
});

describe("a state that no dialect explains", () => {
  const unsaidVm = { status: "limbo", phase: "changing", unsaid: true } as const;
  const unsaidVolume = { status: "limbo", unsaid: true } as const;
  const vmSays =
    "error plan/state-unsaid: vm.web: VM web (id-vm-web) is there and shows limbo, and the dialect does not say whether that is stopped or gone => say in the dialect whether that is stopped or gone: states: { vm: { stopped: [limbo] } }, or states: { vm: { gone: [limbo] } }";
  const volumeSays =
    "error plan/state-unsaid: volume.data: volume data (id-volume-data) is there and shows limbo, and the dialect does not say whether that is ready or gone => say in the dialect whether that is ready or gone: states: { volume: { ready: [limbo] } }, or states: { volume: { gone: [limbo] } }";
  const removed = (from: string): World["removed"] => [{ from, destroy: false, source: { file: "f", line: 1 } }];
  it.each<[what: string, world: World, told: readonly string[]]>([
    [
      "of a VM stops what was planned for it",
      { applied: [{ ...web, now: unsaidVm }], desired: [vm("web", { flavor: "m1.large" })] },
      [vmSays],
    ],
    ["of a VM stops its removal", { applied: [{ ...web, now: unsaidVm }] }, [vmSays]],
    ["of a VM that is let go is no matter", { applied: [{ ...web, now: unsaidVm }], removed: removed("vm.web") }, []],
    [
      "of a VM whose delete was sent is no matter",
      { applied: [{ ...web, now: unsaidVm, memory: { deleting: true } }] },
      [],
    ],
    [
      "of a volume stops what was planned for it",
      { applied: [{ ...data, now: unsaidVolume }], desired: [volume("data", { sizeGb: 200 })] },
      [volumeSays],
    ],
    [
      "of a volume that is let go is no matter",
      { applied: [{ ...data, now: unsaidVolume }], removed: removed("volume.data") },
      [],
    ],
    [
      "of a volume whose delete was sent is no matter",
      { applied: [{ ...data, now: unsaidVolume, memory: { deleting: true } }] },
      [],
    ],
    [
      "is quoted where it is no word",
      { applied: [{ ...data, now: { ...unsaidVolume, status: "in limbo" } }], desired: [data] },
      [volumeSays.replace("shows limbo", "shows in limbo").replaceAll("[limbo]", '["in limbo"]')],
    ],
  ])("%s", (_, world, lines) => {
    const stopped = says(world).filter((one) => one.includes("state-unsaid"));
    expect(stopped).toEqual(lines);
    if (lines.length > 0) expect(planFor({ missing: [], ...world }).changes).toEqual([]);
  });
});

describe("a VM whose create named no id", () => {
  const unknownId = { ...web, sighted: "gone", memory: { id: undefined } } as const;
  const noList = { missing: ["vm.list"] } as const;
  it.each<[what: string, world: World, told: readonly string[]]>([
    ["waits for its id where no list shows it", { applied: [unknownId], desired: [web], ...noList }, []],
    [
      "is let go where that was written",
      {
        applied: [unknownId],
        removed: [{ from: "vm.web", destroy: false, source: { file: "f", line: 1 } }],
        ...noList,
      },
      ["vm.web forget let_go"],
    ],
    [
      "is made where nothing was sent for it, and its id will not be known",
      { desired: [web], ...noList },
      ["vm.web create declared", "warning plan/id-unknown"],
    ],
    [
      "is not made where a create of it was cut off",
      { desired: [web], intents: [intent()], ...noList },
      ["error plan/outcome-unknown"],
    ],
    [
      "is not taken over by a name that nobody can look up",
      { desired: [web], imports: [{ to: "vm.web", name: "web", source: { file: "f", line: 1 } }], ...noList },
      ["error plan/import-by-name"],
    ],
  ])("%s", (_, world, lines) => expect(changes(world)).toEqual(lines));
});

describe("a VM that is gone", () => {
  const own = `${idOf("vm.web")}-data`;
  const gone = { ...web, sighted: "gone" } as const;
  const goes = { preservedVolumes: "delete" } as const;
  const deleting = { ...gone, memory: { deleting: true, onDelete: { snapshot: false, ...goes } } };
  const strands = (world: World): string[] =>
    planFor({ missing: [], ...world }).steps.flatMap(({ action }) =>
      action.operation === "record"
        ? action.changes.flatMap((one) =>
            one.type === "orphan" && one.orphan !== null ? [`${one.orphan.id} ${one.orphan.sizeGb}`] : [],
          )
        : [],
    );
  it.each<[what: string, world: World, strands: readonly string[]]>([
    ["leaves its data volume", { applied: [gone], strangers: [liveVolume(own, { sizeGb: 30 })] }, [`${own} 30`]],
    ["leaves its data volume of the size that it had", { applied: [gone], missing: ["volume.list"] }, [`${own} 20`]],
    ["leaves nothing where the data volume is gone too", { applied: [gone] }, []],
    [
      "leaves its data volume where somebody has hung it on another VM",
      { applied: [gone], strangers: [liveVolume(own, { attachedTo: "other", sizeGb: 30 })] },
      [`${own} 30`],
    ],
    [
      "leaves no other disk that hangs on another VM",
      {
        applied: [{ ...gone, memory: { dataVolumeId: undefined, disks: [{ id: own }] } }],
        strangers: [liveVolume(own, { attachedTo: "other" })],
      },
      [],
    ],
    [
      "leaves the data volume that says it hangs on the VM that is gone",
      { applied: [gone], strangers: [liveVolume(own, { attachedTo: idOf("vm.web"), sizeGb: 30 })] },
      [`${own} 30`],
    ],
    [
      "leaves the data volume that hangs on none",
      { applied: [gone], strangers: [liveVolume(own, { attachedTo: null, sizeGb: 30 })] },
      [`${own} 30`],
    ],
    [
      "leaves nothing that an address manages",
      { applied: [gone, { ...volume("mine"), memory: { id: own } }], desired: [volume("mine")] },
      [],
    ],
  ])("%s", (_, world, left) => expect(strands(world)).toEqual(left));

  const unseen =
    "warning plan/attachments-unseen: VM web (id-vm-web) is gone, and no record has shown which volume of 20 GB it left behind => look in the service's console for a volume that hangs on no VM; to manage it: reconcile import volume.NAME ID";
  const nothing = { dataVolumeId: undefined };
  it.each<[what: string, world: World, says: readonly string[]]>([
    ["may have left what no record has shown", { applied: [{ ...gone, memory: nothing }] }, [unseen]],
    [
      "may have left it also where it is made again",
      { applied: [{ ...gone, memory: nothing }], desired: [web] },
      [unseen],
    ],
    ["left what its record names", { applied: [gone] }, []],
    [
      "left nothing where other VMs show theirs",
      { applied: [{ ...gone, memory: nothing }, vm("other")], desired: [vm("other")] },
      [],
    ],
    [
      "left nothing where it had no data volume",
      { applied: [{ ...gone, memory: { ...nothing, sizeGb: undefined } }] },
      [],
    ],
  ])("%s", (_, world, lines) => expect(says(world).filter((one) => one.includes("attachments-unseen"))).toEqual(lines));

  it("is followed by the data volume that was to go with it", () => {
    const losses = (world: World) =>
      planFor({ missing: [], ...world }).changes.flatMap((one) => one.losses.map(({ detail }) => detail));
    const strangers = [liveVolume(own, { sizeGb: 20, attachedTo: null })];
    const detail = `data volume ${own} of 20 GB of VM web is deleted with its data`;
    expect(losses({ applied: [deleting], strangers })).toEqual([detail]);
    expect(losses({ applied: [deleting], missing: ["volume.list"] })).toEqual([]);
    expect(
      losses({ applied: [{ ...deleting, memory: { ...deleting.memory, deleting: undefined } }], strangers }),
    ).toEqual([]);
    expect(losses({ applied: [deleting] })).toEqual([]);
    // What permitted the end of a protected VM was for the run that was cut off.
    const protects = { lifecycle: { ...web.lifecycle, preventDestroy: true } };
    const guarded = { ...deleting, memory: { ...deleting.memory, preventDestroy: true } };
    for (const world of [
      { applied: [guarded], strangers },
      { applied: [guarded], desired: [vm("web", { ...web, ...protects })], strangers },
      { applied: [deleting], desired: [vm("web", { ...web, ...protects })], strangers },
    ])
      expect([losses(world), strands(world)]).toEqual([[], [`${own} 20`]]);
    expect(
      losses({ applied: [{ ...deleting, memory: { ...deleting.memory, dataVolumeId: undefined } }], strangers }),
    ).toEqual([]);
  });
});

describe("why a VM changes", () => {
  const failed = { phase: "failed", status: "ERROR" } as const;
  it.each<[what: string, world: World, because: readonly string[]]>([
    [
      "it never finished building",
      { applied: [{ ...web, now: failed, memory: { building: true } }], desired: [web] },
      ["VM web never finished building (ERROR)"],
    ],
    [
      "it never finished building, and shows no word",
      { applied: [{ ...web, now: { ...failed, status: undefined }, memory: { building: true } }], desired: [web] },
      ["VM web never finished building (failed)"],
    ],
    [
      "it is adopted",
      { desired: [web], strangers: [liveVm("s", { flavor: web.flavor })], options: { adopt: true } },
      ["--adopt takes over the VM named web"],
    ],
    [
      "its resize waits",
      {
        applied: [
          {
            ...vm("web", { flavor: "m1.large" }),
            now: { phase: "verify_resize", status: "VERIFY_RESIZE" },
            memory: { flavor: "m1.small", resizing: { to: "m1.large" } },
          },
        ],
        desired: [vm("web", { flavor: "m1.large" })],
      },
      ["its resize waits in VERIFY_RESIZE to be confirmed"],
    ],
    [
      "a create was cut off before it",
      { desired: [web], intents: [intent()] },
      ["an interrupted run did not get to create it"],
    ],
  ])("%s", (_, world, lines) => expect(because(world)).toEqual(lines));

  it("and its create was cut off: the flavor is recorded as that named it, where no list tells names from ids", () => {
    const recorded = (ignoreChanges: DesiredVm["lifecycle"]["ignoreChanges"]) =>
      planFor({
        desired: [vm("web", { lifecycle: { ...web.lifecycle, ignoreChanges } })],
        intents: [intent({ record: vmRecord(web, web.image) })],
        strangers: [liveVm("s", { flavor: uuid(1), image: web.image })],
        missing: ["flavor.list"],
      }).steps.flatMap(({ action }) =>
        action.operation === "record"
          ? action.changes.flatMap((one) => (one.type === "resource" ? fieldsIn(one.record)["flavor"] : []))
          : [],
      );
    expect([recorded([]), recorded(["flavor_id"])]).toEqual([["m1.small"], ["m1.small"]]);
  });

  it("is in the failed state, which is told and not mended", () => {
    expect(says({ applied: [{ ...web, now: failed }], desired: [web] })).toEqual([
      "warning plan/vm-failed: VM web is in the failed state ERROR => --replace vm.web",
    ]);
    expect(says({ applied: [{ ...web, now: { ...failed, status: undefined } }], desired: [web] })).toEqual([
      "warning plan/vm-failed: VM web is in the failed state => --replace vm.web",
    ]);
    expect(says({ applied: [{ ...web, now: failed }], desired: [web], options: { replace: ["vm.web"] } })).toEqual([]);
  });

  const power = (more: object, world: Partial<World> = {}): World => ({
    applied: [{ ...web, ...more }],
    desired: [vm("web", { power: "stopped" })],
    ...world,
  });
  const unseenPower =
    "note plan/power-unobserved: whether vm.web runs cannot be seen: the service does not show it, and no run has stopped it yet => write lifecycle.ignore_changes: [power] to leave it as it is";
  it.each<[what: string, world: World, told: readonly string[], says: readonly string[]]>([
    ["it runs and is to be stopped", power({}), ["vm.web update changed power:stop"], []],
    [
      "nobody sees whether it runs, and no run has stopped it",
      power({ now: { status: undefined, phase: "changing" } }),
      ["vm.web update changed power:stop"],
      [unseenPower],
    ],
    [
      "nobody sees whether it runs, and a run has stopped it",
      power({ now: { status: undefined, phase: "changing" }, memory: { power: "stopped" } }),
      [],
      [],
    ],
    [
      "it is on its way, and was to be stopped: that is waited for",
      power({ now: { status: "X", phase: "changing" }, memory: { power: "stopped" } }),
      ["vm.web update interrupted"],
      [],
    ],
    [
      "it is on its way, and nothing is to become of it",
      { applied: [{ ...web, now: { status: "X", phase: "changing" } }], desired: [web] },
      [],
      [],
    ],
    [
      "it was stopped for a flush and not started again",
      {
        applied: [{ ...web, now: { status: "SHUTOFF", phase: "stopped" }, memory: { stoppedForFlush: true } }],
        desired: [web],
      },
      ["vm.web update interrupted power:start"],
      [],
    ],
    [
      "it is stopped, and nobody says what it is to be",
      { applied: [{ ...web, now: { status: "SHUTOFF", phase: "stopped" } }], desired: [web] },
      [],
      [],
    ],
  ])("%s", (_, world, lines, notes) => {
    expect(changes(world).filter((one) => !/^(note|warning|error|asks)/.test(one))).toEqual(lines);
    expect(says(world)).toEqual(notes);
  });
});

describe("a volume", () => {
  const moveUnknown = (how: string) =>
    `error plan/outcome-unknown: outcome unknown: volume id-volume-data (volume.data) was to be ${how} VM id-vm-web, and nothing shows what became of that => reconcile state resolve volume.data --attached (it hangs there), or reconcile state resolve volume.data --detached (it does not)`;
  const hidden = { attachedTo: undefined } as const;
  const blindWeb = { ...web, now: { volumes: undefined } };
  it.each<[what: string, world: World, says: readonly string[]]>([
    [
      "in a failed state is told and left",
      { applied: [{ ...data, now: { failed: true, status: "error" } }], desired: [data] },
      ["warning plan/volume-failed: volume data is in the failed state error => undefined"],
    ],
    [
      "in a failed state without words",
      { applied: [{ ...data, now: { failed: true, name: undefined, status: undefined } }], desired: [data] },
      ["warning plan/volume-failed: volume id-volume-data is in the failed state => undefined"],
    ],
    [
      "does not shrink",
      { applied: [data], desired: [volume("data", { sizeGb: 5 })] },
      [
        "error plan/shrink: volume.data cannot shrink from 100 to 5 GB => set size back to 100 or more; for a smaller one declare a new volume and copy the data",
      ],
    ],
    [
      "whose size is counted in bytes",
      { applied: [{ ...data, now: { sizeGb: 1_000_000_000 } }], desired: [data] },
      [
        "error plan/shrink: volume.data cannot shrink from 1000000000 to 100 GB => if the service counts in bytes, in the dialect: records: { volume: { size: [{ value: /size, unit: B }] } }, with the place of its record",
      ],
    ],
    ...(
      [
        ["that says the name of its VM for the id", [web, onWeb]],
        ["that says the name of its VM for the id, and goes", [web]],
      ] as const
    ).map(([what, desired]): [string, World, readonly string[]] => [
      what,
      { applied: [web, { ...onWeb, now: { attachedTo: "web" } }], desired },
      [
        "error dialect/does-not-fit: volume data says that it hangs on web, which is no id of a VM, and the name of id-vm-web => write by: name in the dialect at records.volume.attached_to, such as { value: /vm, by: name }",
      ],
    ]),
    [
      "that says the id of no VM",
      { applied: [web, { ...onWeb, now: { attachedTo: "nobody" } }], desired: [web, volume("data")] },
      [],
    ],
    ...["0", "00000000-0000-0000-0000-000000000000"].flatMap((none): [string, World, readonly string[]][] => {
      const fix = `write none: "${none}" in the dialect at records.volume.attached_to, such as { value: /vm_id, none: "${none}" }`;
      const told = `error dialect/does-not-fit: volume data says that it hangs on ${none}, which seems to mean that it hangs on nothing => ${fix}`;
      const free = { ...data, now: { attachedTo: none } };
      return [
        [`that is to be attached and hangs on ${none}`, { applied: [web, free], desired: [web, onWeb] }, [told]],
        [
          `that is to grow and hangs on ${none}`,
          { applied: [free], desired: [volume("data", { sizeGb: 200 })] },
          [told],
        ],
        [`that is not changed and hangs on ${none}`, { applied: [free], desired: [data] }, []],
      ];
    }),
    [
      "whose attach has no answer, and nothing shows it",
      { applied: [blindWeb, { ...data, now: hidden, memory: { attaching: idOf("vm.web") } }], desired: [web, data] },
      [moveUnknown("attached to")],
    ],
    [
      "whose detach has no answer, and nothing shows it",
      { applied: [blindWeb, { ...onWeb, now: hidden, memory: { detaching: idOf("vm.web") } }], desired: [web, onWeb] },
      [moveUnknown("detached from")],
    ],
    [
      "whose attach has no answer, and whose VM shows its disks",
      { applied: [web, { ...data, now: hidden, memory: { attaching: idOf("vm.web") } }], desired: [web, data] },
      [],
    ],
    [
      "whose attach has no answer, and whose VM is gone",
      {
        applied: [
          { ...web, sighted: "gone" },
          { ...data, now: hidden, memory: { attaching: idOf("vm.web") } },
        ],
        desired: [data],
      },
      [],
    ],
    [
      "whose attach has no answer, and that goes",
      { applied: [blindWeb, { ...data, now: hidden, memory: { attaching: idOf("vm.web") } }], desired: [web] },
      [moveUnknown("attached to")],
    ],
  ])("%s", (_, world, lines) =>
    expect(says(world).filter((one) => !/plan\/(gone|data-volume-away)/.test(one))).toEqual(lines),
  );

  const unseen = { now: { attachedTo: undefined } };
  const bare = { volumes: [{ id: `${idOf("vm.web")}-root`, root: true }] };
  const carrying = { volumes: [{ id: idOf("volume.data") }] };
  it.each<[what: string, world: World, told: readonly string[]]>([
    [
      "hangs where its record says, where nothing shows it",
      { applied: [blindWeb, { ...onWeb, ...unseen }], desired: [web, data] },
      ["volume.data update changed attach_to:detach", "asks flush"],
    ],
    [
      "hangs nowhere where its VM is gone",
      {
        applied: [
          { ...web, sighted: "gone" },
          { ...onWeb, ...unseen },
        ],
        desired: [data],
      },
      ["vm.web forget gone"],
    ],
    [
      "hangs where an attach without an answer put it",
      {
        applied: [
          { ...web, now: carrying },
          { ...data, ...unseen, memory: { attaching: idOf("vm.web") } },
        ],
        desired: [web, onWeb],
      },
      [],
    ],
    [
      "does not hang where an attach without an answer did not put it",
      {
        applied: [
          { ...web, now: bare },
          { ...data, ...unseen, memory: { attaching: idOf("vm.web") } },
        ],
        desired: [web, onWeb],
      },
      ["volume.data update changed attach_to:attach"],
    ],
    [
      "does not hang where a detach without an answer took it off",
      {
        applied: [
          { ...web, now: bare },
          { ...onWeb, ...unseen, memory: { detaching: idOf("vm.web") } },
        ],
        desired: [web, data],
      },
      [],
    ],
    [
      "hangs where a detach without an answer left it",
      {
        applied: [
          { ...web, now: carrying },
          { ...onWeb, ...unseen, memory: { detaching: idOf("vm.web") } },
        ],
        desired: [web, data],
      },
      ["volume.data update changed attach_to:detach", "asks flush"],
    ],
    [
      "is attached to the VM of another address by its id",
      { applied: [web, data], desired: [web, volume("data", { attachTo: { id: idOf("vm.web") } })] },
      ["volume.data update changed attach_to:attach"],
    ],
    ["in other letters than the file by now", { applied: [{ ...data, now: { name: "DATA" } }], desired: [data] }, []],
    [
      "in other letters than the file ever had",
      { applied: [{ ...volume("Data", { address: "volume.data" }), now: { name: "DATA" } }], desired: [data] },
      ["volume.data replace changed name:replace", "asks data_loss"],
    ],
    [
      "whose name nobody said at its import",
      {
        applied: [{ ...data, memory: { name: undefined }, now: { name: "other" } }],
        desired: [{ ...data, nameUnsaid: true }],
      },
      [],
    ],
    [
      "whose name nobody said at its import, and somebody wrote since",
      { applied: [{ ...data, now: { name: "other" } }], desired: [{ ...data, nameUnsaid: true }] },
      ["volume.data replace drifted name:replace", "asks data_loss"],
    ],
    [
      "another size, which is left alone",
      {
        applied: [data],
        desired: [volume("data", { sizeGb: 200, lifecycle: { preventDestroy: false, ignoreChanges: ["size"] } })],
      },
      [],
    ],
    [
      "no size that anybody knows",
      {
        applied: [{ ...data, now: { sizeGb: undefined }, memory: { sizeGb: undefined } }],
        desired: [volume("data", { sizeGb: 200 })],
      },
      [],
    ],
    [
      "the size that its record has, where nothing shows it",
      { applied: [{ ...data, now: { sizeGb: undefined } }], desired: [volume("data", { sizeGb: 200 })] },
      ["volume.data update changed size:grow"],
    ],
  ])("%s", (_, world, lines) => expect(changes(world).filter((one) => !/^(note|warning)/.test(one))).toEqual(lines));

  it("that comes off its VM says why", () => {
    const reasons = (world: World) =>
      planFor({ missing: [], ...world }).changes.flatMap((one) => (one.address === "volume.data" ? [one.because] : []));
    expect(reasons({ applied: [web, onWeb], desired: [volume("data")] })).not.toEqual([]);
    expect(reasons({ applied: [web, onWeb], desired: [vm("web", { region: "eu-1" }), onWeb] })).toEqual([
      "vm.web gets a new VM",
    ]);
    expect(
      reasons({
        applied: [web, { ...onWeb, lifecycle: { preventDestroy: false, ignoreChanges: ["attach_to"] } }],
        desired: [{ ...onWeb, lifecycle: { preventDestroy: false, ignoreChanges: ["attach_to"] } }],
      }),
    ).toEqual(["the VM it is attached to, vm.web, is deleted"]);
  });

  it("says what is lost, and what is left", () => {
    const change = (world: World) => planFor({ missing: [], ...world }).changes[0];
    const renamed = volume("data", { name: "other" });
    expect(change({ applied: [data], desired: [renamed] })?.losses.map(({ detail }) => detail)).toEqual([
      "volume data (id-volume-data) of 100 GB is replaced by an empty one; its data is deleted",
    ]);
    expect(
      change({ applied: [data], desired: [renamed], missing: ["volume.delete"] })?.losses.map(({ detail }) => detail),
    ).toEqual([
      "volume data (id-volume-data) of 100 GB is replaced by an empty one; its data is left on the old volume",
    ]);
    expect(change({ applied: [data] })?.losses.map(({ detail }) => detail)).toEqual([
      "volume data (id-volume-data) of 100 GB is deleted with its data",
    ]);
    const kept = change({ applied: [data], missing: ["volume.delete"] });
    expect([kept?.leaves, kept?.because]).toEqual([
      ["volume data of 100 GB stays behind as an orphan"],
      "it is no longer declared; this service cannot delete volumes, so it is left as an orphan",
    ]);
    expect(
      change({
        applied: [
          { ...data, now: { name: undefined, sizeGb: undefined }, memory: { name: undefined, sizeGb: undefined } },
        ],
        missing: ["volume.delete"],
      })?.leaves,
    ).toEqual(["volume id-volume-data stays behind as an orphan"]);
  });

  it("that is not to be seen is recreated empty, and says so", () => {
    expect(says({ applied: [{ ...data, sighted: "gone" }], desired: [data] })).toEqual([
      "warning plan/gone: volume.data: volume id-volume-data is gone from the service; this plan makes an empty one in its place => if it still exists, stop here and check the credential's rights; if another one took its place: reconcile import volume.data ID",
    ]);
  });
});

describe("a field that is left to others is no reason for a change", () => {
  const leaving = vm("web", { lifecycle: { ...web.lifecycle, ignoreChanges: ["flavor_id"] }, flavor: "m1.large" });
  it.each<[what: string, world: World, because: readonly string[]]>([
    [
      "of a VM that is replaced for another one",
      { applied: [web], desired: [{ ...leaving, rootSizeGb: 60 }] },
      ["the file changed: root_size"],
    ],
    [
      "of a VM that somebody renamed",
      { applied: [{ ...web, now: { name: "renamed" } }], desired: [leaving] },
      ["the service no longer has what was applied: name"],
    ],
    [
      "of a VM that moves to another address",
      {
        applied: [vm("old", { name: "web" })],
        desired: [leaving],
        moved: [{ from: "vm.old", to: "vm.web", source: web.source }],
      },
      ["a moved entry renames its address"],
    ],
    ["of a VM where nothing else differs", { applied: [web], desired: [leaving] }, []],
  ])("%s", (_, world, reasons) => expect(because(world)).toEqual(reasons));
});

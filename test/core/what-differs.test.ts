/** What the diff decides of one resource, as a table for each kind: one row a case, with its reason and its fields. */
import { describe, expect, it } from "vitest";
import type { Intent, Orphan } from "../../reconciler/core/model/recorded";
import { group, idOf, planFor, rule, told, vm, volume, type World } from "../support/sample-plans";

type Row = readonly [what: string, world: World, told: readonly string[]];

const web = vm("web");
const lifecycle = web.lifecycle;
const data = volume("data");
const front = group("front", { rules: [rule(80)] });
const namesFront = rule(22, { remote: { kind: "group", group: { address: "group.front" } } });
const leaving = group("front", { rules: [rule(443, { direction: "egress" })] });
const strangerVm = { kind: "vm", id: "s1", name: "web", status: "ACTIVE", phase: "running" } as const;
const cutOff = (more: Partial<Intent>): Intent => ({
  ...{ step: "vm.web/create", address: "vm.web", operation: "vm.create", name: "web", idsBefore: [] },
  sentAt: "2026-01-01T00:00:00Z",
  ...more,
});
const strangerGroup = { kind: "group", id: "s2", name: "front" } as const;
const uuid = (n: number) => `00000000-0000-4000-8000-00000000000${n}`;

const vms: readonly Row[] = [
  [
    "a create that was cut off after it was accepted, and one that bears the name and shows nothing else",
    { desired: [web], intents: [cutOff({ accepted: true })], strangers: [strangerVm] },
    ["vm.web import interrupted"],
  ],
  [
    "a create that was cut off, and one that bears the name and shows nothing else",
    { desired: [web], intents: [cutOff({})], strangers: [strangerVm] },
    ["error plan/outcome-unknown"],
  ],
  [
    "a create that named no id, and one that bears the name and shows nothing else",
    { applied: [{ ...web, sighted: "gone", memory: { id: undefined } }], desired: [web], strangers: [strangerVm] },
    ["error plan/outcome-unknown"],
  ],
  ["as applied", { applied: [web], desired: [web] }, []],
  ["declared, and not there", { desired: [web] }, ["vm.web create declared"]],
  ["another name", { applied: [web], desired: [vm("web", { name: "www" })] }, ["vm.web update changed name:rename"]],
  [
    "another flavor",
    { applied: [web], desired: [vm("web", { flavor: "m1.large" })] },
    ["vm.web update changed flavor_id:resize"],
  ],
  [
    "the same flavor by its id",
    {
      applied: [vm("web", { now: { flavor: uuid(1) } } as never)],
      desired: [web],
      catalogue: { flavors: [{ id: uuid(1), name: "m1.small" }] },
    },
    [],
  ],
  ...(
    [
      ["two others", [2, 3], ["note plan/image-name-moved"]],
      ["its own and another one", [1, 2], []],
    ] as const
  ).map(
    ([what, ids, told]): Row => [
      `an image whose name means ${what} by now`,
      {
        applied: [{ ...web, image: "ubuntu", memory: { imageId: uuid(1) }, now: { image: uuid(1) } }],
        desired: [vm("web", { image: "ubuntu" })],
        catalogue: { images: ids.map((id) => ({ id: uuid(id), name: "ubuntu" })) },
      },
      told,
    ],
  ),
  [
    "a flavor shown by a word that the list does not have",
    {
      applied: [{ ...web, now: { flavor: "Standard 2" } }],
      desired: [web],
      catalogue: { flavors: [{ id: uuid(1), name: "m1.small" }] },
    },
    [],
  ],
  [
    "another image",
    { applied: [web], desired: [vm("web", { image: uuid(2) })] },
    ["vm.web update changed image_id:rebuild", "asks data_loss"],
  ],
  [
    "another image, where that replaces",
    { applied: [web], desired: [vm("web", { image: uuid(2), lifecycle: { ...lifecycle, onImageChange: "replace" } })] },
    ["vm.web replace changed image_id:replace", "asks data_loss"],
  ],
  [
    "another image, where that is ignored",
    { applied: [web], desired: [vm("web", { image: uuid(2), lifecycle: { ...lifecycle, onImageChange: "ignore" } })] },
    [],
  ],
  ["an owner in other letters", { applied: [web], desired: [vm("web", { owner: "OPS@acme.example" })] }, []],
  ["a username for the owner's e-mail", { applied: [web], desired: [vm("web", { owner: "ops" })] }, []],
  [
    "the owner that somebody else has given it",
    { applied: [{ ...web, now: { owner: "dev@acme.example" } }], desired: [vm("web", { owner: "dev@acme.example" })] },
    [],
  ],
  [
    "another username, where the service shows an e-mail",
    {
      applied: [{ ...vm("web", { owner: "ops" }), now: { owner: "ops@acme.example" } }],
      desired: [vm("web", { owner: "dev" })],
    },
    ["vm.web replace changed owner:replace", "asks data_loss"],
  ],
  [
    "another owner",
    { applied: [web], desired: [vm("web", { owner: "dev@acme.example" })] },
    ["vm.web replace changed owner:replace", "asks data_loss"],
  ],
  [
    "another root disk",
    { applied: [web], desired: [vm("web", { rootSizeGb: 80 })] },
    ["vm.web replace changed root_size:replace", "asks data_loss"],
  ],
  [
    "another region",
    { applied: [web], desired: [vm("web", { region: "eu-1" })] },
    ["vm.web replace changed region:replace", "asks data_loss"],
  ],
  [
    "stopped, and it runs",
    { applied: [web], desired: [vm("web", { power: "stopped" })] },
    ["vm.web update changed power:stop"],
  ],
  [
    "running, and it is stopped",
    {
      applied: [{ ...vm("web", { power: "running" }), now: { phase: "stopped", status: "SHUTOFF" } }],
      desired: [vm("web", { power: "running" })],
    },
    ["vm.web update drifted power:start"],
  ],
  [
    "somebody resized it",
    {
      applied: [{ ...web, now: { flavor: "m1.large" } }],
      desired: [web],
      catalogue: {
        flavors: [
          { id: uuid(1), name: "m1.small" },
          { id: uuid(2), name: "m1.large" },
        ],
      },
    },
    ["vm.web update drifted flavor_id:resize"],
  ],
  [
    "somebody grew its data volume",
    {
      applied: [{ ...web, memory: { dataVolumeId: "d1" } }],
      desired: [web],
      strangers: [
        { kind: "volume", id: "d1", name: "web-data", sizeGb: 99, attachedTo: idOf("vm.web"), failed: false },
      ],
    },
    ["vm.web update drifted size:shrink", "asks flush", "error plan/shrink"],
  ],
  [
    "somebody resized it, which is ignored",
    {
      applied: [{ ...web, now: { flavor: "m1.large" } }],
      desired: [vm("web", { lifecycle: { ...lifecycle, ignoreChanges: ["flavor_id"] } })],
    },
    [],
  ],
  [
    "a resize waits for its decision",
    {
      applied: [
        {
          ...vm("web", { flavor: "m1.large" }),
          now: { phase: "verify_resize", status: "VERIFY_RESIZE" },
          memory: { flavor: "m1.small", resizing: { from: "m1.small", to: "m1.large" } },
        },
      ],
      desired: [vm("web", { flavor: "m1.large" })],
    },
    ["vm.web update interrupted"],
  ],
  [
    "a resize waits that is not wanted any more",
    {
      applied: [
        {
          ...vm("web", { flavor: "m1.large" }),
          now: { phase: "verify_resize", status: "VERIFY_RESIZE" },
          memory: { flavor: "m1.small", resizing: { from: "m1.small", to: "m1.large" } },
        },
      ],
      desired: [web],
    },
    ["vm.web update interrupted"],
  ],
  [
    "gone",
    { applied: [{ ...web, sighted: "gone" }], desired: [web] },
    ["vm.web create gone", "asks recreate", "warning plan/gone"],
  ],
  [
    "failed while it was built",
    { applied: [{ ...web, now: { phase: "failed", status: "ERROR" }, memory: { building: true } }], desired: [web] },
    ["vm.web replace failed", "asks data_loss"],
  ],
  [
    "failed after it was in use",
    { applied: [{ ...web, now: { phase: "failed", status: "ERROR" } }], desired: [web] },
    ["warning plan/vm-failed"],
  ],
  ["not declared", { applied: [web] }, ["vm.web delete removed", "asks empty", "asks data_loss"]],
  ["not declared, and gone", { applied: [{ ...web, sighted: "gone" }] }, ["vm.web forget gone"]],
  [
    "not declared, and protected",
    { applied: [{ ...web, memory: { preventDestroy: true } }] },
    ["vm.web delete removed", "asks empty", "asks prevent_destroy", "asks data_loss"],
  ],
  [
    "taken over, protected and rebuilt at once",
    {
      desired: [vm("web", { lifecycle: { ...lifecycle, preventDestroy: true } })],
      strangers: [{ ...strangerVm, image: uuid(1) }],
      imports: [{ to: "vm.web", id: "s1", source: { file: "f", line: 1, column: 1 } }],
    },
    ["vm.web import imported image_id:rebuild", "asks prevent_destroy", "asks data_loss"],
  ],
  [
    "let go",
    { applied: [web], removed: [{ from: "vm.web", destroy: false, source: { file: "f", line: 1, column: 1 } }] },
    ["vm.web forget let_go"],
  ],
  [
    "everything is to be destroyed",
    { applied: [web], desired: [web], options: { destroy: true } },
    ["vm.web delete destroy", "asks data_loss"],
  ],
  [
    "replaced on request",
    { applied: [web], desired: [web], options: { replace: ["vm.web"] } },
    ["vm.web replace requested", "asks data_loss"],
  ],
  ["somebody else has its name", { desired: [web], strangers: [strangerVm] }, ["error plan/name-taken"]],
  [
    "somebody else has its name, and it is adopted",
    { desired: [vm("web", { flavor: "m1.small" })], strangers: [strangerVm], options: { adopt: true } },
    ["vm.web import adopted"],
  ],
];

/** A replacement was cut off: the former volume is noted, and hangs there. */
const cutOffOn = (attachedTo: string | null | undefined, more: Partial<Orphan> = {}) =>
  ({
    orphans: [{ kind: "volume", id: "old", name: "old", reason: "r", sizeGb: 5, replacedBy: "volume.data", ...more }],
    strangers: [{ kind: "volume", id: "old", name: "old", sizeGb: 5, attachedTo, failed: false }],
  }) satisfies Partial<World>;
const onWeb = volume("data", { attachTo: { address: "vm.web" } });

const volumes: readonly Row[] = [
  [
    "as applied, and what it replaced is still there",
    { applied: [data], desired: [data], ...cutOffOn(null) },
    ["volume.data update interrupted", "asks data_loss"],
  ],
  [
    "under another address, and what it replaced is still there",
    {
      applied: [volume("old-key", { name: "data" })],
      desired: [data],
      moved: [{ from: "volume.old-key", to: "volume.data", source: { file: "f", line: 1, column: 1 } }],
      ...cutOffOn(null, { replacedBy: "volume.old-key" }),
    },
    ["volume.data update interrupted address:move", "asks data_loss"],
  ],
  [
    "as applied, and what it replaced still hangs on their VM",
    { applied: [web, onWeb], desired: [web, onWeb], ...cutOffOn(idOf("vm.web")) },
    ["volume.data update interrupted", "asks data_loss", "asks flush"],
  ],
  [
    "declared anew, and what it once replaced is still there",
    { desired: [data], ...cutOffOn(null) },
    ["volume.data create declared", "asks data_loss"],
  ],
  [
    "not declared, and what it replaced is still there",
    { applied: [web, data], desired: [web], ...cutOffOn(null) },
    ["volume.data delete removed", "asks data_loss", "asks data_loss"],
  ],
  [
    "as applied, and what it replaced hangs on a VM that goes",
    { applied: [web, data], desired: [data], ...cutOffOn(idOf("vm.web")) },
    ["vm.web delete removed", "volume.data update interrupted", "asks data_loss", "asks data_loss"],
  ],
  [
    "as applied, and what it replaced was attached elsewhere since",
    { applied: [web, vm("db"), onWeb], desired: [web, vm("db"), onWeb], ...cutOffOn(idOf("vm.db")) },
    [],
  ],
  [
    "as applied, and nobody sees where hangs what it replaced",
    { applied: [data], desired: [data], ...cutOffOn(undefined) },
    [],
  ],
  [
    "as applied, and another one has the id of what it replaced",
    {
      applied: [data],
      desired: [data],
      ...cutOffOn(null, { name: "old-data" }),
      strangers: [{ kind: "volume", id: "old", name: "theirs", sizeGb: 5, attachedTo: null, failed: false }],
    },
    [],
  ],
  [
    "as applied, and what it replaced has another size than would be named",
    {
      applied: [data],
      desired: [data],
      ...cutOffOn(null),
      strangers: [{ kind: "volume", id: "old", name: "old", sizeGb: 500, attachedTo: null, failed: false }],
    },
    [],
  ],
  [
    "protected by now, and what it replaced is still there",
    {
      applied: [data],
      desired: [volume("data", { lifecycle: { preventDestroy: true, ignoreChanges: [] } })],
      ...cutOffOn(null),
    },
    [],
  ],
  [
    "as applied, beside an orphan that another address replaced",
    { applied: [data], desired: [data], ...cutOffOn(null, { replacedBy: "volume.other" }) },
    [],
  ],
  ["as applied", { applied: [data], desired: [data] }, []],
  ["declared, and not there", { desired: [data] }, ["volume.data create declared"]],
  ["larger", { applied: [data], desired: [volume("data", { sizeGb: 200 })] }, ["volume.data update changed size:grow"]],
  [
    "smaller",
    { applied: [data], desired: [volume("data", { sizeGb: 50 })] },
    ["volume.data update changed size:shrink", "error plan/shrink"],
  ],
  [
    "somebody grew it",
    { applied: [{ ...data, now: { sizeGb: 200 } }], desired: [data] },
    ["volume.data update drifted size:shrink", "error plan/shrink"],
  ],
  [
    "another name",
    { applied: [data], desired: [volume("data", { name: "other" })] },
    ["volume.data replace changed name:replace", "asks data_loss"],
  ],
  [
    "a name that the service shows in other letters",
    { applied: [{ ...data, now: { name: "DATA" } }], desired: [data] },
    [],
  ],
  [
    "a file that changed the letters of the name",
    { applied: [data], desired: [volume("data", { name: "Data" })] },
    ["volume.data replace changed name:replace", "asks data_loss"],
  ],
  [
    "to be attached",
    { applied: [web, data], desired: [web, volume("data", { attachTo: { address: "vm.web" } })] },
    ["volume.data update changed attach_to:attach"],
  ],
  [
    "to be taken off",
    { applied: [web, volume("data", { attachTo: { address: "vm.web" } })], desired: [web, data] },
    ["volume.data update changed attach_to:detach", "asks flush"],
  ],
  [
    "to hang elsewhere",
    {
      applied: [web, vm("db"), volume("data", { attachTo: { address: "vm.web" } })],
      desired: [web, vm("db"), volume("data", { attachTo: { address: "vm.db" } })],
    },
    ["volume.data update changed attach_to:move", "asks flush"],
  ],
  [
    "somebody took it off",
    {
      applied: [web, { ...volume("data", { attachTo: { address: "vm.web" } }), now: { attachedTo: null } }],
      desired: [web, volume("data", { attachTo: { address: "vm.web" } })],
    },
    ["volume.data update drifted attach_to:attach"],
  ],
  [
    "gone",
    { applied: [{ ...data, sighted: "gone" }], desired: [data] },
    ["volume.data create gone", "asks recreate", "warning plan/gone"],
  ],
  ["not looked at", { applied: [{ ...data, sighted: "unseen" }], desired: [data] }, []],
  ["not declared", { applied: [data] }, ["volume.data delete removed", "asks empty", "asks data_loss"]],
  [
    "not declared, and the service deletes none",
    { applied: [data], missing: ["volume.delete"] },
    ["volume.data forget removed", "asks empty"],
  ],
  [
    "not declared, and protected",
    { applied: [{ ...data, memory: { preventDestroy: true } }] },
    ["volume.data delete removed", "asks empty", "asks prevent_destroy", "asks data_loss"],
  ],
];

const groups: readonly Row[] = [
  ["as applied", { applied: [front], desired: [front] }, []],
  ["declared, and not there", { desired: [front] }, ["group.front create declared rules:add rule"]],
  [
    "another name",
    { applied: [front], desired: [group("front", { name: "entry", rules: [rule(80)] })] },
    ["group.front update changed name:rename"],
  ],
  [
    "one rule more",
    { applied: [front], desired: [group("front", { rules: [rule(80), rule(443)] })] },
    ["group.front update changed rules:add rule"],
  ],
  [
    "one rule less, which the service can delete",
    { applied: [front], desired: [group("front")], missing: [] },
    ["group.front update changed rules:remove rule"],
  ],
  [
    "one rule less, which it cannot",
    { applied: [front], desired: [group("front")] },
    ["group.front replace changed rules:remove rule"],
  ],
  [
    "one rule less, which is kept then",
    { applied: [front], desired: [group("front", { lifecycle: { ...front.lifecycle, onRuleRemoval: "keep" } })] },
    ["warning plan/rule-kept"],
  ],
  [
    "a rule that nobody wrote",
    {
      applied: [
        {
          ...group("front"),
          now: {
            rules: [{ id: "r", direction: "ingress", ethertype: "IPv4", protocol: "tcp", portMin: 22, portMax: 22 }],
          },
        },
      ],
      desired: [group("front")],
      missing: [],
    },
    ["group.front update drifted rules:remove rule"],
  ],
  // What else the file leaves alone says nothing of why a rule differs.
  ...(
    [
      ["whose description the file does not say any more", { description: "hello" }, {}],
      [
        "whose name is left to others",
        {},
        { name: "entry", lifecycle: { ...front.lifecycle, ignoreChanges: ["name"] } },
      ],
    ] as const
  ).map(
    ([what, applied, desired]): Row => [
      `a rule that nobody wrote, in a group ${what}`,
      {
        applied: [
          {
            ...group("front", applied),
            now: {
              rules: [{ id: "r", direction: "ingress", ethertype: "IPv4", protocol: "tcp", portMin: 22, portMax: 22 }],
            },
          },
        ],
        desired: [group("front", desired)],
        missing: [],
      },
      ["group.front update drifted rules:remove rule"],
    ],
  ),
  [
    "a rule that the last run left where it was, in a group that is not additive any more",
    {
      applied: [
        {
          ...group("front"),
          memory: { left: [rule(22)] },
          now: {
            rules: [{ id: "r", direction: "ingress", ethertype: "IPv4", protocol: "tcp", portMin: 22, portMax: 22 }],
          },
        },
      ],
      desired: [group("front")],
      missing: [],
    },
    ["group.front update changed rules:remove rule"],
  ],
  [
    "a rule that nobody shows, and that the last run left on a group that is replaced: it goes along in an additive one",
    {
      applied: [{ ...group("front"), memory: { left: [rule(22)] }, now: { rules: undefined } }],
      desired: [{ ...group("front"), rulesMode: "additive" }],
      missing: [],
      options: { replace: ["group.front"] },
    },
    ["group.front replace requested", "note plan/rules-unobserved"],
  ],
  [
    "a rule that nobody shows, and that the last run left on a group that is replaced: it ends with one that is not",
    {
      applied: [{ ...group("front"), memory: { left: [rule(22)] }, now: { rules: undefined } }],
      desired: [group("front")],
      missing: [],
      options: { replace: ["group.front"] },
    },
    ["group.front replace requested rules:remove rule", "note plan/rules-unobserved"],
  ],
  [
    "a rule for what may leave, where the service lets everything out",
    {
      applied: [
        {
          ...leaving,
          memory: { platformRules: ["egress IPv4 any * any"] },
          now: {
            rules: [
              { id: "r-1", direction: "egress", ethertype: "IPv4", protocol: "tcp", portMin: 443, portMax: 443 },
              { id: "r-2", direction: "egress", ethertype: "IPv4" },
            ],
          },
        },
      ],
      desired: [leaving],
    },
    ["warning plan/egress-open"],
  ],
  [
    "a rule for what may leave, where the service let everything out and nobody can look any more",
    {
      applied: [{ ...leaving, memory: { platformRules: ["egress IPv4 any * any"] }, now: { rules: undefined } }],
      desired: [leaving],
    },
    ["warning plan/egress-open", "note plan/rules-unobserved"],
  ],
  [
    "a rule for what may leave, where somebody took the rule away with which the service let everything out",
    {
      applied: [{ ...leaving, memory: { platformRules: ["egress IPv4 any * any"] } }],
      desired: [leaving],
    },
    [],
  ],
  [
    "a rule for what may leave, where it lets out over the other family alone",
    {
      applied: [{ ...leaving, memory: { platformRules: ["egress IPv6 any * any"] } }],
      desired: [leaving],
    },
    [],
  ],
  [
    "a rule for what may leave, where it lets out less",
    {
      applied: [{ ...leaving, memory: { platformRules: ["egress IPv4 tcp 443 any"] } }],
      desired: [leaving],
    },
    [],
  ],
  [
    "a rule for what may leave, where it lets everything in",
    {
      applied: [{ ...leaving, memory: { platformRules: ["ingress IPv4 any * any"] } }],
      desired: [leaving],
    },
    [],
  ],
  [
    "a rule that nobody wrote, in an additive group",
    {
      applied: [
        {
          ...group("front"),
          now: {
            rules: [{ id: "r", direction: "ingress", ethertype: "IPv4", protocol: "tcp", portMin: 22, portMax: 22 }],
          },
        },
      ],
      desired: [group("front", { rulesMode: "additive" })],
      missing: [],
    },
    [],
  ],
  [
    "a rule that the platform made",
    {
      applied: [
        { ...group("front"), now: { rules: [{ id: "r", direction: "egress", ethertype: "IPv4", platform: true }] } },
      ],
      desired: [group("front")],
      missing: [],
    },
    [],
  ],
  [
    "rules that are ignored",
    {
      applied: [front],
      desired: [group("front", { lifecycle: { ...front.lifecycle, ignoreChanges: ["rules"] } })],
      missing: [],
    },
    [],
  ],
  [
    "a neighbour of one that is replaced",
    {
      applied: [group("front", { rules: [rule(80)] }), group("back", { rules: [namesFront] })],
      desired: [group("front"), group("back", { rules: [namesFront] })],
    },
    [
      "group.back update follows rules:point at the new group",
      "group.front replace changed rules:remove rule",
      "note plan/group-named",
    ],
  ],
  [
    "a neighbour with a rule that nobody wrote, as the last run saw it",
    {
      applied: [
        front,
        {
          ...group("back", { rulesMode: "additive" }),
          sighted: "unseen",
          memory: { left: [rule(22, { remote: { kind: "group", group: { id: idOf("group.front") } } })] },
        },
      ],
      desired: [front, group("back", { rulesMode: "additive" })],
      options: { replace: ["group.front"] },
    },
    [
      "group.back update follows rules:point at the new group",
      "group.front replace requested",
      "note plan/group-named",
    ],
  ],
  [
    "a neighbour that also names the former self of one, which waits to be deleted",
    {
      applied: [
        { ...front, memory: { retired: [{ id: "g-old", name: "front-old" }] } },
        {
          ...group("back", { rules: [namesFront] }),
          now: {
            rules: ["g-old", idOf("group.front")].map((remoteGroupId) => ({
              ...{ id: remoteGroupId, direction: "ingress", ethertype: "IPv4", protocol: "tcp" },
              ...{ portMin: 22, portMax: 22, remoteGroupId },
            })),
          },
        },
      ],
      desired: [front, group("back", { rules: [namesFront] })],
    },
    ["group.front update interrupted", "note plan/group-named"],
  ],
  [
    "gone",
    { applied: [{ ...front, sighted: "gone" }], desired: [front] },
    ["group.front create gone rules:add rule", "asks recreate", "warning plan/gone"],
  ],
  ["not declared", { applied: [front] }, ["group.front delete removed", "asks empty"]],
  [
    "somebody else has its name",
    { desired: [front], strangers: [strangerGroup], missing: [] },
    ["error plan/name-taken"],
  ],
];

describe.each([
  ["a VM", vms],
  ["a volume", volumes],
  ["a security group", groups],
] as const)("%s", (_, rows) => {
  it.each(rows)("%s", (_what, world, lines) => {
    expect(told(planFor(world))).toEqual(lines);
  });

  it("is what it was: the same plan, byte for byte, from the same inputs", () => {
    for (const [, world] of rows) expect(JSON.stringify(planFor(world))).toBe(JSON.stringify(planFor(world)));
  });
});

it("ids are what the tables take them for", () => {
  expect(idOf("vm.web")).toBe("id-vm-web");
});

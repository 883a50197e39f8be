/** A file as single resources (one/parts.ts): which parts there are, in which order, and what each is given. */
import { expect, it } from "vitest";
import type { Props } from "../../reconciler/one/handler";
import { groupSetParts, isPartReference, isPartText, outputPartsOf, partsOf } from "../../reconciler/one/parts";
import { handlers } from "../../reconciler/one/table";
import { desiredOf } from "../support/desired-file";

const vm = (more: string) => `vms: { web: { ${more} } }\n`;
const volume = (more: string) => `vms: { web: {} }\nvolumes: { data: { size: 5, ${more} } }\n`;
const group = (more: string) => `groups: { front: { ${more} } }\n`;
/** The inputs as an engine gives them once the other parts are made. */
const withIds = (inputs: Props): Props =>
  JSON.parse(JSON.stringify(inputs, (_, value) => (isPartReference(value) || isPartText(value) ? "1" : value)));
const said = (file: string) =>
  partsOf(desiredOf(file)).map(({ address, deletedWith }) =>
    deletedWith === undefined ? address : `${address} with ${deletedWith}`,
  );

it.each<readonly [what: string, file: string, parts: readonly string[]]>([
  [
    "groups, VMs and volumes",
    `${volume("attach_to: web")}groups: { front: {} }\n`,
    ["group.front", "vm.web", "volume.data", "volume.data/attachment"],
  ],
  [
    "a group after the one that its rule names",
    `groups: { front: { rules: [{ remote_group: back }] }, back: {} }`,
    ["group.back", "group.front"],
  ],
  ["a group whose rule names itself", group("rules: [{ remote_group: front }]"), ["group.front"]],
  [
    "a rule of its own where two groups name each other",
    "groups: { front: { rules: [{ remote_group: back }] }, back: { rules: [{ remote_group: front }, {}] } }",
    ["group.back", "group.front", "group.back/rule-0 with group.back"],
  ],
  [
    "the groups of a circle before one that names them",
    "groups: { lone: { rules: [{ remote_group: back }] }, front: { rules: [{ remote_group: back }] }, back: { rules: [{ remote_group: front }] } }",
    ["group.back", "group.front", "group.lone", "group.back/rule-0 with group.back"],
  ],
  [
    "a group after the VM whose address it admits",
    `${vm("")}${group('rules: [{ remote_ip: "${vm.web.private_ip}" }]')}`,
    ["vm.web", "group.front"],
  ],
])("has %s", (_, file, parts) => {
  expect(said(file)).toEqual(parts);
});

it.each<readonly [moved: string, file: string, formerly: Readonly<Record<string, readonly string[]>>]>([
  [
    "{ from: vm.old, to: vm.web }, { from: volume.a, to: volume.b }, { from: volume.b, to: volume.data }",
    volume("attach_to: web"),
    {
      "vm.web": ["vm.old"],
      "volume.data": ["volume.a", "volume.b"],
      "volume.data/attachment": ["volume.a/attachment", "volume.b/attachment"],
    },
  ],
  [
    "{ from: vm.old, to: vm.web }",
    vm("for_each: [a, b], name: '${each}-1'"),
    { "vm.web[a]": ["vm.old[a]"], "vm.web[b]": ["vm.old[b]"] },
  ],
  ["{ from: vm.web, to: 'vm.web[a]' }", vm("for_each: [a, b], name: '${each}-1'"), { "vm.web[a]": ["vm.web"] }],
])("moved: [%s] says what a part was called before", (moved, file, formerly) => {
  const parts = partsOf(desiredOf(`${file}moved: [${moved}]\n`));
  expect(Object.fromEntries(parts.flatMap((part) => (part.formerly ? [[part.address, part.formerly]] : [])))).toEqual(
    formerly,
  );
});

type Given = readonly [what: string, file: string, address: string, part: object];

it.each<Given>([
  [
    "the id that an import takes over",
    `${vm("name: web-1")}imports: [ { to: vm.web, id: vm-7 } ]\n`,
    "vm.web",
    { adopt: "vm-7" },
  ],
  ["no rulesMode, where all rules are its own", group("rules: [{}]"), "group.front", { rulesMode: undefined }],
  ["rulesMode, where others may add rules", group("rules_mode: additive"), "group.front", { rulesMode: "additive" }],
  [
    "rulesMode shared, where a rule of it is a part of its own",
    "groups: { front: { rules: [{ remote_group: back }] }, back: { rules: [{ remote_group: front }] } }",
    "group.back",
    { rulesMode: "shared", rules: [] },
  ],
  [
    "self for a rule that names its own group",
    group("rules: [{ remote_group: front }]"),
    "group.front",
    {
      rules: [{ remoteGroup: "self" }],
    },
  ],
  [
    "the part for a rule that names another",
    "groups: { front: { rules: [{ remote_group: back }] }, back: {} }",
    "group.front",
    { rules: [{ remoteGroup: { part: "group.back" } }] },
  ],
  ["no description where none is said", group(""), "group.front", { description: undefined }],
  ["a description", group("description: why"), "group.front", { description: "why" }],
  [
    "what becomes of removed rules",
    group("lifecycle: { on_rule_removal: keep }"),
    "group.front",
    {
      onRuleRemoval: "keep",
    },
  ],
  ["nothing of removed rules where it is usual", group(""), "group.front", { onRuleRemoval: undefined }],
  ["no onImageChange where it is usual", vm(""), "vm.web", { onImageChange: undefined, verifyResize: undefined }],
  ["onImageChange", vm("lifecycle: { on_image_change: replace }"), "vm.web", { onImageChange: "replace" }],
  ["no snapshotBefore where none is said", vm(""), "vm.web", { snapshotBefore: undefined }],
  ["snapshotBefore", vm("lifecycle: { snapshot_before: [resize] }"), "vm.web", { snapshotBefore: ["resize"] }],
  [
    "what is deleted with the VM",
    vm("lifecycle: { preserved_volumes: delete }"),
    "vm.web",
    {
      preservedVolumes: "delete",
    },
  ],
  ["no preservedVolumes where they stay", vm(""), "vm.web", { preservedVolumes: undefined }],
  [
    "a check of a resize",
    vm("lifecycle: { verify_resize: { check: { tcp: 22 } } }"),
    "vm.web",
    { verifyResize: { confirm: "auto", check: { tcp: 22 }, onFailure: "revert" } },
  ],
  [
    "a resize that somebody decides",
    vm("lifecycle: { verify_resize: { confirm: manual } }"),
    "vm.web",
    { verifyResize: { confirm: "manual", onFailure: "revert" } },
  ],
  [
    "a resize that stays when its check fails",
    vm("lifecycle: { verify_resize: { on_failure: leave, check: { command: [probe, web] } } }"),
    "vm.web",
    { verifyResize: { onFailure: "leave", check: { command: ["probe", "web"] } } },
  ],
  [
    "no flush where somebody is asked",
    volume("attach_to: web, flush: { via: ask }"),
    "volume.data",
    {
      flush: undefined,
    },
  ],
  ["a flush", volume("attach_to: web, flush: { via: stop }"), "volume.data", { flush: { via: "stop" } }],
  [
    "a flush by a command, also in its attachment",
    volume("attach_to: web, flush: { via: command, command: [sync] }"),
    "volume.data/attachment",
    { flush: { via: "command", command: ["sync"] }, vmId: { part: "vm.web" }, volumeId: { part: "volume.data" } },
  ],
  [
    "commands of a VM, and its flush",
    vm(
      "after_ready: { command: [setup, '1'], env: [A] }, after_attach: { command: [mount], timeout: 3m, again: when_changed }, flush: { via: command, command: [sync], env: [B] }",
    ),
    "vm.web",
    {
      afterReady: { command: ["setup", "1"], env: ["A"], timeout: "900000ms" },
      afterAttach: { command: ["mount"], timeout: "180000ms", again: "when_changed" },
      flush: { via: "command", command: ["sync"], env: ["B"] },
    },
  ],
  [
    "the command of a volume, as its attachment's",
    volume("attach_to: web, after_attach: { command: [mount, '${vm.web.private_ip}'] }"),
    "volume.data/attachment",
    { afterAttach: { command: ["mount", { part: "vm.web", property: "privateIp" }], timeout: "300000ms" } },
  ],
  [
    "the id of a VM that is not in the file",
    "volumes: { data: { size: 5, attach_to: { id: v-1 } } }",
    "volume.data/attachment",
    {
      vmId: "v-1",
    },
  ],
])("gives a part %s", (_, file, address, inputs) => {
  const given = partsOf(desiredOf(file)).find((one) => one.address === address)?.inputs;
  const asked = Object.fromEntries(Object.keys(inputs).map((name) => [name, given?.[name]]));
  expect(asked).toMatchObject(inputs);
  expect(given).toBeDefined();
  for (const { type, inputs: given } of partsOf(desiredOf(file)))
    expect(handlers[type].check(withIds(given)).failures).toEqual([]);
});

it.each<readonly [what: string, file: string, address: string, ignored: readonly string[]]>([
  ["where it hangs, for the attachment alone", "attach_to", "volume.data/attachment", ["vmId"]],
  ["not where it hangs, for the volume", "attach_to", "volume.data", []],
  ["its size, for the volume alone", "size", "volume.data", ["size"]],
  ["nothing of the size, for the attachment", "size", "volume.data/attachment", []],
])("ignores %s", (_, field, address, ignored) => {
  const file = volume(`attach_to: web, lifecycle: { ignore_changes: [${field}] }`);
  expect(partsOf(desiredOf(file)).find((one) => one.address === address)?.ignoreChanges).toEqual(ignored);
});

it("protects what must not be destroyed, and no attachment", () => {
  const file = volume("attach_to: web, lifecycle: { prevent_destroy: true }");
  expect(partsOf(desiredOf(file)).map(({ address, protect }) => [address, protect])).toEqual([
    ["vm.web", false],
    ["volume.data", true],
    ["volume.data/attachment", false],
  ]);
});

it("hands out outputs as texts, as values of parts, and as texts with such values in them", () => {
  const outputs = [
    "plain: here",
    "number: 5",
    'id: "${vm.web.id}"',
    'ip: "${vm.web.private_ip}"',
    'url: "http://${vm.web.private_ip}:80"',
    'list: ["${vm.web.name}", x]',
  ];
  const desired = desiredOf(`${vm("")}outputs: { ${outputs.join(", ")}, hidden: { value: y, sensitive: true } }\n`);
  const ip = { part: "vm.web", property: "privateIp" };
  expect(outputPartsOf(desired).map(({ name, value, sensitive }) => [name, value, sensitive])).toEqual([
    ["hidden", "y", true],
    ["id", { part: "vm.web" }, false],
    ["ip", ip, false],
    ["list", [{ part: "vm.web", property: "name" }, "x"], false],
    ["number", 5, false],
    ["plain", "here", false],
    ["url", { pieces: ["http://", ip, ":80"] }, false],
  ]);
});

it("takes a set of groups that name each other as a program writes them", () => {
  const parts = groupSetParts({
    front: { name: "front", rules: [{ remoteGroup: "back" }, { remoteGroup: "front" }, { remoteGroup: "g-9" }] },
    back: { name: "back", rules: [{ remoteGroup: "front" }] },
  });
  expect(parts.map(({ address, inputs, deletedWith }) => [address, inputs, deletedWith])).toEqual([
    [
      "front",
      { name: "front", rules: [{ remoteGroup: "self" }, { remoteGroup: "g-9" }], rulesMode: "shared" },
      undefined,
    ],
    ["back", { name: "back", rules: [{ remoteGroup: { part: "front" } }] }, undefined],
    ["front/rule-0", { securityGroupId: { part: "front" }, remoteGroup: { part: "back" } }, "front"],
  ]);
});

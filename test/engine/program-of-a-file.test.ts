/** A file and its state as parts and as the text of a program (one/parts.ts, one/program-text.ts), and kinds of rows alone (one/usual.ts). */
import { describe, expect, it } from "vitest";
import type { RecordedResource } from "../../reconciler/core/model/recorded";
import { emptyState, type FoldedState } from "../../reconciler/core/state/fold";
import { type DesiredPart, isPartReference, outputPartsOf, partsNamedIn, partsOf } from "../../reconciler/one/parts";
import { exportedParts, pulumiProgram } from "../../reconciler/one/program-text";
import { usualHandler } from "../../reconciler/one/usual";
import { desiredOf } from "../support/desired-file";
import { startVirtualProgram } from "../support/virtual-program";

const partsIn = (body: string): Readonly<Record<string, DesiredPart>> =>
  Object.fromEntries(partsOf(desiredOf(body)).map((part) => [part.address, part]));
const inputsIn = (body: string, address: string) => partsIn(body)[address]?.inputs;

describe("a part has as inputs", () => {
  it.each<readonly [what: string, body: string, address: string, inputs: object]>([
    [
      "a rule with the address of a VM",
      "vms: { web: {} }\ngroups: { front: { rules: [ { protocol: tcp, dst_port: 22, remote_ip: '${vm.web.private_ip}' } ] } }\n",
      "group.front",
      { rules: [{ remoteIp: { part: "vm.web", property: "privateIp" } }] },
    ],
    [
      "a rule with the address of a VM, and the family that the file says",
      "vms: { web: {} }\ngroups: { front: { rules: [ { protocol: tcp, dst_port: 22, ethertype: IPv4, remote_ip: '${vm.web.floating_ip}' } ] } }\n",
      "group.front",
      { rules: [{ remoteIp: { part: "vm.web", property: "floatingIp" }, ethertype: "IPv4" }] },
    ],
    [
      "a description with the name and the id of another",
      "vms: { web: {} }\ngroups: { front: { description: 'of ${vm.web.name} (${vm.web.id})' } }\n",
      "group.front",
      { description: { pieces: ["of ", { part: "vm.web", property: "name" }, " (", { part: "vm.web" }, ")"] } },
    ],
    [
      "a rule's description with the size of a volume",
      "volumes: { data: { size: 5 } }\ngroups: { front: { rules: [ { protocol: tcp, description: 'for ${volume.data.size} GB' } ] } }\n",
      "group.front",
      { rules: [{ description: { pieces: ["for ", { part: "volume.data", property: "size" }, " GB"] } }] },
    ],
    [
      "a check by HTTP",
      "vms: { web: { lifecycle: { verify_resize: { check: { http: 'http://{ip}/' } } } } }\n",
      "vm.web",
      { verifyResize: { check: { http: "http://{ip}/" }, confirm: "auto", onFailure: "revert" } },
    ],
    [
      "a check by a port",
      "vms: { web: { lifecycle: { verify_resize: { check: { tcp: 22 } } } } }\n",
      "vm.web",
      { verifyResize: { check: { tcp: 22 } } },
    ],
    [
      "a resize that is decided elsewhere",
      "vms: { web: { lifecycle: { verify_resize: { confirm: manual } } } }\n",
      "vm.web",
      { verifyResize: { confirm: "manual" } },
    ],
    [
      "a resize that stays where its check fails",
      "vms: { web: { lifecycle: { verify_resize: { on_failure: leave, check: { tcp: 1 } } } } }\n",
      "vm.web",
      { verifyResize: { onFailure: "leave" } },
    ],
    [
      "a flush by a command",
      "volumes: { data: { size: 5, flush: { via: command, command: [sync], env: [HOME] } } }\n",
      "volume.data",
      { flush: { via: "command", command: ["sync"], env: ["HOME"] } },
    ],
    [
      "what is to happen to its disks and its image",
      "vms: { web: { lifecycle: { on_image_change: replace, snapshot_before: [resize], preserved_volumes: delete, delete_floating_ip: true } } }\n",
      "vm.web",
      { onImageChange: "replace", snapshotBefore: ["resize"], preservedVolumes: "delete", deleteFloatingIp: true },
    ],
  ])("%s", (_, body, address, inputs) => {
    expect(inputsIn(body, address)).toMatchObject(inputs);
  });
  it.each<readonly [what: string, body: string, address: string, names: readonly string[]]>([
    [
      "what is usual of a VM",
      "vms: { web: { lifecycle: { verify_resize: { confirm: auto, on_failure: revert }, preserved_volumes: retain, on_image_change: rebuild, snapshot_before: [] } } }\n",
      "vm.web",
      ["verifyResize", "preservedVolumes", "onImageChange", "snapshotBefore"],
    ],
    ["a flush that is asked for", "volumes: { data: { size: 5, flush: { via: ask } } }\n", "volume.data", ["flush"]],
    [
      "what becomes of rules, where it is usual",
      "groups: { front: { lifecycle: { on_rule_removal: replace } } }\n",
      "group.front",
      ["onRuleRemoval", "rulesMode", "description"],
    ],
  ])("not %s", (_, body, address, names) => {
    const inputs = inputsIn(body, address)!;
    expect(names.filter((name) => Object.hasOwn(inputs, name))).toEqual([]);
  });
  it.each<readonly [what: string, body: string, address: string, part: object]>([
    [
      "a volume that is attached, whose place may change elsewhere",
      "vms: { web: {} }\nvolumes: { data: { size: 5, attach_to: web, lifecycle: { ignore_changes: [attach_to, size] } } }\n",
      "volume.data/attachment",
      { ignoreChanges: ["vmId"], inputs: { vmId: { part: "vm.web" }, volumeId: { part: "volume.data" } } },
    ],
    [
      "that volume itself",
      "vms: { web: {} }\nvolumes: { data: { size: 5, attach_to: web, lifecycle: { ignore_changes: [attach_to, size], prevent_destroy: true } } }\n",
      "volume.data",
      { ignoreChanges: ["size"], protect: true },
    ],
    [
      "a volume that hangs on a VM of elsewhere",
      "volumes: { data: { size: 5, attach_to: { id: 11111111-2222-4333-8444-555555555555 } } }\n",
      "volume.data/attachment",
      { ignoreChanges: [], inputs: { vmId: "11111111-2222-4333-8444-555555555555" } },
    ],
    [
      "a group that is additive",
      "groups: { front: { rules_mode: additive, lifecycle: { on_rule_removal: keep } } }\n",
      "group.front",
      { inputs: { rulesMode: "additive", onRuleRemoval: "keep" } },
    ],
  ])("and says of %s", (_, body, address, part) => {
    expect(partsIn(body)[address]).toMatchObject(part);
  });
});

it("a part comes after those whose values it names, and circles of groups are closed by rules of their own", () => {
  const addresses = Object.keys(
    partsIn(
      "vms: { web: {} }\ngroups: { front: { rules: [ { protocol: tcp, remote_group: back }, { protocol: tcp, remote_ip: '${vm.web.private_ip}' } ] }, back: { rules: [ { protocol: tcp, dst_port: 1, remote_group: front } ] } }\n",
    ),
  );
  const place = (address: string) => addresses.indexOf(address);
  expect(addresses).toHaveLength(4);
  expect(place("vm.web")).toBeLessThan(place("group.front"));
  const closing = addresses.find((address) => address.includes("/rule-"))!;
  expect(place(closing)).toBeGreaterThan(Math.max(place("group.front"), place("group.back")));
});

it("what is named in a value is found wherever it stands", () => {
  expect(
    partsNamedIn({ a: [{ part: "vm.a" }], b: { c: { part: "vm.b", property: "name" } }, d: "vm.c", e: null, f: 7 }),
  ).toEqual(["vm.a", "vm.b"]);
  expect([isPartReference({ part: "vm.a" }), isPartReference({ part: 7 }), isPartReference(null)]).toEqual([
    true,
    false,
    false,
  ]);
});

it("outputs keep their shape, with parts in the place of what is not known yet", () => {
  const body =
    "vms: { web: {} }\noutputs: { ip: { value: '${vm.web.private_ip}', sensitive: true }, all: { value: { list: ['${vm.web.name}', plain, 7], on: true, none: null } } }\n";
  expect(outputPartsOf(desiredOf(body))).toEqual([
    {
      name: "all",
      sensitive: false,
      value: { list: [{ part: "vm.web", property: "name" }, "plain", 7], on: true, none: null },
    },
    { name: "ip", sensitive: true, value: { part: "vm.web", property: "privateIp" } },
  ]);
  expect(outputPartsOf(desiredOf("vms: { web: {} }\n"))).toEqual([]);
});

const stateOf = (...records: readonly RecordedResource[]): FoldedState => ({
  ...emptyState("l"),
  resources: new Map(records.map((record) => [record.address, record])),
});
const webRecord: RecordedResource = {
  kind: "vm",
  address: "vm.web",
  id: "v-1",
  name: "web",
  privateIp: "10.0.0.5",
  preventDestroy: false,
  onDelete: { snapshot: false, preservedVolumes: "retain" },
};
const dataRecord: RecordedResource = {
  kind: "volume",
  address: "volume.data",
  id: "d-1",
  name: "data",
  sizeGb: 5,
  attachedTo: "v-1",
  flush: { via: "ask" },
  preventDestroy: false,
};
const frontRecord: RecordedResource = {
  kind: "group",
  address: "group.front",
  id: "g-1",
  name: "front",
  rules: [
    { direction: "ingress", ethertype: "IPv4", protocol: "tcp", remote: { kind: "group", group: { id: "g-2" } } },
  ],
  platformRules: [],
  preventDestroy: false,
};
const backRecord: RecordedResource = { ...frontRecord, address: "group.back", id: "g-2", name: "back", rules: [] };

describe("the parts of what was applied", () => {
  const nothing = desiredOf("version: 1\n".replace("version: 1\n", "vms: {}\n"));
  const exported = (state: FoldedState, desired = nothing) =>
    Object.fromEntries(exportedParts(desired, state).map(({ address, inputs }) => [address, inputs]));
  it("name each other where both were applied", () => {
    const parts = exported(stateOf(webRecord, dataRecord, frontRecord, backRecord));
    expect(parts["volume.data/attachment"]).toMatchObject({
      vmId: { part: "vm.web" },
      volumeId: { part: "volume.data" },
    });
    expect(parts["group.front"]).toMatchObject({ rules: [{ remoteGroup: { part: "group.back" } }] });
  });
  it("name by its id what is of elsewhere", () => {
    const parts = exported(stateOf(dataRecord, frontRecord));
    expect([
      parts["volume.data/attachment"]?.["vmId"],
      (parts["group.front"]!["rules"] as readonly { remoteGroup: string }[])[0]?.remoteGroup,
    ]).toEqual(["v-1", "g-2"]);
  });
  it("are as the file says where it declares them, and without what was never applied", () => {
    const desired = desiredOf(
      "vms: { web: { name: wanted }, late: {} }\ngroups: { front: { description: 'of ${vm.late.name}, ${vm.web.private_ip}' } }\n",
    );
    const parts = exported(stateOf(webRecord, frontRecord), desired);
    expect([Object.keys(parts).sort(), parts["vm.web"]?.["name"]]).toEqual([["group.front", "vm.web"], "wanted"]);
    expect(JSON.stringify(parts["group.front"]?.["description"])).toContain('{"part":"vm.web","property":"privateIp"}');
    expect(JSON.stringify(parts["group.front"]?.["description"])).toContain("vm.late");
  });
  it("have in the place of a value of their own what it is", () => {
    const desired = desiredOf("vms: { web: { after_ready: { command: [ssh, '${vm.web.private_ip}'] } } }\n");
    expect(exported(stateOf(webRecord), desired)["vm.web"]).toMatchObject({
      afterReady: { command: ["ssh", "10.0.0.5"] },
    });
  });
  it("leave out what has no id yet", () => {
    expect(exported(stateOf({ ...webRecord, id: undefined } as never))).toEqual({});
  });
});

describe("the text of a program", () => {
  const part = (
    address: string,
    type: DesiredPart["type"],
    inputs: DesiredPart["inputs"],
    more: Partial<DesiredPart> = {},
  ): DesiredPart => ({ address, type, inputs, protect: false, ignoreChanges: [], ...more });
  const web = part("vm.web", "Vm", { name: "web" });
  const state = stateOf(webRecord, dataRecord);
  const lines = (parts: readonly DesiredPart[], outputs: Parameters<typeof pulumiProgram>[3] = []) =>
    pulumiProgram("acme", parts, state, outputs)["index.ts"]!;
  it.each<readonly [what: string, value: unknown, text: string]>([
    ["the id of another", { part: "vm.web" }, "vmWeb.id"],
    ["the name of another", { part: "vm.web", property: "name" }, "vmWeb.name"],
    ["the size of another, as text", { part: "vm.web", property: "size" }, "pulumi.concat(vmWeb.size)"],
    [
      "an address, which must be shown",
      { part: "vm.web", property: "privateIp" },
      'vmWeb.privateIp.apply((value) => shown(value, "the privateIp of vm.web"))',
    ],
    ["a text with values in it", { pieces: ["of ", { part: "vm.web" }] }, 'pulumi.concat("of ", vmWeb.id)'],
    ["a direction mark as its number", "a\u202eb", '"a\\u202eb"'],
    ["an empty list", [], "[]"],
    ["a list", ["a"], '[\n    "a",\n  ]'],
    ["a key that is no name", { "a-b": 1, "x: f(), y": 2 }, '{\n    "a-b": 1,\n    "x: f(), y": 2,\n  }'],
    ["a map without what is left out", { a: 1, b: undefined }, "{\n    a: 1,\n  }"],
  ])("writes %s", (_, value, text) => {
    expect(lines([web, part("volume.data", "Volume", { value })])).toContain(`  value: ${text},\n`);
  });
  it("takes over what exists, but for attachments and rules, which are found", () => {
    const text = lines([web, part("volume.data/attachment", "VolumeAttachment", { vmId: { part: "vm.web" } })]);
    expect([text.includes('adopt: "v-1"'), (text.match(/adopt:/g) ?? []).length]).toEqual([true, 1]);
  });
  it("gives options where there are any, and no others", () => {
    const text = lines([
      web,
      part(
        "group.x/rule-0",
        "SecurityGroupRule",
        {},
        { protect: true, ignoreChanges: ["size"], deletedWith: "vm.web" },
      ),
    ]);
    expect(text).toContain('{\n  protect: true,\n  ignoreChanges: [\n    "size",\n  ],\n  deletedWith: vmWeb,\n}');
    expect(lines([web])).not.toMatch(/protect|ignoreChanges|deletedWith|parent/);
  });
  it("has components as the addresses say, and none for what belongs to a resource", () => {
    const attachment = part("shop/volume.data/attachment", "VolumeAttachment", { vmId: "v-9" });
    const text = lines([
      part("shop/volume.data", "Volume", {}),
      attachment,
      part("group.x/rule-0", "SecurityGroupRule", {}),
    ]);
    expect(text.match(/ComponentResource\("[^"]*", "[^"]*"/g)).toEqual([
      'ComponentResource("reconcile-cloud:index:Component", "shop"',
    ]);
    expect(text.match(/parent: \w+/g)).toEqual(["parent: shop", "parent: shop"]);
    const list: { resources: { name: string; parent?: string }[] } = JSON.parse(
      pulumiProgram("acme", [attachment], state)["import.json"]!,
    );
    expect(list.resources.map(({ name, parent }) => [name, parent])).toEqual([
      ["shop", undefined],
      ["shop/volume.data/attachment", "shop"],
    ]);
  });
  it("imports pulumi and has its helper only where they are used", () => {
    const plain = lines([web]);
    const needs = lines([web, part("volume.data", "Volume", { name: { part: "vm.web", property: "privateIp" } })]);
    const concat = lines([web, part("volume.data", "Volume", { name: { pieces: ["a"] } })]);
    expect(
      [plain, needs, concat].map((text) => [text.includes("import * as pulumi"), text.includes("function shown")]),
    ).toEqual([
      [false, false],
      [false, true],
      [true, false],
    ]);
  });
  it("hands out outputs, the sensitive ones as secrets", () => {
    const text = lines(
      [web],
      [
        { name: "web-ip", value: { part: "vm.web" }, sensitive: false },
        { name: "key", value: { part: "vm.web", property: "name" }, sensitive: true },
        { name: "gone", value: { part: "volume.data", property: "size" }, sensitive: false },
      ],
    );
    expect(text).toContain(
      'export const web_ip = vmWeb.id;\nexport const key = pulumi.secret(vmWeb.name);\nexport const gone = "5";',
    );
  });
  it("gives an output whose name the language or the program has already another one", () => {
    const text = lines(
      [web],
      ["a-b", "a_b", "class", "default", "pulumi", "vmWeb", "Vm"].map((name) => ({ name, value: 1, sensitive: false })),
    );
    const exported = ["a_b", "a_b2", "class2", "default2", "pulumi2", "vmWeb2", "Vm2"];
    expect(text.match(/(?<=export const )\w+/g)).toEqual(exported);
  });
  it.each([
    ["acme shop", "acme-shop"],
    ["", "exported"],
  ])("is of the project %j as %s", (project, name) => {
    expect(pulumiProgram(project, [web], state)["Pulumi.yaml"]).toContain(`name: ${name}\n`);
  });
  it("has a name of its own for each, also where two are spelled alike", () => {
    const text = lines([web, part("vm.we-b", "Vm", {}), part("vm.we_b", "Vm", {})]);
    expect(text.match(/^const (\w+)/gm)).toEqual(["const vmWeb", "const vmWeB", "const vmWeB2"]);
  });
  it("comes with a list to import: attachments by both ids, and no rules", () => {
    const files = pulumiProgram(
      "acme",
      [
        web,
        part("volume.data/attachment", "VolumeAttachment", { vmId: { part: "vm.web" }, volumeId: "d-1" }),
        part("group.x/rule-0", "SecurityGroupRule", {}),
        part("vm.late", "Vm", {}),
      ],
      state,
    );
    expect(JSON.parse(files["import.json"]!)).toEqual({
      resources: [
        { type: "reconcile-cloud:index:Vm", name: "vm.web", id: "v-1" },
        { type: "reconcile-cloud:index:VolumeAttachment", name: "volume.data/attachment", id: "v-1/d-1" },
      ],
    });
  });
});

describe("the resource of a kind that is its rows alone", () => {
  const handler = usualHandler("volume");
  it("has its rows as properties, and its host by the id", () => {
    expect([
      handler.inputs["name"]?.type,
      handler.inputs["size"]?.type,
      Object.hasOwn(handler.inputs, "adopt"),
      Object.hasOwn(handler.inputs, "attachTo"),
    ]).toEqual(["string", "integer", true, true]);
  });
  it("is made, read by its id and again, and shows what was changed elsewhere", async () => {
    const program = startVirtualProgram({ with: ["volume.list"] });
    const context = program.startProcess().contextOf("Volume", "data");
    const kept = await handler.create(context, { name: "data", size: 5 });
    expect(program.volumes().map(({ name, size }) => [name, size])).toEqual([["data", 5]]);
    expect((await handler.diff(context, kept.id, kept.outputs, { name: "data", size: 5 })).changes).toEqual([]);
    expect((await handler.diff(context, kept.id, kept.outputs, { name: "data", size: 6 })).changes).toEqual([
      { property: "size", replaces: false },
    ]);
    await program.client.resizeVolume(kept.id, 9);
    await program.clock.sleep(600_000);
    const found = await handler.read(context, kept.id, kept.outputs);
    expect(found?.inputs).toMatchObject({ name: "data", size: 9 });
    const alone = await handler.read(context, kept.id);
    expect(alone?.inputs).toMatchObject({ name: "data", size: 9 });
    await handler.delete(context, kept.id, found!.outputs);
    expect(program.volumes()).toEqual([]);
  });
  it("is hung on its host", async () => {
    const program = startVirtualProgram({ with: ["volume.list"] });
    const process = program.startProcess();
    const { id } = await process.create("Vm", "web", {
      name: "web",
      flavorId: "m1.small",
      imageId: "ubuntu-24.04",
      owner: "ops@acme.example",
      userId: "1042",
      project: "acme",
      region: "in-west-1",
      size: 10,
    });
    const context = process.contextOf("Volume", "data");
    const kept = await handler.create(context, { name: "data", size: 5, attachTo: id });
    expect(program.volumes().map(({ attached_to }) => attached_to)).toEqual([id]);
    const found = await handler.read(context, kept.id);
    expect(found?.inputs["attachTo"]).toBe(id);
  });
});

/** What the handlers of single resources are made of: properties as fields of a file, words, and what guests were told. */
import { describe, expect, it } from "vitest";
import { identity } from "../../reconciler/core/model/identity";
import { holding } from "../../reconciler/one/exclusion";
import { keptUnseen, notedForeign, notedOpen, notFound, refuseLosses, stillPending } from "../../reconciler/one/guards";
import {
  type HandlerFailure,
  type HandlerService,
  type Property,
  type Props,
  sentence,
  unknownValue,
} from "../../reconciler/one/handler";
import { groupsIn } from "../../reconciler/one/named-ids";
import {
  addressOf,
  asFileValue,
  checkInputs,
  desiredOf,
  type Written,
  writtenOfExisting,
} from "../../reconciler/one/one-desired";
import type { PlannedOne } from "../../reconciler/one/one-run";
import { adoptedId, adoptsNothing, isDoneWith } from "../../reconciler/one/shared-properties";
import { isVolumeChanged, type Noticed, noteStanding, toldOf, untold } from "../../reconciler/one/stands-on";
import { findForEngine, findHandler, type HandlerType, handlers } from "../../reconciler/one/table";
import { inProgramWords } from "../../reconciler/one/words";

const vm = {
  ...{ name: "web", flavorId: "m1.small", imageId: "ubuntu-24.04", owner: "ops@acme.example", userId: "1042" },
  ...{ project: "acme", region: "in-west-1", size: 10 },
};

const without = (props: Props, ...names: readonly string[]): Props =>
  Object.fromEntries(Object.entries(props).filter(([name]) => !names.includes(name)));

describe("what is wrong with the properties of a resource", () => {
  const rows: readonly (readonly [
    what: string,
    type: HandlerType,
    inputs: Props,
    failures: readonly string[],
    exists?: true,
  ])[] = [
    [
      "a property that there is not, and one that is near",
      "Volume",
      { name: "data", sise: 5, size: 5 },
      ["sise: is not a property of this resource; did you mean size?"],
    ],
    [
      "a property that there is not, and none that is near",
      "Volume",
      { name: "data", size: 5, zzzzzzzz: 1 },
      ["zzzzzzzz: is not a property of this resource"],
    ],
    [
      "a property of every object",
      "Volume",
      { name: "data", size: 5, toString: 1 },
      [expect.stringMatching(/^toString: is not a property/)],
    ],
    ["what is left out as null is left out", "Volume", { name: "data", size: null }, ["size: is required"]],
    ["what is left out and not required", "Volume", { name: "data", size: 5, adopt: undefined }, []],
    ["what only a create needs, where it is to be made", "Vm", without(vm, "userId"), ["userId: is required"]],
    ["what only a create needs, where it exists", "Vm", without(vm, "userId", "project", "region", "size"), [], true],
    [
      "what is required of what exists as well",
      "Vm",
      without(vm, "flavorId", "userId"),
      ["flavorId: is required"],
      true,
    ],
    [
      "a flush that lacks its command",
      "Volume",
      { name: "data", size: 5, flush: { via: "command" } },
      [expect.stringMatching(/^flush: /)],
    ],
    [
      "a value in a map in a map",
      "Vm",
      { ...vm, verifyResize: { check: { tcp: 0 } } },
      [expect.stringMatching(/^verifyResize\.check\.tcp: /)],
    ],
    [
      "a field of a rule in a list",
      "SecurityGroup",
      { name: "front", rules: [{ protocol: "tcp", dstPort: "x" }] },
      [expect.stringMatching(/^rules\[0\]\.dstPort: /)],
    ],
    [
      "the group that a rule in a list admits",
      "SecurityGroup",
      { name: "front", rules: [{ protocol: "tcp", dstPort: "22", remoteGroup: "" }] },
      [expect.stringMatching(/^rules\[0\]\.remoteGroup: /)],
    ],
    [
      "a field of a rule of its own",
      "SecurityGroupRule",
      { securityGroupId: "g", protocol: "tcp", dstPort: "x" },
      [expect.stringMatching(/^dstPort: /)],
    ],
  ];
  it.each(rows.map(([what, ...row]) => [what, row] as const))("%s", (_, [type, inputs, failures, exists]) => {
    const checked = handlers[type].check(inputs, exists);
    expect(checked.failures.map(({ property, reason }) => `${property}: ${reason}`)).toEqual(failures);
  });

  it.each<readonly [what: string, type: HandlerType, given: Props, stored: Props]>([
    ["a size as text", "Volume", { size: " 10 " }, { size: 10 }],
    ["a size as text that is no whole number", "Volume", { size: "10.5" }, { size: "10.5" }],
    [
      "true and false as texts",
      "Vm",
      { skipFloatingIp: "true", deleteFloatingIp: "false" },
      { skipFloatingIp: true, deleteFloatingIp: false },
    ],
    ["another text where it is true or false", "Vm", { skipFloatingIp: "yes" }, { skipFloatingIp: "yes" }],
    ["a text that says true", "Vm", { name: "true" }, { name: "true" }],
    ["a text of digits", "Vm", { userId: "1042" }, { userId: "1042" }],
    [
      "what is in maps of maps",
      "Vm",
      { verifyResize: { check: { tcp: "22", http: null } } },
      { verifyResize: { check: { tcp: 22 } } },
    ],
    [
      "what is in a map that has no such key",
      "Vm",
      { verifyResize: { other: "22" } },
      { verifyResize: { other: "22" } },
    ],
    ["what is not known yet", "Volume", { size: unknownValue }, { size: unknownValue }],
    ["no map where a map belongs", "Vm", { verifyResize: "auto" }, { verifyResize: "auto" }],
  ])("is checked in the one form that is stored: %s", (_, type, given, stored) => {
    const { inputs } = handlers[type].check(given);
    expect(Object.fromEntries(Object.keys(stored).map((name) => [name, inputs[name]]))).toEqual(stored);
    expect(Object.keys(inputs)).toEqual(Object.keys(stored));
  });

  it("a warning is no failure, and is in the words of a program", () => {
    const { failures, warnings } = handlers.SecurityGroup.check({
      name: "front",
      rules: [{ protocol: "tcp", dstPort: "22", remoteIp: "10.0.0.7/8" }],
    });
    expect([failures, warnings]).toEqual([[], []]);
  });

  it("a stand-in takes the place of what is required and not known yet, and nothing that of the rest", () => {
    const properties: Record<string, Property> = {
      size: { type: "integer", required: true, description: "" },
      name: { type: "string", required: true, description: "" },
      other: { type: "string", description: "" },
      rules: {
        type: "array",
        description: "",
        items: { type: "object", description: "", properties: { port: { type: "string", description: "" } } },
      },
      words: { type: "array", description: "", items: { type: "string", description: "" } },
    };
    const seen: Props[] = [];
    const write = (inputs: Props): Written => {
      seen.push(inputs);
      return { kind: "volume", lines: [] };
    };
    const all = Object.fromEntries(Object.keys(properties).map((name) => [name, unknownValue]));
    checkInputs(properties, all, write);
    checkInputs(
      properties,
      { ...all, rules: [{ port: unknownValue }], words: [unknownValue], name: "a", size: 7, other: "b" },
      write,
    );
    checkInputs(properties, { ...all, rules: [unknownValue], words: ["x"] }, write);
    expect(seen).toEqual([
      { size: 1, name: "unknown-value" },
      { size: 7, name: "a", other: "b", rules: [{ port: unknownValue }] },
      { size: 1, name: "unknown-value", words: ["x"] },
    ]);
  });
});

describe("properties as a file would have them", () => {
  it.each<readonly [name: unknown, address: string]>([
    ["web", "vm.web"],
    ["web server/1", "vm.web-server-1"],
    ["", "vm.this"],
    [undefined, "vm.this"],
    [7, "vm.this"],
  ])("what is named %j has the address %s", (name, address) => {
    expect(addressOf("vm", name)).toBe(address);
  });

  it.each<readonly [value: unknown, field: unknown]>([
    [{ onFailure: { dstPort: 1 } }, { on_failure: { dst_port: 1 } }],
    [
      [{ dstPort: 1 }, "dstPort"],
      [{ dst_port: 1 }, "dstPort"],
    ],
    [{ a: undefined, b: null, c: 0 }, { c: 0 }],
    [null, null],
    ["aB", "aB"],
  ])("%j is %j", (value, field) => {
    expect(asFileValue(value)).toEqual(field);
  });

  it("an error in what was not checked is an error at its property", () => {
    const write = (value: unknown): Written => ({
      kind: "volume",
      lines: [
        { property: "name", field: "name", value: "data" },
        { property: "", field: "size", value: 1 },
        { property: "flush", field: "flush", value },
      ],
    });
    expect(desiredOf(write({ via: "stop" })).address).toBe("volume.data");
    expect(() => desiredOf(write({ via: "never" }))).toThrow(/^flush(\.via)?: /);
    const hidden: Written = { kind: "volume", lines: [{ property: "", field: "size", value: 0 }] };
    expect(() => desiredOf(hidden)).toThrow(/^(?!: )/);
  });

  it("what exists goes without what only a create needs, which is then not compared", () => {
    const properties: Record<string, Property> = {
      name: { type: "string", required: true, description: "" },
      userId: { type: "string", required: true, onlyToCreate: true, description: "" },
      size: { type: "integer", required: true, onlyToCreate: true, description: "" },
    };
    const write = (inputs: Props): Written => ({
      kind: "vm",
      lines: Object.entries(inputs).map(([property, value]) => ({ property, field: property, value })),
    });
    const ignored = (...names: readonly string[]) => ({
      property: "",
      field: "ignore_changes",
      value: names,
      section: "lifecycle",
    });
    const line = (property: string, value: unknown) => ({ property, field: property, value });
    expect(writtenOfExisting(properties, { name: "a", userId: "u", size: 2 }, write).lines).toEqual([
      line("name", "a"),
      line("userId", "u"),
      line("size", 2),
    ]);
    expect(writtenOfExisting(properties, { name: "a", userId: null, size: 2 }, write).lines).toEqual([
      line("name", "a"),
      line("userId", "unknown-value"),
      line("size", 2),
      ignored("user_id"),
    ]);
    expect(writtenOfExisting(properties, { name: "a" }, write).lines.slice(1)).toEqual([
      line("userId", "unknown-value"),
      line("size", 1),
      ignored("user_id", "size"),
    ]);
  });
});

describe("what a property says that tells what to take over", () => {
  it.each<readonly [adopt: unknown, id: string | undefined, isNone: boolean, isDone: boolean]>([
    [undefined, undefined, false, true],
    ["none", undefined, true, true],
    ["v-1", "v-1", false, true],
    ["v-2", "v-2", false, false],
    [7, undefined, false, false],
  ])("adopt: %j", (adopt, id, isNone, isDone) => {
    expect([adoptedId({ adopt }), adoptsNothing({ adopt }), isDoneWith({ adopt }, "v-1")]).toEqual([
      id,
      isNone,
      isDone,
    ]);
  });

  it.each<readonly [inputs: Props, ids: readonly string[]]>([
    [{ remoteGroup: "g-1" }, ["g-1"]],
    [{ remoteGroup: "self" }, []],
    [{ remoteGroup: unknownValue }, []],
    [{ remoteGroup: 7 }, []],
    [{}, []],
    [
      {
        rules: [
          { remoteGroup: "g-1" },
          { remoteGroup: "self" },
          "no rule",
          { protocol: "tcp" },
          { remoteGroup: "g-2" },
        ],
      },
      ["g-1", "g-2"],
    ],
  ])("%j names the groups %j", (inputs, ids) => {
    expect(groupsIn(inputs)).toEqual(ids.map((id) => ({ kind: "group", id })));
  });
});

const serviceOf = (): HandlerService => ({ client: {} }) as unknown as HandlerService;

describe("what the command of an attachment has not been told", () => {
  // The service numbers each kind by itself.
  const ids = { vmId: "106", volumeId: "106" };
  type Standing = readonly [was: Noticed | undefined, is: Noticed | undefined];
  const standing = (volume: Standing | undefined, host: Standing | undefined): HandlerService => {
    const service = serviceOf();
    for (const [kind, noted] of [
      ["volume", volume],
      ["vm", host],
    ] as const)
      if (noted !== undefined)
        noteStanding(service, identity(kind, "106"), { isChanged: false, was: noted[0], is: noted[1] });
    return service;
  };
  it.each<
    readonly [
      what: string,
      volume: Standing | undefined,
      host: Standing | undefined,
      told: { sizeGb?: number; image?: string } | undefined,
      reasons: readonly string[],
    ]
  >([
    ["nothing is known", undefined, undefined, undefined, []],
    ["the volume grows", [5, 9], undefined, undefined, ["grown"]],
    ["the volume has not grown", [5, 5], undefined, undefined, []],
    ["the volume is smaller than what was told", [5, 9], undefined, { sizeGb: 10 }, []],
    ["the volume has grown since it was told", [9, 9], undefined, { sizeGb: 5 }, ["grown"]],
    ["the size was never known", [undefined, 9], undefined, undefined, []],
    ["the size is not known by now", [5, undefined], undefined, undefined, []],
    ["the VM gets another image", undefined, ["a", "b"], undefined, ["vm_rebuilt"]],
    ["the VM keeps its image", undefined, ["a", "a"], undefined, []],
    ["the VM has another image than what was told", undefined, ["b", "b"], { image: "a" }, ["vm_rebuilt"]],
    ["the image was never known", undefined, [undefined, "b"], undefined, []],
    ["the image is not known by now", undefined, ["a", undefined], undefined, []],
    ["both", [5, 9], ["a", "b"], undefined, ["grown", "vm_rebuilt"]],
  ])("where %s", (_, volume, host, told, reasons) => {
    expect(untold(standing(volume, host), ids, told)).toEqual(reasons);
  });

  it.each<
    readonly [
      what: string,
      volume: Standing | undefined,
      host: Standing | undefined,
      sizeGb: number | undefined,
      now: object,
    ]
  >([
    ["the size that was seen goes before the one that is wanted", [5, 9], undefined, 7, { sizeGb: 7, image: "old" }],
    ["the size that is wanted, where none was seen", [5, 9], ["a", "b"], undefined, { sizeGb: 9, image: "b" }],
    ["what is not known stays as it was told", undefined, undefined, undefined, { sizeGb: 3, image: "old" }],
  ])("is told then: %s", (_, volume, host, sizeGb, now) => {
    expect(toldOf(standing(volume, host), ids, sizeGb, { sizeGb: 3, image: "old" })).toEqual(now);
  });

  it("what was changed once in this process stays changed", () => {
    const service = serviceOf();
    noteStanding(service, identity("vm", "106"), { isChanged: true });
    expect(isVolumeChanged(service, ids)).toBe(false);
    noteStanding(service, identity("volume", "106"), { isChanged: true });
    noteStanding(service, identity("volume", "106"), { isChanged: false });
    expect([isVolumeChanged(service, ids), isVolumeChanged(service, { ...ids, volumeId: "107" })]).toEqual([
      true,
      false,
    ]);
  });
});

describe("words of a file in the words of a program", () => {
  it.each([
    ["dst_port and preserved_volumes", "dstPort and preservedVolumes"],
    ["no_such_field stays", "no_such_field stays"],
    ["vm.web", "VM web"],
    ["VM vm.web", "VM web"],
    ["volume volume.data is attached", "volume data is attached"],
    ["vm.resize is no resource", "vm.resize is no resource"],
    ["detach it from vm.host first", "detach it from the VM first"],
    ["volume.attachment", "the volume"],
    ["group.rule", "the group"],
    ["volume.other_1: volume 7 is on VM web", "a volume of the VM: volume 7 is on VM web"],
    ["a.vm.web stays", "a.vm.web stays"],
    ["RECONCILE_ADDRESS=vm.web mount", "RECONCILE_ADDRESS=vm.web mount"],
    ["the run will end waiting (exit code 4) until", "the run will end waiting until"],
  ])("%s: %s", (text, words) => {
    expect(inProgramWords(text)).toBe(words);
  });

  it.each<readonly [what: string, diagnostic: Parameters<typeof sentence>[0], words: string]>([
    ["a summary alone", { severity: "error", code: "plan/shrink", summary: "it is smaller" }, "it is smaller"],
    [
      "with a detail and a fix",
      { severity: "error", code: "plan/shrink", summary: "a", detail: "b", fix: "c" },
      "a — b — c",
    ],
    [
      "with the fix of a program in the place of a command's",
      { severity: "error", code: "plan/gone", summary: "a", fix: "run it" },
      "a — if it still exists, check the credential's project and rights",
    ],
  ])("a diagnostic is a sentence: %s", (_, diagnostic, words) => {
    expect(sentence(diagnostic)).toBe(words);
  });
});

describe("what a handler refuses says", () => {
  const message = (error: HandlerFailure): string => error.message;
  it.each<readonly [said: string, expected: string | RegExp]>([
    [message(stillPending({ name: "data" }, {})), /^the outcome of creating data is not known — pulumi refresh/],
    [
      message(stillPending({}, { intent: { sentAt: "T" } as never }, "pending:1")),
      /^the outcome of creating pending:1 is not known \(sent at T\)/,
    ],
    [
      message(notedOpen({ name: "data" }, "T")),
      /^a run that was cut off sent the create of data at T, and its outcome is not known — look for it/,
    ],
    [
      message(notedOpen({ name: "data", adopt: "none" }, "T")),
      /outcome is not known — adopt: "none" stood in the program already/,
    ],
    [
      message(notedForeign({ name: "data" }, { by: "urn", sentAt: "T" })),
      /at T, and no state was seen to have it since — it was sent for urn\. .* adopt: "ID" takes over/,
    ],
    [
      message(notedForeign({ name: "data" }, { by: "urn", sentAt: "T", id: "v-1" })),
      /at T, which made v-1, and no state .* adopt: "v-1" takes over/,
    ],
    [message(notFound("VM a", "volume b")), /VM a.*volume b/s],
    [keptUnseen("VM a", { seen: "unobserved", reason: "why" }), "VM a was not seen, and is kept as it was: why"],
    [
      keptUnseen("VM a", { seen: "unobserved", reason: "why", vanished: true } as never),
      /^VM a was not seen, and is kept as it was: why; where it is really gone: pulumi state delete/,
    ],
    [
      keptUnseen("VM a", { seen: "unobserved", reason: "why", fix: "--accept-service" } as never),
      /: why(; where it is really gone.*)?$/,
    ],
  ])("%s", (said, expected) => {
    if (typeof expected === "string") expect(said).toBe(expected);
    else expect(said).toMatch(expected);
  });

  const planned = (change: object | undefined): PlannedOne =>
    ({
      state: { address: "vm.web" },
      plan: {
        changes: change === undefined ? [] : [{ address: "vm.web", name: "web", fields: [], losses: [], ...change }],
      },
    }) as unknown as PlannedOne;
  it.each<readonly [what: string, change: object | undefined, refused: string | undefined]>([
    ["nothing changes", undefined, undefined],
    ["an update that loses nothing", { action: "update" }, undefined],
    [
      "an update that loses something",
      { action: "update", losses: [{ detail: "the disk" }] },
      "web: why — the disk — make the program say what is there first",
    ],
    [
      "a replacement that loses nothing",
      { action: "replace", fields: [{ field: "size", before: "1", after: "2" }] },
      "web: why — size is 1, and 2 is asked for — make the program say what is there first",
    ],
  ])("a loss that no preview has shown: %s", (_, change, refused) => {
    const call = () => refuseLosses(planned(change), "why");
    if (refused === undefined) expect(call()).toBeUndefined();
    else expect(call).toThrow(refused);
  });
});

describe("handlers by their names", () => {
  it.each([
    ["Vm", true],
    ["VolumeAttachment", true],
    ["toString", false],
    ["vm", false],
  ])("%s: %s", (type, isThere) => {
    expect([findHandler(type)?.type, findForEngine(type)?.type]).toEqual(
      isThere ? [type, type] : [undefined, undefined],
    );
  });
});

describe("what is done to one thing", () => {
  it("is done one after the other, a failure included, and beside what is done to another one or for another service", async () => {
    const [service, other] = [serviceOf(), serviceOf()];
    const order: string[] = [];
    const open: (() => void)[] = [];
    const call = (name: string) => async () => {
      order.push(`${name} begins`);
      await new Promise<void>((resolve) => open.push(resolve));
      order.push(`${name} ends`);
      if (name === "a") throw new Error("a failed");
      return name;
    };
    const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
    const calls = [
      holding(service, "vm:1", call("a")).catch((error: Error) => error.message),
      holding(service, "vm:1", call("b")),
      holding(service, "vm:2", call("c")),
      holding(other, "vm:1", call("d")),
    ];
    for (let round = 0; round < 4; round++) {
      await turn();
      open.shift()?.();
    }
    await turn();
    expect(await Promise.all(calls)).toEqual(["a failed", "b", "c", "d"]);
    expect(order.slice(0, 4)).toEqual(["a begins", "c begins", "d begins", "a ends"]);
    expect(order.indexOf("b begins")).toBeGreaterThan(order.indexOf("a ends"));
    expect(await holding(service, "vm:1", async () => "later")).toBe("later");
  });
});

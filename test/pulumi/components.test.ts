import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { channelOptions } from "../../provider/plugin/engine-log";
import { alias, grpc, messages, resources, Struct } from "../../provider/plugin/sdk";
import { createService } from "../../provider/plugin/service";
import { wrapSecret } from "../../provider/secrets";
import { unknownValue } from "../../reconciler/index";
import { fromSdk } from "./provider-process";

/** What the engine was asked to register: enough of it to give ids, or none in a preview. */
interface Asked {
  readonly name: string;
  readonly type: string;
  readonly parent: string;
  readonly inputs: Record<string, unknown>;
  readonly after: readonly string[];
  readonly request: InstanceType<typeof resources.RegisterResourceRequest>;
}

type Done<T> = (error: null, response: T) => void;
type Call<T> = { readonly request: T };

async function serveMonitor(isPreview: boolean) {
  const asked: Asked[] = [];
  let outputs: unknown;
  const { ResourceMonitorService } = fromSdk(
    "@pulumi/pulumi/proto/resource_grpc_pb",
  ) as typeof import("@pulumi/pulumi/proto/resource_grpc_pb");
  const { Empty } = fromSdk(
    "google-protobuf/google/protobuf/empty_pb.js",
  ) as typeof import("google-protobuf/google/protobuf/empty_pb");
  const server = new grpc.Server(channelOptions);
  const service = ResourceMonitorService as unknown as Parameters<typeof server.addService>[0];
  const unused = Object.fromEntries(Object.keys(service).map((name) => [name, () => undefined]));
  server.addService(service, {
    ...unused,
    registerResource(
      { request }: Call<Asked["request"]>,
      done: Done<InstanceType<typeof resources.RegisterResourceResponse>>,
    ) {
      const inputs = request.getObject()?.toJavaScript() as Record<string, unknown>;
      const name = request.getName();
      asked.push({
        ...{ name, type: request.getType(), parent: request.getParent(), inputs, request },
        after: request.getDependenciesList(),
      });
      const response = new resources.RegisterResourceResponse();
      response.setUrn(`urn:${name}`);
      response.setId(isPreview || !request.getCustom() ? "" : `id-of-${name}`);
      const address = isPreview ? unknownValue : `10.0.0.${asked.length}`;
      response.setObject(Struct.fromJavaScript({ ...inputs, privateIp: address } as never));
      done(null, response);
    },
    registerResourceOutputs(
      { request }: Call<InstanceType<typeof resources.RegisterResourceOutputsRequest>>,
      done: Done<InstanceType<typeof Empty>>,
    ) {
      outputs = request.getOutputs()?.toJavaScript();
      done(null, new Empty());
    },
  } as never);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  return { asked, outputs: () => outputs, address: `127.0.0.1:${port}`, close: () => server.forceShutdown() };
}

const plainVm = {
  ...{ flavorId: "m1.small", imageId: "ubuntu-24.04", owner: "ops@acme.example", userId: "1042" },
  ...{ project: "acme", region: "in-west-1", size: 10 },
};

describe("a component that a program in another language names", () => {
  let monitor: Awaited<ReturnType<typeof serveMonitor>>;
  beforeEach(async () => {
    monitor = await serveMonitor(false);
  });
  afterEach(() => monitor.close());

  const told: string[] = [];
  const make = (
    type: string,
    inputs: Record<string, unknown>,
    set?: (request: InstanceType<typeof messages.ConstructRequest>) => void,
  ) => {
    const request = new messages.ConstructRequest();
    request.setType(`reconcile-cloud:index:${type}`);
    request.setName("site");
    request.setMonitorendpoint(monitor.address);
    request.setInputs(Struct.fromJavaScript(inputs as never));
    set?.(request);
    return createService((_severity, _urn, message) => void told.push(message)).construct(request);
  };
  /** What a part was before: of another type, of another name, or of both. */
  const aliasOf = (one: InstanceType<typeof alias.Alias>): string =>
    [one.getSpec()?.getType().startsWith("pulumi-nodejs:dynamic/") ? "dynamic" : "", one.getSpec()?.getName()]
      .filter((said) => said !== "")
      .join(" ");
  const fileOf = (text: string): string => {
    const file = join(mkdtempSync(join(tmpdir(), "reconcile-component-")), "reconcile.yaml");
    writeFileSync(file, text);
    return file;
  };
  const world = `
version: 1
project: acme
region: in-west-1
vars: { key: { default: none } }
defaults: { vm: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 } }
vms: { db: { name: db-1, lifecycle: { prevent_destroy: true } } }
volumes: { data: { size: 20, attach_to: db } }
groups:
  front: { description: "\${var.key}", rules: [ { protocol: tcp, dst_port: 22, remote_group: back } ] }
  back: { name: back-1, rules: [ { protocol: tcp, dst_port: 5432, remote_group: front }, { protocol: tcp, dst_port: 53, remote_ip: "\${vm.db.private_ip}" } ] }
outputs: { address: "\${vm.db.private_ip}", login: "ssh \${vm.db.floating_ip}", port: 5432 }
moved: [ { from: volume.old, to: volume.data } ]
`;

  it("is a whole file: each resource after those whose ids and addresses it names, and what the file hands out", async () => {
    const inputs = { files: [fileOf(world)], flushConfirmed: true };
    const response = await make("DesiredState", inputs, (request) => {
      request.getProvidersMap().set("reconcile-cloud", "urn:provider::id");
      request.setProtect(false);
    });
    const [self, ...parts] = monitor.asked;
    expect(self).toMatchObject({ name: "site", type: "reconcile-cloud:index:DesiredState", inputs });
    const byName = new Map(parts.map((part) => [part.name, part]));
    expect([...byName.keys()].sort()).toEqual([
      ...["group.back", "group.back/rule-0", "group.front", "vm.db", "volume.data", "volume.data/attachment"],
    ]);
    for (const part of parts)
      expect([part.parent, part.request.getProvider(), part.request.getAliasesList()[0]?.getSpec()?.getType()]).toEqual(
        [
          "urn:site",
          "urn:provider::id",
          part.type.replace("reconcile-cloud:index", "pulumi-nodejs:dynamic/reconcile-cloud"),
        ],
      );
    expect(byName.get("volume.data/attachment")).toMatchObject({
      inputs: { vmId: "id-of-vm.db", volumeId: "id-of-volume.data", flushConfirmed: true },
      after: ["urn:vm.db", "urn:volume.data"],
    });
    const at = parts.findIndex(({ name }) => name === "vm.db") + 2;
    expect(byName.get("group.back")?.inputs["rules"]).toEqual([
      expect.objectContaining({ dstPort: "53", remoteIp: `10.0.0.${at}` }),
    ]);
    expect(byName.get("group.back/rule-0")?.request.getDeletedwith()).toBe("urn:group.back");
    expect([byName.get("vm.db"), byName.get("volume.data")].map((one) => one?.request.getProtect())).toEqual([
      ...[true, false],
    ]);
    const formerNames = byName.get("volume.data/attachment")?.request.getAliasesList().map(aliasOf);
    expect(formerNames).toEqual(["dynamic", "volume.old/attachment", "dynamic volume.old/attachment"]);
    const state = response.getState()?.toJavaScript();
    expect(state).toEqual(monitor.outputs());
    expect(state).toMatchObject({
      ids: { "vm.db": "id-of-vm.db", "group.front": "id-of-group.front" },
      addresses: { "vm.db": { privateIp: `10.0.0.${at}` } },
    });
    // The service shows no public address, so that no text has one.
    expect(state?.["outputs"]).toEqual({ address: `10.0.0.${at}`, port: 5432 });
  });

  it("lets a part go before its successor, unless the part is to stay and so keeps its name", async () => {
    await make("SecurityGroupSet", { groups: { goes: {} } });
    await make("SecurityGroupSet", { groups: { stays: {} } }, (request) => request.setRetainondelete(true));
    const parts = monitor.asked.filter(({ request }) => request.getCustom());
    expect(parts.map(({ name, request }) => [name, request.getDeletebeforereplace()])).toEqual([
      ["group.site-goes", true],
      ["group.site-stays", false],
    ]);
  });

  it("keeps a secret of its inputs one, wherever it goes", async () => {
    await make("DesiredState", { files: [fileOf(world)], vars: { key: wrapSecret("hush") } });
    const front = monitor.asked.find(({ name }) => name === "group.front");
    expect(front?.inputs["description"]).toEqual(wrapSecret("hush"));
    expect(front?.inputs["rules"]).toEqual([expect.objectContaining({ dstPort: "22" })]);
  });

  it("keeps a secret of its inputs one also in another spelling, and in what the file hands out", async () => {
    const file = fileOf(
      `${world.replace("name: db-1", 'name: "db-${var.key}"').replace('"${vm.db.private_ip}"', '"${var.net}"').replace("vars: {", 'vars: { net: { default: "10.0.0.0/8" },')}`.replace(
        "port: 5432 }",
        'port: 5432, url: "https://${var.key}@${vm.db.private_ip}" }',
      ),
    );
    const secrets = { key: wrapSecret("Hush"), net: wrapSecret("203.0.113.77/24") };
    const response = await make("DesiredState", { files: [file], vars: secrets });
    const part = (name: string) => monitor.asked.find((one) => one.name === name)?.inputs;
    expect(part("vm.db")?.["name"]).toEqual(wrapSecret("db-hush"));
    expect(part("group.back")?.["rules"]).toEqual(
      wrapSecret([expect.objectContaining({ remoteIp: "203.0.113.0/24" })]),
    );
    const state = response.getState()?.toJavaScript();
    expect(state?.["outputs"]).toEqual(
      wrapSecret({ address: expect.any(String), port: 5432, url: expect.stringMatching(/^https:\/\/Hush@10/) }),
    );
    expect(state?.["ids"]).toMatchObject({ "vm.db": "id-of-vm.db" });
  });

  it("hides a secret of its inputs in what it says, and names no flag", async () => {
    const file = fileOf(world.replace("size: 20", 'size: "${var.key}"'));
    const said = await make("DesiredState", { files: [file], vars: { key: wrapSecret("hush-hush") } }).catch(String);
    expect(said).toContain('size cannot be "[secret]"');
    expect(said).toContain("is given with vars.key");
    const unknown = await make("DesiredState", { files: [file], vars: { kay: "1", key: "1" } }).catch(String);
    expect(unknown).toContain("vars.kay sets a variable that is not declared");
  });

  it("an output without a value does not take the default of its variable", async () => {
    const said = await make("DesiredState", { files: [fileOf(world)], vars: { key: null } }).catch(String);
    expect(said).toContain("vars.key has no value (null) — give it one, or leave it out");
  });

  it("says everything that is wrong with a file before anything is registered", async () => {
    const file = fileOf(
      `version: 1\nvolumes: { data: { sise: 5 } }\ngroups: { front: { rules: [ { protocol: smtp } ] } }\n`,
    );
    const said = await make("DesiredState", { files: [file] }).then(
      () => "",
      (error: Error) => error.message,
    );
    expect(said).toContain(`${file}:2`);
    expect(said).toContain(`${file}:3`);
    expect(said).toContain("size");
    expect(monitor.asked).toEqual([]);
    await expect(make("DesiredState", { file: "x" })).rejects.toThrow(/file is not a property[\s\S]*files is required/);
    const own = fileOf(
      world.replace("name: db-1", "name: db-1, after_ready: { command: [ssh, '${vm.db.private_ip}'] }"),
    );
    await expect(make("DesiredState", { files: [own] })).rejects.toThrow(
      /reconcile.yaml:\d+: vm.db needs a value of its own.*RECONCILE_VM_IP/,
    );
  });

  it.each([
    ["SecurityGroupSet", { groups: "web" }, "groups must be a map"],
    ["SecurityGroupSet", { groups: [{ rules: [] }] }, "groups must be a map"],
    [
      "SecurityGroupSet",
      { groups: { web: null, db: { rules: { protocol: "tcp" } } } },
      "groups.web has no value (null) — give it one, or leave it out\ngroups.db.rules must be a list",
    ],
    [
      "SecurityGroupSet",
      { groups: { web: { rules: ["tcp 443", null] } } },
      "groups.web.rules[0] must be a map\ngroups.web.rules[1] has no value (null) — give it one, or leave it out",
    ],
    [
      "SecurityGroupSet",
      { groups: { web: { rules: [{ protocol: ["tcp"] }] } } },
      "groups.web.rules[0].protocol must be text",
    ],
    ["VmWithVolumes", { ...plainVm, volumes: "logs" }, "volumes must be a map"],
    [
      "VmWithVolumes",
      { ...plainVm, volumes: { logs: 20, data: {} } },
      "volumes.logs must be a map\nvolumes.data.size is required",
    ],
    ["DesiredState", { files: "reconcile.yaml" }, "files must be a list"],
    [
      "DesiredState",
      { files: [["a"]], vars: ["a"], flushConfirmed: {} },
      "files[0] must be text\nvars must be a map\nflushConfirmed must be true or false",
    ],
    ["DesiredState", { files: ["."] }, ". cannot be read: it is a folder — name a plain file"],
  ])(
    "refuses what has another shape than it describes, and takes none of it for unknown: %s %j",
    async (type, inputs, said) => {
      const refused = await make(type, inputs).then(String, (error: Error) => error.message);
      expect(refused.split("\n").sort()).toEqual(said.split("\n").sort());
      expect(monitor.asked).toEqual([]);
    },
  );

  it.each([
    [{}, 'write env: "dev"'],
    [{ env: "prd" }, 'write env: "prod"'],
    [{ env: "dev" }, "give vars: { flavor: … }, or write a default"],
    [{ env: "dev", vars: { flavour: "m1.small" } }, "write flavor among the vars"],
  ])("names the property that a file wants, and no flag: %j", async (inputs, told) => {
    const file = fileOf(
      'version: 1\nenvironments: { dev: {}, prod: {} }\nvars: { flavor: {} }\nvolumes: { data: { name: "a-${var.flavor}", size: 1 } }\n',
    );
    const said = await make("DesiredState", { files: [file], ...inputs }).catch(String);
    expect(said).toContain(told);
    expect(said).not.toMatch(/(give|write) --/);
  });

  it("says what a file removes and keeps, and what of it is not followed, and asks for the id of what it imports by its name", async () => {
    const removed = fileOf("version: 1\nremoved: [ { from: volume.old }, { from: vm.old, destroy: true } ]\n");
    await make("DesiredState", { files: [removed] }, (request) => request.setDryrun(true));
    expect(told.filter((line) => line.includes("removed"))).toEqual([
      `${removed}:2: volume.old is removed, and stays in the service: a delete of it that the preview shows takes it out of the program's state alone`,
    ]);
    const wants = fileOf(`${world}checks: { at_most: { remove: 0 } }\nenvironments: { prod: { protect: true } }\n`);
    await make("DesiredState", { files: [wants], env: "prod" });
    expect(told.at(-1)).toMatch(/does not follow .*: checks, protect$/);
    const named = fileOf(`${world}imports: [ { to: vm.db, name: db-1 } ]\n`);
    await expect(make("DesiredState", { files: [named] })).rejects.toThrow(
      /vm\.db is imported by its name.*write its id/,
    );
  });

  it("in a preview has parts whose ids are not known yet, and none while it is not known what it is made of", async () => {
    monitor.close();
    monitor = await serveMonitor(true);
    const response = await make("DesiredState", { files: [fileOf(world)] });
    const named = (name: string) => monitor.asked.find((one) => one.name === name);
    expect(named("volume.data/attachment")?.inputs).toMatchObject({ vmId: unknownValue, volumeId: unknownValue });
    expect(named("group.back")?.inputs["rules"]).toEqual([expect.objectContaining({ remoteIp: unknownValue })]);
    expect(response.getState()?.toJavaScript()).toMatchObject({ ids: { "vm.db": unknownValue } });
    monitor.asked.length = 0;
    // A part that has such a value is not one that went.
    const open = await make("DesiredState", { files: [fileOf(world)], vars: { key: unknownValue } });
    expect(monitor.asked).toHaveLength(7);
    expect(named("group.front")?.inputs["description"]).toBe(unknownValue);
    expect(open.getState()?.toJavaScript()).toMatchObject({ ids: { "vm.db": unknownValue } });
    const at = (part: string) => world.replace("name: back-1", part);
    for (const [part, inputs] of [
      ['name: back-1, description: "of ${var.key}"', { description: unknownValue }],
      ['name: back-1, description: "${lookup.old.private_ip}"', { description: unknownValue }],
    ] as const) {
      monitor.asked.length = 0;
      const file = fileOf(`${at(part)}lookups: { old: { vm: { name: old-1 } } }\n`);
      const old = { id: "1", name: "old-1", private_ip: unknownValue, floating_ip: "" };
      await make("DesiredState", { files: [file], vars: { key: unknownValue }, lookups: { old } });
      expect(named("group.back")?.inputs).toMatchObject(inputs);
    }
    for (const part of ['name: "back-${var.key}"', 'name: "back-${each}", for_each: ["${var.key}"]']) {
      monitor.asked.length = 0;
      const undecided = await make("DesiredState", { files: [fileOf(at(part))], vars: { key: unknownValue } });
      expect(monitor.asked.map(({ name }) => name)).toEqual(["site"]);
      expect(undecided.getState()?.toJavaScript()).toMatchObject({ ids: unknownValue, outputs: unknownValue });
      expect(told.pop()).toContain("what it shows as deleted are the former ones");
    }
  });

  const machine = { flavorId: "m1.small", imageId: "ubuntu-24.04", owner: "ops", userId: "1" };
  const vm = { ...machine, project: "p", region: "r", size: 10 };

  it("is a VM with volumes of its own", async () => {
    const response = await make("VmWithVolumes", {
      ...vm,
      volumes: { data: { size: 7, flushConfirmed: true }, logs: { size: 3, name: "old-logs", sise: 4 } },
    });
    const [, host, ...rest] = monitor.asked;
    expect(host).toMatchObject({ name: "vm.site", inputs: { name: "site", flavorId: "m1.small", size: 10 } });
    expect(host?.inputs).not.toHaveProperty("volumes");
    expect(Object.fromEntries(rest.map(({ name, inputs }) => [name, inputs]))).toEqual({
      "volume.site-data": { name: "site-data", __madeUpAs: { name: "site-data" }, size: 7, flushConfirmed: true },
      // For the volume's own check to refuse.
      "volume.site-logs": { name: "old-logs", size: 3, sise: 4 },
      "volume.site-data/attachment": {
        vmId: "id-of-vm.site",
        volumeId: "id-of-volume.site-data",
        flushConfirmed: true,
      },
      "volume.site-logs/attachment": { vmId: "id-of-vm.site", volumeId: "id-of-volume.site-logs" },
    });
    expect(response.getState()?.toJavaScript()).toEqual({
      vmId: "id-of-vm.site",
      privateIp: "10.0.0.2",
      volumeIds: { data: "id-of-volume.site-data", logs: "id-of-volume.site-logs" },
    });
  });

  it.each(["urn", "spec"])("under a new name, says what its parts were called before (%s)", async (by) => {
    const former = (request: InstanceType<typeof messages.ConstructRequest>) => {
      const one = new alias.Alias();
      const spec = new alias.Alias.Spec();
      spec.setName("shop");
      if (by === "spec") one.setSpec(spec);
      else one.setUrn("urn:pulumi:dev::demo::reconcile-cloud:index:Any::shop");
      request.setAliasesList([one]);
    };
    await make("VmWithVolumes", { ...vm, volumes: { data: { size: 7 } } }, former);
    const circle = { a: { rules: [{ remoteGroup: "b" }] }, b: { rules: [{ remoteGroup: "a" }] } };
    await make("SecurityGroupSet", { groups: circle }, former);
    const named = monitor.asked
      .filter(({ request }) => request.getCustom())
      .map(({ name, request }) => [name, ...request.getAliasesList().map(aliasOf)]);
    const parts = ["vm.site", "volume.site-data", "volume.site-data/attachment"];
    expect(named).toEqual(
      [...parts, "group.site-a", "group.site-b", "group.site-a/rule-0"].map((name) => {
        const before = name.replace("site", "shop");
        return [name, "dynamic", before, `dynamic ${before}`];
      }),
    );
  });

  it("is a set of groups that name each other by their keys, in a circle too", async () => {
    await make("SecurityGroupSet", {
      groups: {
        web: {
          rules: [
            { dstPort: "5432", remoteGroup: "db" },
            { dstPort: "80", remoteGroup: "web" },
          ],
        },
        db: { name: "db-1", description: "data", rules: [{ dstPort: "5432", remoteGroup: "web" }] },
        far: { rules: [{ dstPort: "22", remoteGroup: "an-id-of-elsewhere" }] },
      },
    });
    const inputs = Object.fromEntries(monitor.asked.slice(1).map((one) => [one.name, one.inputs]));
    expect(inputs["group.site-far"]).toEqual({
      name: "site-far",
      __madeUpAs: { name: "site-far" },
      rules: [{ dstPort: "22", remoteGroup: "an-id-of-elsewhere" }],
    });
    const separate = Object.entries(inputs).filter(([name]) => name.includes("/rule-"));
    expect(separate).toHaveLength(1);
    expect(JSON.stringify(inputs)).toContain(`"remoteGroup":"self"`);
    const db = inputs["group.site-db"];
    expect(db).toMatchObject({ name: "db-1", description: "data" });
    const referring = [...separate.map(([, one]) => one), db, inputs["group.site-web"]];
    expect(JSON.stringify(referring)).toMatch(/id-of-group\.site-(db|web)/);
  });
});

it.each([
  ["made long enough", {}, { name: "db", __madeUpAs: { name: "db" } }, "db-1"],
  ["what it was", { name: "shop-1" }, { name: "web", __madeUpAs: { name: "web" } }, "shop-1"],
  ["what a transform gives", { name: "shop-1" }, { name: "store", __madeUpAs: { name: "web" } }, "store"],
  ["what a program gives", { name: "shop-1" }, { name: "web" }, "web"],
])("the name of a part is %s", async (_, before, given, expected) => {
  const request = new messages.CheckRequest();
  request.setUrn("urn:pulumi:dev::demo::reconcile-cloud:index:VmWithVolumes$reconcile-cloud:index:Vm::vm.web");
  request.setOlds(Struct.fromJavaScript(before));
  request.setNews(Struct.fromJavaScript(given));
  const checked = (await createService(() => undefined).check(request)).getInputs()?.toJavaScript();
  expect(checked?.["name"]).toBe(expected);
});

it("the preview of an update keeps what only the service knows, and nothing that the program has taken out", async () => {
  const request = new messages.UpdateRequest();
  request.setUrn("urn:pulumi:dev::demo::reconcile-cloud:index:Vm::web");
  request.setPreview(true);
  request.setOlds(Struct.fromJavaScript({ name: "web", power: "running", status: "ACTIVE" }));
  request.setNews(Struct.fromJavaScript({ name: "web-2" }));
  const response = await createService(() => undefined).update(request);
  expect(response.getProperties()?.toJavaScript()).toEqual({ name: "web-2", status: "ACTIVE" });
});

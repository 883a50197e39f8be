import { execFileSync } from "node:child_process";
import { resolve } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { beforeAll, describe, expect, it } from "vitest";
import { provider as dynamicProvider } from "../../provider/dynamic";

const root = resolve(__dirname, "../..");

interface Seen {
  readonly type: string;
  readonly name: string;
  readonly inputs: Record<string, unknown>;
}
const seen: Seen[] = [];
let cloud: typeof import("../../provider/index");

const value = <T>(output: pulumi.Output<T>): Promise<T> =>
  new Promise((done) => void output.apply((one) => done(one as T)));
const registered = (name: string): Seen => seen.find((one) => one.name === name)!;

const vm = {
  flavorId: "m1.small",
  imageId: "ubuntu-24.04",
  owner: "ops",
  userId: "1042",
  project: "acme",
  region: "in-west-1",
  size: 10,
};

beforeAll(async () => {
  await pulumi.runtime.setMocks(
    {
      newResource: ({ type, name, inputs }) => {
        seen.push({ type, name, inputs });
        return { id: `${name}-id`, state: { ...inputs, floatingIp: "198.18.0.1" } };
      },
      call: ({ inputs }) => inputs,
    },
    "demo",
    "dev",
    false,
  );
  // As it is published: what is loaded on first use is found there.
  cloud = require(resolve(root, "dist/provider/index.js")) as typeof cloud;
});

describe("the resources of a program", () => {
  it("carry a constant text that requires this package, and nothing that was captured", async () => {
    const one = new cloud.Vm("web", vm);
    expect(await value(one.floatingIp)).toBe("198.18.0.1");
    expect(registered("web")).toMatchObject({
      type: "pulumi-nodejs:dynamic/reconcile-cloud:Vm",
      inputs: {
        name: "web",
        __provider: 'exports.handler = () => require("reconcile-cloud/pulumi/dynamic").provider("Vm");\n',
      },
    });
  });

  it("have the token, the property and the export that Pulumi's own dynamic resources have", async () => {
    class Ordinary extends pulumi.dynamic.Resource {
      constructor() {
        super({ create: async (inputs) => ({ id: "1", outs: inputs }) }, "ordinary", {}, {}, "reconcile-cloud", "Vm");
      }
    }
    await value(new Ordinary().urn);
    expect(registered("ordinary").type).toBe(registered("web").type);
    expect(String(registered("ordinary").inputs["__provider"])).toMatch(/^exports\.handler = /);
  });

  it("are deleted with another one only where the service does that", async () => {
    const group = new cloud.SecurityGroup("its-group", {});
    for (const options of [{}, { provider: new cloud.Provider("deleting", {}) }]) {
      const opts = { ...options, deletedWith: group };
      expect(() => new cloud.Volume("kept", { size: 5 }, opts)).toThrow(
        /kept: the option deletedWith .* A Volume stays/,
      );
      expect(() => new cloud.SecurityGroup("kept", {}, opts)).toThrow(/A SecurityGroup stays there/);
    }
    await value(new cloud.VolumeAttachment("goes", { vmId: "vm", volumeId: "v" }, { deletedWith: group }).urn);
    const rule = { securityGroupId: group.id, protocol: "tcp", dstPort: "22" } as const;
    await value(new cloud.SecurityGroupRule("goes", rule, { deletedWith: group }).urn);
    // What another package deletes is its own to say.
    const other = new pulumi.ComponentResource("test:index:Account", "account");
    await value(new cloud.Volume("of-account", { size: 5 }, { deletedWith: other }).urn);
  });

  it("belong to the plugin where they are given its provider, themselves or by their parent", async () => {
    const found = { import: "v-1" };
    expect(() => new cloud.Volume("imported", { size: 5 }, found)).toThrow(/write adopt: .* import/);
    const both = { vmId: "vm", volumeId: "v" };
    expect(() => new cloud.VolumeAttachment("a", both, found)).toThrow(/leave the option import out/);
    const provider = new cloud.Provider("plugin", { token: "t0ken" });
    await value(new cloud.Volume("imported", { size: 5 }, { ...found, provider }).urn);
    await value(new cloud.Volume("by-plugin", { size: 5 }, { provider }).urn);
    const parent = new pulumi.ComponentResource("test:index:Parent", "parent", {}, { providers: [provider] });
    await value(new cloud.Volume("by-parent", { size: 5 }, { parent }).urn);
    // Of a generated SDK, or of another copy of this package.
    const generated = new (class extends pulumi.ProviderResource {})("reconcile-cloud", "generated");
    await value(new cloud.Volume("by-generated", { size: 5 }, { provider: generated }).urn);
    const its = new pulumi.ComponentResource("test:index:Parent", "its", {}, { providers: [generated] });
    await value(new cloud.Volume("by-its-parent", { size: 5 }, { parent: its }).urn);
    for (const name of ["by-plugin", "by-parent", "by-generated", "by-its-parent"]) {
      expect(registered(name).type).toBe("reconcile-cloud:index:Volume");
      expect(registered(name).inputs).not.toHaveProperty("__provider");
    }
    const other = new cloud.DynamicProvider("elsewhere", { baseUrl: "https://cloud.example" });
    await value(new cloud.Volume("by-other", { size: 5 }, { provider: other }).urn);
    expect(registered("by-other").type).toBe("pulumi-nodejs:dynamic/reconcile-cloud:Volume");
    expect(registered("elsewhere").inputs).toEqual({ "reconcile-cloud:baseUrl": "https://cloud.example" });
    const nowhere = pulumi.output<string | undefined>(undefined) as pulumi.Output<string>;
    await value(new cloud.DynamicProvider("nowhere", { baseUrl: nowhere }).urn);
    expect(registered("nowhere").inputs).toEqual({});
  });

  it("move to the plugin also where they get a new name with an alias at the same time", async () => {
    const provider = new cloud.Provider("new-plugin");
    const opts = { provider, aliases: [{ name: "former" }, "urn:pulumi:dev::demo::x:index:Y::z"] };
    const moved = new cloud.Volume("moved", { size: 5 }, opts) as unknown as { __aliases: pulumi.Output<string>[] };
    const former = "urn:pulumi:dev::demo::pulumi-nodejs:dynamic/reconcile-cloud:Volume";
    expect(await Promise.all(moved.__aliases.map(value))).toEqual(
      expect.arrayContaining([`${former}::former`, `${former}::moved`, "urn:pulumi:dev::demo::x:index:Y::z"]),
    );
  });

  it("move back to dynamic ones where they are given a provider no more, under a new name as well", async () => {
    const opts = { aliases: [{ name: "former" }] };
    const moved = new cloud.Volume("moved-back", { size: 5 }, opts) as unknown as {
      __aliases: pulumi.Output<string>[];
    };
    const former = "urn:pulumi:dev::demo::reconcile-cloud:index:Volume";
    expect(await Promise.all(moved.__aliases.map(value))).toEqual(
      expect.arrayContaining([`${former}::former`, `${former}::moved-back`]),
    );
  });

  it("have a service without a credential in its address, which a state would keep in the clear", () => {
    const baseUrl = "https://me:hush@cloud.example";
    for (const Of of [cloud.Provider, cloud.DynamicProvider])
      expect(() => new Of("with-user", { baseUrl })).toThrow(/baseUrl holds a credential: .*RECONCILE_TOKEN/);
  });

  it("go before their successor where names are unique, unless they are to stay and so keep theirs", () => {
    const order: Record<string, boolean | undefined> = {};
    const told: pulumi.ResourceTransformation = ({ name, opts }) => {
      order[name] = (opts as pulumi.CustomResourceOptions).deleteBeforeReplace;
      return undefined;
    };
    const transformations = [told];
    new cloud.Vm("goes", vm, { transformations });
    new cloud.Vm("stays", vm, { transformations, retainOnDelete: true });
    new cloud.Volume("of-any-name", { size: 5 }, { transformations });
    const file = resolve(root, "test/pulumi/whole-file.yaml");
    cloud.DesiredState.fromYaml(file, { name: "retained" }, { transformations, retainOnDelete: true });
    expect(order).toMatchObject({ goes: true, stays: false, "of-any-name": undefined, "vm.db": false });
  });

  it("pass ids on to each other", async () => {
    const data = new cloud.Volume("data", { size: 5 });
    const host = new cloud.Vm("host", vm);
    await value(new cloud.VolumeAttachment("attached", { vmId: host.id, volumeId: data.id }).urn);
    expect(registered("attached").inputs).toMatchObject({ vmId: "host-id", volumeId: "data-id" });
  });

  it("come from a whole file, each by its address, with circles of groups as rules of their own", async () => {
    const all = cloud.DesiredState.fromYaml(resolve(root, "test/pulumi/whole-file.yaml"));
    expect(Object.keys(all.resources)).toEqual([
      "group.back",
      "group.front",
      "group.back/rule-0",
      "vm.db",
      "volume.data",
      "volume.data/attachment",
    ]);
    expect(await value(all.ids)).toMatchObject({ "vm.db": "vm.db-id" });
    expect(registered("volume.data/attachment").inputs).toMatchObject({ vmId: "vm.db-id", flush: { via: "stop" } });
    expect(registered("group.back").inputs).toMatchObject({ rulesMode: "shared" });
    expect(() => all.vm("dbb")).toThrow("the file declares no vm.dbb");
  });

  it("refuse a file with problems, all at once and with their places", () => {
    expect(() => cloud.DesiredState.fromYaml(resolve(root, "test/pulumi/bad-file.yaml"))).toThrow(
      // Pulumi says of it that it is an error.
      /^\S*bad-file\.yaml:3: .*\n(.*\n)*\S*bad-file\.yaml:4: /,
    );
  });

  it("come from a component that is given its files as in other languages, and hold those to their shape", async () => {
    const all = new cloud.DesiredState("site", { files: [resolve(root, "test/pulumi/whole-file.yaml")] });
    expect(await value(all.vm("db").id)).toBe("vm.db-id");
    const wrong = [
      undefined,
      { files: pulumi.output(["a.yaml"]) },
      { files: ["a.yaml"], vars: { a: pulumi.output("b") } },
    ];
    const said = wrong.map((args) => {
      try {
        return new cloud.DesiredState("wrong", args as never);
      } catch (error) {
        return [pulumi.RunError.isInstance(error), (error as Error).message];
      }
    });
    expect(said).toEqual([
      [true, "files is required"],
      [true, "files must be a list"],
      [true, "vars.a must be text"],
    ]);
  });

  it("fail without a stack, which the SDK's server would print beside the message", async () => {
    const vm = dynamicProvider("Vm");
    const get = (key: string) => (key.endsWith(":timing") ? "no settings" : undefined);
    await vm.configure?.({ config: { get, require: () => "" } });
    const failed = await vm.diff?.("1", {}, {}).catch((error: unknown) => error);
    expect(failed).toMatchObject({ message: "timing must be a JSON object", stack: "" });
  });
});

describe("what is made from the table of handlers", () => {
  it("is up to date", () => {
    const check = () =>
      execFileSync(process.execPath, ["scripts/generate-provider.mjs", "--check"], { cwd: root, stdio: "pipe" });
    expect(check).not.toThrow();
  });
});

describe("the package without Pulumi", () => {
  const loaded = (code: string): string[] => {
    const print = "console.log(JSON.stringify(Object.keys(require.cache)))";
    const text = execFileSync(process.execPath, ["-e", `${code}; ${print}`], { cwd: root, encoding: "utf8" });
    return JSON.parse(text.trim().split("\n").at(-1)!) as string[];
  };

  it("loads nothing of Pulumi, and no dependency, until something is called", () => {
    const modules = loaded('require("./dist/reconciler/index.js")');
    expect(modules.filter((path) => path.includes("node_modules"))).toEqual([]);
    expect(modules.length).toBeLessThanOrEqual(4);
  });

  it("serves dynamic resources without loading Pulumi's SDK", () => {
    const modules = loaded('require("./dist/provider/dynamic.js").provider("Vm")');
    expect(modules.filter((path) => path.includes("@pulumi"))).toEqual([]);
  });
});

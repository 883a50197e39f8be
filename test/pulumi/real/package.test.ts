import { execFileSync } from "node:child_process";
import {
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { version } from "../../../reconciler/index";
import { eventually } from "../../support/eventually";
import { everything } from "../shared-scenarios";
import { hasLanguage, type RealStack, startStack, whyNot, writeSdk } from "./stack";

const root = resolve(__dirname, "../../..");
// As it is published: what is loaded on first use is found there.
const { packageSchema }: typeof import("../../../provider/plugin/schema") = require(
  join(root, "dist/provider/plugin/schema.js"),
);
const reason = whyNot();

const can = (command: string, ...args: string[]): boolean => {
  try {
    execFileSync(command, args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};

/** Why a language's programs cannot run here; they are told loudly. */
const missing: Readonly<Record<Language, string | undefined>> = {
  yaml: hasLanguage("yaml") ? undefined : "there is no pulumi-language-yaml on PATH",
  nodejs: hasLanguage("nodejs") ? undefined : "there is no pulumi-language-nodejs on PATH",
  python: !hasLanguage("python")
    ? "there is no pulumi-language-python on PATH"
    : can("python3", "-c", "import pulumi, parver, semver")
      ? undefined
      : "python3 has no packages pulumi, parver and semver",
  go: hasLanguage("go") && can("go", "version") ? undefined : "there is no pulumi-language-go or go on PATH",
};
type Language = "yaml" | "nodejs" | "python" | "go";

const file = `
version: 1
project: acme
region: in-west-1
vars: { env: { default: dev } }
defaults: { vm: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 } }
vms: { db: { name: "db-\${var.env}", lifecycle: { preserved_volumes: delete } } }
volumes: { data: { size: 20, attach_to: db } }
outputs: { address: "\${vm.db.private_ip}" }
`;

/** The same program in each language: a whole file, a VM with a volume, groups in a circle, and two that are looked up. */
const programs: Readonly<Record<Language, Readonly<Record<string, string>>>> = {
  yaml: {
    "Pulumi.yaml": `name: demo
runtime: yaml
resources:
  site:
    type: reconcile-cloud:DesiredState
    properties: { files: [reconcile.yaml], vars: { env: yaml }, flushConfirmed: true }
  store:
    type: reconcile-cloud:VmWithVolumes
    properties:
      { flavorId: m1.small, imageId: "\${image.id}", owner: ops@acme.example, userId: "1042", project: acme, region: in-west-1, size: 10, preservedVolumes: delete, volumes: { logs: { size: 3, flushConfirmed: true } } }
  tiers:
    type: reconcile-cloud:SecurityGroupSet
    properties:
      groups:
        web: { rules: [{ protocol: tcp, dstPort: "5432", remoteGroup: data }] }
        data: { rules: [{ protocol: tcp, dstPort: "5432", remoteGroup: web }, { protocol: tcp, dstPort: "22", remoteIp: "\${store.privateIp}" }] }
variables:
  image:
    fn::invoke: { function: "reconcile-cloud:getImage", arguments: { name: ubuntu-24.04 } }
  vm:
    fn::invoke: { function: "reconcile-cloud:getVm", arguments: { id: "\${store.vmId}" } }
outputs:
  ids: \${site.ids}
  address: \${site.outputs.address}
  groups: \${tiers.ids}
  volumes: \${vm.volumeIds}
`,
  },
  nodejs: {
    "Pulumi.yaml": "name: demo\nruntime: { name: nodejs, options: { typescript: false } }\n",
    "index.js": `const cloud = require("@reconcile-cloud/pulumi");
const site = new cloud.DesiredState("site", { files: ["reconcile.yaml"], vars: { env: "node" }, flushConfirmed: true });
const image = cloud.getImageOutput({ name: "ubuntu-24.04" });
const store = new cloud.VmWithVolumes("store", {
  flavorId: "m1.small", imageId: image.id, owner: "ops@acme.example", userId: "1042", project: "acme", region: "in-west-1",
  size: 10, preservedVolumes: cloud.VmPreservedVolumes.Delete, volumes: { logs: { size: 3, flushConfirmed: true } },
});
const tiers = new cloud.SecurityGroupSet("tiers", { groups: {
  web: { rules: [{ protocol: "tcp", dstPort: "5432", remoteGroup: "data" }] },
  data: { rules: [{ protocol: "tcp", dstPort: "5432", remoteGroup: "web" }, { protocol: "tcp", dstPort: "22", remoteIp: store.privateIp }] },
} });
exports.ids = site.ids;
exports.address = site.outputs.apply((outputs) => outputs.address);
exports.groups = tiers.ids;
exports.volumes = cloud.getVmOutput({ id: store.vmId }).volumeIds;
`,
  },
  python: {
    "Pulumi.yaml": "name: demo\nruntime: python\n",
    "__main__.py": `import pulumi
import pulumi_reconcile_cloud as cloud

site = cloud.DesiredState("site", files=["reconcile.yaml"], vars={"env": "python"}, flush_confirmed=True)
image = cloud.get_image_output(name="ubuntu-24.04")
store = cloud.VmWithVolumes("store", flavor_id="m1.small", image_id=image.id, owner="ops@acme.example", user_id="1042",
    project="acme", region="in-west-1", size=10, preserved_volumes=cloud.VmPreservedVolumes.DELETE,
    volumes={"logs": cloud.VmWithVolumesVolumesItemArgs(size=3, flush_confirmed=True)})
tiers = cloud.SecurityGroupSet("tiers", groups={
    "web": {"rules": [{"protocol": "tcp", "dst_port": "5432", "remote_group": "data"}]},
    "data": {"rules": [{"protocol": "tcp", "dst_port": "5432", "remote_group": "web"}, {"protocol": "tcp", "dst_port": "22", "remote_ip": store.private_ip}]},
})
pulumi.export("ids", site.ids)
pulumi.export("address", site.outputs["address"])
pulumi.export("groups", tiers.ids)
pulumi.export("volumes", cloud.get_vm_output(id=store.vm_id).volume_ids)
`,
  },
  go: {
    "Pulumi.yaml": "name: demo\nruntime: go\n",
    "main.go": `package main

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	cloud "github.com/reconcile-cloud/reconcile-cloud/sdk/go/reconcilecloud"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		site, err := cloud.NewDesiredState(ctx, "site", &cloud.DesiredStateArgs{
			Files: pulumi.ToStringArray([]string{"reconcile.yaml"}), Vars: pulumi.StringMap{"env": pulumi.String("go")}, FlushConfirmed: pulumi.Bool(true),
		})
		if err != nil {
			return err
		}
		image, err := cloud.GetImage(ctx, &cloud.GetImageArgs{Name: pulumi.StringRef("ubuntu-24.04")})
		if err != nil {
			return err
		}
		store, err := cloud.NewVmWithVolumes(ctx, "store", &cloud.VmWithVolumesArgs{
			FlavorId: pulumi.String("m1.small"), ImageId: pulumi.String(image.Id), Owner: pulumi.String("ops@acme.example"), UserId: pulumi.String("1042"),
			Project: pulumi.String("acme"), Region: pulumi.String("in-west-1"), Size: pulumi.Int(10), PreservedVolumes: cloud.VmPreservedVolumesDelete,
			Volumes: cloud.VmWithVolumesVolumesItemMap{"logs": &cloud.VmWithVolumesVolumesItemArgs{Size: pulumi.Int(3), FlushConfirmed: pulumi.Bool(true)}},
		})
		if err != nil {
			return err
		}
		rule := func(port string, group string) *cloud.SecurityGroupRulesItemArgs {
			return &cloud.SecurityGroupRulesItemArgs{Protocol: cloud.SecurityGroupRulesItemProtocolTcp, DstPort: pulumi.String(port), RemoteGroup: pulumi.String(group)}
		}
		tiers, err := cloud.NewSecurityGroupSet(ctx, "tiers", &cloud.SecurityGroupSetArgs{Groups: cloud.SecurityGroupSetGroupsItemMap{
			"web":  &cloud.SecurityGroupSetGroupsItemArgs{Rules: cloud.SecurityGroupRulesItemArray{rule("5432", "data")}},
			"data": &cloud.SecurityGroupSetGroupsItemArgs{Rules: cloud.SecurityGroupRulesItemArray{
				rule("5432", "web"),
				&cloud.SecurityGroupRulesItemArgs{Protocol: cloud.SecurityGroupRulesItemProtocolTcp, DstPort: pulumi.String("22"), RemoteIp: store.PrivateIp},
			}},
		}})
		if err != nil {
			return err
		}
		ctx.Export("ids", site.Ids)
		ctx.Export("address", site.Outputs.MapIndex(pulumi.String("address")))
		ctx.Export("groups", tiers.Ids)
		ctx.Export("volumes", cloud.LookupVmOutput(ctx, cloud.LookupVmOutputArgs{Id: store.VmId.ToStringPtrOutput()}).VolumeIds())
		return nil
	})
}
`,
  },
};

if (reason !== undefined) console.error(`\n*** ${reason} ***\n`);

describe.skipIf(reason !== undefined)("the package as a registry would have it", () => {
  let folder: string;
  let archive: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "reconcile-package-"));
    archive = execFileSync(process.execPath, [join(root, "scripts/plugin-archive.mjs")], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
    // The logo of a package in .NET would be fetched from its address.
    const { logoUrl: _logoUrl, ...schema } = packageSchema();
    writeFileSync(join(folder, "schema.json"), JSON.stringify(schema));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  let stack: RealStack | undefined;
  afterEach(async () => {
    await stack?.close();
    stack = undefined;
  });

  /** Nothing of this repository is on PATH: the plugin is the one that was installed. */
  async function open(): Promise<RealStack> {
    const opened = await startStack({ with: everything });
    stack = opened;
    opened.environment["PATH"] = opened.environment["PATH"]!.replaceAll(`${join(root, "bin")}:`, "");
    const installed = await opened.pulumi(
      "plugin",
      "install",
      "resource",
      "reconcile-cloud",
      version,
      "--file",
      archive,
    );
    expect(installed.code, installed.text).toBe(0);
    return opened;
  }

  const generate = (language: string): Promise<string> =>
    writeSdk(join(folder, "schema.json"), language, join(folder, "sdk"));

  it("the archive holds one executable of the name that Pulumi looks for", () => {
    expect(archive).toMatch(
      /pulumi-resource-reconcile-cloud-v\d+\.\d+\.\d+-(linux|darwin|windows)-(amd64|arm64)\.tar\.gz$/,
    );
    const names = execFileSync("tar", ["-tzf", archive], { encoding: "utf8" }).trim().split("\n");
    expect(names.sort()).toEqual(["LICENSE", "pulumi-resource-reconcile-cloud"]);
  });

  it("the archive is installed from a folder that is served as the release", async () => {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url ?? "");
      if (request.url === `/${basename(archive)}`)
        createReadStream(archive).pipe(response.setHeader("content-length", statSync(archive).size));
      else response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const one = await startStack({ with: everything });
      stack = one;
      const { port } = server.address() as AddressInfo;
      const from = `http://127.0.0.1:${port}`;
      const installed = await one.pulumi("plugin", "install", "resource", "reconcile-cloud", version, "--server", from);
      expect(installed.code, installed.text).toBe(0);
      expect(asked).toEqual([`/${basename(archive)}`]);
      const listed = await one.pulumi("plugin", "ls", "--json");
      expect(listed.text).toContain('"name": "reconcile-cloud"');
    } finally {
      server.close();
    }
  });

  const archives = new Map<Language, readonly string[]>();
  /** The SDK of a language, packed as its registry takes it, of the version of the package. */
  async function archivesOf(language: Language): Promise<readonly string[]> {
    const known = archives.get(language);
    if (known !== undefined) return known;
    const printed = execFileSync(
      process.execPath,
      [join(root, "scripts/sdk-archives.mjs"), "--out", join(folder, "archives"), language],
      { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] },
    );
    const made = printed.split("\n").filter((line) => line.startsWith(join(folder, "archives")));
    expect(made).toEqual([expect.stringContaining(version)]);
    archives.set(language, made);
    return made;
  }

  const prepare: Readonly<Record<Language, (one: RealStack) => Promise<void>>> = {
    yaml: async () => undefined,
    // What npm, pip and go do with what a registry has.
    async nodejs(one) {
      const [archive] = await archivesOf("nodejs");
      const at = join(one.folder, "node_modules/@reconcile-cloud/pulumi");
      mkdirSync(at, { recursive: true });
      execFileSync("tar", ["-xzf", archive!, "-C", at, "--strip-components=1"]);
    },
    async python(one) {
      const [archive] = await archivesOf("python");
      const at = join(one.folder, "../packages");
      const how = ["--quiet", "--no-deps", "--no-index", "--upgrade", "--target", at];
      execFileSync("python3", ["-m", "pip", "install", ...how, archive!], { stdio: "inherit" });
      one.environment["PYTHONPATH"] = at;
    },
    async go(one) {
      await archivesOf("go");
      one.write({
        "go.mod": `module demo

go 1.25

require (
	github.com/pulumi/pulumi/sdk/v3 v3.248.0
	github.com/reconcile-cloud/reconcile-cloud/sdk/go v${version}
)
`,
      });
      const go = (...args: string[]): string => execFileSync("go", args, { encoding: "utf8" }).trim();
      // Go keeps each version for ever, and this one is written anew by each run.
      const cache = go("env", "GOMODCACHE");
      for (const kept of ["github.com/reconcile-cloud", "cache/download/github.com/reconcile-cloud"])
        if (existsSync(join(cache, kept))) {
          execFileSync("chmod", ["-R", "u+w", join(cache, kept)]);
          rmSync(join(cache, kept), { recursive: true });
        }
      one.environment["GOPROXY"] = `file://${join(folder, "archives")},${go("env", "GOPROXY")}`;
      one.environment["GONOSUMDB"] = "github.com/reconcile-cloud/*";
      execFileSync("go", ["mod", "tidy"], { cwd: one.folder, stdio: "inherit", env: one.environment });
    },
  };

  for (const language of Object.keys(programs) as Language[]) {
    const problem = missing[language];
    if (problem !== undefined) console.error(`\n*** programs in ${language}: ${problem}: not tried ***\n`);
    it.skipIf(problem !== undefined)(
      `${language}: its SDK, components and functions, up, nothing to do, and down`,
      async () => {
        const one = await open();
        one.write({ "reconcile.yaml": file, ...programs[language] });
        await prepare[language](one);
        const made = await one.changes("up", "--yes", "--skip-preview");
        // The stack and three components, VM, volume and attachment twice, two groups, and the rule that closes the circle.
        expect(made).toEqual({ created: 13 });
        expect(await one.changes("up", "--yes", "--skip-preview")).toEqual({ unchanged: 13 });
        expect(await one.changes("refresh", "--yes", "--skip-preview")).toEqual({ unchanged: 13 });
        const { vms, groups } = one.emulator.dump();
        expect(vms.map(({ name }) => name).sort()).toEqual([expect.stringMatching(/^db-\w+$/), "store"]);
        expect(groups.map(({ name }) => name)).toEqual(expect.arrayContaining(["tiers-web", "tiers-data"]));
        const outputs = JSON.parse((await one.pulumi("stack", "output", "--json")).text) as Record<string, unknown>;
        expect(outputs).toMatchObject({
          ids: { "vm.db": vms.find(({ name }) => name.startsWith("db-"))?.id },
          address: expect.stringMatching(/^10\./),
          groups: { web: expect.any(String), data: expect.any(String) },
        });
        // The root disk, the data volume that came with it, and the one beside it.
        expect(outputs["volumes"]).toHaveLength(3);
        expect(await one.changes("destroy", "--yes", "--skip-preview")).toEqual({ deleted: 13 });
        expect(one.emulator.dump().vms).toEqual([]);
      },
    );
  }

  it.skipIf(!hasLanguage("dotnet"))(
    "dotnet: its SDK is written; without NuGet's packages it is not compiled",
    async () => {
      const sdk = await generate("dotnet").catch((error: Error) => {
        // Another logo, that of Pulumi itself, is fetched for it.
        expect(error.message).toContain("raw.githubusercontent.com");
        return undefined;
      });
      if (sdk !== undefined) expect(readdirSync(sdk)).toContain("Vm.cs");
    },
  );

  it.skipIf(missing.python !== undefined)("an import writes a program that runs", async () => {
    const one = await open();
    one.write({ "Pulumi.yaml": "name: demo\nruntime: python\n", "__main__.py": "" });
    await prepare.python(one);
    const { url } = one.emulator;
    const made = await fetch(`${url}/api/v1/security-group`, {
      method: "POST",
      headers: { authorization: "Bearer ops-token", "content-type": "application/json" },
      body: JSON.stringify({
        name: "front",
        description: "of the web",
        rules: [{ direction: "ingress", ethertype: "IPv4", protocol: "tcp", dst_port: "443", remote_ip: "0.0.0.0/0" }],
      }),
    });
    expect(made.ok, await made.text()).toBe(true);
    const id = one.emulator.dump().groups.find(({ name }) => name === "front")?.id ?? "";
    const imported = await one.pulumi(
      ...["import", "reconcile-cloud:index:SecurityGroup", "front", id, "--yes", "--protect=false"],
      ...["--out", "__main__.py"],
    );
    expect(imported.code, imported.text).toBe(0);
    expect(imported.text).not.toContain("failed to validate");
    expect(await one.changes("up", "--yes", "--skip-preview")).toEqual({ unchanged: 2 });
  });

  it.skipIf(missing.nodejs !== undefined)(
    "a stack moves from dynamic resources to the SDK, and nothing changes in the service",
    async () => {
      const one = await open();
      const body = `
const vm = new cloud.Vm("db-1", { flavorId: "m1.small", imageId: "ubuntu-24.04", owner: "ops@acme.example", userId: "1042", project: "acme", region: "in-west-1", size: 10 });
const data = new cloud.Volume("data", { size: 5, flushConfirmed: true });
new cloud.VolumeAttachment("attached", { vmId: vm.id, volumeId: data.id, flushConfirmed: true });
const group = new cloud.SecurityGroup("front", { description: "web", rulesMode: "shared", rules: [{ protocol: "tcp", dstPort: "443" }] });
new cloud.SecurityGroupRule("ssh", { securityGroupId: group.id, protocol: "tcp", dstPort: "22", remoteIp: "10.0.0.0/8" });
`;
      one.write({
        "reconcile.yaml": file,
        "index.js": `const cloud = require("reconcile-cloud/pulumi");${body}cloud.DesiredState.fromYaml("reconcile.yaml", { name: "site", flushConfirmed: true });`,
      });
      expect(await one.changes("up", "--yes", "--skip-preview")).toEqual({ created: 10 });
      const before = one.emulator.dump();
      await prepare.nodejs(one);
      one.write({
        "index.js": `const cloud = require("@reconcile-cloud/pulumi");${body}new cloud.DesiredState("site", { files: ["reconcile.yaml"], flushConfirmed: true });`,
      });
      // The component has inputs now; of the resources none differs.
      expect(await one.changes("up", "--yes", "--skip-preview")).toEqual({ updated: 1, unchanged: 9 });
      expect(one.emulator.dump()).toEqual(before);
      expect(await one.changes("up", "--yes", "--skip-preview")).toEqual({ unchanged: 10 });
    },
  );

  it("the plugin ends with an engine that is killed", async () => {
    const one = await open();
    one.write({
      "Pulumi.yaml": "name: demo\nruntime: nodejs\n",
      "index.js": `
const cloud = require("reconcile-cloud/pulumi");
new cloud.Volume("data", { size: 5 }, { provider: new cloud.Provider("cloud") });
`,
    });
    one.emulator.setFaults([{ operation: "volume.create", kind: "latency", ms: 3000, when: "before", count: 1 }]);
    const child = one.start("up", "--yes", "--skip-preview");
    const plugins = (): string[] =>
      execFileSync("ps", ["-eo", "pid=,args="], { encoding: "utf8" })
        .split("\n")
        .filter(
          (line) => line.includes("pulumi-resource-reconcile-cloud") && line.includes(one.environment["PULUMI_HOME"]!),
        );
    await eventually("the plugin to be at work", () =>
      plugins().length > 0 && Object.keys(one.emulator.requests().counts).length > 0 ? true : undefined,
    );
    child.kill("SIGKILL");
    await eventually("the plugin to have ended", () => (plugins().length === 0 ? true : undefined));
  });
});

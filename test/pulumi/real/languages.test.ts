/** The same small program in the languages that only the plugin serves, each where its host and its SDK are. */
import { execFileSync } from "node:child_process";
import { afterEach, describe, expect, it } from "vitest";
import { everything } from "../shared-scenarios";
import { worldOf } from "./program";
import { hasLanguage, type RealStack, startStack, whyNot } from "./stack";

const reason = whyNot();

interface Language {
  readonly files: Readonly<Record<string, string>>;
  /** Before the program is run. */
  prepare?(folder: string): void;
  readonly missing: string | undefined;
}

const vm = {
  ...{ flavorId: "m1.small", imageId: "ubuntu-24.04", owner: "ops@acme.example", userId: "1042" },
  ...{ project: "acme", region: "in-west-1", size: 10 },
};

const yaml = `name: demo
runtime: yaml
resources:
  data: { type: "reconcile-cloud:index:Volume", properties: { size: 5, flushConfirmed: true } }
  db-1: { type: "reconcile-cloud:index:Vm", properties: ${JSON.stringify(vm)}, options: { deleteBeforeReplace: true } }
  attached: { type: "reconcile-cloud:index:VolumeAttachment", properties: { vmId: "\${db-1.id}", volumeId: "\${data.id}", flushConfirmed: true } }
outputs: { address: "\${db-1.floatingIp}" }
`;

const python = `
import pulumi

class Resource(pulumi.CustomResource):
    def __init__(self, type, name, props, opts=None):
        super().__init__("reconcile-cloud:index:" + type, name, props, opts)

data = Resource("Volume", "data", {"size": 5, "flushConfirmed": True})
vm = Resource("Vm", "db-1", ${JSON.stringify(vm)}, pulumi.ResourceOptions(delete_before_replace=True))
Resource("VolumeAttachment", "attached", {"vmId": vm.id, "volumeId": data.id, "flushConfirmed": True})
`;

const go = `package main

import "github.com/pulumi/pulumi/sdk/v3/go/pulumi"

type resource struct {
	pulumi.CustomResourceState
}

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		var failed error
		declare := func(kind, name string, props pulumi.Map, opts ...pulumi.ResourceOption) *resource {
			made := &resource{}
			if err := ctx.RegisterResource("reconcile-cloud:index:"+kind, name, props, made, opts...); err != nil {
				failed = err
			}
			return made
		}
		data := declare("Volume", "data", pulumi.Map{"size": pulumi.Int(5), "flushConfirmed": pulumi.Bool(true)})
		vm := declare("Vm", "db-1", pulumi.Map{${Object.entries(vm)
      .map(
        ([key, value]) => `"${key}": pulumi.${typeof value === "number" ? "Int" : "String"}(${JSON.stringify(value)})`,
      )
      .join(", ")}}, pulumi.DeleteBeforeReplace(true))
		declare("VolumeAttachment", "attached", pulumi.Map{"vmId": vm.ID(), "volumeId": data.ID(), "flushConfirmed": pulumi.Bool(true)})
		return failed
	})
}
`;

const languages: Readonly<Record<string, Language>> = {
  yaml: {
    files: { "Pulumi.yaml": yaml },
    missing: hasLanguage("yaml") ? undefined : "there is no pulumi-language-yaml",
  },
  python: {
    files: { "Pulumi.yaml": "name: demo\nruntime: python\n", "__main__.py": python },
    missing:
      hasLanguage("python") && canRun("python3", "-c", "import pulumi") ? undefined : "python3 has no pulumi package",
  },
  go: {
    files: {
      "Pulumi.yaml": "name: demo\nruntime: { name: go, options: { binary: ./program } }\n",
      "main.go": go,
      "go.mod": `module demo\n\ngo 1.25.0\n\nrequire github.com/pulumi/pulumi/sdk/v3 v3.248.0\n`,
    },
    prepare: (folder) => {
      execFileSync("go", ["mod", "tidy"], { cwd: folder, stdio: "pipe" });
      execFileSync("go", ["build", "-buildvcs=false", "-o", "program", "."], { cwd: folder, stdio: "pipe" });
    },
    missing: hasLanguage("go") && canRun("go", "version") ? undefined : "there is no pulumi-language-go or go on PATH",
  },
};

function canRun(command: string, ...args: string[]): boolean {
  try {
    execFileSync(command, args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

describe.skipIf(reason !== undefined)("a program in another language, on the real engine", () => {
  let stack: RealStack | undefined;
  afterEach(async () => {
    await stack?.close();
    stack = undefined;
  });

  for (const [language, { files, prepare, missing }] of Object.entries(languages)) {
    if (missing !== undefined) console.error(`\n*** ${language}: ${missing}: not tried ***\n`);
    const open = async (written: Language["files"]): Promise<RealStack> => {
      const opened = await startStack({ with: everything, runtime: language });
      stack = opened;
      opened.write(written);
      prepare?.(opened.folder);
      return opened;
    };
    it.skipIf(missing !== undefined)(
      `${language}: names with a random end: what is replaced is made first`,
      async () => {
        const option =
          /, options: \{ deleteBeforeReplace: true \}|, pulumi\.ResourceOptions\(delete_before_replace=True\)|, pulumi\.DeleteBeforeReplace\(true\)/;
        const opened = await open(
          Object.fromEntries(Object.entries(files).map(([name, text]) => [name, text.replace(option, "")])),
        );
        const done = async (...args: string[]): Promise<void> => {
          const { code, text } = await opened.pulumi(...args);
          expect(code, text).toBe(0);
        };
        const vms = () => opened.emulator.dump().vms;
        await done("config", "set", "--path", "pulumi:autonaming.pattern", "${name}-${hex(7)}");
        await done("up", "--yes", "--skip-preview");
        const [first] = vms();
        expect(first?.name).toMatch(/^db-1-[0-9a-f]{7}$/);
        // From here on the state is known to have it: a pattern says of nothing by itself that it is there.
        await done("preview", "--expect-no-changes");
        const ways = [["up", "--replace", "**::db-1"], ["up"]];
        for (const [index, way] of ways.entries()) {
          if (index === 1) {
            const { text } = await opened.pulumi("stack", "--show-urns");
            const urn = /urn:\S+::db-1(?=\s)/.exec(text)?.[0] ?? "";
            await done("state", "taint", urn, "--yes");
          }
          const before = vms()[0]?.id;
          const from = opened.emulator.requests().log.length;
          await done(...way, "--yes", "--skip-preview");
          const sent = opened.emulator
            .requests()
            .log.slice(from)
            .map(({ operation }) => operation);
          expect(sent.indexOf("vm.create")).toBeGreaterThanOrEqual(0);
          expect(sent.indexOf("vm.create")).toBeLessThan(sent.indexOf("vm.delete"));
          expect(vms()).toMatchObject([{ status: "ACTIVE", name: expect.stringMatching(/^db-1-[0-9a-f]{7}$/) }]);
          expect(vms()[0]?.id).not.toBe(before);
          expect(worldOf(opened).volumes).toEqual([expect.stringMatching(/^data-[0-9a-f]{7} 5 db-1-/)]);
          await done("refresh", "--yes", "--skip-preview", "--expect-no-changes");
        }
      },
    );

    it.skipIf(missing !== undefined)(`${language}: comes up, is replaced, has nothing to do, and goes`, async () => {
      const opened = await open(files);
      const done = async (...args: string[]): Promise<string> => {
        const { code, text } = await opened.pulumi(...args);
        expect(code, text).toBe(0);
        return text;
      };
      await done("preview");
      expect(worldOf(opened).vms).toEqual([]);
      await done("up", "--yes", "--skip-preview");
      const made = worldOf(opened);
      expect(made).toMatchObject({ vms: ["db-1 ACTIVE"], volumes: ["data 5 db-1"] });
      await done("up", "--yes", "--skip-preview", "--expect-no-changes");
      await done("refresh", "--yes", "--skip-preview", "--expect-no-changes");
      const [{ id = "" } = {}] = opened.emulator.dump().vms;
      expect(await done("up", "--yes", "--replace", "**::db-1")).toMatch(/if this resource is being replaced/);
      expect(worldOf(opened)).toEqual(made);
      expect(opened.emulator.dump().vms.map((one) => one.id)).not.toContain(id);
      await done("destroy", "--yes", "--skip-preview");
      expect(worldOf(opened)).toMatchObject({ vms: [], volumes: [] });
    });
  }
});

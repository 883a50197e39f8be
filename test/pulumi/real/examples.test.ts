import { execFileSync } from "node:child_process";
import { cpSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { hasLanguage, linkNodeSdk, type RealStack, startStack, whyNot, writeSdk } from "./stack";

const reason = whyNot();
const examples = resolve(__dirname, "../../../examples");

/** Those whose program imports the SDK that Pulumi writes. */
const withSdk = ["pulumi-typescript", "pulumi-yaml-file"];

/** The program runs where the language's own host and SDK are. */
const missing: Readonly<Record<string, string | undefined>> = {
  "pulumi-typescript": undefined,
  "pulumi-yaml-file": undefined,
  "pulumi-dynamic": undefined,
  "pulumi-yaml-language": hasLanguage("yaml") ? undefined : "there is no pulumi-language-yaml on PATH",
  "pulumi-python": hasPython() ? undefined : "python3 or its pulumi package is missing",
};

function hasPython(): boolean {
  if (!hasLanguage("python")) return false;
  try {
    execFileSync("python3", ["-c", "import pulumi"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

describe.skipIf(reason !== undefined)("the examples, on the embedded service", () => {
  let stack: RealStack | undefined;
  afterEach(async () => {
    await stack?.close();
    stack = undefined;
  });

  for (const [name, problem] of Object.entries(missing)) {
    if (problem !== undefined) console.error(`\n*** ${name}: ${problem}: not tried ***\n`);
    it.skipIf(problem !== undefined)(`${name} comes up, has nothing to do after that, and goes`, async () => {
      stack = await startStack({ embedded: true });
      cpSync(join(examples, name), stack.folder, { recursive: true });
      if (withSdk.includes(name)) {
        const plugin = join(stack.folder, "node_modules/reconcile-cloud/bin/pulumi-resource-reconcile-cloud");
        linkNodeSdk(await writeSdk(plugin, "nodejs", join(stack.folder, "sdks")), stack.folder);
      }
      // The stack belongs to the project that the example names.
      await stack.pulumi("stack", "init", "example");
      await stack.pulumi("stack", "select", "example");
      const made = await stack.changes("up", "--yes", "--skip-preview");
      expect(made["created"]).toBeGreaterThan(4);
      expect(await stack.changes("up", "--yes", "--skip-preview")).toEqual({ unchanged: made["created"] });
      expect(await stack.changes("refresh", "--yes", "--skip-preview")).toEqual({ unchanged: expect.any(Number) });
      expect(await stack.changes("destroy", "--yes", "--skip-preview")).toEqual({ deleted: made["created"] });
    });
  }
});

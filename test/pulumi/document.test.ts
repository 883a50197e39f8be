import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type RunningEmulator, startEmulator } from "../../emulator";
import { createFakeEngine } from "./fake-engine";
import { makeProgramFolder } from "./provider-process";
import { timing, token } from "./shared-scenarios";

const root = resolve(__dirname, "../..");
const document = readFileSync(join(root, "docs/pulumi.md"), "utf8");

/**
 * The programs with dynamic resources; those with the SDK that Pulumi writes, and all commands, are run with a real
 * engine by test/pulumi/real/document.test.ts.
 */
const programs = [...document.matchAll(/^<!-- file: (index\.\w+) -->\n```\w+\n([\s\S]*?)^```$/gm)].flatMap(
  ([, file = "", text = ""]) => (text.includes('"reconcile-cloud/pulumi"') ? [{ file, text }] : []),
);

describe("the programs of docs/pulumi.md come up, have nothing to do after that, and go", () => {
  let emulator: RunningEmulator;
  let folder: string;
  beforeEach(async () => {
    emulator = await startEmulator({ timeScale: 0 });
    folder = makeProgramFolder();
    execFileSync(process.execPath, [join(root, "bin/reconcile.js"), "init"], { cwd: folder, stdio: "pipe" });
  });
  afterEach(() => emulator.close());

  it("there is one", () => expect(programs.map(({ file }) => file)).toEqual(["index.ts"]));

  it.each(programs)("$file", async ({ file: main, text }) => {
    writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "demo", private: true }));
    writeFileSync(join(folder, main), text);
    const settings = { baseUrl: emulator.url, timing, token };
    const engine = createFakeEngine({
      folder,
      main,
      typescript: main.endsWith(".ts"),
      config: Object.fromEntries(Object.entries(settings).map(([key, value]) => [`reconcile-cloud:${key}`, value])),
    });
    const up = await engine.up();
    expect(up.errors).toEqual([]);
    expect(emulator.dump().vms.map(({ floating_ip: address }) => address)).toContain(up.outputs["address"]);
    const again = await engine.up();
    // What does not depend on each other is registered in any order.
    expect([...again.steps].sort()).toEqual(up.steps.map((step) => step.replace(/^create/, "same")).sort());
    expect((await engine.destroy()).errors).toEqual([]);
    expect(emulator.dump().vms).toEqual([]);
  });
});

/** schemas/events.schema.json against what the documents show and what commands really write. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startEmulator } from "../../emulator";
import { jsonLines, root, runCli } from "../support/cli-process";
import { makeFolder } from "../support/folder";
import { problemsOfEvent as problemsOf, eventTypes as types } from "../support/schemas";

const document = readFileSync(join(root, "docs/json.md"), "utf8");

describe("docs/json.md", () => {
  it("shows lines that are as their schema says", () => {
    const shown = [...document.matchAll(/^\{"type":.*$/gm)].map(
      ([line]) => JSON.parse(line) as Record<string, unknown>,
    );
    expect(new Set(shown.map(({ type }) => type)).size).toBeGreaterThan(6);
    expect(shown.map(problemsOf).filter((problem) => problem !== "")).toEqual([]);
  });

  it.each(types)("names %s", (type) => {
    expect(document.includes(`"type":"${type}"`) || document.includes(`\`${type}\``)).toBe(true);
  });
});

describe("what commands write", () => {
  it("has a schema for whatever an event is called in the code", () => {
    const folder = join(root, "reconciler/cli");
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
    const written = files.flatMap((file) =>
      [...readFileSync(join(folder, file), "utf8").matchAll(/output\.event\(\{\s*type: "(\w+)"/g)].map(
        ([, type]) => type,
      ),
    );
    expect(written.length).toBeGreaterThan(15);
    expect(written.filter((type) => !types.includes(String(type)))).toEqual([]);
  });

  it("has a schema, a time and the keys that the schema requires", async () => {
    const cwd = makeFolder({
      "reconcile.yaml": `version: 1
project: acme
region: in-west-1
defaults: { vm: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 } }
vms: { dbs: {} }
volumes: { data: { size: 10, attach_to: dbs } }
groups: { web: { rules: [ { protocol: tcp, dst_port: 22 } ] } }
`,
    });
    const emulator = await startEmulator({ timeScale: 0 });
    try {
      const env = { RECONCILE_TOKEN: "ops-token", RECONCILE_BASE_URL: emulator.url };
      const problems: string[] = [];
      const seen = new Set<unknown>();
      for (const [words, exitCode] of [
        ["plan", 0],
        ["apply -y", 0],
        ["drift", 0],
        ["exposure", 0],
        ["rehearse", 0],
        ["state list", 0],
        ["state show vm.dbs", 0],
        ["graph", 0],
        ["doctor", 0],
        ["pull", 0],
        ["export pulumi", 0],
        ["version", 0],
        ["help", 0],
        ["help state", 0],
        ["plan --help", 0],
        ["help nothing", 1],
        ["explain", 0],
        ["explain vm.size", 0],
        ["vm list", 0],
        ["history", 0],
        ["fmt --check", 2],
        ["dialect test openstack-like", 0],
        ["docs safety", 0],
        ["docs flush volume", 0],
        ["destroy", 3],
        ["destroy -y --allow-data-loss", 0],
      ] as const) {
        const ran = await runCli([...words.split(" "), "--json"], { cwd, env });
        expect([words, ran.exitCode, ran.stderr]).toMatchObject([words, exitCode, expect.anything()]);
        const lines = jsonLines(ran.stdout);
        for (const line of lines) {
          seen.add(line["type"]);
          const problem = problemsOf(line);
          if (problem !== "") problems.push(`${words}: ${problem}`);
        }
        expect(lines.at(-1)).toMatchObject({ type: "summary" });
      }
      expect(problems).toEqual([]);
      expect(seen.size).toBeGreaterThan(18);
    } finally {
      await emulator.close();
    }
  });
});

/** Every key of the file has its row in docs/reference.md and its answer from `explain`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fieldsCalled, fieldsOfSchema } from "../../reconciler/config/schema-fields";
import { root, runCli } from "../support/cli-process";
import { makeFolder } from "../support/folder";

const fields = fieldsOfSchema(JSON.parse(readFileSync(join(root, "schemas/desired-state.schema.json"), "utf8")));
const rows = readFileSync(join(root, "docs/reference.md"), "utf8")
  .split("\n")
  .filter((line) => line.startsWith("| `"));

describe("every field of the file", () => {
  it("has a row in the reference, with what it means", () => {
    const missing = fields.filter(({ name, about }) => {
      const head = `| \`${name.replace(/^.*\./, "").replaceAll("[]", "")}\` |`;
      const means = about.replace(/ ?(?:A change|Default): .*$/, "").replaceAll("|", "\\|");
      return !rows.some((row) => row.startsWith(head) && row.includes(means));
    });
    expect(fields.length).toBeGreaterThan(200);
    expect(missing.map(({ name }) => name)).toEqual([]);
  });

  it("is found under its whole name", () => {
    const lost = fields.filter(({ name, about }) => !fieldsCalled(fields, name).some((one) => one.about === about));
    expect(lost.map(({ name }) => name)).toEqual([]);
  });

  it("is explained by the names that people type", async () => {
    const cwd = makeFolder();
    for (const [asked, says] of [
      ["checks.at_most", "checks.at_most.remove"],
      ["rollout.web.canary", "rollout.KEY.canary"],
      ["policy.command", "policy.command"],
      ["outputs.value", "a map with value, description and"],
      ["components.from", "components.KEY.from"],
      ["environments.protect", "environments.KEY.protect"],
      ["rules.dst_port", "groups.KEY.rules[].dst_port"],
    ] as const) {
      const { exitCode, stdout } = await runCli(["explain", asked], { cwd });
      expect(exitCode, asked).toBe(0);
      expect(stdout).toContain(says);
    }
    expect((await runCli(["explain", "nothing.like_it"], { cwd })).exitCode).toBe(1);
  });
});

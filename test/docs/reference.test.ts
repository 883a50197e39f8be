/** Every key of the file has its row in docs/reference.md and its answer from `explain`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fieldsCalled, fieldsOfSchema } from "../../reconciler/config/schema-fields";
import { root, runCli } from "../support/cli-process";
import { makeFolder } from "../support/folder";

const fieldsOf = (file: string) =>
  fieldsOfSchema(JSON.parse(readFileSync(join(root, `schemas/${file}.schema.json`), "utf8")));
const linesOf = (page: string) => readFileSync(join(root, "docs", page), "utf8").split("\n");

describe.each([
  { file: "desired-state", page: "reference.md", atLeast: 200 },
  { file: "fleet", page: "reference.md", atLeast: 80 },
  { file: "tests", page: "reference.md", atLeast: 20 },
  { file: "dialect", page: "dialect.md", atLeast: 100 },
])("every field of the $file schema", ({ file, page, atLeast }) => {
  const fields = fieldsOf(file);

  it("has a row in the reference, or a section, with what it means", () => {
    const lines = linesOf(page);
    const missing = fields.filter(({ name, about }) => {
      // One table for all answers, and their names below it.
      if (about.startsWith("The answer of ")) return !lines.some((line) => line.includes(`\`${name.slice(8)}\``));
      // An operation has points in its name.
      const words = name.replaceAll("[]", "").split(".");
      const heads = words.map((_, index) => `\`${words.slice(index).join(".")}\``);
      const means = about.replace(/ ?(?:A change|Default): .*$/, "").replaceAll("|", "\\|");
      // A row may have several fields of one value and one meaning.
      const namesOf = (line: string) => (line.startsWith("| `") ? line.slice(2).split(" | ")[0]!.split(", ") : []);
      return !lines.some(
        (line) => (namesOf(line).some((one) => heads.includes(one)) && line.includes(means)) || line === means,
      );
    });
    expect(fields.length).toBeGreaterThan(atLeast);
    expect(missing.map(({ name }) => name)).toEqual([]);
  });

  it("is found under its whole name", () => {
    // A field of one name and one meaning is one row of the schema wherever it may stand: one place is enough.
    const wordsOf = ({ name, about }: (typeof fields)[number]) => `${name.split(".").at(-1)} ${about}`;
    const once = [...new Map(fields.map((field) => [wordsOf(field), field])).values()];
    const lost = once.filter(({ name, about }) => !fieldsCalled(fields, name).some((one) => one.about === about));
    expect(lost.map(({ name }) => name)).toEqual([]);
  });
});

describe("explain", () => {
  it("knows a field by the names that people type", async () => {
    const cwd = makeFolder();
    for (const [asked, says] of [
      ["checks.at_most", "checks.at_most.remove"],
      ["rollout.web.canary", "rollout.KEY.canary"],
      ["policy.command", "policy.command"],
      ["outputs.value", "a map with value, description and"],
      ["components.from", "components.KEY.from"],
      ["environments.protect", "environments.KEY.protect"],
      ["rules.dst_port", "groups.KEY.rules[].dst_port"],
      ["fleet.stacks.approve", "fleet.stacks.KEY.approve"],
      ["not_the_author", "fleet.stacks.KEY.not_the_author"],
      ["dialect.records.vm.private_ip", "The address on the private network."],
      ["next_header", "pagination.next_header"],
      ["tests.expect.exit_code", "tests.tests[].expect.exit_code"],
    ] as const) {
      const { exitCode, stdout } = await runCli(["explain", asked], { cwd });
      expect(exitCode, asked).toBe(0);
      expect(stdout).toContain(says);
    }
    expect((await runCli(["explain", "nothing.like_it"], { cwd })).exitCode).toBe(1);
  });
});

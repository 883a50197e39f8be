import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { flagTable } from "../../reconciler/cli/flags";
import { commands } from "../../reconciler/cli/registry";
import { root } from "../support/cli-process";

const page = readFileSync(join(root, "docs/from-terraform.md"), "utf8");
const schema = JSON.parse(readFileSync(join(root, "schemas/desired-state.schema.json"), "utf8")) as {
  readonly properties: Readonly<Record<string, unknown>>;
};

/** What the second column of the page's tables has in backquotes: what is said to be there. */
const here = [...page.matchAll(/^\| [^|]+ \| ([^|]+) \|/gm)].flatMap(([, cell]) =>
  [...cell!.matchAll(/`([^`]+)`/g)].map(([, word]) => word!),
);

describe("the tables of from-terraform.md", () => {
  it("name commands and flags that exist", () => {
    const words = here.filter((word) => /^[a-z]+( [a-z]+)?( --[a-z-]+)?$/.test(word));
    expect(words.length).toBeGreaterThan(20);
    const unknown = words.filter((word) => {
      const [command = "", flag] = word.split(" --");
      const isCommand = Object.hasOwn(commands, command) || Object.hasOwn(schema.properties, command);
      return !(isCommand || command === "max_unavailable") || (flag !== undefined && !Object.hasOwn(flagTable, flag));
    });
    expect(unknown).toEqual([]);
    const flags = here.filter((word) => word.startsWith("--")).map((word) => /^--([a-z-]+)/.exec(word)![1]!);
    expect(flags.filter((flag) => !Object.hasOwn(flagTable, flag))).toEqual([]);
  });

  it("know the sections of a file that a user of Terraform looks for", () => {
    for (const section of [
      "vars",
      "components",
      "outputs",
      "lookups",
      "reads",
      "environments",
      "checks",
      "policy",
      "state",
    ])
      expect(page, section).toContain(`${section}:`);
    const keys = here.filter((word) => /^[a-z_]+:$/.test(word)).map((word) => word.slice(0, -1));
    expect(keys.filter((key) => !Object.hasOwn(schema.properties, key) && key !== "tests")).toEqual([]);
  });
});

/** Commands that a message names, and what makes them those of the same project. */
import { describe, expect, it } from "vitest";
import { findCommand } from "../../reconciler/cli/command";
import { commands } from "../../reconciler/cli/registry";
import { onSameProject } from "../../reconciler/cli/same-project";
import { givenVars } from "../../reconciler/cli/workspace";

const said = (words: string, flags: object, args: readonly string[], text: string): string => {
  const { found } = findCommand(commands, words.split(" ")) ?? {};
  if (found === undefined) throw new Error(`there is no ${words}`);
  return onSameProject(commands, found, { flags, args })(text);
};

const told = { file: ["b.yaml"], env: "prod", state: "s.json" };
const all = "-f b.yaml --env prod --state s.json";

describe("a command in a message", () => {
  it.each<[what: string, text: string, expected: string]>([
    ["with its arguments", "reconcile import vm.db ID (it exists)", `reconcile import ${all} vm.db ID (it exists)`],
    ["of two words", "one of a, b (reconcile state list)", `one of a, b (reconcile state list ${all})`],
    [
      "beside another",
      "reconcile owe vm.a, or reconcile state rm vm.a",
      `reconcile owe ${all} vm.a, or reconcile state rm ${all} vm.a`,
    ],
    ["in a sentence", "recorded by reconcile apply", `recorded by reconcile apply ${all}`],
    ["that says it itself", "reconcile state list --env dev", "reconcile state list -f b.yaml --env dev"],
    ["that names its files", "reconcile plan c.yaml", "reconcile plan --env prod --state s.json c.yaml"],
    ["that names a copy", "reconcile state push a.json", `reconcile state push ${all} a.json`],
    [
      "that names another state, beside one that names none",
      "reconcile state pull --state 'a' | reconcile state push -",
      `reconcile state pull -f b.yaml --state 'a' | reconcile state push ${all} -`,
    ],
    ["that is about a saved plan", "reconcile apply p.plan.json", "reconcile apply p.plan.json"],
    ["that is of no project", "reconcile explain apply/failed", "reconcile explain apply/failed"],
    ["that takes none of these", "reconcile fleet list", "reconcile fleet list"],
    [
      "that is none",
      "this reconcile reads version 1, in reconcile.yaml",
      "this reconcile reads version 1, in reconcile.yaml",
    ],
  ])("%s", (_, text, expected) => expect(said("drift", told, [], text)).toBe(expected));

  it.each<[what: string, command: string, flags: object, args: readonly string[], expected: string]>([
    ["nothing", "plan", {}, [], "reconcile apply"],
    ["files as arguments", "plan", {}, ["b.yaml", __dirname], `reconcile apply -f b.yaml -f ${__dirname}`],
    ["an address as an argument", "import", { env: "prod" }, ["vm.db", "1"], "reconcile apply --env prod"],
    ["ids as arguments", "orphans delete", { env: "prod" }, ["59f5539a"], "reconcile apply --env prod"],
    ["addresses beside files", "drift", { accept: true }, ["vm.db", "b.yaml"], "reconcile apply -f b.yaml"],
    ["a saved plan", "apply", { env: "prod" }, ["p.plan"], "reconcile apply"],
    [
      "a file of another name",
      "plan",
      { file: [__filename], env: "prod" },
      [],
      `reconcile apply -f ${__filename} --env prod`,
    ],
    ["a pipe", "plan", { env: "prod" }, ["/dev/null"], "reconcile apply -f /dev/null --env prod"],
    ["two projects", "move", { env: "prod", to: "../b" }, ["vm.a"], "reconcile apply"],
    ["two states", "state mv", { env: "prod", "to-state": "b.json" }, ["vm.a", "vm.b"], "reconcile apply"],
    ["one of several projects", "plan", { "changed-since": "main" }, ["a", "b"], "reconcile apply"],
    ["all environments", "plan", { env: "all" }, [], "reconcile apply"],
    ["a name with a space", "plan", { file: ["my file.yaml"] }, [], "reconcile apply -f 'my file.yaml'"],
    ["a service", "plan", { "base-url": "https://h/a" }, [], "reconcile apply --base-url https://h/a"],
    // The value may be a secret, and without any the command would be about other names.
    [
      "variables",
      "apply",
      { var: ["tier=hush", "n=2", "odd"], "var-file": ["my vars.yaml"] },
      [],
      "reconcile apply --var 'tier=…' --var 'n=…' --var-file 'my vars.yaml'",
    ],
    ["a dialect", "plan", { dialect: "my d.yaml" }, [], "reconcile apply --dialect 'my d.yaml'"],
    // A command without the state would be about another one.
    [
      "a state with a password",
      "plan",
      { state: "postgres://u:hush@h/db" },
      [],
      "reconcile apply --state postgres://h/db",
    ],
    [
      "a state with a token behind it",
      "plan",
      { state: "https://h/a?token=hush&name=b" },
      [],
      "reconcile apply --state 'https://h/a?token=…&name=…'",
    ],
    [
      "a state with a password behind it",
      "plan",
      { state: "postgres://h/db?password=hush" },
      [],
      "reconcile apply --state 'postgres://h/db?password=…'",
    ],
  ])("where the command line names %s", (_, command, flags, args, expected) =>
    expect(said(command, flags, args, "reconcile apply")).toBe(expected),
  );

  it("is not taken with the sign that stands for a value", () => {
    expect(() => givenVars({ var: ["tier=…", "n=2"] })).toThrow("--var tier=… stands in a message for a value");
    expect(givenVars({ var: ["tier=… and more"] }).vars).toEqual({ tier: "… and more" });
  });
});

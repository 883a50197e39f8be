/** A problem stands at the line that uses a value, and names the line or the flag that gives it. */
import { describe, expect, it } from "vitest";
import { readDesired } from "../../reconciler/config/read/desired";
import { explain } from "../../reconciler/core/diff/explain";

const vm = `owner: o@a.example, user_id: "1", image_id: u, size: 10, project: p, region: r`;
const file = (environment: string, more = "") => `version: 1
vars: { size: { default: 0 }, base: {}, made: { default: "\${var.base}" } }
environments:
  staging: { vars_file: staging.yaml, vars: { ${environment} } }
volumes:
  data: { name: data-staging, size: "\${var.${more === "" ? "size" : more}}" }
`;
const component = `component: 1
parameters: { size: {} }
volumes:
  data: { name: data-staging, size: "\${param.size}" }
`;
const using = `version: 1
vars: { size: {} }
environments: { staging: { vars: { size: 0 } } }
components: { shop: { from: ./shop.yaml, with: { size: "\${var.size}" } } }
`;

const detailOf = (text: string, vars?: Record<string, string>): string | undefined =>
  readDesired([{ file: "a.yaml", text }], {
    env: "staging",
    ...(vars === undefined ? {} : { vars }),
    open: (path) => ({
      source: { file: path, text: path.endsWith("shop.yaml") ? component : "base: -4\n" },
    }),
  }).diagnostics[0]?.detail;

describe("a problem with a value that a variable brings", () => {
  it.each([
    ["an environment gives it", file("size: -3"), undefined, "${var.size} is given in a.yaml:4"],
    ["the default does", file("base: 1"), undefined, "${var.size} is given in a.yaml:2"],
    ["a flag does", file("base: 1"), { size: "-1" }, "${var.size} is given with --var size"],
    [
      "it is made of another one, from a file of variables",
      file("size: 1", "made"),
      undefined,
      "${var.made} is given in a.yaml:2; ${var.base} is given in staging.yaml:1",
    ],
    [
      "a parameter of a component takes it",
      using,
      undefined,
      "${param.size} is given in a.yaml:4; ${var.size} is given in a.yaml:3; in the component shop, used in a.yaml:4",
    ],
  ])("%s", (_, text, vars, told) => {
    expect(detailOf(text, vars)).toBe(`expected a whole number of GB, at least 1; ${told}`);
  });
});

describe("a resource", () => {
  it("knows where the variables of its fields got their values, once for all instances", () => {
    const text = `version: 1
vars: { flavor: { default: m1.small } }
environments:
  staging:
    vars: { flavor: m1.large }
vms:
  web: { for_each: 2, name: "web-\${each}", flavor_id: "\${var.flavor}", ${vm} }
`;
    const { desired } = readDesired([{ file: "a.yaml", text }], { env: "staging" });
    const [first, second] = desired!.resources;
    expect(
      explain("changed", [{ field: "flavor_id", before: 1, after: 2, verb: "resize" }], undefined, first!.inherited),
    ).toBe("the file changed: flavor_id, by ${var.flavor} in a.yaml:5");
    expect(first!.inherited).toEqual({ flavor_id: { file: "a.yaml", line: 5, column: 21, by: "${var.flavor}" } });
    expect(second!.inherited).toEqual(first!.inherited);
  });

  it("knows for each use of a component who gave its parameters, and what the file above leaves to it", () => {
    const text = `version: 1
vars: { size: { default: 3 } }
defaults: { volume: { size: "\${var.size}" } }
components:
  one: { from: ./shop.yaml, with: { size: 1 } }
  two: { from: ./shop.yaml, with: { size: 2 } }
`;
    const shop = `${component.replace("data-staging", '"${component}"')}  logs: { name: "\${component}-logs" }\n`;
    const { desired, diagnostics } = readDesired([{ file: "a.yaml", text }], {
      open: (path) => ({ source: { file: path, text: shop } }),
    });
    expect(diagnostics).toEqual([]);
    const above = { file: "a.yaml", line: 2, column: 26, by: "${var.size}" };
    expect(desired!.resources.map(({ address, inherited }) => [address, inherited?.["size"]])).toEqual([
      ["one/volume.data", { file: "a.yaml", line: 5, column: 43, by: "${param.size}" }],
      ["one/volume.logs", above],
      ["two/volume.data", { file: "a.yaml", line: 6, column: 43, by: "${param.size}" }],
      ["two/volume.logs", above],
    ]);
  });
});

import { describe, expect, it } from "vitest";
import { collectProblems } from "../../reconciler/config/problems";
import { readDesired } from "../../reconciler/config/read-desired";
import { readYaml } from "../../reconciler/config/yaml-reader";

const read = (text: string) => {
  const problems = collectProblems();
  const { root } = readYaml({ file: "f.yaml", text }, problems);
  return { root, codes: problems.diagnostics.map(({ code, source }) => `${code}:${source?.line}`) };
};

describe("what of YAML is read", () => {
  it.each([
    ["an empty file is an empty desired state", ""],
    ["a file of comments is an empty desired state", "# nothing yet\n"],
    ["a file with a document marker alone is an empty desired state", "---\n"],
    ["sections with nothing behind them are empty", "version: 1\nvms:\nvolumes:\ngroups:\nimports:\n"],
  ])("%s", (_, text) => {
    const { desired, diagnostics } = readDesired([{ file: "f.yaml", text }]);
    expect(diagnostics).toEqual([]);
    expect(desired?.resources).toEqual([]);
  });

  it("a byte order mark and Windows line ends change neither values nor positions", () => {
    const text = "\ufeffversion: 1\r\ngroups:\r\n  web:\r\n    nam: x\r\n";
    const [problem] = readDesired([{ file: "f.yaml", text }]).diagnostics;
    expect(problem?.source).toEqual({ file: "f.yaml", line: 4, column: 5 });
    expect(problem?.excerpt).toBe("    nam: x");
  });

  it("a whole number too large for JavaScript stays as written", () => {
    expect(read("id: 12345678901234567890").root).toMatchObject({ id: "12345678901234567890" });
  });

  it("aliases and merge keys give their values, and the map's own keys win", () => {
    const { root, codes } = read("a: &a { x: 1, y: 2 }\nb: { <<: *a, y: 3 }\nc: { y: 4, <<: [*a] }\n");
    expect(codes).toEqual([]);
    expect(root).toMatchObject({ b: { x: 1, y: 3 }, c: { x: 1, y: 4 } });
  });

  it.each([
    ["a key given twice is refused on the second line", "a: 1\nb: 2\na: 3\n", ["config/duplicate-key:3"]],
    ["several documents are refused", "a: 1\n---\nb: 2\n", ["config/yaml-syntax:2"]],
    ["indenting with tabs is refused", "vms:\n\tdb: {}\n", ["config/yaml-syntax:2"]],
    ["an unknown alias is refused", "a: *nothing\n", ["config/yaml-syntax:1"]],
    ["an alias to what contains it is refused", "a: &a [*a]\n", ["config/yaml-syntax:1"]],
    ["a tag is refused", "a: !env HOME\n", ["config/yaml-syntax:1"]],
    ["the key __proto__ is refused", "a: { __proto__: { polluted: true } }\n", ["config/forbidden-key:1"]],
    ["a list as key is refused", "? [a, b]\n: 1\n", ["config/forbidden-key:1"]],
    ["bytes that are no UTF-8 are refused", "a: \ufffd\n", ["config/encoding:1"]],
    ["text in UTF-16 is refused", "a\u0000:\u0000 \u00001\u0000", ["config/encoding:1"]],
  ])("%s", (_, text, expected) => {
    expect(read(text).codes).toEqual(expected);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it("nesting without end is a diagnostic and not a stack overflow", () => {
    for (const text of [
      "[".repeat(100_000),
      `${"[".repeat(20_000)}${"]".repeat(20_000)}`,
      "a: ".repeat(3_000),
      `${"- ".repeat(5_000)}a`,
    ])
      expect(read(text).codes.length).toBeGreaterThan(0);
    expect(read(`${"[".repeat(100)}${"]".repeat(100)}`).codes).toEqual(["config/yaml-syntax:1"]);
  });

  it("aliases that multiply into millions of values are refused before they are made", () => {
    const levels = Array.from(
      { length: 12 },
      (_, n) =>
        `a${n}: &a${n} [${
          n === 0
            ? "x"
            : Array(10)
                .fill(`*a${n - 1}`)
                .join(", ")
        }]`,
    );
    expect(read(levels.join("\n")).codes).toEqual(["config/alias-limit:1"]);
    expect(
      readDesired([{ file: "f.yaml", text: `version: 1\nvars: {}\n${levels.join("\n")}` }]).desired,
    ).toBeUndefined();
  });

  it("names that objects inherit are ordinary keys", () => {
    const text = "version: 1\ngroups:\n  constructor: { name: abc }\n  toString: { name: abd }\n  hasOwnProperty:\n";
    const { desired, diagnostics } = readDesired([{ file: "f.yaml", text }]);
    expect(diagnostics.map(({ code }) => code)).toEqual([]);
    expect(desired?.resources.map(({ name }) => name)).toEqual(["abc", "hasownproperty", "abd"]);
  });
});

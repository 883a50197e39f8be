import { describe, expect, it } from "vitest";
import { collectProblems } from "../../reconciler/config/problems";
import { readDesired } from "../../reconciler/config/read/desired";
import { readTests } from "../../reconciler/config/read/tests";
import { readYaml } from "../../reconciler/config/yaml/reader";

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

  it.each([
    [
      "one space too few, told at its line",
      "vms:\n web:\n    size: 1\n  db:\n    size: 2\n",
      2,
      "put one space before web",
    ],
    ["one too many before it", "vms:\n   web:\n    size: 1\n  db:\n    size: 2\n", 2, "take one space away before web"],
    ["the later one is wrong", "vms:\n  web:\n    size: 1\n   db:\n    size: 2\n", 4, "take one space away before db"],
    [
      "in columns of four",
      "groups:\n    a:\n        name: aaa\nvms:\n  web:\n        size: 1\n    db:\n        size: 2\n",
      5,
      "put 2 spaces before web",
    ],
    ["a list item among keys", "vms:\n  web:\n    size: 1\n    - x\n    name: y\n", 4, "add KEY: above it"],
  ])("indentation: %s", (_, text, line, fix) => {
    const [problem] = readDesired([{ file: "f.yaml", text: `version: 1\n${text}` }]).diagnostics;
    expect([problem?.code, problem?.source?.line]).toEqual(["config/yaml-syntax", line + 1]);
    expect(problem?.fix).toContain(fix);
  });

  it("keys at the top that begin with x- are the user's, with anchors that the rest repeats", () => {
    const text = `version: 1
x-base: &base { owner: a@b.example, user_id: "1", image_id: u, flavor_id: m1.small, size: 10 }
x-anything: [1, { vms: 3 }]
project: acme
region: r1
vms: { web: { <<: *base, name: web-1 } }
`;
    const { desired, diagnostics } = readDesired([{ file: "f.yaml", text }]);
    expect(diagnostics).toEqual([]);
    expect(desired?.resources).toMatchObject([{ address: "vm.web", name: "web-1", owner: "a@b.example" }]);
    const component = `component: 1
x-rules: &rules [{ protocol: tcp, dst_port: 22, remote_ip: 10.0.0.0/8 }]
groups: { web: { name: web-1, rules: *rules } }
`;
    const used = readDesired(
      [{ file: "f.yaml", text: "version: 1\nproject: acme\ncomponents: { shop: { from: ./c.yaml } }\n" }],
      { open: (file) => ({ source: { file, text: component } }) },
    );
    expect(used.diagnostics).toEqual([]);
    // Only at the top.
    const inner = readDesired([{ file: "f.yaml", text: "version: 1\ngroups: { web: { x-a: 1 } }\n" }]);
    expect(inner.diagnostics.map(({ summary }) => summary)).toContainEqual(expect.stringContaining("x-a"));
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
    [
      "a tag that makes bytes or a date is refused",
      "a: !!binary aGk=\nb: !!timestamp 2026-01-01\n",
      ["config/yaml-syntax:1", "config/yaml-syntax:2"],
    ],
    ["the key __proto__ is refused", "a: { __proto__: { polluted: true } }\n", ["config/forbidden-key:1"]],
    [
      "a merge of what is no map is refused",
      "a: &a { x: 1 }\nb: { <<: a }\nc: { <<: [*a, x] }\n",
      ["config/wrong-type:2", "config/wrong-type:3"],
    ],
    ["a list as key is refused", "? [a, b]\n: 1\n", ["config/forbidden-key:1"]],
    ["bytes that are no UTF-8 are refused", "a: \ufffd\n", ["config/encoding:1"]],
    ["a mark of this program is refused", "a: x\nb: \ufdd2group.web\ufdd3\n", ["config/encoding:2"]],
    ["and so is its escape", 'a: x\nb: ["\\uFDD0vm.web.id\\uFDD1"]\n', ["config/encoding:2"]],
    ["text in UTF-16 is refused", "a\u0000:\u0000 \u00001\u0000", ["config/encoding:1"]],
  ])("%s", (_, text, expected) => {
    expect(read(text).codes).toEqual(expected);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it("a number that is more than its value is refused wherever nothing else is said, as it would be read", () => {
    const text = `version: 1
vars: { id: { default: 007 }, tag: { default: 1.10 }, fine: { default: 1.5 } }
vms: { web: { for_each: [01, 1e2, 3], size: 010, root_size: 0x40, user_id: 0042 } }
`;
    const { diagnostics } = readDesired([{ file: "f.yaml", text }]);
    expect(diagnostics.flatMap(({ summary }) => (summary.includes("is missing") ? [] : [summary]))).toEqual([
      "007 would be read as the number 7",
      "1.10 would be read as the number 1.1",
      "01 would be read as the number 1",
      "1e2 would be read as the number 100",
      "010 would be read as the number 10",
      "user_id cannot be 42",
    ]);
    expect(diagnostics[0]?.fix).toBe('write 7, or "007" in quotes');
    const given = readDesired([{ file: "f.yaml", text: "version: 1\nvars: { id: {} }\n" }], {
      varFiles: [{ file: "x.vars.yaml", text: "id: 007\n" }],
    });
    expect(given.diagnostics.map(({ source, summary }) => `${source?.file} ${summary}`)).toEqual([
      "x.vars.yaml 007 would be read as the number 7",
    ]);
    const tests = readTests({ file: "t.yaml", text: "tests: [{ name: a, vars: { id: 007 }, expect: {} }]\n" });
    expect(tests.diagnostics.map(({ summary }) => summary)).toEqual(["007 would be read as the number 7"]);
    const priced = "{ prices: { currency: EUR, vm: { a: 24.90 } }, checks: { at_most: { monthly_cost: 500.00 } } }";
    const amounts = `tests: [{ name: a, given: { inline: ${priced} }, when: { set: ${priced} }, expect: {} }]\n`;
    expect(readTests({ file: "t.yaml", text: amounts }).diagnostics).toEqual([]);
    const beside = readTests({ file: "t.yaml", text: "tests: [{ nam: a, vars: { id: 007 }, expect: {} }]\n" });
    expect(beside.diagnostics.map(({ code }) => code)).toContain("config/invalid-value");
    expect(beside.diagnostics.map(({ code }) => code)).toContain("config/unknown-key");
  });

  it.each([
    ["map", "version: 1\nmoved: [ { from: vm.web[a], to: vm.db } ]\n", 24],
    ["list", "version: 1\nx-all: [web[a], web[b]]\n", 12],
  ])("an address of a for_each without quotes in a flow %s is told to be quoted", (_, text, column) => {
    const [problem] = readDesired([{ file: "f.yaml", text }]).diagnostics;
    expect(problem).toMatchObject({ code: "config/yaml-syntax", source: { line: 2, column } });
    expect(problem?.fix).toBe('put text with brackets in quotes, such as "web[a]"');
  });

  it("one mistake on each of two lines is two problems, not one for every word that follows", () => {
    const lines = [
      "vms:",
      "  a: { name: a-${each}, size: 10 }",
      "  b: { size: 10 }",
      "  c: { name: c-${each} }",
      "groups: {}",
    ];
    const { diagnostics } = readDesired([{ file: "f.yaml", text: lines.join("\n") }]);
    expect(diagnostics.map(({ source, fix }) => [source?.line, fix])).toEqual([
      [2, 'put text with ${…} in quotes, such as "web-${each}"'],
      [4, 'put text with ${…} in quotes, such as "web-${each}"'],
    ]);
  });

  it("a key given twice hides nothing else, unless it leaves names out", () => {
    const codes = (text: string) => readDesired([{ file: "f.yaml", text }]).diagnostics.map(({ code }) => code);
    const volume = "volumes: { data: { size: 1, size: 2, attach_to: db } }\n";
    expect(codes(`version: 1\n${volume}`)).toEqual(["config/duplicate-key", "config/unknown-reference"]);
    expect(codes(`version: 1\nvms:\n${volume}vms:\n`)).toEqual(["config/duplicate-key", "config/duplicate-key"]);
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

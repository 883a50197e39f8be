import { describe, expect, it } from "vitest";
import { collectProblems } from "../../reconciler/config/problems";
import { readDesired } from "../../reconciler/config/read/desired";
import { offsetOfPath } from "../../reconciler/config/yaml/file";
import { readWhole } from "../../reconciler/config/yaml/library";
import { cutIntoPieces } from "../../reconciler/config/yaml/pieces";
import { readYaml } from "../../reconciler/config/yaml/reader";

const everywhere = (text: string) => cutIntoPieces(text, 0, 1);
const inPieces = (text: string) => {
  const problems = collectProblems();
  return { ...readYaml({ file: "f.yaml", text }, problems, everywhere), diagnostics: problems.diagnostics };
};
const asWhole = (text: string) => {
  const problems = collectProblems();
  return { root: readWhole({ file: "f.yaml", text, root: undefined }, problems), diagnostics: problems.diagnostics };
};

const cuttable: [string, string][] = [
  [
    "entries in two sections",
    "version: 1\nvms:\n  a: { size: 1 }\n  b:\n    size: 2\n# remark\ngroups:\n    web:\n\n    db:\n      rules: []\nproject: x\n",
  ],
  [
    "block scalars",
    "groups:\n  a:\n    description: |\n      vms:\n        x: y\n  b:\n    description: >-\n     folded\n     text\n",
  ],
  ["flow maps that close at the indent of their key", "vms:\n  a: {\n    size: 1\n  }\n  b: [\n    1\n  ]\n"],
  ["comments at odd indents", "vms:\n# one\n  a: 1\n # two\n  b: 2\n      # three\n  c: 3"],
  ["Windows line ends", "version: 1\r\nvms:\r\n  a:\r\n    size: 1\r\n  b:\r\n    size: 2\r\n"],
  ["nothing behind the last key", "vms:\n  a:\n  b:\n"],
];

describe("a file read in pieces", () => {
  it.each(cuttable)("gives the values and places of the whole: %s", (_, text) => {
    expect(cutIntoPieces(text, 0, 1)?.pieces.length).toBeGreaterThan(1);
    const pieces = inPieces(text);
    const whole = asWhole(text);
    expect(pieces.root).toEqual(whole.root);
    for (const path of [
      ["vms", "b"],
      ["vms", "b", "size"],
      ["groups", "db", "rules"],
    ])
      for (const on of ["key", "value"] as const)
        expect(offsetOfPath(pieces.root, path, on)).toEqual(offsetOfPath(whole.root, path, on));
  });

  it.each([
    ["tabs", "vms:\n  a: 1\n  b:\t2\n"],
    ["anchors", "vms:\n  a: &x 1\n  b: *x\n"],
    ["document markers", "vms:\n  a: 1\n---\nvms:\n  b: 1\n"],
    ["quoted keys", 'vms:\n  "a": 1\n  b: 2\n'],
    ["a first key that is indented", "# remark\n  version: 1\nvms:\n  a: 1\n  b: 2\n"],
    ["a line at the left edge that is no key", "vms:\n  a: 1\n  b: >\n{ project: x }\n"],
    ["a lesser indent", "vms:\n    a: 1\n  b: 2\n"],
  ])("is not cut where a piece might not stand alone: %s", (_, text) => {
    expect(cutIntoPieces(text, 0, 1)).toBeUndefined();
  });

  it.each([
    ["a quoted text that runs over the next key", 'vms:\n  a: "x\n  b: y"\n'],
    ["a key given twice in two pieces", "vms:\n  a: 1\n  a: 2\n"],
    ["a section given twice", "vms:\n  a: 1\nvms:\n  b: 2\n"],
    ["a flow map left open", "vms:\n  a: { x: 1\n  b: 2\n"],
  ])("has the diagnostics of the whole: %s", (_, text) => {
    const pieces = inPieces(text);
    expect(pieces.diagnostics).toEqual(asWhole(text).diagnostics);
    expect(pieces.diagnostics).not.toEqual([]);
  });

  it("has the right lines in a large file", () => {
    const vms = Array.from({ length: 4000 }, (_, n) => `  vm-${n}:\n    size: ${n === 3990 ? "x" : 1}\n`).join("");
    const text = `version: 1\nproject: p\nregion: r\ndefaults: { vm: { owner: o, user_id: u, image_id: i, flavor_id: f } }\nvms:\n${vms}`;
    const { diagnostics } = readDesired([{ file: "f.yaml", text }]);
    expect(diagnostics.map(({ source }) => source?.line)).toEqual([5 + 3990 * 2 + 2]);
  });
});

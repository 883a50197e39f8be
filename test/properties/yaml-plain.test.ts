/**
 * The direct reader of common YAML and the YAML library agree on every text that the direct one answers for: the same
 * values, the same places, and nothing to complain about.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { collectProblems } from "../../reconciler/config/problems";
import { starterText } from "../../reconciler/config/starter";
import { keyOffset, offsetOfPath, ownOffset, type YamlMap } from "../../reconciler/config/yaml/file";
import { readWhole } from "../../reconciler/config/yaml/library";
import { readPlain } from "../../reconciler/config/yaml/plain";
import { runs } from "./random-desired";

/** A value with every place in it. */
function placed(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return { value };
  const own = ownOffset(value);
  const at = (step: string | number) => offsetOfPath(value, [step]).offset;
  if (Array.isArray(value)) return { own, items: value.map((item, index) => [at(index), placed(item)]) };
  const map = value as YamlMap;
  return { own, entries: Object.keys(map).map((key) => [key, keyOffset(map, key), at(key), placed(map[key])]) };
}

/** Whether there was an answer at all. */
function agrees(text: string): boolean {
  const plain = readPlain(text);
  if (plain === undefined) return false;
  const problems = collectProblems();
  const whole = readWhole({ file: "f.yaml", text, root: undefined }, problems);
  expect({ diagnostics: problems.diagnostics, root: placed(plain) }, JSON.stringify(text)).toEqual({
    diagnostics: [],
    root: placed(whole),
  });
  return true;
}

const scalars = [
  ..."a|web-1|x y|1|007|0x1F|0o17|1.5|1.|1e3|-1|+1|.5|.inf|true|True|TRUE|False|FALSE|Null|NULL|null|Null|~|yes|999999999999999|9999999999999999".split(
    "|",
  ),
  ...[
    "10.0.0.0/8",
    "::/0",
    "http://x/#y",
    "a:b",
    "a#b",
    "a # b",
    "a: b",
    "a:",
    "${each}",
    "$x-${each}",
    "2024-01-01",
    "1_000",
  ],
  ...[
    '"q"',
    "'q'",
    '"a: #b"',
    '"\\n"',
    "'it''s'",
    '""',
    "''",
    '"a" b',
    "é",
    "a\u00a0b",
    "a\u00a0",
    "_",
    "m1.small",
    "/",
    "|",
    ">-",
    "&a 1",
  ],
  ...[
    "*a",
    "!t x",
    "%",
    "@x",
    "`x",
    "=",
    "?",
    "-",
    "--",
    "---",
    "...",
    "<<",
    "__proto__",
    "a'b",
    'a"b',
    "a,b",
    "a]",
    "{x",
    "a{b",
    "a [b]",
    "`",
  ],
];
const scalar = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("a", "b", "1", "true", '"q"', "x y") },
  fc.constantFrom(...scalars),
);
const keys = [
  "1",
  "007",
  "1.5",
  "true",
  "null",
  "a.b",
  "__proto__",
  "<<",
  '"q"',
  "a b",
  "-a",
  "é",
  "?",
  "_",
  "x".repeat(1030),
];
const key = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom("a", "b", "c", "d", "e", "f", "web-1") },
  fc.constantFrom(...keys),
);
const gap = fc.constantFrom("", "", "", "", " ", "  ", " # c", "#c", " #", "\t");
const flow: fc.Arbitrary<string> = fc.letrec<{ value: string; list: string; map: string }>((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, scalar, tie("list"), tie("map")),
  list: fc
    .tuple(fc.array(tie("value"), { maxLength: 3 }), fc.constantFrom(", ", ",", " , ", ",\n  "))
    .map(([items, by]) => `[${items.join(by)}]`),
  map: fc
    .tuple(
      fc.array(
        fc.tuple(key, fc.constantFrom(": ", ":", " : ", ":  "), tie("value")).map((parts) => parts.join("")),
        { maxLength: 3 },
      ),
      fc.constantFrom(", ", ",", " , ", ", ,"),
      fc.constantFrom("{ }", "{}", "{  }"),
    )
    .map(([items, by, around]) => `${around.slice(0, -1)}${items.join(by)}${around.slice(1)}`),
})).value;
const said = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(key, fc.constantFrom(":", ": ", ":  ")).map(([name, colon]) => `${name}${colon}`) },
  { weight: 4, arbitrary: fc.tuple(key, flow).map(([name, value]) => `${name}: ${value}`) },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.constantFrom("- ", "-  ", "-", "- - "), flow).map(([mark, value]) => `${mark}${value}`),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom("- ", "-  "), key, flow)
      .map(([mark, name, value]) => `${mark}${name}: ${value}`),
  },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom("- ", ""), key).map(([mark, name]) => `${mark}${name}:`) },
  { weight: 1, arbitrary: fc.constantFrom("", "# c", "---", "...", "%YAML 1.2", "\t", "x", "? a", ": b") },
);
/** A line and how much deeper or shallower it stands than the one before it. */
const line = fc.tuple(fc.constantFrom(0, 0, 0, 2, 2, -2, -2, -4, 1, -1, 4), said, gap);
const lines = fc.tuple(fc.array(line, { maxLength: 12 }), fc.constantFrom("\n", "", "\n\n", " ")).map(([all, end]) => {
  let indent = 0;
  const texts = all.map(([step, words, after], index) => {
    indent = index === 0 ? 0 : Math.max(0, indent + step);
    return `${" ".repeat(indent)}${words}${after}`;
  });
  return `${texts.join("\n")}${end}`;
});

const files = ["examples", "test/golden"].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".yaml"))
    .sort()
    .map((name) => readFileSync(join(folder, name), "utf8")),
);
const positions = [
  "a: %",
  "a:\n- %",
  "a:\n  - % ",
  "a: [%]",
  "a: [1, %,]",
  "a: { b: %, }",
  "a: [1, % , x]",
  "a: { b: % }",
  "a: {b: %,c: 1}",
  "a: {%: 1}",
  "%: 1",
  "a:\n  - %: 1",
];
const runsOf = runs(3000);

describe("common YAML read directly", () => {
  it("is what the library reads, for the files of the examples and stories", () => {
    const direct = files.filter(agrees);
    expect(direct.length).toBeGreaterThan(files.length / 2);
  });

  it("covers the file that init writes, and lists at the indent of their key", () => {
    expect(agrees(starterText("x.json"))).toBe(true);
    expect(agrees("a:\n- b: 1\n  c:\n  - x\n  - { y: [1, two, 'three'] }\nd: # none\ne:   \n")).toBe(true);
  });

  it("is what the library reads, for every odd scalar in every position", () => {
    for (const one of [...scalars, ...keys])
      for (const around of positions) {
        agrees(around.replace("%", () => one));
        for (const after of ["  ", " # c", "#c", "\n   deeper", "\n# c\n\n  b: 1\n", "\nb:"])
          agrees(around.replace("%", () => `${one}${after}`));
      }
  });

  it("is what the library reads, for lines of every kind", () => {
    fc.assert(
      fc.property(lines, (text) => {
        agrees(text);
      }),
      runsOf,
    );
  });

  it("is what the library reads, for real files with a few characters changed", () => {
    const pieces = [..."\n :#-,[]{}\"'|>&*!?\t\r", "\n  ", "\n\n", " #", ": ", "- ", "x", "1"];
    const change = fc.tuple(fc.nat(), fc.nat(4), fc.constantFrom("", ...pieces));
    const texts = files.filter((text) => readPlain(text) !== undefined);
    fc.assert(
      fc.property(fc.constantFrom(...texts), fc.array(change, { minLength: 1, maxLength: 3 }), (original, changes) => {
        let text = original;
        for (const [where, removed, added] of changes) {
          const at = where % (text.length + 1);
          text = text.slice(0, at) + added + text.slice(at + removed);
        }
        agrees(text);
      }),
      runsOf,
    );
  });
});

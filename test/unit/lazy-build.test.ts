/** The build makes requires lazy: what it changes, and what only looks like it. */
import { createRequire } from "node:module";
import { expect, it } from "vitest";

const { lazily } = createRequire(__filename)("../../scripts/lazy.mjs") as { lazily(code: string): string };
const head = 'const list_1 = require("./list");\n';
const lazyHead = 'let list_1$; const list_1 = () => (list_1$ ??= require("./list"));\n';

it.each([
  ["a use", "(0, list_1.first)(rows);", "(0, list_1().first)(rows);"],
  ["a class that is made", "new list_1.List(1).x;", "new (list_1().List)(1).x;"],
  ["a class within another", "new list_1.a.List();", "new (list_1().a.List)();"],
  [
    "a text that looks like a use",
    'log("list_1.first is new list_1.List");',
    'log("list_1.first is new list_1.List");',
  ],
  ["a comment that looks like a use", "// list_1.first\nf();", "// list_1.first\nf();"],
  ["a part of a template", "`list_1.a ${list_1.b}`;", "`list_1.a ${list_1().b}`;"],
  ["a property of that name", "other.list_1.first;", "other.list_1.first;"],
  ["a pattern", "/list_1.first/.test(x);", "/list_1.first/.test(x);"],
  [
    "a getter of an export",
    'Object.defineProperty(exports, "a", { enumerable: true, get: function () { return list_1.a; } });',
    'Reflect.defineProperty(exports, "a", { enumerable: true, get: function () { return list_1().a; } });',
  ],
  ["the mark of a module", 'Object.defineProperty(exports, "__esModule", { value: true });', undefined],
])("changes %s as it must", (_, code, lazy) => {
  expect(lazily(head + code)).toBe(lazyHead + (lazy ?? code));
  expect(lazily(lazily(head + code))).toBe(lazyHead + (lazy ?? code));
});

it("evaluates a module when it is used for the first time, and once", () => {
  const loaded: string[] = [];
  const run = new Function("require", `${lazily(`${head}return () => list_1.value + list_1.value;`)}`);
  const use = run((name: string) => {
    loaded.push(name);
    return { value: 2 };
  });
  expect(loaded).toEqual([]);
  expect(use()).toBe(4);
  expect(loaded).toEqual(["./list"]);
});

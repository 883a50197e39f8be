import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";

const script = pathToFileURL(resolve("scripts/check-casts.mjs")).href;

test.each<[title: string, text: string, lines: readonly number[]]>([
  ["a bare cast is found", "const a = 1;\nconst b = a as Two;", [2]],
  ["a bare non-null mark is found", "const b = a!;", [1]],
  ["a reason on the line before it will do", "// Two is what it is.\nconst b = a as Two;", []],
  ["a reason on its line will do", "const b = a as Two; // Two is what it is.", []],
  ["a reason before its statement will do", "// Two is what it is.\nreturns(\n  1,\n  2,\n  3,\n  a as Two,\n);", []],
  ["a reason of something further up will not do", "// One.\nconst a = 1;\nconst c = 2;\n\nconst b = a as Two;", [5]],
  ["as const asserts nothing", "const b = [1] as const;", []],
  ["nor does the type of a package that is loaded late", 'const b = require("b") as typeof import("b");', []],
])("%s", async (_title, text, lines) => {
  const { castsWithoutReason } = await import(script);
  expect(castsWithoutReason(text)).toEqual(lines);
});

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { explanations } from "../../reconciler/report/explanations";

const root = join(__dirname, "../..");

function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    // Where codes are listed and explained, nothing carries them.
    if (entry.isDirectory()) return entry.name === "generated" ? [] : sources(path);
    return entry.name.endsWith(".ts") ? [path] : [];
  });
}

// That each code is explained needs no test: the codes are the keys of the table, and another one does not compile.
describe("codes and their explanations", () => {
  const text = sources("reconciler")
    .map((path) => readFileSync(join(root, path), "utf8"))
    .join("\n");
  /** Put together where they are used: from a condition, from how a step ended, for one of two files, for a part. */
  const isComposed = (code: string): boolean => {
    const [area, name] = code.split("/") as [string, string];
    if (area === "service" || area === "apply") return text.includes(`"${name}"`);
    if (area === "config" || area === "dialect") return text.includes(`}/${name}\``) || text.includes(`"${name}"`);
    return /^(plan\/(flavor|image|region)-(ambiguous|unknown)|fleet\/unknown-(service|tenant|stack))$/.test(code);
  };

  it.each(Object.keys(explanations))("%s is carried by something", (code) => {
    expect(text.includes(`"${code}"`) || text.includes(`[${code}]`) || isComposed(code)).toBe(true);
  });

  it("says what it means and what to do, in whole sentences or a command", () => {
    for (const [code, { means, todo }] of Object.entries(explanations)) {
      expect(means, code).toMatch(/\.$/);
      expect(todo.length, code).toBeGreaterThan(3);
    }
  });
});

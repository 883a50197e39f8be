import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { explanations } from "../../reconciler/report/explanations";

const root = join(__dirname, "../..");

function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    // What is explained is no proof that anything carries it.
    if (entry.isDirectory()) return ["generated", "explanations"].includes(entry.name) ? [] : sources(path);
    return entry.name.endsWith(".ts") ? [path] : [];
  });
}

describe("every code that a diagnostic can carry is explained", () => {
  const codes = new Set<string>();
  // Import paths inside the source look like codes; a code is never followed by a slash or a file name.
  for (const path of sources("reconciler"))
    for (const [, code] of readFileSync(join(root, path), "utf8").matchAll(
      /"((?:config|plan|state|service|apply|cli|consent|dialect|internal|exposure|import|listing|pull|rehearse)\/[a-z_-]+)"/g,
    ))
      if (!/^(plan|state|service)\/(plan|step|fold|text|shape|client|store)$/.test(code!)) codes.add(code!);
  // Half of a code that is put together where it is used.
  for (const half of ["plan/flavor", "plan/image", "plan/region"]) codes.delete(half);

  it.each([...codes].sort())("%s", (code) => {
    expect(Object.keys(explanations)).toContain(code);
  });

  it("says what it means and what to do, in whole sentences or a command", () => {
    expect(codes.size).toBeGreaterThan(80);
    for (const [code, { means, todo }] of Object.entries(explanations)) {
      expect(means, code).toMatch(/\.$/);
      expect(todo.length, code).toBeGreaterThan(3);
    }
  });
});

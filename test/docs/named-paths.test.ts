/** Every file and folder that the documents about the code name is there. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(__dirname, "../..");

/** A path may be named from the root, from the source, or from a room of it. */
const rooms = ["", "reconciler", "reconciler/core", "reconciler/config", "docs", "scripts"];

const isPath = (word: string): boolean =>
  /^[\w.*-]+(\/[\w.*-]+)+\/?$/.test(word) || /^[\w*-]+\.(ts|mts|mjs|json|yaml|md)$/.test(word);
/** A name that the reader chooses (`test/store/NAME.test.ts`), or an address. */
const isPlaceholder = (word: string): boolean => /(^|[/.-])(NAME|KIND)\b/.test(word) || /^\d+\./.test(word);

function isThere(path: string, folder: string): boolean {
  const whole = join(root, folder, path);
  if (!path.includes("*")) return existsSync(whole);
  const pattern = new RegExp(`^${(path.split("/").at(-1) ?? "").replaceAll(".", "\\.").replaceAll("*", ".*")}$`);
  const parent = join(whole, "..");
  return existsSync(parent) && readdirSync(parent).some((name) => pattern.test(name));
}

function pathsIn(text: string): string[] {
  const words = [...text.matchAll(/`([^`\n]+)`/g)].map(([, word = ""]) => word);
  const linked = [...text.matchAll(/\]\(([^)#:]+)(#[^)]*)?\)/g)].map(([, path = ""]) => path);
  return [...new Set([...words.filter(isPath), ...linked])].filter((word) => !isPlaceholder(word));
}

describe.each(["docs/architecture.md", "CONTRIBUTING.md"])("%s", (file) => {
  const text = readFileSync(join(root, file), "utf8");
  /** `run.ts` beside `engine/perform.ts` is of the same folder. */
  const folders = new Set(
    pathsIn(text).flatMap((path) => (path.includes("/") ? [path.slice(0, path.lastIndexOf("/"))] : [])),
  );
  const places = [...rooms, ...[...folders].flatMap((folder) => rooms.map((room) => join(room, folder)))];

  it("names paths", () => {
    expect(pathsIn(text).length).toBeGreaterThan(20);
  });

  it.each(pathsIn(text))("%s is there", (path) => {
    const where = path.includes("/") ? rooms : places;
    expect(where.filter((folder) => isThere(path, folder))).not.toEqual([]);
  });
});

import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../support/cli-process";

const elsewhere = JSON.parse(readFileSync(join(root, "scripts/documents/elsewhere.json"), "utf8")) as {
  readonly pages: Readonly<Record<string, string>>;
};
const pages = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"));
const documents = ["README.md", ...pages.map((name) => `docs/${name}`)].filter(
  (page) => !Object.hasOwn(elsewhere.pages, page),
);

function check(document: string): Promise<{ readonly exitCode: number; readonly stderr: string }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [join(root, "scripts/generate-docs.mjs"), "--check", document],
      (error, _stdout, stderr) => {
        resolve({ exitCode: error === null ? 0 : 1, stderr });
      },
    );
  });
}

describe("every command in a document ends as it says, prints what stands below it, and every table is fresh", () => {
  it.each(documents)("%s", async (document) => {
    const { exitCode, stderr } = await check(document);
    expect(stderr).toBe("");
    expect(exitCode).toBe(0);
  });

  it.each(Object.entries(elsewhere.pages))("%s is run by a test of its own, %s", (page, test) => {
    expect(readFileSync(join(root, test), "utf8")).toContain(page.replace("docs/", ""));
  });

  it("few commands are shown and not run, and each says why", () => {
    const skipped = documents.flatMap((document) => [
      ...readFileSync(join(root, document), "utf8").matchAll(/<!-- not run: ?(.*?) -->/g),
    ]);
    for (const [, reason] of skipped) expect(reason!.length).toBeGreaterThan(10);
    const blocks = documents.flatMap((document) => [
      ...readFileSync(join(root, document), "utf8").matchAll(/^```sh$/gm),
    ]);
    expect(skipped.length).toBeLessThan(blocks.length / 2);
  });
});

describe("links between documents lead somewhere", () => {
  const all = [
    "README.md",
    "CONTRIBUTING.md",
    ...pages.map((name) => `docs/${name}`),
    ...readdirSync(join(root, "docs/decisions")).map((name) => `docs/decisions/${name}`),
  ];
  it.each(all)("%s", (document) => {
    const text = readFileSync(join(root, document), "utf8").replaceAll(/^```[\s\S]*?^```$/gm, "");
    const broken: string[] = [];
    for (const [, target] of text.matchAll(/(?:\]\(|src(?:set)?=")([^)"#\s]*(?:#[^)"\s]*)?)[)"]/g)) {
      if (/^[a-z]+:/.test(target!)) continue;
      const [path, anchor] = target!.split("#");
      const file = path === "" ? join(root, document) : join(root, document, "..", path!);
      if (!existsSync(file)) broken.push(target!);
      else if (anchor !== undefined && !anchorsOf(readFileSync(file, "utf8")).has(anchor)) broken.push(target!);
    }
    expect(broken).toEqual([]);
  });
});

/** As the places that show Markdown make them. */
const anchorsOf = (text: string): Set<string> =>
  new Set(
    [...text.matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
      title!
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );

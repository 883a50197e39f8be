import { execFileSync } from "node:child_process";
import { cpSync, existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { root } from "../support/cli-process";
import { makeFolder } from "../support/folder";

interface Site {
  readonly pages: ReadonlyMap<string, string>;
  readonly problems: readonly string[];
}

describe("the documents as a site", async () => {
  const { siteOf } = (await import(pathToFileURL(join(root, "scripts/site/site.mjs")).href)) as {
    siteOf(root: string): Site;
  };
  const { pages, problems } = siteOf(root);

  it("is named in the index page by page, and no link leads nowhere", () => {
    expect(problems).toEqual([]);
  });

  it("has every page in its order, with a way to the next", () => {
    const tour = pages.get("tour.html");
    expect(tour).toMatch(/<a href="tour\.html" aria-current="page">/);
    expect(tour).toMatch(/rel="prev" href="install\.html"/);
    expect(tour).toMatch(/rel="next"/);
  });

  it("asks nobody else for anything", () => {
    for (const [name, text] of pages)
      expect([name, /<(?:script|img)[^>]*src="(?:https?:)?\/\/|<link[^>]*href="(?:https?:)?\/\//.test(text)]).toEqual([
        name,
        false,
      ]);
  });

  it("puts no text of a document into a page as markup", () => {
    expect(pages.get("commands.html")).not.toMatch(/<code class="[^"]*">[^<]*<(?!\/code|span|\/span)/);
  });

  it("finds what people look for first, in an honest line", () => {
    const index = JSON.parse(/^window\.searchIndex = (.*);$/m.exec(pages.get("search-index.js") ?? "")?.[1] ?? "") as {
      readonly page: string;
      readonly heading: string;
    }[];
    for (const word of ["rollback", "tags", "cloud-init", "load balancer"]) {
      const found = index.filter(({ page, heading }) => page === "trouble.html" && heading.includes(word));
      expect([word, found.length]).toEqual([word, 1]);
    }
  });
});

describe("the site with versions", () => {
  it("has the documents of each release in a folder of its own, and each page offers the others", () => {
    const folder = makeFolder();
    const git = (...words: string[]) => execFileSync("git", ["-C", folder, ...words], { stdio: "pipe" });
    for (const name of ["docs", "examples", "scripts", "package.json", "README.md", "CONTRIBUTING.md", "SECURITY.md"])
      cpSync(join(root, name), join(folder, name), {
        recursive: true,
        filter: (file) => !file.includes("node_modules"),
      });
    for (const name of ["schemas", "CHANGELOG.md", "images", "bench", "dialects", "reconciler"])
      if (existsSync(join(root, name))) symlinkSync(join(root, name), join(folder, name));
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    git("init", "--quiet");
    git("add", "docs", "examples", "package.json");
    git("-c", "user.email=a@example.com", "-c", "user.name=a", "commit", "--quiet", "--message", "one");
    git("tag", "v0.0.9");
    git("tag", "v0.0.9-beta");
    execFileSync(process.execPath, [join(folder, "scripts/generate-site.mjs"), "--versions"], { stdio: "pipe" });
    const site = join(folder, "dist/site");
    expect(readFileSync(join(site, "versions.js"), "utf8")).toBe(
      'window.siteVersions = [{"path":"","current":true},{"path":"v0.0.9/","version":"0.0.9"}];\n',
    );
    const old = readFileSync(join(site, "v0.0.9/decisions/001-journal-and-snapshot.html"), "utf8");
    expect(old).toContain('data-root="../" data-top="../../" data-version="0.0.9"');
    expect(old).toContain('<script src="../../versions.js">');
    expect(readFileSync(join(site, "tour.html"), "utf8")).toContain('<script src="versions.js">');
    for (const name of ["site.js", "site.css", "icon.svg", "search-index.js"])
      expect(existsSync(join(site, "v0.0.9", name))).toBe(true);
  });
});

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { root } from "../support/cli-process";

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
});

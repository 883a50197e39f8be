/** `reconcile docs`: the documents that came with this program, by page, by the words that are looked for, or in a browser. */

import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { extname, join, normalize, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { ifPossible } from "../../core/text/errors";
import { nearestText } from "../../core/text/nearest";
import { packageFolder } from "../../version";
import { command, type Invocation, type Positionals } from "../command";
import { fail } from "../compose";
import { listenAt } from "../listen";
import { listenForStop } from "../stop-signals";

const anyWords: Positionals = { min: 0, max: 20, what: "" };

export const docsCommand = command({
  usage: "docs [PAGE | WORD…] [--serve [--listen HOST:PORT]]",
  summary: "the documents that came with this program: a page, a search, or all of them in a browser",
  section: "This program",
  examples: [
    ["reconcile docs", "every page and what it is about"],
    ["reconcile docs safety", "one page, to read or to pipe into a pager"],
    ["reconcile docs flush volume", "the sections that have all of these words"],
    ["reconcile docs --serve", "all of them in a browser, with a search; nothing is fetched from elsewhere"],
  ],
  longRunning: true,
  flags: ["serve", "listen", "json", "json-into", "no-color"],
  positionals: anyWords,
  complete: () => documentPages().map(({ name, title }) => ({ word: name, says: title })),
  async run(invocation) {
    const { args, flags, output } = invocation;
    const known = documentPages();
    if (known.length === 0)
      throw fail(
        "cli/file-unreadable",
        "the documents are not beside this program",
        "install it with npm, or read them in the repository",
      );
    const [first] = args;
    const page = args.length === 1 ? known.find(({ name }) => name === first?.replace(/\.md$/, "")) : undefined;
    if (flags.serve === true) {
      if (first !== undefined && page === undefined)
        throw fail(
          "cli/usage",
          `${args.join(" ")} is no page that a browser could be shown`,
          "reconcile docs lists the pages",
        );
      return serveDocs(invocation, page);
    }
    if (page !== undefined) {
      output.print(page.text);
      output.event({ type: "page", page: page.name, title: page.title, file: page.file, text: page.text });
    } else if (first === undefined) {
      const width = Math.max(...known.map(({ name }) => name.length));
      for (const { name, title, file } of known) {
        output.print(`${name.padEnd(width)}  ${title}`);
        output.event({ type: "page", page: name, title, file });
      }
      const start = join(siteFolder(), "index.html");
      if (existsSync(start))
        output.note(`In a browser, with a search: reconcile docs --serve, or open ${pathToFileURL(start).href}`);
    } else {
      const found = known.flatMap((one) => sectionsWith(one, args)).sort((a, b) => b.score - a.score);
      if (found.length === 0) {
        const names = known.map(({ name }) => name);
        throw fail(
          "cli/file-unreadable",
          `no page and no section has ${args.join(" ")}`,
          nearestText(first, names, (near) => `reconcile docs ${near}`) ?? "reconcile docs lists the pages",
        );
      }
      for (const { name, heading, line } of found) {
        output.print(`${name}: ${heading}\n    ${line}`);
        output.event({ type: "section", page: name, heading, line });
      }
    }
    return output.finish({ exitCode: 0 });
  },
});

/** The folder of the documents as a site, which is made when the package is packed. */
const siteFolder = (): string => join(packageFolder, "dist", "site");

/** A package that is published has the pages. In a checkout they are made of its documents as they are now. */
function makeSite(): void {
  const maker = join(packageFolder, "scripts", "generate-site.mjs");
  if (existsSync(maker)) execFileSync(process.execPath, [maker], { stdio: ["ignore", "ignore", "inherit"] });
}

async function serveDocs({ flags, output }: Invocation, page?: DocumentPage): Promise<number> {
  makeSite();
  if (!existsSync(join(siteFolder(), "index.html")))
    throw fail(
      "cli/file-unreadable",
      "the pages for a browser are not beside this program",
      "reconcile docs shows the same pages at the terminal; the published package has them for a browser as well",
    );
  const stop = listenForStop(output);
  const server = await listenAt(flags.listen ?? "127.0.0.1:0", "--listen 127.0.0.1:8080", sendPage);
  try {
    const url = page === undefined ? server.url : `${server.url}/${page.name}.html`;
    output.print(url);
    output.event({ type: "serving", url });
    output.note("Ctrl-C ends it.");
    if (!stop.soft.aborted) await new Promise((ended) => stop.soft.addEventListener("abort", ended, { once: true }));
  } finally {
    await server.close();
    stop.close();
  }
  return output.finish({ exitCode: 0 });
}

const mediaTypes: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json",
};

/** The content policy makes the browser refuse whatever a page would fetch from elsewhere. */
function sendPage({ url = "/" }: IncomingMessage, response: ServerResponse): void {
  const [path = "/"] = url.split(/[?#]/);
  const folder = siteFolder();
  const file = normalize(join(folder, decodedPath(path.endsWith("/") ? `${path}index.html` : path)));
  const isThere = file.startsWith(folder + sep) && statSync(file, { throwIfNoEntry: false })?.isFile() === true;
  if (!isThere) {
    response.writeHead(404, { "content-type": "text/plain" }).end("no such page\n");
    return;
  }
  response
    .writeHead(200, {
      "content-type": mediaTypes[extname(file)] ?? "application/octet-stream",
      "content-security-policy": "default-src 'self'; frame-ancestors 'none'",
      "x-content-type-options": "nosniff",
    })
    .end(readFileSync(file));
}

const decodedPath = (path: string): string => ifPossible(() => decodeURIComponent(path).replaceAll("\0", "")) ?? "/";

interface DocumentPage {
  readonly name: string;
  readonly title: string;
  readonly file: string;
  readonly text: string;
}

/** In the order of the documents: what more readers need is earlier. */
function documentPages(): readonly DocumentPage[] {
  const folder = join(packageFolder, "docs");
  if (!existsSync(folder)) return [];
  const order = readFileSync(join(folder, "README.md"), "utf8");
  return readdirSync(folder)
    .filter((name) => name.endsWith(".md") && name !== "README.md")
    .sort((a, b) => order.indexOf(`(${a})`) - order.indexOf(`(${b})`))
    .map((name) => {
      const file = join(folder, name);
      const text = readFileSync(file, "utf8");
      return { name: name.slice(0, -3), title: /^# (.+)$/m.exec(text)?.[1] ?? name, file, text };
    });
}

const fencedBlocks = /^```[\s\S]*?^```$/gm;

/**
 * The sections that hold every word, each with the line that answers: its first with one of the words, or its first at
 * all where the heading has them. A heading counts most, then the words as a whole, and last what only lists them.
 */
function sectionsWith({ name, title, text }: DocumentPage, words: readonly string[]) {
  // Where a word begins: `lease` is no part of a release, nor `module` of node_modules.
  const escaped = words.map(
    (word) => `(?<![\\p{L}\\p{N}_])${word.toLowerCase().replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}`,
  );
  const wanted = escaped.map((word) => new RegExp(word, "u"));
  const beside = new RegExp(escaped.join("[\\s_-]+"), "u");
  // A comment in a block is no heading.
  const whole = text.replaceAll(fencedBlocks, (block) => block.replaceAll(/^#/gm, " #"));
  return whole.split(/^(?=#{1,4} )/m).flatMap((section) => {
    const low = section.toLowerCase();
    if (!wanted.every((word) => word.test(low))) return [];
    const [first = "", ...rest] = section.replaceAll(fencedBlocks, "").split("\n");
    const heading = first.replace(/^#+ /, "");
    const head = `${heading} ${title}`.toLowerCase();
    const inHead = wanted.every((word) => word.test(head));
    const lines = rest.filter((one) => /^[^<!]/.test(one.trim()));
    const said = lines.find((one) => beside.test(one.toLowerCase()));
    const line =
      said ?? (inHead ? undefined : lines.find((one) => wanted.some((word) => word.test(one.toLowerCase()))));
    const score = (inHead ? 8 : 0) + (said === undefined ? 0 : 4) + (lookUpPages.has(name) ? 0 : 2);
    return [{ name, heading, line: (line ?? lines[0] ?? "").trim(), score }];
  });
}

/** Pages to look things up in: a page that tells about them goes first. */
const lookUpPages = new Set(["commands", "errors", "reference", "glossary"]);

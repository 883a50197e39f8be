// The documents as a site: a function from the repository's files to pages. Markdown is read by marked; the pages' frame,
// their order, the highlighting and the index of the search are here.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { Marked } from "marked";

/**
 * @param {string} root
 * @param {{ version?: string, top?: string }} [of] the version that is shown, and the way from this version's pages to the
 *   list of all versions
 * @returns {{ pages: Map<string, string>, copies: Map<string, string>, problems: string[] }}
 *   `pages`: what is written, by its name in the site; `copies`: what is copied, with where from
 */
export function siteOf(root, of = {}) {
  const read = (file) => readFileSync(join(root, file), "utf8");
  const { homepage, version } = JSON.parse(read("package.json"));
  const repository = homepage.replace(/#.*$/, "");
  const shown = { version: of.version ?? version, top: of.top ?? "" };
  const sources = sourcesOf(root);
  const pageOf = new Map(sources.map((source) => [source.file, source.page]));
  /** Every anchor of every page, by which links are checked. */
  const anchors = new Map(sources.map(({ file, page }) => [page, new Set(headingsOf(read(file)).map(({ id }) => id))]));
  for (const folder of exampleFolders(root)) anchors.set(`examples/${folder}.html`, new Set());

  const problems = [];
  const copies = new Map();
  const index = [];
  const pages = new Map();
  const resolve = (file, href) => {
    if (/^(https?:|mailto:)/.test(href)) return href;
    const [path, anchor] = href.split("#");
    const target = path === "" ? file : posix.normalize(posix.join(posix.dirname(file), path));
    const from = pageOf.get(file);
    const example = /^examples\/([^/]+)/.exec(target)?.[1];
    const isThere = existsSync(join(root, target));
    const to = pageOf.get(target) ?? (isThere && example !== undefined ? `examples/${example}.html` : undefined);
    if (to === undefined) {
      if (!isThere) problems.push(`${file}: the link ${href} leads nowhere`);
      if (!target.startsWith("docs/")) return `${repository}/blob/main/${target}`;
      copies.set(target.slice("docs/".length), target);
      return relative(from, target.slice("docs/".length));
    }
    if (anchor !== undefined && !anchors.get(to)?.has(anchor))
      problems.push(`${file}: the link ${href} leads to no heading`);
    return relative(from, to) + (anchor === undefined ? "" : `#${anchor}`);
  };

  const order = orderOf(read("docs/README.md"), (href) => {
    const target = posix.normalize(posix.join("docs", href));
    const example = /^examples\/([^/]+)/.exec(target)?.[1];
    return pageOf.get(target) ?? `examples/${example}.html`;
  });
  const inOrder = order.flatMap(({ links }) => links);
  for (const { file, page } of sources)
    if (page !== "index.html" && !page.startsWith("decisions/") && !inOrder.some((link) => link.page === page))
      problems.push(`docs/README.md does not name ${file}`);
  for (const folder of exampleFolders(root))
    if (!inOrder.some(({ page }) => page === `examples/${folder}.html`))
      problems.push(`docs/README.md does not name examples/${folder}`);

  for (const { file, page } of sources) {
    const text = read(file);
    const headings = headingsOf(text);
    const title = headings[0]?.text ?? page;
    index.push(...sectionsOf(page, text));
    pages.set(
      page,
      frame({ page, title, headings, order, inOrder, shown, body: bodyOf(text, (href) => resolve(file, href)) }),
    );
  }
  for (const folder of exampleFolders(root)) {
    const page = `examples/${folder}.html`;
    const files = filesOf(root, `examples/${folder}`);
    const body = [
      `<h1>${folder}</h1>`,
      ...files.map(
        (file) =>
          `<h2 id="${slug(file)}">${htmlOf(file)}</h2>${codeBlock(read(file), /\.[^.]+$/.exec(file)?.[0].slice(1) ?? "")}`,
      ),
    ].join("\n");
    const headings = files.map((file) => ({ depth: 2, text: file, id: slug(file) }));
    index.push({ page, id: "", title: folder, heading: `Example: ${folder}`, text: files.map(read).join(" ") });
    pages.set(page, frame({ page, title: `Example: ${folder}`, headings, order, inOrder, shown, body }));
  }
  pages.set("search-index.js", `window.searchIndex = ${JSON.stringify(index)};\n`);
  for (const name of ["site.css", "site.js", "icon.svg"]) copies.set(name, `scripts/site/${name}`);
  return { pages, copies, problems };
}

const sourcesOf = (root) =>
  ["docs", "docs/decisions"].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith(".md"))
      .sort()
      .map((name) => ({
        file: `${folder}/${name}`,
        page: `${folder}/${name}`
          .slice("docs/".length)
          .replace(/README\.md$/, "index.md")
          .replace(/\.md$/, ".html"),
      })),
  );

const exampleFolders = (root) =>
  readdirSync(join(root, "examples"))
    .filter((name) => statSync(join(root, "examples", name)).isDirectory())
    .sort();

function filesOf(root, folder) {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter(({ name }) => !["node_modules", ".reconcile"].includes(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => (entry.isDirectory() ? filesOf(root, `${folder}/${entry.name}`) : [`${folder}/${entry.name}`]));
}

/** Each second-level heading of the index with its links, first link of a line only where a line has several to one page. */
function orderOf(text, pageOf) {
  return text
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const links = [...section.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)].map(([, title, href]) => ({
        title,
        page: pageOf(href),
      }));
      return { title: section.split("\n")[0], links };
    });
}

const withoutCode = (text) => text.replaceAll(/^(`{3,})[\s\S]*?^\1/gm, "");

function headingsOf(text) {
  const seen = new Map();
  return [...withoutCode(text).matchAll(/^(#{1,4}) (.+)$/gm)].map(([, marks, words]) => {
    const plain = plainText(words);
    const base = slug(plain);
    const times = seen.get(base) ?? 0;
    seen.set(base, times + 1);
    return { depth: marks.length, text: plain, id: times === 0 ? base : `${base}-${times}` };
  });
}

/** Anchors as the repository's own host makes them, so that a link works in both places. */
const slug = (text) =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-");

const plainText = (markdown) => markdown.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, "$1").replaceAll(/[`*]/g, "");
const withoutRemarks = (text) => text.replaceAll(/<!--[\s\S]*?-->\n?/g, "");

function sectionsOf(page, text) {
  const headings = headingsOf(text);
  const title = headings[0]?.text ?? page;
  let at = -1;
  const sections = [];
  let fenced = false;
  for (const line of withoutRemarks(text).split("\n")) {
    if (/^`{3,}/.test(line)) fenced = !fenced;
    if (!fenced && /^#{1,4} /.test(line)) {
      at++;
      sections.push({ page, id: at === 0 ? "" : headings[at].id, title, heading: headings[at].text, lines: [] });
    } else if (!/^`{3,}|^\|[ |-]+$/.test(line)) sections.at(-1)?.lines.push(plainText(line));
  }
  return sections.map(({ lines, ...section }) => ({
    ...section,
    text: lines
      .join(" ")
      .replaceAll(/[\s|]+/g, " ")
      .trim(),
  }));
}

function bodyOf(text, resolve) {
  const headings = headingsOf(text);
  let at = 0;
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const inner = this.parser.parseInline(tokens);
        const id = headings[at++]?.id ?? "";
        return depth === 1
          ? `<h1 id="${id}">${inner}</h1>\n`
          : `<h${depth} id="${id}">${inner} <a class="anchor" href="#${id}" aria-label="Link to this section">#</a></h${depth}>\n`;
      },
      link({ href, tokens }) {
        return `<a href="${htmlOf(resolve(href))}">${this.parser.parseInline(tokens)}</a>`;
      },
      image({ href, text: words }) {
        return `<img src="${htmlOf(resolve(href))}" alt="${htmlOf(words)}">`;
      },
      code: ({ text: code, lang }) => codeBlock(code, lang ?? ""),
    },
  });
  return marked
    .parse(withoutRemarks(text), { async: false })
    .replaceAll("<table>", '<div class="wide"><table>')
    .replaceAll("</table>", "</table></div>");
}

const codeBlock = (code, language) =>
  `<pre tabindex="0"><code class="${htmlOf(language)}">${highlighted(code.replace(/\n$/, ""), language)}</code></pre>\n`;

/** Remarks, keys and texts of YAML, remarks of shells, and the lines that a plan adds and removes. */
function highlighted(code, language) {
  const mark = (kind, text) => `<span class="${kind}">${text}</span>`;
  return htmlOf(code)
    .split("\n")
    .map((line) => {
      if (["yaml", "yml", "sh"].includes(language)) {
        const [, before, remark] = /^(.*?)((?:(?<=^|\s)#.*)?)$/.exec(line);
        const words =
          language === "sh"
            ? before.replace(/^(\s*)(reconcile)\b/, (_, space, name) => space + mark("k", name))
            : before.replaceAll(
                /(^|[\s{,-])([\w./-]+|&quot;[^&]*&quot;)(?=:(\s|$))/g,
                (_, lead, key) => lead + mark("k", key),
              );
        return words + (remark === "" ? "" : mark("c", remark));
      }
      if (language === "text" && /^\s*\+ /.test(line)) return mark("a", line);
      if (language === "text" && /^\s*- /.test(line)) return mark("d", line);
      return line;
    })
    .join("\n");
}

const htmlOf = (text) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
const relative = (from, to) => posix.relative(dirname(from) === "." ? "" : dirname(from), to) || posix.basename(to);

function frame({ page, title, headings, order, inOrder, shown, body }) {
  const to = (target) => relative(page, target);
  const home = to("index.html").replace(/index\.html$/, "");
  const navigation = order
    .map(
      ({ title: group, links }) =>
        `<p class="group">${group}</p><ul>${links
          .map(
            (link) =>
              `<li><a href="${to(link.page)}"${link.page === page ? ' aria-current="page"' : ""}>${htmlOf(plainText(link.title))}</a></li>`,
          )
          .join("")}</ul>`,
    )
    .join("");
  const contents = headings.filter(({ depth }) => depth === 2 || depth === 3);
  const at = inOrder.findIndex((link) => link.page === page);
  const beside = [
    at > 0
      ? `<a rel="prev" href="${to(inOrder[at - 1].page)}">← ${htmlOf(plainText(inOrder[at - 1].title))}</a>`
      : "<span></span>",
    at >= 0 && at + 1 < inOrder.length
      ? `<a rel="next" href="${to(inOrder[at + 1].page)}">${htmlOf(plainText(inOrder[at + 1].title))} →</a>`
      : "<span></span>",
  ];
  return `<!doctype html>
<html lang="en" data-root="${home}" data-top="${home}${shown.top}" data-version="${htmlOf(shown.version)}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${htmlOf(title)} · reconcile</title>
<link rel="icon" href="${to("icon.svg")}">
<link rel="stylesheet" href="${to("site.css")}">
<a class="skip" href="#main">To the text</a>
<header>
<a class="home" href="${to("index.html")}">reconcile</a>
<span class="version">${htmlOf(shown.version)}</span>
<div class="search"><input type="search" placeholder="Search ( / )" aria-label="Search the documents" autocomplete="off"><ol hidden></ol></div>
</header>
<div class="columns">
<nav aria-label="Pages"><details open><summary>All pages</summary>${navigation}</details></nav>
<main id="main">
${body}
<p class="beside">${beside.join("")}</p>
</main>
${
  contents.length < 3
    ? "<aside></aside>"
    : `<aside aria-label="On this page"><strong>On this page</strong><ul>${contents
        .filter(({ depth }) => depth === 2 || contents.length <= 30)
        .map(({ id, text, depth }) => `<li class="h${depth}"><a href="#${id}">${htmlOf(text)}</a></li>`)
        .join("")}</ul></aside>`
}
</div>
<script src="${home}${shown.top}versions.js"></script>
<script src="${to("site.js")}"></script>
</html>
`;
}

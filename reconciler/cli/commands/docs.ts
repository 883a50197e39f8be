/** `reconcile docs`: the documents that came with this program, by page or by the words that are looked for. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { nearestName } from "../../core/text/nearest";
import { packageFolder } from "../../version";
import { command, type Positionals } from "../command";
import { fail } from "../compose";

const anyWords: Positionals = { min: 0, max: 20, what: "" };

export const docsCommand = command({
  usage: "docs [PAGE | WORD…]",
  summary: "the documents that came with this program: a page, or where words stand",
  section: "This program",
  examples: [
    ["reconcile docs", "every page and what it is about"],
    ["reconcile docs safety", "one page, to read or to pipe into a pager"],
    ["reconcile docs flush volume", "the sections that have all of these words"],
  ],
  flags: ["json", "json-into", "no-color"],
  positionals: anyWords,
  complete: () => pages().map(({ name, title }) => ({ word: name, says: title })),
  async run({ args, output }) {
    const known = pages();
    if (known.length === 0)
      throw fail(
        "cli/file-unreadable",
        "the documents are not beside this program",
        "install it with npm, or read them in the repository",
      );
    const [first] = args;
    const page = args.length === 1 ? known.find(({ name }) => name === first?.replace(/\.md$/, "")) : undefined;
    if (page !== undefined) {
      output.print(page.text);
      output.event({ type: "page", page: page.name, title: page.title, file: page.file, text: page.text });
    } else if (first === undefined) {
      const width = Math.max(...known.map(({ name }) => name.length));
      for (const { name, title, file } of known) {
        output.print(`${name.padEnd(width)}  ${title}`);
        output.event({ type: "page", page: name, title, file });
      }
    } else {
      const found = known.flatMap((one) => sectionsWith(one, args));
      if (found.length === 0) {
        const near = nearestName(
          first,
          known.map(({ name }) => name),
        );
        throw fail(
          "cli/file-unreadable",
          `no page and no section has ${args.join(" ")}`,
          near === undefined ? "reconcile docs lists the pages" : `reconcile docs ${near}`,
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

interface Page {
  readonly name: string;
  readonly title: string;
  readonly file: string;
  readonly text: string;
}

function pages(): readonly Page[] {
  const folder = join(packageFolder, "docs");
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith(".md"))
    .sort()
    .map((name) => {
      const file = join(folder, name);
      const text = readFileSync(file, "utf8");
      return { name: name.slice(0, -3), title: /^# (.+)$/m.exec(text)?.[1] ?? name, file, text };
    });
}

/** The sections that have every word, the first line with one of them beside it. */
function sectionsWith({ name, text }: Page, words: readonly string[]) {
  const wanted = words.map((word) => word.toLowerCase());
  return text.split(/^(?=#{1,4} )/m).flatMap((section) => {
    const low = section.toLowerCase();
    if (!wanted.every((word) => low.includes(word))) return [];
    const [heading = "", ...lines] = section.split("\n");
    const line = lines.find((one) => wanted.some((word) => one.toLowerCase().includes(word)))?.trim() ?? "";
    return [{ name, heading: heading.replace(/^#+ /, ""), line }];
  });
}

/** The commands of a document or a pipeline file, in their order: what a reader would type is what the tests run. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(__dirname, "../..");

/** Every `reconcile …` line of the ```sh blocks of a Markdown file. */
export function commandsIn(document: string): string[] {
  const text = readFileSync(join(root, document), "utf8");
  return [...text.matchAll(/^ *```sh\n([\s\S]*?)^ *```$/gm)].flatMap(([, block]) =>
    block!
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => /^(npx )?reconcile /.test(line)),
  );
}

/** A line as its words; quotes hold words together, `#` begins a remark. */
export function wordsOf(line: string): string[] {
  const words: string[] = [];
  for (const [, double, single, plain] of line.matchAll(/"([^"]*)"|'([^']*)'|(#.*$|[^\s"']+)/g)) {
    if (plain?.startsWith("#")) break;
    words.push(double ?? single ?? plain!);
  }
  return words.filter((word) => word !== "npx");
}

// Holds that every cast (`x as T`) and every non-null mark (`x!`) of the production code has its reason in sight:
// a comment on its line, on one of the two lines before, or before its statement. `as const` asserts nothing.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import ts from "typescript";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** @param {ts.Node} node */
const assertsType = (node) =>
  ts.isNonNullExpression(node) || (ts.isAsExpression(node) && !/^(const|typeof import\b)/.test(node.type.getText()));

/** @param {string | undefined} line */
const isComment = (line = "") => /^\s*(\/\/|\/\*|\*)|\s\/\/ /.test(line);

const mayCast =
  /\bas (?!const\b)(?:[A-Z{("'[`]|any|bigint|boolean|keyof|never|null|number|object|readonly|string|symbol|typeof|undefined|unique|unknown)/;

/**
 * The lines, counted from 1, of casts without a reason.
 *
 * @param {string} text
 */
export function castsWithoutReason(text) {
  /** @type {number[]} */
  const found = [];
  // Parsing is what takes time, and most files hold neither. In prose a small word that is no type follows "as".
  const code = text.replace(/^\s*(\/\/|\/?\*).*$|^(import|export) [^;(]*from "[^"]*";$/gm, "");
  if (!mayCast.test(code) && !/[\w)\]]!(?![=`"])/.test(code)) return found;
  const lines = text.split("\n");
  const file = ts.createSourceFile("file.ts", text, ts.ScriptTarget.ES2022, true);
  /** @param {number} position */
  const lineAt = (position) => file.getLineAndCharacterOfPosition(position).line;
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (assertsType(node)) {
      /** @type {ts.Node} */
      let statement = node;
      while (!ts.isStatement(statement)) statement = statement.parent;
      const [first, last] = [lineAt(node.getStart()), lineAt(node.end)];
      const near = [...lines.slice(Math.max(0, first - 2), last + 1), lines[lineAt(statement.getStart()) - 1]];
      if (!near.some(isComment)) found.push(first + 1);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

export function main() {
  const problems = ["reconciler", "emulator", "provider"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts") && !name.includes("generated"))
      .flatMap((name) =>
        castsWithoutReason(readFileSync(join(root, folder, name), "utf8")).map(
          (line) =>
            `${folder}/${name}:${line}: a cast without its reason: let a type say it, or say in a comment why it holds`,
        ),
      ),
  );
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) main();

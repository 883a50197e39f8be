// Writes what is generated in README.md and docs/: tables from the program's own tables and schemas, and below each block
// of commands what they really print. Needs a build (`npm run build`).
//
//   node scripts/generate-docs.mjs [--check] [--tables] [FILE]…
//
// Without a FILE, all of them; the commands of the pages in scripts/documents/elsewhere.json are left alone then.
// --check writes nothing and fails when something is stale or a command does not end as its document says; --tables
// leaves the commands alone. A test runs it with --check for each document. How a document says what is run is told in
// scripts/documents/blocks.mjs.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { runDocument } from "./documents/run.mjs";
import { withTables } from "./documents/tables.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const words = process.argv.slice(2);
const check = words.includes("--check");
const tablesOnly = words.includes("--tables");
const named = words.filter((word) => !word.startsWith("--"));

if (!existsSync(join(root, "dist/reconciler/cli/main.js"))) {
  console.error("There is no build; run: npm run build");
  process.exit(1);
}

const files = [
  "README.md",
  ...readdirSync(join(root, "docs"))
    .filter((name) => name.endsWith(".md"))
    .sort()
    .map((name) => `docs/${name}`),
];
const { pages: runElsewhere } = JSON.parse(readFileSync(join(root, "scripts/documents/elsewhere.json"), "utf8"));
const problems = [];
for (const file of named.length > 0 ? named : files) {
  const path = join(root, file);
  const before = readFileSync(path, "utf8");
  const tabled = withTables(root, before);
  const leavesCommands = tablesOnly || (named.length === 0 && Object.hasOwn(runElsewhere, file));
  const ran = leavesCommands ? { text: keepOutputs(tabled, before), problems: [] } : runDocument(root, file, tabled);
  problems.push(...ran.problems);
  if (ran.text === before || ran.problems.length > 0) continue;
  if (check) problems.push(`${file} is stale: ${firstDifference(before, ran.text)}\nRun: npm run docs`);
  else writeFileSync(path, ran.text);
}
for (const problem of problems) console.error(problem);
process.exit(problems.length > 0 ? 1 : 0);

/** Only the tables are generated: the outputs in the text stay, in their order. */
function keepOutputs(text, before) {
  const outputs = [...before.matchAll(/^```text\n([\s\S]*?)^```$/gm)].map(([whole]) => whole);
  let index = 0;
  return text.replaceAll(/^```text\n([\s\S]*?)^```$/gm, (whole) => outputs[index++] ?? whole);
}

function firstDifference(before, after) {
  const [old, now] = [before.split("\n"), after.split("\n")];
  const at = now.findIndex((line, index) => line !== old[index]);
  return `line ${at + 1}\n  is:        ${old[at] ?? "(nothing)"}\n  should be: ${now[at] ?? "(nothing)"}`;
}

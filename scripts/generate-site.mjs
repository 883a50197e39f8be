// Writes dist/site: the documents as pages with an order, a search and nothing fetched from elsewhere, so that they can be
// served, opened from the disk and read without a network. The order is that of docs/README.md. A link that leads nowhere
// is an error.
//
//   node scripts/generate-site.mjs [--check]      --check writes nothing
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { siteOf } from "./site/site.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const { pages, copies, problems } = siteOf(root);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
if (!process.argv.includes("--check")) {
  const folder = join(root, "dist/site");
  rmSync(folder, { recursive: true, force: true });
  const write = (name, text) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  for (const [name, text] of pages) write(name, text);
  for (const [name, from] of copies) cpSync(join(root, from), join(folder, name));
}

// Writes dist/site: the documents as pages with an order, a search and nothing fetched from elsewhere, so that they can be
// served, opened from the disk and read without a network. The order is that of docs/README.md. A link that leads nowhere
// is an error.
//
//   node scripts/generate-site.mjs [--check] [--versions]
//
// --check writes nothing. --versions adds a folder for each tag v1.2.3 of the repository, with the documents as they were
// then, and every page then offers the other versions.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { siteOf } from "./site/site.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const site = siteOf(root);
for (const problem of site.problems) console.error(problem);
if (site.problems.length > 0) process.exit(1);
if (!process.argv.includes("--check")) {
  const folder = join(root, "dist/site");
  rmSync(folder, { recursive: true, force: true });
  write(site, folder);
  const tags = process.argv.includes("--versions") ? releases() : [];
  for (const tag of tags) writeRelease(tag, join(folder, tag));
  const versions = [{ path: "", current: true }, ...tags.map((tag) => ({ path: `${tag}/`, version: tag.slice(1) }))];
  writeFileSync(join(folder, "versions.js"), `window.siteVersions = ${JSON.stringify(versions)};\n`);
}

/** The tags of releases, the newest first. */
function releases() {
  const listed = execFileSync("git", ["tag", "--list", "v*", "--sort=-version:refname"], {
    cwd: root,
    encoding: "utf8",
  });
  return listed.split("\n").filter((tag) => /^v\d+\.\d+\.\d+$/.test(tag));
}

/** What a release said of itself stays as it was: its links are not judged by the rules of today. */
function writeRelease(tag, folder) {
  const then = mkdtempSync(join(tmpdir(), "reconcile-site-"));
  try {
    const archive = execFileSync("git", ["archive", tag, "docs", "examples", "package.json"], {
      cwd: root,
      maxBuffer: 2 ** 28,
    });
    execFileSync("tar", ["--extract", "--directory", then], { input: archive });
    // The looks and the search are those of today.
    cpSync(join(root, "scripts/site"), join(then, "scripts/site"), { recursive: true });
    write(siteOf(then, { version: tag.slice(1), top: "../" }), folder, then);
  } finally {
    rmSync(then, { recursive: true, force: true });
  }
}

function write({ pages, copies }, folder, from = root) {
  for (const [name, text] of pages) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  for (const [name, source] of copies) cpSync(join(from, source), join(folder, name));
}

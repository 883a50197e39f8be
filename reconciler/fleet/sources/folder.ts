/** A folder of the worker; its revision is a digest of its files, and of the files that links in it show. */

import { createHash } from "node:crypto";
import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { errorMessage } from "../../core/text/errors";
import { type Checkout, mostBytes, SourceFailed } from "./checkout";

/** Files that programs leave beside those of the stack are left out. */
const isLeftOut = (name: string): boolean =>
  name.startsWith(".") || name === "node_modules" || /\.state\.json/.test(name);

export async function checkOutFolder({ folder }: { readonly folder: string }): Promise<Checkout> {
  const hash = createHash("sha256");
  try {
    let bytes = 0;
    for (const file of await filesIn(folder, "")) {
      const content = await readFile(join(folder, file));
      bytes += content.length;
      if (bytes > mostBytes) throw new Error(`it shows more than ${mostBytes / 1024 / 1024} MB`);
      hash.update(`${file}\0`).update(content).update("\0");
    }
  } catch (error) {
    throw new SourceFailed(`the folder ${folder} cannot be read: ${errorMessage(error)}`);
  }
  const revision = `folder:${hash.digest("hex").slice(0, 16)}`;
  return { folder, root: folder, revision, content: revision };
}

/** A link to a folder would show a folder above it again without end; more files than this are not those of a stack. */
const mostFiles = 20_000;

/** `above`: the real places of the folders on the way. */
async function filesIn(root: string, below: string, above: readonly string[] = []): Promise<string[]> {
  const real = await realpath(join(root, below));
  if (above.includes(real)) return [];
  const entries = await readdir(join(root, below), { withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (isLeftOut(entry.name)) continue;
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    // A link that leads nowhere shows nothing.
    const shown = entry.isSymbolicLink() ? await stat(join(root, path)).catch(() => undefined) : entry;
    if (shown?.isDirectory() === true) found.push(...(await filesIn(root, path, [...above, real])));
    else if (shown?.isFile() === true) found.push(path);
    if (found.length > mostFiles) throw new Error(`it shows more than ${mostFiles} files`);
  }
  return found;
}

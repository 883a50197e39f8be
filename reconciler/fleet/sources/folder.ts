/** A folder of the worker; its revision is a digest of its files. */

import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { errorMessage } from "../../core/text/errors";
import { type Checkout, SourceFailed } from "./checkout";

/** Files that programs leave beside those of the stack are left out. */
const isLeftOut = (name: string): boolean =>
  name.startsWith(".") || name === "node_modules" || /\.state\.json/.test(name);

export async function checkOutFolder({ folder }: { readonly folder: string }): Promise<Checkout> {
  const hash = createHash("sha256");
  try {
    for (const file of await filesIn(folder, ""))
      hash
        .update(`${file}\0`)
        .update(await readFile(join(folder, file)))
        .update("\0");
  } catch (error) {
    throw new SourceFailed(`the folder ${folder} cannot be read: ${errorMessage(error)}`);
  }
  const revision = `folder:${hash.digest("hex").slice(0, 16)}`;
  return { folder, root: folder, revision, content: revision };
}

async function filesIn(root: string, below: string): Promise<string[]> {
  const entries = await readdir(join(root, below), { withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (isLeftOut(entry.name)) continue;
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) found.push(...(await filesIn(root, path)));
    else if (entry.isFile()) found.push(path);
  }
  return found;
}

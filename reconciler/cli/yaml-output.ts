/**
 * Where generated YAML goes: to standard output, a new file or, with --json, one object; and which schema line it gets.
 */

import { existsSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { refuseTarget, writePrivately } from "../outside/private-file";
import { publicSchema } from "../version";
import type { Invocation } from "./command";
import { fail } from "./compose";

/** Refuses a file that exists, or that cannot be one, before anything is asked of the service. */
export function checkTarget({ flags }: Invocation): void {
  if (flags.out !== undefined && flags.force !== true && existsSync(flags.out))
    throw fail("cli/file-exists", `${flags.out} exists already`, "name another file with --out, or add --force");
  if (flags.out !== undefined) refuseTarget(flags.out, true);
}

export function putYaml(
  { flags, output }: Pick<Invocation<"out" | "force">, "flags" | "output">,
  text: string,
  how: Parameters<typeof writePrivately>[2] = { isNew: flags.force !== true, overFiles: true },
): void {
  if (flags.out === undefined) output.print(text);
  else {
    writePrivately(flags.out, text, how);
    output.note(`Wrote ${flags.out}`);
  }
  output.event({ type: "yaml", ...(flags.out === undefined ? { text } : { file: flags.out }) });
}

/**
 * The path of the schema for an editor: in the installed packages of the folder or of one above it, else its public
 * address.
 */
export function schemaFor(path: string, name = "desired-state"): string {
  const schema = `node_modules/reconcile-cloud/schemas/${name}.schema.json`;
  const start = dirname(resolve(path));
  for (let folder = start; ; folder = dirname(folder)) {
    if (existsSync(join(folder, schema))) {
      const found = relative(start, join(folder, schema)).replaceAll("\\", "/");
      return found.startsWith(".") ? found : `./${found}`;
    }
    if (folder === dirname(folder)) return publicSchema(name);
  }
}

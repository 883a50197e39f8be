/** `reconcile init`: writes a starter file, and never over one that is there. */
import { existsSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { starterText } from "../../config/starter";
import { packageFolder } from "../../version";
import { fail } from "../compose";
import type { Invocation } from "../invocation";
import { defaultFile } from "../workspace";

export async function run(invocation: Invocation): Promise<number> {
  const path = invocation.args[0] ?? defaultFile;
  try {
    writeFileSync(path, starterText(schemaFor(path)), { flag: "wx" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    throw fail("cli/file-exists", `${path} exists already and is left as it is`, "reconcile init OTHER-FILE");
  }
  invocation.output.print(`Wrote ${path}. Next: reconcile plan ${path}`);
  return invocation.output.finish({ exitCode: 0 });
}

/** The schema where an editor finds it: in the project's own packages, else beside this program. */
function schemaFor(path: string): string {
  const schema = "schemas/desired-state.schema.json";
  const installed = `node_modules/reconcile-cloud/${schema}`;
  if (existsSync(join(dirname(path), installed))) return `./${installed}`;
  return relative(dirname(path), join(packageFolder, schema)).split("\\").join("/");
}

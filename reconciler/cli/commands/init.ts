/** `reconcile init`: writes a starter file, and never over one that is there. */
import { writeFileSync } from "node:fs";
import { starterText } from "../../config/starter";
import { fail } from "../compose";
import type { Invocation } from "../invocation";
import { defaultFile } from "../workspace";
import { schemaFor } from "../yaml-output";

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

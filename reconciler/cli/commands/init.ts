/**
 * `reconcile init`: writes a starter file, and never over an existing one. What the tool writes beside it (a state,
 * saved plans, the embedded service's world) belongs in no repository, so `.gitignore` gets the lines that it lacks.
 */

import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeFolder } from "../../../emulator/make-folder";
import { starterText } from "../../config/starter";
import { errorCode, errorMessage, ifPossible } from "../../core/text/errors";
import { inShell } from "../../core/text/in-shell";
import { isUrl } from "../../core/text/outside-policy";
import { printable } from "../../core/text/printable";
import { refusedLink, trustFrom } from "../../outside/trust";
import { command, maybeOne } from "../command";
import { fail } from "../compose";
import { defaultFile } from "../workspace";
import { schemaFor } from "../yaml-output";

export const initCommand = command({
  usage: "init [FILE | DIR]",
  summary: "writes a starter file with the schema header",
  section: "From a file to the service",
  examples: [
    ["reconcile init", "a reconcile.yaml that plans and applies as it is, on the embedded service"],
    ["reconcile init prod", "the same in a folder, which is made where it is missing"],
    ["reconcile init prod/network.yaml", "the same under another name"],
  ],
  flags: ["json", "no-color"],
  positionals: maybeOne,
  async run(invocation) {
    const [named = defaultFile] = invocation.args;
    // Every command takes a folder or a file; a file under a name that no command looks for in a folder would be found by
    // nobody.
    if (isUrl(named))
      throw fail(
        "cli/file-unwritable",
        `${named} is an address, and init takes a file or a folder`,
        "reconcile init, and the service's address in the file that it writes: service: { base_url: … }",
      );
    const path = /\.ya?ml$/i.test(named) ? named : join(named, defaultFile);
    const ignoring = join(dirname(path), ".gitignore");
    const trust = trustFrom();
    const refused = refusedLink(trust, path, "written") ?? refusedLink(trust, ignoring, "written");
    if (refused !== undefined) throw fail(refused.code, refused.problem, refused.fix);
    try {
      makeFolder(dirname(path));
      writeFileSync(path, starterText(schemaFor(path)), { flag: "wx" });
    } catch (error) {
      // A file that stands where a folder is needed exists as well.
      if (errorCode(error) !== "EEXIST" || !existsSync(path))
        throw fail(
          "cli/file-unwritable",
          `${path} cannot be written: ${errorMessage(error)}`,
          "name a file in a folder that you may write to",
        );
      throw fail("cli/file-exists", `${path} exists already and is left as it is`, "reconcile init OTHER-FILE");
    }
    const added = ignoreInGit(ignoring);
    invocation.output.print(
      printable(`Wrote ${path}${added === undefined ? "" : ` and ${added}`}. Next: reconcile plan ${inShell(path)}`),
    );
    return invocation.output.finish({ exitCode: 0 });
  },
});

const ignored = [".reconcile/", "*.state.json", "*.state.json.*", "*.plan.json"];

/**
 * Answers with the `.gitignore` that was written, if it lacked a line. A folder in which that fails is no reason for an
 * error.
 */
function ignoreInGit(path: string): string | undefined {
  try {
    const text = ifPossible(() => readFileSync(path, "utf8")) ?? "";
    const lines = new Set(text.split("\n").map((line) => line.trim()));
    const missing = ignored.filter((line) => !lines.has(line));
    if (missing.length === 0) return undefined;
    appendFileSync(path, `${text === "" || text.endsWith("\n") ? "" : "\n"}${missing.join("\n")}\n`);
    return path;
  } catch {
    return undefined;
  }
}

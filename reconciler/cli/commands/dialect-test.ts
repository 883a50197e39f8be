/** `reconcile dialect test`: reads recorded answers by a dialect and compares what it reads with what is expected. */

import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { parseValue } from "../../config/yaml/reader";
import { type Diagnostic, hasErrors } from "../../core/model/diagnostic";
import { readCases, tryCase } from "../../dialect/case";
import { own } from "../../dialect/messages";
import { readDialectFile, readyDialectPath } from "../../open-service";
import { command, oneOrMore } from "../command";
import { fail } from "../compose";
import { CommandFailed } from "../crash";
import { readGivenText } from "../doctor/told";

export const dialectTestCommand = command({
  usage: "dialect test FILE…",
  summary: "compares recorded answers with what a dialect has to read in them",
  section: "Looking",
  examples: [
    ["reconcile dialect test my.dialect.test.yaml", "exit 1 when an answer is read otherwise than the file says"],
    ["reconcile dialect test openstack-like", "the tests of one that is ready"],
  ],
  flags: ["dialect", "json", "no-color"],
  positionals: oneOrMore("a file of cases"),
  async run({ args, flags, output }) {
    const diagnostics: Diagnostic[] = [];
    let passed = 0;
    for (const given of args) {
      const file = fileOf(given);
      const value = parseValue(readGivenText(file));
      const { cases, problems } = readCases(value);
      if (problems.length > 0)
        throw fail(
          "cli/usage",
          `${given} is no file of cases: ${problems.join("; ")}`,
          "cases: [{ operation: vm.list, answer: …, reads: [{ id: … }] }]",
        );
      const named = own(value, "dialect");
      const beside = typeof named === "string" ? named : basename(file).replace(/\.test\.yaml$/, ".yaml");
      const path = flags.dialect ?? join(dirname(file), beside);
      const read = readDialectFile(path, path, undefined, flags.dialect ?? beside);
      if (hasErrors(read.diagnostics)) throw new CommandFailed(read.diagnostics);
      for (const one of cases) {
        const differences = tryCase(read.dialect, one);
        output.event({ type: "case", file: given, title: one.title, ok: differences.length === 0 });
        if (differences.length === 0) passed++;
        else
          diagnostics.push({
            severity: "error",
            code: "dialect/does-not-fit",
            summary: `${one.title}: ${differences.join("; ")}`,
            detail: `${basename(file)}, by ${basename(path)}`,
            fix: "correct the dialect, or what the case expects",
          });
      }
    }
    output.print(`${passed} of ${passed + diagnostics.length} answers are read as expected`);
    return output.finish({ exitCode: diagnostics.length > 0 ? 1 : 0, diagnostics });
  },
});

/** The name of a dialect that comes with this program means the tests of that dialect. */
function fileOf(given: string): string {
  const ready = existsSync(given) ? undefined : readyDialectPath(given);
  return ready === undefined ? given : ready.replace(/\.yaml$/, ".test.yaml");
}

/**
 * `reconcile test`: runs the tests of the user's own file on the embedded service in virtual time. No real service is
 * asked.
 */

import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { firstTests, readReferences } from "../../config/first-tests";
import { type ReadResult, readDesired } from "../../config/read/desired";
import { readTests } from "../../config/read/tests";
import type { Desired } from "../../core/model/desired";
import { type Diagnostic, hasErrors } from "../../core/model/diagnostic";
import { errorCode, ifPossible } from "../../core/text/errors";
import { inShell } from "../../core/text/in-shell";
import { keyIn, keysOf } from "../../core/text/objects";
import { printable } from "../../core/text/printable";
import { openBeside } from "../../outside/beside";
import { refuseTarget, writePrivately } from "../../outside/private-file";
import { junitOfTests, type TestResult, tapText, testEvent, testsText } from "../../report/test-text";
import { command, type Invocation } from "../command";
import { fail } from "../compose";
import { CommandFailed } from "../crash";
import { runFileTests } from "../file-tests";
import { defaultFile, givenVars, readSourceFile } from "../workspace";
import { schemaFor } from "../yaml-output";

export const testCommand = command({
  usage: "test [FILES]… [--format tap|junit] [--init]",
  summary: "tests of your own file: what a plan of it would do, on the embedded service",
  section: "From a file to the service",
  examples: [
    ["reconcile test", "every *.test.yaml of this folder and those below; asks nothing of any service"],
    ["reconcile test --init", "writes the first, from what the file asks for"],
    ["reconcile test --format junit --out report.xml", "JUnit for a pipeline's test report; --format tap writes TAP"],
  ],
  flags: ["init", "format", "out", "env", "var", "var-file", "json", "no-color"],
  formats: () => keysOf(reports),
  async run(invocation) {
    const { args, flags, output } = invocation;
    if (flags.init === true) return writeFirst(invocation);
    const format = keyIn(reports, flags.format);
    if (flags.out !== undefined) refuseTarget(flags.out);
    const files = (args.length === 0 ? ["."] : args).flatMap(findTests);
    if (files.length === 0)
      throw fail("cli/no-files", "there is no *.test.yaml here", "reconcile test --init writes the first");
    const diagnostics: Diagnostic[] = [];
    const tests = files.flatMap((file) => {
      const read = readTests(readSourceFile(file));
      diagnostics.push(...read.diagnostics);
      return read.tests.map((test) => ({ file, test }));
    });
    if (hasErrors(diagnostics)) return output.finish({ exitCode: 1, diagnostics });
    const results = await runFileTests(tests, { now: new Date(), given: { ...givenVars(flags), env: flags.env } });
    showResults(results, format, invocation);
    const failed = results.flatMap(failuresOf);
    return output.finish({
      exitCode: failed.length > 0 ? 1 : 0,
      forPrograms: [...diagnostics, ...failed],
      diagnostics,
    });
  },
});

/** People read them below the name of the test. */
const failuresOf = ({ name, source, problems }: TestResult): Diagnostic[] =>
  problems.map((problem) => ({
    severity: "error",
    code: "test/failed",
    summary: `${name}: ${problem}`,
    source,
  }));

type Results = Awaited<ReturnType<typeof runFileTests>>;
const reports = { tap: (results: Results) => tapText(results), junit: (results: Results) => junitOfTests(results) };

const defaultTest = "reconcile.test.yaml";

function showResults(results: Results, format: keyof typeof reports | undefined, { flags, output }: Invocation): void {
  for (const result of results) output.event(testEvent(result));
  const text = format === undefined ? undefined : reports[format](results);
  output.print(
    flags.out === undefined && text !== undefined
      ? text
      : testsText(results, { colour: output.colour, width: output.width }),
  );
  if (flags.out === undefined) return;
  const report = text ?? testsText(results, { colour: false, width: output.width });
  writePrivately(flags.out, report, { mode: 0o666 });
}

function findTests(path: string): string[] {
  if (!existsSync(path))
    throw fail("cli/file-unreadable", `there is no file ${path}`, "name a *.test.yaml or a folder");
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const inner = join(path, entry.name);
      if (entry.isDirectory())
        return entry.name.startsWith(".") || entry.name === "node_modules" ? [] : findTests(inner);
      return isTest(entry.name) ? [inner] : [];
    });
}

const isTest = (path: string): boolean => /\.test\.ya?ml$/.test(path);

/** Writes a first test that passes for the file as it is, and one that shows which consents a destroy would need. */
function writeFirst({ args, flags, output }: Invocation): number {
  const [named = "."] = args;
  const path = ifPossible(() => statSync(named))?.isDirectory() === true ? join(named, defaultTest) : named;
  const file = relative(dirname(resolve(path)), resolve(dirname(resolve(path)), defaultFile));
  const source = readSourceFile(join(dirname(path), file));
  const given = givenVars(flags);
  const read = (env?: string): ReadResult<Desired> =>
    readDesired([source], { ...given, open: openBeside, external: "later", env });
  const env = flags.env ?? read().environments?.[0];
  const { desired, diagnostics } = read(env);
  if (desired === undefined) throw new CommandFailed(diagnostics);
  const text = firstTests(desired, {
    file,
    schema: schemaFor(path, "tests"),
    env,
    ...given,
    reads: readReferences(source.text),
  });
  try {
    writeFileSync(path, text, { flag: "wx" });
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
    throw fail("cli/file-exists", `${path} exists already and is left as it is`, "reconcile test --init OTHER-FILE");
  }
  const isFound = isTest(path) && !relative(".", path).startsWith("..");
  output.print(printable(`Wrote ${path}. Next: reconcile test${isFound ? "" : ` ${inShell(path)}`}`));
  return output.finish({ exitCode: 0 });
}

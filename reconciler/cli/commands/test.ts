/** `reconcile test`: tests of one's own file, on the embedded service in virtual time. Asks nothing of any service. */
import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { type ReadOptions, readDesired } from "../../config/read-desired";
import { type FileTest, readTests, sourcesOf, type TestSide } from "../../config/read-tests";
import type { Desired } from "../../core/model/desired";
import { type Diagnostic, hasErrors } from "../../core/model/diagnostic";
import { errorCode, errorMessage } from "../../core/text/errors";
import { openBeside } from "../../outside/beside";
import { runFileTest } from "../../rehearse/file-test";
import { junitOfTests, type TestResult, tapText, testEvent, testsText } from "../../report/test-text";
import { command, type Invocation } from "../command";
import { fail } from "../compose";
import { CommandFailed } from "../crash";
import { defaultFile, readSource } from "../workspace";

export const testCommand = command({
  usage: "test [FILES]… [--format tap|junit] [--init]",
  summary: "tests of your own file: what a plan of it would do, on the embedded service",
  section: "From a file to the service",
  examples: [
    ["reconcile test", "every *.test.yaml of this folder and those below; asks nothing of any service"],
    ["reconcile test --init", "writes the first, from what the file asks for"],
    ["reconcile test --format junit --out report.xml", "for whoever shows test results; tap likewise"],
  ],
  flags: ["init", "format", "out", "var", "var-file", "json", "no-color"],
  run,
});

const defaultTest = "reconcile.test.yaml";

async function run(invocation: Invocation): Promise<number> {
  const { args, flags, output } = invocation;
  if (flags.init === true) return writeFirst(invocation);
  const { format } = flags;
  if (format !== undefined && format !== "tap" && format !== "junit")
    throw fail("cli/bad-flag", `--format ${format} is none of tap, junit`, "--format tap");
  const files = (args.length === 0 ? ["."] : args).flatMap(findTests);
  if (files.length === 0)
    throw fail("cli/no-files", "there is no *.test.yaml here", "reconcile test --init writes the first");
  const diagnostics: Diagnostic[] = [];
  const tests = files.flatMap((file) => {
    const read = readTests(readSource(file));
    diagnostics.push(...read.diagnostics);
    return read.tests.map((test) => ({ file, test }));
  });
  if (hasErrors(diagnostics)) return output.finish({ exitCode: 1, diagnostics });
  const now = new Date();
  const cache = new Map<string, Desired | readonly string[]>();
  const results = await inParallel(tests, ({ file, test }) => runOne(file, test, now, cache));
  for (const result of results) output.event(testEvent(result));
  const text = format === "tap" ? tapText(results) : format === "junit" ? junitOfTests(results) : undefined;
  if (text !== undefined && flags.out !== undefined) writeFileSync(flags.out, text);
  else if (text !== undefined) output.print(text);
  if (text === undefined || flags.out !== undefined)
    output.print(testsText(results, { colour: output.colour, width: output.width }));
  return output.finish({ exitCode: results.some(({ problems }) => problems.length > 0) ? 1 : 0 });
}

const atOnce = 16;

/** Each lives in a time of its own, so that none waits for another. */
async function inParallel<T, R>(items: readonly T[], use: (item: T) => Promise<R>): Promise<R[]> {
  const results = new Map<number, R>();
  const open = items.entries();
  const work = async (): Promise<void> => {
    for (const [index, item] of open) results.set(index, await use(item));
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work));
  return [...results].sort(([a], [b]) => a - b).map(([, result]) => result);
}

async function runOne(
  file: string,
  test: FileTest,
  now: Date,
  cache: Map<string, Desired | readonly string[]>,
): Promise<TestResult> {
  const started = performance.now();
  const done = (problems: readonly string[]): TestResult => ({
    file,
    name: test.name,
    source: test.source,
    problems,
    durationMs: performance.now() - started,
  });
  try {
    const given = test.given === undefined ? undefined : desiredOf(file, test.given, cache);
    const when = desiredOf(file, test.when, cache);
    if (isProblems(given)) return done(given.map((problem) => `given: ${problem}`));
    if (isProblems(when)) {
      // A file that is refused is a thing to test.
      return done(test.expect.exitCode === 1 ? [] : when);
    }
    const { destroy, replace, expect } = test;
    return done(await runFileTest({ ...(given === undefined ? {} : { given }), when, destroy, replace, expect, now }));
  } catch (error) {
    return done([errorMessage(error)]);
  }
}

const isProblems = (read: Desired | readonly string[] | undefined): read is readonly string[] => Array.isArray(read);

/** Many tests read the same file in the same way. */
function desiredOf(
  test: string,
  side: TestSide,
  cache: Map<string, Desired | readonly string[]>,
): Desired | readonly string[] {
  const key = JSON.stringify([dirname(test), side]);
  const known = cache.get(key);
  if (known !== undefined) return known;
  const at = (path: string): string => join(dirname(test), path);
  const options: ReadOptions = {
    vars: side.vars,
    ...(side.env === undefined ? {} : { env: side.env }),
    open: openBeside,
  };
  const { desired, diagnostics } = readDesired(
    sourcesOf(side, (path) => readSource(at(path))),
    options,
  );
  const read =
    desired ??
    diagnostics.flatMap(({ severity, summary, source }) =>
      severity === "error" ? [`${source === undefined ? "" : `${source.file}:${source.line}: `}${summary}`] : [],
    );
  cache.set(key, read);
  return read;
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
      return /\.test\.ya?ml$/.test(entry.name) ? [inner] : [];
    });
}

/** What the file asks for, as a test that passes, and one that shows what taking it all away would need. */
function writeFirst({ args, output }: Invocation): number {
  const path = args[0] ?? defaultTest;
  const file = relative(dirname(resolve(path)), resolve(dirname(resolve(path)), defaultFile));
  const { desired, diagnostics } = readDesired([readSource(join(dirname(path), file))]);
  if (desired === undefined) throw new CommandFailed(diagnostics);
  const changes = desired.resources.map(({ address }) => `        ${JSON.stringify(address)}: create`);
  const gone = desired.resources.map(({ address }) => `        ${JSON.stringify(address)}: delete`);
  const protectedOnes = desired.resources.filter(({ lifecycle }) => lifecycle.preventDestroy).length;
  const text = `# Tests of ${file}: reconcile test runs them on the embedded service, in no time.
tests:
  - name: everything is made, and a second run changes nothing
    when: ${file}
    expect:
      changes:${changes.length === 0 ? " {}" : `\n${changes.join("\n")}`}
      converges: true

  - name: what is there already needs no change
    given: ${file}
    when: ${file}
    expect: { changes: {}, steps: [] }
${
  protectedOnes > 0 || desired.resources.length === 0
    ? ""
    : `
  - name: taking it all away is what destroy would do
    given: ${file}
    when: ${file}
    destroy: true
    expect:
      changes:
${gone.join("\n")}
`
}`;
  try {
    writeFileSync(path, text, { flag: "wx" });
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
    throw fail("cli/file-exists", `${path} exists already and is left as it is`, "reconcile test --init OTHER-FILE");
  }
  output.print(`Wrote ${path}. Next: reconcile test`);
  return output.finish({ exitCode: 0 });
}

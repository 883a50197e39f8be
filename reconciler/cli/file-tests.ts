/**
 * Runs the tests of a user's own file. What several tests share is read and carried out once, and many tests use every
 * core.
 */
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { parentPort, Worker, workerData } from "node:worker_threads";
import { type ReadOptions, readDesired } from "../config/read/desired";
import { assertNotMisspelt, type FileTest, sourcesOf, type TestSide } from "../config/read/tests";
import type { GivenVars } from "../config/vars";
import { asClosed } from "../core/model/desired";
import type { Diagnostic } from "../core/model/diagnostic";
import type { ExternalValues, LookupRequest } from "../core/model/external";
import { errorMessage } from "../core/text/errors";
import { inParallel } from "../core/text/in-parallel";
import { onlyDefined } from "../core/text/objects";
import { openBeside } from "../outside/beside";
import {
  carryOutGiven,
  compareRefusedFile,
  nothingGiven,
  runFileTest,
  type TestGround,
  type WantedState,
} from "../rehearse/file-test";
import type { TestResult } from "../report/test-text";
import { readDialectWith } from "./compose";
import { asDiagnostics } from "./crash";
import { readSourceFile } from "./workspace";

export interface TestOfFile {
  readonly file: string;
  readonly test: FileTest;
}

/** What is the same for every test. */
export interface ForAll {
  readonly now: Date;
  /** For the files that declare these; the values that a test gives take precedence. */
  readonly given: Pick<GivenVars, "vars" | "varFiles"> & { readonly env?: string };
}

const testsAtOnce = 16;
/** Starting a thread takes as long as running this many tests. */
const worthAThread = 75;

/** The results, in the order of the tests. */
export async function runFileTests(tests: readonly TestOfFile[], all: ForAll): Promise<readonly TestResult[]> {
  const threads = Math.min(availableParallelism(), Math.floor(tests.length / worthAThread));
  if (threads < 2) return runHere(tests, all);
  const shares = Array.from({ length: threads }, (_, share) => tests.filter((_, index) => index % threads === share));
  const [own = [], ...others] = shares;
  const given = others.map((share) => runInThread(share, all));
  const results = [await runHere(own, all), ...(await Promise.all(given))];
  return tests.flatMap((_, index) => results[index % threads]?.[Math.floor(index / threads)] ?? []);
}

function runHere(tests: readonly TestOfFile[], all: ForAll): Promise<readonly TestResult[]> {
  const shared = shareReadings(all);
  // Each test has a virtual clock of its own, so that no test waits for another.
  return inParallel(tests, testsAtOnce, (test) => runOne(test, shared));
}

/**
 * This program as a file that a thread can load: the bundle, or main.js beside this file; none in a single executable.
 */
const program = [__filename, join(__dirname, "main.js")].find((file) => /(bundle|main)\.js$/.test(file));

/** Where a thread cannot be started, its share of the tests runs here. */
async function runInThread(tests: readonly TestOfFile[], all: ForAll): Promise<readonly TestResult[]> {
  if (program === undefined || !existsSync(program)) return runHere(tests, all);
  const told = await new Promise<readonly TestResult[] | undefined>((resolve) => {
    const data: ThreadData = { tests, all };
    const code = `require(${JSON.stringify(program)}).runTestsOfThread()`;
    const thread = new Worker(code, { eval: true, workerData: data });
    thread.once("message", resolve);
    thread.once("error", () => resolve(undefined));
    thread.once("exit", () => resolve(undefined));
  });
  return told ?? runHere(tests, all);
}

interface ThreadData {
  readonly tests: readonly TestOfFile[];
  readonly all: ForAll;
}

/** The entry of a thread. */
export async function runTestsOfThread(): Promise<void> {
  const { tests, all }: ThreadData = workerData;
  parentPort?.postMessage(await runHere(tests, all));
}

async function runOne({ file, test }: TestOfFile, shared: SharedReadings): Promise<TestResult> {
  const started = performance.now();
  const done = (problems: readonly string[]): TestResult => ({
    file,
    name: test.name,
    source: test.source,
    problems,
    durationMs: performance.now() - started,
  });
  try {
    const given = test.given === undefined ? shared.nothing : await shared.given(file, test.given);
    if (isRefusedReading(given)) return done(given.problems);
    const when = shared.desired(file, test.when);
    const { destroy, replace, expect } = test;
    if (isRefusedReading(when)) {
      const { problems, codes } = when;
      // A test may expect that its file is refused.
      return done(
        codes === undefined || expect.exitCode !== 1 ? problems : compareRefusedFile(problems, codes, expect),
      );
    }
    return done(await runFileTest({ given, when, destroy, replace, expect, now: shared.now }));
  } catch (error) {
    return done([errorMessage(error)]);
  }
}

/** `codes`: of the file's own errors and warnings. Absent: it is the test that lacks something. */
interface RefusedReading {
  readonly problems: readonly string[];
  readonly codes?: readonly string[];
}
type OrRefused<T> = T | RefusedReading;
const isRefusedReading = (read: OrRefused<object>): read is RefusedReading => "problems" in read;

type SharedReadings = ReturnType<typeof shareReadings>;

/** Many tests read the same file in the same way and are given the same result. */
function shareReadings(all: ForAll) {
  const { now } = all;
  const desiredStates = new Map<string, OrRefused<WantedState>>();
  const begun = new Map<string, Promise<OrRefused<TestGround>>>();
  const keyOf = (test: string, side: TestSide): string => JSON.stringify([dirname(test), side]);

  function desired(test: string, side: TestSide): OrRefused<WantedState> {
    const key = keyOf(test, side);
    const known = desiredStates.get(key) ?? readTestSide(test, side, all);
    desiredStates.set(key, known);
    return known;
  }

  async function begin(test: string, side: TestSide): Promise<OrRefused<TestGround>> {
    const wanted = desired(test, side);
    if (isRefusedReading(wanted)) return { problems: wanted.problems.map((problem) => `given: ${problem}`) };
    const given = await carryOutGiven(wanted, now);
    return typeof given === "string" ? { problems: [given] } : given;
  }

  return {
    now,
    nothing: nothingGiven(now),
    desired,
    given(test: string, side: TestSide): Promise<OrRefused<TestGround>> {
      const key = keyOf(test, side);
      const known = begun.get(key) ?? begin(test, side);
      begun.set(key, known);
      return known;
    },
  };
}

function readTestSide(test: string, side: TestSide, { given }: ForAll): OrRefused<WantedState> {
  const at = (path: string): string => join(dirname(test), path);
  const sources = sourcesOf(side, (path) => readSourceFile(at(path)));
  const options: ReadOptions = {
    ...given,
    vars: { ...given.vars, ...side.vars },
    ...onlyDefined({ env: side.env }),
    open: openBeside,
    external: "later",
  };
  const unseen = readDesired(sources, options);
  const external = unseen.desired?.external;
  const untold = external?.reads.filter(({ name }) => side.external.reads[name] === undefined) ?? [];
  if (untold.length > 0)
    return {
      problems: untold.map(
        ({ name }) => `the test says nothing of what ${name} reads: reads: { ${name}: { OUTPUT: … } }`,
      ),
    };
  const lookups = external?.lookups.map(({ name }) => name) ?? [];
  for (const name of Object.keys(side.external.lookups))
    if (!lookups.includes(name))
      assertNotMisspelt(`no file has the lookup ${name} of the test`, name, lookups, side.external.lookups);
  const { desired, diagnostics } =
    external === undefined
      ? { ...unseen, desired: unseen.desired === undefined ? undefined : asClosed(unseen.desired) }
      : readDesired(sources, {
          ...options,
          external: { ...side.external, lookups: madeUp(external.lookups, side.external) },
        });
  if (desired === undefined) return refusedReading(diagnostics);
  try {
    const folder = dirname(sources[0]?.file ?? test);
    const { dialect } = readDialectWith({ desired, diagnostics, sources, given: sources, folder }, {});
    return { desired, form: dialect };
  } catch (error) {
    const refused = asDiagnostics(error);
    if (refused === undefined) throw error;
    return refusedReading(refused);
  }
}

const refusedReading = (diagnostics: readonly Diagnostic[]): RefusedReading => ({
  problems: diagnostics.flatMap(({ severity, summary, source, fix }) =>
    severity === "error"
      ? [
          `${source === undefined ? "" : `${source.file}:${source.line}: `}${summary}${fix === undefined ? "" : ` (${fix})`}`,
        ]
      : [],
  ),
  codes: diagnostics.flatMap(({ severity, code }) => (severity === "note" ? [] : [code])),
});

/** Made-up results of lookups for tests that give none: ids, names and addresses that nothing else has. */
const madeUp = (
  lookups: readonly LookupRequest[],
  { lookups: given }: TestSide["external"],
): ExternalValues["lookups"] =>
  Object.fromEntries(
    lookups.map(({ name, by, wanted }, index) => {
      const host = `${Math.floor(index / 250)}.${(index % 250) + 1}`;
      const id = `22222222-2222-4222-8222-${String(index + 1).padStart(12, "0")}`;
      const found = { id, name, private_ip: `10.254.${host}`, floating_ip: `198.19.${host}`, size: "10" };
      return [name, { ...found, [by]: wanted, ...given[name] }];
    }),
  );

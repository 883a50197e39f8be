/** Tests of a user's own file, from YAML to values: what is given, what is wanted, and what is expected of the plan. */
import { type Diagnostic, hasErrors, type SourcePosition, sortDiagnostics } from "../../core/model/diagnostic";
import type { ExpectedPlan } from "../../core/model/expected";
import type { ExternalValues } from "../../core/model/external";
import { nearestName } from "../../core/text/nearest";
import { onlyDefined } from "../../core/text/objects";
import { problemsOf } from "../generated/tests";
import { readOwnYaml, topKeys } from "../own-files";
import { addNumberProblems, collectProblems, problemAsDiagnostic } from "../problems";
import type { ExpectBlock, SideBlock, SideMap, TestBlock, TestsFile } from "../rows/tests";
import { type SchemaWords, schemaProblems } from "../schema-problems";
import {
  type ConfigSource,
  isMap,
  offsetOfPath,
  type Path,
  positionOf,
  type YamlFile,
  type YamlMap,
} from "../yaml/file";
import { readYaml } from "../yaml/reader";
import { placesOfAmounts } from "./prices";

/** A desired state: files beside the test, a state written out, changes over them, and what they are read with. */
export interface TestSide {
  readonly files: readonly string[];
  readonly inline?: YamlMap;
  readonly set?: YamlMap;
  readonly vars: Readonly<Record<string, string>>;
  readonly env?: string;
  /** Values from elsewhere: nobody looks for them in a test. */
  readonly external: ExternalValues;
}

export interface FileTest {
  readonly name: string;
  readonly given?: TestSide;
  readonly when: TestSide;
  readonly destroy: boolean;
  readonly replace: readonly string[];
  readonly expect: ExpectedPlan;
  readonly source: SourcePosition;
}

export interface ReadTests {
  readonly tests: readonly FileTest[];
  readonly diagnostics: readonly Diagnostic[];
}

type Several = string | readonly string[] | null;
type Surroundings = Pick<TestBlock, "vars" | "env" | "reads" | "lookups">;

const wordsOfTests: SchemaWords = {
  area: "config",
  patterns: {
    "^[a-z.]+ +[^ ]+$": "an operation and an address, such as volume.detach volume.data",
    "^(?:data_loss|flush|prevent_destroy|empty|removal|recreate)(?: +[^ ]+)?$":
      "data_loss, flush, prevent_destroy, empty, removal or recreate, and an address behind it or none",
  },
};

export function readTests(source: ConfigSource): ReadTests {
  const problems = collectProblems();
  const file = readOwnYaml(source, problems, {
    what: "file of tests",
    code: "config/wrong-type",
    keys: topKeys(problemsOf),
    fix: "write tests: and a list; reconcile test --init writes the first",
  });
  if (hasErrors(problems.diagnostics)) return { tests: [], diagnostics: problems.diagnostics };
  addNumberProblems(file, problems, placesOfAmounts(file, statesIn(file)));
  const root: unknown = file.root ?? {};
  if (!isTests(root)) {
    const ofSchema = schemaProblems(file, problemsOf(root), wordsOfTests, root).map(problemAsDiagnostic);
    return { tests: [], diagnostics: sortDiagnostics([...problems.diagnostics, ...ofSchema]) };
  }
  const placeOf = (index: number): SourcePosition =>
    positionOf({ source: file, offset: offsetOfPath(root, ["tests", index], "value").offset });
  return { tests: root.tests.map((test, index) => readTest(test, placeOf(index))), diagnostics: problems.diagnostics };
}

/** The desired states that are written out in a file of tests. */
const statesIn = ({ root }: YamlFile): Path[] => {
  const tests: unknown = isMap(root) ? root["tests"] : undefined;
  if (!Array.isArray(tests)) return [];
  return [...tests.keys()].flatMap((index) =>
    ["given", "when"].flatMap((side) => ["inline", "set"].map((key) => ["tests", index, side, key])),
  );
};

const isTests = (root: unknown): root is TestsFile => problemsOf(root).length === 0;

function readTest(test: TestBlock, source: SourcePosition): FileTest {
  const { name, destroy, replace } = test;
  const given = readSide(test.given, test);
  const when = readSide(test.when, test) ?? { files: ["reconcile.yaml"], ...surroundingsOf(test) };
  return {
    name,
    given,
    when,
    destroy: destroy === true,
    replace: severalTexts(replace) ?? [],
    expect: readExpected(test.expect ?? {}),
    source,
  };
}
function readSide(side: SideBlock | undefined, test: TestBlock): TestSide | undefined {
  if (side === undefined || side === null || side === "nothing") return undefined;
  const shared = surroundingsOf(test);
  const { files, inline, set, ...own }: SideMap = isFiles(side) ? { files: side } : side;
  return {
    files: severalTexts(files) ?? (inline === undefined ? ["reconcile.yaml"] : []),
    inline,
    set,
    ...shared,
    ...onlyDefined({ env: own.env }),
    vars: { ...shared.vars, ...surroundingsOf(own).vars },
    external: {
      reads: { ...shared.external.reads, ...own.reads },
      lookups: { ...shared.external.lookups, ...own.lookups },
    },
  };
}

const isFiles = (side: string | readonly string[] | SideMap): side is string | readonly string[] =>
  typeof side === "string" || Array.isArray(side);

/** A variable is given as text, as with --var. */
function surroundingsOf({ vars, env, reads, lookups }: Surroundings): Pick<TestSide, "vars" | "env" | "external"> {
  const asText = (value: unknown): string =>
    typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);
  return {
    vars: Object.fromEntries(Object.entries(vars ?? {}).map(([name, value]) => [name, asText(value)])),
    env,
    external: { reads: reads ?? {}, lookups: lookups ?? {} },
  };
}

const severalTexts = (texts: Several | undefined): readonly string[] | undefined =>
  texts === undefined || texts === null ? undefined : typeof texts === "string" ? [texts] : texts;

/** What is named and has nothing behind it expects nothing: it is never what a test leaves out. */
function readExpected(block: NonNullable<ExpectBlock>): ExpectedPlan {
  const { changes, exit_code, outputs, reachability, converges } = block;
  const exactly = (texts: Several | undefined) => (texts === null ? [] : severalTexts(texts));
  return {
    changes: changes === null ? {} : changes,
    steps: exactly(block.steps),
    consents: exactly(block.consents),
    findings: exactly(block.findings),
    owed: exactly(block.owed),
    outputs,
    reachability,
    exitCode: exit_code,
    converges,
  };
}

/** The sources of a side: its files, with what is set over the first of them. */
export function sourcesOf(side: TestSide, read: (path: string) => ConfigSource): ConfigSource[] {
  const all = side.files.map(read);
  if (side.inline !== undefined) all.push({ file: "inline", text: JSON.stringify(side.inline) });
  const [first, ...more] = all;
  if (side.set === undefined || first === undefined) return all;
  const problems = collectProblems();
  const { root } = readYaml(first, problems);
  // What is wrong with the file would be gone from the text that is made of it.
  if (problems.reported > 0) return all;
  return [{ file: first.file, text: JSON.stringify(mergeOver(root, side.set)) }, ...more];
}

/** Maps go key by key, `null` takes a key away, anything else is put in its place. */
function mergeOver(base: unknown, set: unknown, at: readonly string[] = []): unknown {
  if (!isMap(base) || !isMap(set)) return set;
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(set))
    if (value !== null) merged[key] = mergeOver(merged[key], value, [...at, key]);
    else if (Object.hasOwn(base, key)) delete merged[key];
    else assertNotMisspelt(`set takes ${[...at, key].join(".")} away, which is not there`, key, Object.keys(base), set);
  return merged;
}

/** Throws where a name that is not there is nearly one that is there, and of which the test says nothing. */
export function assertNotMisspelt(problem: string, name: string, there: readonly string[], told: object): void {
  const near = nearestName(
    name,
    there.filter((one) => !Object.hasOwn(told, one)),
  );
  if (near !== undefined) throw new Error(`${problem}; did you mean ${near}?`);
}

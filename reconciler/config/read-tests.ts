/** Tests of a user's own file, from YAML to values: what is given, what is wanted, and what is expected of the plan. */
import type { Diagnostic, SourcePosition } from "../core/model/diagnostic";
import type { Expected } from "../core/model/expected";
import type { Json } from "../core/model/output";
import { nearestName } from "../core/text/nearest";
import { collectProblems, type Problems, shown } from "./problems";
import { type ConfigSource, isMap, offsetAt, type Path, positionOf, type YamlFile, type YamlMap } from "./yaml-file";
import { readYaml } from "./yaml-reader";

/** A desired state: files beside the test, a state written out, changes over them, and what they are read with. */
export interface TestSide {
  readonly files: readonly string[];
  readonly inline?: YamlMap;
  readonly set?: YamlMap;
  readonly vars: Readonly<Record<string, string>>;
  readonly env?: string;
}

export interface FileTest {
  readonly name: string;
  readonly given?: TestSide;
  readonly when: TestSide;
  readonly destroy: boolean;
  readonly replace: readonly string[];
  readonly expect: Expected;
  readonly source: SourcePosition;
}

export interface ReadTests {
  readonly tests: readonly FileTest[];
  readonly diagnostics: readonly Diagnostic[];
}

const keysOf = {
  file: ["tests"],
  test: ["name", "given", "when", "vars", "env", "destroy", "replace", "expect"],
  side: ["files", "inline", "set", "vars", "env"],
  expect: ["changes", "steps", "consents", "findings", "outputs", "reachability", "exit_code", "converges"],
} as const;

export function readTests(source: ConfigSource): ReadTests {
  const problems = collectProblems();
  const file = readYaml(source, problems);
  const { root } = file;
  const reader = createReader(file, problems);
  const tests: FileTest[] = [];
  if (root !== undefined && !isMap(root)) reader.wrong([], root, "a map with tests:");
  else if (isMap(root)) {
    reader.keys(root, [], keysOf.file);
    const list = root["tests"];
    if (!Array.isArray(list)) reader.wrong(["tests"], list, "a list of tests");
    else
      for (const [index, item] of list.entries()) {
        const path = ["tests", index];
        if (isMap(item)) tests.push(readTest(reader, item, path));
        else reader.wrong(path, item, "a test: { name, given, when, expect }");
      }
  }
  return { tests, diagnostics: problems.diagnostics };
}

type Reader = ReturnType<typeof createReader>;

function createReader(file: YamlFile, problems: Problems) {
  const at = (path: Path, on: "key" | "value" = "value") => ({
    source: file,
    offset: offsetAt(file.root, path, on).offset,
  });
  const wrong = (path: Path, value: unknown, expected: string): undefined => {
    problems.add({
      code: "config/wrong-type",
      summary: `${String(path.findLast((step) => typeof step === "string") ?? "the file")} cannot be ${shown(value)}`,
      detail: `expected ${expected}`,
      at: at(path),
    });
    return undefined;
  };
  return {
    wrong,
    place: (path: Path): SourcePosition => positionOf(at(path)),
    keys(map: YamlMap, path: Path, known: readonly string[]): void {
      for (const key of Object.keys(map)) {
        if (known.includes(key)) continue;
        const near = nearestName(key, known);
        problems.add({
          code: "config/unknown-key",
          summary: `the key ${key} is not known here`,
          detail: `expected one of ${known.join(", ")}`,
          fix: near === undefined ? "remove it" : `write ${near}`,
          at: at([...path, key], "key"),
        });
      }
    },
    texts(map: YamlMap, key: string, path: Path): readonly string[] | undefined {
      const value = map[key];
      if (value === undefined || value === null) return undefined;
      const list: readonly unknown[] = Array.isArray(value) ? value : [value];
      const texts = list.flatMap((item) =>
        typeof item === "string" || typeof item === "number" ? [String(item)] : [],
      );
      return texts.length === list.length ? texts : wrong([...path, key], value, "text, or a list of it");
    },
    textMap(map: YamlMap, key: string, path: Path): Readonly<Record<string, string>> | undefined {
      const value = map[key];
      if (value === undefined || value === null) return undefined;
      if (!isMap(value)) return wrong([...path, key], value, "a map");
      return Object.fromEntries(
        Object.entries(value).map(([name, one]) => [
          name,
          isJson(one) && typeof one === "object" ? JSON.stringify(one) : String(one),
        ]),
      );
    },
    map(map: YamlMap, key: string, path: Path): YamlMap | undefined {
      const value = map[key];
      if (value === undefined || value === null) return undefined;
      return isMap(value) ? value : wrong([...path, key], value, "a map");
    },
  };
}

function readTest(reader: Reader, test: YamlMap, path: Path): FileTest {
  reader.keys(test, path, keysOf.test);
  const shared = {
    vars: reader.textMap(test, "vars", path) ?? {},
    ...(typeof test["env"] === "string" ? { env: test["env"] } : {}),
  };
  const given = readSide(reader, test, "given", path, shared);
  const when = readSide(reader, test, "when", path, shared);
  const name = test["name"];
  if (typeof name !== "string") reader.wrong([...path, "name"], name, "what the test shows, in a sentence");
  return {
    name: typeof name === "string" ? name : "(no name)",
    ...(given === undefined ? {} : { given }),
    when: when ?? { files: ["reconcile.yaml"], ...shared },
    destroy: test["destroy"] === true,
    replace: reader.texts(test, "replace", path) ?? [],
    expect: readExpected(reader, test, path),
    source: reader.place(path),
  };
}

function readSide(
  reader: Reader,
  test: YamlMap,
  key: "given" | "when",
  within: Path,
  shared: Pick<TestSide, "vars" | "env">,
): TestSide | undefined {
  const value = test[key];
  const path = [...within, key];
  if (value === undefined || value === null || value === "nothing") return undefined;
  if (typeof value === "string") return { files: [value], ...shared };
  if (Array.isArray(value)) return { files: reader.texts(test, key, within) ?? [], ...shared };
  if (!isMap(value))
    return reader.wrong(path, value, "a file, a list of files, nothing, or { files, inline, set, vars }");
  reader.keys(value, path, keysOf.side);
  const [inline, set] = [reader.map(value, "inline", path), reader.map(value, "set", path)];
  const env = typeof value["env"] === "string" ? { env: value["env"] } : {};
  return {
    files: reader.texts(value, "files", path) ?? (inline === undefined ? ["reconcile.yaml"] : []),
    ...(inline === undefined ? {} : { inline }),
    ...(set === undefined ? {} : { set }),
    ...shared,
    ...env,
    vars: { ...shared.vars, ...reader.textMap(value, "vars", path) },
  };
}

const verdicts = ["holds", "unproven", "violated"] as const;

function readExpected(reader: Reader, test: YamlMap, within: Path): Expected {
  const value = reader.map(test, "expect", within) ?? {};
  const path = [...within, "expect"];
  reader.keys(value, path, keysOf.expect);
  const changes = reader.textMap(value, "changes", path);
  const [steps, consents, findings] = (["steps", "consents", "findings"] as const).map((key) =>
    reader.texts(value, key, path),
  );
  const outputs = reader.map(value, "outputs", path);
  const verdict = value["reachability"];
  const reachability = verdicts.find((known) => known === verdict);
  if (verdict !== undefined && reachability === undefined)
    reader.wrong([...path, "reachability"], verdict, `one of ${verdicts.join(", ")}`);
  const exitCode = value["exit_code"];
  if (exitCode !== undefined && typeof exitCode !== "number")
    reader.wrong([...path, "exit_code"], exitCode, "0, 1 or 3");
  const converges = value["converges"];
  if (converges !== undefined && typeof converges !== "boolean")
    reader.wrong([...path, "converges"], converges, "true or false");
  return {
    ...(changes === undefined ? {} : { changes }),
    ...(steps === undefined ? {} : { steps }),
    ...(consents === undefined ? {} : { consents }),
    ...(findings === undefined ? {} : { findings }),
    ...(outputs === undefined
      ? {}
      : {
          outputs: Object.fromEntries(
            Object.entries(outputs).flatMap(([name, one]) => (isJson(one) ? [[name, one]] : [])),
          ),
        }),
    ...(reachability === undefined ? {} : { reachability }),
    ...(typeof exitCode === "number" ? { exitCode } : {}),
    ...(typeof converges === "boolean" ? { converges } : {}),
  };
}

const isJson = (value: unknown): value is Json =>
  value === null || ["string", "number", "boolean", "object"].includes(typeof value);

/** The sources of a side: its files, with what is set over the first of them. */
export function sourcesOf(side: TestSide, read: (path: string) => ConfigSource): ConfigSource[] {
  const files = side.files.map(read);
  const written = side.inline === undefined ? [] : [{ file: "inline", text: JSON.stringify(side.inline) }];
  const all = [...files, ...written];
  const [first, ...more] = all;
  if (side.set === undefined || first === undefined) return all;
  const { root } = readYaml(first, collectProblems());
  return [{ file: first.file, text: JSON.stringify(mergeOver(root, side.set)) }, ...more];
}

/** Maps go key by key, `null` takes a key away, anything else is put in its place. */
function mergeOver(base: unknown, set: unknown): unknown {
  if (!isMap(base) || !isMap(set)) return set;
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(set))
    if (value === null) delete merged[key];
    else merged[key] = mergeOver(merged[key], value);
  return merged;
}

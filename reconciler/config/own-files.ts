/**
 * Reads a file that is meant to be of this program, and shows nothing of one that is not: a file may name any other
 * file of the machine as its component or its variables, and the message goes to whoever proposed it.
 */

import type { DiagnosticCode } from "../core/model/diagnostic-code";
import { type Advice, toSay } from "../core/model/fix";
import { listed } from "../core/text/list-text";
import { nearestName } from "../core/text/nearest";
import { type ConfigCode, heldProblems, type Problem, type Problems } from "./problems";
import { type ConfigSource, isMap, type YamlFile } from "./yaml/file";
import { readYaml } from "./yaml/reader";

export interface ExpectedFile<C extends DiagnosticCode = ConfigCode> {
  /** What the file is meant to be: `component`. */
  readonly what: string;
  readonly code: C;
  /** One of these, or a misspelling of one, stands at its top. */
  readonly keys: readonly string[];
  readonly detail?: string;
  readonly fix?: Advice;
}

export const readOwnYaml = (source: ConfigSource, problems: Problems, expected: ExpectedFile): YamlFile =>
  readIfOurs(source, problems, expected, (problem) => problems.add(problem));

/** `refuse` is told of a file that is not of this program. */
export function readIfOurs<C extends DiagnosticCode>(
  source: ConfigSource,
  problems: Problems,
  expected: ExpectedFile<C>,
  refuse: (problem: Problem & { readonly code: C }) => void,
): YamlFile {
  const inside = heldProblems();
  const file = readYaml(source, inside);
  const { held } = inside;
  const other = otherFile(file, expected.keys);
  if (other === undefined && isOurs(file, expected.keys, held.length > 0)) {
    for (const problem of held) problems.add(problem);
    return file;
  }
  const { what, code, keys, detail, fix } = expected;
  const nothing: YamlFile = { file: source.file, text: "", root: undefined, isIncomplete: true };
  refuse({
    code,
    summary: `the file is no ${what}`,
    detail:
      other?.says ??
      detail ??
      `none of the keys of one stands at its top (${listed(keys, 6)}), so nothing of it is shown`,
    fix: held.some((problem) => problem.code === "config/encoding")
      ? "the file is not UTF-8 text: save it as UTF-8"
      : (other?.fix?.(source.file) ?? fix),
    at: { source: nothing, offset: 0 },
    withoutExcerpt: true,
  });
  return nothing;
}

/** A file of ours that is meant for something else, and what that is. */
function otherFile({ root }: YamlFile, keys: readonly string[]): OtherFile | undefined {
  if (!isMap(root)) return undefined;
  const isComponent = root["component"] === 1 && !keys.includes("component");
  return isComponent ? componentFile : ownFormats.get(root["format"]);
}

interface OtherFile {
  readonly says: string;
  fix?(file: string): Advice;
}
const planFile: OtherFile = {
  says: "it is a saved plan, which is shown and applied without other files",
  fix: (file) => [
    toSay(
      [["show", file], " shows it, ", ["apply", file], " carries it out"],
      "name a file that begins with version: 1",
    ),
  ],
};
const ownFormats = new Map<unknown, OtherFile>([
  ["reconcile-cloud/plan", planFile],
  ["reconcile-cloud/state", { says: "it is a state, which --state names" }],
]);
const componentFile: OtherFile = {
  says: "it is a component, which a file of desired state uses with components: { KEY: { from: … } }",
  fix: () => "where a folder is read, move it into one of its own, such as components/, and correct from:",
};

/** Whether a file shows by a key at its top that it is of this program. An empty one has nothing to show. */
function isOurs({ root, text }: YamlFile, keys: readonly string[], isBroken: boolean): boolean {
  if (isMap(root)) {
    const written = Object.keys(root);
    return written.length === 0 || written.some((key) => isKeyKnown(key, keys));
  }
  if (!isBroken) return root === undefined || root === null;
  // A file that cannot be read as YAML is known by how its lines begin.
  return [...text.matchAll(/^(?:\{\s*)?["']?([A-Za-z_-]+)["']?\s*:/gm)].some(([, key = ""]) => isKeyKnown(key, keys));
}

const isKeyKnown = (key: string, keys: readonly string[]): boolean =>
  keys.includes(key) || key.startsWith("x-") || nearestName(key, keys) !== undefined;

/** The keys that a schema knows at the top, as its validator names them. */
export function topKeys(
  problemsOf: (value: unknown) => readonly { readonly params: Readonly<Record<string, unknown>> }[],
): readonly string[] {
  const named = problemsOf({ "\u0000": null }).flatMap(({ params: { knownKeys } }) =>
    Array.isArray(knownKeys) ? [knownKeys] : [],
  );
  return (named[0] ?? []).map(String);
}

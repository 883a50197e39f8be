/**
 * Reads a user's dialect (a file's text, or the value written inside the desired state) over the built-in one. All
 * problems are collected, each at its place; with an error among them the built-in dialect comes back.
 */
import type { ErrorObject } from "ajv";
import { validate } from "../config/generated/dialect";
import { asDiagnostic, collectProblems, type Problem } from "../config/problems";
import { schemaProblems } from "../config/schema-problems";
import { offsetAt, type Path, type YamlFile } from "../config/yaml-file";
import { readYaml } from "../config/yaml-reader";
import { type Diagnostic, hasErrors, type SourcePosition, sortDiagnostics } from "../core/model/diagnostic";
import { assumedOperations, documentedOperations, idsOf } from "../core/model/operation";
import { builtInDialect } from "./built-in";
import type { Dialect } from "./dialect";
import { mergeDialect, type PartialDialect } from "./merge-dialect";
import { own } from "./messages";

export interface ReadDialect {
  readonly dialect: Dialect;
  /** Sorted. */
  readonly diagnostics: readonly Diagnostic[];
}

/** `file` is what diagnostics call the text; nothing is opened here. */
export function readDialectText(text: string, file: string): ReadDialect {
  const problems = collectProblems();
  const read = readYaml({ file, text }, problems);
  if (hasErrors(problems.diagnostics))
    return { dialect: builtInDialect, diagnostics: sortDiagnostics(problems.diagnostics) };
  return readValue(read, problems.diagnostics);
}

/**
 * A dialect written inside another file: the value as the YAML reader gave it, and where it stands. With that file's
 * text every problem is shown at its own line, without it at `source`.
 */
export function readInlineDialect(value: unknown, source: SourcePosition, text?: string): ReadDialect {
  const read = readValue({ file: source.file, text: text ?? "", root: value }, []);
  if (text !== undefined) return read;
  return { ...read, diagnostics: read.diagnostics.map((diagnostic) => ({ ...diagnostic, source })) };
}

function readValue(file: YamlFile, before: readonly Diagnostic[]): ReadDialect {
  const given = (file.root ?? {}) as PartialDialect;
  const problems: Problem[] = documentedProblems(file);
  if (!validate(given)) {
    const errors = ((validate as { errors?: readonly ErrorObject[] | null }).errors ?? []).filter(
      (error) => !isDocumented(error),
    );
    problems.push(...schemaProblems(file, errors, { area: "dialect", patterns: patternWords }, given));
  }
  if (problems.length === 0)
    problems.push(...placeholderProblems(file, given), ...stateProblems(file, given), ...errorProblems(file, given));
  return {
    // The copy leaves the places behind, which the reader keeps beside the values.
    dialect: problems.length === 0 ? mergeDialect(structuredClone(given)) : builtInDialect,
    diagnostics: sortDiagnostics([...before, ...problems.map(asDiagnostic)]),
  };
}

/** What text that fits a pattern of the schema is called; a test compares the two. */
export const patternWords: Readonly<Record<string, string>> = {
  "^(/([^~/]|~[01])*)*$": "a JSON pointer: empty, or beginning with /",
  "^/[!-~]*$": "a path that begins with /, without spaces",
  "^[A-Za-z0-9_.\\[\\]-]+$": "the name of a query parameter",
  "^[A-Za-z0-9-]+$": "the name of a header",
  "^((/([^~/]|~[01])*)+|[A-Za-z0-9-]+)$": "a JSON pointer that begins with /, or the name of a header",
  "^[^{}]*\\{min\\}[^{}]*\\{max\\}[^{}]*$": "text with {min} and then {max}, such as {min}-{max}",
  "^[ -z|~{}]*\\{token\\}[ -z|~{}]*$": "one line with {token}, such as Bearer {token}",
};

const placeOf = (file: YamlFile, path: Path, on: "key" | "value") => ({
  source: file,
  offset: offsetAt(file.root, path, on).offset,
});

/** Documented operations have a problem of their own, which says more than that the key is not known. */
const isDocumented = (error: ErrorObject): boolean =>
  error.instancePath === "/operations" &&
  error.keyword === "additionalProperties" &&
  (documentedOperations as readonly string[]).includes(String(error.params["additionalProperty"]));

const documentedProblems = (file: YamlFile): Problem[] =>
  documentedOperations
    .filter((operation) => own(own(file.root, "operations"), operation) !== undefined)
    .map((operation) => ({
      code: "dialect/documented-operation",
      summary: `${operation} is part of the service's contract and cannot be changed or switched off`,
      fix: "Take the line out. The dialect is for what the contract leaves open.",
      at: placeOf(file, ["operations", operation], "key"),
    }));

function placeholderProblems(file: YamlFile, { operations = {} }: PartialDialect): Problem[] {
  return assumedOperations.flatMap((operation) => {
    const route = operations[operation] ?? null;
    const found: readonly string[] = route?.path.match(/\{[^{}]*\}/g) ?? [];
    const wanted = idsOf(operation).map((name) => `{${name}}`);
    if (route === null || (found.length === wanted.length && wanted.every((name) => found.includes(name)))) return [];
    return [
      {
        code: "dialect/placeholder",
        summary: `The path of ${operation} must hold ${wanted.length === 0 ? "no placeholder" : `${wanted.join(" and ")} once`}`,
        detail: `It holds ${found.length === 0 ? "none" : found.join(", ")}.`,
        at: placeOf(file, ["operations", operation, "path"], "value"),
      },
    ];
  });
}

function stateProblems(file: YamlFile, { states }: PartialDialect): Problem[] {
  return (["vm", "volume"] as const).flatMap((kind) => {
    const meanings = new Map<string, string>();
    const problems: Problem[] = [];
    for (const [phase, words] of Object.entries(states?.[kind] ?? {}))
      words.forEach((word, index) => {
        const other = meanings.get(word);
        if (other !== undefined && other !== phase)
          problems.push({
            code: "dialect/state-twice",
            summary: `The ${kind === "vm" ? "VM" : "volume"} state ${word} is given two meanings, ${other} and ${phase}`,
            at: placeOf(file, ["states", kind, phase, index], "value"),
          });
        meanings.set(word, phase);
      });
    return problems;
  });
}

/** A rule without either would take every refusal for the one it names. */
function errorProblems(file: YamlFile, { errors = [] }: PartialDialect): Problem[] {
  return errors.flatMap((rule, index) =>
    rule.status !== undefined || rule.message !== undefined
      ? []
      : [
          {
            code: "dialect/error-rule",
            summary: `The error rule for ${rule.is} has neither a status nor a message`,
            fix: "add status: 409, or message: words that the service uses",
            at: placeOf(file, ["errors", index], "value"),
          },
        ],
  );
}

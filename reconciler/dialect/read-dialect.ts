/**
 * Reads a user's dialect (a file's text, or the value written inside another file) over the built-in one. All problems
 * are collected, each at its place; with an error among them the built-in dialect comes back.
 */
import type { ErrorObject } from "ajv";
import { isMap, isScalar, LineCounter, type Node, parseDocument } from "yaml";
import { schema, validate } from "../config/generated/dialect";
import { type Diagnostic, hasErrors, sortDiagnostics } from "../core/model/diagnostic";
import { documentedOperations } from "../core/model/operation";
import { builtInDialect } from "./built-in";
import type { Dialect } from "./dialect";
import { mergeDialect, type PartialDialect } from "./merge-dialect";
import { own } from "./messages";
import { type Locate, type Path, schemaFindings } from "./schema-findings";

export interface ReadDialect {
  readonly dialect: Dialect;
  readonly diagnostics: readonly Diagnostic[];
}

const largestText = 1024 * 1024;

/** `file` is what diagnostics call the text; nothing is opened here. */
export function readDialectText(text: string, file: string): ReadDialect {
  if (text.length > largestText) return refused("dialect/syntax", "The dialect is larger than 1 MiB", file, 1);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, merge: false });
  const place = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return { source: { file, line, column: col }, excerpt: text.split(/\r?\n/, line)[line - 1] ?? "" };
  };
  if (document.errors.length > 0)
    return {
      dialect: builtInDialect,
      diagnostics: document.errors.map((error) => ({
        severity: "error",
        code: "dialect/syntax",
        summary: "The dialect is not valid YAML",
        detail: error.message,
        ...place(error.pos[0]),
      })),
    };
  const locate: Locate = (path, of) => {
    const offset = offsetOf(document.contents, path, of);
    return offset === undefined ? undefined : place(offset);
  };
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 100 });
  } catch {
    // Aliases that unfold beyond all measure are the one thing that parses and has no value.
    return refused("dialect/syntax", "The dialect's YAML aliases unfold to too much", file, 1);
  }
  return readDialectValue(value ?? {}, locate);
}

/** A dialect that is a value already, such as one written inside the desired state. */
export function readDialectValue(value: unknown, locate: Locate): ReadDialect {
  const diagnostics: Diagnostic[] = [];
  const check = validate as { (value: unknown): boolean; errors?: ErrorObject[] | null };
  if (!check(value)) {
    const errors = (check.errors ?? []).filter((error) => !isDocumented(error));
    diagnostics.push(...schemaFindings(errors, schema, value, locate));
  }
  diagnostics.push(...documentedFindings(value, locate));
  if (hasErrors(diagnostics)) return { dialect: builtInDialect, diagnostics: sortDiagnostics(diagnostics) };
  const given = value as PartialDialect;
  diagnostics.push(...placeholderFindings(given, locate), ...stateFindings(given, locate));
  return {
    dialect: hasErrors(diagnostics) ? builtInDialect : mergeDialect(given),
    diagnostics: sortDiagnostics(diagnostics),
  };
}

/** Documented operations have their own finding, which says more than that the key is not known. */
const isDocumented = (error: ErrorObject): boolean =>
  error.instancePath === "/operations" &&
  error.keyword === "additionalProperties" &&
  (documentedOperations as readonly string[]).includes(String(error.params["additionalProperty"]));

const documentedFindings = (value: unknown, locate: Locate): Diagnostic[] =>
  documentedOperations
    .filter((operation) => own(own(value, "operations"), operation) !== undefined)
    .map((operation) => ({
      severity: "error",
      code: "dialect/documented-operation",
      summary: `${operation} is part of the service's contract and cannot be changed or switched off`,
      fix: "Take the line out. The dialect is for what the contract leaves open.",
      ...locate(["operations", operation], "key"),
    }));

/** The ids that an operation's path must carry; a list carries none. */
function placeholdersOf(operation: string): readonly string[] {
  if (operation.endsWith(".list")) return [];
  return operation === "group.rule.delete" ? ["{id}", "{rule_id}"] : ["{id}"];
}

function placeholderFindings({ operations = {} }: PartialDialect, locate: Locate): Diagnostic[] {
  return Object.entries(operations).flatMap(([operation, route]) => {
    const found: readonly string[] = route?.path.match(/\{[^{}]*\}/g) ?? [];
    const wanted = placeholdersOf(operation);
    if (route === null || (found.length === wanted.length && wanted.every((name) => found.includes(name)))) return [];
    return [
      {
        severity: "error",
        code: "dialect/placeholder",
        summary: `The path of ${operation} must hold ${wanted.length === 0 ? "no placeholder" : `${wanted.join(" and ")} once`}`,
        detail: `It holds ${found.length === 0 ? "none" : found.join(", ")}.`,
        ...locate(["operations", operation, "path"], "value"),
      } as const,
    ];
  });
}

function stateFindings({ states }: PartialDialect, locate: Locate): Diagnostic[] {
  const meanings = new Map<string, string>();
  const diagnostics: Diagnostic[] = [];
  for (const [phase, words] of Object.entries(states?.vm ?? {}))
    words.forEach((word, index) => {
      const other = meanings.get(word);
      if (other !== undefined && other !== phase)
        diagnostics.push({
          severity: "error",
          code: "dialect/state-twice",
          summary: `The VM state ${word} is given two meanings, ${other} and ${phase}`,
          ...locate(["states", "vm", phase, index], "value"),
        });
      meanings.set(word, phase);
    });
  return diagnostics;
}

function offsetOf(root: Node | null, path: Path, of: "key" | "value"): number | undefined {
  let node: unknown = root;
  for (const [index, step] of path.entries()) {
    const isLast = index === path.length - 1;
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => (isScalar(key) ? String(key.value) : undefined) === String(step));
      if (pair === undefined) return undefined;
      node = isLast && of === "key" ? pair.key : (pair.value ?? pair.key);
    } else {
      node = (node as { items?: unknown[] } | undefined)?.items?.[Number(step)];
    }
  }
  return (node as Node | undefined)?.range?.[0] ?? undefined;
}

const refused = (code: string, summary: string, file: string, line: number): ReadDialect => ({
  dialect: builtInDialect,
  diagnostics: [{ severity: "error", code, summary, source: { file, line } }],
});

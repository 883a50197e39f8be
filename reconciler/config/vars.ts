/**
 * The variables of the files and what they are worth: --var, then --var-file (the later file first), then the
 * environment, then the default.
 */
import { nearestName } from "../core/text/nearest";
import { addNumberProblems, listed, type Problems, shown } from "./problems";
import { type ConfigSource, isMap, keyOffset, offsetAt, type Place, type YamlFile } from "./yaml-file";
import { readYaml } from "./yaml-reader";

export interface ReadOptions {
  /** --var */
  readonly vars?: Readonly<Record<string, string>>;
  /** --var-file: a map, as YAML or JSON. */
  readonly varFiles?: readonly ConfigSource[];
  /** RECONCILE_VAR_*, already without the prefix. */
  readonly environment?: Readonly<Record<string, string>>;
}

export interface VarDeclaration {
  readonly name: string;
  readonly declared: unknown;
  readonly source: YamlFile;
}

export function readVars(
  declarations: ReadonlyMap<string, VarDeclaration>,
  options: ReadOptions,
  problems: Problems,
): Map<string, unknown> {
  const given = new Map<string, unknown>();
  for (const [name, value] of Object.entries(options.environment ?? {})) given.set(name, value);
  for (const source of options.varFiles ?? []) readVarFile(source, declarations, given, problems);
  for (const [name, value] of Object.entries(options.vars ?? {})) {
    given.set(name, value);
    if (declarations.has(name)) continue;
    const nearest = nearestName(name, declarations.keys());
    problems.add({
      code: "config/unknown-variable",
      summary: `--var ${name} sets a variable that is not declared`,
      detail: declarations.size === 0 ? "no variables are declared" : `declared: ${listed([...declarations.keys()])}`,
      fix: nearest === undefined ? `declare it: vars: { ${name}: {} }` : `write --var ${nearest}=…`,
    });
  }
  const values = new Map<string, unknown>();
  for (const declaration of declarations.values())
    values.set(declaration.name, resolveVar(declaration, given, problems));
  return values;
}

function readVarFile(
  source: ConfigSource,
  declarations: ReadonlyMap<string, VarDeclaration>,
  given: Map<string, unknown>,
  problems: Problems,
): void {
  const file = readYaml(source, problems);
  addNumberProblems(file, problems);
  if (file.root === undefined) return;
  if (!isMap(file.root)) {
    problems.add({
      code: "config/wrong-type",
      summary: `a variable file cannot be ${shown(file.root)}`,
      detail: "expected a map of names to values",
      at: { source: file, offset: 0 },
    });
    return;
  }
  for (const [name, value] of Object.entries(file.root)) {
    given.set(name, value);
    if (declarations.has(name)) continue;
    const nearest = nearestName(name, declarations.keys());
    problems.add({
      code: "config/unknown-variable",
      severity: "warning",
      summary: `the variable ${name} is not declared`,
      fix: nearest === undefined ? undefined : `write ${nearest}`,
      at: { source: file, offset: keyOffset(file.root, name) ?? 0 },
    });
  }
}

/** `undefined` when it has none: what uses it then says nothing more. */
function resolveVar(
  { name, declared, source }: VarDeclaration,
  given: Map<string, unknown>,
  problems: Problems,
): unknown {
  const at = (path: readonly string[]): Place => ({
    source,
    offset: offsetAt(source.root, ["vars", name, ...path], "key").offset,
  });
  const own = given.get(name);
  if (own !== undefined && own !== null) return own;
  const fallback = isMap(declared) && Object.hasOwn(declared, "default") ? declared["default"] : undefined;
  if (fallback === undefined || fallback === null) {
    if (declared === null || isMap(declared))
      problems.add({
        code: "config/variable-without-value",
        summary: `the variable ${name} has no value and no default`,
        fix: `give --var ${name}=…, or set RECONCILE_VAR_${name}, or write a default`,
        at: at([]),
      });
    return undefined;
  }
  if (JSON.stringify(fallback).includes("${"))
    problems.add({
      code: "config/interpolation",
      summary: `the default of the variable ${name} holds an interpolation`,
      detail: "a default is taken as it stands",
      at: at(["default"]),
    });
  return fallback;
}

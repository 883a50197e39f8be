/**
 * The variables of the files and what they are worth: --var, then --var-file (the later file first), then
 * RECONCILE_VAR_*, then what the chosen environment says, then the default, which may use other variables.
 */

import { type Advice, toSay } from "../core/model/fix";
import { listed } from "../core/text/list-text";
import { nearestName, nearestText } from "../core/text/nearest";
import { plainValuesIn } from "../core/text/objects";
import { printable } from "../core/text/printable";
import { interpolate, type VariableValues } from "./interpolation";
import { holdsForeignMark } from "./open-text";
import { readOwnYaml } from "./own-files";
import { addNumberProblems, type Problems, type WrittenSecret } from "./problems";
import { type Declaration, type Fitted, fitToType, readDeclaration, reportMisfit } from "./typed-values";
import {
  type ConfigSource,
  isMap,
  keyOffset,
  offsetOfPath,
  type Path,
  type Place,
  valueAt,
  type YamlFile,
  placeOf as yamlPlaceOf,
} from "./yaml/file";

/** Values that are given from outside the files. */
export interface GivenVars {
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

/** A value that the files give to a variable, with its place. */
export interface GivenValue {
  readonly value: unknown;
  readonly at?: Place;
  /** For a value that is in no file: how it was given, such as `--var tier`. */
  readonly from?: string;
  readonly isText: boolean;
  /** The value may use other variables. */
  readonly isTemplate: boolean;
  /** The value contains a sensitive one. */
  readonly isSensitive?: boolean;
  /** The value could not be determined, which is reported. */
  readonly isBroken?: boolean;
  /** The place of a part of the value. */
  readonly within?: (path: Path) => Place;
}

export function readVars(
  declarations: ReadonlyMap<string, VarDeclaration>,
  options: GivenVars,
  problems: Problems,
  hide: (secrets: SensitiveTexts) => void,
  below: ReadonlyMap<string, GivenValue> = new Map(),
  environment?: string,
): VariableValues {
  const given = new Map<string, GivenValue>(below);
  for (const [name, value] of Object.entries(options.environment ?? {})) {
    given.set(name, { value, from: `RECONCILE_VAR_${name}`, isText: true, isTemplate: false });
    // Other projects of the same shell have variables of their own; one that is nearly ours is a slip.
    const nearest = declarations.has(name) ? undefined : nearestName(name, declarations.keys());
    if (nearest === undefined || Object.hasOwn(options.environment ?? {}, nearest)) continue;
    problems.add({
      code: "config/unknown-variable",
      severity: "warning",
      summary: `RECONCILE_VAR_${name} sets a variable that is not declared`,
      fix: `write RECONCILE_VAR_${nearest}`,
    });
  }
  for (const source of options.varFiles ?? [])
    for (const [name, value] of readVarFile(source, declarations, problems)) given.set(name, value);
  for (const [name, value] of Object.entries(options.vars ?? {})) {
    given.set(name, { value, from: `--var ${name}`, isText: true, isTemplate: false });
    if (declarations.has(name)) continue;
    const near = nearestName(name, declarations.keys());
    problems.add({
      code: "config/unknown-variable",
      summary: `--var ${name} sets a variable that is not declared`,
      detail: declarations.size === 0 ? "no variables are declared" : `declared: ${listed([...declarations.keys()])}`,
      fix:
        near === undefined
          ? `declare it: vars: { ${name}: {} }`
          : [toSay([printable(`write --var ${near}=…`)], `write ${printable(near)} among the vars`)],
    });
  }
  // The tests of a file read no environment.
  const orSet = (name: string): string => (options.environment === undefined ? "" : `, or set RECONCILE_VAR_${name}`);
  return resolveVars(
    {
      what: "variable",
      root: "var",
      section: "vars",
      hint: (name) => [
        toSay(
          [printable(`give --var ${name}=…${orSet(name)}, or write a default`)],
          `give vars: { ${printable(name)}: … }, or write a default`,
        ),
      ],
    },
    [...declarations.values()],
    given,
    { environment },
    problems,
    hide,
  );
}

/** The words of messages: variables of a file, parameters of a component. */
export interface DeclaredAs {
  readonly what: "variable" | "parameter";
  readonly root: "var" | "param";
  readonly section: "vars" | "parameters";
  /** How to give a value to a variable that has none. */
  readonly hint: (name: string) => Advice;
  /** The place where a missing value has to be given. Left out: the declaration's place. */
  readonly use?: Place;
}

const defaultOf = ({ declared }: Pick<VarDeclaration, "declared">): unknown =>
  isMap(declared) && Object.hasOwn(declared, "default") ? declared["default"] : undefined;

/**
 * Each variable gets its value when it is first asked for, so that defaults can use each other in any order. In the end
 * all have one.
 */
export function resolveVars(
  as: DeclaredAs,
  declarations: readonly VarDeclaration[],
  given: ReadonlyMap<string, GivenValue>,
  names: { readonly environment?: string; readonly componentKey?: string },
  problems: Problems,
  hide: (secrets: SensitiveTexts) => void,
): VariableValues {
  const declared = new Map(declarations.map((each) => [each.name, each] as const));
  const types = new Map<string, Declaration>();
  const values = new Map<string, unknown>();
  const sensitive = new Set<string>();
  const open: string[] = [];
  const placeOf = ({ name, source }: VarDeclaration, path: Path, on: "key" | "value" = "key"): Place => ({
    source,
    offset: offsetOfPath(source.root, [as.section, name, ...path], on).offset,
  });
  const resolver: VariableValues = {
    has: (name) => declared.has(name),
    keys: () => declared.keys(),
    isSensitive: (name) => sensitive.has(name),
    origin(name) {
      const declaration = declared.get(name);
      const own = given.get(name);
      if (isPresent(own?.value)) return own?.from ?? own?.at;
      return declaration === undefined ? undefined : placeOf(declaration, ["default"], "value");
    },
    get(name) {
      if (values.has(name)) return values.get(name);
      const declaration = declared.get(name);
      if (declaration === undefined) return undefined;
      const circle = open.indexOf(name);
      if (circle !== -1) {
        reportCircle(as, [...open.slice(circle), name], placeOf(declaration, ["default"], "value"), problems);
        for (const each of open.slice(circle)) values.set(each, undefined);
        return undefined;
      }
      if (open.length >= deepestUse) {
        const at = placeOf(declaration, ["default"], "value");
        problems.add({ ...tooMuch(as, name, `is used by ${deepestUse} others, one through the other`), at });
        values.set(name, undefined);
        return undefined;
      }
      open.push(name);
      const value = work(declaration);
      open.pop();
      // A circle that was found meanwhile is reported already.
      if (!values.has(name)) values.set(name, value);
      return values.get(name);
    },
  };
  const scope = {
    vars: resolver,
    environment: names.environment,
    component: names.componentKey === undefined ? undefined : { key: names.componentKey, params: resolver },
  };
  // The sources of a value one after the other, the strongest first.
  const work = (declaration: VarDeclaration): unknown => {
    const { name } = declaration;
    const type = types.get(name) ?? { sensitive: false };
    const fallback = defaultOf(declaration);
    const own = given.get(name);
    if (own?.isBroken === true) return undefined;
    if (own?.isSensitive === true) sensitive.add(name);
    const isOwn = own !== undefined && isPresent(own.value);
    if (!isOwn && (fallback === undefined || fallback === null)) {
      if (declaration.declared === null || isMap(declaration.declared))
        problems.add({
          code: "config/variable-without-value",
          summary: `the ${as.what} ${name} has no value and no default`,
          fix: as.hint(name),
          at: as.use ?? placeOf(declaration, []),
        });
      return undefined;
    }
    const found: GivenValue = isOwn
      ? own
      : {
          value: fallback,
          at: placeOf(declaration, ["default"]),
          isText: false,
          isTemplate: true,
          within: (path) => placeOf(declaration, ["default", ...path], "value"),
        };
    const worth = worthOf(found, () => sensitive.add(name));
    if (worth === undefined) return undefined;
    const { size, depth } = extentOf(worth);
    if (size > mostValues || depth > deepestUse) {
      const what = size > mostValues ? `stands for more than ${mostValues} values` : "is nested too deeply";
      return problems.add({ ...tooMuch(as, name, what), at: found.at });
    }
    const fitted: Fitted =
      found.isText && holdsForeignMark(String(worth))
        ? {
            misfit: { code: "config/invalid-value", path: [], value: worth, expected: "text without U+FDD0 to U+FDD3" },
          }
        : fitToType(worth, type, found.isText, fallback);
    if ("value" in fitted) return fitted.value;
    const at = found.within?.(fitted.misfit.path) ?? found.at;
    reportMisfit(fitted.misfit, `the ${as.what} ${name}`, type, { at, from: found.from }, problems);
    return undefined;
  };
  const worthOf = (found: GivenValue, onSensitive: () => void): unknown =>
    found.isTemplate
      ? interpolate(found.value, { ...scope, onSensitive }, (problem, path) =>
          problems.add({ ...problem, at: found.within?.(path) ?? found.at }),
        )
      : found.value;
  for (const declaration of declarations) {
    const type = readDeclaration(declaration.declared, (path) => placeOf(declaration, path), problems);
    types.set(declaration.name, type);
    if (type.sensitive) sensitive.add(declaration.name);
  }
  for (const { name } of declarations) resolver.get(name);
  if (sensitive.size > 0)
    hide({
      texts: sensitiveTexts(resolver),
      written: declarations.flatMap((declaration) => {
        const { name } = declaration;
        if (types.get(name)?.sensitive !== true) return [];
        const { value, within } = given.get(name) ?? {};
        return [...writtenDefault(as.section, declaration), ...(within === undefined ? [] : textsAt(value, within))];
      }),
    });
  return resolver;
}

export const isPresent = (value: unknown): boolean => value !== undefined && value !== null;

/** How far variables may use each other, or components what others hand out: further than any file that means something. */
export const deepestUse = 100;
/** How many values one variable may stand for, and all outputs together. */
export const mostValues = 1_000_000;

const tooMuch = ({ what }: DeclaredAs, name: string, problem: string) =>
  ({
    code: "config/too-large",
    summary: `the ${what} ${name} ${problem}`,
    detail: "values are put together from others that use each other, and each makes them longer",
    fix: "write the value out",
  }) as const;

interface Extent {
  readonly size: number;
  readonly depth: number;
}

/** Variables share the lists that they use: each is walked once. */
const extents = new WeakMap<object, Extent>();

export function extentOf(value: unknown): Extent {
  if (typeof value !== "object" || value === null) return { size: 1, depth: 0 };
  const known = extents.get(value);
  if (known !== undefined) return known;
  let [size, depth] = [1, 0];
  for (const inner of Object.values(value)) {
    const extent = extentOf(inner);
    size += extent.size;
    depth = Math.max(depth, extent.depth);
  }
  const found = { size, depth: depth + 1 };
  extents.set(value, found);
  return found;
}

function reportCircle({ what, root }: DeclaredAs, names: readonly string[], at: Place, problems: Problems): void {
  problems.add({
    code: "config/variable-circle",
    summary: `the ${what} ${names[0]} is made of itself`,
    detail: names.map((name) => `${root}.${name}`).join(" -> "),
    fix: "give one of them a value that uses none of the others",
    at,
  });
}

const textsIn = (value: unknown): string[] =>
  plainValuesIn(value).flatMap((one) => (typeof one === "string" || typeof one === "number" ? [String(one)] : []));

/** The texts of sensitive values, which no output may show, and where the files give them. */
export interface SensitiveTexts {
  readonly texts: readonly string[];
  readonly written: readonly WrittenSecret[];
}

const sensitiveTexts = (vars: VariableValues): string[] => [
  ...new Set([...vars.keys()].flatMap((name) => (vars.isSensitive?.(name) === true ? textsIn(vars.get(name)) : []))),
];

const textsAt = (value: unknown, place: (path: Path) => Place, path: Path = []): WrittenSecret[] =>
  typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([key, inner]) => textsAt(inner, place, [...path, key]))
    : textsIn(value).map((text) => ({ at: place(path), text }));

const writtenDefault = (section: DeclaredAs["section"], { name, declared, source }: VarDeclaration): WrittenSecret[] =>
  textsAt(defaultOf({ declared }), (path) => yamlPlaceOf(source, [section, name, "default", ...path], "value"));

/** What the files give to sensitive variables, in every environment: a line of them that is shown may hold it. */
export const writtenSecrets = (
  vars: Iterable<VarDeclaration>,
  environments: readonly { readonly key: string; readonly value: unknown; readonly source: YamlFile }[],
): WrittenSecret[] =>
  [...vars].flatMap((each) => {
    const { name, declared } = each;
    if (!isMap(declared) || declared["sensitive"] !== true) return [];
    const inEnvironments = environments.flatMap(({ key, value, source }) =>
      textsAt(valueAt(value, ["vars", name]), (path) =>
        yamlPlaceOf(source, ["environments", key, "vars", name, ...path], "value"),
      ),
    );
    return [...writtenDefault("vars", each), ...inEnvironments];
  });

export function readVarFile(
  source: ConfigSource,
  declarations: ReadonlyMap<string, VarDeclaration>,
  problems: Problems,
): Map<string, GivenValue> {
  const given = new Map<string, GivenValue>();
  const file = readOwnYaml(source, problems, {
    what: "file of variables",
    code: "config/wrong-type",
    keys: [...declarations.keys()],
    detail: "it is no map with the name of a declared variable in it, so nothing of it is shown",
    fix: "write NAME: VALUE for variables that vars: declares, or name another file",
  });
  addNumberProblems(file, problems);
  if (!isMap(file.root)) return given;
  for (const [name, value] of Object.entries(file.root)) {
    const within = (path: Path): Place => ({ source: file, offset: offsetOfPath(file.root, [name, ...path]).offset });
    // A name with nothing behind it leaves the value that is given otherwise.
    if (isPresent(value)) given.set(name, { value, at: within([]), within, isText: false, isTemplate: false });
    if (declarations.has(name)) continue;
    problems.add({
      code: "config/unknown-variable",
      severity: "warning",
      summary: `the variable ${name} is not declared`,
      fix: nearestText(name, declarations.keys(), (near) => `write ${near}`),
      at: { source: file, offset: keyOffset(file.root, name) ?? 0 },
    });
  }
  return given;
}

/**
 * What the references of a text are worth: `${var.x}`, `${each}`, `${each.value.field}`, `${env}`, and within a
 * component `${param.x}` and `${component}`; `$${` is a literal `${`. A text that is exactly one reference takes the
 * value as it is (a number stays a number, a list a list); within other text only single values can stand. `template.ts`
 * cuts the text; what only the service or another state knows is `Scope.elsewhere`'s.
 */

import { listed } from "../core/text/list-text";
import { nearestText } from "../core/text/nearest";
import { type Fields, fieldsIn } from "../core/text/objects";
import { withoutReference } from "./open-text";
import { shown } from "./problems";
import { type Expression, parseTemplate, type Root, type TemplateProblem, type TemplateStep } from "./template";
import { isMap, type Path, type Place, valueAt } from "./yaml/file";

export interface Each {
  readonly key: string;
  /** `undefined` for a list or a number, whose items have no value of their own. */
  readonly value?: unknown;
  readonly hasValue: boolean;
  /** The parts of the value that came from sensitive variables. */
  readonly secrets?: readonly SecretPart[] | undefined;
}

/** A part of a value that a sensitive variable gave. */
export interface SecretPart {
  readonly name: string;
  readonly path: Path;
}

/** The sensitive variable that gave a part of a value, or something in that part. */
export const secretIn = (secrets: readonly SecretPart[], part: readonly string[]): string | undefined =>
  secrets.find(({ path }) => path.every((step, at) => at >= part.length || String(step) === part[at]))?.name;

/** The same names, where what sensitive variables gave is kept. */
export function keepingSecrets(scope: InterpolationScope): { scope: InterpolationScope; secrets: SecretPart[] } {
  const secrets: SecretPart[] = [];
  return { scope: { ...scope, onSensitive: (name, path) => void secrets.push({ name, path: [...path] }) }, secrets };
}

/** Variables of a file, or parameters of a component. */
export interface VariableValues {
  has(name: string): boolean;
  /** `undefined`: the variable has no value, which is reported already. */
  get(name: string): unknown;
  keys(): IterableIterator<string>;
  isSensitive?(name: string): boolean;
  /** Where the value was written, or how it was given. */
  origin?(name: string): Place | string | undefined;
}

/** What a component knows of the place that uses it. */
export interface WithinComponent {
  /** The value of `${component}`, which makes the names of one use differ from those of another. */
  readonly key: string;
  readonly params: VariableValues;
}

export interface InterpolationScope {
  readonly vars: VariableValues;
  readonly each?: Each;
  /** The name of the environment, where one is chosen. */
  readonly environment?: string;
  readonly component?: WithinComponent;
  /** `undefined`: nothing is there, which was reported. */
  readonly elsewhere?: (expression: Expression, report: Report, scope: InterpolationScope) => unknown;
  /** Called with the place where a reference gave a map or a list. */
  readonly onShape?: (path: Path) => void;
  /** Called with the place where the value of a sensitive variable went. */
  readonly onSensitive?: (name: string, path: Path) => void;
}

export interface InterpolationProblem {
  readonly code: "config/interpolation" | "config/unknown-variable" | "config/unknown-reference";
  readonly summary: string;
  readonly detail?: string;
  readonly fix?: string;
}

export type Report = (problem: InterpolationProblem) => undefined;

export const unknownReference = (report: Report, problem: Omit<InterpolationProblem, "code">): undefined =>
  report({ code: "config/unknown-reference", ...problem });

export const storedInTheClear = (name: string, path: Path) =>
  ({
    code: "config/sensitive",
    summary: `the sensitive value ${name} would be stored in the clear`,
    detail: `${path.findLast((step) => typeof step === "string") ?? "this"} is kept in the state or by the service; a sensitive value may stand in lifecycle.verify_resize.check`,
    fix: "use another variable here, or take sensitive: true off its declaration",
  }) as const;

/** Called for each problem, with the path of the text. */
export type OnProblem = (problem: InterpolationProblem, path: readonly (string | number)[]) => undefined;

/**
 * The value with everything interpolated; what holds no interpolation is returned as it is, not copied.
 * A text that cannot be interpolated becomes `undefined` (it is reported, and nothing else about it should be).
 */
export function interpolate(
  value: unknown,
  scope: InterpolationScope,
  onProblem: OnProblem,
  path: (string | number)[] = [],
): unknown {
  if (typeof value === "string")
    return value.includes("${") ? interpolateText(value, scope, path, (problem) => onProblem(problem, path)) : value;
  if (typeof value !== "object" || value === null) return value;
  return Array.isArray(value)
    ? interpolateList(value, scope, onProblem, path)
    : interpolateMap(fieldsIn(value), scope, onProblem, path);
}

/** Whether something in it could not be interpolated, which is reported, or was not read yet. */
export const hasHole = (value: unknown): boolean =>
  value === undefined ||
  (Array.isArray(value) ? value.some(hasHole) : isMap(value) && Object.values(value).some(hasHole));

function interpolateList(
  list: readonly unknown[],
  scope: InterpolationScope,
  onProblem: OnProblem,
  path: (string | number)[],
) {
  let changed: unknown[] | undefined;
  for (let index = 0; index < list.length; index++) {
    path.push(index);
    const item = interpolate(list[index], scope, onProblem, path);
    path.pop();
    if (item !== list[index]) {
      changed ??= [...list];
      changed[index] = item;
    }
  }
  return changed ?? list;
}

function interpolateMap(map: Fields, scope: InterpolationScope, onProblem: OnProblem, path: (string | number)[]) {
  let changed: Record<string, unknown> | undefined;
  for (const key of Object.keys(map)) {
    path.push(key);
    const item = interpolate(map[key], scope, onProblem, path);
    path.pop();
    if (item !== map[key]) {
      changed ??= { ...map };
      changed[key] = item;
    }
  }
  return changed ?? map;
}

function interpolateText(text: string, scope: InterpolationScope, path: Path, report: Report): unknown {
  const { parts, whole, problems } = parseTemplate(text);
  for (const problem of problems) report(asProblem(problem, scope));
  if (whole !== undefined) {
    const value = evaluate(whole, scope, path, report);
    if (typeof value === "object" && value !== null) scope.onShape?.(path);
    return value;
  }
  let failed = problems.length > 0;
  let result = "";
  for (const part of parts) {
    if (typeof part === "string") {
      result += part;
      continue;
    }
    const value = evaluate(part, scope, path, report);
    if (value === undefined) failed = true;
    else if (typeof value === "object") {
      failed = true;
      report({
        code: "config/interpolation",
        summary: `\${${part.text}} is ${shown(value)} and cannot stand within text`,
        detail: "expected text, a number, true or false",
      });
    } else result += withoutReference(String(value));
    if (result.length <= longestText) continue;
    return report({
      code: "config/interpolation",
      summary: `a text grows over ${longestText / (1 << 20)} MiB`,
      detail: "it is put together from variables that use each other, and each makes it longer",
      fix: "use a variable once in another one's text",
    });
  }
  return failed ? undefined : result;
}

/** Variables that double their text 28 times would make more than a program can hold. */
const longestText = 1 << 20;

function asProblem(
  { summary, detail, fix, unknown }: TemplateProblem,
  scope: InterpolationScope,
): InterpolationProblem {
  const right = unknown !== undefined && scope.vars.has(unknown) ? `write \${var.${unknown}}` : fix;
  return { code: "config/interpolation", summary, detail, fix: right };
}

type Evaluate = (expression: Expression, scope: InterpolationScope, report: Report) => unknown;

const valueElsewhere: Evaluate = (expression, scope, report) =>
  scope.elsewhere === undefined
    ? failReference(report, `\${${expression.text}} has no meaning here`, "this place takes variables alone")
    : scope.elsewhere(expression, report, scope);

const evaluators: Record<Root, Evaluate> = {
  var: (expression, scope, report) =>
    scope.component === undefined
      ? evaluateVariable(expression, "var", scope.vars, scope, report)
      : failReference(
          report,
          `\${${expression.text}} has no meaning in a component`,
          "a component sees its parameters, and no variables of the file that uses it",
          `declare a parameter and pass it: with: { ${firstName(expression) ?? "NAME"}: "\${${expression.text}}" }`,
        ),
  param: (expression, scope, report) =>
    scope.component === undefined
      ? failReference(
          report,
          `\${${expression.text}} has no meaning here`,
          "only a component has parameters",
          scope.vars.has(firstName(expression) ?? "") ? `write \${var.${firstName(expression)}}` : undefined,
        )
      : evaluateVariable(expression, "param", scope.component.params, scope, report),
  each: evaluateEach,
  env: ({ text, steps }, scope, report) => {
    if (steps.length > 0) return failReference(report, `\${${text}} is not known`, "expected ${env}", "write ${env}");
    if (scope.environment !== undefined) return scope.environment;
    return failReference(
      report,
      "${env} is not known",
      "it is the name of the environment, and the file declares none",
      scope.vars.has("env") ? "write ${var.env}" : "declare environments: { NAME: {} }, and give --env NAME",
    );
  },
  component: (expression, scope, report) => {
    if (expression.steps.length > 0) return valueElsewhere(expression, scope, report);
    if (scope.component !== undefined) return scope.component.key;
    return failReference(
      report,
      "${component} has no meaning here",
      "only within a component is it the component's key",
    );
  },
  vm: valueElsewhere,
  volume: valueElsewhere,
  group: valueElsewhere,
  read: valueElsewhere,
  lookup: valueElsewhere,
  stack: ({ text }, _, report) =>
    failReference(
      report,
      `\${${text}} has no meaning here`,
      "only a fleet's file names outputs of its stacks, under inputs, and hands each over as a variable",
      "write ${var.NAME}, and inputs: { NAME: … } in the fleet's file",
    ),
};

/** What it evaluates for a key within the reference goes to the same place. */
function evaluate(expression: Expression, scope: InterpolationScope, path: Path, report: Report): unknown {
  const { onSensitive } = scope;
  const here = onSensitive === undefined ? scope : { ...scope, onSensitive: (name: string) => onSensitive(name, path) };
  return evaluators[expression.root](expression, here, report);
}

function failReference(report: Report, summary: string, detail?: string, fix?: string): undefined {
  return report({ code: "config/interpolation", summary, detail, fix });
}

/** The word for such a value in messages, and how one is declared. */
const namedValues = {
  var: { what: "variable", declare: (name: string) => `declare it: vars: { ${name}: { default: … } }` },
  param: { what: "parameter", declare: (name: string) => `declare it: parameters: { ${name}: {} }` },
} as const;

function firstName({ steps: [first] }: Expression): string | undefined {
  return first?.kind === "field" ? first.name : undefined;
}

function evaluateVariable(
  expression: Expression,
  root: keyof typeof namedValues,
  values: VariableValues,
  scope: InterpolationScope,
  report: Report,
): unknown {
  const { what, declare } = namedValues[root];
  const name = firstName(expression);
  if (name === undefined)
    return failReference(report, `\${${expression.text}} is not known`, `expected \${${root}.NAME}`, undefined);
  if (!values.has(name))
    return report({
      code: "config/unknown-variable",
      summary: `no ${what} ${name} is declared`,
      fix: nearestText(name, values.keys(), (near) => `write \${${root}.${near}}`) ?? declare(name),
    });
  const value = values.get(name);
  if (value === undefined) return undefined;
  if (values.isSensitive?.(name) === true) scope.onSensitive?.(name, []);
  return walk(value, expression.steps.slice(1), `${root}.${name}`, expression, scope, report);
}

/** Follows a path of fields and keys. A part that does not exist is reported with those that do. */
export function walk(
  value: unknown,
  steps: readonly TemplateStep[],
  walked: string,
  expression: Expression,
  scope: InterpolationScope,
  report: Report,
): unknown {
  let at = value;
  let shownPath = walked;
  for (const step of steps) {
    const key = keyOf(step, scope, report);
    if (key === undefined) {
      if (step.kind === "every")
        failReference(report, `\${${expression.text}} is not known`, "[*] is for what has a for_each");
      return undefined;
    }
    const next = valueAt(at, [key]);
    if (next === undefined || next === null) return reportStep(at, key, shownPath, step, report);
    at = next;
    shownPath += step.kind === "field" ? `.${key}` : `[${key}]`;
  }
  return at;
}

function reportStep(at: unknown, key: string, walked: string, step: TemplateStep, report: Report): undefined {
  const names = typeof at === "object" && at !== null ? Object.keys(at) : [];
  const told = typeof at === "string" ? withoutReference(at) : at;
  const beside = (name: string): string => `\${${walked}${step.kind === "field" ? `.${name}` : `[${name}]`}}`;
  if (names.includes(key)) return reportEmptyKey(beside(key), report);
  return failReference(
    report,
    `\${${walked}} has no ${key}`,
    typeof at !== "object" ? `it is ${shown(told)}` : names.length === 0 ? "it is empty" : `it has ${listed(names)}`,
    nearestText(key.replaceAll(/["']/g, ""), names, (near) => `write ${beside(near)}`),
  );
}

const reportEmptyKey = (reference: string, report: Report): undefined =>
  failReference(report, `${reference} is empty`, "nothing stands behind that key", "give it a value");

/** The key that a step names, be it written out or by a reference; `undefined` for `[*]`, and where it is reported. */
export function keyOf(step: TemplateStep, scope: InterpolationScope, report: Report): string | undefined {
  if (step.kind === "field") return step.name;
  if (step.kind === "every") return undefined;
  if (step.key === "each" && scope.each !== undefined) return scope.each.key;
  if (typeof step.key === "string") return step.key;
  const value = evaluate(step.key, scope, [], report);
  if (typeof value !== "object") return value === undefined ? undefined : String(value);
  return failReference(
    report,
    `\${${step.key.text}} is ${shown(value)} and cannot be a key`,
    "expected text or a number",
  );
}

function evaluateEach(expression: Expression, scope: InterpolationScope, report: Report): unknown {
  const { each } = scope;
  const { text, steps } = expression;
  if (each === undefined)
    return failReference(
      report,
      `\${${text}} has no meaning here`,
      "only a block with for_each has it",
      "add for_each",
    );
  const [second, ...fields] = steps;
  if (second === undefined) return each.key;
  if (second.kind === "field" && second.name === "key" && fields.length === 0) return each.key;
  if (second.kind !== "field" || second.name !== "value")
    return failReference(
      report,
      `\${${text}} is not known`,
      "expected ${each}, ${each.key} or ${each.value}",
      "write ${each}",
    );
  if (!each.hasValue)
    return failReference(
      report,
      "${each.value} needs a for_each that is a map",
      "this one is a list or a number",
      "write ${each}",
    );
  const secret = secretIn(
    each.secrets ?? [],
    fields.flatMap((field) => keyOf(field, scope, report) ?? []),
  );
  if (secret !== undefined) scope.onSensitive?.(secret, []);
  const ofKey: Report = (problem) => report({ ...problem, summary: `${problem.summary} for the key ${each.key}` });
  if (each.value === null) return reportEmptyKey("${each.value}", ofKey);
  return walk(each.value, fields, "each.value", expression, scope, ofKey);
}

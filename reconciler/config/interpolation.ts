/**
 * `${var.x}`, `${each}`, `${each.value}` and `${each.value.field}` in values; `$${` is a literal `${`. A text that is
 * exactly one interpolation takes the value as it is (a number stays a number, a list a list); within other text
 * only single values can stand.
 */
import { nearestName } from "../core/text/nearest";
import { shown } from "./problems";
import { isMap, valueAt } from "./yaml-file";

export interface Each {
  readonly key: string;
  /** `undefined` for a list or a number, whose items have no value of their own. */
  readonly value?: unknown;
  readonly hasValue: boolean;
}

export interface Scope {
  readonly vars: ReadonlyMap<string, unknown>;
  readonly each?: Each;
}

export interface InterpolationProblem {
  readonly code: "config/interpolation" | "config/unknown-variable";
  readonly summary: string;
  readonly detail?: string;
  readonly fix?: string;
}

/** Told about a problem with the path of the text it is in. */
export type OnProblem = (problem: InterpolationProblem, path: readonly (string | number)[]) => void;

/**
 * The value with everything interpolated; what holds no interpolation is returned as it is, not copied.
 * A text that cannot be interpolated becomes `undefined` (it is reported, and nothing else about it should be).
 */
export function interpolate(
  value: unknown,
  scope: Scope,
  onProblem: OnProblem,
  path: (string | number)[] = [],
): unknown {
  if (typeof value === "string")
    return value.includes("${") ? interpolateText(value, scope, (problem) => onProblem(problem, path)) : value;
  if (typeof value !== "object" || value === null) return value;
  return Array.isArray(value)
    ? interpolateList(value, scope, onProblem, path)
    : interpolateMap(value as Record<string, unknown>, scope, onProblem, path);
}

function interpolateList(list: readonly unknown[], scope: Scope, onProblem: OnProblem, path: (string | number)[]) {
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

function interpolateMap(map: Record<string, unknown>, scope: Scope, onProblem: OnProblem, path: (string | number)[]) {
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

const opening = /\$\$\{|\$\{([^{}]*)\}|\$\{/g;

function interpolateText(text: string, scope: Scope, report: (problem: InterpolationProblem) => void): unknown {
  const whole = /^\$\{([^{}]*)\}$/.exec(text);
  if (whole !== null) return evaluate(whole[1]!.trim(), scope, report);
  let failed = false;
  const result = text.replace(opening, (found, expression: string | undefined) => {
    if (found === "$${") return "${";
    if (expression === undefined) {
      failed = true;
      report({
        code: "config/interpolation",
        summary: "an interpolation is not closed",
        fix: "close it with }, or write $${ for a literal ${",
      });
      return "";
    }
    const value = evaluate(expression.trim(), scope, report);
    if (value === undefined) failed = true;
    else if (typeof value === "object") {
      failed = true;
      report({
        code: "config/interpolation",
        summary: `\${${expression.trim()}} is ${shown(value)} and cannot stand within text`,
        detail: "expected text, a number, true or false",
      });
    }
    return String(value);
  });
  return failed ? undefined : result;
}

function evaluate(expression: string, scope: Scope, report: (problem: InterpolationProblem) => void): unknown {
  if (expression.startsWith("var.")) {
    const name = expression.slice(4);
    if (scope.vars.has(name)) return scope.vars.get(name);
    const nearest = nearestName(name, scope.vars.keys());
    report({
      code: "config/unknown-variable",
      summary: `no variable ${name} is declared`,
      fix: nearest === undefined ? `declare it: vars: { ${name}: { default: … } }` : `write \${var.${nearest}}`,
    });
    return undefined;
  }
  if (/^each(?:\.|$)/.test(expression)) return evaluateEach(expression, scope.each, report);
  report({
    code: "config/interpolation",
    summary: `\${${expression}} is not known`,
    detail: "expected ${var.NAME}, ${each}, ${each.value} or ${each.value.FIELD}",
    fix: scope.vars.has(expression) ? `write \${var.${expression}}` : "write $${ for a literal ${",
  });
  return undefined;
}

function evaluateEach(expression: string, each: Each | undefined, report: (problem: InterpolationProblem) => void) {
  const fail = (summary: string, detail?: string, fix?: string) => {
    report({
      code: "config/interpolation",
      summary,
      ...(detail === undefined ? {} : { detail }),
      ...(fix === undefined ? {} : { fix }),
    });
    return undefined;
  };
  if (each === undefined)
    return fail(`\${${expression}} has no meaning here`, "only a block with for_each has it", "add for_each");
  if (expression === "each") return each.key;
  const [, second, ...fields] = expression.split(".");
  if (second !== "value")
    return fail(`\${${expression}} is not known`, "expected ${each} or ${each.value}", "write ${each}");
  if (!each.hasValue)
    return fail("${each.value} needs a for_each that is a map", "this one is a list or a number", "write ${each}");
  const value = valueAt(each.value, fields);
  if (value !== undefined && value !== null) return value;
  const known = isMap(each.value) ? Object.keys(each.value) : [];
  const nearest = nearestName(fields.join("."), known);
  return fail(
    `\${${expression}} has no value for the key ${each.key}`,
    known.length > 0 ? `its value has ${known.join(", ")}` : undefined,
    nearest === undefined ? undefined : `write \${each.value.${nearest}}`,
  );
}

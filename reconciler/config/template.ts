/**
 * The one parser of `${…}`: cuts a text into what stands there literally and what refers to something, with the place
 * of each reference in the text. It knows the words that a reference may begin with (the roots) and nothing of what
 * they are worth: `interpolation.ts` evaluates those that are known before planning (var, each, env, param, component),
 * and hands the others (vm, volume, group, read, lookup, stack) to `Scope.elsewhere`.
 *
 *     text       = (literal | "$${" | "${" reference "}")*
 *     reference  = root step*
 *     step       = "." name | "[" key "]" | "[*]"
 *     key        = any text without brackets | "${" reference "}" | "each" (the key of the block's own for_each)
 */
import { nearestText } from "../core/text/nearest";
import { remembered } from "../core/text/remembered";

export const roots = [
  "var",
  "each",
  "env",
  "param",
  "component",
  "vm",
  "volume",
  "group",
  "read",
  "lookup",
  "stack",
] as const;
export type Root = (typeof roots)[number];

export type TemplateStep =
  | { readonly kind: "field"; readonly name: string }
  | { readonly kind: "key"; readonly key: string | Expression }
  | { readonly kind: "every" };

/** What stands between `${` and `}`. */
export interface Expression {
  readonly root: Root;
  readonly steps: readonly TemplateStep[];
  /** The reference as it is written, without the braces. */
  readonly text: string;
}

export type TemplatePart = string | Expression;

export interface TemplateProblem {
  readonly summary: string;
  readonly detail?: string;
  readonly fix?: string;
  /** A text whose first word is no root: the whole text may be the name of a variable. */
  readonly unknown?: string;
}

export interface Template {
  readonly parts: readonly TemplatePart[];
  /** The text is one reference and nothing beside it: it takes the value as it is. */
  readonly whole?: Expression;
  readonly problems: readonly TemplateProblem[];
}

/** The same texts are read once for each instance of a for_each, and are cut once. */
export const parseTemplate = remembered(cutTemplate, 5_000);

function cutTemplate(text: string): Template {
  const parts: TemplatePart[] = [];
  const problems: TemplateProblem[] = [];
  let literal = "";
  let at = 0;
  while (at < text.length) {
    const next = text.indexOf("${", at);
    if (next === -1) break;
    if (text[next - 1] === "$" && next - 1 >= at) {
      literal += `${text.slice(at, next - 1)}\${`;
      at = next + 2;
      continue;
    }
    const end = closingOf(text, next + 2);
    if (end === undefined) {
      problems.push({
        summary: "an interpolation is not closed",
        fix: "close it with }, or write $${ for a literal ${",
      });
      at = text.length;
      break;
    }
    literal += text.slice(at, next);
    if (literal !== "") parts.push(literal);
    literal = "";
    const expression = parseExpression(text.slice(next + 2, end).trim());
    if ("summary" in expression) problems.push(expression);
    else parts.push(expression);
    at = end + 1;
  }
  literal += text.slice(at);
  if (literal !== "") parts.push(literal);
  const [only] = parts;
  const isWhole = parts.length === 1 && typeof only === "object" && problems.length === 0;
  return { parts, whole: isWhole ? only : undefined, problems };
}

/** The end of the brace that opens at `from`; another reference may stand within it. */
function closingOf(text: string, from: number): number | undefined {
  let depth = 1;
  for (let at = from; at < text.length; at++) {
    if (text[at] === "}") {
      depth--;
      if (depth === 0) return at;
    } else if (text[at] === "{") {
      if (text[at - 1] !== "$") return undefined;
      depth++;
    }
  }
  return undefined;
}

const stepPattern = /\.([^.[\]{}\s]+)|\[([^[\]{}]*|\$\{[^{}]*\})\]/y;

function parseExpression(text: string): Expression | TemplateProblem {
  const word = /^[A-Za-z0-9_-]*/.exec(text)?.[0] ?? "";
  const root = roots.find((candidate) => candidate === word);
  if (root === undefined) return unknownRoot(text, word);
  const steps: TemplateStep[] = [];
  let at = word.length;
  while (at < text.length) {
    stepPattern.lastIndex = at;
    const match = stepPattern.exec(text);
    if (match === null)
      return {
        summary: `\${${text}} cannot be read at ${JSON.stringify(text.slice(at))}`,
        detail: "expected .NAME, [KEY] or [*]",
        fix: "there are no operators and no functions; write $${ for a literal ${",
      };
    const [step, name, key] = match;
    if (name !== undefined) steps.push({ kind: "field", name });
    else if (key === "*") steps.push({ kind: "every" });
    else if (key?.startsWith("${")) {
      const inner = parseExpression(key.slice(2, -1).trim());
      if ("summary" in inner) return inner;
      steps.push({ kind: "key", key: inner });
    } else steps.push({ kind: "key", key: key ?? "" });
    at += step.length;
  }
  return { root, steps, text };
}

const expectedReference =
  "expected ${var.NAME}, ${each}, ${each.value.FIELD}, ${env}, or a value of vm, volume, group, component, param, read or lookup";

function unknownRoot(text: string, word: string): TemplateProblem {
  return {
    summary: `\${${text}} is not known`,
    detail: expectedReference,
    unknown: text,
    fix:
      nearestText(word, roots, (near) => `write \${${near}${text.slice(word.length)}}`) ?? "write $${ for a literal ${",
  };
}

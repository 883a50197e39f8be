/**
 * Checks that a saved plan has the shape that its readers rely on. Its id proves that it was not changed by accident; a
 * plan that was made by hand or by another version is refused here.
 */

import { problemsOf } from "./config/generated/plan";
import { kindOf } from "./core/model/address";
import { address, type Check, flag, list, mapWith, number, optional, shape, text } from "./core/model/checks";
import { fewParts } from "./core/text/list-text";
import { fieldsIn, listIn } from "./core/text/objects";

/** `resources[0].flavor is missing`: what of the desired state cannot be read, in the words of the plan's schema. */
function problemsOfDesired(desired: unknown): readonly string[] {
  const problems = problemsOf(desired).flatMap(({ keyword, instancePath, params, message = "cannot be read" }) => {
    const at = instancePath
      .split("/")
      .slice(1)
      .map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`))
      .join("")
      .replace(/^\./, "");
    if (keyword === "required") return [`${at === "" ? "" : `${at}.`}${String(params["missingProperty"])} is missing`];
    // What none of the alternatives admits is told by each of them as well.
    if (keyword === "oneOf" || keyword === "anyOf") return [];
    if (keyword === "discriminator") return [`${at}.kind is ${JSON.stringify(params["tagValue"])}, which is no kind`];
    if (keyword === "enum") return [`${at} is none of ${listIn(params["allowedValues"]).join(", ")}`];
    return [`${at} ${message}`];
  });
  const misplaced = listIn(fieldsIn(desired)["resources"]).flatMap((resource, index) => {
    const { address, kind } = fieldsIn(resource);
    return typeof address !== "string" || kindOf(address) === kind
      ? []
      : [`resources[${index}].kind is ${JSON.stringify(kind)}, and its address is ${address}`];
  });
  return [...new Set([...problems, ...misplaced])];
}

const told = list(
  shape({
    severity: text,
    code: text,
    summary: text,
    detail: optional(text),
    fix: optional(text),
    address: optional(text),
    source: optional(shape({ file: text, line: number })),
    excerpt: optional(text),
  }),
);

const parts: Readonly<Record<string, Check>> = {
  lineage: text,
  serial: number,
  folder: text,
  base_url: text,
  state: text,
  dialect: shape({ operations: shape({}) }),
  options: shape({
    destroy: optional(flag),
    targets: optional(list(text)),
    excludes: optional(list(text)),
    replace: optional(list(text)),
    owe: optional(list(text)),
    adopt: optional(flag),
    acceptService: optional(flag),
    maxAgeMs: optional(number),
  }),
  changes: list(shape({ address, action: text })),
  steps: list(
    shape({ id: text, address: text, owes: optional(list(shape({ address, command: text, reason: text }))) }),
  ),
  diagnostics: told,
  findings: optional(told),
  files: optional(list(shape({ file: text, sha256: text }))),
  sensitive: optional(list(text)),
  attached: optional(mapWith(list(text))),
  owed: optional(list(shape({ address, command: text, reason: text, since: optional(text), waits: optional(text) }))),
  cost: optional(shape({ currency: text, before: text, after: text, unknown: list(text), parts: mapWith(text) })),
  outputs: optional(list(shape({ name: text, known: flag, changes: flag }))),
  consents: list(
    shape({
      kind: text,
      loss: optional(shape({ disk: text })),
      unproven: optional(flag),
      source: optional(shape({ file: text, line: number })),
    }),
  ),
};

const mostProblems = 5;

/** What of the plan cannot be read, as a sentence; `undefined` when all can be read. */
export function unreadablePart(plan: object): string | undefined {
  const fields = fieldsIn(plan);
  for (const [name, readable] of Object.entries(parts))
    if (!readable(fields[name])) return `its ${name} cannot be read`;
  const problems = problemsOfDesired(fields["desired"]);
  if (problems.length === 0) return undefined;
  return `its desired cannot be read: ${fewParts(problems, mostProblems)}`;
}

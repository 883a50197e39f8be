/**
 * `${vm.KEY.private_ip}` and its like: what they refer to is checked here; what they are worth only the service knows.
 */

import { formatAddress, type Kind } from "../core/model/address";
import type { Attribute } from "../core/model/computed";
import { isKind, kindRows } from "../core/model/kinds";
import { listed } from "../core/text/list-text";
import { nearestText } from "../core/text/nearest";
import { keysOf } from "../core/text/objects";
import { type InterpolationProblem, type InterpolationScope, keyOf, type Report } from "./interpolation";
import { mark, markReference } from "./open-text";
import { type Declared, unknownAddress } from "./references";
import type { Expression, TemplateStep } from "./template";

/** What `Scope.elsewhere` answers for the kinds of resources: an address, a value that is open, or a list of them. */
export function openValue(
  expression: Expression,
  scope: InterpolationScope,
  declared: Declared,
  report: Report,
): unknown {
  const kind = kindRoot(expression);
  if (kind === undefined) return undefined;
  const say = (problem: Omit<InterpolationProblem, "code">): undefined => {
    report({ code: "config/unknown-reference", ...problem });
    return undefined;
  };
  const [first, ...rest] = expression.steps;
  if (first?.kind !== "field")
    return say({
      summary: `\${${expression.text}} is not known`,
      detail: `expected \${${kind}.KEY.${Object.keys(kindRows[kind].attributes)[0]}}`,
    });
  const next = rest[0];
  const isKeyed = next !== undefined && next.kind !== "field";
  const addresses = isKeyed
    ? addressesUnder(kind, first.name, next, scope, declared, report)
    : instancesOfOne(kind, first.name, declared, report);
  if (addresses === undefined) return undefined;
  const fields = isKeyed ? rest.slice(1) : rest;
  const values = withAttribute(kind, addresses, fields, expression, say);
  if (values === undefined) return undefined;
  return isKeyed && next.kind === "every" ? values : values[0];
}

const kindRoot = ({ root }: Expression): Kind | undefined => (isKind(root) ? root : undefined);

function instancesOfOne(kind: Kind, key: string, declared: Declared, report: Report): string[] | undefined {
  const address = formatAddress({ within: declared.within, kind, key });
  if (declared.addresses.has(address)) return [address];
  const keys = declared.blocks[kind].get(key)?.eachKeys;
  if (keys === undefined) return reportUnknown(address, kind, declared, report);
  report({
    code: "config/unknown-reference",
    summary: `${address} has a for_each: the reference must name one of its keys`,
    detail: keys.length === 0 ? "its for_each is empty" : `its keys are ${listed(keys)}`,
    fix: `write \${${kind}.${key}[${keys[0] ?? "KEY"}]…}, or \${${kind}.${key}[*]…} for a list of all`,
  });
  return undefined;
}

function addressesUnder(
  kind: Kind,
  key: string,
  step: TemplateStep,
  scope: InterpolationScope,
  declared: Declared,
  report: Report,
): string[] | undefined {
  const block = declared.blocks[kind].get(key);
  if (step.kind === "every") {
    if (block === undefined)
      return reportUnknown(formatAddress({ within: declared.within, kind, key }), kind, declared, report);
    const { eachKeys } = block;
    if (eachKeys !== undefined)
      return eachKeys.map((each) => formatAddress({ within: declared.within, kind, key, each }));
    report({
      code: "config/unknown-reference",
      summary: `${kind}.${key} has no for_each, so there is no [*] of it`,
      fix: `write \${${kind}.${key}…}`,
    });
    return undefined;
  }
  const each = keyOf(step, scope, report);
  if (each === undefined) return undefined;
  const address = formatAddress({ within: declared.within, kind, key, each });
  return declared.addresses.has(address) ? [address] : reportUnknown(address, kind, declared, report);
}

function reportUnknown(address: string, kind: Kind, declared: Declared, report: Report): undefined {
  const { summary, detail, fix } = unknownAddress(address, kind, declared, true);
  report({ code: "config/unknown-reference", summary, detail, fix });
  return undefined;
}

function withAttribute(
  kind: Kind,
  addresses: readonly string[],
  fields: readonly TemplateStep[],
  { text }: Expression,
  say: (problem: Omit<InterpolationProblem, "code">) => undefined,
): string[] | undefined {
  const [field, ...more] = fields;
  if (field === undefined) return addresses.map(markReference);
  const known: readonly Attribute[] = keysOf(kindRows[kind].attributes);
  const attribute = field.kind === "field" ? known.find((candidate) => candidate === field.name) : undefined;
  if (attribute !== undefined && more.length === 0) return addresses.map((address) => mark({ address, attribute }));
  const name = field.kind === "field" && more.length === 0 ? field.name : "";
  return say({
    summary: `\${${text}} is not known`,
    detail: `of a ${kind} there is ${known.join(", ")}`,
    fix: nearestText(name, known, (near) => `write \${${text.slice(0, text.length - name.length)}${near}}`),
  });
}

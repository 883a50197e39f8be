/**
 * `${vm.KEY.private_ip}` and its like: what they refer to is checked here; what they are worth only the service knows.
 */

import { formatAddress, type Kind } from "../core/model/address";
import type { Attribute } from "../core/model/computed";
import { kindRows } from "../core/model/kinds";
import { listed } from "../core/text/list-text";
import { nearestText } from "../core/text/nearest";
import { keysOf } from "../core/text/objects";
import { type InterpolationScope, keyOf, type Report, unknownReference } from "./interpolation";
import { mark, markReference } from "./open-text";
import { type Declared, unknownAddress } from "./references";
import type { Expression, TemplateStep } from "./template";

/** What `Scope.elsewhere` answers for the kinds of resources: an address, a value that is open, or a list of them. */
export function openValue(
  kind: Kind,
  expression: Expression,
  scope: InterpolationScope,
  declared: Declared,
  report: Report,
): unknown {
  const [first, ...rest] = expression.steps;
  if (first?.kind !== "field")
    return unknownReference(report, {
      summary: `\${${expression.text}} is not known`,
      detail: `expected \${${kind}.KEY.${Object.keys(kindRows[kind].attributes)[0]}}`,
    });
  const next = rest[0];
  const isKeyed = next !== undefined && next.kind !== "field";
  const addresses = addressesNamed(kind, first.name, isKeyed ? next : undefined, scope, declared, report);
  if (addresses === undefined) return undefined;
  const values = withAttribute(kind, addresses, isKeyed ? rest.slice(1) : rest, expression, report);
  return values === undefined || (isKeyed && next.kind === "every") ? values : values[0];
}

/** `step`: the key of an instance, or all of them; absent for a block without for_each. */
function addressesNamed(
  kind: Kind,
  key: string,
  step: TemplateStep | undefined,
  scope: InterpolationScope,
  declared: Declared,
  report: Report,
): string[] | undefined {
  const addressOf = (each?: string): string => formatAddress({ within: declared.within, kind, key, each });
  const block = declared.blocks[kind].get(key);
  const keys = block?.eachKeys;
  if (step?.kind === "every" && keys !== undefined) return keys.map(addressOf);
  if (step?.kind === "every" && block !== undefined)
    return unknownReference(report, {
      summary: `${kind}.${key} has no for_each, so there is no [*] of it`,
      fix: `write \${${kind}.${key}…}`,
    });
  const isOne = step === undefined || step.kind === "every";
  const each = isOne ? undefined : keyOf(step, scope, report);
  if (!isOne && each === undefined) return undefined;
  const address = addressOf(each);
  if (declared.addresses.has(address)) return [address];
  if (isOne && keys !== undefined)
    return unknownReference(report, {
      summary: `${address} has a for_each: the reference must name one of its keys`,
      detail: keys.length === 0 ? "its for_each is empty" : `its keys are ${listed(keys)}`,
      fix: `write \${${kind}.${key}[${keys[0] ?? "KEY"}]…}, or \${${kind}.${key}[*]…} for a list of all`,
    });
  const { summary, detail, fix } = unknownAddress(address, kind, declared, true);
  return unknownReference(report, { summary, detail, fix });
}

function withAttribute(
  kind: Kind,
  addresses: readonly string[],
  [field, ...more]: readonly TemplateStep[],
  { text }: Expression,
  report: Report,
): string[] | undefined {
  if (field === undefined) return addresses.map(markReference);
  const known: readonly Attribute[] = keysOf(kindRows[kind].attributes);
  const name = field.kind === "field" && more.length === 0 ? field.name : "";
  const attribute = known.find((candidate) => candidate === name);
  if (attribute !== undefined) return addresses.map((address) => mark({ address, attribute }));
  return unknownReference(report, {
    summary: `\${${text}} is not known`,
    detail: `of a ${kind} there is ${known.join(", ")}`,
    fix: nearestText(name, known, (near) => `write \${${text.slice(0, text.length - name.length)}${near}}`),
  });
}

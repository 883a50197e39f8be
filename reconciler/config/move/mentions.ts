/**
 * What a part of a file mentions, and where: variables, values of other projects and of the service, and other blocks, by
 * `${…}` or by their keys (`attach_to`, `remote_group`). Read from the text itself, so that a mention can be rewritten in
 * its place.
 */
import { isMap, isPair, isScalar, isSeq } from "yaml";
import { isKind, type Kind } from "../../core/model/kinds";
import { isOneOf, keyIn, plainValuesIn } from "../../core/text/objects";
import { endOf, startOf } from "../edit-text";
import { type Expression, parseTemplate } from "../template";
import { keyOfPair } from "./pieces";

export interface Mention {
  /** `var.NAME`, `read.NAME`, `lookup.NAME`, or a block: `vm.db`, and `shop/` for a component. */
  readonly of: string;
  /** The reference without its braces; for one by key, what the key would be as a reference (`group.web`). */
  readonly expression: string;
  /** What is to be replaced: `${…}`, or the whole value of a reference by key. */
  readonly from: number;
  readonly to: number;
  /** `attach_to` or `remote_group`: the value is a key, or `{ id: "${…}" }`. */
  readonly byKey?: "attach_to" | "remote_group";
  readonly isWhole: boolean;
  /** The value as it is written, with its quotes. */
  readonly value: { readonly from: number; readonly to: number };
}

const kindOfField = { attach_to: "vm", remote_group: "group" } as const satisfies Readonly<Record<string, Kind>>;

export function mentionsIn(text: string, node: unknown, field = ""): Mention[] {
  if (isPair(node)) {
    const { value } = node;
    const name = keyOfPair(node);
    const id =
      isMap(value) && value.items.length === 1 && keyOfPair(value.items[0]) === "id" ? value.items[0] : undefined;
    const reference = keyIn(kindOfField, name);
    if (reference !== undefined && id !== undefined) {
      const [from, to] = [startOf(value), endOf(text, value)];
      return mentionsIn(text, id).map((mention) =>
        from === undefined || to === undefined || !mention.isWhole
          ? mention
          : { ...mention, from, to, byKey: reference },
      );
    }
    return mentionsIn(text, value, name);
  }
  if (isMap(node)) return node.items.flatMap((item) => mentionsIn(text, item));
  if (isSeq(node)) return node.items.flatMap((item) => mentionsIn(text, item, field));
  if (!isScalar(node) || typeof node.value !== "string") return [];
  const [from, to] = [startOf(node), endOf(text, node)];
  if (from === undefined || to === undefined) return [];
  if (node.value.includes("${")) return inTemplate(text, node.value, from, to);
  const byKey = keyIn(kindOfField, field);
  if (byKey === undefined || node.value === "self") return [];
  const kind = kindOfField[byKey];
  const named = node.value.startsWith(`${kind}.`) ? node.value : `${kind}.${node.value}`;
  const block = blockIn(named);
  if (block === undefined) return [];
  return [{ of: block, expression: named, from, to, byKey, isWhole: true, value: { from, to } }];
}

const blockIn = (address: string): string | undefined => /^(?:vm|volume|group)\.[A-Za-z0-9_-]+/.exec(address)?.[0];

function inTemplate(text: string, value: string, from: number, to: number): Mention[] {
  const { parts, whole } = parseTemplate(value);
  const raw = text.slice(from, to);
  let at = 0;
  return parts.flatMap((part): Mention[] => {
    if (typeof part === "string") return [];
    const found = spanOfMention(raw, part.text, at);
    if (found === undefined) return [];
    at = found.to;
    return namedBy(part).map((of) => ({
      of,
      expression: part.text,
      from: from + found.from,
      to: from + found.to,
      isWhole: whole !== undefined,
      value: { from, to },
    }));
  });
}

/** The place of `${…}` in the text as it is written, where blanks may stand inside the braces. */
export function spanOfMention(
  raw: string,
  expression: string,
  after: number,
): { from: number; to: number } | undefined {
  for (let from = raw.indexOf("${", after); from !== -1; from = raw.indexOf("${", from + 2)) {
    const start = from + 2 + (/^\s*/.exec(raw.slice(from + 2))?.[0].length ?? 0);
    if (raw[from - 1] === "$" || !raw.startsWith(expression, start)) continue;
    const close = /^\s*\}/.exec(raw.slice(start + expression.length));
    if (close !== null) return { from, to: start + expression.length + close[0].length };
  }
  return undefined;
}

/** What an expression names, its keys included: `${vm.web[${var.which}].id}` names a VM and a variable. */
function namedBy({ root, steps }: Expression): string[] {
  const inner = steps.flatMap((step) => (step.kind === "key" && typeof step.key === "object" ? namedBy(step.key) : []));
  const [first] = steps;
  const name = first?.kind === "field" ? first.name : undefined;
  if (name === undefined) return inner;
  if (root === "component") return [`${name}/`, ...inner];
  return isKind(root) || isOneOf(root, ["var", "read", "lookup"]) ? [`${root}.${name}`, ...inner] : inner;
}

/** What a value says it uses, without places: for defaults, and for variables that are made of others. */
export const namesMentioned = (value: unknown): string[] =>
  plainValuesIn(value).flatMap((text) =>
    typeof text === "string" && text.includes("${")
      ? parseTemplate(text).parts.flatMap((part) => (typeof part === "string" ? [] : namedBy(part)))
      : [],
  );

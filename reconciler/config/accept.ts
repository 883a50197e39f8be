/**
 * Writes what the service shows into a file of the desired state, in place: the values that differ are set, and no other
 * byte changes. What a file says for several resources at once, or by a variable, is left to a person.
 */
import { isMap, isScalar, isSeq } from "yaml";
import { parseCidr } from "../core/canonical/cidr";
import { selfWordOf } from "../core/model/relations";
import { addItem, documentOf, type Edited, removeIn, removeItem, setIn } from "./edit-text";
import { blockOrder } from "./format";
import { parseTemplate } from "./template";
import { escapeAll, type Plain } from "./yaml/write";

export interface Edit {
  readonly section: string;
  readonly key: string;
  readonly field: string;
  /** As the service shows it, so nothing in it is an expression. Absent: the field is removed. */
  readonly value?: Plain;
  /** For a list of rules: a rule that is added or removed. */
  readonly rule?: { readonly is: "added" | "removed"; readonly fields: Readonly<Record<string, Plain>> };
}

/** Whether a file has the block of an edit. */
export const declares = (text: string, { section, key }: Edit): boolean =>
  documentOf(text).getIn([section, key], true) !== undefined;

const left = (problem: string): Edited => ({ problem });

/** The change in the block itself, which holds in every environment. */
export function acceptInBlock(text: string, edit: Edit): Edited {
  const { section, key, field, value, rule } = edit;
  const block = documentOf(text).getIn([section, key], true);
  if (!isMap(block)) return left("its block is no map");
  if (block.has("for_each")) return left("its block has a for_each, which speaks for others too");
  if (rule !== undefined) return acceptRule(text, edit, rule, block.get("rules", true));
  if (variableIn(block.get(field, true)) !== undefined) return left("it is written with a variable");
  const path = [section, key, field];
  return value === undefined ? removeIn(text, path) : setIn(text, path, escapeAll(value), blockOrder(section));
}

/** The change in what the environment says for itself: its value of the variable, or its own default. */
export function acceptInEnvironment(text: string, edit: Edit, environment: string): Edited | undefined {
  const { section, key, field, value, rule } = edit;
  if (rule !== undefined || value === undefined || typeof value === "object") return undefined;
  const document = documentOf(text);
  const own = ["environments", environment];
  const kind = section.slice(0, -1);
  const inBlock = document.getIn([section, key, field], true);
  const written = inBlock ?? document.getIn(["defaults", kind, field], true);
  const variable = variableIn(written);
  if (variable !== undefined)
    return /^[A-Za-z_][\w-]*$/.test(variable) ? setIn(text, [...own, "vars", variable], escapeAll(value)) : undefined;
  const fallback = [...own, "defaults", kind, field];
  return inBlock === undefined && document.getIn(fallback, true) !== undefined
    ? setIn(text, fallback, escapeAll(value))
    : undefined;
}

/** The variable that is the whole value; an empty text where there is more in it. */
function variableIn(node: unknown): string | undefined {
  if (!isScalar(node) || typeof node.value !== "string") return undefined;
  if (parseTemplate(node.value).parts.every((part) => typeof part === "string")) return undefined;
  return /^\$\{var\.([\w-]+)\}$/.exec(node.value)?.[1] ?? "";
}

function acceptRule(
  text: string,
  { section, key }: Edit,
  { is, fields }: NonNullable<Edit["rule"]>,
  rules: unknown,
): Edited {
  const path = [section, key, "rules"];
  if (is === "added") {
    if (isSeq(rules)) return addItem(text, path, escapeAll(fields));
    if (rules === undefined || rules === null || (isScalar(rules) && rules.value === null))
      return setIn(text, path, [escapeAll(fields)], blockOrder(section));
    return left("its rules are no list");
  }
  if (!isSeq(rules)) return left("its rules are no list");
  const wanted = ruleMark(fields, key);
  const at = rules.items.findIndex((item) => isMap(item) && ruleMark(item.toJSON(), key) === wanted);
  return at < 0 ? left("no rule of the list says just this one") : removeItem(text, path, at);
}

/** The traffic that a written rule of the group `key` admits, whatever fields it leaves out or quotes, and however it spells them. */
function ruleMark(
  { direction, ethertype, protocol, dst_port, remote_ip, remote_group }: Readonly<Record<string, unknown>>,
  key: string,
): string {
  const range = String(remote_ip ?? "");
  const cidr = parseCidr(range);
  const group = typeof remote_group === "string" ? remote_group.trim().replace(/^group\./, "") : remote_group;
  return JSON.stringify([
    direction ?? "ingress",
    ethertype ?? cidr?.ethertype ?? "IPv4",
    String(protocol ?? "any").toLowerCase(),
    String(dst_port ?? "").replaceAll(" ", ""),
    cidr === undefined ? range : cidr.prefix === 0 ? "" : cidr.text,
    group === selfWordOf.group ? key : (group ?? ""),
  ]);
}

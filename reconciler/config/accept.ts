/**
 * Writes what the service shows into a file of the desired state, in place: the values that differ are set, comments and
 * everything else stay. What a file says for several resources at once, or by a variable, is left to a person.
 */
import { isCollection, isMap, isScalar, isSeq, parseDocument } from "yaml";
import type { Plain } from "./write-yaml";

export interface Edit {
  readonly section: string;
  readonly key: string;
  readonly field: string;
  /** Absent: the field is removed. */
  readonly value?: Plain;
  /** For a list of rules: a rule that is added or removed. */
  readonly rule?: { readonly is: "added" | "removed"; readonly fields: Readonly<Record<string, Plain>> };
}

export interface AcceptedText {
  readonly text: string;
  /** For each edit, why it was not written. Absent: it was written. */
  readonly left: ReadonlyMap<Edit, string>;
}

/** `undefined`: the file declares none of them. */
export function acceptInto(text: string, edits: readonly Edit[]): AcceptedText | undefined {
  const document = parseDocument(text);
  const left = new Map<Edit, string>();
  let own = 0;
  for (const edit of edits) {
    const block = document.getIn([edit.section, edit.key], true);
    if (block === undefined) continue;
    own++;
    if (!isMap(block)) left.set(edit, "its block is no map");
    else if (block.has("for_each")) left.set(edit, "its block has a for_each, which speaks for others too");
    else {
      const problem = edit.rule === undefined ? setField(block, edit) : editRules(block, edit.rule);
      if (problem !== undefined) left.set(edit, problem);
    }
  }
  return own === 0 ? undefined : { text: document.toString({ lineWidth: 0, flowCollectionPadding: true }), left };
}

interface Block {
  get(key: string, keep: true): unknown;
  set(key: string, value: unknown): void;
  delete(key: string): boolean;
}

function setField(block: Block, { field, value }: Edit): string | undefined {
  const present = block.get(field, true);
  if (isScalar(present) && typeof present.value === "string" && present.value.includes("${"))
    return "it is written with a variable";
  if (value === undefined) block.delete(field);
  else if (isScalar(present) && (typeof value === "string" || typeof value === "number" || typeof value === "boolean"))
    present.value = value;
  else block.set(field, value);
  return undefined;
}

function editRules(block: Block, { is, fields }: NonNullable<Edit["rule"]>): string | undefined {
  const rules = block.get("rules", true);
  if (is === "added") {
    if (isSeq(rules)) rules.items.push(flowMap(fields));
    else if (rules === undefined || rules === null || (isScalar(rules) && rules.value === null))
      block.set("rules", [fields]);
    else return "its rules are no list";
    return undefined;
  }
  if (!isSeq(rules)) return "its rules are no list";
  const wanted = ruleMark(fields);
  const at = rules.items.findIndex((item) => isMap(item) && ruleMark(item.toJSON()) === wanted);
  if (at < 0) return "no rule of the list says just this one";
  rules.items.splice(at, 1);
  return undefined;
}

/** The traffic that a written rule admits, whatever fields it leaves out or quotes. */
const ruleMark = ({
  direction,
  protocol,
  dst_port,
  remote_ip,
  remote_group,
}: Readonly<Record<string, unknown>>): string =>
  JSON.stringify([
    direction ?? "ingress",
    String(protocol ?? "any"),
    String(dst_port ?? ""),
    remote_group === undefined ? String(remote_ip ?? "0.0.0.0/0") : "",
    remote_group ?? "",
  ]);

function flowMap(fields: Readonly<Record<string, Plain>>) {
  const node = parseDocument("{}").createNode(fields, { flow: true });
  if (isCollection(node)) node.flow = true;
  return node;
}

/** A schema in which an editor finds the keys of some files and the names of a service to choose from. It refuses nothing more. */
import { type Kind, kinds, sectionOf } from "../core/model/kinds";
import { isMap } from "./yaml/file";

interface KnownNames {
  readonly flavors: readonly string[];
  readonly images: readonly string[];
  readonly regions: readonly string[];
}

export function withKnownWords(schema: unknown, roots: readonly unknown[], known: KnownNames): unknown {
  const keysOf = (kind: Kind): string[] =>
    roots.flatMap((root) => keysIn(isMap(root) ? root[sectionOf[kind]] : undefined));
  const [vms, groups] = [keysOf("vm"), keysOf("group")];
  const addresses = kinds.flatMap((kind) => keysOf(kind).map((key) => `${kind}.${key}`));
  const named = {
    attach_to: vms,
    remote_group: groups,
    flavor_id: known.flavors,
    image_id: known.images,
    region: known.regions,
  };
  // A field called `to` may be an address, somebody of an assertion, or a time of day: its type says which.
  const words: OfferedWords = {
    named,
    typed: { "#/$defs/address": addresses, "#/$defs/parties": addresses.filter(isParty) },
  };
  return offered(schema, words);
}

interface OfferedWords {
  /** For a field of this name. */
  readonly named: Readonly<Record<string, readonly string[]>>;
  /** For a field `to` of this type. */
  readonly typed: Readonly<Record<string, readonly string[]>>;
}

/** Who may stand in an assertion. */
const isParty = (address: string): boolean => /^(?:vm|group)\./.test(address);

const mostWordsKnown = 50;

function keysIn(section: unknown): string[] {
  if (!isMap(section)) return [];
  return Object.entries(section).flatMap(([key, block]) => {
    const each = isMap(block) ? block["for_each"] : undefined;
    return each === undefined ? [key] : instancesOf(each).map((instance) => `${key}[${instance}]`);
  });
}

/** The keys that the file itself names. A key from a variable is left to the writer. */
function instancesOf(each: unknown): readonly unknown[] {
  if (Array.isArray(each)) return each.slice(0, mostWordsKnown);
  if (isMap(each)) return Object.keys(each).slice(0, mostWordsKnown);
  const count = Number(each);
  return Number.isInteger(count) ? Array.from({ length: Math.min(count, mostWordsKnown) }, (_, index) => index) : [""];
}

function offered(node: unknown, words: OfferedWords): unknown {
  if (Array.isArray(node)) return node.map((item) => offered(item, words));
  if (!isMap(node)) return node;
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [
      key,
      key === "properties" && isMap(value) ? fieldsWith(value, words) : offered(value, words),
    ]),
  );
}

const fieldsWith = (fields: Readonly<Record<string, unknown>>, { named, typed }: OfferedWords) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      const type = isMap(field) ? String(field["$ref"] ?? "") : "";
      const [words, key] = name === "to" ? [typed, type] : [named, name];
      const examples = Object.hasOwn(words, key) ? (words[key] ?? []) : [];
      const inner = offered(field, { named, typed });
      return [name, examples.length === 0 || !isMap(inner) ? inner : { ...inner, examples }];
    }),
  );

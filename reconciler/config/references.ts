/** Finds what a reference names: a key, key[each], a full address, `self`, or the id of something not managed here. */

import { componentPath, formatAddress, keyWithin, parseAddress } from "../core/model/address";
import type { Reference } from "../core/model/desired";
import { type Kind, kinds, perKind, sectionOf } from "../core/model/kinds";
import { selfWordOf } from "../core/model/relations";
import { listed } from "../core/text/list-text";
import { nearestName, nearestText } from "../core/text/nearest";
import type { Block, ExpandedBlocks } from "./blocks";
import { readUnmanagedId, reportAt, reportValue, requireKey, type Subject, subjectWithin } from "./fields";
import { holdsOpen, onlyComputed, referenceIn, withoutMarks, withoutReference } from "./open-text";
import type { ConfigCode } from "./problems";
import { isMap, type Path } from "./yaml/file";

export interface Declared {
  /** The components that these names are in; "" for the files themselves. */
  readonly within: string;
  /** The addresses of every room. */
  readonly addresses: ReadonlySet<string>;
  /** Rooms by the components that they are in. */
  readonly rooms: ReadonlyMap<string, Declared>;
  readonly blocks: Readonly<Record<Kind, ReadonlyMap<string, Block>>>;
  /** The keys of blocks that are not enabled. */
  readonly disabled: Readonly<Record<Kind, ReadonlySet<string>>>;
  /** Suggestions cost a look at every name; in a file where everything is wrong the first ones will do. */
  readonly suggestions: { left: number };
}

export const notEnabled = (what: string) =>
  ({
    code: "config/unknown-reference",
    summary: `${what} is not enabled`,
    detail: "its block says enabled: false, as if it were not written",
    fix: "give what names it the same enabled, or enable it",
  }) as const;

/** Reports a path of components in which nothing is declared. `rest`: what an address says behind it. */
export function unknownComponent(named: string, { rooms }: Declared, rest = ""): UnknownReference {
  const known = [...rooms.keys()].filter((within) => within !== "");
  return {
    code: "config/unknown-reference",
    summary: `there is no component ${named}`,
    detail: known.length === 0 ? "none is used" : `there is ${listed(known)}`,
    fix: nearestText(named, known, (near) => `write ${near}${rest}`),
  };
}

export function declare(
  expanded: Readonly<Record<Kind, ExpandedBlocks>>,
  { within, addresses, rooms }: { within: string; addresses: Set<string>; rooms: Map<string, Declared> },
): Declared {
  for (const { blocks } of Object.values(expanded))
    for (const { kind, key, eachKeys } of blocks.values())
      if (eachKeys === undefined) addresses.add(formatAddress({ within, kind, key }));
      else for (const each of eachKeys) addresses.add(formatAddress({ within, kind, key, each }));
  const declared: Declared = {
    within,
    addresses,
    rooms,
    blocks: perKind((kind) => expanded[kind].blocks),
    disabled: perKind((kind) => expanded[kind].disabled),
    suggestions: rooms.get("")?.suggestions ?? { left: 100 },
  };
  rooms.set(within, declared);
  return declared;
}

const namesKind = new RegExp(`^(?:[^.]*/)?(?:${kinds.join("|")})\\.`);

/** The forms of a reference one after the other, each with its own refusal. */
export function readReference(
  subject: Subject,
  value: unknown,
  kind: Kind,
  path: Path,
  declared: Declared,
): Reference | undefined {
  if (isMap(value)) {
    const own = subjectWithin(subject, ...path);
    const id = readUnmanagedId(own, value);
    requireKey(own, value, "id", "add id: and the id of the resource");
    return id === undefined ? undefined : { id };
  }
  if (typeof value === "object") return reportValue(subject, path, value, "a key, an address, or { id: … }");
  const text = String(value).trim();
  if (text === selfWordOf[kind] && subject.address !== undefined) return { address: subject.address };
  const handed = referenceIn(text);
  if (holdsOpen(text)) return reportComputed(subject, text, kind, path, declared);
  const parts = parseAddress(handed ?? (text.includes(".") && namesKind.test(text) ? text : `${kind}.${text}`));
  if (parts !== undefined && parts.kind !== kind)
    return reportValue(subject, path, withoutReference(text), `a ${kind}`, { code: "config/unknown-reference" });
  if (handed !== undefined) return { address: handed };
  if (parts?.within !== undefined)
    return reportValue(subject, path, text, `a ${kind} by its key`, {
      code: "config/unknown-reference",
      fix: fixOfHandingOut(kind, formatAddress({ ...parts, within: "" }), parts.within),
    });
  const address = parts === undefined ? undefined : formatAddress({ ...parts, within: declared.within });
  if (address !== undefined && declared.addresses.has(address)) return { address };
  const problem = unknownAddress(address ?? `${kind}.${text}`, kind, declared, text.startsWith(`${kind}.`));
  return reportAt(subject, path, problem);
}

const fixOfHandingOut = (what: string, reference: string, within: string): string =>
  `names in a component are its own: let it hand the ${what} out (outputs: { NAME: "\${${reference}}" }), and write \${component.${componentPath(within)[0]?.slice(0, -1)}.NAME}`;

/**
 * How a resource, or with `attribute` a value of it, is named in the components `within`: there, out of a component that
 * is used there, or through a parameter. `undefined`: the way leads through more than one file.
 */
export function fixOfNaming(address: string, within: string, attribute?: string): string | undefined {
  const parts = parseAddress(address);
  if (parts === undefined) return undefined;
  const { within: own = "", ...local } = parts;
  const name = formatAddress(local);
  const reference = attribute === undefined ? name : `${name}.${attribute}`;
  if (own === within) return `write ${attribute === undefined ? keyWithin(name) : `\${${reference}}`}`;
  if (own.startsWith(within)) return fixOfHandingOut(attribute ?? parts.kind, reference, own.slice(within.length));
  return within.startsWith(own)
    ? `hand it to the component where that is used: with: { NAME: "\${${reference}}" }`
    : undefined;
}

/** A value of a resource, such as `${group.web.id}`, where the resource itself is to be named. */
function reportComputed(subject: Subject, text: string, kind: Kind, path: Path, { within }: Declared): undefined {
  const address = onlyComputed(text)?.address ?? "";
  return reportAt(subject, path, {
    code: "config/unknown-reference",
    summary: `${withoutMarks(text, within)} is a value, and here a ${kind} is named`,
    detail: `expected a ${kind} by its key`,
    fix: parseAddress(address)?.kind === kind ? fixOfNaming(address, within) : undefined,
  });
}

interface UnknownReference {
  readonly code: ConfigCode;
  readonly summary: string;
  readonly detail?: string;
  readonly fix?: string;
}

/**
 * Why an address names nothing, and what it might have meant. `full`: suggest addresses and not keys; what is in the
 * component that is asked from has no other name there than its own.
 */
export function unknownAddress(address: string, kind: Kind, from: Declared, full: boolean): UnknownReference {
  const parts = parseAddress(address);
  const path = parts?.within ?? "";
  const declared = from.rooms.get(path);
  if (declared === undefined) return unknownComponent(path, from, address.slice(path.length));
  const within = declared === from ? undefined : declared.within;
  const written = (key: string, each: string | undefined): string =>
    full ? formatAddress({ within, kind, key, each }) : formatAddress({ kind, key, each }).slice(kind.length + 1);
  const named: NamedResource = { address, kind, key: parts?.key ?? address.slice(kind.length + 1), each: parts?.each };
  const block = parts === undefined ? undefined : declared.blocks[kind].get(parts.key);
  if (block !== undefined) return unknownInstance(named, block.eachKeys, declared, written);
  if (declared.disabled[kind].has(named.key)) return notEnabled(address);
  return unknownBlock(named, declared, written, full);
}

interface NamedResource {
  readonly address: string;
  readonly kind: Kind;
  readonly key: string;
  readonly each: string | undefined;
}

type AddressWriter = (key: string, each: string | undefined) => string;

/** The block exists, but not this instance of it. */
function unknownInstance(
  { address, kind, key, each }: NamedResource,
  keys: readonly string[] | undefined,
  declared: Declared,
  written: AddressWriter,
): UnknownReference {
  if (keys === undefined)
    return {
      code: "config/unknown-reference",
      summary: `${address} is not declared`,
      detail: `${kind}.${key} has no for_each`,
      fix: `write ${written(key, undefined)}`,
    };
  const nearest = each === undefined ? keys[0] : (didYouMean(each, keys, declared) ?? keys[0]);
  return {
    ...(each === undefined
      ? {
          code: "config/reference-needs-key",
          summary: `${address} has a for_each: the reference must name one of its keys`,
        }
      : { code: "config/unknown-reference", summary: `${address} is not declared` }),
    detail: keys.length === 0 ? "its for_each is empty" : `its keys are ${listed(keys)}`,
    fix: nearest === undefined ? undefined : `write ${written(key, nearest)}`,
  };
}

function unknownBlock(
  { address, kind, key, each: wanted }: NamedResource,
  declared: Declared,
  written: AddressWriter,
  full: boolean,
): UnknownReference {
  const blocks = declared.blocks[kind];
  const nearest = didYouMean(key, blocks.keys(), declared);
  const keys = nearest === undefined ? undefined : blocks.get(nearest)?.eachKeys;
  const each = wanted !== undefined && keys?.includes(wanted) ? wanted : keys?.[0];
  const declareFirst = `declare it under ${sectionOf[kind]}${full ? "" : ", or write { id: … } for one that is not managed here"}`;
  return {
    code: "config/unknown-reference",
    summary: `${address} is not declared`,
    detail:
      blocks.size === 0
        ? `there are no ${sectionOf[kind]}`
        : nearest === undefined
          ? `there is ${listed([...blocks.keys()])}`
          : undefined,
    fix: nearest === undefined ? declareFirst : `write ${written(nearest, each)}`,
  };
}

const didYouMean = (name: string, candidates: Iterable<string>, declared: Declared): string | undefined =>
  declared.suggestions.left-- > 0 ? nearestName(name, candidates) : undefined;

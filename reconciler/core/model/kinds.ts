/**
 * The kinds of resources there are: one row each, with all that is said of a kind and is not a decision. What a kind's
 * fields are stands in fields.ts, and what the service shows of it in live.ts.
 */
import { isOneOf, tableOf } from "../text/objects";

/** Every kind there is, in the order in which they are listed and, where nothing else decides, planned. */
export const kinds = ["group", "vm", "volume"] as const;
export type Kind = (typeof kinds)[number];

interface KindRow {
  /** The key of the YAML section that declares it. */
  readonly section: string;
  /** The word for the kind in a sentence. */
  readonly noun: string;
  /** The word for the kind where the short word could mean another thing. */
  readonly fullNoun: string;
  /** The values to which a file may refer, beside the resource itself: `${vm.db.private_ip}`. */
  readonly attributes: readonly string[];
  /** What is lost when a resource of the kind is replaced or deleted, in the words of a plan. */
  readonly whenReplaced: readonly string[];
  readonly whenDeleted: readonly string[];
  /** In a picture, on light and dark and in the shade for dark alone. */
  readonly tone: { readonly colour: string; readonly onDark: string };
}

/** In the order in which a file has its sections. */
export const kindRows = {
  vm: {
    section: "vms",
    noun: "VM",
    fullNoun: "VM",
    attributes: ["id", "name", "private_ip", "floating_ip"],
    whenReplaced: ["new id, new address"],
    whenDeleted: ["with its root disk"],
    tone: { colour: "#0969da", onDark: "#58a6ff" },
  },
  volume: {
    section: "volumes",
    noun: "volume",
    fullNoun: "volume",
    attributes: ["id", "name", "size"],
    whenReplaced: ["an empty one takes its place"],
    whenDeleted: ["with its data"],
    tone: { colour: "#9a6700", onDark: "#d29922" },
  },
  group: {
    section: "groups",
    noun: "group",
    fullNoun: "security group",
    attributes: ["id", "name"],
    whenReplaced: ["new id, without a gap in what it admits"],
    whenDeleted: [],
    tone: { colour: "#8250df", onDark: "#bc8cff" },
  },
} as const satisfies Record<Kind, KindRow>;

/** The words under which files, listings and a dump of the emulator have the resources of a kind. */
export type Section = (typeof kindRows)[Kind]["section"];

export const isKind = (word: unknown): word is Kind => isOneOf(word, kinds);

/** A table with a value for each kind. */
export const perKind = <T>(make: (kind: Kind) => T): Readonly<Record<Kind, T>> => tableOf(kinds, make);

/** The same where each kind has values of its own type: `make` takes them from a table by the same kind. */
export const eachKind = <T extends Readonly<Record<Kind, unknown>>>(make: (kind: Kind) => T[Kind]): T =>
  tableOf<Kind, unknown>(kinds, make) as T;

export type IdsOfKinds = Readonly<Record<Kind, ReadonlySet<string>>>;

export const sectionOf: Readonly<Record<Kind, string>> = perKind((kind) => kindRows[kind].section);

export type ByKind<T> = (kind: Kind, name: string) => readonly T[];

const isOfKind = <K extends Kind, T extends { readonly kind: string }>(
  one: T,
  kind: K,
): one is Extract<T, { readonly kind: K }> => one.kind === kind;

/** An address has one kind, and so has everything under it. */
export const ofKind = <K extends Kind, T extends { readonly kind: string }>(
  one: T | undefined,
  kind: K,
): Extract<T, { readonly kind: K }> | undefined => (one !== undefined && isOfKind(one, kind) ? one : undefined);

/** Those of one kind, in their order. */
export const allOfKind = <K extends Kind, T extends { readonly kind: string }>(
  all: Iterable<T>,
  kind: K,
): (T & { readonly kind: K })[] => Array.from(all).filter((one): one is T & { readonly kind: K } => one.kind === kind);

/** Each kind is indexed when it is first asked for. */
export function lazilyByKind<T>(build: (kind: Kind) => ReadonlyMap<string, readonly T[]>): ByKind<T> {
  const indexes = new Map<Kind, ReadonlyMap<string, readonly T[]>>();
  return (kind, name) => {
    let index = indexes.get(kind);
    if (index === undefined) {
      index = build(kind);
      indexes.set(kind, index);
    }
    return index.get(name) ?? [];
  };
}

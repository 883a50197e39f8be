/**
 * The kinds of resources there are, with what only loops over them. What a kind is stands in its folder of
 * reconciler/kinds, and what the service shows of it in live.ts.
 */
import type { KindDefinition } from "../../kinds/definition";
import { kindTable, plannedFirst } from "../../kinds/table";
import { lazily } from "../text/lazily";
import { isOneOf, keysOf, tableOf } from "../text/objects";

export type Kind = keyof typeof kindTable;

/** Every kind there is, in the order in which they are listed and, where nothing else decides, planned. */
export const kinds: readonly Kind[] = [
  ...plannedFirst,
  ...keysOf(kindTable).filter((kind) => !isOneOf(kind, plannedFirst)),
];

export const definitionOf = (kind: Kind): KindDefinition => kindTable[kind];

/** Those of the kinds that run a guest. */
export const runsGuest = (kind: Kind): boolean => definitionOf(kind).runsGuest === true;

/** The words of each, in the order in which a file has its sections. */
export const kindRows = tableOf<Kind, unknown>(keysOf(kindTable), (kind) => kindTable[kind].words) as {
  // Each is the one that the kind says.
  readonly [K in Kind]: (typeof kindTable)[K]["words"];
};

/** The words under which files, listings and a dump of the emulator have the resources of a kind. */
export type Section = (typeof kindTable)[Kind]["words"]["section"];

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
  const indexes = perKind((kind) => lazily(() => build(kind)));
  return (kind, name) => indexes[kind]().get(name) ?? [];
}

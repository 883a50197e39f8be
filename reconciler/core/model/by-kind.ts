/** Telling things apart by kind, and looking them up by kind and name. */
import type { Kind } from "./address";

export type ByKind<T> = (kind: Kind, name: string) => readonly T[];

const isOfKind = <K extends Kind, T extends { readonly kind: Kind }>(
  one: T,
  kind: K,
): one is Extract<T, { readonly kind: K }> => one.kind === kind;

/** An address has one kind, and so has everything under it. */
export const ofKind = <K extends Kind, T extends { readonly kind: Kind }>(
  one: T | undefined,
  kind: K,
): Extract<T, { readonly kind: K }> | undefined => (one !== undefined && isOfKind(one, kind) ? one : undefined);

/** Each kind is indexed when it is first asked for. */
export function lazilyByKind<T>(build: Record<Kind, () => ReadonlyMap<string, readonly T[]>>): ByKind<T> {
  const indexes = new Map<Kind, ReadonlyMap<string, readonly T[]>>();
  return (kind, name) => {
    let index = indexes.get(kind);
    if (index === undefined) {
      index = build[kind]();
      indexes.set(kind, index);
    }
    return index.get(name) ?? [];
  };
}

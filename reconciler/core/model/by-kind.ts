/** Looking things up by kind and name; each kind is indexed when it is first asked for. */
import type { Kind } from "./address";

export type ByKind<T> = (kind: Kind, name: string) => readonly T[];

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

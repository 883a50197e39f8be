/**
 * Names of the catalogue against ids. A flavor named and the same flavor by id are one flavor; without a list, only
 * equal text is known to be equal.
 */
import type { CatalogueEntry } from "../model/live";

export type Resolved =
  | { readonly found: "one"; readonly entry: CatalogueEntry }
  | { readonly found: "none" }
  | { readonly found: "several"; readonly entries: readonly CatalogueEntry[] }
  /** There is no list to look in. */
  | { readonly found: "unlisted" };

export interface Index {
  readonly byId: ReadonlyMap<string, CatalogueEntry>;
  readonly byName: ReadonlyMap<string, readonly CatalogueEntry[]>;
}

export function indexCatalogue(entries: readonly CatalogueEntry[] | undefined): Index | undefined {
  if (entries === undefined) return undefined;
  const byId = new Map<string, CatalogueEntry>();
  const byName = new Map<string, CatalogueEntry[]>();
  for (const entry of entries) {
    byId.set(entry.id, entry);
    if (entry.name === undefined) continue;
    const same = byName.get(entry.name);
    if (same === undefined) byName.set(entry.name, [entry]);
    else if (!same.some((other) => other.id === entry.id)) same.push(entry);
  }
  return { byId, byName };
}

export function resolveEntry(text: string, index: Index | undefined): Resolved {
  if (index === undefined) return { found: "unlisted" };
  const byId = index.byId.get(text);
  if (byId !== undefined) return { found: "one", entry: byId };
  const entries = index.byName.get(text) ?? [];
  if (entries.length === 0) return { found: "none" };
  const [only, ...others] = entries;
  return only !== undefined && others.length === 0 ? { found: "one", entry: only } : { found: "several", entries };
}

/** A service may show a name in other letters than its list has. Where one entry alone is called so, it is that one. */
export function resolveShown(text: string, index: Index | undefined): Resolved {
  const resolved = resolveEntry(text, index);
  if (resolved.found !== "none" || index === undefined) return resolved;
  const folded = text.toLowerCase();
  const alike = [...index.byName.keys()].filter((name) => name.toLowerCase() === folded);
  return alike.length === 1 ? resolveEntry(alike[0] ?? text, index) : resolved;
}

/** The id a text stands for, or the text itself when nothing better is known. */
export function catalogueId(text: string, index: Index | undefined): string {
  const resolved = resolveShown(text, index);
  return resolved.found === "one" ? resolved.entry.id : text;
}

/**
 * Whether what a record shows is the entry with this id. `undefined`: one is a name and the other an id, and no list
 * brings them together.
 */
export function isEntry(shown: string, id: string, index: Index | undefined): boolean | undefined {
  if (shown === id) return true;
  const resolved = resolveShown(shown, index);
  if (resolved.found === "one") return resolved.entry.id === id;
  return isUuid(shown) === isUuid(id) ? false : undefined;
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
export const isUuid = (text: string): boolean => uuidPattern.test(text);

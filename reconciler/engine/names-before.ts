/**
 * Which ids bore a name before a run: what a create must not take for its own. Indexed on first use, because asking
 * for each of ten thousand creates must not walk ten thousand sightings.
 */
import type { Kind } from "../core/model/address";
import type { Live, Sighting } from "../core/model/live";

/** VMs and groups by the name in lower case, as the service keeps it; volumes by the name as it is. */
export type NamesBefore = (kind: Kind, name: string) => readonly string[];

type Named = { readonly id: string; readonly name?: string };

export function indexNamesBefore(live: Live): NamesBefore {
  const indexes = new Map<Kind, ReadonlyMap<string, readonly string[]>>();
  const build: Record<Kind, () => ReadonlyMap<string, readonly string[]>> = {
    vm: () => idsByName(live.vms ?? [], true),
    volume: () => idsByName(seen(live.volumes), false),
    group: () => idsByName(seen(live.groups), true),
  };
  return (kind, name) => {
    let index = indexes.get(kind);
    if (index === undefined) {
      index = build[kind]();
      indexes.set(kind, index);
    }
    return index.get(name) ?? [];
  };
}

function* seen(sightings: ReadonlyMap<string, Sighting<Named>>): Generator<Named> {
  for (const sighting of sightings.values()) if (sighting.seen === "yes") yield sighting.value;
}

function idsByName(things: Iterable<Named>, lowerCase: boolean): Map<string, string[]> {
  const index = new Map<string, string[]>();
  for (const { id, name } of things) {
    if (name === undefined) continue;
    const key = lowerCase ? name.toLowerCase() : name;
    const ids = index.get(key);
    if (ids === undefined) index.set(key, [id]);
    else ids.push(id);
  }
  return index;
}

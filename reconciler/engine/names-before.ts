/**
 * Which ids bore a name before a run: what a create must not take for its own. Indexed on first use, because asking
 * for each of ten thousand creates must not walk ten thousand sightings.
 */
import { type ByKind, lazilyByKind } from "../core/model/by-kind";
import type { Live, Sighting } from "../core/model/live";

/** VMs and groups by the name in lower case, as the service keeps it; volumes by the name as it is. */
export type NamesBefore = ByKind<string>;

type Named = { readonly id: string; readonly name?: string };

export function indexNamesBefore(live: Live): NamesBefore {
  return lazilyByKind({
    vm: () => idsByName(live.vms ?? [], true),
    volume: () => idsByName(seen(live.volumes), false),
    group: () => idsByName(seen(live.groups), true),
  });
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

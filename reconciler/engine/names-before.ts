/**
 * Which ids bore a name before a run: what a create must not take for its own. Indexed on first use, because asking
 * for each of ten thousand creates must not walk ten thousand sightings.
 */

import { hasPlainNames } from "../core/model/fields";
import { type ByKind, lazilyByKind } from "../core/model/kinds";
import { type Live, shownOf } from "../core/model/live";
import { appendTo } from "../core/text/objects";

/** By the name in lower case where the service keeps it so; others by the name as it is. */
export type NamesBefore = ByKind<string>;

type Named = { readonly id: string; readonly name?: string };

export const indexNamesBefore = (live: Live): NamesBefore =>
  lazilyByKind((kind) => idsByName(shownOf(live, kind), hasPlainNames[kind]));

function idsByName(things: Iterable<Named>, lowerCase: boolean): Map<string, string[]> {
  const index = new Map<string, string[]>();
  for (const { id, name } of things) {
    if (name === undefined) continue;
    const key = lowerCase ? name.toLowerCase() : name;
    appendTo(index, key, id);
  }
  return index;
}

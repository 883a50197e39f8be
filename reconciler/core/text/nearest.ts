/**
 * The right name for a misspelt one: the candidate with the fewest edits, when it is close enough to be meant. `flavour`
 * is close to the first word of `flavor_id`, which counts as one edit more than being close to all of a name.
 */
import { itemAt } from "./invariant";

export function nearestName(name: string, candidates: Iterable<string>, most = Infinity): string | undefined {
  const limit = Math.min(most, Math.max(1, Math.floor(name.length / 3)));
  let best: string | undefined;
  let bestDistance = limit + 1;
  for (const candidate of candidates) {
    const distance = distanceTo(name.toLowerCase(), candidate.toLowerCase(), bestDistance);
    if (distance < bestDistance || (distance === bestDistance && best !== undefined && candidate < best)) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** What is said of the nearest name, where one is near enough. */
export function nearestText(
  name: string,
  candidates: Iterable<string>,
  says: (near: string) => string,
): string | undefined {
  const near = nearestName(name, candidates);
  return near === undefined ? undefined : says(near);
}

function distanceTo(name: string, candidate: string, limit: number): number {
  const word = candidate.indexOf("_");
  const whole = editDistance(name, candidate, limit);
  return word < 0 ? whole : Math.min(whole, 1 + editDistance(name, candidate.slice(0, word), limit));
}

/** Levenshtein with adjacent swaps counted once; gives up (with `limit + 1`) when every path is already longer. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    let smallest = i;
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(
        itemAt(previous, j) + 1,
        itemAt(current, j - 1) + 1,
        itemAt(previous, j - 1) + (same ? 0 : 1),
      );
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, itemAt(beforePrevious, j - 2) + 1);
      current.push(cost);
      if (cost < smallest) smallest = cost;
    }
    if (smallest > limit) return limit + 1;
    beforePrevious = previous;
    previous = current;
  }
  return itemAt(previous, b.length);
}

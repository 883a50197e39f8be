/** Order among named things, by Kahn's algorithm; knows nothing of steps. Ties keep the order they were given in. */

import { itemAt, mustGet } from "../text/invariant";
import { appendTo } from "../text/objects";

export interface Ordered<N extends string> {
  readonly order: readonly N[];
  /** The nodes that have no order: members of cycles and what depends on them. */
  readonly stuck: readonly N[];
}

export function orderNodes<N extends string>(nodes: readonly N[], needs: (node: N) => Iterable<string>): Ordered<N> {
  const { order, open } = orderBreakingCycles(nodes, needs);
  // What came before the first cycle was broken waits for none.
  const [broken] = open.keys();
  const free = broken === undefined ? order : order.slice(0, order.indexOf(broken));
  const placed = new Set(free);
  return { order: free, stuck: nodes.filter((node) => !placed.has(node)) };
}

/** Everything that comes before it, however many lie between, and itself. */
export function withAllBefore<N extends string>(node: N, needs: (node: N) => Iterable<N>): ReadonlySet<N> {
  const reached = new Set([node]);
  for (const one of reached) for (const before of needs(one)) reached.add(before);
  return reached;
}

/**
 * An order for everything, cycles included: whenever all that is left waits for something, the first in the given
 * order goes next with its edges left open. Returns for each node the needs that could not be kept.
 */
export function orderBreakingCycles<N extends string>(
  nodes: readonly N[],
  needs: (node: N) => Iterable<string>,
): { readonly order: readonly N[]; readonly open: ReadonlyMap<N, readonly string[]> } {
  const known = new Set<string>(nodes);
  const remaining = new Map(
    nodes.map((node) => [node, new Set([...needs(node)].filter((before) => known.has(before) && before !== node))]),
  );
  const neededBy = new Map<string, N[]>();
  for (const [node, befores] of remaining) for (const before of befores) appendTo(neededBy, before, node);
  const order: N[] = [];
  const placed = new Set<N>();
  const open = new Map<N, readonly string[]>();
  const free = nodes.filter((node) => mustGet(remaining, node).size === 0);
  let next = 0;
  const place = (node: N): void => {
    placed.add(node);
    order.push(node);
    for (const later of neededBy.get(node) ?? []) {
      const left = mustGet(remaining, later);
      left.delete(node);
      if (left.size === 0 && !placed.has(later)) free.push(later);
    }
  };
  let candidate = 0;
  while (order.length < nodes.length) {
    if (next < free.length) {
      const node = itemAt(free, next++);
      if (!placed.has(node)) place(node);
      continue;
    }
    while (placed.has(itemAt(nodes, candidate))) candidate++;
    const node = itemAt(nodes, candidate);
    open.set(node, [...mustGet(remaining, node)]);
    place(node);
  }
  return { order, open };
}

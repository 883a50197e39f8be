/**
 * Which parts go, and whether they can: the blocks that are meant, the circles that would lie across the cut, and the
 * volumes that would part from their VM. Blocks are named without their for_each keys: a block goes whole.
 */
import { blockOf, componentPath } from "../../core/model/address";
import type { Diagnostic } from "../../core/model/diagnostic";
import { nearestText } from "../../core/text/nearest";

/** Blocks by name (`vm.db`, `shop/`), and the blocks that each of them mentions. */
export type NameGraph = ReadonlyMap<string, ReadonlySet<string>>;

export interface CutProblem extends Pick<Diagnostic, "summary" | "detail" | "source"> {
  readonly fix: string;
}

/** `vm.db`, `shop/`, and patterns with `*`: `volume.db-*`, `group.*`. */
export function chosen(
  patterns: readonly string[],
  blocks: readonly string[],
): { readonly moved: ReadonlySet<string>; readonly problems: readonly CutProblem[] } {
  const moved = new Set<string>();
  const problems: CutProblem[] = [];
  for (const pattern of patterns) {
    const matches = blocks.filter((block) => isMatch(pattern, block));
    for (const block of matches) moved.add(block);
    if (matches.length > 0) continue;
    const whole = blockOfAddress(pattern);
    if (blocks.includes(whole))
      problems.push({
        summary: `${pattern} is a part of ${whole}, which is written once for all of its parts`,
        fix: `move ${whole}, or write that part as a block of its own first`,
      });
    else
      problems.push({
        summary: `the files declare nothing that ${pattern} means`,
        fix:
          nearestText(pattern, blocks, (near) => `did you mean ${near}?`) ??
          "reconcile state list shows what is managed",
      });
  }
  return { moved, problems };
}

function isMatch(pattern: string, block: string): boolean {
  if (!pattern.includes("*")) return pattern === block;
  const text = pattern.replaceAll(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", "[^/]*");
  return new RegExp(`^${text}$`).test(block);
}

/** `vm.web[a]` is of the block `vm.web`; `shop/vm.web` of the component `shop/`. */
export const blockOfAddress = (address: string): string => {
  const [outermost] = componentPath(address);
  return outermost === undefined ? blockOf(address) : `${blockOf(outermost.slice(0, -1))}/`;
};

/** What both reaches and is reached by something across the cut. */
export function circleAcross(graph: NameGraph, moved: ReadonlySet<string>): CutProblem | undefined {
  const circles = stronglyConnected(graph).filter(
    (members) => members.some((one) => moved.has(one)) && members.some((one) => !moved.has(one)),
  );
  const [first] = circles;
  if (first === undefined) return undefined;
  const also = circles.flatMap((members) => members.filter((one) => !moved.has(one))).sort();
  return {
    summary: `the cut goes through a circle: ${pathOf(graph, first).join(" -> ")}`,
    detail: "Each side would read from the other what that one can only make with the first.",
    fix: `move ${also.join(", ")} too; fewer would leave a circle`,
  };
}

/** A way from a member of the circle back to itself. */
function pathOf(graph: NameGraph, members: readonly string[]): string[] {
  const within = new Set(members);
  const [start = ""] = [...members].sort();
  const before = new Map<string, string>();
  const queue = [start];
  for (let at = queue.shift(); at !== undefined; at = queue.shift())
    for (const next of graph.get(at) ?? []) {
      if (!within.has(next)) continue;
      if (next === start) {
        const path = [start];
        for (let one: string | undefined = at; one !== undefined && one !== start; one = before.get(one))
          path.unshift(one);
        return [start, ...path];
      }
      if (before.has(next)) continue;
      before.set(next, at);
      queue.push(next);
    }
  return [...members];
}

/** Tarjan's algorithm, without recursion: a chain of blocks may be long. */
function stronglyConnected(graph: NameGraph): string[][] {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const onStack = new Set<string>();
  const stack: string[] = [];
  const found: string[][] = [];
  for (const root of graph.keys()) {
    if (index.has(root)) continue;
    const work: { readonly node: string; readonly next: Iterator<string> }[] = [];
    const enter = (node: string): void => {
      index.set(node, index.size);
      low.set(node, index.size - 1);
      stack.push(node);
      onStack.add(node);
      work.push({ node, next: (graph.get(node) ?? new Set<string>())[Symbol.iterator]() });
    };
    enter(root);
    for (let top = work.at(-1); top !== undefined; top = work.at(-1)) {
      const { node } = top;
      const step = top.next.next();
      if (step.done !== true) {
        const other = step.value;
        if (!graph.has(other)) continue;
        if (!index.has(other)) enter(other);
        else if (onStack.has(other)) low.set(node, Math.min(low.get(node) ?? 0, index.get(other) ?? 0));
        continue;
      }
      work.pop();
      const parent = work.at(-1);
      if (parent !== undefined) low.set(parent.node, Math.min(low.get(parent.node) ?? 0, low.get(node) ?? 0));
      if (low.get(node) !== index.get(node)) continue;
      const members: string[] = [];
      for (let one = stack.pop(); one !== undefined; one = stack.pop()) {
        onStack.delete(one);
        members.push(one);
        if (one === node) break;
      }
      found.push(members);
    }
  }
  return found;
}

/**
 * Which parts go, and whether they can: the blocks that are meant, the circles that would lie across the cut, and the
 * volumes that would part from their VM. Blocks are named without their for_each keys: a block goes whole.
 */
import { blockOf, componentPath } from "../../core/model/address";
import type { Diagnostic } from "../../core/model/diagnostic";
import { nearestText } from "../../core/text/nearest";
import { appendTo } from "../../core/text/objects";

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

/** Kosaraju's algorithm: from the last that ended, all that lead to it, and that no later one has taken. */
function stronglyConnected(graph: NameGraph): string[][] {
  const back = new Map<string, string[]>();
  for (const [from, all] of graph) for (const to of all) appendTo(back, to, from);
  const ended = treesOf(graph.keys(), (node) => graph.get(node) ?? []).flat();
  return treesOf(ended.reverse(), (node) => back.get(node) ?? []).reverse();
}

/** What each root reaches first, in the order in which it is left. Without recursion: a chain of blocks may be long. */
function treesOf(roots: Iterable<string>, nextOf: (node: string) => Iterable<string>): string[][] {
  const seen = new Set<string>();
  return [...roots].map((root) => {
    const left: string[] = [];
    const open = [{ node: root, isLeft: false }];
    for (let top = open.pop(); top !== undefined; top = open.pop()) {
      const { node, isLeft } = top;
      if (isLeft) left.push(node);
      else if (!seen.has(node)) {
        seen.add(node);
        open.push({ node, isLeft: true });
        for (const next of nextOf(node)) open.push({ node: next, isLeft: false });
      }
    }
    return left;
  });
}

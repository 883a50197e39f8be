/**
 * Moves, each resolved to where it ends: `a -> b` and `b -> c` give `a -> c` and `b -> c`, so that a state of any age
 * finds its way. A circle ends nowhere and is refused, and so are two moves that contradict each other.
 */

import { type Address, isInstanceOf, kindOf, movedBy, parseAddress } from "../core/model/address";
import type { MovedRequest } from "../core/model/desired";
import type { Block } from "./blocks";
import { reportAt, type Subject } from "./fields";
import { type Declared, unknownAddress, unknownComponent } from "./references";
import { lineOf } from "./sources";
import { positionOf } from "./yaml/file";

export interface MovedEntry {
  readonly from: Address;
  readonly to: Address;
  readonly subject: Subject;
}

export function resolveMoves(moves: readonly MovedEntry[], declared: Declared): MovedRequest[] {
  const byFrom = new Map<Address, MovedEntry>();
  const byTo = new Map<Address, MovedEntry>();
  for (const move of moves) {
    if (!isValidMove(move, declared)) continue;
    const twice = byFrom.get(move.from);
    const joined = byTo.get(move.to);
    if (twice !== undefined) report(move, `${move.from} is moved twice`, "from", lineOfMove(twice));
    else if (joined !== undefined) report(move, `two resources are moved to ${move.to}`, "to", lineOfMove(joined));
    else {
      byFrom.set(move.from, move);
      byTo.set(move.to, move);
    }
  }
  const ends = new Map<Address, Address | undefined>();
  const targets = new Map([...byFrom.values()].map(({ from, to }) => [from, to]));
  return [...byFrom.values()].flatMap((move) => {
    const end = endOfMoves(move.from, targets, ends);
    if (end === undefined) {
      report(move, `the moves from ${move.from} go round in a circle`, "from", undefined, "take one of them out");
      return [];
    }
    // `shop/` to `store/`: everything in it goes along. A component with for_each goes as a whole, or key by key.
    const isComponent = end.endsWith("/");
    const isThere = isComponent ? isDeclared(end, declared) : declared.addresses.has(end);
    const isWhole = !isComponent && !isThere && isWholeBlock(end, move, declared);
    if (isWhole && blockAt(move.from, declared)?.eachKeys !== undefined) {
      reportDeclared(move);
      return [];
    }
    if (isThere || isWhole) return [{ from: move.from, to: end, source: positionOf(move.subject.place([])) }];
    const unknown = isComponent ? unknownComponent(end, declared) : unknownAddress(end, kindOf(end), declared, true);
    if (move.to === end) reportAt(move.subject, ["to"], { ...unknown, address: end });
    return [];
  });
}

/** `vm.web` to `vm.site`, both with for_each: each instance keeps its key. */
const isWholeBlock = (end: Address, move: MovedEntry, declared: Declared): boolean =>
  parseAddress(move.from)?.each === undefined && blockAt(end, declared)?.eachKeys !== undefined;

/** The block that an address without a key is of. */
function blockAt(address: Address, { rooms }: Declared): Block | undefined {
  const parts = parseAddress(address);
  return parts === undefined || parts.each !== undefined
    ? undefined
    : rooms.get(parts.within ?? "")?.blocks[parts.kind].get(parts.key);
}

/** Whether the files declare an address, a for_each block or a component. */
export function isDeclared(name: string, declared: Declared): boolean {
  if (declared.addresses.has(name)) return true;
  if (!name.endsWith("/")) return blockAt(name, declared) !== undefined;
  const component = name.slice(0, -1);
  return [...declared.rooms.keys()].some(
    (within) => within === name || (!component.endsWith("]") && within.startsWith(`${component}[`)),
  );
}

const takeOut = "take the move out";

function isValidMove(move: MovedEntry, declared: Declared): boolean {
  const { from, to } = move;
  if (from === to) report(move, `${from} is moved to itself`, "to", undefined, takeOut);
  else if (from.endsWith("/") !== to.endsWith("/"))
    report(
      move,
      `${from} cannot become ${to}`,
      "to",
      "a component becomes a component, and an address an address",
      takeOut,
    );
  else if (!from.endsWith("/") && kindOf(from) !== kindOf(to))
    report(move, `${from} cannot become ${to}`, "to", `a ${kindOf(from)} stays a ${kindOf(from)}`, takeOut);
  else if (from.endsWith("/") ? isDeclared(from, declared) && !isInstanceOf(to, from) : declared.addresses.has(from))
    reportDeclared(move);
  else return true;
  return false;
}

/** How a name is no longer declared: one of a for_each goes without its block. */
export const outOfFile = (name: string): string =>
  /\]\/?$/.test(name) ? "take its key out of the for_each" : "take its block out of the file";

const reportDeclared = (move: MovedEntry): void =>
  report(move, `${move.from} is moved, and still declared`, "from", undefined, `${outOfFile(move.from)}, or the move`);

/** Where the chain ends; `undefined` for a circle. Each address is walked once, however many chains pass it. */
function endOfMoves(
  from: Address,
  moves: ReadonlyMap<Address, Address>,
  ends: Map<Address, Address | undefined>,
): Address | undefined {
  const walked = new Set<Address>();
  let at = from;
  let next = movedBy(at, moves);
  // A chain may grow with each hop (`a/` to `a/b/`), and is as endless as one that comes back.
  while (next !== undefined && !ends.has(at) && !walked.has(at) && walked.size <= moves.size) {
    walked.add(at);
    at = next;
    next = movedBy(at, moves);
  }
  const end = ends.has(at) ? ends.get(at) : next === undefined ? at : undefined;
  for (const address of walked) ends.set(address, end);
  return end;
}

const lineOfMove = (move: MovedEntry): string => `the other one is in ${lineOf(move.subject.place([]))}`;

function report(
  move: MovedEntry,
  summary: string,
  key: "from" | "to",
  detail?: string,
  fix = "keep one of the two",
): void {
  reportAt(move.subject, [key], { code: "config/invalid-move", summary, detail, fix, address: move[key] });
}

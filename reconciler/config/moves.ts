/**
 * Moves, each resolved to where it ends: `a -> b` and `b -> c` give `a -> c` and `b -> c`, so that a state of any age
 * finds its way. A circle ends nowhere and is refused, and so are two moves that contradict each other.
 */

import { type Address, kindOf, parseAddress } from "../core/model/address";
import type { MovedRequest } from "../core/model/desired";
import { mustGet } from "../core/text/invariant";
import type { Subject } from "./fields";
import { type Declared, unknownAddress } from "./references";
import { lineOf } from "./sources";
import { positionOf } from "./yaml-file";

export interface Move {
  readonly from: Address;
  readonly to: Address;
  readonly subject: Subject;
}

export function resolveMoves(moves: readonly Move[], declared: Declared): MovedRequest[] {
  const byFrom = new Map<Address, Move>();
  const byTo = new Map<Address, Move>();
  for (const move of moves) {
    if (!isSound(move, declared)) continue;
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
  return [...byFrom.values()].flatMap((move) => {
    const end = endOf(move.from, byFrom, ends);
    if (end === undefined) {
      report(move, `the moves from ${move.from} go round in a circle`, "from", undefined, "take one of them out");
      return [];
    }
    const isWhole = !declared.addresses.has(end) && isWholeBlock(end, move, declared);
    if (isWhole && blockOf(move.from, declared)?.eachKeys !== undefined) {
      reportDeclared(move);
      return [];
    }
    if (!declared.addresses.has(end) && !isWhole) {
      if (move.to === end)
        move.subject.problems.add({
          ...unknownAddress(end, kindOf(end), declared, true),
          address: end,
          at: move.subject.place(["to"]),
        });
      return [];
    }
    return [{ from: move.from, to: end, source: positionOf(move.subject.place([])) }];
  });
}

/** `vm.web` to `vm.site`, both with for_each: each instance goes with its key. */
const isWholeBlock = (end: Address, move: Move, declared: Declared): boolean =>
  parseAddress(move.from)?.each === undefined && blockOf(end, declared)?.eachKeys !== undefined;

const blockOf = (address: Address, declared: Declared) =>
  declared.blocks[kindOf(address)].get(address.slice(address.indexOf(".") + 1));

function isSound(move: Move, declared: Declared): boolean {
  const { from, to } = move;
  if (from === to) report(move, `${from} is moved to itself`, "to", undefined, "take the move out");
  else if (kindOf(from) !== kindOf(to))
    report(move, `${from} cannot become ${to}`, "to", `a ${kindOf(from)} stays a ${kindOf(from)}`);
  else if (declared.addresses.has(from)) reportDeclared(move);
  else return true;
  return false;
}

const reportDeclared = (move: Move): void =>
  report(
    move,
    `${move.from} is moved, and still declared`,
    "from",
    undefined,
    "take its block out of the file, or the move",
  );

/** Where the chain ends; `undefined` for a circle. Each address is walked once, however many chains pass it. */
function endOf(
  from: Address,
  byFrom: ReadonlyMap<Address, Move>,
  ends: Map<Address, Address | undefined>,
): Address | undefined {
  const walked = new Set<Address>();
  let at = from;
  while (byFrom.has(at) && !ends.has(at) && !walked.has(at)) {
    walked.add(at);
    at = mustGet(byFrom, at).to;
  }
  const end = ends.has(at) ? ends.get(at) : walked.has(at) ? undefined : at;
  for (const address of walked) ends.set(address, end);
  return end;
}

const lineOfMove = (move: Move): string => `the other one is in ${lineOf(move.subject.place([]))}`;

function report(move: Move, summary: string, key: "from" | "to", detail?: string, fix = "keep one of the two"): void {
  move.subject.problems.add({
    code: "config/invalid-move",
    summary,
    detail,
    fix,
    address: move[key],
    at: move.subject.place([key]),
  });
}

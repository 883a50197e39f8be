/** Moves records between two states, or between the states of each environment, and writes the files that say the same. */
import { randomUUID } from "node:crypto";
import type { Diagnostic } from "../../core/model/diagnostic";
import type { State } from "../../core/model/recorded";
import type { Asked, HandoverProblem } from "../../core/state/handover";
import { inShell } from "../../core/text/in-shell";
import {
  handOver,
  type Move,
  noteMove,
  type Sides,
  type TransferSide,
  takeBackTransfer,
  transferStanding,
} from "../../engine/transfer";
import type { StateStore } from "../../store/store";
import type { Invocation } from "../command";
import { commandHolder, fail, knownPlace, newLineage } from "../compose";
import { CommandFailed } from "../crash";
import { folderBeside, locationFrom, openMoving } from "../other-state";
import { carryOutEdits, forgetEdits, type MoveEdits } from "./edits";

/** The states of a move, opened. `own`: the side that is the command's own. */
export const movesBetween = (
  { id, at, by, states, folders: [files] }: MoveEdits,
  { command, flags }: Pick<Invocation, "command" | "flags">,
  own: keyof Sides,
): readonly Move[] =>
  states.map(({ giving, taking, asked }) => {
    const side = (which: keyof Sides, location: string, other: string): TransferSide => ({
      store: openMoving(location, { folder: folderBeside(location, files ?? "."), flags, own: own === which }),
      shown: locationFrom(other, location),
    });
    const move: Move = {
      id,
      at,
      by,
      sides: { giving: side("giving", giving, taking), taking: side("taking", taking, giving) },
      holder: commandHolder(command),
      lineage: newLineage,
      decide: () => asked,
    };
    return files === undefined ? move : { ...move, files };
  });

/** Goes on with a move that is written down. Nothing of it was done where no state has taken anything yet. */
export async function goOnWith(
  edits: MoveEdits,
  invocation: Pick<Invocation, "command" | "flags">,
  own: keyof Sides,
): Promise<"finished" | "undone"> {
  const moves = movesBetween(edits, invocation, own);
  let isBegun = false;
  for (const move of moves) isBegun ||= (await transferStanding(move)) === "begun";
  if (isBegun) await afterNotes(moves, () => carryOutEdits(edits));
  else for (const move of moves) await takeBackTransfer(move);
  forgetEdits(edits);
  return isBegun ? "finished" : "undone";
}

async function afterNotes(moves: readonly Move[], writeFiles: () => void): Promise<void> {
  for (const move of moves) await handOver(move);
  writeFiles();
  for (const move of moves) await takeBackTransfer(move);
}

/** The whole move. Throws, with the notes taken back, where one of the states cannot give or take. */
export async function carryOutMove(
  moves: readonly Move[],
  writeFiles: () => void,
  expected?: (move: Move, giving: State, taking: State) => boolean,
): Promise<readonly Asked["addresses"][]> {
  const addresses: Asked["addresses"][] = [];
  for (const [index, move] of moves.entries()) {
    const noted = await noteMove(move, (giving, taking) => expected?.(move, giving, taking) ?? true);
    if (noted !== "moved on" && noted.problems === undefined) {
      addresses.push(noted.handover.addresses);
      continue;
    }
    for (const before of moves.slice(0, index)) await takeBackTransfer(before);
    throw new CommandFailed(
      noted === "moved on"
        ? [
            {
              severity: "error",
              code: "state/moved-on",
              summary: "a state or a file was changed since the move was planned; nothing was moved",
              fix: "run the same command again",
            },
          ]
        : noted.problems.map((problem) => handoverDiagnostic(problem, move.sides)),
    );
  }
  await afterNotes(moves, writeFiles);
  return addresses;
}

export function handoverDiagnostic(
  problem: HandoverProblem,
  sides: Readonly<Record<keyof Sides, Pick<TransferSide, "store">>>,
): Diagnostic {
  const [giving, taking] = [sides.giving.store.location, sides.taking.store.location];
  switch (problem.is) {
    case "occupied":
      return {
        severity: "error",
        code: "state/occupied",
        summary: `the state ${taking} already has a ${problem.address}`,
        fix: "give one of the two another address first: reconcile state mv, with a moved entry in its file",
        address: problem.address,
      };
    case "damaged":
      return {
        severity: "error",
        code: "state/quarantined",
        summary: `the record of ${problem.address} is damaged, and what cannot be read is not moved`,
        fix: "repair it first: reconcile plan says how, in the project that has this record",
        address: problem.address,
      };
    case "twice":
      return {
        severity: "error",
        code: "state/occupied",
        summary: `${problem.address} is ${problem.id}, which the state ${taking} has already, as ${problem.as}`,
        detail: "Two states that have one resource change it in turns.",
        fix: `make sure which of the two is right, and take the other out: reconcile state rm ${inShell(problem.as)}`,
        address: problem.address,
      };
    case "elsewhere":
      return {
        severity: "error",
        code: "consent/accept-service",
        summary: `the states ${giving} and ${taking} are not of one service and project: ${problem.why}`,
        detail: "A record is of one service and one project.",
        fix: "name a state of the same service and project",
      };
  }
}

/** `state mv --to-state`: records alone, without files. `choose` sees the state under no lock, and again under both. */
export async function moveToState(
  invocation: Pick<Invocation, "command" | "flags">,
  { store, location }: { readonly store: StateStore; readonly location: string },
  otherState: string,
  choose: (state: State) => readonly (readonly [string, string])[],
): Promise<void> {
  const taking = knownPlace(otherState);
  const other = openMoving(taking, { folder: folderBeside(taking, "."), flags: invocation.flags });
  if (other.location === store.location)
    throw fail("cli/usage", "--to-state names the state itself", "reconcile state mv FROM TO, without --to-state");
  const { who, host } = commandHolder(invocation.command);
  await carryOutMove(
    [
      {
        id: randomUUID(),
        at: new Date().toISOString(),
        by: `${who} on ${host}`,
        sides: {
          giving: { store, shown: locationFrom(taking, location) },
          taking: { store: other, shown: locationFrom(location, taking) },
        },
        holder: commandHolder(invocation.command),
        lineage: newLineage,
        decide: (giving) => ({ addresses: Object.fromEntries(choose(giving)) }),
      },
    ],
    () => undefined,
  );
}

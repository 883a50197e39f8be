/**
 * A command that writes finds a move half done: it finishes the move and begins anew, with the files as they are then.
 */
import { resolve } from "node:path";
import type { Transfer } from "../../core/model/recorded";
import { itemAt } from "../../core/text/invariant";
import type { HalfMoved } from "../../engine/half-moved";
import { finishStates, type StatePair, type TransferSide, takeBackTransfer } from "../../engine/transfer";
import { countOf } from "../../report/style";
import type { StateStore } from "../../store/store";
import type { Command, Invocation } from "../command";
import { commandHolder, fail, newLineage, openStore, stateLocation } from "../compose";
import type { Flags } from "../flags";
import { folderBeside, locationFrom, locationNamed, openMoving } from "../other-state";
import { isPlanFile } from "../plan-file";
import { chosenEnvironment, environmentsOf, readWorkspace, type Workspace } from "../workspace";
import { type MoveEdits, writtenDown } from "./edits";
import { goOnWith } from "./states";

/** Commands that take no lock write nothing, and only say what they found. */
export const canFinish = ({ flags }: Pick<Command, "flags">): boolean => flags.includes("lock-timeout");

export async function finishMoves(
  { location: found, moves }: HalfMoved,
  command: Pick<Command, "positionals">,
  invocation: Invocation,
): Promise<void> {
  const { output } = invocation;
  // The arguments of a command without a rule for them are files.
  const args = command.positionals === undefined ? invocation.args.filter((path) => !isPlanFile(path)) : [];
  const { workspace, own, flags } = ownState(found, args, invocation);
  const isOwn = own.location === found;
  const location = isOwn ? stateLocation(workspace, flags) : found;
  const store = isOwn ? own : openMoving(found, { folder: folderBeside(found, workspace.folder), flags, own: true });
  for (const [id, note] of Object.entries(moves)) {
    const otherLocation = locationNamed(location, note.other);
    const many = countOf(Object.keys(note.addresses).length, "resource");
    const named = `move of ${many} between ${location} and ${note.other}, which was cut off at ${note.at}`;
    const edits = editsOfMove(id, note, workspace);
    let ended: "finished" | "undone";
    if (edits !== undefined)
      ended = await goOnWith(edits, { ...invocation, flags }, note.side === "taking" ? "taking" : "giving");
    else {
      const folder = folderBeside(otherLocation, workspace.folder);
      const mine: TransferSide = { store, shown: locationFrom(otherLocation, location) };
      const theirs: TransferSide = { store: openMoving(otherLocation, { folder, flags }), shown: note.other };
      const sides = note.side === "taking" ? { giving: theirs, taking: mine } : { giving: mine, taking: theirs };
      const pair: StatePair = { id, sides, holder: commandHolder(invocation.command), lineage: newLineage };
      ended = await finishStates(pair);
      if (ended === "finished") assertFilesAgree(note, workspace);
      await takeBackTransfer(pair);
    }
    output.note(ended === "finished" ? `Finished the ${named}.` : `Took back the ${named} before it began.`);
  }
}

interface OwnState {
  readonly workspace: Workspace;
  readonly own: StateStore;
  readonly flags: Flags;
}

/** Of a move of all environments, the one whose state was found; the first, where it is the other project's. */
function ownState(found: string, args: readonly string[], invocation: Invocation): OwnState {
  const inOne = (flags: Flags): OwnState => {
    const workspace = readWorkspace({ ...invocation, flags }, { args, needed: false });
    return { workspace, own: openStore(workspace, flags), flags };
  };
  const { flags } = invocation;
  if (chosenEnvironment(flags) !== "all") return inOne(flags);
  const each = environmentsOf({ args, flags }).map((env) => inOne({ ...flags, env }));
  return each.find(({ own }) => own.location === found) ?? itemAt(each, 0);
}

const editsOfMove = (id: string, { files }: Transfer, { folder }: Workspace): MoveEdits | undefined =>
  files === undefined ? undefined : (writtenDown(folder, id) ?? writtenDown(resolve(files), id));

/** The edits lie on another machine: then the files here have to say by themselves that they are from after the move. */
function assertFilesAgree({ files, side, addresses }: Transfer, { desired, given }: Workspace): void {
  if (files === undefined || given.length === 0) return;
  const declared = new Set(desired.resources.map(({ address }) => address));
  const isTaking = side === "taking";
  const wrong = isTaking
    ? Object.values(addresses).filter((address) => !declared.has(address))
    : Object.keys(addresses).filter((address) => declared.has(address));
  if (wrong.length === 0) return;
  const named = wrong.slice(0, 3).join(", ") + (wrong.length > 3 ? ", …" : "");
  throw fail(
    "state/half-moved",
    isTaking
      ? `the files here are from before a move: ${named} came, and they do not declare it yet`
      : `the files here are from before a move: ${named} went, and they declare it still`,
    `take the files from where the move was begun (${files}), or run reconcile apply there`,
  );
}

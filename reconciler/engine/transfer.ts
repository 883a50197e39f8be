/**
 * Moves records between states, under the locks of both, in an order that no kill can break. Between any two writes at
 * least one state has each record, and while both may have one, a note in each forbids every plan and every other write:
 *
 *  1. the giving state notes what it is about to give                       (`noteMove`)
 *  2. the taking state writes the records, with where they come from        (`handOver`)
 *  3. the giving state lets them go, with where they went                   (`handOver`)
 *  4. the files are written, where there are any
 *  5. the taking state takes its note back, and then the giving one         (`takeBackTransfer`)
 *
 * Each is one append, and does nothing where it was done before. Before 2 the move never was, and can be taken back.
 */
import type { State, StateChange, Transfer } from "../core/model/recorded";
import {
  type Asked,
  changesOfGiving,
  decideHandover,
  type Handover,
  type HandoverAnswer,
} from "../core/state/handover";
import { ifAny, onlyDefined } from "../core/text/objects";
import type { Holder, StateStore } from "../store/store";
import { openForWriting } from "./apply";
import { assertWhole, HalfMoved } from "./half-moved";
import type { Recorder } from "./recorder";

/** One of the two states, and where it lies as the other one names it. */
export interface TransferSide {
  readonly store: StateStore;
  readonly shown: string;
}

export interface Sides {
  readonly giving: TransferSide;
  readonly taking: TransferSide;
}

/** Between which states, and under which name. */
export interface StatePair {
  readonly id: string;
  readonly sides: Sides;
  readonly holder: Holder;
  readonly lineage: () => string;
}

export interface Move extends StatePair {
  readonly at: string;
  readonly by: string;
  /** What goes, from the states as they are under both locks. */
  readonly decide: (giving: State, taking: State) => Asked;
  /** The folder in which the edits of the files are written down. */
  readonly files?: string;
}

interface OpenedPair {
  readonly giving: Recorder;
  readonly taking: Recorder;
}

/** Locks both states, always in one order, so that two moves in opposite directions do not wait for each other. */
async function underBoth<T>(
  { sides: { giving, taking }, holder, lineage }: StatePair,
  use: (opened: OpenedPair) => Promise<T>,
): Promise<T> {
  const isGivingFirst = giving.store.location < taking.store.location;
  const [first, second] = isGivingFirst ? [giving, taking] : [taking, giving];
  const open = async ({ store }: TransferSide): Promise<Recorder> =>
    (await openForWriting(store, holder, lineage(), undefined, { duringMove: true })).recorder;
  const under = async <R>(side: TransferSide, act: (recorder: Recorder) => Promise<R>): Promise<R> => {
    const recorder = await open(side);
    let result: R;
    try {
      result = await act(recorder);
    } catch (error) {
      await recorder.close().catch(() => undefined);
      throw error;
    }
    await recorder.close();
    return result;
  };
  return under(first, (one) =>
    under(second, (other) => use(isGivingFirst ? { giving: one, taking: other } : { giving: other, taking: one })),
  );
}

/** `expected`: the serials that the states had when somebody looked whether they may; others by now are a refusal. */
export const noteMove = (
  move: Move,
  isAsExpected: (giving: State, taking: State) => boolean = () => true,
): Promise<HandoverAnswer | "moved on"> =>
  underBoth(move, async ({ giving, taking }) => {
    const { id, sides } = move;
    if (giving.state.moves?.[id] === undefined) {
      assertWhole(giving.state, sides.giving.store.location);
      assertWhole(taking.state, sides.taking.store.location);
      if (!isAsExpected(giving.state, taking.state)) return "moved on";
    }
    const asked = move.decide(giving.state, taking.state);
    const decided = decideHandover(giving.state, taking.state, asked);
    if (decided.problems !== undefined) return { problems: decided.problems };
    const outputs = asked.outputs?.giving;
    if (giving.state.moves?.[id] === undefined)
      await giving.record([transferNote(move, "giving", decided.handover, outputs === undefined ? {} : { outputs })]);
    return { handover: decided.handover };
  });

const transferNote = (
  { id, at, by, files, sides }: Move,
  side: Transfer["side"],
  { addresses, orphans }: Handover,
  more: Pick<Transfer, "outputs"> = {},
): StateChange => ({
  type: "transfer",
  id,
  transfer: {
    side,
    other: (side === "taking" ? sides.giving : sides.taking).shown,
    at,
    by,
    addresses,
    ...onlyDefined({ orphans: ifAny(orphans), files }),
    ...more,
  },
});

/** For a move that is noted. */
export const handOver = (move: Move): Promise<void> =>
  underBoth(move, async ({ giving, taking }) => {
    const { id } = move;
    if (giving.state.moves?.[id]?.side !== "giving") return;
    if (taking.state.moves?.[id] === undefined) {
      const decided = decideHandover(giving.state, taking.state, move.decide(giving.state, taking.state));
      // The taking state was written since it was noted: the next command takes it back.
      if (decided.problems !== undefined) throw new HalfMoved(move.sides.giving.store.location, giving.state.moves);
      await taking.record([...decided.handover.taken, transferNote(move, "taking", decided.handover)]);
    }
    await letRecordsGo(giving, id);
  });

async function letRecordsGo(giving: Recorder, id: string): Promise<void> {
  const note = giving.state.moves?.[id];
  if (note?.side === "giving") await giving.record(changesOfGiving(giving.state, id, note));
}

export const takeBackTransfer = (pair: StatePair): Promise<void> =>
  underBoth(pair, async ({ giving, taking }) => {
    const change: StateChange = { type: "transfer", id: pair.id, transfer: null };
    if (taking.state.moves?.[pair.id] !== undefined) await taking.record([change]);
    if (giving.state.moves?.[pair.id] !== undefined) await giving.record([change]);
  });

/** How far a move has come, for whoever finds it. */
export const transferStanding = (pair: StatePair): Promise<"nothing" | "noted" | "begun"> =>
  underBoth(pair, async ({ giving, taking }) => {
    const given = giving.state.moves?.[pair.id];
    if (taking.state.moves?.[pair.id] !== undefined || given?.side === "gave") return "begun";
    return given === undefined ? "nothing" : "noted";
  });

/** Goes on from the notes alone, as far as the states go. `undone`: it never began, and its note is taken back. */
export function finishStates(pair: StatePair): Promise<"finished" | "undone"> {
  return underBoth(pair, async ({ giving, taking }) => {
    const { id } = pair;
    if (taking.state.moves?.[id] === undefined && giving.state.moves?.[id]?.side !== "gave") return "undone";
    await letRecordsGo(giving, id);
    return "finished";
  });
}

/** What stands in two states at each moment of a move of records, and what whoever finds it half done does (engine/transfer.ts). */
import { describe, expect, it } from "vitest";
import { writeSnapshot } from "../../reconciler/core/state/text";
import { HalfMoved } from "../../reconciler/engine/half-moved";
import {
  finishStates,
  handOver,
  type Move,
  noteMove,
  takeBackTransfer,
  transferStanding,
} from "../../reconciler/engine/transfer";
import { givingState, stateIn, takingState } from "../move/moving-states";
import { holder } from "../support/engine-on";
import { createMemoryStore, type MemoryStore } from "../support/virtual-world";

const addresses = { "vm.db": "vm.db", "vm.none": "vm.none" };

function stage(more: Partial<Move> = {}) {
  const order: string[] = [];
  const storeAt = (location: string, snapshot: string): MemoryStore => {
    const store = createMemoryStore({ snapshot, journal: [] }, 2);
    const { lock } = store;
    return Object.assign(store, {
      location,
      lock: async (wanted: Parameters<typeof lock>[0]) => {
        order.push(location);
        return lock(wanted);
      },
    });
  };
  const giving = storeAt("b-giving", writeSnapshot(givingState()));
  const taking = storeAt("a-taking", writeSnapshot(takingState()));
  const move: Move = {
    id: "move-1",
    at: "2026-05-04T00:00:00.000Z",
    by: "tester",
    sides: { giving: { store: giving, shown: "the giving one" }, taking: { store: taking, shown: "the taking one" } },
    holder,
    lineage: () => "lineage",
    decide: () => ({ addresses, outputs: { giving: { left: { value: "1" } }, taking: { came: { value: "2" } } } }),
    ...more,
  };
  /** Who has the record, and which note each state has. */
  const stands = async (): Promise<string> => {
    const [one, other] = [await stateIn(giving), await stateIn(taking)];
    const has = (state: typeof one): string => (state.resources.has("vm.db") ? "has it" : "lacks it");
    return [
      `giving ${has(one)}`,
      one.moves?.["move-1"]?.side ?? "no note",
      `taking ${has(other)}`,
      other.moves?.["move-1"]?.side ?? "no note",
    ].join(", ");
  };
  return { giving, taking, move, order, stands };
}

describe("a move", () => {
  it("goes through its moments in order, and each step is done once", async () => {
    const { move, stands, giving, taking } = stage({ files: "/edits" });
    expect([await transferStanding(move), await stands()]).toEqual([
      "nothing",
      "giving has it, no note, taking lacks it, no note",
    ]);
    expect(await noteMove(move)).toMatchObject({ handover: { addresses: { "vm.db": "vm.db" } } });
    expect([await transferStanding(move), await stands()]).toEqual([
      "noted",
      "giving has it, giving, taking lacks it, no note",
    ]);
    const note = (await stateIn(giving)).moves?.["move-1"];
    expect(note).toEqual({
      side: "giving",
      other: "the taking one",
      at: move.at,
      by: "tester",
      addresses: { "vm.db": "vm.db" },
      files: "/edits",
      outputs: { left: { value: "1" } },
    });
    const written = giving.writes;
    expect(await noteMove(move)).toMatchObject({ handover: {} });
    expect(giving.writes).toBe(written);
    await handOver(move);
    expect([await transferStanding(move), await stands()]).toEqual([
      "begun",
      "giving lacks it, gave, taking has it, taking",
    ]);
    const [one, other] = [await stateIn(giving), await stateIn(taking)];
    expect([one.outputs, other.outputs, other.moves?.["move-1"]?.other]).toEqual([
      { left: { value: "1" } },
      { came: { value: "2" } },
      "the giving one",
    ]);
    const both = [giving.writes, taking.writes];
    await handOver(move);
    expect([giving.writes, taking.writes]).toEqual(both);
    await takeBackTransfer(move);
    expect([await transferStanding(move), await stands()]).toEqual([
      "nothing",
      "giving lacks it, no note, taking has it, no note",
    ]);
    const last = [giving.writes, taking.writes];
    await takeBackTransfer(move);
    expect([giving.writes, taking.writes]).toEqual(last);
  });

  it("locks the two states in one order, whichever gives", async () => {
    const there = stage();
    await transferStanding(there.move);
    const { giving, taking } = there.move.sides;
    await transferStanding({ ...there.move, sides: { giving: taking, taking: giving } });
    expect(there.order).toEqual(["a-taking", "b-giving", "a-taking", "b-giving"]);
  });

  it("that another one may be half done with is refused, from either side", async () => {
    for (const side of ["giving", "taking"] as const) {
      const { move } = stage();
      await noteMove({
        ...move,
        id: "another",
        ...(side === "taking"
          ? {
              sides: { giving: move.sides.taking, taking: move.sides.giving },
              decide: () => ({ addresses: { "vm.other": "vm.other" } }),
            }
          : {}),
      });
      await expect(noteMove(move)).rejects.toBeInstanceOf(HalfMoved);
    }
  });

  it("of states that have moved on is not noted, and one that is noted already goes on", async () => {
    const { move, stands } = stage();
    expect(await noteMove(move, () => false)).toBe("moved on");
    expect(await stands()).toBe("giving has it, no note, taking lacks it, no note");
    await noteMove(move);
    expect(await noteMove(move, () => false)).toMatchObject({ handover: {} });
  });

  it("that cannot be made is not noted", async () => {
    const { move, stands } = stage({ decide: () => ({ addresses: { "vm.db": "vm.other" } }) });
    expect(await noteMove(move)).toEqual({ problems: [{ is: "occupied", address: "vm.other" }] });
    expect(await stands()).toBe("giving has it, no note, taking lacks it, no note");
  });

  it("that is not noted is not handed over", async () => {
    const { move, stands } = stage();
    await handOver(move);
    expect(await stands()).toBe("giving has it, no note, taking lacks it, no note");
  });

  it("that was noted, and cannot be made any more, hands nothing over, and is taken back as one that was cut off", async () => {
    const { move, stands } = stage();
    await noteMove(move);
    await expect(handOver({ ...move, decide: () => ({ addresses: { "vm.db": "vm.other" } }) })).rejects.toThrow(
      HalfMoved,
    );
    expect(await stands()).toBe("giving has it, giving, taking lacks it, no note");
    expect(await finishStates(move)).toBe("undone");
  });

  it("whose records the taking state has already lets them go", async () => {
    const { move, stands, giving } = stage();
    await noteMove(move);
    const before = { snapshot: giving.stored.snapshot, journal: [...giving.stored.journal] };
    await handOver(move);
    giving.stored = before as MemoryStore["stored"];
    expect(await stands()).toBe("giving has it, giving, taking has it, taking");
    expect(await transferStanding(move)).toBe("begun");
    await handOver(move);
    expect(await stands()).toBe("giving lacks it, gave, taking has it, taking");
  });

  it("that is found is finished once it has begun, and never was before that", async () => {
    const { move, stands, giving } = stage();
    expect(await finishStates(move)).toBe("undone");
    await noteMove(move);
    const noted = { snapshot: giving.stored.snapshot, journal: [...giving.stored.journal] };
    expect(await finishStates(move)).toBe("undone");
    await handOver(move);
    giving.stored = noted as MemoryStore["stored"];
    expect(await finishStates(move)).toBe("finished");
    expect(await stands()).toBe("giving lacks it, gave, taking has it, taking");
    expect(await finishStates(move)).toBe("finished");
  });

  it("frees both states where something in between fails", async () => {
    const { move, giving, taking } = stage({
      decide: () => {
        throw new Error("in between");
      },
    });
    await expect(noteMove(move)).rejects.toThrow("in between");
    expect([await giving.holder(), await taking.holder()]).toEqual([undefined, undefined]);
  });
});

it.each<readonly [addresses: readonly string[], said: RegExp]>([
  [["vm.a"], /^a move between here and there is half done \(vm\.a; begun at T by me\)$/],
  [["vm.a", "vm.b", "vm.c"], /\(vm\.a, vm\.b, vm\.c; begun/],
  [["vm.a", "vm.b", "vm.c", "vm.d", "vm.e"], /\(vm\.a, vm\.b, vm\.c and 2 more; begun/],
])("a state with half a move of %j says so", (names, said) => {
  const note = {
    side: "giving",
    other: "there",
    at: "T",
    by: "me",
    addresses: Object.fromEntries(names.map((name) => [name, name])),
  } as const;
  const error = new HalfMoved("here", { m: note });
  expect(error.message).toMatch(said);
  expect(error.diagnostics).toMatchObject([{ code: "state/half-moved", fix: expect.stringContaining("apply") }]);
});

it("a state with a note of which nothing is known says that", () => {
  expect(new HalfMoved("here", {}).message).toBe(
    "a move between here and another state is half done (; begun at an unknown time by somebody)",
  );
});

/** What a trial learns of the word at which something stays that it has deleted (engine/doctor/trial/away.ts). */
import { expect, it } from "vitest";
import type { LiveVm } from "../../reconciler/core/model/live";
import { accepted } from "../../reconciler/core/model/outcome";
import { builtInDialect } from "../../reconciler/dialect/built-in";
import { takeAwayOne } from "../../reconciler/engine/doctor/trial/away";
import type { Trial } from "../../reconciler/engine/doctor/trial/watch";

async function learntOf(status: string) {
  let now = 0;
  let isDeleted = false;
  const thing = { kind: "vm", id: "v-1", name: "trial-abcdef", askedAt: 0 } as const;
  const vm = (word: string): LiveVm => ({
    kind: "vm",
    id: "v-1",
    name: "trial-abcdef",
    phase: "changing",
    status: word,
  });
  const meant: string[] = [];
  const words: { vm: Record<string, Set<string>> } = { vm: {} };
  const trial = {
    client: {
      can: { readsOne: () => true, canFindCreated: () => false },
      getVm: async () => accepted(vm(isDeleted ? status : "ACTIVE")),
      deleteVm: async () => {
        isDeleted = true;
        return accepted({ preservedVolumes: [] });
      },
    },
    ports: { clock: { now: () => now }, timing: { quietMs: 10, mostMs: 500 } },
    wait: async () => {
      now += 10;
    },
    words,
    hidden: new Map(),
    isOfEarlier: false,
    isDeleted: () => false,
    isLively: () => false,
    isNoted: () => true,
    isOfOthers: () => false,
    markDeleted: () => undefined,
    shownNow: async () => ({ record: undefined }),
    say: () => undefined,
    mean: (of: Record<string, Set<string>>, phase: string, word: string) => {
      meant.push(`${phase} ${word}`);
      of[phase] = new Set([word]);
    },
    made: { root: new Set() },
    notes: { made: [thing], note: () => thing, drop: () => undefined },
    report: { dialect: builtInDialect, emptied: new Set(), samples: new Map() },
    errors: [],
    left: [] as string[],
    open: [] as string[],
  };
  await takeAwayOne(trial as unknown as Trial, thing);
  return { meant, left: trial.left, asked: trial.open.length };
}

it("a word at which a deleted VM rests means that it is gone", async () => {
  expect(await learntOf("SOFT_DELETED")).toEqual({ meant: ["gone SOFT_DELETED"], left: [], asked: 0 });
});

it("a word of progress does not, however long it stays: its delete may fail", async () => {
  const left = ["VM v-1 (trial-abcdef): it is there still, as deleting"];
  expect(await learntOf("deleting")).toEqual({ meant: [], left, asked: 1 });
});

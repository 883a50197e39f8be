/** How old an answer may be that somebody asks for, and what makes it too old (one/shared-looks.ts). */
import { describe, expect, it } from "vitest";
import { accepted, type Outcome } from "../../reconciler/core/model/outcome";
import { shareLooks } from "../../reconciler/one/shared-looks";
import type { ServiceClient } from "../../reconciler/service/client";

function stage(
  answers: Readonly<Record<string, (...args: readonly unknown[]) => unknown>> = {},
  can: object = { seesVolumes: "each" },
) {
  let now = 1_000_000;
  const reads: string[] = [];
  const read =
    (word: string, value: unknown) =>
    async (...args: readonly unknown[]): Promise<Outcome<unknown>> => {
      const id = typeof args[0] === "string" ? ` ${args[0]}` : "";
      reads.push(`${word}${id}`);
      const given = answers[`${word}${id}`] ?? answers[word];
      return (given === undefined ? accepted(value) : given(...args)) as Outcome<unknown>;
    };
  const sent = async () => accepted(undefined);
  const client = {
    can,
    origin: "here",
    listVms: read("vms", []),
    listVolumes: read("volumes", []),
    listGroups: read("groups", []),
    listImages: read("images", []),
    getVm: read("vm", {}),
    getVolume: read("volume", {}),
    createVolume: read("new volume", { id: "d-1" }),
    attachVolume: sent,
    detachVolume: sent,
    resizeVolume: sent,
    deleteVolume: sent,
    deleteVm: sent,
    stopVm: sent,
  } as unknown as ServiceClient;
  const looks = shareLooks(client, { now: () => now, sleep: async () => undefined });
  return {
    ...looks,
    reads,
    pass: (ms: number) => {
      now += ms;
    },
    now: () => now,
  };
}
type Stage = ReturnType<typeof stage>;
const s = 1000;

describe("an answer is asked for anew", () => {
  type Ask = (at: Stage) => Promise<unknown>;
  const rows: Readonly<
    Record<
      string,
      {
        readonly ask: Ask;
        readonly meanwhile?: readonly ((at: Stage) => unknown)[];
        readonly again?: Ask;
        readonly anew: boolean;
      }
    >
  > = {
    "a list, right away": { ask: ({ fresh }) => fresh.listVms(), anew: true },
    "the catalogue, within an hour": {
      ask: ({ fresh }) => fresh.listImages(),
      meanwhile: [({ pass }) => pass(3600 * s)],
      anew: false,
    },
    "the catalogue, after an hour": {
      ask: ({ fresh }) => fresh.listImages(),
      meanwhile: [({ pass }) => pass(3600 * s + 1)],
      anew: true,
    },
    "the catalogue for a removal": {
      ask: ({ forRemoval }) => forRemoval.listImages(),
      meanwhile: [({ pass }) => pass(3000 * s)],
      anew: false,
    },
    "the catalogue for a create": {
      ask: ({ forCreate }) => forCreate.listImages(),
      meanwhile: [({ pass }) => pass(3000 * s)],
      anew: false,
    },
    "the catalogue for a refresh": {
      ask: ({ recent }) => recent.listImages(),
      meanwhile: [({ pass }) => pass(3000 * s)],
      anew: false,
    },
    "a list for a create, within five seconds": {
      ask: ({ forCreate }) => forCreate.listVms(),
      meanwhile: [({ pass }) => pass(5 * s)],
      anew: false,
    },
    "a list for a create, after five seconds": {
      ask: ({ forCreate }) => forCreate.listVms(),
      meanwhile: [({ pass }) => pass(5 * s + 1)],
      anew: true,
    },
    "a list for a create, after something was changed": {
      ask: ({ forCreate }) => forCreate.listVms(),
      meanwhile: [({ fresh }) => fresh.stopVm("v")],
      anew: false,
    },
    "a list for a create, after something was deleted": {
      ask: ({ forCreate }) => forCreate.listVms(),
      meanwhile: [({ fresh }) => fresh.deleteVolume("d")],
      anew: true,
    },
    "a list for a create, that another asked for": {
      ask: ({ fresh }) => fresh.listVms(),
      again: ({ forCreate }) => forCreate.listVms(),
      anew: false,
    },
    "a VM for a create": { ask: ({ forCreate }) => forCreate.getVm("v"), anew: true },
    "a volume for a create, within ten minutes": {
      ask: ({ forCreate }) => forCreate.getVolume("d"),
      meanwhile: [({ pass }) => pass(600 * s)],
      anew: false,
    },
    "a volume for a create, after ten minutes": {
      ask: ({ forCreate }) => forCreate.getVolume("d"),
      meanwhile: [({ pass }) => pass(600 * s + 1)],
      anew: true,
    },
    "a volume for a create, after something was sent about it": {
      ask: ({ forCreate }) => forCreate.getVolume("d"),
      meanwhile: [({ fresh }) => fresh.resizeVolume("d", 9)],
      anew: true,
    },
    "a volume for a create, after something was sent about another": {
      ask: ({ forCreate }) => forCreate.getVolume("d"),
      meanwhile: [({ fresh }) => fresh.resizeVolume("e", 9)],
      anew: false,
    },
    "a list for a refresh, within fifteen seconds": {
      ask: ({ recent }) => recent.listVms(),
      meanwhile: [({ pass }) => pass(15 * s)],
      anew: false,
    },
    "a list for a refresh, after fifteen seconds": {
      ask: ({ recent }) => recent.listVms(),
      meanwhile: [({ pass }) => pass(15 * s + 1)],
      anew: true,
    },
    "a list for a refresh, after something was sent": {
      ask: ({ recent }) => recent.listVms(),
      meanwhile: [({ fresh }) => fresh.stopVm("v")],
      anew: true,
    },
    "a list for a refresh, that another asked for": {
      ask: ({ fresh }) => fresh.listVms(),
      again: ({ recent }) => recent.listVms(),
      anew: true,
    },
    "a volume for a removal, within fifteen seconds": {
      ask: ({ forRemoval }) => forRemoval.getVolume("d"),
      meanwhile: [({ pass }) => pass(15 * s)],
      anew: false,
    },
    "a volume for a removal, after fifteen seconds": {
      ask: ({ forRemoval }) => forRemoval.getVolume("d"),
      meanwhile: [({ pass }) => pass(15 * s + 1)],
      anew: true,
    },
    "a volume for a removal, after something was sent about it": {
      ask: ({ forRemoval }) => forRemoval.getVolume("d"),
      meanwhile: [({ fresh }) => fresh.detachVolume("d", "v", true)],
      anew: true,
    },
    "a list for a removal, after something was sent": {
      ask: ({ forRemoval }) => forRemoval.listVolumes(),
      meanwhile: [({ fresh }) => fresh.deleteVolume("d")],
      anew: false,
    },
    "a list for a removal, within fifteen seconds": {
      ask: ({ forRemoval }) => forRemoval.listVolumes(),
      meanwhile: [({ pass }) => pass(15 * s)],
      anew: false,
    },
    "a list for a removal, after a pause": {
      ask: ({ forRemoval }) => forRemoval.listVolumes(),
      meanwhile: [({ pass }) => pass(15 * s + 1)],
      anew: true,
    },
    "a look that makes sure, within fifteen seconds": {
      ask: ({ fresh }) => fresh.listVms(),
      again: ({ fresh }) => fresh.listVms({ makesSure: true }),
      meanwhile: [({ pass }) => pass(15 * s)],
      anew: false,
    },
    "a look that makes sure, after fifteen seconds": {
      ask: ({ fresh }) => fresh.listVms(),
      again: ({ fresh }) => fresh.listVms({ makesSure: true }),
      meanwhile: [({ pass }) => pass(15 * s + 1)],
      anew: true,
    },
  };
  it.each(Object.entries(rows))("%s", async (_, { ask, meanwhile = [], again = ask, anew }) => {
    const at = stage();
    await ask(at);
    for (const one of meanwhile) await one(at);
    const before = at.reads.length;
    await again(at);
    expect(at.reads.length - before).toBe(anew ? 1 : 0);
  });

  it("after it failed", async () => {
    let fails = true;
    const at = stage({ vms: () => (fails ? { status: "unavailable", reason: "503" } : accepted([])) });
    await at.forCreate.listVms();
    fails = false;
    expect((await at.forCreate.listVms()).status).toBe("accepted");
    await at.forRemoval.getVolume("d");
    expect(at.reads).toEqual(["vms", "vms", "volume d"]);
  });

  it.each<readonly [what: string, answer: object, reads: number]>([
    ["the answer to a create stands for its read", { id: "d-1", sizeGb: 5 }, 0],
    ["the answer to a create that goes on does not", { id: "d-1", changing: true }, 1],
    ["the answer to a create without an id does not", {}, 1],
  ])("%s", async (_, answer, reads) => {
    const at = stage({ "new volume": () => accepted(answer) });
    await at.fresh.createVolume({} as never, {} as never);
    at.pass(3600 * s);
    at.reads.length = 0;
    await at.forCreate.getVolume("d-1");
    expect(at.reads).toHaveLength(reads);
  });

  it("what is sent is busy while it is sent, and since then", async () => {
    const at = stage();
    expect(at.busyAt()).toBe(Number.NEGATIVE_INFINITY);
    const sending = at.fresh.stopVm("v");
    at.pass(5 * s);
    expect(at.busyAt()).toBe(at.now());
    await sending;
    const ended = at.now();
    at.pass(5 * s);
    expect(at.busyAt()).toBe(ended);
  });
});

describe("a list that is used after something was sent", () => {
  const vm = (id: string, ...volumes: readonly string[]) => ({
    id,
    phase: "running",
    volumes: volumes.map((one) => ({ id: one })),
  });
  const listed = async (at: Stage, which: "listVms" | "listVolumes" | "listGroups"): Promise<unknown> => {
    const answer = await at.forRemoval[which]();
    return answer.status === "accepted" ? answer.value : answer;
  };
  const world = () =>
    stage({
      vms: () => accepted([vm("v", "d", "e"), vm("w")]),
      volumes: () =>
        accepted([
          { id: "d", sizeGb: 1 },
          { id: "e", sizeGb: 2 },
        ]),
      groups: () => accepted([{ id: "g" }, { id: "h" }]),
      "volume d": () => accepted({ id: "d", attachedTo: "w" }),
      "volume e": () => accepted({ id: "e", attachedTo: "v" }),
      "vm v": () => accepted(vm("v", "e")),
    });
  it("is as it was, where it is about others", async () => {
    const at = world();
    await listed(at, "listVolumes");
    await at.fresh.stopVm("w");
    expect(await listed(at, "listVolumes")).toEqual([
      { id: "d", sizeGb: 1 },
      { id: "e", sizeGb: 2 },
    ]);
  });
  it("lacks what it was sent about, until that was read", async () => {
    const at = world();
    await listed(at, "listVolumes");
    await at.fresh.resizeVolume("d", 9);
    expect(await listed(at, "listVolumes")).toEqual([{ id: "e", sizeGb: 2 }]);
    await at.fresh.getVolume("d");
    expect(await listed(at, "listVolumes")).toEqual([
      { id: "d", attachedTo: "w" },
      { id: "e", sizeGb: 2 },
    ]);
  });
  it("of groups lacks what it was sent about, which nothing shows alone", async () => {
    const at = world();
    await listed(at, "listGroups");
    await (at.fresh as unknown as { stopVm(id: string): Promise<unknown> }).stopVm("g");
    expect(await listed(at, "listGroups")).toEqual([{ id: "h" }]);
  });
  it("of VMs shows no disk that was shown on another VM since", async () => {
    const at = world();
    await listed(at, "listVms");
    await at.fresh.detachVolume("d", "v", true);
    expect(await listed(at, "listVms")).toEqual([vm("v", "d", "e"), vm("w")]);
    await at.fresh.getVolume("d");
    expect(await listed(at, "listVms")).toEqual([vm("v", "e"), vm("w")]);
  });
  it("of VMs shows a disk that was shown on the same VM since", async () => {
    const at = world();
    await listed(at, "listVms");
    await at.fresh.resizeVolume("e", 9);
    await at.fresh.getVolume("e");
    expect(await listed(at, "listVms")).toEqual([vm("v", "d", "e"), vm("w")]);
  });
  it("of VMs shows what was read of one since something was sent about it", async () => {
    const at = world();
    await listed(at, "listVms");
    await at.fresh.stopVm("v");
    await at.fresh.getVm("v");
    expect(await listed(at, "listVms")).toEqual([vm("v", "e"), vm("w")]);
  });
  it("that is no list is handed on", async () => {
    const at = stage({ vms: () => accepted("odd") });
    await at.forRemoval.listVms();
    expect(await listed(at, "listVms")).toBe("odd");
  });
});

describe("many volumes that are read one after the other", () => {
  const many = async (at: Stage, count: number): Promise<void> => {
    for (let n = 0; n < count; n++) await at.fresh.getVolume(`d-${n}`, { amongOthers: true });
  };
  const volumes = Array.from({ length: 20 }, (_, n) => ({ id: `d-${n}`, sizeGb: 1, attachedTo: null }));
  const listing = (more: object = {}) => stage({ volumes: () => accepted(volumes), ...more }, { seesVolumes: "list" });
  it("are read from one list from the eleventh on", async () => {
    const at = listing();
    await many(at, 14);
    expect(at.reads).toEqual([...Array.from({ length: 10 }, (_, n) => `volume d-${n}`), "volumes"]);
  });
  it("are read one by one where there is no list", async () => {
    const at = stage({ volumes: () => accepted(volumes) });
    await many(at, 12);
    expect(at.reads).toHaveLength(12);
  });
  it("are read one by one where the list does not show where they hang", async () => {
    const at = stage(
      { volumes: () => accepted(volumes.map(({ id }) => ({ id, sizeGb: 1 }))) },
      { seesVolumes: "list" },
    );
    await many(at, 11);
    expect(at.reads.slice(-2)).toEqual(["volumes", "volume d-10"]);
  });
  it("are read one by one where the list shows one on its way, or lacks it", async () => {
    const at = stage({ volumes: () => accepted([{ ...volumes[10], changing: true }]) }, { seesVolumes: "list" });
    await many(at, 12);
    expect(at.reads.slice(-4)).toEqual(["volumes", "volume d-10", "volumes", "volume d-11"]);
  });
  it("begin anew after a pause", async () => {
    const at = listing();
    await many(at, 10);
    at.pass(15 * s + 1);
    at.reads.length = 0;
    await at.fresh.getVolume("d-15", { amongOthers: true });
    expect(at.reads).toEqual(["volume d-15"]);
  });
});

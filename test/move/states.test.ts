import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { carryOutMove, handoverDiagnostic } from "../../reconciler/cli/move/states";
import type { FoldedState } from "../../reconciler/core/state/fold";
import { decideHandover } from "../../reconciler/core/state/handover";
import { writeSnapshot } from "../../reconciler/core/state/text";
import { openForWriting } from "../../reconciler/engine/apply";
import { HalfMoved } from "../../reconciler/engine/half-moved";
import { finishStates, type Move, takeBackTransfer } from "../../reconciler/engine/transfer";
import { createMemoryStore } from "../../reconciler/store/memory";
import { openStateStore } from "../../reconciler/store/open";
import type { Holder, StateStore } from "../../reconciler/store/store";
import { countCampaign } from "../support/campaign-count";
import { makeFolder } from "../support/folder";
import { type PostgresServer, postgresMissing, startPostgres } from "../support/postgres-server";
import { type S3Server, type StateServer, startS3Server, startStateServer } from "../support/state-server";
import { contentOf, givingState, mortality, stateIn, takingState } from "./moving-states";

/** On stores that answer over the network, every n-th death is tried; 1 tries all. */
const stride = Number(process.env["MOVE_KILL_STRIDE"] ?? 13);

const holder: Holder = {
  who: "tester",
  host: "here",
  pid: process.pid,
  since: "2026-05-04T00:00:00Z",
  command: "move",
};
const addresses = { "vm.db": "vm.db", "vm.late": "vm.late", "vm.old": "vm.old", "vm.cache": "shop/vm.cache" };
const outputs = { giving: {}, taking: { db_ip: { value: "10.0.0.5" } } };

const moveBetween = (giving: StateStore, taking: StateStore, asked = { addresses, outputs }): Move => ({
  id: "move-1",
  at: "2026-05-04T00:00:00.000Z",
  by: "tester on here",
  sides: { giving: { store: giving, shown: "giving" }, taking: { store: taking, shown: "taking" } },
  holder,
  lineage: () => "lineage-new",
  decide: () => asked,
});

describe("what goes from one state to another", () => {
  it("goes whole: records, open creates, orphans, protection, sightings, outputs and history", () => {
    const decided = decideHandover(givingState(), takingState(), { addresses, outputs });
    if (decided.problems !== undefined) throw new Error(JSON.stringify(decided.problems));
    expect(decided.handover.taken).toMatchObject([
      { type: "resource", address: "vm.db", record: { id: "id-db", preventDestroy: true } },
      { type: "intent", address: "vm.late", intent: { name: "late", idsBefore: ["x"] } },
      { type: "resource", address: "shop/vm.cache", record: { address: "shop/vm.cache" } },
      { type: "orphan", key: "vm:id-old", orphan: { record: { address: "vm.old" } } },
      { type: "seen", addresses: ["vm.db"], at: "2026-05-02T10:00:00.000Z" },
      { type: "seen", addresses: ["vm.late", "shop/vm.cache"] },
      {
        type: "runs",
        runs: [
          { id: "run-1", brought: true, before: { "vm.db": null } },
          { id: "run-a", before: { "vm.other": null } },
          { id: "run-2", before: { "vm.db": { id: "id-db" } } },
        ],
      },
      { type: "outputs", outputs: { db_ip: { value: "10.0.0.5" } } },
    ]);
  });

  const other = (change: (state: FoldedState) => void): FoldedState => {
    const state = takingState();
    change(state);
    return state;
  };
  it.each<[string, FoldedState, object]>([
    [
      "an address that is taken",
      other(
        ({ resources }) =>
          void (resources as Map<string, unknown>).set("vm.db", takingState().resources.get("vm.other")),
      ),
      { is: "occupied", address: "vm.db" },
    ],
    [
      "a resource that the other state has by another address",
      other(
        ({ resources }) =>
          void (resources as Map<string, unknown>).set("vm.x", {
            ...givingState().resources.get("vm.db"),
            address: "vm.x",
          }),
      ),
      { is: "twice", address: "vm.db", id: "id-db", as: "vm.x" },
    ],
    [
      "a state of another project",
      { ...takingState(), scope: { origin: "https://cloud.example", project: "other" } },
      { is: "elsewhere" },
    ],
    [
      "a damaged record in its place",
      { ...takingState(), quarantined: [{ address: "vm.db", text: "?", problem: "damaged" }] },
      { is: "damaged", address: "vm.db" },
    ],
  ])("does not go to %s", (_, taking, problem) => {
    expect(decideHandover(givingState(), taking, { addresses }).problems).toMatchObject([problem]);
  });
});

it("a damaged record is repaired as plan says", () => {
  const store = createMemoryStore();
  const told = handoverDiagnostic({ is: "damaged", address: "vm.db" }, { giving: { store }, taking: { store } });
  expect(told).toMatchObject({ code: "state/quarantined", fix: expect.stringContaining("reconcile plan says how") });
});

let folder: string;
let http: StateServer;
let s3: S3Server;
let postgres: PostgresServer | undefined;
beforeAll(async () => {
  folder = makeFolder();
  http = await startStateServer({ kind: "gitlab", username: "ci", password: "canary-state-pw" });
  s3 = await startS3Server();
  if (postgresMissing === undefined) postgres = await startPostgres();
  Object.assign(process.env, {
    RECONCILE_STATE_USERNAME: "ci",
    RECONCILE_STATE_PASSWORD: "canary-state-pw",
    AWS_ENDPOINT_URL: s3.url,
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "tester",
    AWS_SECRET_ACCESS_KEY: "canary-aws",
  });
});
afterAll(async () => {
  await http.stop();
  await s3.stop();
  await postgres?.stop();
});

let states = 0;
const places: Readonly<Record<string, () => string>> = {
  "two files": () => join(folder, `state-${states++}.json`),
  HTTP: () => `${http.url}/state-${states++}`,
  S3: () => `s3://states/state-${states++}`,
  ...(postgresMissing === undefined ? { PostgreSQL: () => `${postgres?.url}?state=state-${states++}` } : {}),
};

async function newStores(place: () => string) {
  const open = async (state: FoldedState): Promise<StateStore> => {
    const store = openStateStore(place(), { environment: process.env });
    const session = await store.lock(holder);
    await session.replace(writeSnapshot({ ...state, epoch: session.epoch }));
    await session.release();
    return store;
  };
  return { giving: await open(givingState()), taking: await open(takingState()) };
}

/** What the next run does that writes: it finds the note, finishes the move, and begins. */
async function nextRun(own: StateStore, sides: Move["sides"]): Promise<string> {
  for (const { store } of Object.values(sides)) await store.breakLock();
  try {
    const { recorder } = await openForWriting(own, holder, "none");
    await recorder.close();
    return "nothing to finish";
  } catch (error) {
    if (!(error instanceof HalfMoved)) throw error;
    const pair = { id: "move-1", sides, holder, lineage: () => "none" };
    const ended = await finishStates(pair);
    await takeBackTransfer(pair);
    const { recorder } = await openForWriting(own, holder, "none");
    await recorder.close();
    return ended;
  }
}

const managing = (state: FoldedState): string[] =>
  [...state.resources.values(), ...state.intents.values()].map(({ name }) => String(name)).sort();

describe.each(Object.entries(places))("a move between states, in %s", (name, place) => {
  it("that dies at any durable write is finished or taken back by the next run of either side", async () => {
    const whole = mortality();
    const first = await newStores(place);
    await carryOutMove([moveBetween(whole.mortal(first.giving), whole.mortal(first.taking))], () => undefined);
    const all = managing(givingState());
    const moved = { giving: contentOf(await stateIn(first.giving)), taking: contentOf(await stateIn(first.taking)) };
    expect(managing(await stateIn(first.taking))).toEqual(["cache", "db", "late", "other"]);
    const violations: string[] = [];
    let tried = 0;
    for (let nth = 1; nth <= whole.writes(); nth++)
      for (const when of ["before", "after"] as const)
        for (const finisher of ["giving", "taking"] as const) {
          if (
            name !== "two files" &&
            (nth * 4 + Number(when === "after") * 2 + Number(finisher === "taking")) % stride !== 0
          )
            continue;
          tried++;
          const stores = await newStores(place);
          const { mortal } = mortality({ nth, when });
          const move = moveBetween(mortal(stores.giving), mortal(stores.taking));
          await expect(carryOutMove([move], () => undefined)).rejects.toThrow();
          const then = [await stateIn(stores.giving), await stateIn(stores.taking)].flatMap(managing);
          const nobodys = all.filter((one) => !then.includes(one));
          const { sides } = moveBetween(stores.giving, stores.taking);
          const ended = await nextRun(stores[finisher], sides);
          // A side without a note has nothing to finish; the other one then finishes its own.
          if (ended === "nothing to finish") await nextRun(stores[finisher === "giving" ? "taking" : "giving"], sides);
          const [giving, taking] = [await stateIn(stores.giving), await stateIn(stores.taking)];
          const now = [giving, taking].flatMap(managing).sort();
          const isMoved = managing(taking).includes("db");
          const asMoved =
            !isMoved ||
            (JSON.stringify(contentOf(giving)) === JSON.stringify(moved.giving) &&
              JSON.stringify(contentOf(taking)) === JSON.stringify(moved.taking));
          if (
            nobodys.length > 0 ||
            JSON.stringify(now) !== JSON.stringify([...all, "other"].sort()) ||
            !asMoved ||
            giving.moves !== undefined ||
            taking.moves !== undefined
          )
            violations.push(
              `${when} write ${nth}, ${finisher}: nobody had ${nobodys.join()}; now ${now.join()}${asMoved ? "" : ", not as moved"}`,
            );
        }
    countCampaign(`moves between states that die at a write, in ${name}`, tried, violations.length);
    expect(violations.join("\n")).toBe("");
  });
});

it("there and back the states are what they were", async () => {
  const { giving, taking } = await newStores(places["two files"]!);
  const before = [contentOf(await stateIn(giving)), contentOf(await stateIn(taking))];
  await carryOutMove([moveBetween(giving, taking)], () => undefined);
  const reversed = Object.fromEntries(Object.entries(addresses).map(([from, to]) => [to, from]));
  const back = moveBetween(taking, giving, {
    addresses: reversed,
    outputs: { giving: {}, taking: givingState().outputs ?? {} },
  } as never);
  await carryOutMove([back], () => undefined);
  expect([contentOf(await stateIn(giving)), contentOf(await stateIn(taking))]).toEqual(before);
});

it("a write of either state is refused in the middle of a move", async () => {
  const { giving, taking } = await newStores(places["two files"]!);
  await expect(
    carryOutMove([moveBetween(giving, taking)], () => {
      throw new Error("killed");
    }),
  ).rejects.toThrow("killed");
  for (const store of [giving, taking]) await expect(openForWriting(store, holder, "none")).rejects.toThrow(HalfMoved);
});

/** When those who wait look again: soon where it may be done at once, and never more often in sum than once an interval. */
import { describe, expect, it } from "vitest";
import { cheaperLook, togetherAt } from "../../reconciler/core/schedule/pace";
import { onlyDefined } from "../../reconciler/core/text/objects";
import { createPoller, type Poller } from "../../reconciler/engine/poller";
import { virtualClock } from "../../reconciler/rehearse/virtual-clock";
import type { ServiceClient } from "../../reconciler/service/client";

const intervalMs = 2000;

type Waits = "at-once" | "by-and-by";

/** VMs that show so long after they were asked for; `pages` are read for each look. */
function service(lookMs = 0, waits: Waits = "at-once", pages = 1, readsOneVm = false) {
  const clock = virtualClock(() => undefined);
  const shownAt = new Map<string, number>();
  let looks = 0;
  let reads = 0;
  let busyAt = 0;
  const client = {
    can: { seesVms: "list", readsOneVm },
    listCost: () => ({ pageItems: Math.max(1, shownAt.size / pages), pageReads: 1 }),
    async listVms() {
      looks++;
      const now = clock.now();
      if (lookMs > 0) await clock.sleep(lookMs);
      const value = [...shownAt].filter(([, at]) => at <= now).map(([id]) => ({ id, name: id, phase: "running" }));
      return { status: "accepted", value };
    },
    async getVm(id: string) {
      reads++;
      if ((shownAt.get(id) ?? Number.POSITIVE_INFINITY) <= clock.now())
        return { status: "accepted", value: { id, name: id, phase: "running" } };
      return { status: "rejected", condition: "not_found", message: "" };
    },
  } as unknown as ServiceClient;
  const poller = createPoller(
    client,
    clock,
    intervalMs,
    undefined,
    waits === "at-once" ? undefined : { busyAt: () => busyAt },
  );
  const wait = async (
    id: string,
    takesMs: number,
    soon?: string,
    through: Poller = poller,
    leadsTo?: string,
  ): Promise<number> => {
    const from = clock.now();
    shownAt.set(id, from + takesMs);
    await through.watch(
      ({ byId }) => byId.get(id),
      600_000,
      soon === "shown" ? [] : [id],
      onlyDefined({ soon, leadsTo }),
    );
    return clock.now() - from;
  };
  const busyUntil = (at: number): void => {
    busyAt = at;
  };
  return { clock, wait, busyUntil, shownAt, looks: () => looks, reads: () => reads };
}

describe("waiting", () => {
  it("for what is done at once is over at once, again and again", async () => {
    const { wait, looks } = service();
    for (let index = 0; index < 20; index++) expect(await wait(`vm-${index}`, 10, "built")).toBe(intervalMs / 10);
    expect(looks()).toBe(20);
  });

  it.each([
    [60_000, 30],
    [50_000, 25],
    [90_000, 45],
    [600_000, 300],
  ])(
    "for what takes %i ms takes no more looks than one in every interval, the first time and from then on",
    async (takesMs, most) => {
      const { wait, looks } = service();
      for (let round = 1; round <= 3; round++) {
        const waited = await wait(`vm-${round}`, takesMs, "built");
        expect(waited).toBeLessThanOrEqual(takesMs + 1.5 * intervalMs);
        expect(looks()).toBeLessThanOrEqual(most * round);
      }
    },
  );

  it("for a hundred that begin one after the other lends the first few early looks and no more", async () => {
    const { wait, looks, clock } = service();
    const from = clock.now();
    const waits: Promise<number>[] = [];
    for (let index = 0; index < 100; index++) {
      waits.push(wait(`vm-${index}`, 60_000, "built"));
      await clock.sleep(100);
    }
    await Promise.all(waits);
    expect(looks()).toBeLessThanOrEqual((clock.now() - from) / intervalMs + 1);
  });

  it("is not shortened where an early look cannot tell, nor where a look is dear", async () => {
    const unsure = service();
    expect(await unsure.wait("vm", 10)).toBe(intervalMs);
    const dear = service(1000);
    await dear.wait("vm-1", 10, "built");
    const from = dear.looks();
    await dear.wait("vm-2", 10, "built");
    expect(dear.looks() - from).toBe(1);
    expect(await dear.wait("vm-3", 10, "built")).toBe(intervalMs + 1000);
  });
});

describe("waiting for what comes in by and by", () => {
  it("for one alone is short", async () => {
    const { wait } = service(0, "by-and-by");
    expect(await wait("vm-1", 10, "built")).toBe(intervalMs / 4);
  });

  it.each([1, 2, 3])("shares looks, the longer the list (%i pages) the more", async (pages) => {
    const { wait, looks, clock } = service(0, "by-and-by", pages);
    const from = clock.now();
    const waits: Promise<number>[] = [];
    for (let index = 0; index < 120; index++) {
      waits.push(wait(`vm-${index}`, 10, "shown"));
      await clock.sleep(330);
    }
    for (const waited of await Promise.all(waits)) expect(waited).toBeLessThanOrEqual((intervalMs * (pages + 1)) / 2);
    expect(looks()).toBeLessThanOrEqual(Math.ceil((clock.now() - from) / ((intervalMs * pages) / 2)) + 3);
  });

  it.each([
    ["one list", 3, false],
    ["a read of each beside a list of ten pages", 10, true],
  ])("takes few looks for eight at a time that take a minute, out of step, by %s", async (_, pages, readsOneVm) => {
    const { wait, looks, reads, clock, shownAt } = service(0, "by-and-by", pages, readsOneVm);
    for (let index = 0; index < 1000; index++) shownAt.set(`old-${index}`, 0);
    await wait("first", 10, "shown");
    const line = async (first: number) => {
      await clock.sleep(first * 7000);
      for (let round = 0; round < 6; round++)
        expect(await wait(`vm-${first}-${round}`, 60_000, "built")).toBeLessThanOrEqual(
          60_000 * (readsOneVm ? 1.2 : 1.5),
        );
    };
    await Promise.all(Array.from({ length: 8 }, (__, first) => line(first)));
    expect(looks()).toBeLessThan(readsOneVm ? 2 : 48 * 2);
    expect(reads()).toBeLessThan(readsOneVm ? 48 * 14 : 1);
  });

  it("finds by their names those that will be built for a minute when they are built, by one look that costs much", async () => {
    for (const pages of [1, 3]) {
      const { wait, looks, shownAt } = service(0, "by-and-by", pages);
      for (let index = 0; index < 1000; index++) shownAt.set(`old-${index}`, 0);
      await wait("first", 10, "shown");
      await wait("second", 60_000, "built");
      const before = looks();
      const names = Array.from({ length: 8 }, (_, index) => `vm-${index}`);
      const waits = await Promise.all(names.map((name) => wait(name, 1000, "shown", undefined, "built")));
      if (pages > 1) expect(looks() - before).toBe(1);
      expect(Math.min(...waits) > 50_000).toBe(pages > 1);
    }
  });

  it("waits no longer than for those who come: eight at a time beside a list of ten pages", async () => {
    const { wait, looks, clock, busyUntil } = service(0, "by-and-by", 10);
    const from = clock.now();
    for (let round = 0; round < 12; round++) {
      const waits: Promise<number>[] = [];
      for (let index = 0; index < 8; index++) {
        await clock.sleep(100);
        waits.push(wait(`vm-${round}-${index}`, 10, "shown"));
        // Half of them come after something else, which takes its time.
        if (index === 3) {
          busyUntil(clock.now() + 2000);
          await clock.sleep(2000);
        }
      }
      await Promise.all(waits);
    }
    // The first ones are told soon.
    expect(looks()).toBeLessThanOrEqual(12 + 2);
    expect(clock.now() - from).toBeLessThanOrEqual(12 * (800 + 2000 + intervalMs));
  });

  it("reads few by their ids where the service can, each when it is due, and many by the list", async () => {
    const { wait, looks, reads, shownAt } = service(0, "by-and-by", 10, true);
    for (let index = 0; index < 1000; index++) shownAt.set(`old-${index}`, 0);
    await wait("first", 10, "shown");
    expect([looks(), reads()]).toEqual([1, 0]);
    await Promise.all([wait("vm-1", 3000, "built"), wait("vm-2", 3000, "built"), wait("vm-3", 9000, "built")]);
    expect(looks()).toBe(1);
    expect(reads()).toBeLessThanOrEqual(3 * 5);
    const sofar = reads();
    await Promise.all(Array.from({ length: 30 }, (_, index) => wait(`vm-${10 + index}`, 1000, "built")));
    expect(reads()).toBe(sofar);
  });
});

describe("which look tells those who wait", () => {
  it.each([
    ["list", { byName: true, ids: 0 }, { pages: 1, pageReads: 1 }],
    ["list", { byName: true, ids: 1 }, { pages: 10, pageReads: 1 }],
    ["each", { byName: false, ids: 1 }, { pages: 2, pageReads: 1 }],
    ["list", { byName: false, ids: 1 }, { pages: 1, pageReads: 1 }],
    ["each", { byName: false, ids: 1 }, { pages: 1, pageReads: 3 }],
    ["each", { byName: false, ids: 9 }, { pages: 10, pageReads: 1 }],
    ["list", { byName: false, ids: 10 }, { pages: 10, pageReads: 1 }],
    ["list", { byName: false, ids: 300 }, { pages: 10, pageReads: 1 }],
    ["each", { byName: false, ids: 19 }, { pages: 10, pageReads: 2 }],
  ] as const)("%s: %j beside a list of %j", (look, waiting, list) => {
    expect(cheaperLook(waiting, list)).toBe(look);
  });

  it.each([
    // Nobody has come for a while.
    [10_500, { waitsSince: 9000, tookMs: 100, pages: 10, quietSince: 10_000 }],
    [11_600, { waitsSince: 9000, tookMs: 800, pages: 10, quietSince: 10_000 }],
    [12_000, { waitsSince: 9000, tookMs: 9000, pages: 10, quietSince: 10_000 }],
    // They come one after the other: not for ever.
    [19_000, { waitsSince: 9000, tookMs: 100, pages: 10, quietSince: 60_000 }],
    [10_000, { waitsSince: 9000, tookMs: 100, pages: 1, quietSince: 60_000 }],
    // Looks have cost much: more at a time, each later, and not for ever.
    [13_000, { waitsSince: 9000, tookMs: 100, pages: 1, quietSince: 60_000, patience: 4 }],
    [21_000, { waitsSince: 9000, tookMs: 100, pages: 10, quietSince: 60_000, patience: 4 }],
    // They have waited long.
    [1000, { waitsSince: 0, tookMs: 100, pages: 1, quietSince: 10_000 }],
  ])("at %i: %j", (at, last) => {
    expect(togetherAt({ patience: 1, ...last }, intervalMs)).toBe(at);
  });
});

it("ends no wait because of another VM whose read is refused or fails, where each is read by itself", async () => {
  const clock = virtualClock(() => undefined);
  const answers = {
    forbidden: { status: "rejected", condition: "forbidden", message: "no" },
    away: { status: "unavailable", reason: "HTTP 503" },
  } as const;
  const began = clock.now();
  const reads = new Map<string, number>();
  const client = {
    can: { seesVms: "each", readsOneVm: true },
    async getVm(id: string) {
      if (id === "forbidden" || id === "away") return answers[id];
      const nth = (reads.get(id) ?? 0) + 1;
      reads.set(id, nth);
      // One of these two fails at each look, and neither of them twice in a row.
      if (id === (nth % 2 === 0 ? "even" : "odd")) return answers.away;
      const phase = clock.now() - began < 600_000 ? "changing" : "running";
      return { status: "accepted", value: { id, name: id, phase } };
    },
  } as unknown as ServiceClient;
  const poller = createPoller(client, clock, intervalMs);
  const ended = await Promise.all(
    ["forbidden", "away", "slow", "even", "odd"].map((id) =>
      poller.watch(({ byId }) => (byId.get(id)?.phase === "running" ? id : undefined), 900_000, [id]),
    ),
  );
  expect(ended).toEqual([
    { ended: "blind", failure: answers.forbidden },
    { ended: "blind", failure: answers.away },
    { ended: "found", value: "slow" },
    { ended: "found", value: "even" },
    { ended: "found", value: "odd" },
  ]);
});

import { expect, it } from "vitest";
import { measureLists } from "../../reconciler/service/list-cost";
import { start } from "./make-client";

const measured = () => measureLists(() => undefined);

it("takes a page to show a hundred and to cost one read, until both were measured", () => {
  const costs = measured();
  expect(costs.of("vm")).toEqual({ pageItems: 100, pageReads: 1 });
  costs.page("vm.list", 80);
  expect(costs.of("vm")).toEqual({ pageItems: 100, pageReads: 1 });
  costs.one("vm.get", 20);
  expect(costs.of("vm")).toEqual({ pageItems: 100, pageReads: 4 });
  expect(costs.of("volume")).toEqual({ pageItems: 100, pageReads: 1 });
});

it("takes the size that is asked for, and what full pages showed over that", () => {
  const costs = measureLists((operation) => (operation === "vm.list" ? 1000 : undefined));
  expect(costs.of("vm").pageItems).toBe(1000);
  // The service shows less than it was asked for.
  costs.whole("vm.list", [{ items: 250 }, { items: 250 }, { items: 7 }]);
  expect(costs.of("vm").pageItems).toBe(250);
  // One page alone may not be full.
  costs.whole("volume.list", [{ items: 7 }]);
  expect(costs.of("volume").pageItems).toBe(100);
  costs.whole("volume.list", [{ items: 700 }]);
  expect(costs.of("volume").pageItems).toBe(700);
});

it("never takes a page for dearer than a few reads, nor for cheaper than one", () => {
  const costs = measured();
  costs.page("vm.list", 5000);
  costs.one("vm.get", 1);
  expect(costs.of("vm").pageReads).toBe(5);
  costs.page("group.list", 1);
  costs.one("group.get", 900);
  expect(costs.of("group").pageReads).toBe(1);
});

it("asks for the next page of a list before what could be read at any time", async () => {
  const pages = 5;
  const { client, server } = await start(
    [
      ({ url }, response) => {
        const page = Number(/[?&]page=(\d+)/.exec(url)?.[1] ?? 1);
        const answer = url.includes("/vm/list")
          ? {
              data: [{ id: `00000000-0000-4000-8000-00000000000${page}`, name: `web-${page}`, status: "ACTIVE" }],
              ...(page === pages ? {} : { page: { next: String(page + 1) } }),
            }
          : { id: "00000000-0000-4000-8001-000000000000", name: "disk", size: "10" };
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify(answer));
      },
    ],
    { parallelism: 2 },
  );
  const [listed] = await Promise.all([
    client.listVms(),
    ...Array.from({ length: 40 }, () => client.getVolume("00000000-0000-4000-8001-000000000000")),
  ]);
  expect(listed).toMatchObject({ status: "accepted", value: { length: pages } });
  const asked = server.received.map(({ url }) => url.includes("/vm/list"));
  // One page and one other at a time.
  expect(asked.lastIndexOf(true)).toBeLessThan(4 * pages);
});

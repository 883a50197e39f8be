/** A list whose request names one region, as the same list of each (engine/doctor/each-region.ts), and other requests. */
import { expect, it } from "vitest";
import { builtInDialect } from "../../reconciler/dialect/built-in";
import type { ListRoute } from "../../reconciler/dialect/dialect";
import { withPlaceholder } from "../../reconciler/engine/doctor/each-region";
import { withRegionFields } from "../../reconciler/engine/doctor/fit";
import type { Learnings } from "../../reconciler/engine/doctor/learnings";

const regions = ["west", "east"];
const listed = (path: string, query?: ListRoute["query"]): ListRoute => ({
  ...{ method: "GET", path, items: ["/disks"] },
  ...(query === undefined ? {} : { query }),
});

it.each<
  readonly [
    what: string,
    route: ListRoute,
    ids: readonly string[],
    region: string | undefined,
    path: string,
    query: ListRoute["query"],
  ]
>([
  ["no region", listed("/disks", { limit: 5 }), regions, undefined, "", undefined],
  ["a region in its path", listed("/zones/east/disks"), regions, "east", "/zones/{region}/disks", undefined],
  ["a region in its query", listed("/disks", { zone: "west" }), regions, "west", "/disks", { zone: "{region}" }],
  [
    "a region in both, and a number beside it",
    listed("/zones/west/disks", { zone: "west", limit: 5 }),
    regions,
    "west",
    "/zones/{region}/disks",
    { zone: "{region}", limit: 5 },
  ],
  [
    "a word that only begins as a region does",
    listed("/western/disks", { zone: "westend" }),
    regions,
    undefined,
    "",
    undefined,
  ],
  ["the only region that there is", listed("/zones/west/disks"), ["west"], undefined, "", undefined],
  ["a region that nobody knows", listed("/zones/south/disks"), regions, undefined, "", undefined],
])("a list that names %s", (_, route, ids, region, path, query) => {
  const found = withPlaceholder(route, ids);
  expect(found?.region).toBe(region);
  if (region === undefined) return;
  expect(found?.route).toEqual({ ...route, path, ...(query === undefined ? {} : { query }), for_each: "region" });
});

it.each<[what: string, path: string, record: object, fits: string]>([
  ["the record's own", "/zones/west/disks/{id}", { id: "1", zone: "west" }, "/zones/{field:/zone}/disks/{id}"],
  [
    "the one that is written, where the record shows none",
    "/zones/west/disks/{id}",
    { id: "1" },
    "/zones/west/disks/{id}",
  ],
  [
    "the one that is written, where the record's is another",
    "/zones/west/disks/{id}",
    { id: "1", zone: "east" },
    "/zones/west/disks/{id}",
  ],
  ["none, where the path names none", "/disks/{id}", { id: "1", zone: "west" }, "/disks/{id}"],
])("the region in the path of a delete is %s", (_, path, record, fits) => {
  const operations = { ...builtInDialect.operations, "volume.delete": { method: "DELETE", path } as const };
  const learnings = {
    given: { ...builtInDialect, operations },
    samples: new Map([["volume", [record]]]),
    texts: () => regions,
  } as unknown as Learnings;
  expect(withRegionFields(learnings).operations).toEqual({
    ...operations,
    "volume.delete": { method: "DELETE", path: fits },
  });
});
